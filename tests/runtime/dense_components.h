// SPDX-License-Identifier: MIT
// The parts of a dense model that turn freely, and their rigid motions. Written from the equations
// in runtime/src/solver, independently of its code.
#pragma once

#include "runtime/dense_reference.h"

#include <cstddef>
#include <vector>

namespace plush::test {

/// v x as a matrix.
Eigen::Matrix3d CrossMatrix(const Eigen::Vector3d& v);

/// The rotation (I - a)^-1 (I + a), where a is half of a turn, a cross matrix.
Eigen::Matrix3d CayleyOf(const Eigen::Matrix3d& turn);

/// The mean of the members' vectors, weighted by mass. Zero if they have none.
Eigen::Vector3d CentreOf(const std::vector<Eigen::Index>& members, const Eigen::VectorXd& masses,
                         const Points& x);

/// The least node of the part of each node that tets connect, without the pinned ones or with them.
std::vector<size_t> LeastOfParts(const DenseModel& model, bool with_pins);

/// A part of the body that turns freely: without pins, or about those on one point or line.
struct Component {
  std::vector<Eigen::Index> nodes;  ///< free ones
  std::vector<Eigen::Index> pins;
};

/// The components, by their least nodes.
std::vector<Component> ComponentsOf(const DenseModel& model);

/// Moves a component rigidly to where the sum of m |y - target|^2 is least.
void MoveTo(const Component& component, const Eigen::VectorXd& masses, const Points& target,
            Points* y);

/// The rigid motion of a component at `x` that ways `u` come nearest to, weighted by mass: shift
/// and turn. Pins say where their hinge goes.
struct MeanMotion {
  MeanMotion(const Component& component, const Eigen::VectorXd& masses, const Points& x,
             const Points& u);

  /// By the turn.
  Eigen::Matrix3d Rotation() const { return CayleyOf(turn); }

  Eigen::Vector3d centre, shift;
  Eigen::Matrix3d turn;  ///< times an arm
};

/// Whether the turn has at least half of what ways `u` of a component have beside their mean.
bool Spins(const Component& component, const Eigen::VectorXd& masses, const Points& x,
           const Points& u);

/// Turns ways `u` of a component's last step, which led to `x`: see CoarseLevel::TurnPredictions.
void TurnOn(const Component& component, const Eigen::VectorXd& masses, const Points& x, Points* u);

}  // namespace plush::test

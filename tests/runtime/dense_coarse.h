// SPDX-License-Identifier: MIT
// The coarse level of a step in dense double precision: clusters of nodes move as rigid bodies.
// Written from the equations in runtime/src/solver/coarse_level.h, independently of its code.
#pragma once

#include "runtime/dense_components.h"
#include "runtime/dense_reference.h"

#include <vector>

namespace plush::test {

/// The model with its clusters cut where only pinned nodes join their free ones. The part with a
/// cluster's first free node keeps its number; others get the next ones, by their first nodes.
DenseModel CutByPins(const DenseModel& model);

/// Z at rest (3n x 6 num_clusters): for each cluster, three translations and three turns about the
/// centre of mass of its free nodes. Rows of pinned nodes are zero.
Eigen::MatrixXd ClusterMotions(const DenseModel& model);

/// M + dt (dt + damping) times the second derivative of sum_t mu V |F - R|^2 at rest (3n x 3n). It
/// charges only the symmetric part of a change of F.
Eigen::MatrixXd MaterialAtRest(const DenseModel& model, double dt);

/// Whether a tet has free nodes of two clusters, or of a cluster and pinned ones.
bool IsStraddling(const DenseModel& model, size_t tet);

/// x with C x = b. An unknown that depends on those before it (its pivot is at most 1e-10 of its
/// diagonal element) is zero.
Eigen::VectorXd SolveIndependent(const Eigen::MatrixXd& C, const Eigen::VectorXd& b);

/// The matrix of these solutions: its column j solves C x = e_j.
Eigen::MatrixXd InverseOfIndependent(const Eigen::MatrixXd& C);

class DenseCoarse {
 public:
  DenseCoarse(const DenseModel& model, double dt);

  /// Whether the tet is evaluated again before the correction: it shares a block with a straddling
  /// one. The others are inside a cluster, so they neither push nor turn it.
  bool Sees(size_t tet) const { return sees_[tet]; }

  /// C at positions `y`, motions about the clusters' current centres. Each group of tets that see
  /// the same clusters lies as at rest, turned by its mean rotation, at its current centre.
  Eigen::MatrixXd Matrix(const std::vector<Eigen::Matrix3d>& rotations, const Points& y) const;

  /// Moves the clusters of `y` by C^-1 Z^T (inertial + elastic), the parts of the right-hand side.
  /// Then components move rigidly to where sum m |y - predicted|^2 is least, for inertial =
  /// M (predicted - y) before.
  /// If it `turns_as_one`, the mean motion of such a component is first made a rigid one.
  void Correct(const Eigen::MatrixXd& C, const Points& inertial, const Points& elastic,
               bool turns_as_one, Points* y) const;

  const std::vector<Component>& components() const { return components_; }
  /// Whether the body has a component and stress waves cross more than `most` clusters in a step.
  bool Crosses(double most) const;

  /// Turns ways `u` of a step from `x`: see CoarseLevel::TurnPredictions. Then components with pins
  /// move rigidly to where sum m |u - predicted|^2 is least. With `only_spins`, only components of
  /// which most of the ways is a turn.
  void TurnWays(const Points& x, const Points& predicted, bool only_spins, Points* u) const;

 private:
  DenseModel model_;
  double dt_;
  std::vector<std::vector<Eigen::Index>> members_;  // free nodes of each cluster
  std::vector<std::vector<size_t>> groups_;         // tets, ascending
  std::vector<bool> sees_;
  std::vector<Component> components_;
};

}  // namespace plush::test

// SPDX-License-Identifier: MIT
// The runtime's equations once more, dense and in double precision, written from the papers and
// independently of the runtime's code: what the tests compare with.
#pragma once

#include "runtime/tet_fixtures.h"

#include <array>
#include <cstdint>
#include <vector>

namespace plush::test {

/// What a step depends on besides the state.
struct DenseModel {
  std::vector<std::array<Eigen::Index, 4>> tets;
  std::vector<Eigen::Matrix3d> dm_inv;  ///< [1/m]
  std::vector<double> volumes;          ///< [m^3]
  std::vector<double> mu, lambda;       ///< [Pa]
  Eigen::VectorXd masses;               ///< [kg]
  Points rest;                          ///< [m]
  std::vector<bool> pinned;             ///< by node
  std::vector<size_t> sweep_order;      ///< tets by block, then by lane

  DenseModel() = default;
  /// The numbers that the asset holds, with no pins.
  explicit DenseModel(const Asset& asset);
  /// Of the asset's nodes and tets alone: everything else is derived from them and the material.
  DenseModel(const Asset& asset, const tools::Material& material);
  Eigen::Index num_nodes() const { return rest.cols(); }
};

/// Rotation of the polar decomposition; for det F < 0 that of [Irving et al. 2004]: U diag(1, 1,
/// -1) V^T with the smallest singular value reflected.
Eigen::Matrix3d PolarRotation(const Eigen::Matrix3d& F);

Eigen::Matrix3d DenseGradient(const DenseModel& model, size_t tet, const Points& x);

/// sum_t mu V |F - R|^2 + lambda/2 V (det F - 1)^2 [J] [Kug, Eq. 7 and 13].
double DenseEnergy(const DenseModel& model, const Points& x);

/// Minus its gradient [N].
Points DenseForces(const DenseModel& model, const Points& x);

/// M + D^T K D of [Kug, Alg. 1] with accumulated masses, 3n x 3n, rows and columns of pinned nodes
/// those of the identity.
Eigen::MatrixXd DenseSystem(const DenseModel& model, double dt);

/// Its entries for one axis, which are those of every axis (n x n).
Eigen::MatrixXd DenseSystemOfAxis(const DenseModel& model, double dt);

/// The splitting step as runtime/src/world/body_step.cpp describes it, without contact.
/// Volume sweeps correct one tet after the other in the runtime's order, block by block: the tets
/// of a block share no node, so that it does not matter that the runtime takes them at once.
class DenseStepper {
 public:
  DenseStepper(const DenseModel& model, double dt, int outer_iterations, int volume_sweeps);

  void Step(const Eigen::Vector3d& gravity);

  Points x;               ///< [m]
  Points v;               ///< [m/s]
  Eigen::VectorXd kappa;  ///< multipliers of the volume term [kg m^2], kept between steps

 private:
  void AddStretchAndVolume(const Points& y, Points* rhs) const;
  void Sweep(Points* u);

  DenseModel model_;
  double dt_;
  int outer_iterations_;
  int volume_sweeps_;
  Eigen::LDLT<Eigen::MatrixXd> factor_;
};

}  // namespace plush::test

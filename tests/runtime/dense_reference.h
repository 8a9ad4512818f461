// SPDX-License-Identifier: MIT
// The runtime's equations, dense and in double precision. Written from the papers, independently of
// the runtime's code; tests compare the runtime with it.
#pragma once

#include "runtime/tet_fixtures.h"

#include <array>
#include <cstddef>
#include <memory>
#include <vector>

namespace plush::test {

/// Everything that a step depends on besides the state.
struct DenseModel {
  std::vector<std::array<Eigen::Index, 4>> tets;
  std::vector<Eigen::Matrix3d> dm_inv;  ///< [1/m]
  std::vector<double> volumes;          ///< [m^3]
  std::vector<double> mu, lambda;       ///< [Pa]
  Eigen::VectorXd masses;               ///< [kg]
  Points rest;                          ///< [m]
  std::vector<bool> pinned;             ///< by node
  std::vector<size_t> sweep_order;      ///< tets by block, then by lane
  std::vector<size_t> blocks;           ///< block of each tet
  std::vector<size_t> clusters;         ///< of each node, or empty
  size_t num_clusters = 0;              ///< 0: none
  double damping = 0.0;                 ///< relaxation time of the stretch term [s]
  double most_pull = 1.0;               ///< of the pressure where det F > 1 [mu]
  double most_push = 8.0;               ///< where det F < 1 [mu]

  DenseModel() = default;
  /// Takes the asset's numbers; no pins.
  explicit DenseModel(const Asset& asset);
  /// Takes only the asset's nodes, tets and clusters; derives everything else from them and the
  /// material.
  DenseModel(const Asset& asset, const tools::Material& material);
  Eigen::Index num_nodes() const { return rest.cols(); }
};

/// Rotation of the polar decomposition. For det F < 0, U diag(1, 1, -1) V^T with the smallest
/// singular value reflected [Irving et al. 2004].
Eigen::Matrix3d PolarRotation(const Eigen::Matrix3d& F);

Eigen::Matrix3d DenseGradient(const DenseModel& model, size_t tet, const Points& x);

/// sum_t mu V |F - R|^2 + lambda/2 V (det F - 1)^2 [J] [Kug, Eq. 7 and 13]; where the pressure is
/// at its bound p, the volume term goes on linearly in det F.
double DenseEnergy(const DenseModel& model, const Points& x);

/// Negative gradient of DenseEnergy [N].
Points DenseForces(const DenseModel& model, const Points& x);

/// M + D^T K D of [Kug, Alg. 1] with accumulated masses, 3n x 3n. Rows and columns of pinned nodes
/// are those of the identity. Damping makes K (1 + damping / dt) times as large.
Eigen::MatrixXd DenseSystem(const DenseModel& model, double dt);

/// The entries of DenseSystem for one axis (n x n); all axes have the same.
Eigen::MatrixXd DenseSystemOfAxis(const DenseModel& model, double dt);

class DenseCoarse;

/// A step as runtime/src/body/body_step.cpp describes it, without contact.
/// - With volume sweeps: the step of [Kug, Alg. 2]. Sweeps correct one tet at a time in the
///   runtime's order, block by block. The runtime corrects a block's tets at once, which makes no
///   difference: they share no node.
/// - Without: the two-level step. Stiff components turn as one. In each outer iteration the
///   multipliers relax, and after the solve the clusters move as rigid bodies (dense_coarse.h).
///   Nothing bounds its energy.
class DenseStepper {
 public:
  DenseStepper(const DenseModel& model, double dt, int outer_iterations, int volume_sweeps);

  void Step(const Eigen::Vector3d& gravity);

  Points x;               ///< [m]
  Points v;               ///< [m/s]
  Eigen::VectorXd kappa;  ///< multipliers of the volume term [kg m^2], kept between steps

 private:
  void RelaxMultipliers(const Points& y, double rate);
  void AddImpulses(size_t tet, const Points& y, Points* rhs);
  void Sweep(Points* u);
  void CorrectClusters(const Points& predicted, bool is_first, Points* u);

  DenseModel model_;
  double dt_;
  int outer_iterations_;
  int volume_sweeps_;
  Eigen::MatrixXd inverse_;                    // of the system
  std::shared_ptr<const DenseCoarse> coarse_;  // or null
  bool is_stiff_ = false;                      // waves cross more than four clusters in a step
  Eigen::MatrixXd coarse_matrix_;              // of the step's first outer iteration
  std::vector<Eigen::Matrix3d> rotations_;
  std::vector<Eigen::Matrix3d> stretches_;  // R^T F at the start of the step
};

}  // namespace plush::test

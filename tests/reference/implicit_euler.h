// SPDX-License-Identifier: MIT
// Implicit Euler, converged, in double precision: what the runtime's step approximates. Tests and
// benchmarks measure the runtime's motion against it.
#pragma once

#include "plush/asset.h"

#include "reference/axis_factor.h"
#include "reference/elastic_body.h"

#include <Eigen/Dense>

#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

namespace plush::reference {

/// A spring on points of the body. With e = sum weights x[nodes] - target and l = |e|, its energy
/// is
///   stiffness/2 (l - rest_length)^2 + damping/(2 dt) (l - l at the step's start)^2,
/// with the vectors e in place of l if rest_length is 0. Where it would pull with more than
/// max_force, the energy grows by just max_force per metre.
struct Spring {
  std::vector<std::pair<uint32_t, double>> weights;  ///< nodes; between two points, with both signs
  Eigen::Vector3d target = {0.0, 0.0, 0.0};          ///< [m]
  double rest_length = 0.0;                          ///< [m]
  double stiffness = 0.0;                            ///< [N/m]
  double damping = 0.0;                              ///< [N s/m]
  double max_force = std::numeric_limits<double>::infinity();  ///< [N]
};

struct EulerSettings {
  double dt_s = 0.01;
  Eigen::Vector3d gravity = {0.0, -9.81, 0.0};  ///< [m/s^2]
  double damping = 0.0;                         ///< Kelvin-Voigt relaxation time of the stretch [s]
  std::vector<uint32_t> pinned;                 ///< nodes; duplicates allowed
  /// A step has converged if the norm of the free nodes' residual forces is at most this share of
  /// the norm of their weights at 9.81 m/s^2, whatever `gravity` is.
  double tolerance = 1.0e-6;
  std::vector<Spring> springs;
  int most_newton_iterations = 60;
  int most_cg_iterations = 2000;  ///< of each Newton iteration
};

/// How the last step went.
struct EulerReport {
  bool converged = false;
  double residual = 0.0;  ///< relative, as EulerSettings::tolerance
  int newton_iterations = 0, cg_iterations = 0;
};

/// A body that moves by steps of implicit Euler: each ends where
///   M / (2 dt^2) |x - x_n - dt v_n - dt^2 g|^2 + the energy of elastic_body.h
/// is least. Newton's method with the stretch's Hessian made positive; conjugate gradients,
/// preconditioned by the matrix of all axes, solve for its directions.
class ImplicitEuler {
 public:
  ImplicitEuler(const ElasticBody& body, const EulerSettings& settings);

  /// Returns whether the step has converged. If not, the state has the best positions found.
  bool Step();

  /// Where the pinned nodes are after the next steps: the columns of `x` that belong to them.
  void MovePins(const Points& x);
  /// Where a spring's target is after the next steps, and where it was at their start [m].
  void MoveTarget(size_t spring, const Eigen::Vector3d& from, const Eigen::Vector3d& to);
  /// Force of a spring on its points at the end of the last step, times their weights [N].
  Eigen::Vector3d SpringForce(size_t spring) const { return forces_[spring]; }
  /// From the next step on, the spring does nothing.
  void ReleaseSpring(size_t spring);
  /// Sets the state. Pinned nodes stay at their columns of `x`, without velocity.
  void SetState(const Points& x, const Points& v);

  const Points& x() const { return x_; }  ///< [m] (3 x num_nodes)
  const Points& v() const { return v_; }  ///< [m/s] (3 x num_nodes)
  const EulerReport& report() const { return report_; }
  const ElasticBody& body() const { return body_; }
  double KineticEnergy() const;  ///< [J]
  double ElasticEnergy() const;  ///< [J]

 private:
  struct Iterate;

  Eigen::Vector3d WayOf(const Spring& spring, const Points& x) const;
  // Returns a spring's energy, and adds its gradient unless null.
  double AddSpring(size_t index, const Points& x, Points* gradient) const;
  void MakeSpringHessians(const Points& x);

  void PlanHessian();
  void MakeHessian(const std::vector<TetState>& states);
  void TimesHessian(const Points& d, Points* out) const;
  // Solves H d = -gradient to the given share of the gradient's norm.
  Points FindDirection(const Points& gradient, double tolerance);
  void Evaluate(Iterate* at) const;
  // Moves along d as far as the objective falls. Returns whether it did.
  bool Search(const Points& d, Iterate* at) const;
  Iterate FirstIterate() const;
  void ClearPinned(Points* vectors) const;

  ElasticBody body_;
  EulerSettings settings_;
  std::vector<bool> pinned_;
  AxisFactor preconditioner_;
  Viscosity viscosity_;
  std::vector<Eigen::Vector3d> starts_, forces_;  // ways of the springs at the step's start; [N]
  std::vector<Eigen::Matrix3d> stiffnesses_;      // of the springs, positive semidefinite
  Points x_, v_, acceleration_, targets_;
  Points inertial_;           // x_n + dt v_n + dt^2 g
  double weight_norm_ = 0.0;  // [N]
  EulerReport report_;
  // The Hessian by blocks of 3 x 3, compressed rows. A tet's block (i, j) is slots_[16 t + 4 i +
  // j].
  std::vector<uint32_t> row_starts_, columns_, slots_, diagonals_;
  std::vector<Eigen::Matrix3d> blocks_;
};

}  // namespace plush::reference

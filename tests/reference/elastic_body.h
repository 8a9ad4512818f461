// SPDX-License-Identifier: MIT
// The elastic energy of a body in double precision, with the numbers of its asset: what the runtime
// minimises, without its approximations.
#pragma once

#include "plush/asset.h"

#include <Eigen/Dense>

#include <array>
#include <cstdint>
#include <vector>

namespace plush::reference {

/// Points or vectors of nodes, one per column.
using Points = Eigen::Matrix<double, 3, Eigen::Dynamic>;

struct ElasticTet {
  std::array<uint32_t, 4> nodes;
  Eigen::Matrix<double, 4, 3> gradients;   ///< of the shape functions: F = sum_k x_k g_k^T [1/m]
  double stiffness;                        ///< 2 mu V [J]
  double bulk;                             ///< lambda V, at most 16 mu V [J]
  double PressureAt(double change) const;  ///< V times the pressure, between -8 mu and mu [J]
};

/// Nodes, masses and tets of an asset, all in rest coordinates.
struct ElasticBody {
  ElasticBody() = default;
  /// Takes the asset's own floats. The asset must be open.
  explicit ElasticBody(const Asset& asset);
  Eigen::Index num_nodes() const { return rest.cols(); }

  Points rest;             ///< [m]
  Eigen::VectorXd masses;  ///< [kg] (num_nodes x 1)
  std::vector<ElasticTet> tets;
};

/// F = R U with U symmetric. For det F < 0 the smallest singular value of U is negative, so that R
/// is a rotation [Irving et al. 2004].
struct Polar {
  Eigen::Matrix3d R, U;
};
Polar PolarOf(const Eigen::Matrix3d& F);

Eigen::Matrix3d CofactorOf(const Eigen::Matrix3d& F);

inline Eigen::Matrix3d GradientOf(const ElasticTet& tet, const Points& x) {
  Eigen::Matrix3d F = x.col(tet.nodes[0]) * tet.gradients.row(0);
  for (int k = 1; k < 4; ++k) F += x.col(tet.nodes[static_cast<size_t>(k)]) * tet.gradients.row(k);
  return F;
}

/// Where the viscous potential starts: the stretch U of every tet at the start of the step.
struct Viscosity {
  double rate = 0.0;                       ///< damping time / dt; 0: none, `stretches` is not read
  std::vector<Eigen::Matrix3d> stretches;  ///< (num_tets x 1)
};

/// What the second derivative of the energy needs of a tet.
struct TetState {
  Eigen::Matrix3d R, cofactor;
  double bulk;  ///< lambda V, or V p / (det F - 1) where the pressure p is at its bound [J]
};

/// The energy [J]
///   sum_t mu V |F - R|^2 + lambda/2 V (det F - 1)^2 + rate mu V |U - S|^2,
/// its volume term linear where the pressure is at its bound, S being the tet's `stretches`. Writes
/// its derivative to `gradient` [N] and, unless null, the tets' `states`. |U - S| is |F - R S|: the
/// runtime's potential (element_pass.h). The runtime leaves out that R turns with F. That changes
/// this term by a share of the order of the strain.
double EnergyOf(const ElasticBody& body, const Viscosity& viscosity, const Points& x,
                Points* gradient, std::vector<TetState>* states = nullptr);

/// The stretch U of every tet.
std::vector<Eigen::Matrix3d> StretchesOf(const ElasticBody& body, const Points& x);

}  // namespace plush::reference

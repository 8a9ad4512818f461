// SPDX-License-Identifier: MIT
// Everything that depends only on the rest shape and the material.
#pragma once

#include "plush/types.h"

#include "base/result.h"
#include "mesh/tet_mesh.h"

#include <cstdint>
#include <span>
#include <vector>

namespace plush::tools {

/// Isotropic linear material.
struct Material {
  double young = 1.0e5;     ///< Young's modulus E [Pa], > 0
  double poisson = 0.4;     ///< Poisson's ratio nu, [0, 0.5)
  double density = 1000.0;  ///< [kg/m^3], > 0
  double damping = 0.0;     ///< Kelvin-Voigt relaxation time beta [s], [0, 10]
};

/// Lame parameters of a material.
struct Lame {
  double mu = 0.0;      ///< E / (2 (1 + nu)) [Pa]
  double lambda = 0.0;  ///< E nu / ((1 + nu)(1 - 2 nu)) [Pa]
};
Lame LameParameters(const Material& material);

/// Rest data in the elimination order of the factor.
struct RestData {
  std::vector<uint32_t> node_order;  ///< new node -> node of the TetMesh given
  std::vector<Vec3> nodes;           ///< [m]
  std::vector<Tet> tets;             ///< renumbered, in the given order
  std::vector<float> masses;         ///< [kg]
  std::vector<Mat3> dm_inv;          ///< [1/m]
  std::vector<float> volumes;        ///< [m^3]
  std::vector<float> mu;             ///< [Pa]
  std::vector<float> lambda;         ///< [Pa]
  uint32_t components = 0;
  double cage_volume = 0.0;             ///< [m^3]
  double median_edge = 0.0;             ///< [m]
  double dt = 0.0;                      ///< [s]
  std::vector<uint32_t> column_starts;  ///< Cholesky factor by columns, diagonal first
  std::vector<uint32_t> rows;
  std::vector<float> values;
};

/// Computes rest data, in double precision from the float-rounded nodes that the file stores.
/// `total_mass` [kg] is spread in proportion to tet volume. `dt` in (0, 1]. Errors: kInvalidInput
/// (a tet too flat for its data to be finite in float), kLimit.
Result<RestData> ComputeRestData(const TetMesh& mesh, const Material& material, double total_mass,
                                 double dt);

}  // namespace plush::tools

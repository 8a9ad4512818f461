// SPDX-License-Identifier: MIT
// Computes everything that depends only on the rest shape and the material.
#pragma once

#include "plush/format/factor_panels.h"
#include "plush/format/tet_block.h"
#include "plush/types.h"

#include "base/result.h"
#include "mesh/tet_mesh.h"
#include "rest/clusters.h"
#include "rest/elimination_order.h"

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace plush::tools {

/// Isotropic linear material.
struct Material {
  double young = 1.0e5;               ///< Young's modulus E [Pa], > 0
  double poisson = 0.4;               ///< Poisson's ratio nu, [0, 0.5)
  double density = 1000.0;            ///< [kg/m^3], > 0
  double damping = 0.0;               ///< Kelvin-Voigt relaxation time beta [s], [0, 10]
  std::optional<double> friction;     ///< Coulomb coefficient of surfaces, >= 0
  std::optional<double> restitution;  ///< of surfaces, [0, 1]
};

struct Lame {
  double mu = 0.0;      ///< E / (2 (1 + nu)) [Pa]
  double lambda = 0.0;  ///< E nu / ((1 + nu)(1 - 2 nu)) [Pa]
};
Lame LameParameters(const Material& material);

struct TetMaterials {
  std::vector<Material> materials;  ///< at least one; their damping is ignored
  std::vector<uint16_t> of_tets;    ///< index into materials (num_tets x 1)
  double damping = 0.0;             ///< of the whole body [s], [0, 10]
};

/// Rest data in the elimination order of the factor.
struct RestData {
  std::vector<uint32_t> node_order;  ///< new node -> node of the TetMesh given
  std::vector<Vec3> nodes;           ///< [m]
  std::vector<Tet> tets;             ///< renumbered, in the given order
  std::vector<float> masses;         ///< [kg]
  uint32_t num_light = 0;            ///< nodes raised to kLeastMass
  std::vector<float> tet_masses;     ///< [kg]
  std::vector<uint32_t> tet_slots;   ///< place of each tet in blocks
  std::vector<TetBlock> blocks;      ///< Dm^-1, volume and stiffness of the tets
  Clusters clusters;                 ///< of the nodes, or none
  uint32_t components = 0;
  double mass = 0.0;                   ///< of the body [kg]
  double density = 0.0;                ///< mean: mass over the volume given [kg/m^3]
  double cage_volume = 0.0;            ///< [m^3]
  double median_edge = 0.0;            ///< [m]
  double dt = 0.0;                     ///< [s]
  uint32_t num_free = 0;               ///< nodes from here on are eliminated last
  std::vector<Supernode> supernodes;   ///< of the factor, see factor_panels.h
  std::vector<uint32_t> supernode_of;  ///< supernode of each column (num_nodes x 1)
  std::vector<uint32_t> rows;          ///< of the supernodes, padded
  std::vector<float> values;           ///< of the supernodes
  uint64_t factor_nonzeros = 0;        ///< sum of LowerEntries
};

/// The nodes of a tet, or of several, in their order.
inline std::array<uint32_t, 4> NodesOf(const Tet& tet) { return {tet.a, tet.b, tet.c, tet.d}; }
std::vector<std::array<uint32_t, 4>> NodesOfTets(std::span<const Tet> tets);

/// Median length of the edges of `graph` between these places [m]; 0 if it has none.
double MedianEdge(const NodeGraph& graph, std::span<const Vec3> nodes);

/// Least mass of a node, as a share of the mean: lighter ones would make the step less stable.
inline constexpr double kLeastMass = 1e-3;

/// Computes rest data in double precision from the float-rounded nodes that the file stores.
/// - `volume` is the body's [m^3]. Corner k of tet t adds density_t volume w_tk / sum(w) to its
///   node, and a tet weighs what its corners do. `corner_weights` w (num_tets x 4, >= 0) are a
///   quarter of the tets' own volumes if empty. Nodes get at least kLeastMass.
/// - `dt` is in (0, 1] [s].
/// - `last` (ascending, numbered as in `mesh`) are the nodes that a body may pin. They are
/// eliminated
///   last, unless that makes the factor much larger.
/// - `clusters` is that of MakeClusters. Tets with nodes of two clusters come in the first blocks.
///
/// Errors:
/// - kInvalidInput: a tet too flat for finite floats, a node without mass, a matrix that cannot be
///   factored;
/// - kUsage: a material beyond single precision, dt out of range;
/// - kLimit: too many non-zeros, no memory.
Result<RestData> ComputeMixedRestData(const TetMesh& mesh, const TetMaterials& materials,
                                      double volume, double dt,
                                      std::span<const std::array<double, 4>> corner_weights = {},
                                      std::span<const uint32_t> last = {},
                                      std::optional<uint32_t> clusters = 0u);

}  // namespace plush::tools

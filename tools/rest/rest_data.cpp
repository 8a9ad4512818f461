// SPDX-License-Identifier: MIT
// Computes rest shapes, masses and stiffness of the tets, and the factor of the system matrix [Kug,
// Alg. 1].
#include "rest/rest_data.h"

#include "plush/format/system_factor.h"

#include "mesh/tet_mesh.h"
#include "rest/elimination_order.h"
#include "rest/supernodes.h"
#include "rest/tet_blocks.h"

#include <algorithm>
#include <array>
#include <cfloat>
#include <cmath>
#include <string>
#include <utility>

namespace plush::tools {
namespace {

// Far beyond any cage for a game: 1.6 GB of factor in double.
constexpr uint64_t kMaxFactorNonzeros = 100'000'000;

// Denormal numbers count as zero: they have lost precision.
bool IsPositiveNormal(float value) { return std::isfinite(value) && value >= FLT_MIN; }

double VolumeOf(const RestData& rest, size_t t) {
  return TetVolume(CornersOf(rest.nodes, rest.tets[t]));
}

// The inverse of the matrix with columns u, v, w and determinant `det`, stored by columns. Its rows
// are the cross products over `det`.
std::array<double, 9> InverseColumns(const Vec3d& u, const Vec3d& v, const Vec3d& w, double det) {
  const Vec3d r0 = Cross(v, w) / det;
  const Vec3d r1 = Cross(w, u) / det;
  const Vec3d r2 = Cross(u, v) / det;
  return {r0.x, r1.x, r2.x, r0.y, r1.y, r2.y, r0.z, r1.z, r2.z};
}

Error InvalidInput(const std::string& what) { return {ExitCode::kInvalidInput, what}; }

Error Internal(const std::string& what) { return {ExitCode::kInternal, what}; }

void Renumber(const TetMesh& mesh, std::vector<uint32_t> order, RestData* rest) {
  rest->node_order = std::move(order);
  std::vector<uint32_t> new_of_old(mesh.nodes.size());
  rest->nodes.resize(mesh.nodes.size());
  for (uint32_t i = 0; i < rest->nodes.size(); ++i) {
    new_of_old[rest->node_order[i]] = i;
    rest->nodes[i] = ToFloat(mesh.nodes[rest->node_order[i]]);
  }
  rest->tets.reserve(mesh.tets.size());
  for (const auto& tet : mesh.tets) {
    rest->tets.push_back(
        {new_of_old[tet[0]], new_of_old[tet[1]], new_of_old[tet[2]], new_of_old[tet[3]]});
  }
}

// Assigns slots to the tets and makes the empty blocks.
void MakeBlocks(RestData* rest) {
  const auto num_nodes = static_cast<uint32_t>(rest->nodes.size());
  const std::vector<uint32_t> tet_of_slot =
      PackTetBlocks(num_nodes, NodesOfTets(rest->tets), rest->clusters.of_nodes);
  rest->tet_slots.resize(rest->tets.size());
  for (uint32_t slot = 0; slot < tet_of_slot.size(); ++slot) {
    if (tet_of_slot[slot] != kNoTet) rest->tet_slots[tet_of_slot[slot]] = slot;
  }
  TetBlock empty = {};
  for (auto& row : empty.nodes) std::fill(std::begin(row), std::end(row), num_nodes);
  rest->blocks.assign(tet_of_slot.size() / kBlockTets, empty);
}

// Stores nodes, Dm^-1 and volume of tet `t` in its slot; false if float cannot hold them.
bool StoreShape(size_t t, RestData* rest) {
  const auto [a, b, c, d] = CornersOf(rest->nodes, rest->tets[t]);
  const double six_volume = SixVolume(a, b, c, d);
  const auto det_dm_inv = static_cast<float>(1.0 / six_volume);
  if (!IsPositiveNormal(static_cast<float>(six_volume / 6.0)) || !IsPositiveNormal(det_dm_inv)) {
    return false;
  }
  TetBlock& block = rest->blocks[rest->tet_slots[t] / kBlockTets];
  const size_t lane = rest->tet_slots[t] % kBlockTets;
  const std::array<uint32_t, 4> ids = NodesOf(rest->tets[t]);
  for (size_t k = 0; k < 4; ++k) block.nodes[k][lane] = ids[k];
  const std::array<double, 9> inverse = InverseColumns(b - a, c - a, d - a, six_volume);
  for (size_t k = 0; k < 9; ++k) {
    block.dm_inv[k][lane] = static_cast<float>(inverse[k]);
    if (!std::isfinite(block.dm_inv[k][lane])) return false;
  }
  block.det_dm_inv[lane] = det_dm_inv;
  rest->cage_volume += six_volume / 6.0;
  return true;
}

// Stores the stiffness of tet `t` in its slot; false if float cannot hold it.
bool StoreStiffness(size_t t, const Lame& lame, RestData* rest) {
  const double volume = VolumeOf(*rest, t);
  TetBlock& block = rest->blocks[rest->tet_slots[t] / kBlockTets];
  const size_t lane = rest->tet_slots[t] % kBlockTets;
  block.stiffness[lane] = static_cast<float>(2.0 * lame.mu * volume);
  block.bulk[lane] = static_cast<float>(lame.lambda * volume);
  return IsPositiveNormal(block.stiffness[lane]) && std::isfinite(block.bulk[lane]);
}

Result<Done> ComputeShapes(RestData* rest) {
  MakeBlocks(rest);
  for (size_t t = 0; t < rest->tets.size(); ++t) {
    if (StoreShape(t, rest)) continue;
    return InvalidInput("tet " + std::to_string(t) +
                        " has no volume left in single precision; move the model nearer to the "
                        "origin, or scale it (--scale, --unit) to between 1 mm and 100 m");
  }
  return Done{};
}

// Share of each corner of each tet in the body's volume; they sum to one.
std::vector<std::array<double, 4>> VolumeShares(
    const RestData& rest, std::span<const std::array<double, 4>> corner_weights) {
  std::vector<std::array<double, 4>> shares(corner_weights.begin(), corner_weights.end());
  for (size_t t = shares.size(); t < rest.tets.size(); ++t) {
    shares.emplace_back().fill(0.25 * VolumeOf(rest, t));
  }
  double sum = 0.0;
  for (const auto& corners : shares) sum += corners[0] + corners[1] + corners[2] + corners[3];
  for (auto& corners : shares) {
    for (double& share : corners) share /= sum;
  }
  return shares;
}

Result<Done> ComputeMasses(const TetMaterials& materials, double volume,
                           std::span<const std::array<double, 4>> corner_weights, RestData* rest) {
  const std::vector<std::array<double, 4>> shares = VolumeShares(*rest, corner_weights);
  std::vector<double> masses(rest->nodes.size(), 0.0);
  rest->tet_masses.reserve(rest->tets.size());
  for (size_t t = 0; t < rest->tets.size(); ++t) {
    const double density = materials.materials[materials.of_tets[t]].density;
    const std::array<uint32_t, 4> ids = NodesOf(rest->tets[t]);
    double share = 0.0;
    for (size_t k = 0; k < 4; ++k) {
      share += shares[t][k];
      // A node's mass accumulates [Kug, Alg. 1, line 7, which as printed overwrites it].
      masses[ids[k]] += density * volume * shares[t][k];
    }
    rest->density += density * share;
    rest->mass += density * volume * share;
    rest->tet_masses.push_back(static_cast<float>(density * volume * share));
  }
  if (!(rest->mass > 0.0) || !std::isfinite(rest->mass)) {
    return InvalidInput("the total mass of " + std::to_string(rest->mass) +
                        " kg is not a positive number; check --density and --scale");
  }
  rest->masses.reserve(masses.size());
  const double least = kLeastMass * rest->mass / static_cast<double>(masses.size());
  for (const double mass : masses) {
    rest->num_light += mass < least ? 1 : 0;
    rest->masses.push_back(static_cast<float>(std::max(mass, least)));
    if (IsPositiveNormal(rest->masses.back())) continue;
    return InvalidInput("a cage node's mass of " + std::to_string(mass) +
                        " kg cannot be stored in single precision; check --density and --scale");
  }
  return Done{};
}

Result<Done> ComputeStiffness(const TetMaterials& materials, RestData* rest) {
  std::vector<Lame> lame;
  for (const Material& material : materials.materials) {
    lame.push_back(LameParameters(material));
    if (!IsPositiveNormal(static_cast<float>(lame.back().mu)) ||
        !std::isfinite(static_cast<float>(lame.back().lambda))) {
      return Error{
          ExitCode::kUsage,
          "Young's modulus and Poisson's ratio give Lame parameters beyond single precision"};
    }
  }
  for (size_t t = 0; t < rest->tets.size(); ++t) {
    if (StoreStiffness(t, lame[materials.of_tets[t]], rest)) continue;
    return InvalidInput("the stiffness of tet " + std::to_string(t) +
                        " cannot be stored in single precision; check --young and --scale");
  }
  return Done{};
}

void MakeFactorStructure(const NodeGraph& graph, RestData* rest) {
  FactorLayout layout = FindSupernodes(graph, rest->num_free);
  rest->supernodes = std::move(layout.supernodes);
  rest->rows = std::move(layout.rows);
  rest->values.resize(layout.num_values);
  rest->supernode_of.resize(rest->nodes.size());
  for (uint32_t i = 0; i < rest->supernodes.size(); ++i) {
    const Supernode& s = rest->supernodes[i];
    std::fill_n(rest->supernode_of.begin() + s.first_column, s.num_columns, i);
    rest->factor_nonzeros += LowerEntries(s);
  }
}

Result<Done> ComputeFactor(const NodeGraph& graph, double dt, double damping, RestData* rest) {
  rest->dt = dt;
  MakeFactorStructure(graph, rest);
  const Status status = FactoriseSystem({.blocks = rest->blocks,
                                         .masses = rest->masses,
                                         .dt = static_cast<float>(dt),
                                         .damping = static_cast<float>(damping)},
                                        {rest->supernodes, rest->supernode_of, rest->rows},
                                        DefaultAllocator(), rest->values);
  if (status.ok()) return Done{};
  if (status.code == StatusCode::kOutOfMemory) {
    return Error{ExitCode::kLimit, "no memory is left for the factor; ask for fewer tets"};
  }
  return InvalidInput(std::string("the system matrix cannot be factored: ") + status.reason +
                      "; the cage has nearly flat tets or the material is out of proportion; "
                      "choose larger cells, check --young, --density, --dt and --scale");
}

Result<Done> CheckMaterials(const TetMesh& mesh, const TetMaterials& materials,
                            std::span<const std::array<double, 4>> corner_weights) {
  if (materials.of_tets.size() != mesh.tets.size()) return Internal("not one material per tet");
  for (const uint16_t id : materials.of_tets) {
    if (id >= materials.materials.size()) return Internal("a tet's material does not exist");
  }
  if (corner_weights.empty()) return Done{};
  if (corner_weights.size() != mesh.tets.size()) return Internal("not four weights per tet");
  double sum = 0.0;
  for (const auto& corners : corner_weights) {
    for (const double weight : corners) {
      if (!(weight >= 0.0)) return Internal("a tet's weight is negative");
      sum += weight;
    }
  }
  if (!(sum > 0.0) || !std::isfinite(sum)) return Internal("the tets' weights have no finite sum");
  return Done{};
}

Result<Done> CheckInput(const TetMesh& mesh, double dt) {
  if (mesh.tets.empty()) {
    return Error{ExitCode::kInvalidInput, "the cage has no tets", "MESH_EMPTY"};
  }
  if (!(dt > 0.0 && dt <= 1.0)) {
    return Error{ExitCode::kUsage, "the time step must be in (0, 1] s"};
  }
  std::vector<bool> used(mesh.nodes.size(), false);
  for (const auto& tet : mesh.tets) {
    for (const uint32_t id : tet) {
      if (id >= mesh.nodes.size()) return Internal("tet index out of range");
      used[id] = true;
    }
  }
  if (std::ranges::count(used, false) > 0) return Internal("a cage node belongs to no tet");
  return Done{};
}

}  // namespace

std::vector<std::array<uint32_t, 4>> NodesOfTets(std::span<const Tet> tets) {
  std::vector<std::array<uint32_t, 4>> nodes;
  nodes.reserve(tets.size());
  for (const Tet& tet : tets) nodes.push_back(NodesOf(tet));
  return nodes;
}

double MedianEdge(const NodeGraph& graph, std::span<const Vec3> nodes) {
  std::vector<double> lengths;
  lengths.reserve(graph.neighbours.size() / 2);
  for (uint32_t node = 0; node < graph.num_nodes(); ++node) {
    for (uint32_t k = graph.starts[node]; k < graph.starts[node + 1]; ++k) {
      const uint32_t other = graph.neighbours[k];
      if (other < node) continue;
      lengths.push_back(Length(ToDouble(nodes[node]) - ToDouble(nodes[other])));
    }
  }
  const auto middle = lengths.begin() + static_cast<std::ptrdiff_t>(lengths.size() / 2);
  std::nth_element(lengths.begin(), middle, lengths.end());
  return lengths.empty() ? 0.0 : *middle;
}

Lame LameParameters(const Material& material) {
  const double e = material.young;
  const double nu = material.poisson;
  return {e / (2.0 * (1.0 + nu)), e * nu / ((1.0 + nu) * (1.0 - 2.0 * nu))};
}

Result<RestData> ComputeMixedRestData(const TetMesh& mesh, const TetMaterials& materials,
                                      double volume, double dt,
                                      std::span<const std::array<double, 4>> corner_weights,
                                      std::span<const uint32_t> last,
                                      std::optional<uint32_t> clusters) {
  if (auto good = CheckInput(mesh, dt); !good.ok()) return good.error();
  if (auto good = CheckMaterials(mesh, materials, corner_weights); !good.ok()) return good.error();
  const NodeGraph graph = BuildNodeGraph(static_cast<uint32_t>(mesh.nodes.size()), mesh.tets);
  std::optional<EliminationOrder> order = ChooseEliminationOrder(graph, last, kMaxFactorNonzeros);
  if (!order.has_value()) {
    return Error{ExitCode::kLimit,
                 "the factor of a cage with " + std::to_string(mesh.tets.size()) +
                     " tets needs more than " + std::to_string(kMaxFactorNonzeros) +
                     " non-zeros; ask for fewer tets (--tets) or larger cells (--cell)"};
  }
  RestData rest;
  Renumber(mesh, std::move(order->order), &rest);
  rest.num_free = order->num_free;
  rest.clusters = MakeClusters(rest.nodes, NodesOfTets(rest.tets), clusters);
  if (auto done = ComputeShapes(&rest); !done.ok()) return done.error();
  if (auto done = ComputeMasses(materials, volume, corner_weights, &rest); !done.ok()) {
    return done.error();
  }
  if (auto done = ComputeStiffness(materials, &rest); !done.ok()) return done.error();
  const NodeGraph renumbered = BuildNodeGraph(graph.num_nodes(), NodesOfTets(rest.tets));
  rest.components = CountComponents(renumbered);
  rest.median_edge = MedianEdge(renumbered, rest.nodes);
  if (auto done = ComputeFactor(renumbered, dt, materials.damping, &rest); !done.ok()) {
    return done.error();
  }
  return rest;
}

}  // namespace plush::tools

// SPDX-License-Identifier: MIT
// Recomputes rest shapes, masses and stiffness from the nodes in double precision and compares them
// with the file [Kug, Alg. 1].
#include "validate/rest_checks.h"

#include "plush/format/factor_panels.h"
#include "plush/format/tet_block.h"

#include "mesh/disjoint_sets.h"
#include "mesh/tet_mesh.h"
#include "rest/elimination_order.h"
#include "rest/rest_data.h"
#include "validate/tally.h"

#include <algorithm>
#include <array>
#include <cfloat>
#include <cmath>
#include <numeric>
#include <string>
#include <vector>

namespace plush::tools {
namespace {

// Allows for rounding in double on both sides, and for another order of sums.
constexpr double kTolerance = 1.0e-6;

// The masses, the volume and the densities of a body are rounded independently.
constexpr double kMassTolerance = 1.0e-5;

std::string Text(double number) { return NumberText(number, 7); }

bool Differs(double stored, double expected) {
  return !(std::abs(stored - expected) <= kTolerance * std::abs(expected));
}

double VolumeOf(const SimulationView& s, const Tet& t) { return TetVolume(CornersOf(s.nodes, t)); }

// Whether the tet's slot lies in the blocks.
bool HasPlace(const SimulationView& s, size_t tet) {
  return s.tet_slots[tet] < s.blocks.size() * kBlockTets;
}

// Largest ratio of an entry of |Dm^-1 Dm - I| to its bound. Each entry of Dm^-1 has a relative
// error of up to one roundoff u, so the product is off by up to u |Dm^-1| |Dm|.
double InverseError(const Mat3& inverse, const TetCorners& corners) {
  const std::array<Vec3d, 3> edges = {corners[1] - corners[0], corners[2] - corners[0],
                                      corners[3] - corners[0]};
  const std::array<Vec3d, 3> columns = {ToDouble(inverse.c0), ToDouble(inverse.c1),
                                        ToDouble(inverse.c2)};
  double worst = 0.0;
  for (int row = 0; row < 3; ++row) {
    for (int column = 0; column < 3; ++column) {
      double product = row == column ? -1.0 : 0.0;
      double magnitude = 0.0;
      for (int k = 0; k < 3; ++k) {
        const double term =
            columns[static_cast<size_t>(k)][row] * edges[static_cast<size_t>(column)][k];
        product += term;
        magnitude += std::abs(term);
      }
      const double error = std::abs(product) / (2.0 * kRoundoff * magnitude + 1e-12);
      if (!(error <= worst)) worst = error;
    }
  }
  return worst;
}

void CheckShapes(const SimulationView& s, FindingList* findings) {
  Tally turned("FILE_REST_DATA", "simulation.tets", "the rest volume is not positive");
  Tally volumes("FILE_REST_DATA", "simulation.blocks.det_dm_inv",
                "not the volume of the tet's nodes");
  Tally inverses("FILE_REST_DATA", "simulation.blocks.dm_inv",
                 "not the inverse of the tet's edges");
  for (size_t i = 0; i < s.tets.size(); ++i) {
    const Tet& tet = s.tets[i];
    if (!IsSoundTet(s, tet)) continue;
    const auto [a, b, c, d] = CornersOf(s.nodes, tet);
    const Vec3d centre = 0.25 * (a + b + c + d);
    const double volume = VolumeOf(s, tet);
    if (!(volume > 0.0)) {
      turned.AddAt(i, centre, volume);
      continue;
    }
    if (!HasPlace(s, i)) continue;
    if (Differs(s.Volume(i), volume)) {
      volumes.AddAt(i, centre, std::abs(s.Volume(i) / volume - 1.0));
    }
    const double error = InverseError(s.DmInv(i), CornersOf(s.nodes, tet));
    if (!(error <= 1.0)) inverses.AddAt(i, centre, error);
  }
  turned.Report(findings);
  volumes.Report(findings);
  inverses.Report(findings);
}

// The nodes from num_free on must belong to regions, and include those of all regions without a
// joint. Whether those of a joint are included is up to the bake. If num_free is the number of
// nodes, the order ignores regions.
void CheckFreeNodes(const Asset& asset, FindingList* findings) {
  const size_t num_nodes = asset.simulation().nodes.size();
  const size_t num_free = asset.factor().num_free;
  if (num_free >= num_nodes) return;
  std::vector<bool> may_be_last(num_nodes, false);
  std::vector<bool> must_be_last(num_nodes, false);
  for (uint32_t i = 0; i < asset.num_regions(); ++i) {
    const RegionView region = asset.region(i);
    for (const uint32_t node : region.nodes) {
      if (node >= num_nodes) continue;
      may_be_last[node] = true;
      if (!region.has_joint) must_be_last[node] = true;
    }
  }
  Tally wrong("FILE_REST_DATA", "factor.num_free", "the nodes of regions are not those behind it");
  for (size_t i = 0; i < num_nodes; ++i) {
    const bool good = i >= num_free ? may_be_last[i] : !must_be_last[i];
    if (!good) wrong.AddAt(i, ToDouble(asset.simulation().nodes[i]));
  }
  wrong.Report(findings);
}

// The mass of the tets around each node [kg]; negative for a node without a tet.
std::vector<double> MassesAround(const SimulationView& s) {
  std::vector<double> masses(s.nodes.size(), -1.0);
  for (size_t t = 0; t < s.tets.size(); ++t) {
    if (!IsSoundTet(s, s.tets[t])) continue;
    for (const uint32_t id : NodesOf(s.tets[t])) {
      masses[id] = std::max(masses[id], 0.0) + s.tet_masses[t];
    }
  }
  return masses;
}

// Nodes share the masses of their tets, but none has less than the least mass. Those that have it
// may have added up to as much to the sum.
void CheckNodeMasses(const SimulationView& s, FindingList* findings) {
  const std::vector<double> around = MassesAround(s);
  Tally unused("FILE_UNREFERENCED_NODE", "simulation.nodes", "belongs to no tet");
  Tally light("FILE_REST_DATA", "simulation.masses", "less than a thousandth of the mean");
  Tally heavy("FILE_REST_DATA", "simulation.masses", "more than the tets around it have");
  const double of_tets = std::accumulate(s.tet_masses.begin(), s.tet_masses.end(), 0.0);
  const double of_nodes = std::accumulate(s.masses.begin(), s.masses.end(), 0.0);
  const double least = kLeastMass * of_tets / static_cast<double>(s.nodes.size());
  double num_light = 0.0;
  for (size_t i = 0; i < around.size(); ++i) {
    num_light += s.masses[i] <= (1.0 + kMassTolerance) * least ? 1.0 : 0.0;
    if (around[i] < 0.0) {
      unused.AddAt(i, ToDouble(s.nodes[i]));
    } else if (!(s.masses[i] >= (1.0 - kMassTolerance) * least)) {
      light.AddAt(i, ToDouble(s.nodes[i]), 1.0 - s.masses[i] / least);
    } else if (!(s.masses[i] <= (1.0 + kMassTolerance) * std::max(least, around[i]))) {
      heavy.AddAt(i, ToDouble(s.nodes[i]), s.masses[i] / around[i] - 1.0);
    }
  }
  unused.Report(findings);
  light.Report(findings);
  heavy.Report(findings);
  const double added = of_nodes - of_tets;
  if (added >= -kTolerance * of_tets && added <= num_light * least + kTolerance * of_tets) return;
  findings->Add(
      "FILE_REST_DATA", 1,
      "simulation.masses: nodes of " + Text(of_nodes) + " kg in tets of " + Text(of_tets) + " kg");
}

// Tet masses over densities must add up to the volume of the solid or of the cage, and the total
// mass over that volume must be the mean density.
void CheckTetMasses(const Asset& asset, FindingList* findings) {
  const SimulationView& s = asset.simulation();
  double mass = 0.0;
  double filled_volume = 0.0;
  double cage_volume = 0.0;
  for (size_t t = 0; t < s.tets.size(); ++t) {
    if (s.tet_materials[t] >= asset.num_materials()) return;
    mass += s.tet_masses[t];
    filled_volume += s.tet_masses[t] / double{asset.material(s.tet_materials[t]).density};
    if (IsSoundTet(s, s.tets[t])) cage_volume += VolumeOf(s, s.tets[t]);
  }
  const auto near = [](double value, double expected) {
    return std::abs(value - expected) <= kMassTolerance * expected;
  };
  if (!near(filled_volume, s.solid_volume) && !near(filled_volume, cage_volume)) {
    findings->Add("FILE_REST_DATA", 1,
                  "simulation.tet_masses: over their densities they fill " + Text(filled_volume) +
                      " m^3, which is neither the solid's volume nor the cage's");
  }
  if (!near(mass, s.density * filled_volume)) {
    findings->Add("FILE_REST_DATA", 1,
                  "simulation.density: " + Text(s.density) + " kg/m^3 is given, the tets have " +
                      Text(mass / filled_volume) + " kg/m^3");
  }
}

// Each cluster must be connected by edges of tets.
void CheckClusters(const SimulationView& s, const NodeGraph& graph, FindingList* findings) {
  if (s.clusters.empty()) return;
  DisjointSets pieces(graph.num_nodes());
  uint32_t num_pieces = graph.num_nodes();
  for (uint32_t node = 0; node < graph.num_nodes(); ++node) {
    for (uint32_t i = graph.starts[node]; i < graph.starts[node + 1]; ++i) {
      const uint32_t other = graph.neighbours[i];
      if (s.clusters[node] == s.clusters[other] && pieces.Join(node, other)) --num_pieces;
    }
  }
  if (num_pieces == s.num_clusters) return;
  findings->Add("FILE_REST_DATA", 1,
                "simulation.clusters: " + std::to_string(s.num_clusters) + " clusters are in " +
                    std::to_string(num_pieces) + " pieces; each must be connected by edges");
}

void CheckGraph(const SimulationView& s, FindingList* findings) {
  if (!std::ranges::all_of(s.tets, [&s](const Tet& t) { return IsSoundTet(s, t); })) return;
  const NodeGraph graph =
      BuildNodeGraph(static_cast<uint32_t>(s.nodes.size()), NodesOfTets(s.tets));
  const uint32_t components = CountComponents(graph);
  if (components != s.components) {
    findings->Add("FILE_REST_DATA", 1,
                  "simulation.components: " + std::to_string(s.components) +
                      " are given, the cage has " + std::to_string(components));
  }
  CheckClusters(s, graph, findings);
  if (s.tets.empty()) return;
  const double median_edge = MedianEdge(graph, s.nodes);
  if (Differs(s.median_edge, median_edge)) {
    findings->Add("FILE_REST_DATA", 1,
                  "simulation.median_edge: " + Text(s.median_edge) + " m is given, the cage has " +
                      Text(median_edge) + " m");
  }
}

}  // namespace

bool IsSoundTet(const SimulationView& s, const Tet& t) {
  const std::array<uint32_t, 4> ids = NodesOf(t);
  return std::ranges::all_of(ids, [&](uint32_t id) {
    return id < s.nodes.size() && IsFinite(ToDouble(s.nodes[id])) &&
           std::ranges::count(ids, id) == 1;
  });
}

void CheckRestData(const Asset& asset, FindingList* findings) {
  CheckShapes(asset.simulation(), findings);
  CheckTetMasses(asset, findings);
  CheckNodeMasses(asset.simulation(), findings);
  CheckGraph(asset.simulation(), findings);
  CheckFreeNodes(asset, findings);
}

void CheckMaterials(const Asset& asset, FindingList* findings) {
  const SimulationView& s = asset.simulation();
  Tally stiffness("FILE_REST_DATA", "simulation.blocks.stiffness",
                  "not what the tet's material gives");
  Tally bulk("FILE_REST_DATA", "simulation.blocks.bulk", "not what the tet's material gives");
  for (size_t i = 0; i < s.tets.size(); ++i) {
    const bool is_known =
        s.tet_materials[i] < asset.num_materials() && HasPlace(s, i) && IsSoundTet(s, s.tets[i]);
    if (!is_known) continue;  // reported already
    const MaterialView material = asset.material(s.tet_materials[i]);
    const Lame lame = LameParameters({material.young, material.poisson, material.density});
    // A roundoff of nu changes lambda by up to 2 nu / (1 - 2 nu) + 1 times as much, relatively.
    const double nu = material.poisson;
    const double amplification = 1.0 + 2.0 * nu / (1.0 - 2.0 * nu);
    const double lambda_tolerance = kTolerance + 2.0 * kRoundoff * amplification;
    const double volume = VolumeOf(s, s.tets[i]);
    const double expected = 2.0 * lame.mu * volume;
    const float stored = s.BlockOf(i).stiffness[s.LaneOf(i)];
    if (Differs(stored, expected)) stiffness.Add(i, std::abs(stored / expected - 1.0));
    const double expected_bulk = lame.lambda * volume;
    const double error = std::abs(s.BlockOf(i).bulk[s.LaneOf(i)] - expected_bulk);
    // A denormal number has lost precision, or has become zero.
    if (!(error <= lambda_tolerance * std::abs(expected_bulk) + FLT_MIN)) {
      bulk.Add(i, error / expected_bulk);
    }
  }
  stiffness.Report(findings);
  bulk.Report(findings);
}

}  // namespace plush::tools

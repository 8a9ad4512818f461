// SPDX-License-Identifier: MIT
#include "validate/rest_checks.h"

#include "rest/elimination_order.h"
#include "rest/rest_data.h"
#include "validate/tally.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

namespace plush::tools {
namespace {

// Unit roundoff of float: the file's numbers are doubles rounded once.
constexpr double kRoundoff = 0x1p-24;

// Room for the double-precision rounding on both sides, and for a sum in another order.
constexpr double kTolerance = 1.0e-6;

// The mass, volume and density of a body are rounded independently, and its mass is a sum of
// rounded node masses.
constexpr double kMassTolerance = 1.0e-5;

Vec3d ToDouble(const Vec3& v) { return {v.x, v.y, v.z}; }

std::string Text(double number) {
  char text[40];
  std::snprintf(text, sizeof(text), "%.7g", number);
  return text;
}

bool Differs(double stored, double expected) {
  return !(std::abs(stored - expected) <= kTolerance * std::abs(expected));
}

// The three edges from node a, the columns of Dm.
std::array<Vec3d, 3> Edges(const SimulationView& s, const Tet& t) {
  const Vec3d a = ToDouble(s.nodes[t.a]);
  return {ToDouble(s.nodes[t.b]) - a, ToDouble(s.nodes[t.c]) - a, ToDouble(s.nodes[t.d]) - a};
}

double TetVolume(const SimulationView& s, const Tet& t) {
  const auto [u, v, w] = Edges(s, t);
  return Dot(Cross(u, v), w) / 6.0;
}

// Largest entry of |Dm^-1 Dm - I| over its bound: an entry of Dm^-1 carries a relative error of one
// roundoff, so an entry of the product one of |Dm^-1| |Dm|.
double InverseError(const Mat3& inverse, const std::array<Vec3d, 3>& edges) {
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
  Tally volumes("FILE_REST_DATA", "simulation.volumes", "not the volume of the tet's nodes");
  Tally inverses("FILE_REST_DATA", "simulation.dm_inv", "not the inverse of the tet's edges");
  for (size_t i = 0; i < s.tets.size(); ++i) {
    const Tet& tet = s.tets[i];
    if (!IsSoundTet(s, tet)) continue;
    const Vec3d centre = TetCentre(s, tet);
    const double volume = TetVolume(s, tet);
    if (!(volume > 0.0)) {
      turned.AddAt(i, centre, volume);
      continue;
    }
    if (Differs(s.volumes[i], volume)) {
      volumes.AddAt(i, centre, std::abs(s.volumes[i] / volume - 1.0));
    }
    const double error = InverseError(s.dm_inv[i], Edges(s, tet));
    if (!(error <= 1.0)) inverses.AddAt(i, centre, error);
  }
  turned.Report(findings);
  volumes.Report(findings);
  inverses.Report(findings);
}

// Quarter volumes accumulated over a node's tets [m^3].
std::vector<double> NodeVolumes(const SimulationView& s) {
  std::vector<double> volumes(s.nodes.size(), 0.0);
  for (const Tet& t : s.tets) {
    if (!IsSoundTet(s, t)) continue;
    for (const uint32_t id : {t.a, t.b, t.c, t.d}) volumes[id] += 0.25 * TetVolume(s, t);
  }
  return volumes;
}

// A node's share of the mass is its share of the volume. What they share out is the density times
// the solid's volume or the cage's.
void CheckMasses(const SimulationView& s, FindingList* findings) {
  const std::vector<double> volumes = NodeVolumes(s);
  double mass = 0.0;
  double cage_volume = 0.0;
  for (const float m : s.masses) mass += m;
  for (const double v : volumes) cage_volume += v;
  const auto near = [mass](double expected) {
    return std::abs(mass - expected) <= kMassTolerance * expected;
  };
  const double density = s.density;
  if (!near(density * s.solid_volume) && !near(density * cage_volume)) {
    findings->Add("FILE_REST_DATA", 1,
                  "simulation.masses: their sum of " + Text(mass) +
                      " kg is the density times neither the solid's volume nor the cage's");
  }
  Tally unused("FILE_UNREFERENCED_NODE", "simulation.nodes", "belongs to no tet");
  Tally shares("FILE_REST_DATA", "simulation.masses", "not the node's share of the total mass");
  for (size_t i = 0; i < volumes.size(); ++i) {
    const double expected = mass * (volumes[i] / cage_volume);
    if (volumes[i] == 0.0) {
      unused.AddAt(i, ToDouble(s.nodes[i]));
    } else if (!(std::abs(s.masses[i] - expected) <= kMassTolerance * expected)) {
      shares.AddAt(i, ToDouble(s.nodes[i]), std::abs(s.masses[i] / expected - 1.0));
    }
  }
  unused.Report(findings);
  shares.Report(findings);
}

// Number of components and the median edge, from the graph of all tets.
void CheckGraph(const SimulationView& s, FindingList* findings) {
  std::vector<std::array<uint32_t, 4>> tets;
  tets.reserve(s.tets.size());
  for (const Tet& t : s.tets) {
    if (!IsSoundTet(s, t)) return;
    tets.push_back({t.a, t.b, t.c, t.d});
  }
  const NodeGraph graph = BuildNodeGraph(static_cast<uint32_t>(s.nodes.size()), tets);
  const uint32_t components = CountComponents(graph);
  if (components != s.components) {
    findings->Add("FILE_REST_DATA", 1,
                  "simulation.components: " + std::to_string(s.components) +
                      " are given, the cage has " + std::to_string(components));
  }
  std::vector<double> lengths;
  lengths.reserve(graph.neighbours.size() / 2);
  for (uint32_t node = 0; node < graph.num_nodes(); ++node) {
    for (uint32_t k = graph.starts[node]; k < graph.starts[node + 1]; ++k) {
      const uint32_t other = graph.neighbours[k];
      if (other > node)
        lengths.push_back(Length(ToDouble(s.nodes[other]) - ToDouble(s.nodes[node])));
    }
  }
  if (lengths.empty()) return;
  const auto middle = lengths.begin() + static_cast<std::ptrdiff_t>(lengths.size() / 2);
  std::nth_element(lengths.begin(), middle, lengths.end());
  if (Differs(s.median_edge, *middle)) {
    findings->Add("FILE_REST_DATA", 1,
                  "simulation.median_edge: " + Text(s.median_edge) + " m is given, the cage has " +
                      Text(*middle) + " m");
  }
}

}  // namespace

bool IsSoundTet(const SimulationView& s, const Tet& t) {
  const std::array<uint32_t, 4> ids = {t.a, t.b, t.c, t.d};
  for (size_t i = 0; i < 4; ++i) {
    if (ids[i] >= s.nodes.size() || !IsFinite(ToDouble(s.nodes[ids[i]]))) return false;
    for (size_t k = 0; k < i; ++k) {
      if (ids[i] == ids[k]) return false;
    }
  }
  return true;
}

Vec3d TetCentre(const SimulationView& s, const Tet& t) {
  return 0.25 * (ToDouble(s.nodes[t.a]) + ToDouble(s.nodes[t.b]) + ToDouble(s.nodes[t.c]) +
                 ToDouble(s.nodes[t.d]));
}

void CheckRestData(const SimulationView& simulation, FindingList* findings) {
  CheckShapes(simulation, findings);
  CheckMasses(simulation, findings);
  CheckGraph(simulation, findings);
}

void CheckMaterial(const SimulationView& s, FindingList* findings) {
  const Lame lame = LameParameters({s.young, s.poisson, s.density});
  // A roundoff of nu changes lambda by up to 2 nu / (1 - 2 nu) + 1 times as much, relatively.
  const double nu = s.poisson;
  const double amplification = 1.0 + 2.0 * nu / (1.0 - 2.0 * nu);
  const double lambda_tolerance = kTolerance + 2.0 * kRoundoff * amplification;
  Tally mu("FILE_REST_DATA", "simulation.mu", "not what Young's modulus and Poisson's ratio give");
  Tally lambda("FILE_REST_DATA", "simulation.lambda",
               "not what Young's modulus and Poisson's ratio give");
  for (size_t i = 0; i < s.tets.size(); ++i) {
    if (Differs(s.mu[i], lame.mu)) mu.Add(i, std::abs(s.mu[i] / lame.mu - 1.0));
    const double error = std::abs(s.lambda[i] - lame.lambda);
    if (!(error <= lambda_tolerance * lame.lambda)) lambda.Add(i, error / lame.lambda);
  }
  mu.Report(findings);
  lambda.Report(findings);
}

}  // namespace plush::tools

// SPDX-License-Identifier: MIT
#include "model_maker/surface_properties.h"

#include "parts.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>
#include <vector>

namespace plush::tests {
namespace {

using samples::TriangleMesh;
using samples::Vec3d;

/// Whether the triangles around each vertex form a single fan: following directed edges away from
/// a vertex visits all of them.
bool HasOneFanPerVertex(const TriangleMesh& mesh) {
  std::vector<std::map<uint32_t, uint32_t>> next(mesh.positions.size());
  for (const auto& t : mesh.triangles) {
    for (int k = 0; k < 3; ++k) next[t[k]][t[(k + 1) % 3]] = t[(k + 2) % 3];
  }
  for (const auto& fan : next) {
    if (fan.empty()) return false;
    size_t length = 0;
    uint32_t vertex = fan.begin()->first;
    do {
      const auto it = fan.find(vertex);
      if (it == fan.end()) return false;
      vertex = it->second;
      ++length;
    } while (vertex != fan.begin()->first && length <= fan.size());
    if (length != fan.size()) return false;
  }
  return true;
}

}  // namespace

bool IsClosedOrientedManifold(const TriangleMesh& mesh) {
  std::set<std::pair<uint32_t, uint32_t>> directed;
  for (const auto& t : mesh.triangles) {
    for (int k = 0; k < 3; ++k) {
      if (t[k] == t[(k + 1) % 3]) return false;
      if (!directed.emplace(t[k], t[(k + 1) % 3]).second) return false;
    }
  }
  for (const auto& [a, b] : directed) {
    if (directed.count({b, a}) == 0) return false;
  }
  return HasOneFanPerVertex(mesh);
}

int EulerCharacteristic(const TriangleMesh& mesh) {
  const int triangles = static_cast<int>(mesh.triangles.size());
  return static_cast<int>(mesh.positions.size()) - 3 * triangles / 2 + triangles;
}

double EnclosedVolume(const TriangleMesh& mesh) {
  double six_volume = 0.0;
  for (const auto& [a, b, c] : mesh.triangles) {
    six_volume += Dot(Cross(mesh.positions[a], mesh.positions[b]), mesh.positions[c]);
  }
  return six_volume / 6.0;
}

double WorstTriangle(const TriangleMesh& mesh) {
  double worst = 1.0;
  for (const auto& [a, b, c] : mesh.triangles) {
    const Vec3d ab = mesh.positions[b] - mesh.positions[a];
    const Vec3d ac = mesh.positions[c] - mesh.positions[a];
    const double squares = LengthSquared(ab) + LengthSquared(ac) + LengthSquared(ac - ab);
    worst = std::min(worst, 2.0 * std::sqrt(3.0) * Length(Cross(ab, ac)) / squares);
  }
  return worst;
}

samples::Solid BallSolid() { return {{samples::Ball({}, 0.1, 0.0)}}; }

samples::Solid RingSolid() {
  std::vector<samples::TubePoint> points;
  Vec3d spoke = {0.1, 0.0, 0.0};
  // tan(7.5 degrees) halves a turn of 15 degrees: 24 of them close the ring.
  const double half_tangent = std::sqrt(6.0) - std::sqrt(3.0) + std::sqrt(2.0) - 2.0;
  for (int i = 0; i < 24; ++i) {
    points.push_back({spoke, 0.03});
    spoke = samples::Turn(spoke, {0.0, 1.0, 0.0}, half_tangent);
  }
  points.push_back(points.front());
  return {{samples::Blob{samples::Tube(points)}}};
}

}  // namespace plush::tests

// SPDX-License-Identifier: MIT
// Marching tetrahedra over a lattice that is evaluated only near the surface.
// Based on:
// Akio Doi, Akio Koide. An efficient method of triangulating equi-valued surfaces by using
//   tetrahedral cells. 1991
// Hans Freudenthal. Simplizialzerlegungen von beschraenkter Flachheit. 1942 (the six tets)

#include "marching_tets.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

namespace plush::samples {
namespace {

using Cell = std::array<int, 3>;  // lattice coordinates: of a point, or of a cube's low corner

constexpr int kFarthestCell = 4000;
constexpr double kFarthestStart = 2.0;  // [m]
constexpr double kLeastCut = 0.12;      // of an edge: least distance of a vertex from its ends
constexpr int kBisections = 12;

// Corner k of a cube is offset by bits 0, 1, 2 of k. Each row is a path from corner 0 to corner 7.
// Odd permutations have two corners swapped, so that every tet is positively oriented.
constexpr int kTets[6][4] = {{0, 1, 3, 7}, {0, 5, 1, 7}, {0, 3, 2, 7},
                             {0, 2, 6, 7}, {0, 4, 5, 7}, {0, 6, 4, 7}};

class Marcher {
 public:
  Marcher(const Solid& solid, const Vec3d& origin, double step)
      : solid_(solid), origin_(origin), step_(step) {}

  /// Marches from `seed`, a cube that the surface crosses, to every cube connected with it.
  TriangleMesh March(const Cell& seed) {
    Visit(seed);
    for (size_t next = 0; next < queue_.size(); ++next) {
      const Cell cube = queue_[next];
      for (const auto& tet : kTets) MarchTet(cube, tet);
      for (int axis = 0; axis < 3; ++axis) {
        for (int side = 0; side < 2; ++side) VisitAcross(cube, axis, side);
      }
    }
    return std::move(mesh_);
  }

  double ValueAt(const Cell& point) {
    const auto [it, is_new] = values_.try_emplace(point, 0.0);
    if (is_new) it->second = samples::Distance(solid_, Position(point));
    return it->second;
  }

 private:
  static Cell Corner(const Cell& cube, int corner) {
    return {cube[0] + (corner & 1), cube[1] + (corner >> 1 & 1), cube[2] + (corner >> 2 & 1)};
  }

  Vec3d Position(const Cell& point) const {
    return origin_ + step_ * Vec3d{double(point[0]), double(point[1]), double(point[2])};
  }

  void Visit(const Cell& cube) {
    if (visited_.insert(cube).second) queue_.push_back(cube);
  }

  /// Visits the neighbour across a face of `cube` if the surface crosses that face.
  void VisitAcross(const Cell& cube, int axis, int side) {
    int inside = 0;
    for (int corner = 0; corner < 8; ++corner) {
      if ((corner >> axis & 1) == side && ValueAt(Corner(cube, corner)) < 0.0) ++inside;
    }
    if (inside == 0 || inside == 4) return;
    Cell neighbour = cube;
    neighbour[axis] += side == 0 ? -1 : 1;
    if (std::abs(neighbour[axis]) < kFarthestCell) Visit(neighbour);
  }

  /// The surface vertex on the lattice edge between `inner` (inside) and `outer`.
  uint32_t CutVertex(const Cell& inner, const Cell& outer) {
    const auto key = std::make_pair(std::min(inner, outer), std::max(inner, outer));
    const auto [it, is_new] = cuts_.try_emplace(key, static_cast<uint32_t>(mesh_.positions.size()));
    if (is_new) mesh_.positions.push_back(CutPosition(inner, outer));
    return it->second;
  }

  Vec3d CutPosition(const Cell& inner, const Cell& outer) const {
    const Vec3d a = Position(inner);
    const Vec3d b = Position(outer);
    double low = 0.0;
    double high = 1.0;
    for (int i = 0; i < kBisections; ++i) {
      const double middle = 0.5 * (low + high);
      (samples::Distance(solid_, a + middle * (b - a)) < 0.0 ? low : high) = middle;
    }
    const double t = std::clamp(0.5 * (low + high), kLeastCut, 1.0 - kLeastCut);
    return a + t * (b - a);
  }

  void MarchTet(const Cell& cube, const int (&tet)[4]) {
    // Sort inner corners first; count swaps to keep the tet's orientation.
    Cell corners[4];
    bool is_inside[4];
    int num_inside = 0;
    for (int i = 0; i < 4; ++i) {
      corners[i] = Corner(cube, tet[i]);
      is_inside[i] = ValueAt(corners[i]) < 0.0;
      num_inside += is_inside[i] ? 1 : 0;
    }
    if (num_inside == 0 || num_inside == 4) return;
    bool is_odd = false;
    for (int i = 0; i < 4; ++i) {
      for (int j = i + 1; j < 4; ++j) {
        if (is_inside[i] || !is_inside[j]) continue;
        std::swap(corners[i], corners[j]);
        std::swap(is_inside[i], is_inside[j]);
        is_odd = !is_odd;
      }
    }
    Emit(corners, num_inside, is_odd);
  }

  /// Emits a tet's triangles. The first `num_inside` of `corners` are inside.
  void Emit(const Cell (&corners)[4], int num_inside, bool is_odd) {
    // The cut edges in order around the cut, as pairs (inner corner, outer corner). Number new
    // vertices one statement at a time, because compilers choose the order in which arguments are
    // evaluated.
    constexpr int kCuts[3][4][2] = {{{0, 1}, {0, 2}, {0, 3}, {0, 3}},
                                    {{0, 2}, {0, 3}, {1, 3}, {1, 2}},
                                    {{0, 3}, {1, 3}, {2, 3}, {2, 3}}};
    uint32_t vertices[4];
    for (int i = 0; i < 4; ++i) {
      const auto& [inner, outer] = kCuts[num_inside - 1][i];
      vertices[i] = CutVertex(corners[inner], corners[outer]);
    }
    AddTriangle(vertices[0], vertices[1], vertices[2], is_odd);
    if (num_inside == 2) AddTriangle(vertices[0], vertices[2], vertices[3], is_odd);
  }

  void AddTriangle(uint32_t a, uint32_t b, uint32_t c, bool is_odd) {
    if (is_odd) std::swap(b, c);
    mesh_.triangles.push_back({a, b, c});
  }

  const Solid& solid_;
  Vec3d origin_;
  double step_;
  TriangleMesh mesh_;
  std::vector<Cell> queue_;
  std::set<Cell> visited_;
  std::map<Cell, double> values_;
  std::map<std::pair<Cell, Cell>, uint32_t> cuts_;
};

}  // namespace

TriangleMesh MarchTets(const Solid& solid, const Vec3d& inside, double step) {
  Marcher marcher(solid, inside, step);
  if (!(marcher.ValueAt({0, 0, 0}) < 0.0)) return {};
  int up = 1;
  while (marcher.ValueAt({0, up, 0}) < 0.0) {
    if (++up * step > kFarthestStart) return {};
  }
  return marcher.March({0, up - 1, 0});
}

}  // namespace plush::samples

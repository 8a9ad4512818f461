// SPDX-License-Identifier: MIT
// Marching tetrahedra: one or two triangles for each tet of a grid that the surface crosses.
#include "tools/cage/marching_tets.h"

#include "tools/procedural_meshes.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <utility>
#include <vector>

namespace plush::tests {
namespace {

// Nodes of a grid of cubes and the field's values there.
class Grid {
 public:
  Grid(const Field& field, uint32_t cells) {
    const Vec3d size = field.high - field.low;
    edge_ = std::min(std::max({size.x, size.y, size.z}) / cells, field.finest);
    for (int axis = 0; axis < 3; ++axis) {
      counts_[static_cast<size_t>(axis)] = static_cast<uint32_t>(std::ceil(size[axis] / edge_)) + 3;
    }
    low_ = field.low - Vec3d{1, 1, 1} * edge_;
    for (uint32_t z = 0; z < counts_[2]; ++z) {
      for (uint32_t y = 0; y < counts_[1]; ++y) {
        for (uint32_t x = 0; x < counts_[0]; ++x) {
          const bool border = x == 0 || y == 0 || z == 0 || x + 1 == counts_[0] ||
                              y + 1 == counts_[1] || z + 1 == counts_[2];
          const double value = field.value(PositionOf(Number(x, y, z)));
          // Never zero; positive at the border.
          values_.push_back(border ? std::max(value, edge_) : (value == 0.0 ? 1e-30 : value));
        }
      }
    }
  }

  template <class Visit>
  void ForEachTet(Visit visit) const {
    // One tet for each order of the axes, along the cube's diagonal; for odd orders the last two
    // corners are swapped.
    constexpr std::array<std::array<uint32_t, 2>, 6> kOrders = {
        {{1, 3}, {2, 6}, {4, 5}, {1, 5}, {2, 3}, {4, 6}}};
    for (uint32_t z = 0; z + 1 < counts_[2]; ++z) {
      for (uint32_t y = 0; y + 1 < counts_[1]; ++y) {
        for (uint32_t x = 0; x + 1 < counts_[0]; ++x) {
          const auto corner = [&](uint32_t c) {
            return Number(x + (c & 1), y + (c >> 1 & 1), z + (c >> 2 & 1));
          };
          for (size_t k = 0; k < 6; ++k) {
            std::array<uint32_t, 4> tet = {corner(0), corner(kOrders[k][0]), corner(kOrders[k][1]),
                                           corner(7)};
            if (k >= 3) std::swap(tet[2], tet[3]);
            visit(tet);
          }
        }
      }
    }
  }

  double value(uint32_t node) const { return values_[node]; }
  Vec3d PositionOf(uint32_t node) const {
    const uint32_t x = node % counts_[0], y = node / counts_[0] % counts_[1];
    const uint32_t z = node / counts_[0] / counts_[1];
    return low_ +
           Vec3d{static_cast<double>(x), static_cast<double>(y), static_cast<double>(z)} * edge_;
  }

 private:
  uint32_t Number(uint32_t x, uint32_t y, uint32_t z) const {
    return (z * counts_[1] + y) * counts_[0] + x;
  }

  double edge_ = 0.0;
  Vec3d low_;
  std::array<uint32_t, 3> counts_ = {};
  std::vector<double> values_;
};

// Builds the surface tet by tet. Vertices lie on edges of the grid, away from its nodes.
class Marcher {
 public:
  Marcher(const Grid& grid, SurfaceMesh* mesh) : grid_(grid), mesh_(*mesh) {}

  // `tet` is positively oriented.
  void March(std::array<uint32_t, 4> tet) {
    // Puts inner corners first by pairs of swaps, which keep the orientation.
    bool odd = false;
    size_t inner = 0;
    for (size_t i = 0; i < 4; ++i) {
      if (grid_.value(tet[i]) > 0.0) continue;
      if (i != inner) {
        std::swap(tet[i], tet[inner]);
        odd = !odd;
      }
      ++inner;
    }
    if (odd) inner < 3 ? std::swap(tet[2], tet[3]) : std::swap(tet[0], tet[1]);
    const auto& [a, b, c, d] = tet;
    if (inner == 1) Add(On(a, b), On(a, c), On(a, d));
    if (inner == 3) Add(On(d, a), On(d, b), On(d, c));
    if (inner == 2) {
      Add(On(a, c), On(a, d), On(b, d));
      Add(On(a, c), On(b, d), On(b, c));
    }
  }

 private:
  void Add(uint32_t a, uint32_t b, uint32_t c) { mesh_.triangles.push_back({a, b, c}); }

  uint32_t On(uint32_t a, uint32_t b) {
    const std::pair key(std::min(a, b), std::max(a, b));
    const auto [at, is_new] = vertices_.emplace(key, static_cast<uint32_t>(mesh_.positions.size()));
    if (is_new) {
      const double from = grid_.value(key.first), to = grid_.value(key.second);
      const double share = std::clamp(from / (from - to), 0.08, 0.92);
      const Vec3d start = grid_.PositionOf(key.first);
      mesh_.positions.push_back(start + (grid_.PositionOf(key.second) - start) * share);
    }
    return at->second;
  }

  const Grid& grid_;
  SurfaceMesh& mesh_;
  std::map<std::pair<uint32_t, uint32_t>, uint32_t> vertices_;
};

}  // namespace

SurfaceMesh Polygonise(const Field& field, uint32_t cells) {
  SurfaceMesh mesh;
  const Grid grid(field, cells);
  Marcher marcher(grid, &mesh);
  grid.ForEachTet([&](const std::array<uint32_t, 4>& tet) { marcher.March(tet); });
  CompleteMesh(&mesh);
  return mesh;
}

}  // namespace plush::tests

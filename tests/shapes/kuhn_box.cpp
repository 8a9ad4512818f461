// SPDX-License-Identifier: MIT
#include "shapes/kuhn_box.h"

#include <array>
#include <utility>

namespace plush::test {
namespace {

// Corners between 0 and 7 (bit 0: x, bit 1: y, bit 2: z) of each tet along the diagonal.
constexpr std::array<std::array<uint32_t, 2>, 6> kBetween = {
    {{1, 3}, {3, 2}, {2, 6}, {6, 4}, {4, 5}, {5, 1}}};

}  // namespace

tools::TetMesh KuhnBox(uint32_t nx, uint32_t ny, uint32_t nz, double dx, double dy, double dz) {
  tools::TetMesh mesh;
  for (uint32_t z = 0; z <= nz; ++z) {
    for (uint32_t y = 0; y <= ny; ++y) {
      for (uint32_t x = 0; x <= nx; ++x) mesh.nodes.push_back({x * dx, y * dy, z * dz});
    }
  }
  for (uint32_t z = 0; z < nz; ++z) {
    for (uint32_t y = 0; y < ny; ++y) {
      for (uint32_t x = 0; x < nx; ++x) {
        const auto id = [&](uint32_t corner) {
          return ((z + (corner >> 2)) * (ny + 1) + y + (corner >> 1 & 1u)) * (nx + 1) + x +
                 (corner & 1u);
        };
        for (const auto& between : kBetween) {
          std::array<uint32_t, 4> ids = {id(0), id(between[0]), id(between[1]), id(7)};
          if (tools::SixVolume(mesh.nodes[ids[0]], mesh.nodes[ids[1]], mesh.nodes[ids[2]],
                               mesh.nodes[ids[3]]) < 0.0) {
            std::swap(ids[2], ids[3]);
          }
          mesh.tets.push_back(ids);
        }
      }
    }
  }
  return mesh;
}

}  // namespace plush::test

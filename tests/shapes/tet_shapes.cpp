// SPDX-License-Identifier: MIT
#include "shapes/tet_shapes.h"

#include <array>
#include <random>

namespace plush::test {
namespace {

// Five tets of a cube by corner numbers (bit 0: x, bit 1: y, bit 2: z); the central one last.
constexpr std::array<std::array<uint32_t, 4>, 5> kEven = {
    {{0, 1, 2, 4}, {3, 2, 1, 7}, {5, 1, 4, 7}, {6, 4, 2, 7}, {1, 2, 4, 7}}};
constexpr std::array<std::array<uint32_t, 4>, 5> kOdd = {
    {{1, 3, 0, 5}, {2, 0, 3, 6}, {4, 5, 0, 6}, {7, 3, 5, 6}, {0, 3, 6, 5}}};

}  // namespace

tools::TetMesh TetBox(uint32_t nx, uint32_t ny, uint32_t nz, double cell, double jitter,
                      uint32_t seed) {
  std::mt19937 random(seed);
  const auto next = [&] { return jitter * cell * (2.0 * (random() / 4294967295.0) - 1.0); };
  tools::TetMesh mesh;
  for (uint32_t z = 0; z <= nz; ++z) {
    for (uint32_t y = 0; y <= ny; ++y) {
      for (uint32_t x = 0; x <= nx; ++x) {
        const double dx = next(), dy = next(), dz = next();
        mesh.nodes.push_back({x * cell + dx, y * cell + dy, z * cell + dz});
      }
    }
  }
  const auto id = [&](uint32_t x, uint32_t y, uint32_t z) {
    return (z * (ny + 1) + y) * (nx + 1) + x;
  };
  for (uint32_t z = 0; z < nz; ++z) {
    for (uint32_t y = 0; y < ny; ++y) {
      for (uint32_t x = 0; x < nx; ++x) {
        for (const auto& tet : (x + y + z) % 2 == 0 ? kEven : kOdd) {
          std::array<uint32_t, 4> ids = {};
          for (size_t i = 0; i < 4; ++i) {
            ids[i] = id(x + (tet[i] & 1u), y + (tet[i] >> 1 & 1u), z + (tet[i] >> 2));
          }
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

tools::TetMesh SingleTet(double size) {
  return {{{0, 0, 0}, {size, 0, 0}, {0, size, 0}, {0, 0, size}}, {{0, 1, 2, 3}}};
}

void AppendMesh(const tools::TetMesh& part, const tools::Vec3d& shift, tools::TetMesh* mesh) {
  const auto first = static_cast<uint32_t>(mesh->nodes.size());
  for (const tools::Vec3d& node : part.nodes) mesh->nodes.push_back(node + shift);
  for (const auto& tet : part.tets) {
    mesh->tets.push_back({tet[0] + first, tet[1] + first, tet[2] + first, tet[3] + first});
  }
}

double Volume(const tools::TetMesh& mesh) {
  double volume = 0.0;
  for (const auto& tet : mesh.tets) {
    volume += tools::SixVolume(mesh.nodes[tet[0]], mesh.nodes[tet[1]], mesh.nodes[tet[2]],
                               mesh.nodes[tet[3]]) /
              6.0;
  }
  return volume;
}

}  // namespace plush::test

// SPDX-License-Identifier: MIT
#include "cage/lattice_classes.h"

#include "cage/triangle_tet_overlap.h"

#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>

#include <bitset>

namespace plush::tools {
namespace {

constexpr uint8_t kAllTets = (1u << kTetsPerCube) - 1u;

// Marks the tets of one cube that the triangle touches.
void MarkCube(const Lattice& lattice, const CubeIndex& cube, const std::array<Vec3d, 3>& triangle,
              uint8_t* marks) {
  for (uint32_t k = 0; k < kTetsPerCube; ++k) {
    if ((*marks >> k & 1u) != 0) continue;
    if (!TriangleMayTouchTet(triangle, lattice.TetCorners(cube, k))) continue;
    *marks = static_cast<uint8_t>(*marks | 1u << k);
  }
}

// Marks all tets that the triangle touches; cubes whose tets are all marked cost next to nothing.
void MarkTriangle(const Lattice& lattice, const std::array<Vec3d, 3>& triangle,
                  std::vector<uint8_t>* marks) {
  const Vec3d lower = Min(triangle[0], Min(triangle[1], triangle[2]));
  const Vec3d upper = Max(triangle[0], Max(triangle[1], triangle[2]));
  const auto [x0, x1] = lattice.CubeRange(0, lower.x, upper.x);
  const auto [y0, y1] = lattice.CubeRange(1, lower.y, upper.y);
  const auto [z0, z1] = lattice.CubeRange(2, lower.z, upper.z);
  const bool one_cube = x0 == x1 && y0 == y1 && z0 == z1;
  for (uint32_t z = z0; z <= z1; ++z) {
    for (uint32_t y = y0; y <= y1; ++y) {
      for (uint32_t x = x0; x <= x1; ++x) {
        const CubeIndex cube = {x, y, z};
        uint8_t& mark = (*marks)[lattice.CubeNumber(cube)];
        if (mark == kAllTets) continue;
        if (!one_cube &&
            !TriangleMayTouchBox(triangle, lattice.Corner(cube, 0), lattice.Corner(cube, 7))) {
          continue;
        }
        MarkCube(lattice, cube, triangle, &mark);
      }
    }
  }
}

bool CentroidIsInside(const Lattice& lattice, const CubeIndex& cube, uint32_t k,
                      const InsideTest& inside) {
  const auto [a, b, c, d] = lattice.TetCorners(cube, k);
  return inside.IsInside((a + b + c + d) * 0.25);
}

// Internal tets of one row of cubes. Where the surface is closed, a step from one untouched cube to
// the next crosses nothing: the answer stays.
void ClassifyRow(const Lattice& lattice, uint32_t y, uint32_t z, bool closed,
                 const InsideTest& inside, LatticeClasses* classes) {
  int carried = -1;  // answer of the untouched cube before this one, or -1
  for (uint32_t x = 0; x < lattice.CubesAlong(0); ++x) {
    const CubeIndex cube = {x, y, z};
    const uint32_t number = lattice.CubeNumber(cube);
    const uint8_t piercing = classes->piercing[number];
    uint8_t internal = 0;
    if (piercing == 0 && closed) {
      if (carried < 0) carried = CentroidIsInside(lattice, cube, kTetsPerCube - 1, inside) ? 1 : 0;
      internal = carried == 1 ? kAllTets : 0;
    } else {
      carried = -1;
      for (uint32_t k = 0; k < kTetsPerCube; ++k) {
        if ((piercing >> k & 1u) != 0 || !CentroidIsInside(lattice, cube, k, inside)) continue;
        internal = static_cast<uint8_t>(internal | 1u << k);
      }
    }
    classes->internal[number] = internal;
  }
}

uint32_t CountBits(const std::vector<uint8_t>& marks) {
  size_t count = 0;
  for (const uint8_t mark : marks) count += std::bitset<8>(mark).count();
  return static_cast<uint32_t>(count);
}

}  // namespace

LatticeClasses ClassifyTets(const Lattice& lattice, const SolidSurface& surface,
                            const InsideTest& inside) {
  LatticeClasses classes;
  classes.piercing.assign(lattice.num_cubes(), 0);
  classes.internal.assign(lattice.num_cubes(), 0);
  for (const auto& [a, b, c] : surface.triangles) {
    MarkTriangle(lattice, {surface.points[a], surface.points[b], surface.points[c]},
                 &classes.piercing);
  }
  const uint32_t rows = lattice.CubesAlong(1) * lattice.CubesAlong(2);
  tbb::parallel_for(tbb::blocked_range<uint32_t>(0, rows), [&](const auto& range) {
    for (uint32_t row = range.begin(); row < range.end(); ++row) {
      ClassifyRow(lattice, row % lattice.CubesAlong(1), row / lattice.CubesAlong(1), surface.closed,
                  inside, &classes);
    }
  });
  classes.num_piercing = CountBits(classes.piercing);
  classes.num_internal = CountBits(classes.internal);
  return classes;
}

}  // namespace plush::tools

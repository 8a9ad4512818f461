// SPDX-License-Identifier: MIT
// A regular lattice of cubes, each split into five tets [Civ 5.3.1, step 1].
#pragma once

#include "base/result.h"
#include "base/vec3.h"

#include <array>
#include <cstdint>
#include <vector>

namespace plush::tools {

/// Tets per cube.
inline constexpr uint32_t kTetsPerCube = 5;

/// Most cubes of a lattice: 20 million tets.
inline constexpr uint64_t kMaxLatticeCubes = 4'000'000;

/// Position of a cube in the lattice.
struct CubeIndex {
  uint32_t x = 0;
  uint32_t y = 0;
  uint32_t z = 0;
};

/// The lattice: planes across each axis, cubes between neighbouring ones. Its nodes are
/// representable in single precision, so that a cage can be stored without moving.
struct Lattice {
  std::array<std::vector<double>, 3> planes;  ///< ascending [m]

  uint32_t CubesAlong(int axis) const {
    return static_cast<uint32_t>(planes[static_cast<size_t>(axis)].size() - 1);
  }
  uint32_t num_cubes() const { return CubesAlong(0) * CubesAlong(1) * CubesAlong(2); }
  uint32_t num_nodes() const;
  /// Number of a cube; x runs fastest.
  uint32_t CubeNumber(const CubeIndex& cube) const {
    return (cube.z * CubesAlong(1) + cube.y) * CubesAlong(0) + cube.x;
  }
  /// Corner `corner` (bit 0: +x, bit 1: +y, bit 2: +z) of a cube [m].
  Vec3d Corner(const CubeIndex& cube, uint32_t corner) const;
  /// Corners of tet `k` (0..4) of a cube, positively oriented [m]. Cubes of odd index sum are
  /// mirrored, so that neighbours share face diagonals.
  std::array<Vec3d, 4> TetCorners(const CubeIndex& cube, uint32_t k) const;
  /// Node numbers of the same tet, below num_nodes().
  std::array<uint32_t, 4> TetNodes(const CubeIndex& cube, uint32_t k) const;
  /// First and last cube along `axis` that the closed interval [low, high] touches; the interval
  /// lies strictly between the outermost planes.
  std::array<uint32_t, 2> CubeRange(int axis, double low, double high) const;
};

/// A lattice of cubes of edge `cell` [m] around the box, which lies strictly inside. It is not
/// centred on the box but shifted by a little and differently along each axis, so that the vertices
/// of symmetric or axis-aligned models do not fall on lattice planes. Errors: kLimit (more than
/// kMaxLatticeCubes), kInvalidInput (cells too small for single precision at this distance from the
/// origin).
Result<Lattice> MakeLattice(const Vec3d& lower, const Vec3d& upper, double cell);

}  // namespace plush::tools

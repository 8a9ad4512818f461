// SPDX-License-Identifier: MIT
#include "cage/lattice.h"

#include "base/float_rounding.h"

#include <algorithm>
#include <cmath>
#include <string>

namespace plush::tools {
namespace {

// Tets of a cube by corner numbers (bit 0: x, bit 1: y, bit 2: z), positively oriented: four corner
// tets around a regular one. The odd cube is the even one mirrored along x.
constexpr std::array<std::array<uint32_t, 4>, kTetsPerCube> kEvenTets = {
    {{0, 1, 2, 4}, {3, 2, 1, 7}, {5, 4, 7, 1}, {6, 7, 4, 2}, {1, 2, 4, 7}}};
constexpr std::array<std::array<uint32_t, 4>, kTetsPerCube> kOddTets = {
    {{1, 0, 5, 3}, {2, 3, 6, 0}, {4, 5, 0, 6}, {7, 6, 3, 5}, {0, 3, 6, 5}}};

// Free space between the box and the outermost planes, in cells.
constexpr double kMargin = 0.05;

// Shift of the lattice from the centred place, in cells: less than the margin, different along each
// axis, no simple fraction.
constexpr std::array<double, 3> kShift = {0.0171, 0.0233, 0.0307};

const std::array<uint32_t, 4>& LocalTet(const CubeIndex& cube, uint32_t k) {
  return (cube.x + cube.y + cube.z) % 2 == 0 ? kEvenTets[k] : kOddTets[k];
}

Error TooFine(double cell) {
  return {ExitCode::kInvalidInput,
          "cells of " + std::to_string(cell) +
              " m cannot be told apart in single precision at this distance from the origin; move "
              "the model nearer to the origin",
          ""};
}

}  // namespace

uint32_t Lattice::num_nodes() const {
  return (CubesAlong(0) + 1) * (CubesAlong(1) + 1) * (CubesAlong(2) + 1);
}

Vec3d Lattice::Corner(const CubeIndex& cube, uint32_t corner) const {
  return {planes[0][cube.x + (corner & 1u)], planes[1][cube.y + (corner >> 1 & 1u)],
          planes[2][cube.z + (corner >> 2 & 1u)]};
}

std::array<Vec3d, 4> Lattice::TetCorners(const CubeIndex& cube, uint32_t k) const {
  const auto& tet = LocalTet(cube, k);
  return {Corner(cube, tet[0]), Corner(cube, tet[1]), Corner(cube, tet[2]), Corner(cube, tet[3])};
}

std::array<uint32_t, 4> Lattice::TetNodes(const CubeIndex& cube, uint32_t k) const {
  std::array<uint32_t, 4> nodes = {};
  for (size_t i = 0; i < 4; ++i) {
    const uint32_t corner = LocalTet(cube, k)[i];
    const uint32_t x = cube.x + (corner & 1u);
    const uint32_t y = cube.y + (corner >> 1 & 1u);
    const uint32_t z = cube.z + (corner >> 2 & 1u);
    nodes[i] = (z * (CubesAlong(1) + 1) + y) * (CubesAlong(0) + 1) + x;
  }
  return nodes;
}

std::array<uint32_t, 2> Lattice::CubeRange(int axis, double low, double high) const {
  const std::vector<double>& along = planes[static_cast<size_t>(axis)];
  // A plane that the interval only touches belongs to the cubes on both sides.
  const auto above_low = std::lower_bound(along.begin() + 1, along.end() - 1, low);
  const auto above_high = std::upper_bound(along.begin() + 1, along.end() - 1, high);
  return {static_cast<uint32_t>(above_low - along.begin()) - 1,
          static_cast<uint32_t>(above_high - along.begin()) - 1};
}

Result<Lattice> MakeLattice(const Vec3d& lower, const Vec3d& upper, double cell) {
  std::array<double, 3> counts = {};
  for (int axis = 0; axis < 3; ++axis) {
    counts[static_cast<size_t>(axis)] =
        std::ceil((upper[axis] - lower[axis]) / cell + 2.0 * kMargin);
  }
  if (!(counts[0] * counts[1] * counts[2] <= static_cast<double>(kMaxLatticeCubes))) {
    return Error{ExitCode::kLimit,
                 "cells of " + std::to_string(cell) +
                     " m make a lattice of more than 20 million tets; choose larger cells",
                 ""};
  }
  Lattice lattice;
  for (int axis = 0; axis < 3; ++axis) {
    const double count = counts[static_cast<size_t>(axis)];
    const double centre = 0.5 * (lower[axis] + upper[axis]);
    const double first = centre + (kShift[static_cast<size_t>(axis)] - 0.5 * count) * cell;
    std::vector<double>& planes = lattice.planes[static_cast<size_t>(axis)];
    for (double i = 0.0; i <= count; i += 1.0) {
      planes.push_back(RoundToFloat(first + i * cell));
      if (planes.size() > 1 && !(planes[planes.size() - 2] < planes.back())) return TooFine(cell);
    }
    if (!(planes.front() < lower[axis] && planes.back() > upper[axis])) return TooFine(cell);
  }
  return lattice;
}

}  // namespace plush::tools

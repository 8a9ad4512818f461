// SPDX-License-Identifier: MIT
#include "cage/lattice.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <map>

using namespace plush::tools;

namespace {

Lattice MakeTestLattice() {
  auto lattice = MakeLattice({0, 0, 0}, {1.0, 0.7, 0.5}, 0.2);
  REQUIRE(lattice.ok());
  return lattice.value();
}

template <class Visit>
void ForEachCube(const Lattice& lattice, Visit visit) {
  for (uint32_t z = 0; z < lattice.CubesAlong(2); ++z) {
    for (uint32_t y = 0; y < lattice.CubesAlong(1); ++y) {
      for (uint32_t x = 0; x < lattice.CubesAlong(0); ++x) visit(CubeIndex{x, y, z});
    }
  }
}

}  // namespace

TEST_CASE("The tets of a lattice are positive, fill it and fit together") {
  const Lattice lattice = MakeTestLattice();
  double volume = 0.0;
  std::map<std::array<uint32_t, 3>, int> faces;
  ForEachCube(lattice, [&](const CubeIndex& cube) {
    for (uint32_t k = 0; k < kTetsPerCube; ++k) {
      const auto [a, b, c, d] = lattice.TetCorners(cube, k);
      CHECK(SixVolume(a, b, c, d) > 0.0);
      volume += SixVolume(a, b, c, d) / 6.0;
      const auto nodes = lattice.TetNodes(cube, k);
      for (size_t skip = 0; skip < 4; ++skip) {
        std::array<uint32_t, 3> face = {};
        for (size_t i = 0, n = 0; i < 4; ++i) {
          if (i != skip) face[n++] = nodes[i];
        }
        std::sort(face.begin(), face.end());
        ++faces[face];
      }
    }
  });
  double box = 1.0;
  for (const auto& planes : lattice.planes) box *= planes.back() - planes.front();
  CHECK(volume == Approx(box));
  // Inner faces are shared by two tets; each outer square is two faces of one.
  const uint32_t nx = lattice.CubesAlong(0);
  const uint32_t ny = lattice.CubesAlong(1);
  const uint32_t nz = lattice.CubesAlong(2);
  const auto single =
      std::count_if(faces.begin(), faces.end(), [](const auto& face) { return face.second == 1; });
  CHECK(single == 4 * (nx * ny + ny * nz + nz * nx));
  CHECK(std::all_of(faces.begin(), faces.end(), [](const auto& face) { return face.second <= 2; }));
}

TEST_CASE("Node numbers and node positions belong together") {
  const Lattice lattice = MakeTestLattice();
  std::map<uint32_t, Vec3d> position;
  ForEachCube(lattice, [&](const CubeIndex& cube) {
    for (uint32_t k = 0; k < kTetsPerCube; ++k) {
      const auto nodes = lattice.TetNodes(cube, k);
      const auto corners = lattice.TetCorners(cube, k);
      for (size_t i = 0; i < 4; ++i) {
        REQUIRE(nodes[i] < lattice.num_nodes());
        CHECK(position.emplace(nodes[i], corners[i]).first->second == corners[i]);
        for (int axis = 0; axis < 3; ++axis) {
          CHECK(static_cast<double>(static_cast<float>(corners[i][axis])) == corners[i][axis]);
        }
      }
    }
  });
  CHECK(position.size() == lattice.num_nodes());
}

TEST_CASE("The box lies strictly inside and simple fractions of it off the planes") {
  const Lattice lattice = MakeTestLattice();
  const Vec3d upper = {1.0, 0.7, 0.5};
  for (int axis = 0; axis < 3; ++axis) {
    const auto& planes = lattice.planes[static_cast<size_t>(axis)];
    CHECK(planes.front() < 0.0);
    CHECK(planes.back() > upper[axis]);
    for (const double fraction : {0.0, 0.25, 0.5, 0.75, 1.0}) {
      for (const double plane : planes) {
        CHECK(std::abs(plane - fraction * upper[axis]) > 1e-3 * 0.2);
      }
    }
  }
}

TEST_CASE("Cube ranges hold every cube that an interval touches") {
  const Lattice lattice = MakeTestLattice();
  const auto& planes = lattice.planes[0];
  const std::array<uint32_t, 2> within = lattice.CubeRange(0, planes[1] + 0.01, planes[2] - 0.01);
  CHECK(within == std::array<uint32_t, 2>{1, 1});
  const std::array<uint32_t, 2> on_planes = lattice.CubeRange(0, planes[1], planes[2]);
  CHECK(on_planes == std::array<uint32_t, 2>{0, 2});
  const std::array<uint32_t, 2> all =
      lattice.CubeRange(0, planes.front() + 1e-9, planes.back() - 1e-9);
  CHECK(all == std::array<uint32_t, 2>{0, lattice.CubesAlong(0) - 1});
}

TEST_CASE("A lattice that is too large or too fine is refused") {
  const auto too_large = MakeLattice({0, 0, 0}, {1, 1, 1}, 0.001);
  REQUIRE_FALSE(too_large.ok());
  CHECK(too_large.error().exit_code == ExitCode::kLimit);
  const auto too_fine = MakeLattice({1e6, 0, 0}, {1e6 + 1, 1, 1}, 0.01);
  REQUIRE_FALSE(too_fine.ok());
  CHECK(too_fine.error().exit_code == ExitCode::kInvalidInput);
}

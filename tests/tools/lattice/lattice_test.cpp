// SPDX-License-Identifier: MIT
// Both lattices: angles, neighbours, numbering, location of points, coverage.
#include "lattice/lattice.h"

#include "tools/cage/cage_fixtures.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <set>

using namespace plush::tools;
using namespace plush::tests;

namespace lattice_test {

constexpr LatticeKind kKinds[] = {LatticeKind::kBcc, LatticeKind::kCube5};
constexpr Vec3d kUpper = {1.0, 0.7, 0.5};

Lattice MakeTestLattice(LatticeKind kind) {
  auto lattice = Lattice::Make(kind, {0, 0, 0}, kUpper, 0.2, CentredShift(kind));
  REQUIRE(lattice.ok());
  return std::move(lattice.value());
}

// The tets that exist: the neighbours of other tets. A number outside the lattice is nobody's
// neighbour.
std::vector<uint32_t> ExistingTets(const Lattice& lattice) {
  std::set<uint32_t> tets;
  for (uint32_t t = 0; t < lattice.num_tets(); ++t) {
    for (uint32_t face = 0; face < 4; ++face) {
      const uint32_t other = lattice.Neighbour(t, face);
      if (other != kNoTet) tets.insert(other);
    }
  }
  return {tets.begin(), tets.end()};
}

TEST_CASE("Tets of a lattice are positive and have the angles of their kind") {
  for (const LatticeKind kind : kKinds) {
    const Lattice lattice = MakeTestLattice(kind);
    double least = 180.0, largest = 0.0;
    for (const uint32_t t : ExistingTets(lattice)) {
      const auto corners = lattice.TetCorners(t);
      REQUIRE(SixVolume(corners[0], corners[1], corners[2], corners[3]) > 0.0);
      for (const double angle : AnglesOf(corners)) {
        // Nodes are rounded to single precision.
        if (kind == LatticeKind::kBcc) {
          CHECK(std::min(std::abs(angle - 60.0), std::abs(angle - 90.0)) < 1e-3);
        }
        least = std::min(least, angle);
        largest = std::max(largest, angle);
      }
    }
    CHECK(least == Approx(kind == LatticeKind::kBcc ? 60.0 : 54.7356).epsilon(1e-4));
    CHECK(largest == Approx(90.0).epsilon(1e-4));
  }
}

TEST_CASE("Neighbours of a lattice share three nodes, mutually, on opposite sides") {
  for (const LatticeKind kind : kKinds) {
    const Lattice lattice = MakeTestLattice(kind);
    for (const uint32_t t : ExistingTets(lattice)) {
      const auto nodes = lattice.TetNodes(t);
      for (uint32_t face = 0; face < 4; ++face) {
        const uint32_t other = lattice.Neighbour(t, face);
        if (other == kNoTet) continue;
        const auto others = lattice.TetNodes(other);
        uint32_t apex = 4;
        for (uint32_t i = 0; i < 4; ++i) {
          const bool shared = std::find(nodes.begin(), nodes.end(), others[i]) != nodes.end();
          if (!shared) apex = apex == 4 ? i : 5;
        }
        REQUIRE(apex < 4);
        CHECK(std::find(others.begin(), others.end(), nodes[face]) == others.end());
        CHECK(lattice.Neighbour(other, apex) == t);
        auto mirrored = lattice.TetCorners(t);
        mirrored[face] = lattice.NodePosition(others[apex]);
        CHECK(SixVolume(mirrored[0], mirrored[1], mirrored[2], mirrored[3]) < 0.0);
      }
    }
  }
}

TEST_CASE("Node numbers and positions belong together and are single precision") {
  for (const LatticeKind kind : kKinds) {
    const Lattice lattice = MakeTestLattice(kind);
    std::set<std::array<double, 3>> places;
    for (uint32_t node = 0; node < lattice.num_nodes(); ++node) {
      const Vec3d p = lattice.NodePosition(node);
      CHECK(places.insert({p.x, p.y, p.z}).second);
      for (int axis = 0; axis < 3; ++axis) {
        CHECK(static_cast<double>(static_cast<float>(p[axis])) == p[axis]);
      }
    }
    for (const uint32_t t : ExistingTets(lattice)) {
      const auto nodes = lattice.TetNodes(t);
      const auto corners = lattice.TetCorners(t);
      for (size_t i = 0; i < 4; ++i) {
        REQUIRE(nodes[i] < lattice.num_nodes());
        CHECK(lattice.NodePosition(nodes[i]) == corners[i]);
      }
    }
  }
}

// Compares TetAt with a test of all tets.
TEST_CASE("Exactly one tet of a lattice has a point inside, and TetAt finds it") {
  constexpr uint32_t kSeed = 71;
  INFO("seed " << kSeed);
  for (const LatticeKind kind : kKinds) {
    const Lattice lattice = MakeTestLattice(kind);
    const std::vector<uint32_t> tets = ExistingTets(lattice);
    RandomNumbers random(kSeed);
    for (int i = 0; i < 1500; ++i) {
      const Vec3d point = random.Point({0, 0, 0}, kUpper);
      uint32_t containing = kNoTet;
      int count = 0;
      for (const uint32_t t : tets) {
        const auto [a, b, c, d] = lattice.TetCorners(t);
        if (SixVolume(point, b, c, d) > 0.0 && SixVolume(a, point, c, d) > 0.0 &&
            SixVolume(a, b, point, d) > 0.0 && SixVolume(a, b, c, point) > 0.0) {
          containing = t;
          ++count;
        }
      }
      REQUIRE(count <= 1);
      const uint32_t found = lattice.TetAt(point);
      if (containing == found) continue;
      // Rounding may put the point outside by a few float ulps.
      REQUIRE(found < lattice.num_tets());
      const auto [a, b, c, d] = lattice.TetCorners(found);
      const double slack = -1e-5 * SixVolume(a, b, c, d);
      CHECK(std::min({SixVolume(point, b, c, d), SixVolume(a, point, c, d),
                      SixVolume(a, b, point, d), SixVolume(a, b, c, point)}) > slack);
    }
  }
}

TEST_CASE("Tets fill the lattice without gap or overlap, two cells beyond the box") {
  for (const LatticeKind kind : kKinds) {
    const Lattice lattice = MakeTestLattice(kind);
    double volume = 0.0;
    // The sum of signed volumes over the border faces is the volume that they enclose.
    double enclosed = 0.0;
    double nearest = INFINITY;  // distance of a border face from the box
    for (const uint32_t t : ExistingTets(lattice)) {
      const auto corners = lattice.TetCorners(t);
      volume += SixVolume(corners[0], corners[1], corners[2], corners[3]) / 6.0;
      for (uint32_t face = 0; face < 4; ++face) {
        if (lattice.Neighbour(t, face) != kNoTet) continue;
        const auto nodes = FaceOf({0, 1, 2, 3}, face);
        const auto& [a, b, c] = nodes;
        enclosed += SixVolume(Vec3d{}, corners[a], corners[b], corners[c]) / 6.0;
        const Vec3d centre = (corners[a] + corners[b] + corners[c]) / 3.0;
        const Vec3d outside = Max(Max(-centre, centre - kUpper), Vec3d{});
        nearest = std::min(nearest, std::max({outside.x, outside.y, outside.z}));
      }
    }
    CHECK(volume == Approx(enclosed).epsilon(1e-9));
    CHECK(volume > (1.0 + 0.8) * (0.7 + 0.8) * (0.5 + 0.8) * (kind == LatticeKind::kBcc ? 0.8 : 1));
    // The last half cell of a bcc lattice is serrated.
    CHECK(nearest >= 0.2 * (kind == LatticeKind::kBcc ? 1.4 : 2.0));
  }
}

TEST_CASE("Simple fractions of the box lie off the lattice's planes") {
  for (const LatticeKind kind : kKinds) {
    const Lattice lattice = MakeTestLattice(kind);
    for (uint32_t node = 0; node < lattice.num_nodes(); ++node) {
      const Vec3d p = lattice.NodePosition(node);
      for (int axis = 0; axis < 3; ++axis) {
        for (const double fraction : {0.0, 0.5, 1.0}) {
          CHECK(std::abs(p[axis] - fraction * kUpper[axis]) > 1e-3 * 0.2);
        }
      }
    }
  }
}

TEST_CASE("A lattice that is too large or too fine is refused") {
  const auto shift = CentredShift(LatticeKind::kBcc);
  const auto too_large = Lattice::Make(LatticeKind::kBcc, {0, 0, 0}, {1, 1, 1}, 0.001, shift);
  REQUIRE_FALSE(too_large.ok());
  CHECK(too_large.error().exit_code == ExitCode::kLimit);
  CHECK(too_large.error().finding_code == "CAGE_TOO_FINE");
  // The message shows even a small cell size readably.
  CHECK(too_large.error().message.find("cells of 0.001 m in a box of 1 m") == 0);
  const auto too_fine = Lattice::Make(LatticeKind::kBcc, {1e6, 0, 0}, {1e6 + 1, 1, 1}, 0.05, shift);
  REQUIRE_FALSE(too_fine.ok());
  CHECK(too_fine.error().exit_code == ExitCode::kInvalidInput);
  CHECK(too_fine.error().finding_code == "CAGE_FAR_FROM_ORIGIN");
}

}  // namespace lattice_test

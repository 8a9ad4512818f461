// SPDX-License-Identifier: MIT
// Pieces of a body's surface inside another body, beside pieces that its surface cuts. The
// reference joins triangles by their neighbours, and sums solid angles.
#include "collision/surface_records.h"
#include "intersection/pair_contacts.h"
#include "runtime/intersection/found_contacts.h"
#include "runtime/intersection/solid_winding.h"
#include "sweep.h"

#include <catch2/catch.hpp>

#include <cmath>
#include <cstdint>
#include <set>
#include <utility>
#include <vector>

using namespace plush;
using namespace plush::test;

namespace enclosed_pieces_test {

// The connected piece of each triangle: its least triangle.
std::vector<uint32_t> PiecesOf(const SurfaceBody& body) {
  const uint32_t n = body.surface().num_triangles();
  std::vector<uint32_t> piece(n, kNoTriangle), waiting;
  for (uint32_t first = 0; first < n; ++first) {
    if (piece[first] != kNoTriangle) continue;
    piece[first] = first;
    waiting.push_back(first);
    while (!waiting.empty()) {
      const uint32_t t = waiting.back();
      waiting.pop_back();
      for (int k = 0; k < 3; ++k) {
        const uint32_t next = WithTriangles(
            body.surface(), [&](const auto& triangles) { return NeighbourOf(triangles[t], k); });
        if (next == kNoTriangle || piece[next] != kNoTriangle) continue;
        piece[next] = first;
        waiting.push_back(next);
      }
    }
  }
  return piece;
}

// Pieces that no triangle pair cuts and that are inside the other surface, by side.
struct Side {
  const SurfaceBody& body;
  const SurfaceBody& other;
  Eigen::Vector3d to_other;  // from the body's coordinates to the other's
  std::vector<uint32_t> piece_of;
  std::set<uint32_t> cut, enclosed;

  Side(const SurfaceBody& own, const SurfaceBody& of, const Eigen::Vector3d& way)
      : body(own), other(of), to_other(way), piece_of(PiecesOf(own)) {}
  void FindEnclosed() {
    for (uint32_t t = 0; t < piece_of.size(); ++t) {
      if (piece_of[t] != t || cut.count(t) > 0) continue;
      const double turns = SolidWinding(other, Eigen::Vector3d::Zero(),
                                        ToEigen(body.CornerPosition(t, 0)) + to_other);
      REQUIRE(std::fabs(turns - std::round(turns)) < 1e-2);
      if (turns > 0.5) enclosed.insert(t);
    }
  }
};

TEST_CASE("Each enclosed piece has a contact beside pieces of the same body that are cut") {
  const uint32_t seed = 172;
  CAPTURE(seed);
  Random random(seed);
  // Two boxes with shells inside, of a cage in two parts, and a larger one.
  tools::TetMesh two = TetBox(2, 1, 1, 0.1, 0.03, 2);
  AppendMesh(TetBox(1, 1, 1, 0.1, 0.03, 4), {0.0, 0.0, 0.16}, &two);
  SurfaceBody a(two, {.parts = 2, .num_shells = 5});
  SurfaceBody b(TetBox(2, 2, 2, 0.15, 0.03, 3),
                {.parts = 2, .num_shells = 3, .record = tools::TriangleRecord::kWide});
  PairScratch scratch = ScratchFor(a, b);
  size_t beside_cut = 0, apart = 0;
  const uint32_t scenes = tests::SweepCount(800u, 10000u);
  for (uint32_t scene = 0; scene < scenes; ++scene) {
    CAPTURE(scene);
    const Vec3 offset = Scatter(&a, &b, &random, 0.1);
    const Found found = Find(a, b, offset, &scratch);
    Side sides[2] = {{a, b, -ToEigen(offset)}, {b, a, ToEigen(offset)}};
    for (uint32_t i = 0; i < found.count.pairs; ++i) {
      sides[0].cut.insert(sides[0].piece_of[scratch.pairs[i].moved]);
      sides[1].cut.insert(sides[1].piece_of[scratch.pairs[i].fixed]);
    }
    // Volumes of curves and regions come before those of pieces.
    const uint32_t nodes = found.count.curves + found.count.regions;
    const std::set<uint32_t> volumes(scratch.parents.begin(), scratch.parents.begin() + nodes);
    size_t expected = 0;
    for (size_t s = 0; s < 2; ++s) {
      Side& side = sides[s];
      side.FindEnclosed();
      expected += side.enclosed.size();
      beside_cut += side.cut.empty() ? 0 : side.enclosed.size();
      const std::set<uint32_t> all(side.piece_of.begin(), side.piece_of.end());
      apart += all.size() - side.cut.size() - side.enclosed.size();
    }
    REQUIRE(found.count.volumes - volumes.size() == expected);
    REQUIRE(found.contacts.size() >= expected);
    std::set<std::pair<size_t, uint32_t>> pieces;
    for (size_t i = found.contacts.size() - expected; i < found.contacts.size(); ++i) {
      const PairContact& contact = found.contacts[i];
      REQUIRE(contact.volume >= volumes.size());
      for (size_t s = 0; s < 2; ++s) {
        const uint32_t piece = sides[s].piece_of[contact.triangles[s]];
        if (sides[s].enclosed.count(piece) > 0) pieces.insert({s, piece});
      }
      REQUIRE(contact.gap < 0.0f);
    }
    // A contact may join two enclosed pieces; each has one of its own.
    REQUIRE(pieces.size() == expected);
  }
  CAPTURE(beside_cut, apart);
  CHECK(beside_cut > scenes / 4);
  CHECK(apart > scenes / 4);
}

}  // namespace enclosed_pieces_test

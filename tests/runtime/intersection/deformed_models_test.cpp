// SPDX-License-Identifier: MIT
// An armadillo deep in a horse, both bent: the pairs of triangles against all pairs by the same
// exact signs, regions against solid angles.
#include "collision/surface_records.h"
#include "intersection/pair_contacts.h"
#include "runtime/intersection/baked_solids.h"
#include "runtime/intersection/found_contacts.h"
#include "runtime/intersection/read_model.h"
#include "runtime/intersection/solid_winding.h"
#include "skip.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

using namespace plush;
using namespace plush::test;

namespace deformed_models_test {

struct Box {
  uint32_t triangle;
  Corners corners;
  Vec3 low, high;

  bool Meets(const Box& other) const {
    return low.x <= other.high.x && other.low.x <= high.x && low.y <= other.high.y &&
           other.low.y <= high.y && low.z <= other.high.z && other.low.z <= high.z;
  }
};

std::vector<Box> BoxesOf(const PlacedSurface& surface) {
  std::vector<Box> boxes;
  for (uint32_t t = 0; t < surface.body.surface.num_triangles(); ++t) {
    const Corners c = surface.CornersAt(t);
    const auto bound = [&](auto of) {
      return Vec3{of({c[0].x, c[1].x, c[2].x}), of({c[0].y, c[1].y, c[2].y}),
                  of({c[0].z, c[1].z, c[2].z})};
    };
    boxes.push_back({t, c, bound([](std::initializer_list<float> v) { return std::min(v); }),
                     bound([](std::initializer_list<float> v) { return std::max(v); })});
  }
  return boxes;
}

using Pair = std::pair<uint32_t, uint32_t>;

// All pairs of triangles whose boxes overlap or touch, by exact signs.
std::vector<Pair> BruteForce(const PlacedSurface& moved, const PlacedSurface& fixed) {
  std::vector<Box> of_moved = BoxesOf(moved), of_fixed = BoxesOf(fixed);
  // Without those outside the box of the other surface.
  const auto shrink = [](const std::vector<Box>& other, std::vector<Box>* own) {
    Box all = other[0];
    for (const Box& box : other) {
      for (float Vec3::*const axis : {&Vec3::x, &Vec3::y, &Vec3::z}) {
        all.low.*axis = std::min(all.low.*axis, box.low.*axis);
        all.high.*axis = std::max(all.high.*axis, box.high.*axis);
      }
    }
    std::erase_if(*own, [&](const Box& box) { return !box.Meets(all); });
  };
  shrink(of_fixed, &of_moved);
  shrink(of_moved, &of_fixed);
  std::vector<Pair> pairs;
  Segment segment;
  for (const Box& a : of_moved) {
    for (const Box& b : of_fixed) {
      if (a.Meets(b) && Intersect(a.corners, b.corners, &segment)) {
        pairs.emplace_back(a.triangle, b.triangle);
      }
    }
  }
  return pairs;
}

// Which triangles the flood of a surface calls inside, without those that are cut.
struct Inside {
  std::vector<uint8_t> inside, cut;
};
Inside InsideOf(const CollisionView& view, const FloodScratch& flood) {
  Inside of = {std::vector<uint8_t>(view.num_triangles()),
               std::vector<uint8_t>(view.num_triangles())};
  for (uint32_t i = 0; i < flood.num_cuts; ++i) of.cut[flood.cuts[i].triangle] = 1;
  for (uint32_t r = 0; r < flood.num_regions; ++r) {
    const Region& region = flood.regions[r];
    for (uint32_t i = 0; i < region.num_items; ++i) {
      of.inside[flood.items[region.first_item + i].triangle] = 1;
    }
    if (region.num_items > 0) continue;
    const uint32_t end = TrianglesEnd(view, region.patch);
    for (uint32_t t = view.patches[region.patch].first_triangle; t < end; ++t) of.inside[t] = 1;
  }
  return of;
}

TEST_CASE("Bent models meet in the pairs that all triangles give and floods equal solid angles",
          "[long]") {
  const std::string paths[2] = {tests::TestModelOrSkip("armadillo_10k.obj"),
                                tests::TestModelOrSkip("horse_10k.obj")};
  if (paths[0].empty() || paths[1].empty()) return;
  const uint32_t seed = 173;
  CAPTURE(seed);
  Random random(seed);
  BakedSolid armadillo = BakeSolid(ReadModel(paths[0]), 1000);
  BakedSolid horse = BakeSolid(StandUp(ReadModel(paths[1])), 1000);
  SurfaceBody &a = armadillo.body, &b = horse.body;
  PairScratch scratch = ScratchFor(a, b);
  const Vec3 offset = {0.1f, 0.0f, 0.0f};
  size_t all_pairs = 0, inside = 0, outside = 0;
  const int scenes = tests::FullTests() ? 20 : 2;
  for (int scene = 0; scene < scenes; ++scene) {
    CAPTURE(scene);
    a.Move(Bent(a.shape().rest(), 0.03, &random));
    b.Move(Bent(b.shape().rest(), 0.03, &random));
    const CollisionBody now_a = a.view(), now_b = b.view();
    const PlacedSurface sides[2] = {{now_a, {}, Surface::kMoved}, {now_b, offset, Surface::kFixed}};
    const Found found = Find(a, b, offset, &scratch);
    CHECK_FALSE(found.count.open);
    std::vector<Pair> pairs;
    for (uint32_t i = 0; i < found.count.pairs; ++i) {
      pairs.emplace_back(scratch.pairs[i].moved, scratch.pairs[i].fixed);
    }
    std::ranges::sort(pairs);
    REQUIRE(pairs == BruteForce(sides[0], sides[1]));
    all_pairs += pairs.size();
    for (size_t s = 0; s < 2; ++s) {
      const SurfaceBody &own = s == 0 ? a : b, &other = s == 0 ? b : a;
      REQUIRE(own.state().pieces.size() == 1);
      const Eigen::Vector3d to_other = ToEigen(offset) * (s == 0 ? -1.0 : 1.0);
      const Inside of = InsideOf(own.surface(), scratch.floods[s]);
      for (int sample = 0; sample < 120; ++sample) {
        const uint32_t t = random.Below(own.surface().num_triangles());
        if (of.cut[t] != 0) continue;
        CAPTURE(s, t);
        const Eigen::Vector3d at = ToEigen(own.CornerPosition(t, 0)) + to_other;
        const double turns = SolidWinding(other, Eigen::Vector3d::Zero(), at);
        if (std::fabs(turns - std::round(turns)) > 0.01) continue;  // beside the surface
        REQUIRE((of.inside[t] != 0) == (turns > 0.5));
        ++(of.inside[t] != 0 ? inside : outside);
      }
    }
  }
  CAPTURE(all_pairs, inside, outside);
  CHECK(all_pairs > 1000);
  CHECK(inside > 30);
  CHECK(outside > 150);
}

}  // namespace deformed_models_test

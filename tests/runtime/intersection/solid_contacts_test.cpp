// SPDX-License-Identifier: MIT
// Contacts of baked solids: a torus on a plate and around a bar, a split cage around a plate; and
// vector areas of random bodies, which close.
#include "base/vector_math.h"
#include "intersection/pair_contacts.h"
#include "runtime/intersection/baked_solids.h"
#include "runtime/intersection/found_contacts.h"
#include "tools/procedural_meshes.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>

using namespace plush;
using namespace plush::test;

namespace solid_contacts_test {

const double kPi = std::acos(-1.0);

// Sum of the regions' vector areas of one side, in a volume or in all.
Eigen::Vector3d RegionAreas(const PairScratch& scratch, size_t side, uint32_t num_curves,
                            uint32_t volume) {
  const uint32_t first = num_curves + (side == 0 ? 0 : scratch.floods[0].num_regions);
  Eigen::Vector3d sum = Eigen::Vector3d::Zero();
  for (uint32_t r = 0; r < scratch.floods[side].num_regions; ++r) {
    if (volume != kNoPair && scratch.parents[first + r] != volume) continue;
    sum += ToEigen(scratch.floods[side].regions[r].vector_area);
  }
  return sum;
}

double TotalArea(const PairScratch& scratch) {
  double area = 0.0;
  for (const FloodScratch& flood : scratch.floods)
    for (uint32_t r = 0; r < flood.num_regions; ++r) area += double(flood.regions[r].area);
  return area;
}

TEST_CASE("Regions of a volume close: their vector areas are those of its curves") {
  const uint32_t seed = 81;
  CAPTURE(seed);
  Random random(seed);
  SurfaceBody a(TetBox(3, 2, 2, 0.1, 0.08, 2), {.parts = 5, .depth = 0.1, .num_shells = 0});
  SurfaceBody b(TetBox(2, 2, 3, 0.1, 0.08, 3), {.parts = 4, .depth = 0.1, .num_shells = 0});
  PairScratch scratch = ScratchFor(a, b);
  size_t volumes = 0, whole_patches = 0;
  for (int scene = 0; scene < 100; ++scene) {
    CAPTURE(scene);
    const Vec3 offset = Scatter(&a, &b, &random, 0.1);
    const Found found = Find(a, b, offset, &scratch);
    REQUIRE_FALSE(found.count.open);
    // Points are rounded by 1e-7 m at most, along the curves.
    double most = 1e-6 * TotalArea(scratch);
    for (uint32_t c = 0; c < found.count.curves; ++c) most += 1e-7 * scratch.curves[c].length;
    for (uint32_t v = 0; v < found.count.volumes; ++v) {
      Eigen::Vector3d curves = Eigen::Vector3d::Zero();
      bool has_curve = false;
      for (uint32_t c = 0; c < found.count.curves; ++c) {
        if (scratch.parents[c] != v) continue;
        has_curve = true;
        for (int k = 0; k < 3; ++k) curves[k] += scratch.curves[c].area[k];
      }
      if (!has_curve) continue;
      ++volumes;
      // Curves go counterclockwise about the inside of the moved surface.
      REQUIRE((RegionAreas(scratch, 0, found.count.curves, v) - curves).norm() <= most);
      REQUIRE((RegionAreas(scratch, 1, found.count.curves, v) + curves).norm() <= most);
    }
    for (const FloodScratch& flood : scratch.floods)
      for (uint32_t r = 0; r < flood.num_regions; ++r)
        whole_patches += flood.regions[r].num_items == 0;
  }
  CHECK(volumes > 50);
  CHECK(whole_patches > 50);
}

TEST_CASE("A torus on a plate is one volume with two curves about the annulus") {
  const double ring = 0.2, tube = 0.05;
  const BakedSolid torus = BakeSolid(tests::MakeTorus(ring, tube, 48, 24), 400);
  const BakedSolid plate =
      BakeSolid(tests::MakeGridBox({-0.4, -0.2, -0.4}, {0.4, 0.0, 0.4}, 6), 200);
  PairScratch scratch = ScratchFor(torus.body, plate.body);
  for (const double depth : {0.005, 0.02, 0.04}) {
    CAPTURE(depth);
    const Vec3 offset = {0.013f, static_cast<float>(-tube + depth), 0.007f};
    const Found found = Find(torus.body, plate.body, offset, &scratch);
    CHECK(found.count.curves == 2);
    CHECK(found.count.volumes == 1);
    RequireSound(torus.body, plate.body, offset, found, 1.0f);
    // Of an annulus of 48 sides; the tube has 24, and a corner at its bottom.
    const double height = tube - depth, step = 2.0 * kPi / 24.0;
    const double corner = std::floor(std::acos(height / tube) / step) * step;
    const double part =
        (std::cos(corner) - height / tube) / (std::cos(corner) - std::cos(corner + step));
    const double half = tube * ((1.0 - part) * std::sin(corner) + part * std::sin(corner + step));
    const double area = 4.0 * ring * half * 24.0 * std::sin(2.0 * kPi / 48.0);
    const Eigen::Vector3d of_torus = RegionAreas(scratch, 0, found.count.curves, kNoPair);
    const Eigen::Vector3d of_plate = RegionAreas(scratch, 1, found.count.curves, kNoPair);
    CHECK(-of_torus.y() == Approx(area).epsilon(1e-3));
    CHECK(of_plate.y() == Approx(area).epsilon(1e-3));
    CHECK((of_torus + of_plate).norm() < 1e-5 * area);
    float deepest = 0.0f, low = 1.0f, high = -1.0f;
    for (const PairContact& contact : found.contacts) {
      CHECK(contact.normal.y > 0.9999f);
      deepest = std::min(deepest, contact.gap);
      const float x = PointOf(torus.body, contact, 0).x;
      low = std::min(low, x);
      high = std::max(high, x);
    }
    CHECK(deepest == Approx(-depth).epsilon(0.05));
    CHECK(low < -0.15f);
    CHECK(high > 0.15f);
  }
}

TEST_CASE("A bar through a torus touches it with its four edges, along the radii") {
  const double ring = 0.2, tube = 0.05, depth = 0.01;
  const BakedSolid torus = BakeSolid(tests::MakeTorus(ring, tube, 48, 24), 400);
  const double half = (ring - tube + depth) / std::sqrt(2.0);
  const BakedSolid bar =
      BakeSolid(tests::MakeGridBox({-half, -0.5, -half}, {half, 0.5, half}, 4), 200);
  PairScratch scratch = ScratchFor(torus.body, bar.body);
  const Found found = Find(torus.body, bar.body, {0.0f, 0.037f, 0.0f}, &scratch);
  CHECK(found.count.curves == 4);
  CHECK(found.count.volumes == 4);
  CHECK(found.contacts.size() >= 4);
  RequireSound(torus.body, bar.body, {0.0f, 0.037f, 0.0f}, found, 1.0f);
  float deepest[4] = {};
  for (const PairContact& contact : found.contacts) {
    const Vec3 at = PointOf(torus.body, contact, 0);
    // The torus is pushed outwards, the bar inwards.
    const float length = std::sqrt(at.x * at.x + at.z * at.z);
    CHECK(contact.normal.x * at.x + contact.normal.z * at.z > 0.99f * length);
    CHECK(std::fabs(std::fabs(contact.normal.x) - std::sqrt(0.5f)) < 0.05f);
    REQUIRE(contact.volume < 4);
    deepest[contact.volume] = std::min(deepest[contact.volume], contact.gap);
  }
  // Contacts are at the middles of regions.
  for (const float gap : deepest) {
    CHECK(gap > -1.01 * depth);
    CHECK(gap < -0.5 * depth);
  }
}

TEST_CASE("A plate between the limbs of a split cage touches only what its surface meets") {
  const double width = 0.42;  // leaves a gap of 0.16
  const BakedSolid clamp = BakeSolid(MakeU(width), 60);
  CHECK(clamp.split_tets > 0);
  const BakedSolid plate = BakeSolid(tests::MakeBox({-0.04, -0.3, -0.1}, {0.04, 0.3, 0.1}), 60);
  PairScratch scratch = ScratchFor(plate.body, clamp.body);
  // The plate's middle relative to the gap's, which has 0.04 left on both sides.
  const auto find = [&](float aside, bool swapped) {
    const Vec3 offset = {-0.5f - aside, -0.8f, -0.2f};
    return swapped ? Find(clamp.body, plate.body, -offset, &scratch)
                   : Find(plate.body, clamp.body, offset, &scratch);
  };
  for (const bool swapped : {false, true}) {
    CAPTURE(swapped);
    for (const float aside : {-0.035f, -0.01f, 0.0f, 0.02f, 0.035f}) {
      CAPTURE(aside);
      const Found free = find(aside, swapped);
      CHECK(free.count.pairs == 0);
      CHECK(free.contacts.empty());
    }
    for (const float side : {-1.0f, 1.0f}) {
      CAPTURE(side);
      const float depth = 0.01f;
      const Found found = find(side * (0.04f + depth), swapped);
      CHECK(found.count.curves == 1);
      CHECK(found.count.volumes == 1);
      size_t deep = 0;
      const float out = swapped ? side : -side;
      for (const PairContact& contact : found.contacts) {
        CHECK(contact.normal.x * out > 0.9999f);
        CHECK(contact.gap > -1.001f * depth);
        CHECK(contact.gap < 0.0f);
        deep += contact.gap < -0.999f * depth;
      }
      CHECK(deep >= 4);  // the others are on the plate's rim
      for (size_t k = 0; k < 2; ++k)
        CHECK(std::fabs(RegionAreas(scratch, k, found.count.curves, kNoPair).x()) ==
              Approx(0.6 * 0.2).epsilon(1e-3));
    }
  }
}

}  // namespace solid_contacts_test

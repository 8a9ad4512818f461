// SPDX-License-Identifier: MIT
// Which points answer points of regions, and the normals of volumes that have no area.
#include "intersection/correspondence.h"

#include "base/vector_math.h"
#include "intersection/volume_normals.h"
#include "runtime/intersection/found_contacts.h"

#include <catch2/catch.hpp>

#include <cmath>
#include <span>
#include <vector>

using namespace plush;
using namespace plush::test;

TEST_CASE("A point whose own surface lies between it and its answer has none") {
  // A plate of 2 cm in the upper side of a block. What is below the plate's upper side is farther
  // from the block's than the plate is thick.
  const SurfaceBody plate = Box(20, 1, 20, 0.02), block = Box(4, 2, 4, 0.2);
  const CollisionBody a = plate.view(), b = block.view();
  CHECK(plate.surface().thickness == Approx(0.02f).epsilon(1e-4));
  for (const float depth : {0.004f, 0.015f, 0.0199f, 0.0201f, 0.024f, 0.1f}) {
    CAPTURE(depth);
    const Vec3 offset = {-0.2f, depth - 0.4f, -0.2f};
    const PlacedSurface moved = {a, {}, Surface::kMoved}, fixed = {b, offset, Surface::kFixed};
    uint32_t found = 0;
    for (uint32_t t = 0; t < plate.surface().num_triangles(); ++t) {
      Vec3 middle;
      bool is_below = true;
      for (int k = 0; k < 3; ++k) {
        const Vec3 corner = plate.CornerPosition(t, k);
        middle += corner * (1.0f / 3.0f);
        is_below = is_below && corner.y < 1e-6f;
      }
      if (!is_below) continue;
      const float thickness = plate.surface().patches[plate.PatchOf(t)].thickness;
      REQUIRE(thickness > 0.0f);
      REQUIRE(thickness < 0.0201f);
      const Correspondence search = {moved, fixed, {0.0f, 1.0f, 0.0f}, 0.01f, thickness};
      PairContact contact;
      const bool has_answer = search.Find(PlaceOn(moved.CornersAt(t), t, middle), &contact);
      CHECK(has_answer == (depth < 0.02f));
      if (has_answer) CHECK(contact.gap == Approx(-depth).margin(1e-6));
      ++found;
    }
    CHECK(found > 100);
  }
}

// A box whose lowest layer is pressed into a thin plate, and whose upper layers are drawn out into
// a stem. All but the stem's end is inside a block: the plate lies between its own lower side and
// the block's upper one.
TEST_CASE("A pressed body's own surface counts from half the thickness of its patch at rest on") {
  const float scale = GENERATE(0.5f, 1.0f, 2.0f);
  const bool swapped = GENERATE(false, true);
  CAPTURE(scale, swapped);
  constexpr float kCell = 0.02f, kMiddle = 0.06f, kRest = 3.0f * kCell;
  SurfaceBody stem = Box(6, 3, 6, double(kCell));
  const SurfaceBody block = Box(4, 2, 4, 0.2);
  std::vector<Vec3> x;
  for (const Vec3& p : stem.shape().rest()) {
    const bool is_stem = p.y > 1.5f * kCell;
    const float narrow = is_stem ? 1.0f / 6.0f : 1.0f;
    const float height = p.y < 0.5f * kCell ? 0.0f : p.y < 1.5f * kCell ? 0.004f : 0.006f;
    x.push_back(Vec3{kMiddle + (p.x - kMiddle) * narrow, p.y > 2.5f * kCell ? kRest : height,
                     kMiddle + (p.z - kMiddle) * narrow} *
                scale);
  }
  stem.Move(x);
  PairScratch scratch = ScratchFor(stem, block);
  const CollisionBody a = stem.view(), b = block.view();
  for (const float share : {0.45f, 0.55f}) {  // of the rest thickness
    CAPTURE(share);
    const float depth = share * kRest * scale;
    const PlacedBody of_stem = {a, {0, 0, 0}, scale};
    const PlacedBody of_block = {
        b, {double(kMiddle * scale) - 0.4, double(depth) - 0.4, double(kMiddle * scale) - 0.4}};
    std::vector<PairContact> contacts(1000);
    const PairContactCount count = swapped
                                       ? FindPairContacts(of_block, of_stem, &scratch, contacts)
                                       : FindPairContacts(of_stem, of_block, &scratch, contacts);
    REQUIRE(count.complete);
    REQUIRE(count.volumes == 1);
    size_t covered = 0;
    for (const PairContact& contact : std::span(contacts).first(count.contacts)) {
      CHECK(contact.normal.y * (swapped ? -1.0f : 1.0f) > 0.9999f);
      const size_t side = swapped ? 1 : 0;
      const Vec3 at = PointOf(stem, contact, side) * (1.0f / scale);
      const bool is_below_plate = at.y < 1.0e-4f && std::fmax(std::fabs(at.x - kMiddle),
                                                              std::fabs(at.z - kMiddle)) > 0.011f;
      if (!is_below_plate) continue;
      const float rest = stem.surface().patches[stem.PatchOf(contact.triangles[side])].thickness;
      REQUIRE(rest == Approx(kRest).epsilon(1e-3));
      CHECK(contact.gap == Approx(-depth).epsilon(1e-3));
      ++covered;
    }
    CAPTURE(covered);
    if (share < 0.5f) CHECK(covered > 50);
    if (share > 0.5f) CHECK(covered == 0);
  }
}

TEST_CASE(
    "A volume whose curves have no area keeps the last normal, or takes the line of its middles") {
  // One curve there and back, and a region of each body.
  const Curve curve = {.count = 4, .closed = true, .length = 2.0, .area = {0.0, 0.0, 1e-9}};
  Region moved, fixed;
  moved.area = 1.0f, moved.centroid = {0.0f, 1.0f, 0.0f};
  fixed.area = 3.0f, fixed.centroid = {2.0f, 1.0f, 0.0f};
  const uint32_t volumes[] = {0, 0, 0};
  VolumeSums sums[1];
  Vec3 normals[1];
  const auto find = [&](const LastNormal& last) {
    VolumeNormals({&curve, 1}, volumes, 1, {&moved, 1}, {&fixed, 1}, last, sums, normals);
    return sums[0].normal;
  };
  const Vec3 line = find({});
  CHECK(Length(line - Vec3{1.0f, 0.0f, 0.0f}) < 1e-6f);
  Vec3 asked;
  const auto know = [](const void* user, const Vec3& at, Vec3* normal) {
    *static_cast<Vec3*>(const_cast<void*>(user)) = at;
    *normal = {0.0f, 0.0f, -1.0f};
    return true;
  };
  const Vec3 kept = find({&asked, know});
  CHECK(Length(kept - Vec3{0.0f, 0.0f, -1.0f}) < 1e-6f);
  CHECK(Length(normals[0] - kept) < 1e-6f);
  CHECK(Length(asked - Vec3{1.5f, 1.0f, 0.0f}) < 1e-6f);  // the middle of both regions
  const auto know_nothing = [](const void*, const Vec3&, Vec3*) { return false; };
  CHECK(Length(find({nullptr, know_nothing}) - line) < 1e-6f);
  // A curve with an area has its own normal, whatever was known.
  const Curve wide = {.count = 4, .closed = true, .length = 2.0, .area = {0.0, -0.2, 0.0}};
  VolumeNormals({&wide, 1}, volumes, 1, {&moved, 1}, {&fixed, 1}, {&asked, know}, sums, normals);
  CHECK(Length(sums[0].normal - Vec3{0.0f, 1.0f, 0.0f}) < 1e-6f);
  // An area is one from 1e-6 of the perimeter squared on.
  for (const double share : {0.9e-6, 1.1e-6}) {
    CAPTURE(share);
    const Curve thin = {
        .count = 4, .closed = true, .length = 2.0, .area = {0.0, -4.0 * share, 0.0}};
    VolumeNormals({&thin, 1}, volumes, 1, {&moved, 1}, {&fixed, 1}, {&asked, know}, sums, normals);
    const Vec3 expected = share < 1.0e-6 ? kept : Vec3{0.0f, 1.0f, 0.0f};
    CHECK(Length(sums[0].normal - expected) < 1e-6f);
    CHECK(Length(normals[0] - expected) < 1e-6f);
  }
}

TEST_CASE("Where the curves of a volume cancel, its normal blends into each curve's own") {
  // Two curves of equal areas, whose own normals are (share, +-c, 0): |sum| is `share` of the sum
  // of lengths, and the common normal is x.
  for (const double share : {0.05, 0.1001, 0.2, 0.2999, 0.5}) {
    CAPTURE(share);
    const double c = std::sqrt(1.0 - share * share);
    const Curve curves[2] = {{.count = 4, .closed = true, .length = 4.0, .area = {-share, -c, 0.0}},
                             {.count = 4, .closed = true, .length = 4.0, .area = {-share, c, 0.0}}};
    const uint32_t volumes[] = {0, 0};
    VolumeSums sums[1];
    Vec3 normals[2];
    VolumeNormals(curves, volumes, 1, {}, {}, {}, sums, normals);
    CHECK(Length(sums[0].normal - Vec3{1.0f, 0.0f, 0.0f}) < 1e-6f);
    // From the own one at 0.1 to the common one at 0.3.
    const double common = share <= 0.1 ? 0.0 : share >= 0.3 ? 1.0 : (share - 0.1) / 0.2;
    Eigen::Vector3d expected(share + common * (1.0 - share), c * (1.0 - common), 0.0);
    expected.normalize();
    CHECK((ToEigen(normals[0]) - expected).norm() < 1e-6);
    expected.y() *= -1.0;
    CHECK((ToEigen(normals[1]) - expected).norm() < 1e-6);
  }
}

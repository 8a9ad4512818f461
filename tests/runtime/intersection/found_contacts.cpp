// SPDX-License-Identifier: MIT
#include "runtime/intersection/found_contacts.h"

#include "plush/allocator.h"

#include "base/vector_math.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>

namespace plush::test {

PairCapacity CapacityFor(const SurfaceBody& a, const SurfaceBody& b) {
  return {
      60000, 20000, std::max(a.surface().num_triangles(), b.surface().num_triangles()),
      static_cast<uint32_t>(std::max(a.surface().patches.size(), b.surface().patches.size())),
      static_cast<uint32_t>(std::max(a.surface().vertices.size(), b.surface().vertices.size()))};
}

PairScratch ScratchFor(const SurfaceBody& a, const SurfaceBody& b) {
  PairScratch scratch;
  REQUIRE(scratch.Reserve(DefaultAllocator(), CapacityFor(a, b)));
  return scratch;
}

Vec3 Scatter(SurfaceBody* a, SurfaceBody* b, Random* random, double far) {
  for (SurfaceBody* body : {a, b}) {
    body->Move(Deform(body->shape().rest(), Deformation::kGentle, random));
  }
  return ToVec3(random->Vector(far));
}

Found Find(const SurfaceBody& moved, const SurfaceBody& fixed, const Vec3& offset,
           PairScratch* scratch) {
  const CollisionBody a = moved.view(), b = fixed.view();
  Found found;
  found.contacts.resize(20000);
  found.count = FindPairContacts({a, {0, 0, 0}}, {b, {offset.x, offset.y, offset.z}}, scratch,
                                 found.contacts);
  REQUIRE(found.count.complete);
  found.contacts.resize(found.count.contacts);
  return found;
}

SurfaceBody Box(uint32_t nx, uint32_t ny, uint32_t nz, double cell) {
  return SurfaceBody(TetBox(nx, ny, nz, cell), {.parts = 2, .depth = 0.0, .num_shells = 0});
}

Vec3 PointOf(const SurfaceBody& body, const PairContact& contact, size_t side) {
  const uint32_t t = contact.triangles[side];
  const float u = contact.u[side], v = contact.v[side];
  return body.CornerPosition(t, 0) * (1.0f - u - v) + body.CornerPosition(t, 1) * u +
         body.CornerPosition(t, 2) * v;
}

void RequireSound(const SurfaceBody& moved, const SurfaceBody& fixed, const Vec3& offset,
                  const Found& found, float size) {
  for (const PairContact& contact : found.contacts) {
    REQUIRE(IsFinite(contact.normal));
    REQUIRE(std::fabs(Length(contact.normal) - 1.0f) < 1e-5f);
    REQUIRE(std::isfinite(contact.gap));
    REQUIRE(contact.area >= 0.0f);
    REQUIRE(contact.volume < found.count.volumes);
    for (size_t side = 0; side < 2; ++side) {
      REQUIRE(contact.u[side] >= -1e-6f);
      REQUIRE(contact.v[side] >= -1e-6f);
      REQUIRE(contact.u[side] + contact.v[side] <= 1.0f + 1e-6f);
    }
    const Vec3 apart = PointOf(moved, contact, 0) - (PointOf(fixed, contact, 1) + offset);
    const Vec3 across = apart - contact.gap * contact.normal;
    REQUIRE(Length(across) <= 1e-5f * size);
  }
  for (uint32_t v = 0; v < found.count.volumes; ++v)
    REQUIRE(std::any_of(found.contacts.begin(), found.contacts.end(),
                        [&](const PairContact& c) { return c.volume == v; }));
}

}  // namespace plush::test

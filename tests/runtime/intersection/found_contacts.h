// SPDX-License-Identifier: MIT
// Contacts of two bodies, and what holds for all of them.
#pragma once

#include "intersection/pair_contacts.h"
#include "runtime/collision/surface_fixtures.h"

#include <cstdint>
#include <vector>

namespace plush::test {

/// Room for all contacts of the two.
PairCapacity CapacityFor(const SurfaceBody& a, const SurfaceBody& b);
PairScratch ScratchFor(const SurfaceBody& a, const SurfaceBody& b);

/// Deforms both gently. Returns a random offset of up to `far` along each axis [m].
Vec3 Scatter(SurfaceBody* a, SurfaceBody* b, Random* random, double far);

struct Found {
  PairContactCount count;
  std::vector<PairContact> contacts;
};

/// The contacts of `moved` and `fixed`, which is moved by `offset` [m]. Fails the test if they are
/// not complete.
Found Find(const SurfaceBody& moved, const SurfaceBody& fixed, const Vec3& offset,
           PairScratch* scratch);

/// A flat box of so many cells [m].
SurfaceBody Box(uint32_t nx, uint32_t ny, uint32_t nz, double cell);

/// The contact's point on the moved (0) or the fixed body (1), in the body's coordinates [m].
Vec3 PointOf(const SurfaceBody& body, const PairContact& contact, size_t side);

/// Fails the test unless all contacts are finite, their points are on triangles and apart along the
/// normal only, up to 1e-5 of `size` [m], and every volume has one.
void RequireSound(const SurfaceBody& moved, const SurfaceBody& fixed, const Vec3& offset,
                  const Found& found, float size);

}  // namespace plush::test

// SPDX-License-Identifier: MIT
// Brute-force distances from a hull.
#pragma once

#include "colliders/hull.h"
#include "runtime/tet_fixtures.h"

#include <memory>

namespace plush::test {

struct HullDeleter {
  void operator()(Hull* hull) const { DeleteObject(DefaultAllocator(), hull); }
};
using HullPointer = std::unique_ptr<Hull, HullDeleter>;

/// Signed distance of a point about the hull's centre, by all its planes and triangles, in double
/// precision [m].
double DistanceFrom(const Hull& hull, const Eigen::Vector3d& p);

}  // namespace plush::test

// SPDX-License-Identifier: MIT
// Curves, volumes and regions of two bodies that intersect, from all pairs of their triangles in
// double precision: without trees, exact signs or floods of patches.
#pragma once

#include "intersection/pair_contacts.h"
#include "runtime/collision/surface_fixtures.h"
#include "runtime/intersection/found_contacts.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

namespace plush::test {

struct BruteCurve {
  double length = 0.0;                             ///< [m]
  Eigen::Vector3d area = Eigen::Vector3d::Zero();  ///< 1/2 sum of p x q [m^2]
  uint32_t volume = 0;
};

struct BruteVolume {
  Eigen::Vector3d curves = Eigen::Vector3d::Zero();  ///< sum of its curves' areas [m^2]
  double lengths = 0.0;                              ///< of these [m^2]
  double perimeter = 0.0;                            ///< of its curves [m]
  double area[2] = {};                               ///< of the moved and fixed surface [m^2]
  Eigen::Vector3d vector_area[2] = {{0, 0, 0}, {0, 0, 0}};
};

struct BruteContacts {
  std::map<std::pair<uint32_t, uint32_t>, uint32_t> curve_of;  ///< of triangles, moved and fixed
  std::vector<BruteCurve> curves;
  std::vector<BruteVolume> volumes;
};

/// Of closed surfaces in general position that do not overlap themselves. As in flood.h, a cut
/// triangle counts as one piece, but for a curve wholly in a triangle whose corners are outside.
/// Fails the test if a curve does not close, or a piece is inside without a curve.
BruteContacts BruteForceContacts(const SurfaceBody& moved, const SurfaceBody& fixed,
                                 const Vec3& offset);

/// Fails the test unless the curves, volumes, regions' areas and normals that Find() left are those
/// of BruteForceContacts, up to the share `tolerance` of each and to places that are rounded by
/// 1e-7 m. Returns how many contacts' normals were compared: those of volumes whose curves agree.
size_t RequireBruteForce(const SurfaceBody& moved, const SurfaceBody& fixed, const Vec3& offset,
                         const Found& found, const PairScratch& scratch, double tolerance);

}  // namespace plush::test

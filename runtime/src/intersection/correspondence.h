// SPDX-License-Identifier: MIT
// Points of regions, and the points of the other body that answer them [Civ 5.5.4].
#pragma once

#include "intersection/flood.h"
#include "intersection/pair_contacts.h"

namespace plush {

/// A point of a triangle.
struct RegionPoint {
  uint32_t triangle = 0;
  double part[3] = {1.0, 0.0, 0.0};  ///< barycentric coordinates
  Vec3 at;                           ///< [m]
};

/// Out of a triangle's front; 0 if it has no area.
Vec3 UnitNormal(const Corners& corners);

/// The point of the triangle, with these corners, that is nearest to `at`.
RegionPoint PlaceOn(const Corners& corners, uint32_t triangle, const Vec3& at);

/// A contact of two points that are one.
PairContact Touching(const RegionPoint& moved, const RegionPoint& fixed, const Vec3& normal);

/// A contact between a corner of a triangle that is inside `other` and the nearest point of the
/// other's surface. Returns whether there is one.
bool NearestContact(const PlacedSurface& surface, const PlacedSurface& other, uint32_t triangle,
                    PairContact* contact);

/// Points that stand for a region.
class RegionPoints {
 public:
  RegionPoints(const PlacedSurface& surface, const FloodScratch& flood,
               std::span<const TrianglePair> pairs, const Region& region)
      : surface_(surface), flood_(flood), pairs_(pairs), region_(region) {}

  /// The surface's point next to the centroid.
  RegionPoint Middle() const;
  /// The outermost points across `normal`, in four directions, a little inside the border. Returns
  /// their number, 1 to 4.
  uint32_t Outer(const Vec3& normal, RegionPoint points[4]) const;

 private:
  template <class Visit>
  void ForTriangles(Visit visit) const;
  template <class Visit>
  void ForCorners(Visit visit) const;

  const PlacedSurface& surface_;
  const FloodScratch& flood_;
  std::span<const TrianglePair> pairs_;
  const Region& region_;
};

/// Searches the other body along the volume's normal.
struct Correspondence {
  const PlacedSurface& surface;  ///< of the points
  const PlacedSurface& other;
  Vec3 normal;      ///< unit, out of the fixed body
  float size;       ///< of the region [m]
  float thickness;  ///< of the points' patch at rest [m]; 0: unknown

  /// Whether a region with this vector area faces the other body.
  bool Faces(const Vec3& vector_area) const;
  /// Sets all but the contact's area and volume. Returns whether the first point of the other body
  /// along the normal faces this one, and no surface of the own body lies between.
  bool Find(const RegionPoint& point, PairContact* contact) const;
};

}  // namespace plush

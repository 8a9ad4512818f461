// SPDX-License-Identifier: MIT
// Normals of contact volumes [Civ 5.5.4.1].
#pragma once

#include "intersection/curves.h"
#include "intersection/flood.h"

#include <span>

namespace plush {

/// Knows the normals of contacts that the two bodies had in the step before.
struct LastNormal {
  const void* user = nullptr;
  /// Sets `*normal` to that nearest to a place in the common coordinates [m]. Returns whether there
  /// is one. May be null.
  bool (*find)(const void* user, const Vec3& at, Vec3* normal) = nullptr;
};

/// What is known of a contact volume.
struct VolumeSums {
  double area[3] = {};       ///< of its curves' vector areas, out of the fixed body [m^2]
  double lengths = 0.0;      ///< of those vectors' lengths [m^2]
  double perimeter = 0.0;    ///< of its curves [m]
  Vec3 normal;               ///< unit, out of the fixed body
  uint32_t num_regions = 0;  ///< of one of the bodies
  bool has_contact = false;
};

/// Sets the normals of all volumes and curves. `volume_of` gives the volumes of the curves, then of
/// the moved body's regions, then of the fixed one's. A volume whose curves' vector areas agree has
/// one normal, the direction of their sum. Where they cancel (|sum| at most 0.1 of the sum of
/// lengths) each curve keeps its own; between 0.1 and 0.3 the two blend. If a vector area is
/// nothing, the volume keeps the last step's normal there; without one, its normal is the line from
/// the centroid of the moved body's regions to that of the fixed one's.
void VolumeNormals(std::span<const Curve> curves, std::span<const uint32_t> volume_of,
                   uint32_t num_volumes, std::span<const Region> of_moved,
                   std::span<const Region> of_fixed, const LastNormal& last,
                   std::span<VolumeSums> sums, std::span<Vec3> normals);

}  // namespace plush

// SPDX-License-Identifier: MIT
// Contacts between two bodies whose surfaces intersect [Civ 5.5].
#pragma once

#include "intersection/body_pairs.h"
#include "intersection/curves.h"
#include "intersection/flood.h"
#include "intersection/volume_normals.h"

#include <cstdint>
#include <span>

namespace plush {

/// A contact between two bodies: two surface points that touch or overlap.
struct PairContact {
  uint32_t triangles[2] = {};  ///< of the collision surface, moved and fixed
  float u[2] = {};             ///< barycentric weights of their second corners
  float v[2] = {};             ///< and of their third ones
  Vec3 normal;          ///< unit, out of the fixed body: the way that separates the moved one
  float gap = 0.0f;     ///< dot(normal, point of moved - point of fixed) [m], negative: overlap
  float area = 0.0f;    ///< of its region [m^2]; 0 on an arc
  uint32_t volume = 0;  ///< number of the contact volume
};

/// What FindPairContacts found.
struct PairContactCount {
  uint32_t pairs = 0;  ///< triangles that intersect
  uint32_t curves = 0;
  uint32_t regions = 0;  ///< of both bodies
  uint32_t volumes = 0;
  uint32_t contacts = 0;  ///< written
  bool complete = false;  ///< false: some memory was too small; what was found is valid
  bool open = false;      ///< a curve or a region ends at an open border
};

/// Most elements of each kind.
struct PairCapacity {
  uint32_t pairs = 4096;
  uint32_t regions = 1024;
  uint32_t triangles = 0;  ///< of the largest collision surface
  uint32_t patches = 0;    ///< of the one with most
  uint32_t vertices = 0;   ///< likewise; if too few, patches are searched by their trees only
};

/// Memory of FindPairContacts, made once; any pairs of bodies may use it one after another.
struct PairScratch {
  PlacedPatches placed[2];  ///< of the moved and the fixed body
  Array<TrianglePair> pairs;
  Array<Joint> joints;
  Array<uint32_t> next, order;
  Array<uint8_t> has_previous;
  Array<Curve> curves;
  Array<uint32_t> curve_of;  ///< of each pair
  FloodScratch floods[2];    ///< of the moved and the fixed surface
  Array<uint32_t> parents;   ///< of curves, then regions: union-find, then volumes
  Array<Vec3> normals;       ///< of the curves
  Array<VolumeSums> sums;    ///< of the volumes

  /// Returns false if the allocator fails.
  bool Reserve(const Allocator& allocator, const PairCapacity& capacity);
};

/// Writes the contacts of two bodies in the order of their regions, moved body first. Positions are
/// metres. Deviations from the paper: a flat region that stands almost alone gives up to four
/// contacts, so that a face rests on a face; a volume in which no ray is acceptable gives one
/// contact on its curve; an arc one for each stretch in the same two patches, along the mean normal
/// of both surfaces; surfaces must face along the normal by a cosine above 0.05, not 0, for flatter
/// ones have no depth in float; a piece of one body inside the other without a curve, which the
/// paper does not see, gives one towards the nearest surface. Does not allocate.
PairContactCount FindPairContacts(const PlacedBody& moved, const PlacedBody& fixed,
                                  PairScratch* scratch, std::span<PairContact> contacts,
                                  const LastNormal& last = {});

}  // namespace plush

// SPDX-License-Identifier: MIT
// How far the bodies of a scene are inside each other now, measured without the runtime's contacts.
#pragma once

#include "simulate/scene_world.h"

#include <cstdint>
#include <memory>

namespace plush::tests {

/// All pairs of bodies together.
struct Overlap {
  uint32_t triangle_pairs = 0;  ///< triangles of two collision surfaces that intersect
  uint32_t body_pairs = 0;      ///< bodies with such triangles
  float depth_m = 0.0f;         ///< of the deepest render vertex inside another body: its distance
                                ///< from that body's surface [m]. Not seen: edges that cross
                                ///< without a vertex inside, and vertices deeper than a quarter of
                                ///< the body's size
  float depth_share = 0.0f;     ///< the largest depth over the size of the smaller body of a pair:
                                ///< the diagonal of its box at rest, times its scale
  Vec3 deepest = {};            ///< where the vertex of the largest share is [m]
  size_t bodies[2] = {};        ///< its body, and the one that it is in
};

/// Measures overlaps, with memory for the bodies of one scene.
class OverlapMeter {
 public:
  /// The bodies of `scene_world`, which must outlive the meter.
  explicit OverlapMeter(const tools::SceneWorld& scene_world);
  ~OverlapMeter();
  OverlapMeter(const OverlapMeter&) = delete;
  OverlapMeter& operator=(const OverlapMeter&) = delete;

  /// The overlaps of the bodies as they are now. Changes nothing that a step depends on. Depths
  /// take many steps' time; without them they are 0.
  Overlap Measure(bool with_depths = true);

  /// Size of a body, by its place in SceneWorld::bodies [m].
  float SizeOf(size_t body) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace plush::tests

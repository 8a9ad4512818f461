// SPDX-License-Identifier: MIT
// Debug drawing: the world calls the game's functions with points, lines, triangles and text.
#pragma once

#include "plush/types.h"

#include <cstdint>

namespace plush {

/// What World::Draw draws.
enum DebugDrawFlags : uint32_t {
  kDrawCage = 1u << 0,       ///< edges of the faces on the outside of the cage, each once
  kDrawSurface = 1u << 1,    ///< triangles of the render surface
  kDrawPins = 1u << 2,       ///< pinned nodes, and lines to the targets of the next step
  kDrawContacts = 1u << 3,   ///< points that colliders and other bodies hold, and the directions in
                             ///< which
  kDrawBounds = 1u << 4,     ///< boxes around bodies
  kDrawSleep = 1u << 5,      ///< cages in the colours of their state: awake, asleep, frozen, fixed,
                             ///< disabled. Disabled bodies are drawn in no other way
  kDrawColliders = 1u << 6,  ///< spheres, capsules and boxes; a square grid on each plane below the
                             ///< middle of all bodies, two diagonals of the box around them wide,
                             ///< and the plane's normal
  kDrawNames = 1u << 7,      ///< each body's slot, as text
  kDrawAttachments = 1u << 8,    ///< both ends of each attachment and constraint of enabled bodies,
                                 ///< a line between them, and a line's or plane's direction
  kDrawIntersections = 1u << 9,  ///< the curves in which the surfaces of touching bodies intersect,
                                 ///< and the triangles inside other bodies. Searches the pairs
                                 ///< anew: Draw then counts as a query without PrepareQueries
};

/// The game's drawing functions. Null ones are skipped. Colours are 0xRRGGBB. References and texts
/// are valid only during the call: copy what you keep. They must not call the world.
struct DebugDraw {
  void (*point)(void* user, const Vec3& p, float size, uint32_t colour) = nullptr;  ///< size [m]
  void (*line)(void* user, const Vec3& a, const Vec3& b, uint32_t colour) = nullptr;
  void (*triangle)(void* user, const Vec3& a, const Vec3& b, const Vec3& c,
                   uint32_t colour) = nullptr;
  void (*text)(void* user, const Vec3& p, const char* text, uint32_t colour) = nullptr;
  void* user = nullptr;                                    ///< passed through
  uint32_t flags = kDrawCage | kDrawPins | kDrawContacts;  ///< DebugDrawFlags
};

}  // namespace plush

// SPDX-License-Identifier: MIT
// Bodies of one asset and one matrix that step together, one in each lane of vectors.
//
// A body's positions and velocities stay its own; its rotations and multipliers, which only steps
// look at, live in its lane for as long as it steps with the crowd. Lanes never look at each other,
// so that what comes out of one does not depend on who stands in the others.
#pragma once

#include "base/array.h"
#include "elasticity/element_pass.h"
#include "world/body.h"
#include "world/crowd_nodes.h"

#include <cstdint>

namespace plush {

/// Fewest bodies of one system for which a crowd is made, and fewest of a crowd that step as one: a
/// step of a crowd costs as much as some seven of its bodies one after another.
inline constexpr uint32_t kLeastCrowd = 6;

/// Fewest bodies for which another crowd is made beside those of the same system: the cost of fewer
/// by themselves is little beside that of full crowds, and can be dealt out to threads.
inline constexpr uint32_t kLeastFurtherCrowd = 10;

/// Up to 16 bodies of one system.
struct Crowd {
  System* system = nullptr;        ///< that of all its bodies
  Body* bodies[kCrowdLanes] = {};  ///< by lane, or null
  uint32_t num_bodies = 0;
  Array<float> positions;  ///< of the current iterate (num_nodes x 4 x 16)
  Array<float> rhs;        ///< right-hand sides, then displacements (num_nodes x 3 x 16)
  Array<float> more;       ///< what impulses of pins add to them (num_nodes x 3 x 16), or empty
  Array<float> rotations;  ///< (16 num_blocks x 4 x 16)
  Array<float> kappa;      ///< multipliers for substeps of kappa_dt (16 num_blocks x 16)
  float kappa_dt = 0.0f;   ///< [s]
  float momentum[kCrowdVector] = {};  ///< of rhs without elastic forces [kg m] (3 x 16)

  /// Sizes everything. Returns false where the allocator fails.
  bool Allocate(const Allocator& allocator, System* of_system);
};

/// Whether a body can be one of a crowd at all: undamped, and it moves.
bool MayJoinCrowds(const Body& body);

/// The system whose factors a body's crowd has.
System* CrowdSystem(const Body& body);

/// Gives the body the next free lane; there is one. Returns false, with nothing changed, where the
/// allocator fails.
bool JoinCrowd(const Allocator& allocator, Crowd* crowd, Body* body);

/// Takes the body out, with its rotations and multipliers.
void LeaveCrowd(Body* body);

/// Takes the body's rotations and multipliers back out of its lane, for a step of its own.
void LeaveLane(Body* body);

/// Sets body->in_crowd_step if the body has a crowd and nothing can touch it in this step.
void DecideCrowdStep(const StepSettings& settings, Body* body);

/// Advances the crowd's bodies for which body->in_crowd_step is set; a body that meets a plane, or
/// leaves the range of numbers, steps by itself instead. Writes each body's part of the statistics,
/// in `stats` by body->index; wall times go to the first body. Does not allocate.
void StepCrowd(const StepSettings& settings, Crowd* crowd, StepStats* stats);

}  // namespace plush

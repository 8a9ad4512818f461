// SPDX-License-Identifier: MIT
// Bodies of one asset and one matrix that step together, one per vector lane.
//
// A body keeps its positions and velocities. While it steps with the crowd, its rotations and
// multipliers are in its lane. Lanes never read each other, so a body's result does not depend on
// the other bodies in the crowd.
#pragma once

#include "base/array.h"
#include "base/linked_list.h"
#include "body/body.h"
#include "body/crowd_nodes.h"
#include "elasticity/element_pass.h"

#include <cstdint>

namespace plush {

/// Fewest bodies of one system that make a crowd, and fewest that step as one. A crowd's step costs
/// about as much as seven single bodies.
inline constexpr uint32_t kLeastCrowd = 6;

/// Fewest bodies that make another crowd of the same system, of whatever settings. Fewer cost
/// little next to full crowds, and threads can share them.
inline constexpr uint32_t kLeastFurtherCrowd = 10;

/// Up to 16 bodies of one system and equal settings.
struct Crowd : Links<Crowd> {      // of System::open_crowds
  System* system = nullptr;        ///< of all its bodies
  SplittingSettings splitting;     ///< of all its bodies
  Body* bodies[kCrowdLanes] = {};  ///< by lane, or null
  uint32_t num_bodies = 0;
  uint32_t index = 0;      ///< in the world's list of crowds
  Array<float> positions;  ///< of the current iterate (num_nodes x 4 x 16)
  Array<float> rhs;        ///< right-hand sides, then displacements (num_nodes x 3 x 16)
  Array<float> more;       ///< response to impulses at extra pins (num_nodes x 3 x 16), or empty
  Array<float> rotations;  ///< (16 num_blocks x 4 x 16)
  Array<float> sums;       ///< of clusters (num_clusters x 27 x 16)
  Array<float> motions;    ///< of clusters (num_clusters x 15 x 16)
  Array<float> kappa;      ///< multipliers for substeps of kappa_dt (16 num_blocks x 16)
  float kappa_dt = 0.0f;   ///< [s]
  Array<float> start_rotations, start_kappa;  ///< as the step began, like those
  float momentum[kCrowdVector] = {};          ///< sum of rhs without elastic forces [kg m] (3 x 16)

  /// Allocates all arrays. Returns false if the allocator fails.
  bool Allocate(const Allocator& allocator, System* of_system);
};

/// Whether a body can ever join a crowd: it must be undamped, not fixed, and report no reactions.
bool MayJoinCrowds(const Body& body);

/// The system whose factors the body's crowd uses.
System* CrowdSystem(const Body& body);

/// Gives the body the next free lane. The crowd must have one, and the body's settings. Returns
/// false, with nothing changed, if the allocator fails.
bool JoinCrowd(const Allocator& allocator, Crowd* crowd, Body* body);

/// Takes the body, with its rotations and multipliers, out of its crowd.
void LeaveCrowd(Body* body);

/// Moves the body's rotations and multipliers from its lane to its own memory.
void LeaveLane(Body* body);

/// Sets the body's multipliers, in its lane or its own memory, to their law for a substep of `h`
/// seconds that ends at body->y.
void SetMultipliers(float h, Body* body);

/// Sets body->in_crowd_step if the body has a crowd, is joined to no other body, can touch no plane
/// in this step, and needs one outer iteration (LeastIterations).
void DecideCrowdStep(const StepSettings& settings, Body* body);

/// Advances the crowd's bodies with body->in_crowd_step, at least one. A body that meets a plane or
/// flies too far steps by itself instead. Writes each body's statistics to stats[body->slot]; wall
/// times go to the first body. Does not allocate.
void StepCrowd(const StepSettings& settings, Crowd* crowd, StepStats* stats);

}  // namespace plush

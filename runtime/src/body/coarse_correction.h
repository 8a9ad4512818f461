// SPDX-License-Identifier: MIT
// The coarse correction of one body's outer iteration: clusters move as the material and the planes
// let them.
#pragma once

#include "body/body.h"

namespace plush {

/// Whether clusters move after each solve.
inline bool HasCoarseLevel(const StepSettings& settings, const Body& body) {
  return settings.splitting.volume_sweeps == 0 && body.system->coarse.num_clusters() > 0;
}

/// Moves the clusters of body->y in a substep of `h` seconds, if HasCoarseLevel. Makes their matrix
/// unless `*has_matrix`, which is then set: later corrections of a substep would hardly differ with
/// their own. Does not allocate.
void CorrectClusters(const StepSettings& settings, float h, Body* body, StepStats* stats,
                     bool* has_matrix);

// The same for bodies that touch each other: all begin, SolveCoarseContacts solves the list of
// their body->coarse_solve, all end.

/// Returns whether the body takes part. One that springs hold does not: two coarse levels do not
/// know of each other's springs.
bool BeginJointCorrection(const StepSettings& settings, float h, Body* body, StepStats* stats,
                          bool* has_matrix);
/// Moves the clusters.
void EndJointCorrection(const StepSettings& settings, float h, Body* body, StepStats* stats);

}  // namespace plush

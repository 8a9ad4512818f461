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

}  // namespace plush

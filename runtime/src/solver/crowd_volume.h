// SPDX-License-Identifier: MIT
// Volume sweeps for a crowd; see elasticity/crowd_elements.h for how its numbers lie.
#pragma once

#include "elasticity/crowd_elements.h"
#include "elasticity/elements.h"

namespace plush {

/// What a sweep did in each body; see SweepChanges.
struct CrowdSweepChanges {
  float lowest_det_f[kCrowdLanes];
  float largest[kCrowdLanes];
};

/// SweepVolumes for a crowd, tet after tet in the order of the blocks: moves `positions` (num_nodes
/// x 4 x 16), updates `kappa` (16 num_blocks x 16). Does not allocate.
void SweepCrowdVolumes(const ElementView& elements, float dt, float* positions, float* kappa,
                       CrowdSweepChanges* out_changes);

}  // namespace plush

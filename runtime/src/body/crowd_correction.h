// SPDX-License-Identifier: MIT
// The coarse correction of a crowd's outer iteration: the clusters of all lanes move as their
// materials let them. Source: coarse_level.h; coarse_correction.h has that of one body.
#pragma once

#include "body/body.h"
#include "body/crowd.h"
#include "solver/volume_sweep.h"

#include <algorithm>
#include <cstddef>

namespace plush {

/// The bodies that take part in the current step.
struct CrowdStepping {
  CrowdBodies nodes;
  Body* bodies[kCrowdLanes] = {};  ///< by lane, or null
  Body* first = nullptr;
  float active[kCrowdLanes] = {};
  float is_free[kCrowdLanes] = {};  ///< 1 for a body that nothing holds
  bool has_free = false;            ///< whether any is_free is 1
  bool has_pins = false;            ///< whether a body has pins beyond the factor's
};

/// What may be wrong with lanes after the step.
struct CrowdWarnings {
  CrowdSweepChanges last = {};      ///< of the last volume sweep
  float lowest_det_f[kCrowdLanes];  ///< of all iterates
  bool overshot[kCrowdLanes] = {};  ///< a coarse correction; see coarse_level.h

  CrowdWarnings() { std::fill(lowest_det_f, lowest_det_f + kCrowdLanes, 1.0f); }

  bool MayBeFlat(const StepSettings& settings, size_t lane) const {
    return plush::MayBeFlat(lowest_det_f[lane]) ||
           (settings.splitting.volume_sweeps > 0 &&
            plush::MayBeFlat({last.lowest_det_f[lane], last.largest[lane]}));
  }
};

/// The coarse correction of an outer iteration: moves clusters as the material lets them, and notes
/// in which lanes they overshoot. Makes the matrices of the clusters' motions where bodies have
/// none (Body::Progress::has_matrix).
void CorrectCrowdClusters(const StepSettings& settings, const CrowdStepping& stepping, Crowd* crowd,
                          CrowdWarnings* warnings, StepStats* stats);

}  // namespace plush

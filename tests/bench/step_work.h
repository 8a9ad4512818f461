// SPDX-License-Identifier: MIT
// The data a step reads and writes and its arithmetic, from the sizes of the data.
#pragma once

#include "plush/asset.h"
#include "plush/splitting_settings.h"
#include "plush/step.h"

#include <cstddef>
#include <cstdint>
#include <span>

namespace plush::bench {

/// Work of one phase of a step.
struct PhaseWork {
  double bytes = 0.0;          ///< read and written: each array once for each pass over it
  double multiply_adds = 0.0;  ///< floats multiplied and added; where only one of both is done, or
                               ///< a division, that counts as one, too
};

/// Work of one step of undamped, pinned bodies, without planes and energies, with one Newton step
/// for each rotation.
struct StepWork {
  PhaseWork elements, solve, volume, other;
  double footprint = 0.0;  ///< bytes of all that is read or written, each counted once

  double bytes() const { return elements.bytes + solve.bytes + volume.bytes + other.bytes; }
  StepWork& operator+=(const StepWork& more);
};

/// Work of `bodies` bodies of an asset that hang by the nodes `pinned`, in crowds if there are
/// enough.
StepWork WorkOfStep(const Asset& asset, std::span<const uint32_t> pinned, size_t bodies,
                    const SplittingSettings& splitting);

}  // namespace plush::bench

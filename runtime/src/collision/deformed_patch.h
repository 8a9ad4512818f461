// SPDX-License-Identifier: MIT
// A patch's sums under the deformation of its tet [Civ 5.5.3.5, A.4].
#pragma once

#include "plush/collision.h"
#include "plush/format/cdg_records.h"

#include <array>

namespace plush {

/// Sums of `patch` after its tet's nodes moved from `rest` to `now` [m], both in the order of
/// CdgTet::nodes; O(1). Finite also for flat and inverted tets; a tet without volume at rest gives
/// zeros. The centroid is relative to the coordinates of `now`.
DeformedPatch DeformPatch(const CdgPatch& patch, const std::array<Vec3, 4>& rest,
                          const std::array<Vec3, 4>& now);

}  // namespace plush

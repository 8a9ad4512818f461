// SPDX-License-Identifier: MIT
// Sums over a patch (area, vector area, centroid) under its tet's deformation [Civ 5.5.3.5, A.4].
#pragma once

#include "plush/collision.h"
#include "plush/format/cdg_records.h"

#include <array>

namespace plush {

/// Sums of `patch` after its tet's nodes moved from `rest` to `now` [m], both in the order of
/// CdgTet::nodes. O(1). Finite also for flat and inverted tets; zero if the tet has no volume at
/// rest. The centroid is in the coordinates of `now`.
DeformedPatch DeformPatch(const CdgPatch& patch, const std::array<Vec3, 4>& rest,
                          const std::array<Vec3, 4>& now);

}  // namespace plush

// SPDX-License-Identifier: MIT
// Points of an asset whose hull is a collider.
#pragma once

#include "plush/types.h"

#include <span>
#include <vector>

namespace plush::tools {

/// Points for a HullShape about these ones: all, if there are at most kMostHullPoints. Otherwise
/// the outermost ones in 218 directions that are evenly spread, so that the hull lies inside that
/// of all points, by about a hundredth of its size.
std::vector<Vec3> OutermostPoints(std::span<const Vec3> points);

}  // namespace plush::tools

// SPDX-License-Identifier: MIT
// Random solids of many shapes, as closed manifold surfaces.
#pragma once

#include "mesh/surface_mesh.h"

#include <cstdint>

namespace plush::tests {

using tools::SurfaceMesh;

/// Number of families of solids; RandomSolid takes seed % kNumFamilies.
inline constexpr uint32_t kNumFamilies = 10;
extern const char* const kFamilyNames[kNumFamilies];

/// A solid of the seed's family, at any place and of any size.
SurfaceMesh RandomSolid(uint32_t seed);

}  // namespace plush::tests

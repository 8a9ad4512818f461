// SPDX-License-Identifier: MIT
// The barycentric embedding as skin weights, in the form that glTF allows.
#pragma once

#include "plush/asset.h"
#include "plush/types.h"

#include <array>
#include <cstdint>
#include <vector>

namespace plush::tools {

/// Up to four joints per vertex, the joints being the cage's nodes.
struct SkinWeights {
  std::vector<std::array<uint16_t, 4>> joints;  ///< 0 where the weight is 0 (num_vertices x 4)
  std::vector<Vec4> weights;                    ///< >= 0, sum 1 within 1e-7 (num_vertices x 1)
  float largest_change = 0.0f;  ///< largest difference between a weight and the baked one
};

/// Skin weights of `asset`'s render vertices; the cage must have at most 65536 nodes. Weights of
/// vertices inside their tet change by float rounding only. glTF has no negative weights: a vertex
/// outside its tet gets the weights of the nearest allowed ones and then rides rigidly on the best
/// fit by the rest of its offset, because every joint carries the same rotation.
SkinWeights MakeSkinWeights(const Asset& asset);

}  // namespace plush::tools

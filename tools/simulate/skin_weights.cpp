// SPDX-License-Identifier: MIT
#include "simulate/skin_weights.h"

#include "plush/format/tet_block.h"

#include <algorithm>
#include <cmath>

namespace plush::tools {
namespace {

using Weights = std::array<double, 4>;

// Clamps to zero, scales to sum one and gives the rounding that is left to the largest weight, so
// that the sum of the stored floats is one to half a unit in the last place.
std::array<float, 4> Normalised(const Weights& baked) {
  double sum = 0.0;
  for (const double w : baked) sum += std::max(w, 0.0);
  if (!(sum > 0.0)) return {1.0f, 0.0f, 0.0f, 0.0f};
  std::array<float, 4> weights = {};
  size_t largest = 0;
  for (size_t i = 0; i < 4; ++i) {
    weights[i] = static_cast<float>(std::max(baked[i], 0.0) / sum);
    if (weights[i] > weights[largest]) largest = i;
  }
  double others = 0.0;
  for (size_t i = 0; i < 4; ++i) {
    if (i != largest) others += weights[i];
  }
  weights[largest] = static_cast<float>(1.0 - others);
  return weights;
}

}  // namespace

SkinWeights MakeSkinWeights(const Asset& asset) {
  const VisualView& visual = asset.visual();
  SkinWeights skin;
  skin.joints.reserve(visual.weights.size());
  skin.weights.reserve(visual.weights.size());
  for (size_t v = 0; v < visual.weights.size(); ++v) {
    const Tet& tet = asset.simulation().tets[visual.tet_ids[v]];
    const std::array<uint32_t, 4> nodes = {tet.a, tet.b, tet.c, tet.d};
    const Vec4& w = visual.weights[v];
    const Weights baked = {w.x, w.y, w.z, w.w};
    const std::array<float, 4> weights = Normalised(baked);
    std::array<uint16_t, 4> joints = {};
    for (size_t i = 0; i < 4; ++i) {
      if (weights[i] > 0.0f) joints[i] = static_cast<uint16_t>(nodes[i]);
      const double change = std::fabs(weights[i] - baked[i]);
      skin.largest_change = std::max(skin.largest_change, static_cast<float>(change));
    }
    skin.joints.push_back(joints);
    skin.weights.push_back({weights[0], weights[1], weights[2], weights[3]});
  }
  return skin;
}

}  // namespace plush::tools

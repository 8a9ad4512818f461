// SPDX-License-Identifier: MIT
#include "embed/embedding.h"

#include "base/float_rounding.h"
#include "embed/tet_tree.h"

#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>

#include <algorithm>
#include <cmath>
#include <optional>

namespace plush::tools {
namespace {

// A weight may be this far below 0 and still count as inside: points on a shared face must not fall
// between the two tets by rounding.
constexpr double kInsideTolerance = 1e-12;

// Rounds to float. The largest weight takes what the others leave, so that the sum stays 1 to half
// an ulp even for bodies far from the origin.
Vec4 RoundWeights(std::array<double, 4> weights) {
  std::array<float, 4> rounded = {};
  size_t largest = 0;
  for (size_t i = 0; i < 4; ++i) {
    rounded[i] = static_cast<float>(weights[i]);
    if (weights[i] > weights[largest]) largest = i;
  }
  double others = 0.0;
  for (size_t i = 0; i < 4; ++i) others += i == largest ? 0.0 : RoundToFloat(weights[i]);
  rounded[largest] = static_cast<float>(1.0 - others);
  return {rounded[0], rounded[1], rounded[2], rounded[3]};
}

double EmbeddingError(const Vec3d& point, const TetCorners& tet, const Vec4& weights) {
  const Vec3d embedded =
      tet[0] * static_cast<double>(weights.x) + tet[1] * static_cast<double>(weights.y) +
      tet[2] * static_cast<double>(weights.z) + tet[3] * static_cast<double>(weights.w);
  return Length(embedded - point);
}

}  // namespace

Embedding EmbedPoints(std::span<const Vec3d> points, const TetMesh& mesh,
                      std::span<const uint32_t> tets) {
  Embedding out;
  if (points.empty() || mesh.tets.empty()) return out;
  const TetTree tree(mesh);
  out.tet_ids.resize(points.size());
  out.weights.resize(points.size());
  std::vector<double> errors(points.size());
  std::vector<uint8_t> outside(points.size());
  std::vector<double> distances(points.size());
  tbb::parallel_for(tbb::blocked_range<size_t>(0, points.size(), 256), [&](const auto& range) {
    for (size_t i = range.begin(); i < range.end(); ++i) {
      const bool known = i < tets.size() && tets[i] < mesh.tets.size();
      const std::optional<uint32_t> containing =
          known ? tets[i] : tree.FindContaining(points[i], kInsideTolerance);
      outside[i] = containing.has_value() ? 0 : 1;
      out.tet_ids[i] = containing.has_value() ? *containing : tree.FindNearest(points[i]);
      const TetCorners corners = tree.Corners(out.tet_ids[i]);
      std::array<double, 4> weights = BarycentricWeights(points[i], corners);
      if (containing.has_value()) {
        for (double& weight : weights) weight = std::clamp(weight, 0.0, 1.0);
      } else {
        distances[i] = std::sqrt(SquaredDistance(points[i], corners));
      }
      out.weights[i] = RoundWeights(weights);
      errors[i] = EmbeddingError(points[i], corners, out.weights[i]);
    }
  });
  out.max_error_m = *std::max_element(errors.begin(), errors.end());
  for (const uint8_t flag : outside) out.num_outside += flag;
  const auto farthest = std::max_element(distances.begin(), distances.end());
  out.max_outside_m = *farthest;
  out.farthest = static_cast<uint32_t>(farthest - distances.begin());
  return out;
}

}  // namespace plush::tools

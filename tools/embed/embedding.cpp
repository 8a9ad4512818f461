// SPDX-License-Identifier: MIT
// Finds the tet and the barycentric weights of each point with a bounding-box tree over the tets.
// Weights are rounded to float so that they still sum to 1.
#include "embed/embedding.h"

#include "base/float_rounding.h"

#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>

namespace plush::tools {
namespace {

constexpr uint32_t kLeafTets = 4;

// Squared distance from a point to a box; 0 inside.
double BoxDistance(const Vec3d& point, const Vec3d& lower, const Vec3d& upper) {
  const Vec3d nearest = Max(lower, Min(point, upper));
  return LengthSquared(point - nearest);
}

bool BoxContains(const Vec3d& point, const Vec3d& lower, const Vec3d& upper, double margin) {
  for (int axis = 0; axis < 3; ++axis) {
    if (point[axis] < lower[axis] - margin || point[axis] > upper[axis] + margin) return false;
  }
  return true;
}

// A bounding-box tree over the tets of a mesh, which must outlive it unchanged. Thread-safe.
class TetTree {
 public:
  // The mesh has at least one tet. O(t log t).
  explicit TetTree(const TetMesh& mesh) : mesh_(mesh), tets_(mesh.tets.size()) {
    std::iota(tets_.begin(), tets_.end(), 0u);
    std::vector<Vec3d> centres;
    centres.reserve(mesh.tets.size());
    for (uint32_t id = 0; id < mesh.tets.size(); ++id) {
      const auto [a, b, c, d] = CornersOf(mesh, id);
      centres.push_back((a + b + c + d) * 0.25);
    }
    Build(0, static_cast<uint32_t>(tets_.size()), centres);
  }

  // The lowest id of the tets in which every weight of `point` is at least `-tolerance`.
  std::optional<uint32_t> FindContaining(const Vec3d& point, double tolerance) const {
    const double margin = tolerance * Length(nodes_[0].upper - nodes_[0].lower);
    std::optional<uint32_t> found;
    std::vector<uint32_t> stack = {0};
    while (!stack.empty()) {
      const uint32_t index = stack.back();
      stack.pop_back();
      const Node& node = nodes_[index];
      if (!BoxContains(point, node.lower, node.upper, margin)) continue;
      if (node.num_tets == 0) {
        stack.push_back(node.first);
        stack.push_back(index + 1);
        continue;
      }
      for (uint32_t i = node.first; i < node.first + node.num_tets; ++i) {
        const uint32_t id = tets_[i];
        if (found.has_value() && *found <= id) continue;
        const auto weights = BarycentricWeights(point, CornersOf(mesh_, id));
        if (*std::min_element(weights.begin(), weights.end()) >= -tolerance) found = id;
      }
    }
    return found;
  }

  // The nearest tet; the lowest id of equally near ones.
  uint32_t FindNearest(const Vec3d& point) const {
    uint32_t best = tets_[0];
    double best_squared = SquaredDistance(point, CornersOf(mesh_, best));
    std::vector<uint32_t> stack = {0};
    while (!stack.empty()) {
      const uint32_t index = stack.back();
      stack.pop_back();
      const Node& node = nodes_[index];
      if (BoxDistance(point, node.lower, node.upper) > best_squared) continue;
      if (node.num_tets == 0) {
        // Visits the nearer child first, so that it prunes more of the other.
        const uint32_t left = index + 1;
        const uint32_t right = node.first;
        const double to_left = BoxDistance(point, nodes_[left].lower, nodes_[left].upper);
        const double to_right = BoxDistance(point, nodes_[right].lower, nodes_[right].upper);
        stack.push_back(to_left <= to_right ? right : left);
        stack.push_back(to_left <= to_right ? left : right);
        continue;
      }
      for (uint32_t i = node.first; i < node.first + node.num_tets; ++i) {
        const double squared = SquaredDistance(point, CornersOf(mesh_, tets_[i]));
        if (squared > best_squared || (squared == best_squared && tets_[i] >= best)) continue;
        best = tets_[i];
        best_squared = squared;
      }
    }
    return best;
  }

 private:
  struct Node {
    Vec3d lower;  // box [m]
    Vec3d upper;
    uint32_t first = 0;     // leaf: into tets_; inner node: second child
    uint32_t num_tets = 0;  // 0 for an inner node
  };

  Node MakeBox(uint32_t first, uint32_t last) const {
    Node node;
    node.lower = node.upper = CornersOf(mesh_, tets_[first])[0];
    for (uint32_t i = first; i < last; ++i) {
      for (const Vec3d& corner : CornersOf(mesh_, tets_[i])) {
        node.lower = Min(node.lower, corner);
        node.upper = Max(node.upper, corner);
      }
    }
    return node;
  }

  // Splits at the median along the longest axis, so that the depth is logarithmic for any mesh.
  void Build(uint32_t first, uint32_t last, const std::vector<Vec3d>& centres) {
    const size_t index = nodes_.size();
    nodes_.push_back(MakeBox(first, last));
    if (last - first <= kLeafTets) {
      nodes_[index].first = first;
      nodes_[index].num_tets = last - first;
      return;
    }
    const Vec3d size = nodes_[index].upper - nodes_[index].lower;
    const int axis = size.x >= size.y && size.x >= size.z ? 0 : (size.y >= size.z ? 1 : 2);
    const uint32_t middle = first + (last - first) / 2;
    std::nth_element(tets_.begin() + first, tets_.begin() + middle, tets_.begin() + last,
                     [&](uint32_t a, uint32_t b) {
                       const double ca = centres[a][axis];
                       const double cb = centres[b][axis];
                       return ca < cb || (ca == cb && a < b);
                     });
    Build(first, middle, centres);
    nodes_[index].first = static_cast<uint32_t>(nodes_.size());
    Build(middle, last, centres);
  }

  const TetMesh& mesh_;
  std::vector<Node> nodes_;     // depth first
  std::vector<uint32_t> tets_;  // tet ids in leaf order
};

// Weights down to -1e-12 count as inside, so that rounding leaves no gap between tets at a shared
// face.
constexpr double kInsideTolerance = 1e-12;

// Rounds to float. The largest weight becomes 1 minus the others, so that the sum stays 1 to half
// an ulp even for bodies far from the origin.
Vec4 RoundWeights(std::array<double, 4> weights) {
  double& largest = *std::max_element(weights.begin(), weights.end());
  largest = 0.0;
  double others = 0.0;
  for (const double weight : weights) others += RoundToFloat(weight);
  largest = 1.0 - others;
  return {static_cast<float>(weights[0]), static_cast<float>(weights[1]),
          static_cast<float>(weights[2]), static_cast<float>(weights[3])};
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
      const TetCorners corners = CornersOf(mesh, out.tet_ids[i]);
      std::array<double, 4> weights = BarycentricWeights(points[i], corners);
      if (containing.has_value()) {
        for (double& weight : weights) weight = std::clamp(weight, 0.0, 1.0);
      } else {
        distances[i] = std::sqrt(SquaredDistance(points[i], corners));
      }
      out.weights[i] = RoundWeights(weights);
      const Vec4& w = out.weights[i];
      errors[i] = Length(corners[0] * w.x + corners[1] * w.y + corners[2] * w.z + corners[3] * w.w -
                         points[i]);
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

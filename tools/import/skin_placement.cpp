// SPDX-License-Identifier: MIT
// Places skinned meshes in bind pose, and collects their joints.
// Based on:
// Khronos Group. glTF 2.0 Specification, 3.7.3. 2021
// Nicholas Higham. Computing the Polar Decomposition with Applications. 1986
#include "import/skin_placement.h"

#include "mesh/box3.h"

#include <Eigen/Geometry>

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <utility>

namespace plush::tools {
namespace {

// Transforms are taken as equal if no vertex of the mesh differs by more; a share of its diagonal.
// Text formats give matrices to six digits.
constexpr double kSamePlace = 1e-4;

// Joints farther from the origin have no place in a file [m].
constexpr double kFarthest = 1e30;

// Each step halves the logarithm of the condition number; later, it doubles the correct digits.
constexpr int kMaxPolarSteps = 100;

bool SamePlace(const AffineTransform& a, const AffineTransform& b, const Box3& box) {
  if (box.empty()) return true;
  Box3 placed;
  double apart = 0.0;
  for (int corner = 0; corner < 8; ++corner) {
    Vec3d p = box.low;
    for (int axis = 0; axis < 3; ++axis) {
      if ((corner >> axis & 1) != 0) p[axis] = box.high[axis];
    }
    placed.Add(b.Point(p));
    apart = std::max(apart, Length(a.Point(p) - b.Point(p)));
  }
  return apart <= kSamePlace * Length(placed.Extent());
}

// The unit quaternion of the rotation matrix with these rows.
Quat ToQuaternion(const std::array<Vec3d, 3>& r) {
  Eigen::Matrix3d matrix;
  matrix << r[0].x, r[0].y, r[0].z, r[1].x, r[1].y, r[1].z, r[2].x, r[2].y, r[2].z;
  const Eigen::Vector4d q = Eigen::Quaterniond(matrix).normalized().coeffs();
  const Eigen::Vector4f rounded = (q[3] < 0.0 ? -q : q).cast<float>();
  return {rounded[0], rounded[1], rounded[2], rounded[3]};
}

// The weights of each vertex as one.
void MergeWeights(std::vector<JointWeight>* weights) {
  std::stable_sort(weights->begin(), weights->end(),
                   [](const JointWeight& a, const JointWeight& b) { return a.vertex < b.vertex; });
  std::vector<JointWeight> merged;
  for (const JointWeight& next : *weights) {
    if (merged.empty() || merged.back().vertex != next.vertex) {
      merged.push_back(next);
    } else {
      merged.back().weight = std::min(1.0f, merged.back().weight + next.weight);
    }
  }
  *weights = std::move(merged);
}

}  // namespace

std::optional<Quat> NearestRotation(const AffineTransform& transform) {
  AffineTransform q = transform;
  const double size = std::sqrt(
      (LengthSquared(q.rows[0]) + LengthSquared(q.rows[1]) + LengthSquared(q.rows[2])) / 3.0);
  const double sign = transform.Determinant() < 0.0 ? -1.0 : 1.0;
  for (Vec3d& row : q.rows) row = row / (sign * size);
  for (int step = 0; step < kMaxPolarSteps; ++step) {
    // The mean with the inverse transpose.
    const std::array<Vec3d, 3> cofactors = q.Cofactors();
    const double determinant = q.Determinant();
    double change = 0.0;
    for (size_t i = 0; i < 3; ++i) {
      const Vec3d next = 0.5 * (q.rows[i] + cofactors[i] / determinant);
      if (!IsFinite(next)) return std::nullopt;
      change = std::max(change, Length(next - q.rows[i]));
      q.rows[i] = next;
    }
    if (change < 1e-14) return ToQuaternion(q.rows);
  }
  return std::nullopt;
}

SkinPlacement::SkinPlacement(const RawScene& scene, std::span<const AffineTransform> to_world,
                             const AffineTransform& root)
    : scene_(scene), to_world_(to_world), root_(root), joint_of_node_(scene.nodes.size(), -1) {}

AffineTransform SkinPlacement::Place(const RawMesh& mesh, const AffineTransform& node) {
  // Nodes come after their parents, so the lowest number is that of the highest joint.
  uint32_t highest = UINT32_MAX;
  AffineTransform place;
  std::vector<AffineTransform> places;
  for (const RawJoint& joint : mesh.joints) {
    places.push_back(
        to_world_[joint.node].After(AffineTransform::FromRowMajor(joint.inverse_bind)));
    if (!places.back().Inverse()) {
      places.pop_back();
    } else if (joint.node < highest) {
      highest = joint.node;
      place = places.back();
    }
  }
  if (places.empty()) return node;
  Box3 box;
  for (const Vec3& p : mesh.positions) {
    if (IsFinite(ToDouble(p))) box.Add(ToDouble(p));
  }
  const bool agree = std::all_of(places.begin(), places.end(), [&](const AffineTransform& other) {
    return SamePlace(other, place, box);
  });
  if (!agree && scene_.format != "glTF2") place = node;
  if (SamePlace(place, root_, box)) place = root_;
  if (SamePlace(place, node, box)) place = node;
  for (const RawJoint& joint : mesh.joints) {
    const auto bind = AffineTransform::FromRowMajor(joint.inverse_bind).Inverse();
    if (bind) AddJoint(joint.node, place.After(*bind));
  }
  return place;
}

// A joint of several skins has the bind pose of the first one.
void SkinPlacement::AddJoint(uint32_t node, const AffineTransform& bind) {
  if (joint_of_node_[node] >= 0) return;
  const std::optional<Quat> rotation = NearestRotation(bind);
  if (!rotation || !(Length(bind.translation) < kFarthest)) return;
  joint_of_node_[node] = static_cast<int32_t>(joints_.size());
  SurfaceJoint& joint = joints_.emplace_back();
  joint.name = scene_.nodes[node].name;
  if (joint.name.empty()) joint.name = "nodes[" + std::to_string(node) + "]";
  joint.position = bind.translation;
  joint.rotation = *rotation;
}

void SkinPlacement::AddWeights(const RawMesh& mesh, std::span<const uint32_t> new_index) {
  std::vector<double> sums(mesh.weights.empty() ? 0 : mesh.positions.size(), 0.0);
  for (const RawWeight& weight : mesh.weights) {
    sums[weight.vertex] += static_cast<double>(weight.weight);
  }
  for (const RawWeight& weight : mesh.weights) {
    const int32_t joint = joint_of_node_[mesh.joints[weight.joint].node];
    const uint32_t vertex = new_index[weight.vertex];
    const auto share = static_cast<float>(static_cast<double>(weight.weight) / sums[weight.vertex]);
    if (joint < 0 || vertex == UINT32_MAX || !(share > 0.0f)) continue;
    joints_[static_cast<size_t>(joint)].weights.push_back({vertex, share});
  }
}

std::vector<SurfaceJoint> SkinPlacement::Finish() {
  std::vector<SurfaceJoint> ordered;
  ordered.reserve(joints_.size());
  // For each node the nearest joint at it or above it, numbered as in `ordered`.
  std::vector<int32_t> nearest(scene_.nodes.size(), -1);
  for (size_t node = 0; node < scene_.nodes.size(); ++node) {
    const int32_t parent = scene_.nodes[node].parent;
    if (parent >= 0) nearest[node] = nearest[static_cast<size_t>(parent)];
    const int32_t number = joint_of_node_[node];
    if (number < 0) continue;
    SurfaceJoint& joint = joints_[static_cast<size_t>(number)];
    joint.parent = nearest[node];
    MergeWeights(&joint.weights);
    nearest[node] = static_cast<int32_t>(ordered.size());
    ordered.push_back(std::move(joint));
  }
  return ordered;
}

}  // namespace plush::tools

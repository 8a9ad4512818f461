// SPDX-License-Identifier: MIT
// Places skinned meshes in bind pose, and collects their joints.
// Based on:
// Khronos Group. glTF 2.0 Specification, 3.7.3. 2021
// Nicholas Higham. Computing the Polar Decomposition with Applications. 1986
#include "import/skin_placement.h"

#include "mesh/box3.h"

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

// Each step halves the logarithm of the condition number, later the number of correct digits
// doubles.
constexpr int kMaxPolarSteps = 100;

Box3 BoxOf(const RawMesh& mesh) {
  Box3 box;
  for (const Vec3& p : mesh.positions) {
    if (IsFinite(ToDouble(p))) box.Add(ToDouble(p));
  }
  return box;
}

bool SamePlace(const AffineTransform& a, const AffineTransform& b, const Box3& box) {
  if (box.empty()) return true;
  Box3 placed;
  double apart = 0.0;
  for (int corner = 0; corner < 8; ++corner) {
    const Vec3d p = {(corner & 1) != 0 ? box.high.x : box.low.x,
                     (corner & 2) != 0 ? box.high.y : box.low.y,
                     (corner & 4) != 0 ? box.high.z : box.low.z};
    placed.Add(b.Point(p));
    apart = std::max(apart, Length(a.Point(p) - b.Point(p)));
  }
  return apart <= kSamePlace * Length(placed.Extent());
}

// The unit quaternion of the rotation matrix with these rows.
Quat ToQuaternion(const std::array<Vec3d, 3>& r) {
  const double xx = r[0].x;
  const double yy = r[1].y;
  const double zz = r[2].z;
  // Each row has the products of all components with one of them, times four.
  const std::array<std::array<double, 4>, 4> products = {
      {{1.0 + xx - yy - zz, r[0].y + r[1].x, r[0].z + r[2].x, r[2].y - r[1].z},
       {r[0].y + r[1].x, 1.0 - xx + yy - zz, r[1].z + r[2].y, r[0].z - r[2].x},
       {r[0].z + r[2].x, r[1].z + r[2].y, 1.0 - xx - yy + zz, r[1].x - r[0].y},
       {r[2].y - r[1].z, r[0].z - r[2].x, r[1].x - r[0].y, 1.0 + xx + yy + zz}}};
  size_t largest = 3;
  for (size_t i = 0; i < 3; ++i) {
    if (products[i][i] > products[largest][largest]) largest = i;
  }
  std::array<double, 4> q = products[largest];
  const double length = std::sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
  for (double& component : q) component /= q[3] < 0.0 ? -length : length;
  return {static_cast<float>(q[0]), static_cast<float>(q[1]), static_cast<float>(q[2]),
          static_cast<float>(q[3])};
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
  std::array<Vec3d, 3> q = transform.rows;
  const double size =
      std::sqrt((LengthSquared(q[0]) + LengthSquared(q[1]) + LengthSquared(q[2])) / 3.0);
  const double sign = transform.Determinant() < 0.0 ? -1.0 : 1.0;
  for (Vec3d& row : q) row = row / (sign * size);
  for (int step = 0; step < kMaxPolarSteps; ++step) {
    // The mean with the inverse transpose, which is the matrix of cofactors by the determinant.
    const std::array<Vec3d, 3> cofactors = {Cross(q[1], q[2]), Cross(q[2], q[0]),
                                            Cross(q[0], q[1])};
    const double determinant = Dot(q[0], cofactors[0]);
    double change = 0.0;
    for (size_t i = 0; i < 3; ++i) {
      const Vec3d next = 0.5 * (q[i] + cofactors[i] / determinant);
      if (!IsFinite(next)) return std::nullopt;
      change = std::max(change, Length(next - q[i]));
      q[i] = next;
    }
    if (change < 1e-14) return ToQuaternion(q);
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
    const AffineTransform bound =
        to_world_[joint.node].After(AffineTransform::FromRowMajor(joint.inverse_bind));
    if (!bound.Inverse()) continue;
    places.push_back(bound);
    if (highest <= joint.node) continue;
    highest = joint.node;
    place = bound;
  }
  if (places.empty()) return node;
  const Box3 box = BoxOf(mesh);
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

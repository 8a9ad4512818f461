// SPDX-License-Identifier: MIT
#include "bench/swinging_arm.h"

#include "mesh/tet_mesh.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdlib>
#include <numeric>
#include <queue>
#include <unordered_map>
#include <utility>
#include <vector>

namespace plush::bench {
namespace {

using tools::TetMesh;
using tools::Vec3d;

class EdgeHalver {
 public:
  explicit EdgeHalver(TetMesh* mesh) : mesh_(mesh) {
    for (uint32_t t = 0; t < mesh_->tets.size(); ++t) Enter(t);
  }

  void HalveLongest() {
    // The queue still holds edges that are gone.
    while (TetsAt(longest_.top().second).empty()) longest_.pop();
    const uint64_t edge = longest_.top().second;
    const uint32_t a = static_cast<uint32_t>(edge >> 32), b = static_cast<uint32_t>(edge);
    const uint32_t middle = static_cast<uint32_t>(mesh_->nodes.size());
    mesh_->nodes.push_back((mesh_->nodes[a] + mesh_->nodes[b]) * 0.5);
    const std::vector<uint32_t> tets = TetsAt(edge);
    for (const uint32_t t : tets) {
      Leave(t);
      std::array<uint32_t, 4> other = mesh_->tets[t];
      std::replace(other.begin(), other.end(), a, middle);
      std::replace(mesh_->tets[t].begin(), mesh_->tets[t].end(), b, middle);
      mesh_->tets.push_back(other);
      Enter(t);
      Enter(static_cast<uint32_t>(mesh_->tets.size() - 1));
    }
  }

 private:
  static uint64_t EdgeOf(uint32_t a, uint32_t b) {
    return uint64_t{std::min(a, b)} << 32 | std::max(a, b);
  }

  std::vector<uint32_t>& TetsAt(uint64_t edge) { return tets_at_[edge]; }

  template <typename Visit>
  void ForEdges(uint32_t t, const Visit& visit) const {
    const std::array<uint32_t, 4>& ids = mesh_->tets[t];
    for (size_t i = 0; i < 4; ++i) {
      for (size_t j = 0; j < i; ++j) visit(ids[i], ids[j]);
    }
  }

  void Enter(uint32_t t) {
    ForEdges(t, [&](uint32_t a, uint32_t b) {
      std::vector<uint32_t>& tets = TetsAt(EdgeOf(a, b));
      if (tets.empty()) {
        const Vec3d along = mesh_->nodes[b] - mesh_->nodes[a];
        longest_.emplace(Dot(along, along), EdgeOf(a, b));
      }
      tets.push_back(t);
    });
  }

  void Leave(uint32_t t) {
    ForEdges(t, [&](uint32_t a, uint32_t b) { std::erase(TetsAt(EdgeOf(a, b)), t); });
  }

  TetMesh* mesh_;
  std::unordered_map<uint64_t, std::vector<uint32_t>> tets_at_;
  std::priority_queue<std::pair<double, uint64_t>> longest_;  // squared length, edge
};

// Halves the longest edge of `mesh` until it has `least_tets` tets or a few more. Every tet at
// that edge becomes two, which keeps the mesh conforming and evens out tet sizes. (Splitting each
// tet into eight would miss most target numbers.) Nodes of `mesh` keep their numbers; new ones at
// edge middles follow. O(n log n).
TetMesh RefinedTo(size_t least_tets, TetMesh mesh) {
  EdgeHalver halver(&mesh);
  while (mesh.tets.size() < least_tets) halver.HalveLongest();
  return mesh;
}

constexpr double kPinRadius = 0.02;  // [m]

double DistanceTo(const tools::Vec3d& hand, const Vec3& node) {
  return Length(tools::Vec3d{node.x, node.y, node.z} - hand);
}

// The node farthest from the vertical axis through the nodes' mean.
tools::Vec3d FarthestFromAxis(std::span<const Vec3> nodes) {
  tools::Vec3d mean = {};
  for (const Vec3& x : nodes) {
    mean = mean + tools::Vec3d{x.x, x.y, x.z} / static_cast<double>(nodes.size());
  }
  tools::Vec3d farthest = mean;
  double most = -1.0;
  for (const Vec3& x : nodes) {
    const double away = std::hypot(double{x.x} - mean.x, double{x.z} - mean.z);
    if (away <= most) continue;
    most = away;
    farthest = {x.x, x.y, x.z};
  }
  return farthest;
}

}  // namespace

SwingingArm MakeArm(const std::string& path, const Arm& which) {
  tools::ImportedModel model = ImportOrExit(path, 0.1);
  if (which.least_tets > 0) {
    model = tools::ModelFromTets(RefinedTo(which.least_tets, std::move(model.tets)));
  }
  tools::BakeSettings settings = {.material = {which.young, 0.33, 1000.0}};
  SwingingArm arm = {.bytes = std::make_unique<AlignedBytes>(BakeOrExit(model, settings))};
  if (!arm.asset.Open(arm.bytes->bytes()).ok()) std::abort();  // a bake of ours always opens
  arm.hand = model.tets.nodes.at(which.pinned_node);
  const auto nodes = arm.asset.simulation().nodes;
  for (uint32_t i = 0; i < nodes.size(); ++i) {
    if (DistanceTo(arm.hand, nodes[i]) <= kPinRadius) arm.pinned.push_back(i);
  }
  return arm;
}

SwingingArm MakeToy(const Toy& toy, std::optional<uint32_t> collision_triangles) {
  const tools::ImportedModel model =
      ImportOrExit(std::string(PLUSH_SAMPLES_DIR) + "/models/" + toy.model, 1.0);
  tools::BakeSettings settings = {
      .cage = {.target_tets = toy.tets},
      .material = {.young = toy.young, .poisson = toy.poisson, .damping = toy.damping},
      .simplify = {.triangles = collision_triangles}};
  SwingingArm arm = {.bytes = std::make_unique<AlignedBytes>(BakeOrExit(model, settings))};
  if (!arm.asset.Open(arm.bytes->bytes()).ok()) std::abort();  // a bake of ours always opens
  arm.hand = toy.by_farthest ? FarthestFromAxis(arm.asset.simulation().nodes) : toy.hand;
  arm.PinNearest(8);
  return arm;
}

BodyDesc SwingingArm::Desc() const {
  return BodyDesc{.pose = {.rotation = {0.0f, 1.0f, 0.0f, 0.0f}}, .pinned_nodes = pinned};
}

void SwingingArm::PinNearest(size_t count) {
  const auto nodes = asset.simulation().nodes;
  pinned.resize(nodes.size());
  std::iota(pinned.begin(), pinned.end(), 0u);
  std::stable_sort(pinned.begin(), pinned.end(), [&](uint32_t a, uint32_t b) {
    return DistanceTo(hand, nodes[a]) < DistanceTo(hand, nodes[b]);
  });
  pinned.resize(std::min(count, pinned.size()));
  std::sort(pinned.begin(), pinned.end());
}

WorldDesc SwingingWorld() { return WorldDesc{.sleep = {.speed = 0.0f}}; }

double Median(std::vector<double> numbers) {
  if (numbers.empty()) return 0.0;
  const auto middle = numbers.begin() + static_cast<std::ptrdiff_t>(numbers.size() / 2);
  std::nth_element(numbers.begin(), middle, numbers.end());
  return *middle;
}

}  // namespace plush::bench

// SPDX-License-Identifier: MIT
#include "bench/swinging_arm.h"

#include "bench/tet_refinement.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <numeric>
#include <utility>

namespace plush::bench {
namespace {

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

// SPDX-License-Identifier: MIT
// Hangs a baked body by a region that its artist painted, pushes it and lets it swing.

#include "plush/plush.h"

#include <cstdio>
#include <span>
#include <vector>

namespace {

constexpr float kTimeStep = 0.01f;  // [s]
constexpr int kSteps = 200;

/// Centre of mass of a body [m].
plush::Vec3 Centre(const plush::World& world, plush::BodyId body) {
  plush::BodyMoments moments;
  if (!world.Moments(body, &moments).ok()) return {};
  return {static_cast<float>(moments.centre[0]), static_cast<float>(moments.centre[1]),
          static_cast<float>(moments.centre[2])};
}

/// Whether every pinned node still has its rest position.
bool PinsHold(const plush::World& world, plush::BodyId body, const plush::Asset& asset,
              std::span<const uint32_t> pins) {
  std::vector<plush::Vec3> nodes(asset.cage().nodes.size());
  if (!world.NodePositions(body, 1.0f, nodes).ok()) return false;
  for (const uint32_t node : pins) {
    const plush::Vec3& rest = asset.cage().nodes[node];
    const plush::Vec3& now = nodes[node];
    if (now.x != rest.x || now.y != rest.y || now.z != rest.z) return false;
  }
  return true;
}

/// Swings the asset from `region`. Returns whether it moved while its pins held.
bool Swing(const plush::Asset& asset, std::span<const uint32_t> region) {
  plush::World world;
  // The initial velocity applies to all nodes except the pinned ones.
  plush::BodyId body;
  const plush::BodyDesc desc = {.velocity = {1.0f, 0.0f, 0.0f}, .pinned_nodes = region};
  if (!world.AddBody(asset, desc, &body).ok()) return false;
  const plush::Vec3 start = Centre(world, body);
  float farthest = 0.0f;
  for (int step = 1; step <= kSteps; ++step) {
    if (!world.Step(kTimeStep).ok()) return false;
    const plush::Vec3 centre = Centre(world, body);
    farthest = centre.x - start.x > farthest ? centre.x - start.x : farthest;
    if (step % 20 == 0) {
      std::printf("%4.2f s: centre of mass at x = %+.4f m, y = %.4f m\n",
                  static_cast<double>(kTimeStep) * step, static_cast<double>(centre.x),
                  static_cast<double>(centre.y));
    }
  }
  return farthest > 0.0f && PinsHold(world, body, asset, region);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: pin_swing FILE.plush REGION\n");
    return 1;
  }
  plush::Asset asset;
  const plush::Status opened = asset.Open(argv[1]);
  if (!opened.ok()) {
    std::fprintf(stderr, "pin_swing: %s: %s %s\n", plush::StatusCodeName(opened.code),
                 opened.section, opened.reason);
    return 2;
  }
  uint32_t index = 0;
  if (!plush::FindRegion(asset, argv[2], &index).ok()) {
    std::fprintf(stderr, "pin_swing: no region '%s'; this file has:", argv[2]);
    for (uint32_t i = 0; i < asset.num_regions(); ++i) {
      const plush::RegionView view = asset.region(i);
      std::fprintf(stderr, " %.*s", static_cast<int>(view.name.size()), view.name.data());
    }
    std::fprintf(stderr, "\n");
    return 2;
  }
  const std::span<const uint32_t> region = asset.region(index).nodes;
  std::printf("%zu of %zu nodes are pinned\n", region.size(), asset.cage().nodes.size());
  return Swing(asset, region) ? 0 : 3;
}

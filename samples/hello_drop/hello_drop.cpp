// SPDX-License-Identifier: MIT
// The smallest game loop: open a baked body, drop it, step, skin.

#include "plush/plush.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <span>
#include <vector>

namespace {

/// Prints why a call failed. Returns whether it succeeded.
bool Succeeded(const plush::Status& status) {
  if (!status.ok()) {
    std::fprintf(stderr, "hello_drop: %s: %s %s\n", plush::StatusCodeName(status.code),
                 status.section, status.reason);
  }
  return status.ok();
}

/// Replaces drawing: prints the heights of the body twice a second.
void Draw(int frame, std::span<const plush::Vec3> positions, std::span<const plush::Vec3>) {
  if (frame % 50 != 0 && frame != 299) return;
  const auto [lowest, highest] =
      std::minmax_element(positions.begin(), positions.end(),
                          [](const plush::Vec3& a, const plush::Vec3& b) { return a.y < b.y; });
  std::printf("%4.2f s: %zu vertices between y = %.4f m and y = %.4f m\n", 0.01 * (frame + 1),
              positions.size(), lowest->y, highest->y);
}

/// Drops the asset at `path` on the ground. Returns whether every call succeeded.
bool Drop(const char* path) {
  // [readme]
  plush::Asset asset;  // a view of the file: maps it and checks every byte that matters
  if (!Succeeded(asset.Open(path))) return false;

  plush::World world({.gravity = {0, -9.81f, 0}});
  plush::ColliderId ground;
  if (!Succeeded(world.AddCollider({.plane = {.normal = {0, 1, 0}}}, &ground))) return false;
  plush::BodyId body;
  if (!Succeeded(world.AddBody(asset, {.pose = {.position = {0, 0.2f, 0}}}, &body))) return false;

  std::vector<plush::Vec3> positions(asset.visual().positions.size());
  std::vector<plush::Vec3> normals(positions.size());
  const plush::SkinTarget target = {.positions = positions.data(),
                                    .normals = normals.data(),
                                    .num_vertices = static_cast<uint32_t>(positions.size())};
  for (int frame = 0; frame < 300; ++frame) {
    if (!Succeeded(world.Step(0.01f))) return false;  // no heap use after the first
    if (!Succeeded(world.Skin(body, 1.0f, target))) return false;
    Draw(frame, positions, normals);
  }
  // [/readme]
  const plush::StepStats& stats = world.stats();
  std::printf("at the end: %.4f m/s at most, %u nodes on the ground, state %016llx\n",
              static_cast<double>(stats.max_speed), stats.contacts,
              static_cast<unsigned long long>(world.StateHash()));
  return std::isfinite(stats.max_speed) && (stats.flags & plush::kStepBodyFrozen) == 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: hello_drop FILE.plush\n");
    return 1;
  }
  return Drop(argv[1]) ? 0 : 2;
}

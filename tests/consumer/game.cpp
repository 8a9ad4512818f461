// SPDX-License-Identifier: MIT
// Drops each asset named on the command line on the ground and reports whether it came to rest
// there. The cage touches the ground; the surface inside it may stay above.

#include <plush/plush.h>

#include <cmath>
#include <cstdio>
#include <vector>

namespace {

// Prints what happened; true if the body fell, stayed finite and did not sink into the ground.
bool Drop(const char* path) {
  plush::Asset asset;
  const plush::Status opened = asset.Open(path);
  if (!opened.ok()) {
    std::printf("%s: %s: %s\n", path, opened.section, opened.reason);
    return false;
  }
  plush::World world;
  plush::ColliderId ground;
  if (!world.AddCollider({}, &ground).ok()) return false;
  plush::BodyId id;
  if (!world.AddBody(asset, {.pose = {.position = {0.0f, 1.5f, 0.0f}}}, &id).ok()) return false;
  std::vector<plush::Vec3> surface(asset.visual().positions.size());
  const plush::SkinTarget target = {.positions = surface.data(),
                                    .num_vertices = static_cast<uint32_t>(surface.size())};
  if (surface.empty() || !world.Skin(id, 1.0f, target).ok()) return false;
  const float start = surface[0].y;
  for (int i = 0; i < 100; ++i) {
    if (!world.Step(0.01f).ok()) return false;
  }
  if (!world.Skin(id, 1.0f, target).ok()) return false;
  float lowest = HUGE_VALF;
  for (const plush::Vec3& p : surface) lowest = std::fmin(lowest, p.y);
  const float fallen = start - surface[0].y;
  std::printf("%s: fell %.3f m, lowest at %.5f m, state %016llx\n", path,
              static_cast<double>(fallen), static_cast<double>(lowest),
              static_cast<unsigned long long>(world.StateHash()));
  return fallen > 0.3f && std::fabs(lowest) < 0.01f;
}

}  // namespace

int main(int argc, char** argv) {
  bool ok = argc > 1;
  for (int i = 1; i < argc; ++i) ok = Drop(argv[i]) && ok;
  return ok ? 0 : 1;
}

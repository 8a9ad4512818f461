// SPDX-License-Identifier: MIT
#include "runtime/crowds/crowd_scene.h"

#include "base/vector_math.h"

#include <catch2/catch.hpp>

#include <algorithm>

namespace plush::test {

BodyId Member::AddTo(World* world, const Asset& asset, const SplittingSettings& splitting) const {
  BodyDesc desc = {.pose = pose,
                   .velocity = velocity,
                   .angular_velocity = angular_velocity,
                   .splitting = splitting};
  desc.pinned_nodes = pins;
  const BodyId id = AddBody(world, asset, desc);
  if (wobble.empty()) return id;
  std::vector<Vec3> v = VelocitiesOf(*world, id, wobble.size());
  for (size_t i = 0; i < v.size(); ++i) v[i] += wobble[i];
  REQUIRE(world->SetNodeVelocities(id, v).ok());
  return id;
}

Member RandomMember(const ShapeAsset& shape, const Vec3& position, double speed, Random* random) {
  return Member{.pose = {position, ToQuat(random->Rotation())},
                .velocity = ToVec3(random->Vector(speed)),
                .angular_velocity = ToVec3(random->Vector(5.0 * speed)),
                .wobble = ToVec3s(random->Vectors(shape.num_nodes(), speed))};
}

std::vector<uint32_t> RandomPins(size_t num_nodes, size_t count, Random* random) {
  std::vector<uint32_t> pins;
  while (pins.size() < count) {
    const uint32_t node = random->Below(static_cast<uint32_t>(num_nodes));
    if (std::find(pins.begin(), pins.end(), node) == pins.end()) pins.push_back(node);
  }
  std::sort(pins.begin(), pins.end());
  return pins;
}

ShapeAsset CrowdBox(uint32_t seed) {
  return ShapeAsset::Baked(
      TetBox(4, 2, 2, 0.1, 0.09, seed), {1.0e5, 0.4, 1000.0}, 0.01,
      R"({"regions": [{"name": "low", "box": [[-1, -1, -1], [1, 1, 0.05]]}]})");
}

bool HadCrowds(const World& world) {
  return world.stats().phase_s[static_cast<size_t>(Phase::kSolve)] > 0.0f;
}

int DrawnContacts(const World& world) {
  int count = 0;
  DebugDraw draw = {.user = &count};
  draw.point = [](void* user, const Vec3&, float, uint32_t) { ++*static_cast<int*>(user); };
  draw.flags = kDrawContacts;
  world.Draw(draw);
  return count;
}

std::vector<float> StateOf(const World& world, BodyId id, size_t num_nodes) {
  std::vector<float> out;
  for (const std::vector<Vec3>& vectors :
       {PositionsOf(world, id, num_nodes), VelocitiesOf(world, id, num_nodes)}) {
    for (const Vec3& v : vectors) out.insert(out.end(), {v.x, v.y, v.z});
  }
  return out;
}

}  // namespace plush::test

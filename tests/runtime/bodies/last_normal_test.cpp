// SPDX-License-Identifier: MIT
// Volumes whose curves enclose no area keep the normals of the nearest contacts of the step before.
#include "runtime/bodies/saved_contacts.h"
#include "runtime/bodies/touching_cubes.h"

#include <catch2/catch.hpp>

#include <array>
#include <vector>

using namespace plush;
using namespace plush::test;

namespace last_normal_test {

// A fixed channel with two limbs, and a cube between them that reaches a little into both. The
// channel then becomes a sheet without thickness across the cube. It cuts the cube's sides in
// curves without area, so only the step before knows which way out leads.
struct Channel {
  static constexpr float kCell = 0.1f, kDepth = 0.002f, kSheet = 0.093f;
  static constexpr float kScale = 0.5f + kDepth / kCell;  // of the cube, whose edge is two cells

  explicit Channel(bool channel_first) : is_first(channel_first), world(DescOf()) {
    for (const bool adds_channel : {channel_first, !channel_first}) {
      BodyDesc desc = {.material = {.young = 1.0e6f}};
      if (adds_channel) {
        desc.fixed = true;
        channel = AddBody(&world, limbs.asset(), desc);
      } else {
        desc.scale = kScale;
        desc.pose.position = {kCell - kDepth, 1.5f * kCell, 0.5f * kCell};
        cube = AddBody(&world, solid.asset(), desc);
      }
    }
  }
  static WorldDesc DescOf() {
    WorldDesc desc = TouchingCubes::Awake();
    desc.gravity = {};
    return desc;
  }
  static ShapeAsset Limbs() {
    tools::TetMesh mesh = TetBox(3, 3, 2, double(kCell));
    std::erase_if(mesh.tets, [&](const auto& tet) {
      double x = 0.0, y = 0.0;
      for (const uint32_t node : tet) x += mesh.nodes[node].x / 4.0, y += mesh.nodes[node].y / 4.0;
      return x > 0.1 && x < 0.2 && y > 0.1;
    });
    return ShapeAsset(SurfaceBytes(mesh, {.parts = 2, .depth = 0.0, .num_shells = 0}));
  }
  // How many contacts the cube has with either limb. All of them must push it off the limb.
  std::array<size_t, 2> RequireOffLimbs() const {
    const SavedPair saved = SavedPairOf(world);
    const std::vector<Vec3> x = PositionsOf(world, channel, limbs.num_nodes());
    std::array<size_t, 2> count = {};
    for (const StateBodyContact& contact : saved.contacts) {
      const size_t side = is_first ? 0 : 1;
      const Eigen::Vector3d at = PointOf(contact, side, limbs.asset().collision(), x);
      const size_t limb = at.x() < 1.5 * double(kCell) ? 0 : 1;
      // Normals point out of the second body.
      const double off = (limb == 0 ? 1.0 : -1.0) * (is_first ? -1.0 : 1.0);
      CAPTURE(limb, at.x(), at.y(), at.z(), contact.normal[0], contact.normal[1]);
      CHECK(double(contact.normal[0]) * off > 0.999);
      ++count[limb];
    }
    return count;
  }

  ShapeAsset limbs = Limbs();
  ShapeAsset solid{
      SurfaceBytes(TetBox(2, 2, 2, double(kCell)), {.parts = 2, .depth = 0.0, .num_shells = 0})};
  bool is_first;
  World world;
  BodyId channel, cube;
};

TEST_CASE("A volume without area keeps the normal of the nearest contact of the step before") {
  const bool channel_first = GENERATE(false, true);
  CAPTURE(channel_first);
  Channel scene(channel_first);
  World& world = scene.world;
  const std::vector<Vec3> start = PositionsOf(world, scene.cube, scene.solid.num_nodes());
  StepWorld(&world, 0.01f);
  const std::array<size_t, 2> before = scene.RequireOffLimbs();
  REQUIRE(before[0] >= 3);
  REQUIRE(before[1] >= 3);
  std::vector<Vec3> sheet = PositionsOf(world, scene.channel, scene.limbs.num_nodes());
  for (Vec3& x : sheet) x.z = Channel::kSheet;
  REQUIRE(world.SetNodePositions(scene.channel, sheet).ok());
  REQUIRE(world.SetNodePositions(scene.cube, start).ok());
  REQUIRE(world.SetNodeVelocities(scene.cube, std::vector<Vec3>(start.size())).ok());
  StepWorld(&world, 0.01f);
  REQUIRE(world.stats().pairs_searched == 1);
  const std::array<size_t, 2> after = scene.RequireOffLimbs();
  CHECK(after[0] >= 1);
  CHECK(after[1] >= 1);
}

}  // namespace last_normal_test

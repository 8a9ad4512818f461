// SPDX-License-Identifier: MIT
// Parts of a body that only pinned nodes join: none of them feels another.
#include "runtime/attachments/constraint_scene.h"

#include <catch2/catch.hpp>

#include <cmath>
#include <vector>

using namespace plush;
using namespace plush::test;

namespace pinned_parts_test {

constexpr float kDt = 0.01f;

// A bar of one cluster, whose middle is pinned.
struct PinnedMiddle {
  ShapeAsset shape{TetBox(6, 1, 1, 0.1), {1.0e5, 0.3, 1000.0}, double(kDt), 1};
  std::vector<uint32_t> pins;
  uint32_t tip = 0;

  PinnedMiddle() {
    for (uint32_t i = 0; i < shape.num_nodes(); ++i) {
      const Vec3 at = shape.rest()[i];
      if (std::fabs(at.x - 0.3f) < 0.01f) pins.push_back(i);
      if (at.x > 0.59f) tip = i;
    }
    REQUIRE(pins.size() == 4);
    REQUIRE(shape.simulation().num_clusters == 1);
  }

  bool IsLeft(uint32_t node) const { return shape.rest()[node].x < 0.29f; }

  ConstraintId HoldTip(World* world, BodyId id) const {
    ConstraintDesc desc = {.body = id, .weights = {1.0f, 0.0f, 0.0f, 0.0f}};
    for (uint32_t& node : desc.nodes) node = tip;
    desc.target = shape.rest()[tip];
    return AddConstraint(world, desc);
  }
};

TEST_CASE("A pulled half of a bar does not move the other one behind its pins") {
  const PinnedMiddle bar;
  const bool among_others = GENERATE(false, true), pins_later = GENERATE(false, true);
  const bool held_first = GENERATE(false, true);
  CAPTURE(among_others, pins_later, held_first);
  World world({.gravity = {}});
  if (among_others) {
    for (int i = 0; i < 8; ++i) {
      AddBody(&world, bar.shape.asset(), {.pose = {{10.0f * float(i + 1), 0.0f, 0.0f}}});
    }
  }
  BodyDesc desc;
  if (!pins_later) desc.pinned_nodes = bar.pins;
  const BodyId id = AddBody(&world, bar.shape.asset(), desc);
  ConstraintId held;
  if (held_first) held = bar.HoldTip(&world, id);
  StepWorld(&world, kDt);
  if (pins_later) REQUIRE(world.SetPinnedNodes(id, bar.pins).ok());
  if (!held_first) held = bar.HoldTip(&world, id);
  const Points rest = ToEigen(PositionsOf(world, id, bar.shape.num_nodes()));
  Vec3 target = bar.shape.rest()[bar.tip];
  double moved = 0.0;
  for (int step = 0; step < 40; ++step) {
    target.y += 0.002f;
    REQUIRE(world.MoveConstraint(held, target).ok());
    REQUIRE(StepWorld(&world, kDt) == kStepOk);
    const Points x = ToEigen(PositionsOf(world, id, bar.shape.num_nodes()));
    for (uint32_t i = 0; i < bar.shape.num_nodes(); ++i) {
      if (bar.IsLeft(i)) moved = std::max(moved, (x.col(i) - rest.col(i)).norm());
    }
  }
  const Points x = ToEigen(PositionsOf(world, id, bar.shape.num_nodes()));
  CHECK((x.col(bar.tip) - rest.col(bar.tip)).norm() == Approx(0.08).epsilon(0.01));
  CHECK(moved < 1e-6);
}

}  // namespace pinned_parts_test

// SPDX-License-Identifier: MIT
// Constraints and springs beside pins and other bodies: the balance of momentum, crowds, flat tets.
#include "runtime/attachments/attachment_scene.h"
#include "runtime/attachments/constraint_scene.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <vector>

using namespace plush;
using namespace plush::test;

namespace held_pinned_test {

constexpr float kDt = 0.01f;
const Eigen::Vector3d kGravity(0.0, double(-9.81f), 0.0);

using Kind = ConstraintKind;

Eigen::Vector3d MomentumOf(const World& world, BodyId id) {
  const BodyMoments moments = MomentsOf(world, id);
  return {moments.linear_momentum[0], moments.linear_momentum[1], moments.linear_momentum[2]};
}

std::vector<uint32_t> EndOf(const ShapeAsset& shape) {
  std::vector<uint32_t> pins;
  for (uint32_t i = 0; i < shape.num_nodes(); ++i) {
    if (shape.rest()[i].x < 0.01f) pins.push_back(i);
  }
  return pins;
}

AttachmentId Attach(World* world, const ConstraintDesc& at, float stiffness, float damping,
                    const ConstraintDesc* other = nullptr) {
  AttachmentDesc desc = {.body = at.body, .weights = at.weights};
  std::copy(at.nodes, at.nodes + 4, desc.nodes);
  desc.target = at.target;
  desc.stiffness = stiffness;
  desc.damping = damping;
  if (other != nullptr) {
    desc.other_body = other->body;
    desc.other_weights = other->weights;
    std::copy(other->nodes, other->nodes + 4, desc.other_nodes);
  }
  return test::Attach(world, desc);
}

TEST_CASE("Stiff pinned bodies on constraints or springs step in crowds as alone") {
  const bool is_spring = GENERATE(false, true);
  const double young = GENERATE(1.0e6, 1.0e8);  // the stiffer one makes more iterations
  CAPTURE(is_spring, young);
  const ShapeAsset shape(TetBox(4, 1, 1, 0.1), {young, 0.3, 1000.0}, double(kDt));
  const std::vector<uint32_t> pins = EndOf(shape);
  World crowd, single;
  const auto hold = [&](World* world, BodyId id) {
    const size_t last = shape.simulation().tets.size() - 1;
    ConstraintDesc at = ConstraintAt(shape, id, last, kInside[0], Kind::kPoint);
    at.target.y += 0.02f;
    if (is_spring) {
      Attach(world, at, 1.0e4f, 10.0f);
    } else {
      at.correction = 0.2f;
      AddConstraint(world, at);
    }
  };
  std::vector<BodyId> ids;
  for (int i = 0; i < 16; ++i) {
    ids.push_back(AddBody(&crowd, shape.asset(), {.pinned_nodes = pins}));
    hold(&crowd, ids.back());
  }
  // Bodies that report reactions are in no crowd.
  const BodyId alone =
      AddBody(&single, shape.asset(), {.pinned_nodes = pins, .report_reactions = true});
  hold(&single, alone);
  double apart = 0.0, moved = 0.0;
  for (int step = 0; step < 60; ++step) {
    REQUIRE(StepWorld(&single, kDt) == kStepOk);
    REQUIRE(StepWorld(&crowd, kDt) == kStepOk);
    const Points right = ToEigen(PositionsOf(single, alone, shape.num_nodes()));
    moved = std::max(moved, (right - ToEigen(shape.rest())).cwiseAbs().maxCoeff());
    for (const BodyId id : ids) {
      const Points x = ToEigen(PositionsOf(crowd, id, shape.num_nodes()));
      apart = std::max(apart, (x - right).cwiseAbs().maxCoeff());
    }
  }
  CAPTURE(moved);
  CHECK(moved > (is_spring ? 1e-4 : 1e-2));
  CHECK(apart < 1e-3 * moved);
}

TEST_CASE("A constraint carries a body and another one that hangs on it by a spring") {
  const ShapeAsset shape = Bar();
  World world;
  const BodyId upper = AddBody(&world, shape.asset());
  const BodyId lower = AddBody(&world, shape.asset(), {.pose = {{0.0f, -0.5f, 0.0f}}});
  ConstraintDesc at = ConstraintAt(shape, upper, 0, kInside[0], Kind::kPoint);
  const ConstraintId constraint = AddConstraint(&world, at);
  const size_t last = shape.simulation().tets.size() - 1;
  const ConstraintDesc from = ConstraintAt(shape, lower, 0, kInside[1], Kind::kPoint);
  const ConstraintDesc to = ConstraintAt(shape, upper, last, kInside[2], Kind::kPoint);
  const AttachmentId spring = Attach(&world, from, 200.0f, 1.0f, &to);
  const Vec3 start = at.target;
  const double mass = MomentsOf(world, lower).mass;
  double worst = 0.0, off = 0.0;
  for (int step = 1; step <= 100; ++step) {
    const Eigen::Vector3d above = MomentumOf(world, upper), below = MomentumOf(world, lower);
    at.target.x = start.x + 0.05f * std::sin(0.1f * float(step));
    REQUIRE(world.MoveConstraint(constraint, at.target).ok());
    REQUIRE(StepWorld(&world, kDt) == kStepOk);
    const Points x = ToEigen(PositionsOf(world, upper, shape.num_nodes()));
    off = std::max(off, DistanceOf(at, x).norm());
    const Eigen::Vector3d pull = ForceOf(world, spring), hold = ForceOf(world, constraint);
    const Eigen::Vector3d of_lower = (MomentumOf(world, lower) - below) / double(kDt);
    const Eigen::Vector3d of_upper = (MomentumOf(world, upper) - above) / double(kDt);
    const double size = std::max({mass * kGravity.norm(), pull.norm(), hold.norm()});
    worst = std::max(worst, (mass * kGravity + pull - of_lower).norm() / size);
    worst = std::max(worst, (mass * kGravity - pull + hold - of_upper).norm() / size);
  }
  CHECK(off < 1e-6 * SizeOf(shape));
  CHECK(worst < 1e-3);
}

TEST_CASE("A constraint that jumps turns no tet inside out") {
  const int iterations = GENERATE(1, 2);
  const bool in_crowd = GENERATE(false, true);
  const uint32_t seed = GENERATE(1u, 2u, 3u);
  CAPTURE(iterations, in_crowd, seed);
  const ShapeAsset shape = Bar(1.0e4);
  World world({.gravity = {}});
  Random random(seed);
  std::vector<ConstraintDesc> held;
  std::vector<ConstraintId> ids;
  for (int i = 0; i < (in_crowd ? 8 : 1); ++i) {
    const BodyId id =
        AddBody(&world, shape.asset(), {.splitting = {.outer_iterations = iterations}});
    held.push_back(ConstraintAt(shape, id, 6, kInside[0], Kind::kPoint));
    ids.push_back(AddConstraint(&world, held.back()));
  }
  uint32_t flat = 0;
  for (int step = 0; step < 20; ++step) {
    for (size_t i = 0; i < held.size(); ++i) {
      const Eigen::Vector3d jump = 0.2 * random.Direction();
      REQUIRE(world.MoveConstraint(ids[i], ToVec3(ToEigen(held[i].target) + jump)).ok());
    }
    StepWorld(&world, kDt);
    flat += MeasuresOf(world).inverted_tets;
  }
  CHECK(flat == 0);
}

TEST_CASE("A constrained body comes out of a collider as far with reactions as without") {
  constexpr uint32_t kSeed = 5;
  Random random(kSeed);
  const ShapeAsset shape = Bar(1.0e4);
  double apart = 0.0, out = 0.0;
  for (int round = 0; round < 20; ++round) {
    const Eigen::Vector3d jump = 0.2 * random.Direction();
    Points x[2];
    for (const bool reports : {false, true}) {
      World world({.gravity = {}});
      const BodyId id = AddBody(&world, shape.asset(), {.report_reactions = reports});
      AddPlane(&world, {{0.0f, 1.0f, 0.0f}, 0.05f}, 0.5f);  // the bar is 5 cm deep in it
      const ConstraintDesc at = ConstraintAt(shape, id, 6, kInside[0], Kind::kPoint);
      REQUIRE(
          world.MoveConstraint(AddConstraint(&world, at), ToVec3(ToEigen(at.target) + jump)).ok());
      StepWorld(&world, kDt);
      x[reports] = ToEigen(PositionsOf(world, id, shape.num_nodes()));
    }
    apart = std::max(apart, (x[0] - x[1]).cwiseAbs().maxCoeff());
    out = std::max(out, (x[0] - ToEigen(shape.rest())).row(1).maxCoeff());
  }
  CAPTURE(kSeed, out);
  CHECK(out > 0.001);
  CHECK(apart < 1e-6 * SizeOf(shape));
}

}  // namespace held_pinned_test

// SPDX-License-Identifier: MIT
// Forces on the targets of pins: weight at rest, and the balance of momentum in motion.
#include "runtime/collision/surface_fixtures.h"
#include "runtime/crowds/crowd_scene.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <vector>

using namespace plush;
using namespace plush::test;

namespace reactions_test {

constexpr float kDt = 0.01f;
const Eigen::Vector3d kGravity(0.0, double(-9.81f), 0.0);

Eigen::Vector3d Sum(const std::vector<Vec3>& forces) {
  Eigen::Vector3d sum = Eigen::Vector3d::Zero();
  for (const Vec3& force : forces) sum += ToEigen(force);
  return sum;
}

std::vector<Vec3> ReactionsOf(const World& world, BodyId id, size_t num_nodes) {
  std::vector<Vec3> forces(num_nodes);
  REQUIRE(world.NodeReactions(id, forces).ok());
  return forces;
}

Eigen::Vector3d MomentumOf(const World& world, BodyId id) {
  const BodyMoments moments = MomentsOf(world, id);
  return {moments.linear_momentum[0], moments.linear_momentum[1], moments.linear_momentum[2]};
}

TEST_CASE("A hanging body pulls at its pins with its weight") {
  const float scale = GENERATE(1.0f, 2.0f), poisson = GENERATE(0.3f, 0.49f);
  CAPTURE(scale, poisson);
  // A bar along x, hung at its ends: regions "left" and "right".
  const ShapeAsset shape =
      ShapeAsset::Baked(TetBox(6, 2, 2, 0.1), {3.0e5, 0.3, 1000.0}, 0.01,
                        R"({"regions": [{"name": "left", "box": [[-1, -1, -1], [0.01, 1, 1]]},
                      {"name": "right", "box": [[0.59, -1, -1], [1, 1, 1]]}]})");
  std::vector<uint32_t> pins;
  for (uint32_t r : {0u, 1u}) {
    const RegionView region = shape.asset().region(r);
    pins.insert(pins.end(), region.nodes.begin(), region.nodes.end());
  }
  World world;
  const BodyId id = AddBody(&world, shape.asset(),
                            {.scale = scale,
                             .material = {.poisson = poisson, .damping = 0.02f},
                             .pinned_nodes = pins,
                             .report_reactions = true});
  Reaction reaction;
  REQUIRE(world.RegionReaction(id, 0, &reaction).ok());
  CHECK(ToEigen(reaction.force).norm() == 0.0);
  StepToRest(&world, id, shape.num_nodes(), kDt, 600);
  const double weight = MomentsOf(world, id).mass * kGravity.norm();
  const Eigen::Vector3d sum = Sum(ReactionsOf(world, id, shape.num_nodes()));
  CAPTURE(weight, sum.transpose());
  CHECK((sum - Eigen::Vector3d(0, -weight, 0)).norm() < 1e-3 * weight);
  // The bar and its load are symmetric: each end carries half, and they pull at each other.
  Reaction ends[2];
  for (uint32_t r : {0u, 1u}) REQUIRE(world.RegionReaction(id, r, &ends[r]).ok());
  CHECK(ends[0].force.y == Approx(-0.5 * weight).epsilon(0.02));
  CHECK(ends[1].force.y == Approx(-0.5 * weight).epsilon(0.02));
  CHECK(std::fabs(ends[0].force.x + ends[1].force.x) < 1e-3 * weight);
  // All torques about one point balance the weight's.
  const BodyMoments moments = MomentsOf(world, id);
  const Eigen::Vector3d centre(moments.centre[0], moments.centre[1], moments.centre[2]);
  Eigen::Vector3d torque = Eigen::Vector3d::Zero();
  for (const Reaction& end : ends) {
    torque += ToEigen(end.torque) + (ToEigen(end.about) - centre).cross(ToEigen(end.force));
  }
  CHECK(torque.norm() < 5e-3 * weight * 0.6 * scale);
}

TEST_CASE("Reactions and gravity change the momentum") {
  const uint32_t seed = GENERATE(1u, 2u);
  const float scale = GENERATE(1.0f, 0.5f);
  const bool moves = GENERATE(false, true);
  const SplittingSettings splitting =
      GENERATE(SplittingSettings{}, SplittingSettings{.outer_iterations = 3},
               SplittingSettings{.volume_sweeps = 3});
  const float damping = GENERATE(0.0f, 0.05f);
  CAPTURE(seed, scale, moves, splitting.outer_iterations, splitting.volume_sweeps, damping);
  const ShapeAsset shape = CrowdBox(seed);
  const RegionView region = shape.asset().region(0);
  World world;
  const BodyId id = AddBody(&world, shape.asset(),
                            {.scale = scale,
                             .material = {.damping = damping},
                             .pinned_nodes = region.nodes,
                             .splitting = splitting,
                             .report_reactions = true});
  const double weight = MomentsOf(world, id).mass * kGravity.norm();
  double worst = 0.0;
  for (int step = 1; step <= 100; ++step) {
    const Eigen::Vector3d before = MomentumOf(world, id);
    if (moves) {
      const float at = 0.05f * std::sin(0.2f * float(step)) * scale;
      REQUIRE(world.MovePins(id, 0, {.position = {at, 0.5f * at, 0.0f}}).ok());
    }
    StepWorld(&world, kDt);
    const Eigen::Vector3d change = (MomentumOf(world, id) - before) / double(kDt);
    const Eigen::Vector3d sum = Sum(ReactionsOf(world, id, shape.num_nodes()));
    const Eigen::Vector3d gravity = kGravity * (weight / kGravity.norm());
    const double size = std::fmax(weight, sum.norm());
    worst = std::fmax(worst, (gravity - sum - change).norm() / size);
  }
  CAPTURE(worst);
  CHECK(worst < 0.01);
}

TEST_CASE("A body reports the same reactions among equal bodies as alone") {
  const ShapeAsset shape = CrowdBox(3);
  const RegionView region = shape.asset().region(0);
  World one, many;
  const BodyDesc desc = {.pinned_nodes = region.nodes, .report_reactions = true};
  const BodyId a = AddBody(&one, shape.asset(), desc);
  BodyId b;
  for (int i = 0; i < 12; ++i) b = AddBody(&many, shape.asset(), desc);
  for (int step = 0; step < 5; ++step) {
    StepWorld(&one, kDt);
    StepWorld(&many, kDt);
    const std::vector<Vec3> alone = ReactionsOf(one, a, shape.num_nodes());
    const std::vector<Vec3> among = ReactionsOf(many, b, shape.num_nodes());
    CHECK(Sum(alone).norm() > 0.0);
    for (size_t i = 0; i < alone.size(); ++i) CHECK(ToEigen(alone[i]) == ToEigen(among[i]));
  }
}

TEST_CASE("Reactions are only for bodies that report them") {
  const ShapeAsset shape = CrowdBox(1);
  World world;
  const BodyId id = AddBody(&world, shape.asset());
  const BodyId reports = AddBody(&world, shape.asset(), {.report_reactions = true});
  Reaction reaction;
  std::vector<Vec3> forces(shape.num_nodes());
  CHECK(world.RegionReaction(id, 0, &reaction).code == StatusCode::kInvalidArgument);
  CHECK(world.NodeReactions(id, forces).code == StatusCode::kInvalidArgument);
  CHECK(world.RegionReaction(reports, 99, &reaction).code == StatusCode::kInvalidArgument);
  CHECK(world.RegionReaction(reports, 0, nullptr).code == StatusCode::kInvalidArgument);
  forces.pop_back();
  CHECK(world.NodeReactions(reports, forces).code == StatusCode::kInvalidArgument);
  CHECK(world.RegionReaction(BodyId{}, 0, &reaction).code == StatusCode::kNullId);
  StepWorld(&world, kDt);
  REQUIRE(world.RegionReaction(reports, 0, &reaction).ok());
  CHECK(ToEigen(reaction.force).norm() == 0.0);
}

TEST_CASE("Pins carry their part of a contact between them and free nodes") {
  // A tet on three pins touches a plane with a shell inside it. Without friction and gravity,
  // elasticity and a part w of the contact's force N balance at the free node. The pins carry all
  // of N: by elasticity, and the part 1 - w themselves.
  int cases = 0;
  for (uint32_t seed = 1; seed <= 20; ++seed) {
    CAPTURE(seed);
    Random random(seed);
    const ShapeAsset shape(
        SurfaceBytes(SingleTet(0.4), {.parts = 1, .num_shells = 1, .seed = seed, .holes = 4}));
    const CollisionView& surface = shape.asset().collision();
    REQUIRE(surface.tets.size() == 1);
    World world({.gravity = {}});
    const std::vector<uint32_t> pins = {0, 1, 2};
    const BodyId id = AddBody(&world, shape.asset(),
                              {.material = {.young = 1.0e5f, .poisson = 0.3f, .damping = 0.05f},
                               .pinned_nodes = pins,
                               .report_reactions = true});
    const Eigen::Vector3d n = random.Direction();
    const auto heights = [&] {
      const std::vector<Vec3> x = PositionsOf(world, id, 4);
      std::vector<double> out;
      for (const Vec4& w : surface.vertices) {
        const uint32_t* nodes = surface.tets[0].nodes;
        out.push_back(
            n.dot(double(w.x) * ToEigen(x[nodes[0]]) + double(w.y) * ToEigen(x[nodes[1]]) +
                  double(w.z) * ToEigen(x[nodes[2]]) + double(w.w) * ToEigen(x[nodes[3]])));
      }
      return out;
    };
    const std::vector<double> at_start = heights();
    const double low = *std::min_element(at_start.begin(), at_start.end());
    ColliderDesc plane = {.plane = {ToVec3(n), static_cast<float>(low - 0.001)}, .friction = 0.0f};
    ColliderId collider;
    REQUIRE(world.AddCollider(plane, &collider).ok());
    for (int step = 1; step <= 400; ++step) {
      Pose pose = {.position = ToVec3(n * std::min(1.0e-4 * step, 0.006))};
      REQUIRE(world.MoveCollider(collider, pose).ok());
      StepWorld(&world, kDt);
    }
    if (world.stats().contacts != 1) continue;
    const std::vector<double> at_end = heights();
    const auto touching = std::min_element(at_end.begin(), at_end.end(), [&](double a, double b) {
      return std::fabs(a - low - 0.005) < std::fabs(b - low - 0.005);
    });
    const Vec4& weights = surface.vertices[static_cast<size_t>(touching - at_end.begin())];
    std::vector<Vec3> elastic(4);
    REQUIRE(world.ElasticForces(id, elastic).ok());
    const double force = -n.dot(ToEigen(elastic[3])) / double(weights.w);
    CAPTURE(force, weights.w);
    CHECK(force > 0.1);
    CHECK((Sum(ReactionsOf(world, id, 4)) - force * n).norm() < 0.01 * force);
    ++cases;
  }
  CHECK(cases > 5);
}

}  // namespace reactions_test

// SPDX-License-Identifier: MIT
// Bodies that step in a crowd move as they would alone.
#include "runtime/world/arm_model.h"
#include "runtime/world/crowd_scene.h"
#include "skip.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>

using namespace plush;
using namespace plush::test;

namespace {

constexpr float kDt = 0.01f;
constexpr uint32_t kAllowed = kStepPreparedTimeStep | kStepHeldIterative;

double SizeOf(const ShapeAsset& shape) {
  const Points rest = ToEigen(shape.rest());
  return (rest.rowwise().maxCoeff() - rest.rowwise().minCoeff()).norm();
}

// 105 bodies: 80 free, half of them low above a plane; 20 with other pins and 5 that hang a little
// above the plane by few.
std::vector<Member> MakeMembers(const ShapeAsset& shape, double speed, Random* random) {
  const double size = SizeOf(shape);
  const auto region = FindRegionNodes(shape.asset(), "low");
  const size_t num_nodes = shape.num_nodes();
  std::vector<Member> members;
  for (int i = 0; i < 105; ++i) {
    const double height = i % 2 == 0 ? random->Uniform(1.1, 1.6) * size : 40.0 * size;
    const Vec3 at = {static_cast<float>(2.0 * size * (i % 10)), static_cast<float>(height),
                     static_cast<float>(2.0 * size * (i / 10))};
    members.push_back(RandomMember(shape, at, speed, random));
    Member& member = members.back();
    if (i < 60 || i >= 85) continue;
    if (i < 68) member.pins = RandomPins(num_nodes, 1 + random->Below(21), random);
    if (i >= 68 && i < 73) member.pins = RandomPins(num_nodes, 23 + random->Below(3), random);
    if (i >= 73 && i < 80) member.pins.assign(region.begin(), region.end());
    if (i >= 80) member.pins = RandomPins(num_nodes, 2, random);
  }
  return members;
}

struct Differences {
  double before_touch = 0.0;  // of any node, by the body's size
  double centre = 0.0;        // after it, of the centre of mass, by the body's size
  double energy = 0.0;        // of kinetic and elastic energy, by the energy of the fall
  int touching = 0;           // bodies
  bool crowds = false;
  double pins = 0.0;  // how far pinned nodes moved [m]
};

float StepSize(int step, bool alternating) {
  return alternating && step / 3 % 2 == 1 ? 0.6f * kDt : kDt;
}

Differences CompareWithAlone(const ShapeAsset& shape, const std::vector<Member>& members,
                             const SolverSettings& solver, bool alternating, int steps) {
  const double size = SizeOf(shape);
  const size_t num_nodes = shape.num_nodes();
  WorldDesc desc;
  desc.solver = solver;
  const PlaneDesc plane = {{0.1f, 1.0f, 0.0f}, 0.0f, 0.4f};
  World crowd(desc);
  REQUIRE(crowd.AddPlane(plane).ok());
  std::vector<BodyId> ids;
  for (const Member& member : members) ids.push_back(member.AddTo(&crowd, shape.asset()));
  Differences out;
  std::vector<std::vector<Points>> path(members.size());
  std::vector<std::vector<BodyMoments>> moments(members.size());
  for (int step = 0; step < steps; ++step) {
    REQUIRE((crowd.Step(StepSize(step, alternating)) & ~kAllowed) == kStepOk);
    out.crowds = out.crowds || HadCrowds(crowd);
    for (size_t i = 0; i < members.size(); ++i) {
      path[i].push_back(ToEigen(PositionsOf(crowd, ids[i], num_nodes)));
      moments[i].push_back(MomentsOf(crowd, ids[i]));
    }
  }
  for (size_t i = 0; i < members.size(); ++i) {
    World world(desc);
    REQUIRE(world.AddPlane(plane).ok());
    const BodyId id = members[i].AddTo(&world, shape.asset());
    const Points start = ToEigen(PositionsOf(world, id, num_nodes));
    bool touched = false;
    for (int step = 0; step < steps; ++step) {
      REQUIRE((world.Step(StepSize(step, alternating)) & ~kAllowed) == kStepOk);
      const Points x = ToEigen(PositionsOf(world, id, num_nodes));
      const double lowest =
          (Eigen::RowVector3d(plane.normal.x, plane.normal.y, plane.normal.z) * x).minCoeff();
      touched = touched || world.stats().contacts > 0 || lowest < 0.01 * size;
      const size_t at = static_cast<size_t>(step);
      const double apart = (x - path[i][at]).colwise().norm().maxCoeff() / size;
      for (const uint32_t pin : members[i].pins) {
        out.pins = std::max(out.pins, (path[i][at].col(pin) - start.col(pin)).norm());
      }
      if (!touched) {
        CAPTURE(i, step, apart);
        if (!(apart < 1e-4)) CHECK(apart < 1e-4);
        out.before_touch = std::max(out.before_touch, apart);
        continue;
      }
      const BodyMoments a = MomentsOf(world, id), &b = moments[i][at];
      const Eigen::Vector3d centre(a.centre[0] - b.centre[0], a.centre[1] - b.centre[1],
                                   a.centre[2] - b.centre[2]);
      const double energy = std::fabs(a.kinetic_j + a.elastic_j - b.kinetic_j - b.elastic_j);
      out.centre = std::max(out.centre, centre.norm() / size);
      out.energy = std::max(out.energy, energy / (a.mass * 9.81 * size));
    }
    out.touching += touched ? 1 : 0;
  }
  return out;
}

void Print(const char* name, const SolverSettings& solver, bool alternating, const Differences& d) {
  std::printf(
      "%s, %d outer, %d sweeps%s: alone and in a crowd %.1e of a body's size apart until they "
      "touch (%d bodies), then centres %.1e, energies %.1e of m g size\n",
      name, solver.outer_iterations, solver.volume_sweeps, alternating ? ", two time steps" : "",
      d.before_touch, d.touching, d.centre, d.energy);
}

}  // namespace

TEST_CASE("105 bodies move as each of them alone") {
  const uint32_t seed = GENERATE(1u, 2u);
  const int outer_iterations = GENERATE(1, 2), volume_sweeps = GENERATE(1, 2);
  const bool alternating = GENERATE(false, true);
  CAPTURE(seed, outer_iterations, volume_sweeps, alternating);
  Random random(seed);
  const ShapeAsset shape = CrowdBox(seed);
  REQUIRE(FindRegionNodes(shape.asset(), "low").size() >= 3);
  SolverSettings solver;
  solver.outer_iterations = outer_iterations;
  solver.volume_sweeps = volume_sweeps;
  const Differences d =
      CompareWithAlone(shape, MakeMembers(shape, 0.5, &random), solver, alternating, 60);
  Print("crowd of boxes", solver, alternating, d);
  CHECK(d.crowds);
  CHECK(d.touching > 20);
  CHECK(d.pins == 0.0);
  CHECK(d.centre < 0.1);
  CHECK(d.energy < 0.1);
}

TEST_CASE("105 bodies move as each of them alone, however planes push back and without sweeps") {
  const uint32_t seed = 3;
  const ContactResponse response =
      GENERATE(ContactResponse::kSnap, ContactResponse::kPenalty, ContactResponse::kHold);
  CAPTURE(seed, int(response));
  Random random(seed);
  const ShapeAsset shape = CrowdBox(seed);
  SolverSettings solver;
  solver.response = response;
  solver.volume_sweeps = response == ContactResponse::kHold ? 0 : 1;
  const Differences d =
      CompareWithAlone(shape, MakeMembers(shape, 0.5, &random), solver, false, 60);
  Print("crowd of boxes", solver, false, d);
  CHECK(d.touching > 20);
  CHECK(d.pins == 0.0);
  CHECK(d.centre < 0.1);
  CHECK(d.energy < 0.1);
}

TEST_CASE("A body that unexpectedly meets a plane in a crowd's step lands as it would alone") {
  const uint32_t seed = GENERATE(4u, 5u, 6u);
  const int volume_sweeps = GENERATE(1, 2);
  CAPTURE(seed, volume_sweeps);
  const double poisson = GENERATE(0.4, 0.49);
  CAPTURE(poisson);
  const ShapeAsset shape(TetBox(4, 2, 2, 0.1, 0.09, seed), {1.0e5, poisson, 1000.0}, double(kDt));
  const size_t num_nodes = shape.num_nodes();
  Random random(seed);
  WorldDesc desc;
  desc.solver.volume_sweeps = volume_sweeps;
  World crowd(desc), alone(desc);
  REQUIRE(crowd.AddPlane({}).ok());
  REQUIRE(alone.AddPlane({}).ok());
  for (int i = 0; i < 9; ++i) {
    RandomMember(shape, {3.0f * static_cast<float>(i), 50.0f, 0.0f}, 0.5, &random)
        .AddTo(&crowd, shape.asset());
  }
  const Member subject = RandomMember(shape, {0.0f, 10.0f, 0.0f}, 0.1, &random);
  const BodyId id = subject.AddTo(&crowd, shape.asset());
  const BodyId alone_id = subject.AddTo(&alone, shape.asset());
  for (int step = 0; step < 10; ++step) {
    REQUIRE(crowd.Step(kDt) == kStepOk);
    REQUIRE(alone.Step(kDt) == kStepOk);
  }
  // Pressed together just above the plane: it springs open.
  std::vector<Vec3> x = PositionsOf(alone, alone_id, num_nodes);
  float lowest = x[0].y;
  for (const Vec3& node : x) lowest = std::min(lowest, node.y);
  for (Vec3& node : x) node.y = 0.035f + 0.6f * (node.y - lowest);
  const std::vector<Vec3> v(num_nodes);
  for (World* world : {&crowd, &alone}) {
    const BodyId body = world == &crowd ? id : alone_id;
    REQUIRE(world->SetNodePositions(body, x).ok());
    REQUIRE(world->SetNodeVelocities(body, v).ok());
  }
  // Its step starts once more, from the multipliers and rotations of the crowd's attempt.
  double apart = 0.0, energy = 0.0;
  const double size = SizeOf(shape), start = MomentsOf(alone, alone_id).elastic_j;
  for (int step = 0; step < 12; ++step) {
    REQUIRE(crowd.Step(kDt) == kStepOk);
    REQUIRE(alone.Step(kDt) == kStepOk);
    if (step == 0) REQUIRE(alone.stats().contacts > 0);
    const Points a = ToEigen(PositionsOf(crowd, id, num_nodes));
    const Points b = ToEigen(PositionsOf(alone, alone_id, num_nodes));
    const BodyMoments m = MomentsOf(crowd, id), n = MomentsOf(alone, alone_id);
    apart = std::max(apart, (a - b).colwise().norm().maxCoeff() / size);
    energy = std::max(energy, std::fabs(m.elastic_j + m.kinetic_j - n.elastic_j - n.kinetic_j));
  }
  std::printf("step started once more: %.1e of the size apart, %.1e of the energy\n", apart,
              energy / start);
  CHECK(apart < 2e-3);
  CHECK(energy < 2e-3 * start);
}

TEST_CASE("105 armadillos move as each of them alone") {
  if (!plush::tests::FullTests()) return plush::tests::Skip("a long form: PLUSH_TEST_FULL");
  const std::string path = plush::tests::TestModelOrSkip("tets/arm_4k.node");
  if (path.empty()) return;
  const tools::TetMesh mesh = StandingArm(ReadTetGen(path));
  const ShapeAsset shape =
      ShapeAsset::Baked(mesh, {1.0e6, 0.33, 1000.0}, double(kDt),
                        R"({"regions": [{"name": "low", "box": [[-1, -1, -1], [1, -0.06, 1]]}]})");
  REQUIRE(FindRegionNodes(shape.asset(), "low").size() >= 3);
  const uint32_t seed = 3;
  CAPTURE(seed);
  for (const bool alternating : {false, true}) {
    Random random(seed);
    SolverSettings solver;
    solver.outer_iterations = alternating ? 2 : 1;
    solver.volume_sweeps = alternating ? 1 : 2;
    const Differences d =
        CompareWithAlone(shape, MakeMembers(shape, 0.1, &random), solver, alternating, 60);
    Print("crowd of armadillos", solver, alternating, d);
    CHECK(d.crowds);
    CHECK(d.touching > 20);
    CHECK(d.pins == 0.0);
    CHECK(d.centre < 0.1);
    CHECK(d.energy < 0.1);
  }
}

// SPDX-License-Identifier: MIT
// Bodies that step in a crowd move as they would alone.
#include "runtime/colliders/solid_scene.h"
#include "runtime/crowds/crowd_scene.h"
#include "skip.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>

using namespace plush;
using namespace plush::test;

namespace crowd_test {

constexpr float kDt = 0.01f;
constexpr uint32_t kAllowed = kStepPreparedTimeStep;

// 105 bodies: 80 free, 20 with other pins, and 5 that hang by a few nodes. Two in three of each
// kind start close above a plane.
std::vector<Member> MakeMembers(const ShapeAsset& shape, double speed, Random* random) {
  const double size = SizeOf(shape);
  const auto region = NodesOfRegion(shape.asset(), "low");
  const size_t num_nodes = shape.num_nodes();
  std::vector<Member> members;
  for (int i = 0; i < 105; ++i) {
    const double height = i % 3 != 2 ? random->Uniform(1.1, 1.6) * size : 40.0 * size;
    const double x = 2.0 * size * (i % 10);
    const Vec3 at = {static_cast<float>(x),
                     static_cast<float>(height - 0.1 * x),  // along the plane
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

// Largest and mean differences over the bodies that touched the plane.
struct AfterTouch {
  double centre = 0.0;       // of the centre of mass, relative to the body's size
  double energy = 0.0;       // of kinetic and elastic energy, relative to m g size
  double mean_energy = 0.0;  // mean over the bodies of each body's largest difference
};

struct Differences {
  double before_touch = 0.0;  // of any node, relative to the body's size
  AfterTouch crowd;           // between a body in the crowd and alone
  AfterTouch nudged;          // between two bodies alone, one of them moved by 1e-5 of its size
  int touching = 0;           // bodies
  bool crowds = false;
  double pins = 0.0;  // how far pinned nodes moved [m]
};

struct Run {
  ContactSettings contact;
  SplittingSettings splitting;
  bool alternating = false;
  int steps = 60;

  float StepSize(int step) const { return alternating && step / 3 % 2 == 1 ? 0.6f * kDt : kDt; }
};

const PlaneShape kPlane = {{0.1f, 1.0f, 0.0f}, 0.0f};
constexpr float kFriction = 0.4f;

// One body's states after each step.
struct Path {
  std::vector<Points> x;
  std::vector<BodyMoments> moments;
  size_t touch = SIZE_MAX;  // first step after which it touches the plane or is about to
};

void Record(const World& world, BodyId id, const ShapeAsset& shape, Path* path) {
  path->x.push_back(ToEigen(PositionsOf(world, id, shape.num_nodes())));
  path->moments.push_back(MomentsOf(world, id));
}

std::vector<Path> PathsInCrowd(const ShapeAsset& shape, const std::vector<Member>& members,
                               const Run& run, bool* had_crowds) {
  World world({.contact = run.contact});
  AddPlane(&world, kPlane, kFriction);
  std::vector<BodyId> ids;
  for (const Member& member : members)
    ids.push_back(member.AddTo(&world, shape.asset(), run.splitting));
  std::vector<Path> paths(members.size());
  for (int step = 0; step < run.steps; ++step) {
    REQUIRE((StepWorld(&world, run.StepSize(step)) & ~kAllowed) == kStepOk);
    *had_crowds = *had_crowds || HadCrowds(world);
    for (size_t i = 0; i < ids.size(); ++i) Record(world, ids[i], shape, &paths[i]);
  }
  return paths;
}

Path PathAlone(const ShapeAsset& shape, const Member& member, const Run& run) {
  World world({.contact = run.contact});
  AddPlane(&world, kPlane, kFriction);
  const BodyId id = member.AddTo(&world, shape.asset(), run.splitting);
  const Eigen::RowVector3d normal = ToEigen(kPlane.normal).transpose();
  Path path;
  for (int step = 0; step < run.steps; ++step) {
    REQUIRE((StepWorld(&world, run.StepSize(step)) & ~kAllowed) == kStepOk);
    Record(world, id, shape, &path);
    const bool near = (normal * path.x.back()).minCoeff() < 0.01 * SizeOf(shape);
    if (near || world.stats().contacts > 0) {
      path.touch = std::min(path.touch, static_cast<size_t>(step));
    }
  }
  return path;
}

void Compare(const Path& a, const Path& b, size_t from, double size, AfterTouch* out) {
  double largest = 0.0;
  for (size_t step = from; step < a.x.size(); ++step) {
    const BodyMoments &m = a.moments[step], &n = b.moments[step];
    const Eigen::Vector3d apart(m.centre[0] - n.centre[0], m.centre[1] - n.centre[1],
                                m.centre[2] - n.centre[2]);
    const double energy = std::fabs(m.kinetic_j + m.elastic_j - n.kinetic_j - n.elastic_j);
    out->centre = std::max(out->centre, apart.norm() / size);
    largest = std::max(largest, energy / (m.mass * 9.81 * size));
  }
  out->energy = std::max(out->energy, largest);
  out->mean_energy += largest;
}

Differences CompareWithAlone(const ShapeAsset& shape, const std::vector<Member>& members,
                             const Run& run) {
  const double size = SizeOf(shape);
  Differences out;
  const std::vector<Path> crowd = PathsInCrowd(shape, members, run, &out.crowds);
  for (size_t i = 0; i < members.size(); ++i) {
    const Path alone = PathAlone(shape, members[i], run);
    for (const uint32_t pin : members[i].pins) {
      const double moved = (crowd[i].x.back().col(pin) - crowd[i].x.front().col(pin)).norm();
      const double off = (crowd[i].x.front().col(pin) - alone.x.front().col(pin)).norm();
      out.pins = std::max({out.pins, moved, off});
    }
    for (size_t step = 0; step < std::min(alone.touch, alone.x.size()); ++step) {
      const double apart = (alone.x[step] - crowd[i].x[step]).colwise().norm().maxCoeff() / size;
      CAPTURE(i, step, apart);
      REQUIRE(apart < 1e-4);
      out.before_touch = std::max(out.before_touch, apart);
    }
    if (alone.touch == SIZE_MAX) continue;
    ++out.touching;
    Compare(crowd[i], alone, alone.touch, size, &out.crowd);
    Member nudged = members[i];
    nudged.pose.position.y += static_cast<float>(1.0e-5 * size);
    Compare(PathAlone(shape, nudged, run), alone, alone.touch, size, &out.nudged);
  }
  out.crowd.mean_energy /= std::max(out.touching, 1);
  out.nudged.mean_energy /= std::max(out.touching, 1);
  return out;
}

void Check(const char* name, const Run& run, const Differences& d) {
  std::printf(
      "%s, %d outer, %d sweeps%s: in a crowd and alone %.1e of the size apart until they touch; "
      "after it (%d bodies) centres %.1e, energies %.1e, on average %.1e of m g size (nudged: "
      "%.1e, %.1e, %.1e)\n",
      name, run.splitting.outer_iterations, run.splitting.volume_sweeps,
      run.alternating ? ", two time steps" : "", d.before_touch, d.touching, d.crowd.centre,
      d.crowd.energy, d.crowd.mean_energy, d.nudged.centre, d.nudged.energy, d.nudged.mean_energy);
  CHECK(d.touching >= 105 / 2);
  CHECK(d.pins == 0.0);
  // Differences are no larger than those that contact makes of a nudge.
  CHECK(d.crowd.centre < 5.0 * d.nudged.centre + 0.01);
  CHECK(d.crowd.mean_energy < 3.0 * d.nudged.mean_energy + 0.002);
}

TEST_CASE("105 bodies move as each of them alone", "[long]") {
  const uint32_t seed = GENERATE(1u, 2u);
  if (seed > 1 && !tests::FullTests()) return;
  Run run;
  run.splitting.outer_iterations = GENERATE(1, 2);
  run.splitting.volume_sweeps = GENERATE(1, 2);
  run.alternating = GENERATE(false, true);
  CAPTURE(seed, run.splitting.outer_iterations, run.splitting.volume_sweeps, run.alternating);
  Random random(seed);
  const ShapeAsset shape = CrowdBox(seed);
  REQUIRE(NodesOfRegion(shape.asset(), "low").size() >= 3);
  const Differences d = CompareWithAlone(shape, MakeMembers(shape, 0.5, &random), run);
  CHECK(d.crowds);
  Check("crowd of boxes", run, d);
}

TEST_CASE("105 bodies move as each of them alone, however planes push back and without sweeps",
          "[long]") {
  const uint32_t seed = 3;
  Run run;
  const ContactMethod* method =
      GENERATE(as<const ContactMethod*>{}, &kSnapContact, &kPenaltyContact, nullptr);
  CAPTURE(seed, method == &kSnapContact, method == &kPenaltyContact);
  run.contact.method = method;
  Random random(seed);
  const ShapeAsset shape = CrowdBox(seed);
  run.splitting.volume_sweeps = method == nullptr ? 0 : 1;
  const Differences d = CompareWithAlone(shape, MakeMembers(shape, 0.5, &random), run);
  Check("crowd of boxes", run, d);
}

TEST_CASE("Bodies on a plane move beside a crowd of their own kind as alone, to the bit") {
  const ShapeAsset shape = CrowdBox(7);
  const size_t num_nodes = shape.num_nodes();
  Random random(7);
  World crowd, alone;
  for (World* world : {&crowd, &alone}) {
    AddPlane(world, {});
    // Beside the body that lies at 3 m, and in the way of another one.
    AddCollider(world, BoxAt({{3.3f, 0.0f, 0.0f}}, {0.1f, 0.2f, 1.0f}));
    AddCollider(world, SphereAt({9.1f, 0.1f, 0.1f}, 0.15f));
  }
  std::vector<BodyId> ids, alone_ids;
  for (int i = 0; i < 18; ++i) {
    const bool flies = i % 2 == 0;
    Member member =
        RandomMember(shape, {static_cast<float>(3 * i), flies ? 90.0f : 0.0f, 0.0f}, 0.3, &random);
    if (!flies) {  // lies on a side, with its lowest node on the plane
      member = {};
      member.pose.position.x = static_cast<float>(3 * i);
      float lowest = 1.0e9f;
      for (const Vec3& x : shape.rest()) lowest = std::min(lowest, x.y);
      member.pose.position.y = -lowest;
    }
    const BodyId id = member.AddTo(&crowd, shape.asset());
    if (!flies) ids.push_back(id);
    if (!flies) alone_ids.push_back(member.AddTo(&alone, shape.asset()));
  }
  for (int step = 0; step < 60; ++step) {
    REQUIRE((StepWorld(&crowd, kDt) & ~kAllowed) == kStepOk);
    REQUIRE((StepWorld(&alone, kDt) & ~kAllowed) == kStepOk);
    REQUIRE(HadCrowds(crowd));
    REQUIRE_FALSE(HadCrowds(alone));
    for (size_t i = 0; i < ids.size(); ++i) {
      CAPTURE(step, i);
      REQUIRE(StateOf(crowd, ids[i], num_nodes) == StateOf(alone, alone_ids[i], num_nodes));
    }
  }
}

TEST_CASE("A body that unexpectedly meets a plane in a crowd's step lands as it would alone") {
  const uint32_t seed = GENERATE(4u, 5u, 6u);
  const int volume_sweeps = GENERATE(0, 1, 2);
  CAPTURE(seed, volume_sweeps);
  const double poisson = GENERATE(0.4, 0.49);
  CAPTURE(poisson);
  const ShapeAsset shape(TetBox(4, 2, 2, 0.1, 0.09, seed), {1.0e5, poisson, 1000.0}, double(kDt));
  const size_t num_nodes = shape.num_nodes();
  Random random(seed);
  const SplittingSettings splitting = {.volume_sweeps = volume_sweeps};
  World crowd, alone;
  AddPlane(&crowd, {});
  AddPlane(&alone, {});
  for (int i = 0; i < 9; ++i) {
    RandomMember(shape, {3.0f * static_cast<float>(i), 50.0f, 0.0f}, 0.5, &random)
        .AddTo(&crowd, shape.asset(), splitting);
  }
  const Member subject = RandomMember(shape, {0.0f, 10.0f, 0.0f}, 0.1, &random);
  const BodyId id = subject.AddTo(&crowd, shape.asset(), splitting);
  const BodyId alone_id = subject.AddTo(&alone, shape.asset(), splitting);
  for (int step = 0; step < 10; ++step) {
    REQUIRE(StepWorld(&crowd, kDt) == kStepOk);
    REQUIRE(StepWorld(&alone, kDt) == kStepOk);
  }
  // Compressed just above the plane, so that it springs open.
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
  // Its step is repeated as if the crowd had never tried.
  double apart = 0.0, energy = 0.0;
  const double size = SizeOf(shape), start = MomentsOf(alone, alone_id).elastic_j;
  for (int step = 0; step < 12; ++step) {
    REQUIRE(StepWorld(&crowd, kDt) == kStepOk);
    REQUIRE(StepWorld(&alone, kDt) == kStepOk);
    if (step == 0) REQUIRE(alone.stats().contacts > 0);
    const Points a = ToEigen(PositionsOf(crowd, id, num_nodes));
    const Points b = ToEigen(PositionsOf(alone, alone_id, num_nodes));
    const BodyMoments m = MomentsOf(crowd, id), n = MomentsOf(alone, alone_id);
    apart = std::max(apart, (a - b).colwise().norm().maxCoeff() / size);
    energy = std::max(energy, std::fabs(m.elastic_j + m.kinetic_j - n.elastic_j - n.kinetic_j));
  }
  std::printf("step started once more: %.1e of the size apart, %.1e of the energy\n", apart,
              energy / start);
  CHECK(apart < 3e-3);
  CHECK(energy < 2e-3 * start);
}

TEST_CASE("A body so strained that it leaves the crowd in its step moves as it would alone") {
  constexpr float kLong = 0.028f;
  uint32_t overshoots = 0;
  for (uint32_t seed = 1; seed <= 20; ++seed) {
    Random random(seed);
    const double young = std::pow(10.0, random.Uniform(5.0, 7.0));
    const double squash = random.Uniform(0.3, 0.7), speed = random.Uniform(1.0, 30.0);
    CAPTURE(seed, young, squash, speed);
    const ShapeAsset shape =
        ShapeAsset::Baked(TetBox(6, 2, 2, 0.1), {young, 0.3, 1000.0}, double(kLong));
    World crowd, alone;
    const auto add = [&](World* world, int bodies) {
      BodyId first;
      for (int i = 0; i < bodies; ++i) {
        BodyDesc desc = {.pose = {.position = {.x = 3.0f * static_cast<float>(i)}}};
        const BodyId id = AddBody(world, shape.asset(), desc);
        if (i == 0) first = id;
      }
      return first;
    };
    const BodyId in_crowd = add(&crowd, 8), single = add(&alone, 1);
    std::vector<Vec3> x = shape.rest(), v(x.size());
    for (size_t i = 0; i < x.size(); ++i) {
      x[i].y *= static_cast<float>(squash);
      v[i] = ToVec3(random.Vector(speed));
    }
    REQUIRE(crowd.SetNodePositions(in_crowd, x).ok());
    REQUIRE(alone.SetNodePositions(single, x).ok());
    REQUIRE(crowd.SetNodeVelocities(in_crowd, v).ok());
    REQUIRE(alone.SetNodeVelocities(single, v).ok());
    const BodyMoments start = MomentsOf(alone, single);
    for (int step = 0; step < 3; ++step) {
      CAPTURE(step);
      StepWorld(&crowd, kLong);
      StepWorld(&alone, kLong);
      overshoots += alone.stats().overshoots;
      const BodyMoments m = MomentsOf(crowd, in_crowd), n = MomentsOf(alone, single);
      // They round differently: 8e-4 after a step, 2e-2 after three. (A single body whose nodes
      // start 1e-7 m away differs by 5e-2.) Going on from the failed attempt gave up to 400.
      CHECK(std::fabs(m.elastic_j + m.kinetic_j - n.elastic_j - n.kinetic_j) <
            (step == 0 ? 1e-2 : 1e-1) * (start.elastic_j + start.kinetic_j));
    }
  }
  CHECK(overshoots > 5);
}

}  // namespace crowd_test

// SPDX-License-Identifier: MIT
// The sample models are set down on a floor, or into it: they come to rest, weigh what they weigh,
// fall asleep and come out.

#include "simulate/open_asset.h"
#include "simulate/scene.h"
#include "simulate/scene_world.h"
#include "simulate/simulation_run.h"
#include "skip.h"
#include "tools/simulate/built_scene.h"
#include "tools/simulate/sample_folder.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace plush::tests::set_down_test {
namespace {

constexpr uint32_t kSteps = 450, kTwoSeconds = 200;  // of 10 ms
constexpr double kStill = 1.0e-3;                    // [H/s]

// A model, baked with the material of samples/run.sh, and how it lies on a floor after a drop.
class RestingModel {
 public:
  RestingModel(const std::string& name, uint32_t num_tets, double young)
      : path_(folder_ / (name + ".plush")) {
    BakeSample(folder_, "models/" + name + ".glb",
               {.cage = {.target_tets = num_tets}, .material = {young, 0.4, 1000.0, 0.15}});
    tools::Scene scene = Floor();
    scene.steps = 1000;
    tools::SceneWorld of = tools::BuildOrFail(scene);
    const auto record =
        tools::RunScene(scene, &of, [](const tools::SceneWorld& now, uint32_t done) {
          return done == 0 || now.world->stats().asleep == 0;
        });
    REQUIRE(record.ok());
    REQUIRE(of.world->stats().asleep == 1);
    const Asset& asset = *of.assets[0];
    height_ = tools::SurfaceBounds(asset).Extent().y;
    lying_.resize(asset.simulation().nodes.size());
    REQUIRE(of.world->NodePositions(of.bodies[0].id, 1.0f, lying_).ok());
    Pose pose;
    REQUIRE(of.world->BestFitPose(of.bodies[0].id, &pose).ok());
    for (const Vec3& node : asset.simulation().nodes) {
      undeformed_.push_back(tools::ToFloat(tools::Rotate(pose.rotation, tools::ToDouble(node))));
    }
    const double lowest = tools::LowestAlong({0.0, 1.0, 0.0}, asset, undeformed_);
    for (Vec3& p : undeformed_) p.y -= static_cast<float>(lowest);
  }

  tools::Scene Floor() const {
    auto scene = tools::DropScene(path_);
    if (!scene.ok()) FAIL(scene.error().message);
    scene.value().steps = kSteps;
    return std::move(scene.value());
  }
  double height() const { return height_; }  // H [m]
  /// Positions of the nodes after the drop, at rest.
  const std::vector<Vec3>& lying() const { return lying_; }
  /// The same place and orientation, in the rest shape: the lowest surface point is on the floor.
  const std::vector<Vec3>& undeformed() const { return undeformed_; }

 private:
  TemporaryFolder folder_;
  std::string path_;
  double height_ = 0.0;
  std::vector<Vec3> lying_, undeformed_;
};

// What a body does in 4.5 s.
struct Settling {
  double speed = 0.0;     // of the fastest node in the third second [H/s]
  uint32_t restless = 0;  // the last step after which a node is faster than kStill
  double weight = 0.0;    // of what presses on the floor after 2 s / weight
  uint32_t asleep = 0;    // the first step after which it sleeps, 0: none
  uint32_t is_out = 0;    // the last step after which a point is deeper than 1e-3 H
  double most_speed = 0;  // of the centre of mass [m/s]
};

// Whether a body may fall asleep.
enum class Sleep { kNever, kAsUsual };

// The body is put at `nodes` plus `up` along y, without velocity.
Settling PutDown(const RestingModel& model, const std::vector<Vec3>& nodes, double up,
                 float damping, Sleep sleep = Sleep::kNever) {
  tools::Scene scene = model.Floor();
  scene.bodies[0].material.damping = damping;
  tools::SceneWorld of = tools::BuildOrFail(scene);
  if (sleep == Sleep::kNever) of.world->SetSleep({.speed = 0.0f});
  std::vector<Vec3> x = nodes;
  for (Vec3& p : x) p.y += static_cast<float>(up);
  REQUIRE(of.world->SetNodePositions(of.bodies[0].id, x).ok());
  REQUIRE(of.world->SetNodeVelocities(of.bodies[0].id, std::vector<Vec3>(x.size())).ok());
  Settling out;
  const auto record = tools::RunScene(scene, &of, [&](const tools::SceneWorld& now, uint32_t done) {
    BodyMoments moments;
    REQUIRE(now.world->Moments(now.bodies[0].id, &moments).ok());
    const double* p = moments.linear_momentum;
    out.most_speed = std::max(out.most_speed, std::hypot(p[0], p[1], p[2]) / moments.mass);
    if (done != kTwoSeconds) return true;
    Reaction reaction;
    REQUIRE(now.world->ColliderReaction(now.colliders[0], &reaction).ok());
    out.weight = double(-reaction.force.y) / (9.81 * moments.mass);
    return true;
  });
  REQUIRE(record.ok());
  const std::vector<tools::StepRecord>& steps = record.value().steps;
  for (uint32_t k = 0; k < kSteps; ++k) {
    const double speed = double(steps[k].stats.max_speed) / model.height();
    if (k + 1 >= kTwoSeconds && k < kTwoSeconds + 100) out.speed = std::max(out.speed, speed);
    if (speed >= kStill) out.restless = k + 1;
    if (out.asleep == 0 && steps[k].stats.asleep == 1) out.asleep = k + 1;
    if (steps[k].cages.lowest_m < -1.0e-3 * model.height()) out.is_out = k + 1;
  }
  return out;
}

// How a sample is set down: as it lies with 0.02 and with 0.15 s of damping, in its rest shape with
// 0.15 s.
enum Way { kLying, kLyingDamped, kUndeformed, kNumWays };

struct Sample {
  const char* name;
  uint32_t num_tets;
  double young;
  double most_speed[kNumWays];  // in the third second [H/s]
  uint32_t still[kNumWays];     // the step after which no node is faster than kStill
};
// Converged, with 64 iterations in each substep, all are still after 1.6 s but a bear that lies, of
// 0.02 s: it rocks for 4 s, at 1.5e-3 H/s in its third second. Iterations that end early let it
// rock for over 4.5 s, the duck of 0.02 s for 4.4 s instead of 0.6, and the octopus in its rest
// shape takes 2.6 s instead of 1. Measured: 2.9e-3, 6e-5, 4e-4; 1.6e-3, 3e-5, 2e-4; 4e-4,
// 1e-4, 2.1e-3 H/s. (The duck's 1.6e-3 was 1.1e-3 while second iterations did not search. In
// eight drops from 0.20 to 0.27 m it rocks as before, with 4.7 mm/s rms after 4.5 s.)
constexpr Sample kSamples[] = {{"bear", 400, 4.0e4, {3.2e-3, kStill, kStill}, {451, 100, 200}},
                               {"duck", 450, 2.0e4, {1.8e-3, kStill, kStill}, {451, 75, 215}},
                               {"octopus", 900, 6.0e4, {kStill, kStill, 2.5e-3}, {200, 80, 300}}};

}  // namespace

TEST_CASE("Samples that are set down come to rest, press with their weight and fall asleep",
          "[long]") {
  for (const Sample& sample : kSamples) {
    const RestingModel model(sample.name, sample.num_tets, sample.young);
    for (const Way way : {kLying, kLyingDamped, kUndeformed}) {
      const float damping = way == kLying ? 0.02f : 0.15f;
      // As they lie, from a thousandth of their height. In their rest shape they first have to sink
      // into their sagged one. (In the pose of the file they would topple first: they do not stand
      // in it.)
      const auto put_down = [&](Sleep sleep) {
        if (way == kUndeformed) return PutDown(model, model.undeformed(), 0.0, damping, sleep);
        return PutDown(model, model.lying(), 1.0e-3 * model.height(), damping, sleep);
      };
      const Settling end = put_down(Sleep::kNever);
      CAPTURE(sample.name, way, end.speed, end.restless, end.weight);
      CHECK(end.speed < sample.most_speed[way]);
      CHECK(end.restless < sample.still[way]);
      CHECK(end.weight == Approx(1.0).epsilon(0.01));
      const uint32_t asleep = put_down(Sleep::kAsUsual).asleep;
      CHECK(asleep > 0);
      CHECK(asleep < 260);
    }
  }
}

// Gravity is tilted instead of the floor. They move by 2e-6 and 3e-6 H. The duck rolls down such a
// slope.
TEST_CASE("A bear and an octopus do not creep on a slope of 20 degrees at 0.75") {
  if (!FullTests()) return Skip("long: set PLUSH_TEST_FULL=1");
  for (const Sample& sample : {kSamples[0], kSamples[2]}) {
    const RestingModel model(sample.name, sample.num_tets, sample.young);
    tools::Scene scene = model.Floor();
    constexpr uint32_t kSettled = 1000, kMinute = 6000;
    scene.steps = kSettled + kMinute;
    scene.bodies[0].material.damping = 0.15f;
    scene.colliders[0].desc.friction = 0.75f;
    const double angle = 20.0 / 180.0 * std::acos(-1.0);
    scene.gravity = {static_cast<float>(9.81 * std::sin(angle)),
                     static_cast<float>(-9.81 * std::cos(angle)), 0.0f};
    tools::SceneWorld of = tools::BuildOrFail(scene);
    of.world->SetSleep({.speed = 0.0f});
    const std::vector<Vec3>& x = model.lying();
    REQUIRE(of.world->SetNodePositions(of.bodies[0].id, x).ok());
    REQUIRE(of.world->SetNodeVelocities(of.bodies[0].id, std::vector<Vec3>(x.size())).ok());
    double start[3] = {}, moved = 0.0;
    const auto record =
        tools::RunScene(scene, &of, [&](const tools::SceneWorld& now, uint32_t done) {
          BodyMoments moments;
          REQUIRE(now.world->Moments(now.bodies[0].id, &moments).ok());
          const double* c = moments.centre;
          if (done == kSettled) std::copy(c, c + 3, start);
          moved = std::hypot(c[0] - start[0], c[1] - start[1], c[2] - start[2]);
          return true;
        });
    REQUIRE(record.ok());
    CAPTURE(sample.name, moved / model.height());
    CHECK(moved < 1.0e-3 * model.height());
  }
}

// A resists turns by its viscous part, too: iterations that ended early let damped bodies creep.
TEST_CASE("A damped octopus sinks into its shape at rest as fast as with many iterations",
          "[long]") {
  const Sample& sample = kSamples[2];
  const RestingModel model(sample.name, sample.num_tets, sample.young);
  struct Sinking {
    double height[2];     // of the centre of mass after half a second and one second [m]
    uint32_t iterations;  // of the step after four seconds
  };
  const auto sink = [&](int iterations) {
    tools::Scene scene = model.Floor();
    scene.steps = 400;
    scene.bodies[0].material.damping = 0.15f;
    if (iterations > 0) scene.contact.iterations = iterations;
    tools::SceneWorld of = tools::BuildOrFail(scene);
    of.world->SetSleep({.speed = 0.0f});
    const std::vector<Vec3>& x = model.undeformed();
    REQUIRE(of.world->SetNodePositions(of.bodies[0].id, x).ok());
    REQUIRE(of.world->SetNodeVelocities(of.bodies[0].id, std::vector<Vec3>(x.size())).ok());
    Sinking out = {};
    const auto record =
        tools::RunScene(scene, &of, [&](const tools::SceneWorld& now, uint32_t done) {
          BodyMoments moments;
          REQUIRE(now.world->Moments(now.bodies[0].id, &moments).ok());
          if (done == 0) out.height[0] = out.height[1] = moments.centre[1];
          if (done == 50) out.height[0] -= moments.centre[1];
          if (done == 100) out.height[1] -= moments.centre[1];
          return true;
        });
    REQUIRE(record.ok());
    out.iterations = record.value().steps.back().stats.outer_iterations;
    return out;
  };
  const Sinking usual = sink(0), many = sink(40);
  CAPTURE(usual.height[0], usual.height[1], many.height[0], many.height[1]);
  CHECK(many.height[1] > 0.01 * model.height());
  CHECK(usual.height[0] == Approx(many.height[0]).epsilon(0.1));
  CHECK(usual.height[1] == Approx(many.height[1]).epsilon(0.1));
  CHECK(usual.iterations == 2);
}

// Waves cross several clusters of such bodies in a step. If contacts' solves do not turn them, a
// gap of one tolerance changes loads so much that these toys rock for ever, at up to 1.3 H/s. If
// their turns are not rotations, the second bear flies off. If rounding turns the stiffest ones on
// the coarse level, or their turn since its matrix was made counts as strain, they rock, fly off or
// freeze (CoarseLevel::AddForces, CorrectClusters).
TEST_CASE("Stiff toys that fall in any pose come to rest", "[long]") {
  struct Toy {
    size_t sample;
    float young, damping;
    Quat pose;
  };
  const Toy toys[] = {{0, 1.0e6f, 0.02f, {0.389f, 0.198f, -0.539f, -0.721f}},
                      {0, 1.0e7f, 0.15f, {0.389f, 0.198f, -0.539f, -0.721f}},
                      {0, 1.0e6f, 0.15f, {-0.427f, -0.762f, -0.095f, -0.477f}},
                      {1, 1.0e5f, 0.15f, {-0.798f, -0.249f, -0.534f, 0.127f}},
                      {1, 1.0e5f, 0.15f, {0.700f, -0.622f, -0.352f, 0.003f}},
                      {2, 1.0e6f, 0.15f, {0.301f, 0.626f, 0.410f, -0.591f}},
                      {0, 1.0e9f, 0.15f, {0.389f, 0.198f, -0.539f, -0.721f}},
                      {1, 1.0e8f, 0.15f, {-0.798f, -0.249f, -0.534f, 0.127f}},
                      {1, 1.0e9f, 0.02f, {0.700f, -0.622f, -0.352f, 0.003f}},
                      {2, 1.0e9f, 0.15f, {0.301f, 0.626f, 0.410f, -0.591f}}};
  const TemporaryFolder folder;
  for (const Sample& sample : kSamples) {
    tools::BakeSettings settings = {.cage = {.target_tets = sample.num_tets}};
    BakeSample(folder, std::string("models/") + sample.name + ".glb", settings);
  }
  for (const Toy& toy : toys) {
    const char* const name = kSamples[toy.sample].name;
    auto scene = tools::DropScene(folder / (std::string(name) + ".plush"));
    REQUIRE(scene.ok());
    tools::SceneBody& body = scene.value().bodies[0];
    body.scale = 0.125f;
    body.pose = {{0.0f, 0.1f, 0.0f}, toy.pose};
    body.material = {.young = toy.young, .damping = toy.damping};
    constexpr uint32_t kRest = 1000;
    scene.value().steps = kRest + 100;
    tools::SceneWorld of = tools::BuildOrFail(scene.value());
    of.world->SetSleep({.speed = 0.0f});
    double speed = 0.0, start = 0.0, highest = 0.0;
    const auto record =
        tools::RunScene(scene.value(), &of, [&](const tools::SceneWorld& now, uint32_t done) {
          BodyMoments moments;
          REQUIRE(now.world->Moments(now.bodies[0].id, &moments).ok());
          if (done == 0) start = moments.centre[1];
          highest = std::max(highest, moments.centre[1]);
          if (done > kRest) speed = std::max(speed, double(now.world->stats().max_speed));
          return true;
        });
    REQUIRE(record.ok());
    const double height = double(tools::SurfaceBounds(*of.assets[0]).Extent().y) * 0.125;
    CAPTURE(name, toy.young, toy.damping, speed / height, start, highest);
    CHECK(speed < 1.0e-2 * height);
    CHECK(highest <= start);
  }
}

// Positions that move a body's lower part out strain it, and strain becomes speed. Damping takes
// most of that: 0.15 s leaves up to 0.07 m/s. Of 0.02 s and of none, the bear moves at up to 0.18
// and 0.71 m/s, the duck at 0.17 and 0.34, the octopus at 0.07 and 0.13: about as fast as they sink
// into their sagged shape when they are put down without strain, or slower; the bear of none 1.8
// times as fast.
TEST_CASE("Samples that are set 5 cm into the floor come out within a second, slowly", "[long]") {
  // A stiff octopus lies on few points of its arms: the others are deep, but do not press.
  for (const Sample& sample : {kSamples[0], kSamples[1], Sample{"octopus", 900, 1.0e6, {}, {}}}) {
    const RestingModel model(sample.name, sample.num_tets, sample.young);
    for (const float damping : {0.0f, 0.02f, 0.15f}) {
      const Settling lying = PutDown(model, model.lying(), -0.05, damping);
      const Settling fresh = PutDown(model, model.undeformed(), -0.05, damping);
      const Settling sagging = PutDown(model, model.undeformed(), 0.0, damping);
      CAPTURE(sample.name, damping, lying.is_out, fresh.is_out, lying.most_speed, fresh.most_speed,
              sagging.most_speed);
      CHECK(lying.is_out > 0);
      CHECK(lying.is_out < kTwoSeconds / 2);
      CHECK(fresh.is_out < kTwoSeconds / 2);
      const double share = damping > 0.0f ? 1.1 : 2.0;
      const double most = damping > 0.1f ? 0.1 : std::max(0.1, share * sagging.most_speed);
      CHECK(lying.most_speed < most);
      CHECK(fresh.most_speed < most);
    }
  }
}

}  // namespace plush::tests::set_down_test

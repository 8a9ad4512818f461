// SPDX-License-Identifier: MIT
// Whole steps against dense equations that take from the asset only nodes, tets, clusters and
// material: alone and in crowds, on random meshes, far from the origin, with stiff material.
#include "runtime/crowds/crowd_scene.h"
#include "runtime/dense_reference.h"
#include "skip.h"
#include "sweep.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cstdio>
#include <optional>

using namespace plush;
using namespace plush::test;

namespace dense_steps_test {

constexpr double kTolerance = 1e-4;  // of the body's size
// Random velocities of nodes that stiff bodies follow: the equations know no energy_guard.h [m/s].
constexpr double kCalm = 0.02;

double SizeOf(const Points& rest) {
  return (rest.rowwise().maxCoeff() - rest.rowwise().minCoeff()).norm();
}

// A jittered box with a random stretch and shear.
tools::TetMesh RandomMesh(Random* random, uint32_t seed) {
  const auto cells = [&] { return 1 + random->Below(3); };
  const uint32_t nx = 1 + cells(), ny = cells(), nz = cells();
  tools::TetMesh mesh = TetBox(nx, ny, nz, 0.1, 0.09, seed);
  const Eigen::Matrix3d shear = random->Rotation() *
                                (Eigen::Matrix3d::Identity() + random->Matrix(0.25)) *
                                random->Rotation();
  REQUIRE(shear.determinant() > 0.1);
  for (tools::Vec3d& node : mesh.nodes) {
    const Eigen::Vector3d x = shear * Eigen::Vector3d(node.x, node.y, node.z);
    node = {x.x(), x.y(), x.z()};
  }
  return mesh;
}

struct Setting {
  tools::Material material;
  double dt = 0.01;
  int outer_iterations = 1, volume_sweeps = 0;
  std::optional<uint32_t> clusters = {};  // 0: none; if not given, as in a bake
  double away = 0.0;                      // distance of the body from the origin [m]
  double speed = 1.0;                     // of the nodes' random velocities [m/s]
  bool hung = false;                      // pinned at one node
  int polar_iterations = 64;
  int bodies = 1;  // from six on they step in a crowd
};

// A body of the world and its reference.
struct Subject {
  BodyId id;
  DenseStepper stepper;
  Points start;
};

Subject AddSubject(const Setting& setting, const ShapeAsset& shape, const DenseStepper& reference,
                   const std::vector<uint32_t>& pins, Random* random, World* world) {
  BodyDesc body;
  const Eigen::Vector3d place = setting.away * random->Direction();
  body.pose.position = ToVec3(place);
  body.pinned_nodes = pins;
  body.splitting = {setting.outer_iterations, setting.volume_sweeps, setting.polar_iterations};
  Subject subject = {AddBody(world, shape.asset(), body), reference, {}};
  std::vector<Vec3> velocities = ToVec3s(random->Vectors(shape.num_nodes(), setting.speed));
  REQUIRE(world->SetNodeVelocities(subject.id, velocities).ok());
  for (const uint32_t node : pins) velocities[node] = {};
  subject.stepper.x.colwise() += ToEigen(body.pose.position);
  subject.stepper.v = ToEigen(velocities);
  subject.start = subject.stepper.x;
  return subject;
}

// Largest distance of a node from the reference over `steps` steps, relative to the body's size.
// `reference_iterations` and `reference_sweeps` may exceed the world's.
double LargestMiss(const Setting& setting, uint32_t seed, int steps, int reference_iterations,
                   int reference_sweeps) {
  Random random(seed);
  const ShapeAsset shape(RandomMesh(&random, seed), setting.material, setting.dt, setting.clusters);
  DenseModel model(shape.asset(), setting.material);
  std::vector<uint32_t> pins;
  if (setting.hung) pins.push_back(random.Below(static_cast<uint32_t>(shape.num_nodes())));
  for (const uint32_t node : pins) model.pinned[node] = true;

  const WorldDesc desc;
  World world(desc);
  // With a plane, solves of single bodies count as contact, those of crowds do not.
  if (setting.bodies > 1) AddPlane(&world, {{0.0f, 1.0f, 0.0f}, -1.0e4f});
  const DenseStepper reference(model, setting.dt, reference_iterations, reference_sweeps);
  std::vector<Subject> subjects;
  for (int i = 0; i < setting.bodies; ++i) {
    subjects.push_back(AddSubject(setting, shape, reference, pins, &random, &world));
  }
  const double size = SizeOf(model.rest);
  double miss = 0.0;
  for (int step = 0; step < steps; ++step) {
    REQUIRE(StepWorld(&world, static_cast<float>(setting.dt)) == kStepOk);
    if (setting.bodies > 1) REQUIRE(HadCrowds(world));
    for (Subject& subject : subjects) {
      subject.stepper.Step(ToEigen(desc.gravity));
      const Points x = ToEigen(PositionsOf(world, subject.id, shape.num_nodes()));
      REQUIRE(subject.stepper.x.allFinite());
      miss = std::max(miss, (x - subject.stepper.x).colwise().norm().maxCoeff() / size);
    }
  }
  for (const Subject& subject : subjects) {
    CHECK((subject.stepper.x - subject.start).colwise().norm().maxCoeff() >
          10.0 * kTolerance * size);
  }
  return miss;
}

// Checks random meshes with different numbers of clusters and outer iterations.
void CheckTwoLevel(double young, double away, bool hung, double tolerance) {
  double worst = 0.0;
  constexpr std::optional<uint32_t> kClusters[] = {{}, 0, 1, 2, 3, 5};
  for (uint32_t seed = 1; seed <= 6; ++seed) {
    for (const int outer_iterations : {young > 2.0e6 ? 3 : 1, 2, 5}) {
      if (young > 2.0e6 && outer_iterations == 2) continue;  // strains such bodies too much
      const double nu = seed == 2 ? 0.0 : seed == 3 && outer_iterations > 1 ? 0.46 : 0.4;
      Setting setting = {{young, nu, 1000.0}, 0.01, outer_iterations};
      setting.clusters = kClusters[seed % 6];
      setting.away = away;
      setting.hung = hung;
      if (young > 2.0e5) setting.speed = kCalm;
      CAPTURE(seed, outer_iterations, young, away, hung);
      const double miss = LargestMiss(setting, seed, 20, outer_iterations, 0);
      CHECK(miss < tolerance);
      worst = std::max(worst, miss);
    }
  }
  std::printf("dense steps: E %.0e, %3.0f m away, %s, seeds 1-6: %.1e of the size\n", young, away,
              hung ? "hung" : "free", worst);
}

TEST_CASE("Steps follow the dense equations of nodes, tets and material", "[long]") {
  const double young = GENERATE(3.0e4, 1.0e6, 1.0e7), away = GENERATE(0.0, 100.0);
  const bool hung = GENERATE(false, true);
  CheckTwoLevel(young, away, hung, kTolerance);
}

TEST_CASE("Damped steps follow the dense equations") {
  const double young = GENERATE(3.0e4, 1.0e6), damping = GENERATE(0.003, 0.1);
  const int volume_sweeps = GENERATE(0, 2);
  double worst = 0.0;
  for (uint32_t seed = 1; seed <= 4; ++seed) {
    Setting setting = {{young, 0.4, 1000.0, damping}, 0.01, 2, volume_sweeps};
    setting.hung = seed % 2 == 0;
    setting.clusters = seed;
    if (young > 2.0e5) setting.speed = kCalm;
    CAPTURE(seed, young, damping, volume_sweeps);
    const double miss = LargestMiss(setting, seed, 20, 2, volume_sweeps);
    CHECK(miss < kTolerance);
    worst = std::max(worst, miss);
  }
  std::printf("damped dense steps: E %.0e, %.3f s, %d sweeps, seeds 1-4: %.1e of the size\n", young,
              damping, volume_sweeps, worst);
}

TEST_CASE("Steps of crowds follow the dense equations, with and without sweeps", "[long]") {
  const double young = GENERATE(3.0e4, 1.0e6);
  const int volume_sweeps = GENERATE(0, 2);
  const bool hung = GENERATE(false, true);
  double worst = 0.0;
  for (uint32_t seed = 1; seed <= 4; ++seed) {
    const int outer_iterations = seed == 4 ? 3 : 2;
    const double nu = seed == 3 && !hung ? 0.46 : 0.4;
    Setting setting = {{young, nu, 1000.0}, 0.01, outer_iterations, volume_sweeps};
    setting.clusters = seed - 1;
    setting.away = 10.0;
    setting.hung = hung;
    setting.bodies = 7;
    if (young > 2.0e5) setting.speed = kCalm;
    CAPTURE(seed, young, volume_sweeps, hung);
    const double miss = LargestMiss(setting, seed, 20, outer_iterations, volume_sweeps);
    CHECK(miss < kTolerance);
    worst = std::max(worst, miss);
  }
  std::printf("dense steps of crowds: E %.0e, %d sweeps, %s, seeds 1-4: %.1e of the size\n", young,
              volume_sweeps, hung ? "hung" : "free", worst);
}

TEST_CASE("Steps with volume sweeps follow the dense equations of [Kug], and ignore clusters") {
  const double young = GENERATE(3.0e4, 1.0e6, 1.0e9), away = GENERATE(0.0, 100.0);
  double worst = 0.0;
  for (uint32_t seed = 1; seed <= 6; ++seed) {
    const int outer_iterations = seed % 2 == 0 ? 1 : 2, sweeps = seed % 3 == 0 ? 1 : 2;
    Setting setting = {{young, 0.4, 1000.0}, 0.01, outer_iterations, sweeps};
    setting.polar_iterations = SplittingSettings{}.polar_iterations;
    setting.clusters = seed % 4;
    setting.away = away;
    setting.hung = true;
    CAPTURE(seed, young, away);
    const double miss = LargestMiss(setting, seed, 20, outer_iterations, sweeps);
    CHECK(miss < kTolerance);
    worst = std::max(worst, miss);
  }
  std::printf("dense steps with sweeps: E %.0e, %3.0f m away, hung, seeds 1-6: %.1e of the size\n",
              young, away, worst);
}

TEST_CASE("Converged steps are those of implicit Euler, with and without sweeps", "[long]") {
  // The runtime chooses the order of the sweeps; their limit does not depend on it, nor on the
  // method.
  const double young = GENERATE(3.0e4, 3.0e5), nu = GENERATE(0.0, 0.3, 0.4);
  const double away = GENERATE(0.0, 100.0);
  const int sweeps = GENERATE(0, 16);
  static tests::SweepCells cells;
  if (!cells.TakesNext()) return;
  double worst = 0.0;
  const uint32_t seeds = tests::FullTests() ? 3 : 1;
  for (uint32_t seed = 1; seed <= seeds; ++seed) {
    Setting setting = {{young, nu, 1000.0}, 0.01, 64, sweeps};
    setting.away = away;
    setting.hung = true;
    CAPTURE(seed, young, nu, away, sweeps);
    const double miss = LargestMiss(setting, seed, 10, 300, nu > 0.0 ? 16 : 0);
    CHECK(miss < kTolerance);
    worst = std::max(worst, miss);
  }
  std::printf(
      "converged steps: E %.0e, nu %.2f, %3.0f m away, %2d sweeps, %u seeds: %.1e of the size\n",
      young, nu, away, sweeps, seeds, worst);
}

}  // namespace dense_steps_test

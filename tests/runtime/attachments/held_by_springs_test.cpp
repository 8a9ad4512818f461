// SPDX-License-Identifier: MIT
// Springs of any stiffness hold bodies of any stiffness in place, and none of them shakes.
//
// Three springs and more stop all rigid motions. PLUSH_TEST_FULL=1 takes 1000 bodies instead of 50.
#include "runtime/colliders/plane_scene.h"
#include "sweep.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <vector>

using namespace plush;
using namespace plush::test;

namespace held_by_springs_test {

double Log(double low, double high, Random* random) {
  return std::exp(random->Uniform(std::log(low), std::log(high)));
}

// Nodes next to each other or anywhere.
std::vector<uint32_t> SomeNodes(const Points& rest, size_t count, Random* random) {
  const bool are_near = random->Below(2) == 0;
  const Eigen::Vector3d near = rest.col(random->Below(static_cast<uint32_t>(rest.cols())));
  std::vector<uint32_t> nodes(static_cast<size_t>(rest.cols()));
  std::vector<double> keys(nodes.size());
  for (uint32_t i = 0; i < nodes.size(); ++i) {
    nodes[i] = i;
    keys[i] = are_near ? (rest.col(i) - near).norm() : random->Uniform(0.0, 1.0);
  }
  std::ranges::stable_sort(nodes, {}, [&](uint32_t i) { return keys[i]; });
  nodes.resize(std::min(count, nodes.size()));
  return nodes;
}

// Most of E dt^2 / (density edge^2).
constexpr double kMostStiffness = 1.0e6;
constexpr double kDensity = 1000.0;
constexpr float kSteps[] = {0.001f, 0.005f, 0.01f, 1.0f / 60.0f, 0.033f};  // [s]

struct HeldBody {
  Random random;
  float dt;
  double edge, young;
  ShapeAsset shape;
  float stiffness, damping;
  Points rest;
  std::vector<uint32_t> nodes;
  World world;
  BodyId id;
  std::vector<AttachmentId> springs;

  explicit HeldBody(uint32_t seed)
      : random(seed),
        dt(kSteps[random.Below(5)]),
        edge(Log(0.01, 0.3, &random)),
        young(std::min(Log(1e4, 1e9, &random),
                       kMostStiffness * kDensity * edge * edge / (double(dt) * double(dt)))),
        shape(TetBox(2 + random.Below(5), 2 + random.Below(3), 2, edge, 0.09, seed),
              {young, random.Uniform(0.0, 0.45), kDensity, random.Below(3) == 0 ? 0.02 : 0.0},
              0.01),
        stiffness(static_cast<float>(Log(1e2, 1e9, &random))),
        damping(random.Below(3) == 0 ? static_cast<float>(Log(1.0, 1e4, &random)) : 0.0f),
        rest(ToEigen(shape.rest())) {
    constexpr size_t kCounts[] = {3, 4, 6, 12};
    nodes = SomeNodes(rest, kCounts[random.Below(4)], &random);
    world.SetSleep({.speed = 0.0f});
    id = AddBody(&world, shape.asset());
    for (const uint32_t node : nodes) {
      AttachmentDesc desc = {.body = id,
                             .weights = {1.0f, 0.0f, 0.0f, 0.0f},
                             .target = ToVec3(rest.col(node)),
                             .stiffness = stiffness,
                             .damping = damping};
      desc.nodes[0] = node;
      springs.emplace_back();
      REQUIRE(world.Attach(desc, &springs.back()).ok());
    }
  }

  // With the springs' energy, by their lengths or their forces: rounding adds to the former where
  // they are stiff, damping to the latter.
  double Energy(const WorldMeasures& m) const {
    double sum = m.kinetic_j + m.elastic_j + m.gravity_j;
    const Points x = ToEigen(PositionsOf(world, id, shape.num_nodes()));
    for (size_t k = 0; k < springs.size(); ++k) {
      Vec3 force;
      REQUIRE(world.AttachmentForce(springs[k], &force).ok());
      const double way2 = (x.col(nodes[k]) - rest.col(nodes[k])).squaredNorm();
      sum += 0.5 *
             std::min(double(stiffness) * way2, ToEigen(force).squaredNorm() / double(stiffness));
    }
    return sum;
  }

  // The most energy gained, of the largest kinetic energy so far or m g size / 1000.
  double Gain() {
    const double size = (rest.rowwise().maxCoeff() - rest.rowwise().minCoeff()).norm();
    const WorldMeasures before = MeasuresOf(world);
    const double start = Energy(before);
    double moving = 1e-3 * before.mass_kg * 9.81 * size, most = 0.0;
    for (int step = 0; step < 100; ++step) {
      REQUIRE((StepWorld(&world, dt) & kStepBodyFrozen) == 0);
      const WorldMeasures m = MeasuresOf(world);
      moving = std::max(moving, m.kinetic_j);
      most = std::max(most, Energy(m) - start);
    }
    return most / moving;
  }
};

TEST_CASE("Bodies that springs hold where they are do not shake") {
  const uint32_t count = tests::SweepCount(50u, 1000u);
  double worst = 0.0;
  for (uint32_t seed = 1; seed <= count; ++seed) {
    HeldBody body(seed);
    const double gain = body.Gain();
    char what[200];
    std::snprintf(what, sizeof what,
                  "seed %u: E %.1e, edge %.3f, %zu nodes, dt %.4f, %zu springs of %.1e N/m: gain "
                  "%.3f",
                  seed, body.young, body.edge, body.shape.num_nodes(), double(body.dt),
                  body.springs.size(), double(body.stiffness), gain);
    if (gain > 0.01) std::printf("%s\n", what);
    INFO(what);
    worst = std::max(worst, gain);
    CHECK(gain < 0.02);  // 0.004
  }
  std::printf("held by springs: worst gain %.3f\n", worst);
}

}  // namespace held_by_springs_test

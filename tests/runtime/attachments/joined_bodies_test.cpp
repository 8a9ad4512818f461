// SPDX-License-Identifier: MIT
// Stiff planks that springs join, as a door is to its frame or a sword to its sheath.
//
// Each body used to answer the springs as its constant matrix does, which takes turns back: planks
// of 1e7 Pa and more flew apart.
#include "reference/elastic_body.h"
#include "reference/implicit_euler.h"
#include "reference/trajectory.h"
#include "runtime/attachments/held_nodes.h"
#include "runtime/tet_fixtures.h"
#include "sweep.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <vector>

using namespace plush;
using namespace plush::test;

namespace joined_bodies_test {

constexpr double kDt = 1.0 / 60.0;

// Two planks of 8 x 2 x 2 edges, one behind the other along x, joined at the upper edge between
// them by a spring, or three in a row.
struct JoinedPlanks {
  double edge;
  ShapeAsset shape;
  reference::ElasticBody body;
  World world;
  BodyId ids[2];
  std::vector<uint32_t> ends[2];  // the nodes that springs join

  JoinedPlanks(double young, double size, double damping, bool by_line, const WorldDesc& desc)
      : edge(size),
        shape(ShapeAsset::Baked(TetBox(8, 2, 2, size), {young, 0.3, 200.0, damping}, kDt)),
        body(shape.asset()),
        world(desc) {
    const Points rest = ToEigen(shape.rest());
    for (Eigen::Index i = 0; i < rest.cols(); ++i) {
      const bool is_middle = std::fabs(rest(2, i) - edge) < 1e-6;
      if (rest(1, i) < 1.99 * edge || !(by_line || is_middle)) continue;
      if (rest(0, i) < 1e-6) ends[0].push_back(static_cast<uint32_t>(i));
      if (rest(0, i) > 7.99 * edge) ends[1].push_back(static_cast<uint32_t>(i));
    }
    REQUIRE(ends[0].size() == (by_line ? 3 : 1));
    REQUIRE(ends[1].size() == ends[0].size());
    for (int k = 0; k < 2; ++k) {
      BodyDesc of_body;
      of_body.pose.position.x = static_cast<float>(k == 0 ? 0.0 : -8.0 * edge);
      ids[k] = AddBody(&world, shape.asset(), of_body);
    }
    for (size_t i = 0; i < ends[0].size(); ++i) {
      AttachmentDesc spring = SpringOn(ids[0], ends[0][i], {});
      JoinTo(ids[1], ends[1][i], &spring);
      AttachNode(&world, spring);
    }
  }

  Points At(int k) const { return ToEigen(PositionsOf(world, ids[k], shape.num_nodes())); }
  Points Velocities(int k) const { return ToEigen(VelocitiesOf(world, ids[k], shape.num_nodes())); }
  double Mass() const { return 2.0 * body.masses.sum(); }
  double Energy() const {
    double sum = 0.0;
    for (int k = 0; k < 2; ++k) {
      const Points x = At(k);
      Points gradient;
      sum += 0.5 * Velocities(k).colwise().squaredNorm().dot(body.masses) +
             9.81 * x.row(1).dot(body.masses) + reference::EnergyOf(body, {}, x, &gradient);
    }
    return sum;
  }
  // Between the points that springs join.
  double Gap() const {
    const Points a = At(0), b = At(1);
    double most = 0.0;
    for (size_t i = 0; i < ends[0].size(); ++i) {
      most = std::max(most, (a.col(ends[0][i]) - b.col(ends[1][i])).norm());
    }
    return most;
  }
};

TEST_CASE("Stiff bodies that springs join fall onto a floor without gain, and rest", "[long]") {
  const double young = GENERATE(1.0e6, 1.0e7, 1.0e8), edge = GENERATE(0.005, 0.02, 0.05);
  const double damping = GENERATE(0.0, 0.02);
  const bool by_line = GENERATE(false, true);
  static tests::SweepCells cells;
  if (!cells.TakesNext()) return;
  CAPTURE(young, edge, damping, by_line);
  JoinedPlanks planks(young, edge, damping, by_line, {.sleep = {.speed = 0.0f}});
  // One end lands first.
  const Vec3 up = {0.2f, std::sqrt(1.0f - 0.04f), 0.0f};
  AddPlane(&planks.world, {up, -static_cast<float>(4.0 * edge)});
  const double start = planks.Energy();
  double most = -1.0, gap = 0.0, moving = 0.0;
  for (int step = 0; step < 240; ++step) {
    REQUIRE((StepWorld(&planks.world, float(kDt)) & kStepBodyFrozen) == 0);
    most = std::max(most, planks.Energy() - start);
    gap = std::max(gap, planks.Gap());
    moving = std::max(planks.Velocities(0).colwise().norm().maxCoeff(),
                      planks.Velocities(1).colwise().norm().maxCoeff());
  }
  CHECK(most < 1e-3 * planks.Mass() * 9.81 * 8.0 * edge);
  CHECK(gap < 0.1 * edge);
  CHECK(moving < 1e-2 * 8.0 * edge);  // [m/s]
}

// The first plank hangs on three springs to places at its other end.
TEST_CASE("Stiff planks that hang on each other swing as the reference does", "[long]") {
  const double young = GENERATE(1.0e6, 1.0e7, 1.0e8, 1.0e9);
  const bool by_line = GENERATE(false, true);
  CAPTURE(young, by_line);
  constexpr int kSteps = 40;
  JoinedPlanks planks(young, 0.02, 0.0, by_line, {.sleep = {.speed = 0.0f}});
  const auto n = static_cast<Eigen::Index>(planks.shape.num_nodes());
  const auto nodes = static_cast<uint32_t>(n);
  reference::ElasticBody both = planks.body;
  both.rest.resize(3, 2 * n);
  both.rest << planks.At(0), planks.At(1);
  both.masses.resize(2 * n);
  both.masses << planks.body.masses, planks.body.masses;
  for (reference::ElasticTet tet : planks.body.tets) {
    for (uint32_t& node : tet.nodes) node += nodes;
    both.tets.push_back(tet);
  }
  reference::EulerSettings settings = {
      .dt_s = kDt, .gravity = {0.0, double(-9.81f), 0.0}, .tolerance = 1e-4};
  for (size_t i = 0; i < planks.ends[0].size(); ++i) {
    const uint32_t near = planks.ends[0][i], far = planks.ends[1][i];
    settings.springs.push_back({.weights = {{near, 1.0}, {far + nodes, -1.0}}, .stiffness = 1e5});
  }
  for (const uint32_t node : planks.ends[1]) {
    const AttachmentDesc spring = SpringOn(planks.ids[0], node, planks.shape.rest()[node]);
    AttachNode(&planks.world, spring);
    settings.springs.push_back(
        {.weights = {{node, 1.0}}, .target = ToEigen(spring.target), .stiffness = 1e5});
  }
  reference::ImplicitEuler euler(both, settings);
  reference::Trajectory right(euler.x()), found(euler.x());
  for (int step = 0; step < kSteps; ++step) {
    REQUIRE(euler.Step());
    right.Add(euler.x());
    REQUIRE((StepWorld(&planks.world, float(kDt)) & kStepBodyFrozen) == 0);
    Points x(3, 2 * n);
    x << planks.At(0), planks.At(1);
    found.Add(x);
  }
  const double error = reference::TrajectoryError(found, right);
  std::printf("joined: E %.0e, %zu springs: trajectory error %.4f\n", young, planks.ends[0].size(),
              error);
  CHECK(error < 4e-3);  // below 1e-4 at 1e6 Pa; stiffer ones make two iterations: 2e-3
}

}  // namespace joined_bodies_test

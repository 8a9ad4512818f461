// SPDX-License-Identifier: MIT
// Stiffness depends on the material, not on the sampling [Kug, Fig. 4]: an unevenly sampled sheet
// bends like an evenly sampled one.
#include "runtime/tet_fixtures.h"

#include <catch2/catch.hpp>

#include <cmath>
#include <cstdio>
#include <functional>

using namespace plush;
using namespace plush::test;

namespace uneven_sheet_test {

// With 10 ms the rest shape also depends on the time step, see rest_shape_test.cpp.
constexpr float kDt = 0.002f;
constexpr int kSteps = 1000;
constexpr uint32_t kAlong = 40, kThick = 2, kWide = 5;             // cells
constexpr double kLength = 0.96, kThickness = 0.12, kWidth = 0.3;  // [m]
constexpr double kPi = 3.14159265358979323846;
constexpr tools::Material kMaterial = {1.0e6, 0.3, 200.0};

// From [0, 1] onto itself. Cells are wider by `a` of a cell at the ends, and narrower by as much in
// the middle.
double Graded(double s, double a) { return s + a * std::sin(2.0 * kPi * s) / (2.0 * kPi); }

// Tip of a sheet that is clamped at one end and rests under its weight [m]: mean height of the far
// edge, and how far that edge is from level.
struct Tip {
  double drop = 0.0, tilt = 0.0;
  size_t tets = 0;
};

Tip Bend(const std::function<void(tools::Vec3d*)>& place) {
  tools::TetMesh mesh = TetBox(kAlong, kThick, kWide, 1.0);
  for (tools::Vec3d& node : mesh.nodes) {
    node = {node.x * kLength / kAlong, node.y * kThickness / kThick, node.z * kWidth / kWide};
    place(&node);
  }
  const ShapeAsset shape(mesh, kMaterial, double(kDt));
  const Points rest = ToEigen(shape.rest());
  std::vector<uint32_t> clamped;
  for (Eigen::Index i = 0; i < rest.cols(); ++i) {
    if (rest(0, i) < 1e-6) clamped.push_back(static_cast<uint32_t>(i));
  }
  World world;
  const BodyId id = AddBody(&world, shape.asset(), {.pinned_nodes = clamped});
  StepToRest(&world, id, shape.num_nodes(), kDt, kSteps);
  CHECK(world.stats().max_speed < 1e-3f);
  const Points x = ToEigen(PositionsOf(world, id, shape.num_nodes()));
  Tip tip;
  tip.tets = mesh.tets.size();
  double left = 0.0, right = 0.0;
  for (Eigen::Index i = 0; i < rest.cols(); ++i) {
    if (rest(0, i) < kLength - 1e-6) continue;
    const double drop = rest(1, i) - x(1, i);
    tip.drop += drop / ((kThick + 1) * (kWide + 1));
    if (rest(2, i) < 1e-6) left += drop / (kThick + 1);
    if (rest(2, i) > kWidth - 1e-6) right += drop / (kThick + 1);
  }
  tip.tilt = std::fabs(left - right);
  return tip;
}

TEST_CASE("An unevenly refined sheet bends as the even one", "[long]") {
  const auto graded = [](double a) {
    return [a](tools::Vec3d* node) {
      node->x = kLength * Graded(node->x / kLength, a);
      node->z = kWidth * Graded(node->z / kWidth, a);
    };
  };
  const Tip even = Bend([](tools::Vec3d*) {});
  const Tip coarse_ends = Bend(graded(0.6)), fine_ends = Bend(graded(-0.6));
  // One long side three times as dense as the other.
  const Tip one_sided = Bend([](tools::Vec3d* node) {
    const double s = node->z / kWidth;
    node->z = kWidth * (0.5 * s + 0.5 * s * s);
  });
  const auto percent = [&](const Tip& tip) { return 100.0 * (tip.drop / even.drop - 1.0); };
  std::printf(
      "sheet of %zu tets: tip %.4f m down evenly sampled, %+.2f%% graded 4:1 with coarse ends, "
      "%+.2f%% with fine ends, %+.2f%% with one side 3:1 (tilted by %.4f m)\n",
      even.tets, even.drop, percent(coarse_ends), percent(fine_ends), percent(one_sided),
      one_sided.tilt);
  CHECK(even.drop > 0.1);
  for (const Tip& tip : {coarse_ends, fine_ends, one_sided}) {
    CHECK(tip.drop == Approx(even.drop).epsilon(0.05));
    CHECK(tip.tilt < 0.01 * even.drop);
  }
}

}  // namespace uneven_sheet_test

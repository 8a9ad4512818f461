// SPDX-License-Identifier: MIT
// Experiments of [Civ 3.3.5]: a beam under strong gravity, fixed by one upper edge, by each stress
// differential.
#include "plush/solver.h"

#include "runtime/tet_fixtures.h"
#include "shapes/kuhn_box.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <vector>

using namespace plush;
using namespace plush::test;

namespace {

constexpr double kMass = 1.6, kGravity = 100.0, kLength = 2.1, kHeight = 0.6;
constexpr double kScaleOfEnergy = kMass * kGravity * kLength;  // m |g| L [J]

struct Settings {
  float dt = 1.0f / 120.0f;
  int newton = 4;
  int linear = 1000;
  StressDifferential differential = StressDifferential::kHybrid;
  double young = 1000.0;
};

// Kinetic, elastic and gravity's energy after each step of 5 s, without the start's [J].
std::vector<double> EnergiesOf(const Settings& settings, double* seconds = nullptr) {
  const double density = kMass / (kLength * kHeight * kHeight);
  // Beam3D: 2.1 x 0.6 x 0.6 m, 6 x 3 x 3 cells of 6 tets.
  const ShapeAsset shape(KuhnBox(6, 3, 3, 0.35, 0.2, 0.2), {settings.young, 0.35, density},
                         double(settings.dt), 0u);
  REQUIRE(shape.asset().simulation().tets.size() == 324);
  REQUIRE(shape.num_nodes() == 112);
  WorldDesc of_world;
  of_world.gravity = {0.0f, -static_cast<float>(kGravity), 0.0f};
  of_world.sleep.speed = 0.0f;
  World world(of_world);
  const bool is_exact = settings.differential == StressDifferential::kExact;
  const BodySolver solver =
      ImplicitSolver({.newton_iterations = settings.newton,
                      .linear_iterations = settings.linear,
                      .newton_tolerance = 0.0f,
                      .linear_tolerance = 1.0e-3f,
                      .differential = settings.differential,
                      .line_search = false,
                      .linear_method = is_exact ? LinearMethod::kMinimumResiduals
                                                : LinearMethod::kConjugateGradients});
  std::vector<uint32_t> pins;
  const std::vector<Vec3> rest = shape.rest();
  for (uint32_t i = 0; i < rest.size(); ++i) {
    if (rest[i].x < 0.01f && rest[i].y > 0.59f) pins.push_back(i);
  }
  REQUIRE(pins.size() == 4);
  BodyDesc desc;
  desc.pinned_nodes = pins;
  desc.solver = &solver;
  AddBody(&world, shape.asset(), desc);
  const auto energy = [&world] {
    const WorldMeasures now = MeasuresOf(world);
    return now.kinetic_j + now.elastic_j + now.gravity_j;
  };
  const double start = energy();
  std::vector<double> out;
  const int steps = static_cast<int>(std::lround(5.0 / double(settings.dt)));
  for (int step = 0; step < steps; ++step) {
    StepWorld(&world, settings.dt);
    out.push_back(energy() - start);
    if (seconds == nullptr) continue;
    for (const float phase : world.stats().phase_s) *seconds += double(phase);
  }
  return out;
}

// Mean and largest difference of two curves, relative to m |g| L.
struct Difference {
  double mean = 0.0, most = 0.0;
};

Difference Compare(const std::vector<double>& a, const std::vector<double>& b) {
  Difference out;
  for (size_t i = 0; i < a.size(); ++i) {
    const double d = std::fabs(a[i] - b[i]) / kScaleOfEnergy;
    out.mean += d / static_cast<double>(a.size());
    out.most = std::max(out.most, d);
  }
  return out;
}

}  // namespace

TEST_CASE(
    "The hybrid differential keeps the exact one's energy of a beam for 5 s") {  // [Civ 3.3.5]
  const int newton = GENERATE(4, 8);
  Settings settings = {.dt = 1.0f / 120.0f, .newton = newton};
  const std::vector<double> hybrid = EnergiesOf(settings);
  settings.differential = StressDifferential::kExact;
  const std::vector<double> exact = EnergiesOf(settings);
  const Difference off = Compare(hybrid, exact);
  CAPTURE(newton, off.mean, off.most);
  CHECK(off.mean < 0.01);
  CHECK(off.most < 0.05);
}

TEST_CASE("Table of experiment 1: energies of a beam by differential", "[.papers]") {
  std::printf("%8s %7s | %s\n", "1/dt", "Newton",
              "hybrid: mean, largest; truncated: mean, largest (from exact, of m g L) | "
              "CPU [s]: exact, hybrid, truncated");
  for (const float rate : {30.0f, 60.0f, 120.0f, 240.0f}) {
    for (const int newton : {1, 2, 4, 8}) {
      Settings settings = {.dt = 1.0f / rate, .newton = newton};
      double cpu[3] = {};
      settings.differential = StressDifferential::kExact;
      const std::vector<double> exact = EnergiesOf(settings, &cpu[0]);
      settings.differential = StressDifferential::kHybrid;
      const Difference hybrid = Compare(EnergiesOf(settings, &cpu[1]), exact);
      settings.differential = StressDifferential::kTruncated;
      const Difference truncated = Compare(EnergiesOf(settings, &cpu[2]), exact);
      std::printf("%8.0f %7d | %.4f %.4f   %.4f %.4f | %.2f %.2f %.2f\n", double(rate), newton,
                  hybrid.mean, hybrid.most, truncated.mean, truncated.most, cpu[0], cpu[1], cpu[2]);
      std::fflush(stdout);
    }
  }
}

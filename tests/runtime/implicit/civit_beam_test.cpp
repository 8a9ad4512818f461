// SPDX-License-Identifier: MIT
// Experiments of [Civ 3.3.5]: a beam under strong gravity, fixed by one upper edge, by each stress
// differential.
#include "plush/solver.h"

#include "runtime/implicit/curve_file.h"
#include "runtime/tet_fixtures.h"
#include "shapes/kuhn_box.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

using namespace plush;
using namespace plush::test;

namespace civit_beam_test {

constexpr double kMass = 1.6, kGravity = 100.0, kLength = 2.1, kHeight = 0.6;
constexpr double kScaleOfEnergy = kMass * kGravity * kLength;  // m |g| L [J]

constexpr std::array kDifferentials = {StressDifferential::kExact, StressDifferential::kHybrid,
                                       StressDifferential::kConstantRotation,
                                       StressDifferential::kWarped};
constexpr const char* kNames[] = {"dP", "dP(H)", "dP(1)", "dP(2)"};

struct Settings {
  float dt = 1.0f / 120.0f;
  int newton = 4, linear = 1000;
  StressDifferential differential = StressDifferential::kHybrid;
  double young = 1000.0;
  Preconditioner preconditioner = Preconditioner::kFactor;
  double seconds = 5.0;
};

// Of each step, without the start's [J].
struct Energies {
  std::vector<double> sums;     // kinetic, elastic and gravity's
  std::vector<double> gravity;  // gravity's alone
};

// Adds the time that the steps take to `cpu`.
Energies EnergiesOf(const Settings& settings, double* cpu = nullptr) {
  const double density = kMass / (kLength * kHeight * kHeight);
  // Beam3D: 2.1 x 0.6 x 0.6 m, 6 x 3 x 3 cells of 6 tets.
  const ShapeAsset shape(KuhnBox(6, 3, 3, 0.35, 0.2, 0.2), {settings.young, 0.35, density},
                         double(settings.dt), 0u);
  REQUIRE(shape.asset().simulation().tets.size() == 324);
  REQUIRE(shape.num_nodes() == 112);
  World world({.gravity = {0.0f, -static_cast<float>(kGravity), 0.0f}, .sleep = {.speed = 0.0f}});
  const bool is_exact = settings.differential == StressDifferential::kExact;
  const BodySolver solver =
      ImplicitSolver({.newton_iterations = settings.newton,
                      .linear_iterations = settings.linear,
                      .newton_tolerance = 0.0f,
                      .linear_tolerance = 1.0e-3f,
                      .differential = settings.differential,
                      .preconditioner = settings.preconditioner,
                      .line_search = false,
                      .linear_method = is_exact ? LinearMethod::kMinimumResiduals
                                                : LinearMethod::kConjugateGradients});
  std::vector<uint32_t> pins;
  const std::vector<Vec3> rest = shape.rest();
  for (uint32_t i = 0; i < rest.size(); ++i) {
    if (rest[i].x < 0.01f && rest[i].y > 0.59f) pins.push_back(i);
  }
  REQUIRE(pins.size() == 4);
  AddBody(&world, shape.asset(), {.pinned_nodes = pins, .solver = &solver});
  const auto sum_of = [](const WorldMeasures& now) {
    return now.kinetic_j + now.elastic_j + now.gravity_j;
  };
  const WorldMeasures start = MeasuresOf(world);
  Energies out;
  const int steps = static_cast<int>(std::lround(settings.seconds / double(settings.dt)));
  for (int step = 0; step < steps; ++step) {
    StepWorld(&world, settings.dt);
    const WorldMeasures now = MeasuresOf(world);
    out.sums.push_back(sum_of(now) - sum_of(start));
    out.gravity.push_back(now.gravity_j - start.gravity_j);
    if (cpu == nullptr) continue;
    for (const float phase : world.stats().phase_s) *cpu += double(phase);
  }
  return out;
}

// Mean and largest difference of two curves, relative to m |g| L.
struct Difference {
  double mean = 0.0, most = 0.0;
};

Difference Compare(const Energies& a, const Energies& b) {
  Difference out;
  for (size_t i = 0; i < a.sums.size(); ++i) {
    const double d = std::fabs(a.sums[i] - b.sums[i]) / kScaleOfEnergy;
    out.mean += d / static_cast<double>(a.sums.size());
    out.most = std::max(out.most, d);
  }
  return out;
}

// A file of the sums over time, if PLUSH_CURVES names a folder: of each of kDifferentials, in m g
// L.
void WriteCurves(const std::string& name, float dt, const std::vector<Energies>& curves) {
  CurveFile file(name, "seconds,dP,dP(H),dP(1),dP(2)");
  for (size_t step = 0; step < curves[0].sums.size(); ++step) {
    std::vector<double> row = {double(dt) * static_cast<double>(step + 1)};
    for (const Energies& curve : curves) row.push_back(curve.sums[step] / kScaleOfEnergy);
    file.Add(row);
  }
}

// When the beam, which swings about its fixed edge, is lowest for the first time [s]. Solves that
// are not converged let it fall too slowly.
double FirstLowest(const Settings& settings) {
  const std::vector<double> gravity = EnergiesOf(settings).gravity;
  size_t lowest = 0;
  while (lowest + 1 < gravity.size() && gravity[lowest + 1] <= gravity[lowest]) ++lowest;
  return static_cast<double>(lowest + 1) * double(settings.dt);
}

TEST_CASE("The hybrid differential keeps the exact one's energy of a beam for 5 s",
          "[long]") {  // [Civ 3.3.5]
  const int newton = GENERATE(4, 8);
  Settings settings = {.dt = 1.0f / 120.0f, .newton = newton};
  const Energies hybrid = EnergiesOf(settings);
  settings.differential = StressDifferential::kExact;
  const Energies exact = EnergiesOf(settings);
  const Difference off = Compare(hybrid, exact);
  CAPTURE(newton, off.mean, off.most);
  CHECK(off.mean < 0.01);
  CHECK(off.most < 0.05);
}

// Beam3D, whose right half mirrors its left one.
tools::TetMesh MirroredBeam() {
  tools::TetMesh mesh = KuhnBox(6, 3, 3, 0.35, 0.2, 0.2);
  const auto mirrored = [](uint32_t node) { return node / 7 * 7 + (6 - node % 7); };
  std::vector<std::array<uint32_t, 4>> tets;
  for (const auto& tet : mesh.tets) {
    if (std::ranges::any_of(tet, [](uint32_t node) { return node % 7 > 3; })) continue;
    tets.push_back(tet);
    tets.push_back({mirrored(tet[0]), mirrored(tet[1]), mirrored(tet[3]), mirrored(tet[2])});
  }
  mesh.tets = tets;
  return mesh;
}

// How a quasistatic beam that is fixed at both ends sags: the state after the last step.
struct Sag {
  double lowest = 0.0;     // [m]
  double asymmetry = 0.0;  // largest distance of a node from its mirrored one, of the length
  double change = 0.0;     // largest way of a node in the last step, of the length
};

Sag SagOf(StressDifferential differential, int newton, int steps) {
  const ShapeAsset shape(MirroredBeam(), {1000.0, 0.35, kMass / (kLength * kHeight * kHeight)},
                         1.0 / 60.0, 0u);
  REQUIRE(shape.asset().simulation().tets.size() == 324);
  World world(
      {.gravity = {0.0f, -static_cast<float>(3.0 * kGravity), 0.0f}, .sleep = {.speed = 0.0f}});
  const bool is_exact = differential == StressDifferential::kExact;
  const BodySolver solver =
      ImplicitSolver({.newton_iterations = newton,
                      .linear_iterations = 1000,
                      .newton_tolerance = 0.0f,
                      .linear_tolerance = 1.0e-3f,
                      .differential = differential,
                      .line_search = false,
                      .linear_method = is_exact ? LinearMethod::kMinimumResiduals
                                                : LinearMethod::kConjugateGradients,
                      .quasistatic = true,
                      .model = MaterialModel::kCorotated,
                      .rotation = RotationMethod::kInvertibleSvd});
  std::vector<uint32_t> pins;
  const std::vector<Vec3> rest = shape.rest();
  for (uint32_t i = 0; i < rest.size(); ++i) {
    if (rest[i].x < 0.01f || rest[i].x > 2.09f) pins.push_back(i);
  }
  REQUIRE(pins.size() == 32);
  const auto mirrored = [](const Vec3& p) {
    return Eigen::Vector3d(kLength - double(p.x), double(p.y), double(p.z));
  };
  std::vector<size_t> partners;
  for (const Vec3& p : rest) {
    const auto is_partner = [&](const Vec3& q) { return (ToEigen(q) - mirrored(p)).norm() < 1e-3; };
    const auto found = std::ranges::find_if(rest, is_partner);
    REQUIRE(found != rest.end());
    partners.push_back(static_cast<size_t>(found - rest.begin()));
  }
  const BodyId id = AddBody(&world, shape.asset(), {.pinned_nodes = pins, .solver = &solver});
  std::vector<Vec3> x = PositionsOf(world, id, rest.size()), before = x;
  for (int step = 0; step < steps; ++step) {
    StepWorld(&world, 1.0f / 60.0f);
    before = x;
    x = PositionsOf(world, id, rest.size());
  }
  Sag out;
  for (uint32_t i = 0; i < x.size(); ++i) {
    out.lowest = std::min(out.lowest, double(x[i].y));
    const double off = (ToEigen(x[i]) - mirrored(x[partners[i]])).norm();
    out.asymmetry = std::max(out.asymmetry, off / kLength);
    out.change = std::max(out.change, (ToEigen(x[i]) - ToEigen(before[i])).norm() / kLength);
  }
  return out;
}

// [Civ, Fig. 3.4] does not say how large its beam and gravity are. Here, by one Newton iteration of
// dP(2), each step moves a node by two thirds of the length, there and back; under a third of that
// gravity it converges.
TEST_CASE("A quasistatic beam between fixed ends reaches its symmetric equilibrium",
          "[papers][long]") {
  std::printf("%8s %7s | lowest [m], asymmetry, last step's way [of the length]\n", "", "Newton");
  for (const int newton : {1, 4}) {
    Sag sags[kDifferentials.size()];
    for (size_t k = 0; k < kDifferentials.size(); ++k) {
      sags[k] = SagOf(kDifferentials[k], newton, 60);
      std::printf("%8s %7d | %.4f %.1e %.1e\n", kNames[k], newton, sags[k].lowest,
                  sags[k].asymmetry, sags[k].change);
    }
    for (const size_t k : {0, 1}) {  // dP and dP(H)
      CAPTURE(newton, kNames[k]);
      CHECK(sags[k].asymmetry < 1e-4);
      CHECK(sags[k].change < 1e-4);
      CHECK(sags[k].lowest == Approx(sags[0].lowest).epsilon(1e-3));
    }
  }
}

TEST_CASE("A stiff beam falls too slowly by few iterations, unless the factor helps") {
  // [Civ 3.3.5, Experiment 4]
  Settings settings = {.dt = 1.0f / 60.0f, .newton = 8, .young = 1.0e5, .seconds = 2.0};
  const double right = FirstLowest(settings);
  const auto by = [&settings](int newton, int linear, Preconditioner preconditioner) {
    settings.newton = newton;
    settings.linear = linear;
    settings.preconditioner = preconditioner;
    return FirstLowest(settings);
  };
  const double few = by(1, 10, Preconditioner::kNone),
               more_newton = by(4, 10, Preconditioner::kNone);
  const double more_linear = by(1, 40, Preconditioner::kNone);
  CAPTURE(right, few, more_newton, more_linear);
  CHECK(few > 4.0 * right);
  CHECK(more_newton < few);
  CHECK(more_linear < 0.8 * more_newton);  // of the same number in all
  CHECK(by(1, 10, Preconditioner::kFactor) == Approx(right).margin(1.01 * double(settings.dt)));
}

TEST_CASE("Table of experiment 1: energies of a beam by differential", "[.papers]") {
  std::printf("%8s %7s | %s\n", "1/dt", "Newton",
              "dP(H): mean, largest; dP(1): the same; dP(2): the same (from exact, of m g L) | "
              "CPU [s]: exact, dP(H), dP(1), dP(2)");
  for (const float rate : {30.0f, 60.0f, 120.0f, 240.0f}) {
    for (const int newton : {1, 2, 4, 8}) {
      Settings settings = {.dt = 1.0f / rate, .newton = newton};
      double cpu[kDifferentials.size()] = {};
      std::vector<Energies> curves;
      for (size_t k = 0; k < kDifferentials.size(); ++k) {
        settings.differential = kDifferentials[k];
        curves.push_back(EnergiesOf(settings, &cpu[k]));
      }
      std::printf("%8.0f %7d |", double(rate), newton);
      for (size_t k = 1; k < curves.size(); ++k) {
        const Difference off = Compare(curves[k], curves[0]);
        std::printf(" %.4f %.4f  ", off.mean, off.most);
      }
      std::printf("| %.2f %.2f %.2f %.2f\n", cpu[0], cpu[1], cpu[2], cpu[3]);
      std::fflush(stdout);
      WriteCurves("beam_" + std::to_string(static_cast<int>(rate)) + "_" + std::to_string(newton),
                  settings.dt, curves);
    }
  }
}

TEST_CASE("Table of experiment 3: ten linear iterations, from the exact differential with all",
          "[.papers]") {
  std::printf(
      "%8s %7s | %s\n", "1/dt", "Newton",
      "mean difference (of m g L) without preconditioner: exact, dP(H), dP(1), dP(2) | with "
      "the factor: the same");
  for (const float rate : {30.0f, 60.0f, 120.0f, 240.0f}) {
    for (const int newton : {1, 2, 4, 8}) {
      Settings settings = {.dt = 1.0f / rate, .newton = newton};
      settings.differential = StressDifferential::kExact;
      const Energies right = EnergiesOf(settings);
      settings.linear = 10;
      std::printf("%8.0f %7d", double(rate), newton);
      for (const Preconditioner preconditioner : {Preconditioner::kNone, Preconditioner::kFactor}) {
        std::printf(" |");
        settings.preconditioner = preconditioner;
        for (const StressDifferential differential : kDifferentials) {
          settings.differential = differential;
          std::printf(" %.4f", Compare(EnergiesOf(settings), right).mean);
        }
      }
      std::printf("\n");
      std::fflush(stdout);
    }
  }
}

TEST_CASE("Table of experiment 4: a beam's first fall by stiffness and iterations", "[.papers]") {
  constexpr int kLinear[] = {10, 20, 40, 1000}, kNewton[] = {1, 2, 4, 8};
  std::printf(
      "when the beam is lowest for the first time [s], for 1, 2, 4 and 8 Newton iterations\n"
      "%8s %8s %7s | without preconditioner | with the factor\n",
      "1/dt", "E [Pa]", "linear");
  for (const float rate : {60.0f, 120.0f}) {
    for (const double young : {1.0e3, 1.0e4, 1.0e5, 1.0e6}) {
      for (const int linear : kLinear) {
        std::printf("%8.0f %8.0e %7d", double(rate), young, linear);
        for (const Preconditioner preconditioner :
             {Preconditioner::kNone, Preconditioner::kFactor}) {
          std::printf(" |");
          for (const int newton : kNewton) {
            std::printf(" %.3f", FirstLowest({.dt = 1.0f / rate,
                                              .newton = newton,
                                              .linear = linear,
                                              .young = young,
                                              .preconditioner = preconditioner,
                                              .seconds = 2.0}));
          }
        }
        std::printf("\n");
        std::fflush(stdout);
      }
    }
  }
}

}  // namespace civit_beam_test

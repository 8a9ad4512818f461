// SPDX-License-Identifier: MIT
// The runtime's motion with default settings against converged implicit Euler of the same mesh:
// trajectories, half swings, sags, and the frequencies of a cantilever.
#include "reference/implicit_euler.h"
#include "reference/kept_turns.h"
#include "reference/trajectory.h"
#include "runtime/motion/cantilever.h"
#include "runtime/tet_fixtures.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

using namespace plush;
using namespace plush::test;

namespace motion_test {

using reference::Trajectory;

constexpr float kDt = 0.01f;

// What moves: a start, and what holds it.
struct Scene {
  tools::TetMesh mesh;
  std::vector<uint32_t> pins;
  Points start;
  Eigen::Vector3d gravity = {0.0, double(-9.81f), 0.0};
  Eigen::Vector3d swing = {0.0, 0.0, 0.0};  // points back to where the swing starts
  int steps = 0;
};

constexpr int kDefaultSteps[] = {0, 0};  // outer iterations and volume sweeps
constexpr int kKugSteps[] = {1, 2};

// Rest positions in the order of the asset's nodes, which the material does not change.
Points RestOf(const tools::TetMesh& mesh) {
  return ToEigen(ShapeAsset::Baked(mesh, {}, double(kDt)).rest());
}

// A beam of 0.4 x 0.1 x 0.1 m along x, clamped at x = 0.
Scene ClampedBeam() {
  Scene scene;
  scene.mesh = TetBox(8, 2, 2, 0.05);
  scene.start = RestOf(scene.mesh);
  for (Eigen::Index i = 0; i < scene.start.cols(); ++i) {
    if (scene.start(0, i) < 1e-6) scene.pins.push_back(static_cast<uint32_t>(i));
  }
  scene.steps = 40;
  return scene;
}

// A club along x, three times as thick at one end as at the other. It starts level and hangs by
// the upper edge of an end's face, about which it swings.
Scene HungClub(bool by_thick_end) {
  Scene scene;
  scene.mesh = TetBox(8, 2, 2, 0.05);
  for (tools::Vec3d& node : scene.mesh.nodes) {
    const double thickness = 0.5 + node.x / 0.4;
    node.y *= thickness;
    node.z = (node.z - 0.05) * thickness;
  }
  scene.start = RestOf(scene.mesh);
  const double end = by_thick_end ? 0.4 : 0.0, top = by_thick_end ? 0.15 : 0.05;
  for (Eigen::Index i = 0; i < scene.start.cols(); ++i) {
    const bool is_at_end = std::fabs(scene.start(0, i) - end) < 0.01;
    if (!is_at_end || scene.start(1, i) < 0.85 * top) continue;
    scene.pins.push_back(static_cast<uint32_t>(i));
  }
  scene.swing = {by_thick_end ? -1.0 : 1.0, 0.0, 0.0};
  scene.steps = 80;
  return scene;
}

// Four arms of 0.3 x 0.1 x 0.1 m that meet in a cross. It starts level and hangs by an arm's end.
Scene HungCross() {
  Scene scene;
  const tools::TetMesh box = TetBox(14, 2, 14, 0.05);
  std::vector<uint32_t> new_of_old(box.nodes.size(), UINT32_MAX);
  for (std::array<uint32_t, 4> tet : box.tets) {
    tools::Vec3d centre = {};
    for (const uint32_t node : tet) centre = centre + box.nodes[node] / 4.0;
    if (std::fabs(centre.x - 0.35) > 0.05 && std::fabs(centre.z - 0.35) > 0.05) continue;
    for (uint32_t& node : tet) {
      uint32_t& place = new_of_old[node];
      if (place == UINT32_MAX) {
        place = static_cast<uint32_t>(scene.mesh.nodes.size());
        scene.mesh.nodes.push_back(box.nodes[node]);
      }
      node = place;
    }
    scene.mesh.tets.push_back(tet);
  }
  scene.start = RestOf(scene.mesh);
  for (Eigen::Index i = 0; i < scene.start.cols(); ++i) {
    if (scene.start(0, i) < 1e-6) scene.pins.push_back(static_cast<uint32_t>(i));
  }
  scene.swing = {1.0, 0.0, 0.0};
  scene.steps = 120;
  return scene;
}

// A beam that is bent and twisted, and then let go without gravity.
Scene BentBeam() {
  Scene scene;
  scene.mesh = TetBox(8, 2, 2, 0.05);
  scene.start = RestOf(scene.mesh);
  for (Eigen::Index i = 0; i < scene.start.cols(); ++i) {
    // Sections stay plane and normal to an arc; each turns about it in proportion to its place.
    constexpr double kCurvature = 1.5, kTwist = 2.0;  // [1/m]
    const double along = scene.start(0, i) - 0.2;
    const Eigen::Vector2d section(scene.start(1, i) - 0.05, scene.start(2, i) - 0.05);
    const Eigen::Vector2d turned = Eigen::Rotation2Dd(kTwist * along) * section;
    const double angle = kCurvature * along, radius = 1.0 / kCurvature - turned.x();
    scene.start.col(i) = Eigen::Vector3d(radius * std::sin(angle),
                                         1.0 / kCurvature - radius * std::cos(angle), turned.y());
  }
  scene.gravity.setZero();
  scene.steps = 40;
  return scene;
}

// A rope of 0.6 x 0.05 x 0.05 m along x that starts level and hangs by the face at x = 0: it bends
// far.
Scene HungRope() {
  Scene scene;
  scene.mesh = TetBox(24, 2, 2, 0.025);
  scene.start = RestOf(scene.mesh);
  for (Eigen::Index i = 0; i < scene.start.cols(); ++i) {
    if (scene.start(0, i) < 1e-6) scene.pins.push_back(static_cast<uint32_t>(i));
  }
  scene.swing = {1.0, 0.0, 0.0};
  scene.steps = 100;
  return scene;
}

// Converged implicit Euler, without its loss of angular momentum if nothing is pinned.
Trajectory ReferenceOf(const Scene& scene, const ShapeAsset& shape) {
  reference::EulerSettings settings = {
      .dt_s = double(kDt), .gravity = scene.gravity, .pinned = scene.pins};
  settings.tolerance = 1e-4;  // moves the result by less than 1e-5 of the motion
  reference::ImplicitEuler euler(reference::ElasticBody(shape.asset()), settings);
  euler.SetState(scene.start, Points::Zero(3, scene.start.cols()));
  Trajectory out(scene.start);
  for (int step = 0; step < scene.steps; ++step) {
    const Points before = euler.v();
    const bool converged = euler.Step();
    CAPTURE(step, euler.report().residual, euler.report().newton_iterations,
            euler.report().cg_iterations);
    REQUIRE(converged);
    if (scene.pins.empty()) {
      reference::KeepTurns(0, scene.start.cols(), before, double(kDt), &euler);
    }
    out.Add(euler.x());
  }
  return out;
}

// The runtime's steps, with outer iterations and volume sweeps.
Trajectory RuntimeOf(const Scene& scene, const ShapeAsset& shape,
                     const int (&steps)[2] = kDefaultSteps) {
  World world({.gravity = ToVec3(scene.gravity), .sleep = {.speed = 0.0f}});
  BodyDesc body = {.splitting = {.outer_iterations = steps[0], .volume_sweeps = steps[1]}};
  body.pinned_nodes = scene.pins;
  const BodyId id = AddBody(&world, shape.asset(), body);
  REQUIRE(world.SetNodePositions(id, ToVec3s(scene.start)).ok());
  Trajectory out(scene.start);
  for (int step = 0; step < scene.steps; ++step) {
    CHECK(StepWorld(&world, kDt) == kStepOk);
    out.Add(ToEigen(PositionsOf(world, id, shape.num_nodes())));
  }
  return out;
}

constexpr double kYoungs[] = {1.0e4, 1.0e5, 1.0e6, 1.0e7, 1.0e8};  // [Pa]
constexpr double kPoissons[] = {0.3, 0.4, 0.45, 0.49};
constexpr double kDensity = 200.0;  // of plush: bodies of 1e4 Pa hang without being torn [kg/m^3]

// A measure by Young's modulus and Poisson's ratio.
using Table = double[5][4];

// What the step aims at. Where it misses, the tables have what was measured, in the form in which
// the tests print it; they allow 1.1 times as much.
constexpr double kAimTrajectory = 0.02;
constexpr double kAimSag = 0.01;
constexpr double kAimSwing = 1.0;  // [steps]
constexpr double kAimFrequency = 0.03;
constexpr double kMargin = 1.1;

constexpr Table kMet = {};
constexpr Table kBeamTrajectory = {{0, 0, 0, 0},
                                   {0, 0.057, 0.13, 0.12},
                                   {0, 0.036, 0.079, 0.1},
                                   {0, 0.02, 0.043, 0.065},
                                   {0, 0, 0.041, 0.062}};
constexpr Table kBeamSag = {{0, 0, 0, 0},
                            {0.012, 0.039, 0.084, 0.081},
                            {0.015, 0.056, 0.13, 0.18},
                            {0.026, 0.067, 0.15, 0.22},
                            {0.021, 0.062, 0.13, 0.19}};
constexpr Table kRopeTrajectory = {{0, 0, 0, 0},
                                   {0, 0, 0, 0},
                                   {0, 0, 0.041, 0.065},
                                   {0, 0.026, 0.041, 0.054},
                                   {0.021, 0.021, 0.025, 0.03}};
constexpr Table kRopeSwing = {{0, 0, 0, 0}, {0, 0, 0, 0}, {0, 0, 0, 0}, {0, 0, 0, 0}, {0, 0, 0, 0}};
constexpr Table kRopeSag = {{0, 0, 0, 0},
                            {0, 0, 0, 0},
                            {0, 0, 0.021, 0.032},
                            {0, 0.028, 0.054, 0.076},
                            {0.02, 0.038, 0.066, 0.093}};
constexpr Table kCrossTrajectory = {{0, 0, 0, 0.02},
                                    {0, 0, 0.04, 0.068},
                                    {0.025, 0.082, 0.19, 0.17},
                                    {0, 0.024, 0.046, 0.066},
                                    {0, 0, 0.026, 0.036}};
constexpr Table kCrossSwing = {
    {0, 0, 0, 0}, {0, 0, 0, 0}, {0, 0, 0, 0}, {0, 0, 0, 0}, {0, 0, 0, 0}};
constexpr Table kCrossSag = {{0, 0, 0, 0},
                             {0, 0, 0, 0},
                             {0.011, 0.037, 0.08, 0.071},
                             {0.022, 0.055, 0.095, 0.14},
                             {0.045, 0.09, 0.15, 0.21}};
constexpr Table kFreeTrajectory = {{0.043, 0.043, 0.045, 0.046},
                                   {0.076, 0.076, 0.077, 0.077},
                                   {0.084, 0.084, 0.084, 0.069},
                                   {0.086, 0.085, 0.085, 0.074},
                                   {0.086, 0.086, 0.086, 0.074}};

// Error of the frequency, for 1e4, 1e5, 1e6 Pa and the Poisson's ratios. Stiffer beams have less
// than ten steps a period. So has the torsion of 1e6 Pa.
constexpr double kBending[3][4] = {{0, 0, 0, 0}, {0, 0, 0, 0}, {0, 0, 0, 0.0452}};
constexpr double kTorsion[2][4] = {{0, 0, 0, 0}, {0.0911, 0.0878, 0.0892, 0.046}};

// Difference of the half swings' ends [steps].
double SwingError(const Trajectory& measured, const Trajectory& right,
                  const Eigen::Vector3d& direction) {
  return std::fabs(double(reference::HalfSwingStep(measured, direction)) -
                   double(reference::HalfSwingStep(right, direction)));
}

// Error of the lowest point's depth below the start, of that depth.
double SagError(const Trajectory& measured, const Trajectory& right) {
  const double start = double(right.rest.row(1).minCoeff());
  return std::fabs((start - reference::LowestY(measured)) / (start - reference::LowestY(right)) -
                   1.0);
}

// What is known of a measure. Without a table it is not measured.
struct Known {
  const Table* trajectory = nullptr;
  const Table* swing = nullptr;
  const Table* sag = nullptr;
};

// Prints a measure in the form of the tables above, and compares it with one.
void Check(const char* scene, const char* what, const Table& values, const Table* misses,
           double aim) {
  if (misses == nullptr) return;
  std::string text = "{";
  for (int e = 0; e < 5; ++e) {
    for (int n = 0; n < 4; ++n) {
      char number[32];
      std::snprintf(number, sizeof(number), "%s%.2g",
                    n > 0   ? ", "
                    : e > 0 ? ", {"
                            : "{",
                    values[e][n]);
      text += number;
    }
    text += "}";
  }
  std::printf("motion: %s, %s: %s}\n", scene, what, text.c_str());
  for (int e = 0; e < 5; ++e) {
    for (int n = 0; n < 4; ++n) {
      CAPTURE(scene, what, kYoungs[e], kPoissons[n]);
      CHECK(values[e][n] <= std::max(aim, kMargin * (*misses)[e][n]));
    }
  }
}

void MeasureAndCheck(const char* name, const Scene& scene, const Known& known) {
  Table trajectory = {}, swing = {}, sag = {};
  for (int e = 0; e < 5; ++e) {
    for (int n = 0; n < 4; ++n) {
      CAPTURE(name, kYoungs[e], kPoissons[n]);
      const ShapeAsset shape =
          ShapeAsset::Baked(scene.mesh, {kYoungs[e], kPoissons[n], kDensity}, double(kDt));
      REQUIRE(shape.simulation().num_clusters > 1);
      const Trajectory right = ReferenceOf(scene, shape), measured = RuntimeOf(scene, shape);
      trajectory[e][n] = reference::TrajectoryError(measured, right);
      swing[e][n] = SwingError(measured, right, scene.swing);
      sag[e][n] = SagError(measured, right);
    }
  }
  Check(name, "trajectory error", trajectory, known.trajectory, kAimTrajectory);
  Check(name, "half swing, steps off", swing, known.swing, kAimSwing);
  Check(name, "sag", sag, known.sag, kAimSag);
}

TEST_CASE("A cantilever moves as the reference does") {
  MeasureAndCheck("cantilever", ClampedBeam(), {&kBeamTrajectory, nullptr, &kBeamSag});
}

TEST_CASE("A club that hangs by its thin end moves as the reference does", "[long]") {
  MeasureAndCheck("club by its thin end", HungClub(false), {&kMet, &kMet, &kMet});
}

TEST_CASE("A club that hangs by its thick end moves as the reference does", "[long]") {
  MeasureAndCheck("club by its thick end", HungClub(true), {&kMet, &kMet, &kMet});
}

TEST_CASE("A rope moves as the reference does", "[long]") {
  MeasureAndCheck("rope", HungRope(), {&kRopeTrajectory, &kRopeSwing, &kRopeSag});
}

TEST_CASE("A cross that hangs by one arm moves as the reference does", "[long]") {
  MeasureAndCheck("cross", HungCross(), {&kCrossTrajectory, &kCrossSwing, &kCrossSag});
}

TEST_CASE("A free beam that was bent and twisted moves as the reference does") {
  MeasureAndCheck("free bent beam", BentBeam(), {&kFreeTrajectory, nullptr, nullptr});
}

// Without clusters and with volume sweeps it is the step of [Kug]: turns are resisted. This proves
// that the measures see it.
TEST_CASE("The measures of motion see that Kug's step swings too slowly") {
  for (const bool by_thick_end : {false, true}) {
    const Scene scene = HungClub(by_thick_end);
    for (const double young : {1.0e5, 1.0e6, 1.0e7}) {
      const ShapeAsset shape = ShapeAsset::Baked(scene.mesh, {young, 0.3, kDensity}, double(kDt));
      const Trajectory right = ReferenceOf(scene, shape);
      const Trajectory measured = RuntimeOf(scene, shape, kKugSteps);
      const double trajectory = reference::TrajectoryError(measured, right);
      const double swing = SwingError(measured, right, scene.swing);
      std::printf("motion: Kug's step, club by its %s end, %.0e Pa: %.2g, half swing %.0f off\n",
                  by_thick_end ? "thick" : "thin", young, trajectory, swing);
      CHECK(trajectory > 0.3);
      CHECK(swing > 10.0);
    }
  }
}

// Steps between the first two zeros of these numbers: half a period. 0 if there is only one zero.
double HalfPeriod(const std::vector<double>& parts) {
  double first = 0.0;
  for (size_t k = 1; k < parts.size(); ++k) {
    if (parts[k - 1] * parts[k] >= 0.0) continue;
    const double zero = double(k) - parts[k] / (parts[k] - parts[k - 1]);
    if (first > 0.0) return zero - first;
    first = zero;
  }
  return 0.0;
}

// Error of the frequency of `mode`, relative to the one that implicit Euler gives.
double FrequencyError(const Cantilever& beam, const BeamMode& mode) {
  Scene scene;
  scene.start = beam.model.rest + 0.01 * mode.shape;
  scene.gravity.setZero();
  scene.pins = beam.pins;
  const double period = 2.0 * 3.14159265358979 / std::atan(mode.omega * double(kDt));  // in steps
  scene.steps = static_cast<int>(period) + 2;
  const auto half_period = [&](const Trajectory& trajectory) {
    std::vector<double> parts;
    for (const auto& x : trajectory.steps) {
      parts.push_back(mode.PartOf(beam.model, x.cast<double>()));
    }
    return HalfPeriod(parts);
  };
  const double right = half_period(ReferenceOf(scene, beam.shape));
  CHECK(right == Approx(0.5 * period).epsilon(0.02));
  scene.steps *= 20;
  const double measured = half_period(RuntimeOf(scene, beam.shape));
  return measured > 0.0 ? std::fabs(right / measured - 1.0) : 1.0;
}

TEST_CASE("A cantilever bends and twists at the reference's frequency", "[long]") {
  for (int n = 0; n < 4; ++n) {
    const double nu = kPoissons[n];
    BeamModes modes = ModesOf(Cantilever({8, 2, 3, 0.05}, {1.0, nu, kDensity}, double(kDt)));
    const double bending = modes.bending.omega, torsion = modes.torsion.omega;
    for (int e = 0; e < 3; ++e) {
      const Cantilever beam({8, 2, 3, 0.05}, {kYoungs[e], nu, kDensity}, double(kDt));
      modes.bending.omega = bending * std::sqrt(kYoungs[e]);
      modes.torsion.omega = torsion * std::sqrt(kYoungs[e]);
      for (const bool bends : {true, false}) {
        if (!bends && e == 2) continue;
        const BeamMode& mode = bends ? modes.bending : modes.torsion;
        const double error = FrequencyError(beam, mode);
        std::printf("motion: cantilever of %.0e Pa, nu %.2f, %s, %.0f steps a period: %.3g off\n",
                    kYoungs[e], nu, bends ? "bending" : "torsion",
                    6.2831853 / (mode.omega * double(kDt)), error);
        CAPTURE(kYoungs[e], nu, bends);
        const double known = bends ? kBending[e][n] : kTorsion[e][n];
        CHECK(error <= std::max(kAimFrequency, kMargin * known));
      }
    }
  }
}

// Angular frequencies of the first bending of a slender beam [rad/s].
struct SlenderBending {
  double right, measured;
};

SlenderBending BendingOfSlenderBeam(uint32_t cells_across, const tools::Material& material) {
  const Cantilever beam({10 * cells_across, cells_across, cells_across, 0.04 / cells_across},
                        material, double(kDt));
  BeamMode mode = {.shape = Points::Zero(3, beam.model.num_nodes())};
  for (Eigen::Index i = 0; i < beam.model.num_nodes(); ++i) {
    const double along = beam.model.rest(0, i) / beam.size.length();
    mode.shape(1, i) = along * along * (1.0 - along / 3.0);  // bent by a force at the tip
  }
  Scene scene;
  scene.start = beam.model.rest + 0.01 * mode.shape;
  scene.gravity.setZero();
  scene.pins = beam.pins;
  scene.steps = 50;
  const auto omega = [&](const Trajectory& trajectory) {
    std::vector<double> parts;
    for (const auto& x : trajectory.steps) {
      parts.push_back(mode.PartOf(beam.model, x.cast<double>()));
    }
    return std::tan(3.14159265358979 / HalfPeriod(parts)) / double(kDt);
  };
  return {omega(ReferenceOf(scene, beam.shape)), omega(RuntimeOf(scene, beam.shape))};
}

TEST_CASE("A slender cantilever bends at the frequency of the beam formula", "[long]") {
  const tools::Material material = {1.0e6, 0.0, kDensity};
  const double formula = BendingByFormula({20, 2, 2, 0.02}, material);
  const SlenderBending coarse = BendingOfSlenderBeam(2, material);
  const SlenderBending fine = BendingOfSlenderBeam(4, material);
  // Tets of constant strain are too stiff, by the square of their length.
  const double right = fine.right + (fine.right - coarse.right) / 3.0;
  const double measured = fine.measured + (fine.measured - coarse.measured) / 3.0;
  std::printf(
      "motion: slender cantilever, %.0f steps a period, of the formula's frequency: "
      "2 cells across %.4f (reference %.4f), 4 cells %.4f (%.4f), extrapolated %.4f "
      "(%.4f)\n",
      6.2831853 / (formula * double(kDt)), coarse.measured / formula, coarse.right / formula,
      fine.measured / formula, fine.right / formula, measured / formula, right / formula);
  CHECK(right == Approx(formula).epsilon(kAimFrequency));
  CHECK(coarse.measured == Approx(coarse.right).epsilon(kAimFrequency));
  CHECK(fine.measured == Approx(fine.right).epsilon(kAimFrequency));
}

}  // namespace motion_test

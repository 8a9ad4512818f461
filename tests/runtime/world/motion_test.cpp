// SPDX-License-Identifier: MIT
// The runtime's motion with default settings against converged implicit Euler of the same mesh:
// trajectories, half swings, sags, and the frequencies of a cantilever.
#include "reference/implicit_euler.h"
#include "reference/trajectory.h"
#include "runtime/tet_fixtures.h"
#include "runtime/world/cantilever.h"

#include <catch2/catch.hpp>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

using namespace plush;
using namespace plush::test;
using reference::Trajectory;

namespace {

constexpr float kDt = 0.01f;
constexpr double kYoungs[] = {1.0e4, 1.0e5, 1.0e6, 1.0e7, 1.0e8};  // [Pa]
constexpr double kPoissons[] = {0.3, 0.45, 0.49};
constexpr double kDensity = 200.0;  // of plush: bodies of 1e4 Pa hang without being torn [kg/m^3]

// A measure by Young's modulus and Poisson's ratio.
using Table = double[5][3];

// Measured values. The tests allow 1.1 times as much.
constexpr double kMargin = 1.1;
// Added to that: a hundredth, about half a step of a half swing.
constexpr double kSlack = 0.01;

constexpr Table kBeamTrajectory = {{0.1, 0.09, 0.074},
                                   {0.64, 0.72, 0.88},
                                   {0.45, 0.54, 0.75},
                                   {0.41, 0.52, 0.74},
                                   {0.41, 0.52, 0.74}};
constexpr Table kBeamSag = {{0.027, 0.028, 0.015},
                            {0.068, 0.042, 0.22},
                            {0.037, 0.23, 0.53},
                            {0.21, 0.57, 0.94},
                            {0.32, 0.72, 1.1}};
constexpr Table kThinTrajectory = {
    {0.053, 0.053, 0.057}, {0.34, 0.31, 0.31}, {0.89, 0.88, 0.87}, {0.99, 0.99, 0.99}, {1, 1, 1}};
constexpr Table kThinSwing = {{0.093, 0.15, 0.16},
                              {0.23, 0.23, 0.23},
                              {0.25, 0.25, 0.25},
                              {0.25, 0.25, 0.25},
                              {0.25, 0.25, 0.25}};
constexpr Table kThinSag = {{0.013, 0.014, 0.02},
                            {0.012, 0.0074, 0.0051},
                            {0.15, 0.11, 0.1},
                            {0.88, 0.87, 0.86},
                            {0.99, 0.99, 0.99}};
constexpr Table kThickTrajectory = {
    {0.1, 0.093, 0.094}, {0.45, 0.43, 0.43}, {0.87, 0.86, 0.85}, {0.99, 0.98, 0.98}, {1, 1, 1}};
constexpr Table kThickSwing = {{0.091, 0.073, 0.073},
                               {0.54, 0.54, 0.54},
                               {0.54, 0.54, 0.54},
                               {0.54, 0.54, 0.54},
                               {0.54, 0.54, 0.54}};
constexpr Table kThickSag = {{0.0058, 0.0021, 0.0024},
                             {0.002, 0.0013, 0.00087},
                             {0.36, 0.32, 0.3},
                             {0.92, 0.91, 0.91},
                             {0.99, 0.99, 0.99}};
constexpr Table kFreeTrajectory = {{0.53, 0.54, 0.55},
                                   {0.47, 0.48, 0.48},
                                   {0.48, 0.48, 0.49},
                                   {0.49, 0.49, 0.49},
                                   {0.49, 0.49, 0.49}};

// Error of the frequency, for 1e4, 1e5, 1e6 Pa and Poisson's ratios of 0.3, 0.45. Stiffer beams
// have less than ten steps a period. So has the torsion of 1e6 Pa.
constexpr double kBending[3][2] = {{0.0855, 0.0805}, {0.408, 0.426}, {0.757, 0.771}};
constexpr double kTorsion[2][2] = {{0.436, 0.415}, {0.768, 0.756}};

// What moves: a start, and what holds it.
struct Scene {
  tools::TetMesh mesh;
  std::vector<uint32_t> pins;
  Points start;
  Eigen::Vector3d gravity = {0.0, double(-9.81f), 0.0};
  Eigen::Vector3d swing = {0.0, 0.0, 0.0};  // points back to where the swing starts
  int steps = 0;
};

// Rest positions in the order of the asset's nodes, which the material does not change.
Points RestOf(const tools::TetMesh& mesh) { return ToEigen(ShapeAsset(mesh).rest()); }

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

// A club along x, three times as thick at one end as at the other. It starts level and hangs by the
// upper edge of an end's face, about which it swings.
Scene HungClub(bool by_thick_end) {
  Scene scene;
  scene.mesh = TetBox(8, 2, 2, 0.05);
  for (tools::Vec3d& node : scene.mesh.nodes) {
    const double thickness = 0.5 + node.x / 0.4;
    node.y *= thickness;
    node.z = (node.z - 0.05) * thickness;
  }
  scene.start = RestOf(scene.mesh);
  const double end = by_thick_end ? 0.4 : 0.0;
  const double top = by_thick_end ? 0.15 : 0.05;
  for (Eigen::Index i = 0; i < scene.start.cols(); ++i) {
    const bool is_at_end = std::fabs(scene.start(0, i) - end) < 0.01;
    if (!is_at_end || scene.start(1, i) < 0.85 * top) continue;
    scene.pins.push_back(static_cast<uint32_t>(i));
  }
  scene.swing = {by_thick_end ? -1.0 : 1.0, 0.0, 0.0};
  scene.steps = 80;
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

Trajectory ReferenceOf(const Scene& scene, const ShapeAsset& shape) {
  reference::EulerSettings settings;
  settings.dt_s = double(kDt);
  settings.gravity = scene.gravity;
  settings.pinned = scene.pins;
  settings.tolerance = 1e-4;  // moves the result by less than 1e-5 of the motion
  reference::ImplicitEuler euler(reference::ElasticBody(shape.asset()), settings);
  euler.SetState(scene.start, Points::Zero(3, scene.start.cols()));
  Trajectory out(scene.start);
  for (int step = 0; step < scene.steps; ++step) {
    const bool converged = euler.Step();
    CAPTURE(step, euler.report().residual, euler.report().newton_iterations,
            euler.report().cg_iterations);
    REQUIRE(converged);
    out.Add(euler.x());
  }
  return out;
}

Trajectory RuntimeOf(const Scene& scene, const ShapeAsset& shape) {
  WorldDesc desc;
  desc.gravity = ToVec3(scene.gravity);
  desc.solver.sleep_speed = 0.0f;
  World world(desc);
  BodyDesc body;
  body.pinned_nodes = scene.pins;
  const BodyId id = AddBody(&world, shape.asset(), body);
  REQUIRE(world.SetNodePositions(id, ToVec3s(scene.start)).ok());
  Trajectory out(scene.start);
  for (int step = 0; step < scene.steps; ++step) {
    REQUIRE(StepWorld(&world, kDt) == kStepOk);
    out.Add(ToEigen(PositionsOf(world, id, shape.num_nodes())));
  }
  return out;
}

// What was measured. Without `swing` or `sag` these are not.
struct Known {
  const Table& trajectory;  // TrajectoryError
  const Table* swing;       // difference of the half swings' times, of the reference's
  const Table* sag;         // error of the lowest point's depth below the start, of that depth
};

double SwingError(const Trajectory& measured, const Trajectory& right,
                  const Eigen::Vector3d& direction) {
  const double steps = double(reference::HalfSwingStep(measured, direction)) + 1.0;
  return std::fabs(steps / (double(reference::HalfSwingStep(right, direction)) + 1.0) - 1.0);
}

double SagError(const Trajectory& measured, const Trajectory& right) {
  const double start = double(right.rest.row(1).minCoeff());
  return std::fabs((start - reference::LowestY(measured)) / (start - reference::LowestY(right)) -
                   1.0);
}

// Prints a measure in the form of the tables above, and compares it with one.
void Check(const char* scene, const char* what, const Table& values, const Table& known) {
  std::printf("motion: %s, %s: {", scene, what);
  for (int e = 0; e < 5; ++e) {
    std::printf("{%.2g, %.2g, %.2g}%s", values[e][0], values[e][1], values[e][2],
                e < 4 ? ", " : "}\n");
    for (int n = 0; n < 3; ++n) {
      CAPTURE(scene, what, kYoungs[e], kPoissons[n]);
      CHECK(values[e][n] <= kMargin * known[e][n] + kSlack);
    }
  }
}

void MeasureAndCheck(const char* name, const Scene& scene, const Known& known) {
  Table trajectory = {}, swing = {}, sag = {};
  for (int e = 0; e < 5; ++e) {
    for (int n = 0; n < 3; ++n) {
      CAPTURE(name, kYoungs[e], kPoissons[n]);
      const ShapeAsset shape(scene.mesh, {kYoungs[e], kPoissons[n], kDensity}, double(kDt));
      const Trajectory right = ReferenceOf(scene, shape), measured = RuntimeOf(scene, shape);
      trajectory[e][n] = reference::TrajectoryError(measured, right);
      if (known.swing != nullptr) swing[e][n] = SwingError(measured, right, scene.swing);
      if (known.sag != nullptr) sag[e][n] = SagError(measured, right);
    }
  }
  Check(name, "trajectory error", trajectory, known.trajectory);
  if (known.swing != nullptr) Check(name, "half swing", swing, *known.swing);
  if (known.sag != nullptr) Check(name, "sag", sag, *known.sag);
}

}  // namespace

TEST_CASE("A cantilever moves as the reference does") {
  MeasureAndCheck("cantilever", ClampedBeam(), {kBeamTrajectory, nullptr, &kBeamSag});
}

TEST_CASE("A club that hangs by its thin end moves as the reference does") {
  MeasureAndCheck("club by its thin end", HungClub(false),
                  {kThinTrajectory, &kThinSwing, &kThinSag});
}

TEST_CASE("A club that hangs by its thick end moves as the reference does") {
  MeasureAndCheck("club by its thick end", HungClub(true),
                  {kThickTrajectory, &kThickSwing, &kThickSag});
}

TEST_CASE("A free beam that was bent and twisted moves as the reference does") {
  MeasureAndCheck("free bent beam", BentBeam(), {kFreeTrajectory, nullptr, nullptr});
}

namespace {

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

}  // namespace

TEST_CASE("A cantilever bends and twists at the reference's frequency") {
  for (int n = 0; n < 2; ++n) {
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
        CHECK(error <= kMargin * (bends ? kBending[e][n] : kTorsion[e][n]));
      }
    }
  }
}

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

// Most that each measure may be, by Young's modulus and Poisson's ratio. These are the measured
// values times 1.1.
struct Bounds {
  const char* scene;
  double trajectory[5][3];  // trajectory error
  double swing[5][3];       // steps between the half swings, as a share of the reference's
  double sag[5][3];         // error of the lowest point's depth below its start, as a share
};
constexpr Bounds kClampedBeam = {"cantilever",
                                 {{9, 9, 9}, {9, 9, 9}, {9, 9, 9}, {9, 9, 9}, {9, 9, 9}},
                                 {{9, 9, 9}, {9, 9, 9}, {9, 9, 9}, {9, 9, 9}, {9, 9, 9}},
                                 {{9, 9, 9}, {9, 9, 9}, {9, 9, 9}, {9, 9, 9}, {9, 9, 9}}};
constexpr Bounds kByThinEnd = {"club by its thin end",
                               {{9, 9, 9}, {9, 9, 9}, {9, 9, 9}, {9, 9, 9}, {9, 9, 9}},
                               {{9, 9, 9}, {9, 9, 9}, {9, 9, 9}, {9, 9, 9}, {9, 9, 9}},
                               {{9, 9, 9}, {9, 9, 9}, {9, 9, 9}, {9, 9, 9}, {9, 9, 9}}};
constexpr Bounds kByThickEnd = {"club by its thick end",
                                {{9, 9, 9}, {9, 9, 9}, {9, 9, 9}, {9, 9, 9}, {9, 9, 9}},
                                {{9, 9, 9}, {9, 9, 9}, {9, 9, 9}, {9, 9, 9}, {9, 9, 9}},
                                {{9, 9, 9}, {9, 9, 9}, {9, 9, 9}, {9, 9, 9}, {9, 9, 9}}};
constexpr Bounds kBentBeam = {"free bent beam",
                              {{9, 9, 9}, {9, 9, 9}, {9, 9, 9}, {9, 9, 9}, {9, 9, 9}},
                              {{9, 9, 9}, {9, 9, 9}, {9, 9, 9}, {9, 9, 9}, {9, 9, 9}},
                              {{9, 9, 9}, {9, 9, 9}, {9, 9, 9}, {9, 9, 9}, {9, 9, 9}}};

// Most relative error of the frequency, by Young's modulus from 1e4 to 1e7 Pa.
constexpr double kBending[4][2] = {{9, 9}, {9, 9}, {9, 9}, {9, 9}};
constexpr double kTorsion[4][2] = {{9, 9}, {9, 9}, {9, 9}, {9, 9}};

// What moves: a start, and what holds it.
struct Scene {
  tools::TetMesh mesh;
  std::vector<uint32_t> pins;
  Points start;
  Eigen::Vector3d gravity = {0.0, double(-9.81f), 0.0};
  Eigen::Vector3d swing = {0.0, 0.0, 0.0};  // direction in which the first half swing is least
  int steps = 0;
};

Points PointsOf(const tools::TetMesh& mesh) {
  Points x(3, static_cast<Eigen::Index>(mesh.nodes.size()));
  for (size_t i = 0; i < mesh.nodes.size(); ++i) {
    x.col(static_cast<Eigen::Index>(i)) =
        Eigen::Vector3d(mesh.nodes[i].x, mesh.nodes[i].y, mesh.nodes[i].z);
  }
  return x;
}

// A beam of 0.4 x 0.1 x 0.1 m along x, clamped at x = 0.
Scene ClampedBeam() {
  Scene scene;
  scene.mesh = TetBox(8, 2, 2, 0.05);
  scene.start = PointsOf(scene.mesh);
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
  scene.mesh = TetBox(8, 2, 2, 0.05, 0.05, 5);
  for (tools::Vec3d& node : scene.mesh.nodes) {
    const double thickness = 0.5 + node.x / 0.4;
    node.y *= thickness;
    node.z = (node.z - 0.05) * thickness;
  }
  scene.start = PointsOf(scene.mesh);
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
  scene.start = PointsOf(scene.mesh);
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
    CAPTURE(step, euler.report().residual);
    REQUIRE(euler.Step());
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

struct Measured {
  double trajectory[5][3] = {}, swing[5][3] = {}, sag[5][3] = {};
};

Measured Measure(const Scene& scene) {
  Measured out;
  for (int e = 0; e < 5; ++e) {
    for (int n = 0; n < 3; ++n) {
      CAPTURE(kYoungs[e], kPoissons[n]);
      const ShapeAsset shape(scene.mesh, {kYoungs[e], kPoissons[n], kDensity}, double(kDt));
      const Trajectory right = ReferenceOf(scene, shape), measured = RuntimeOf(scene, shape);
      out.trajectory[e][n] = reference::TrajectoryError(measured, right);
      if (!scene.swing.isZero()) {
        const double swing = double(reference::HalfSwingStep(right, scene.swing)) + 1.0;
        out.swing[e][n] = std::fabs(
            (double(reference::HalfSwingStep(measured, scene.swing)) + 1.0) / swing - 1.0);
      }
      if (!scene.gravity.isZero()) {
        const double start = scene.start.row(1).minCoeff();
        out.sag[e][n] = std::fabs(
            (start - reference::LowestY(measured)) / (start - reference::LowestY(right)) - 1.0);
      }
    }
  }
  return out;
}

// Prints a measure by Young's modulus and Poisson's ratio, in the form of the table above.
void Print(const char* scene, const char* what, const double (&values)[5][3]) {
  std::printf("motion: %s, %s: {", scene, what);
  for (int e = 0; e < 5; ++e) {
    std::printf("{%.2g, %.2g, %.2g}%s", values[e][0], values[e][1], values[e][2],
                e < 4 ? ", " : "}\n");
  }
}

void Check(const char* what, const double (&values)[5][3], const double (&bounds)[5][3]) {
  for (int e = 0; e < 5; ++e) {
    for (int n = 0; n < 3; ++n) {
      CAPTURE(what, kYoungs[e], kPoissons[n]);
      CHECK(values[e][n] <= bounds[e][n]);
    }
  }
}

void MeasureAndCheck(const Scene& scene, const Bounds& bounds) {
  REQUIRE(scene.pins.empty() == scene.gravity.isZero());
  const Measured measured = Measure(scene);
  Print(bounds.scene, "trajectory error", measured.trajectory);
  Print(bounds.scene, "half swing", measured.swing);
  Print(bounds.scene, "sag", measured.sag);
  CAPTURE(bounds.scene);
  Check("trajectory error", measured.trajectory, bounds.trajectory);
  Check("half swing", measured.swing, bounds.swing);
  Check("sag", measured.sag, bounds.sag);
}

}  // namespace

TEST_CASE("A cantilever moves as the reference does") {
  MeasureAndCheck(ClampedBeam(), kClampedBeam);
}

TEST_CASE("A club that hangs by its thin end moves as the reference does") {
  MeasureAndCheck(HungClub(false), kByThinEnd);
}

TEST_CASE("A club that hangs by its thick end moves as the reference does") {
  MeasureAndCheck(HungClub(true), kByThickEnd);
}

TEST_CASE("A free beam that was bent and twisted moves as the reference does") {
  MeasureAndCheck(BentBeam(), kBentBeam);
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
    for (int e = 0; e < 4; ++e) {
      const Cantilever beam({8, 2, 3, 0.05}, {kYoungs[e], nu, kDensity}, double(kDt));
      modes.bending.omega = bending * std::sqrt(kYoungs[e]);
      modes.torsion.omega = torsion * std::sqrt(kYoungs[e]);
      for (const bool bends : {true, false}) {
        const BeamMode& mode = bends ? modes.bending : modes.torsion;
        const double steps = 6.2831853 / (mode.omega * double(kDt));
        if (steps < 8.0) continue;  // implicit Euler damps it away
        const double error = FrequencyError(beam, mode);
        std::printf("motion: cantilever of %.0e Pa, nu %.2f, %s, %.0f steps a period: %.3g off\n",
                    kYoungs[e], nu, bends ? "bending" : "torsion", steps, error);
        CAPTURE(kYoungs[e], nu, bends, steps);
        CHECK(error <= (bends ? kBending : kTorsion)[e][n]);
      }
    }
  }
}

// SPDX-License-Identifier: MIT
// Attachments against converged implicit Euler with the same springs, in double precision, also at
// their largest force, beyond that at which they break, and at colliders that move.
#include "plush/solver.h"

#include "reference/kept_turns.h"
#include "reference/trajectory.h"
#include "runtime/attachments/attachment_scene.h"

#include <catch2/catch.hpp>

#include <cmath>
#include <cstdio>
#include <limits>
#include <span>
#include <vector>

using namespace plush;
using namespace plush::test;
using reference::Trajectory;

namespace attachment_test {

constexpr float kDt = kBeamDt;
constexpr double kGravity = double(-9.81f);

struct SpringCase {
  double young, stiffness, damping, rest_length;
  double max_force = std::numeric_limits<double>::infinity();
};

constexpr SpringCase kSpringCases[] = {
    {1e6, 1.0, 0.0, 0.0}, {1e6, 1e3, 0.0, 0.0},  {1e6, 1e5, 0.0, 0.0}, {1e6, 1e7, 0.0, 0.0},
    {1e6, 1e9, 0.0, 0.0}, {1e5, 1e9, 0.0, 0.0},  {1e7, 1e9, 0.0, 0.0}, {1e6, 1e3, 100.0, 0.0},
    {1e6, 0.0, 1e3, 0.0}, {1e6, 1e4, 10.0, 0.3}, {1e6, 1e9, 0.0, 0.3}};

// How far a beam that a spring holds at one end is from the reference's motion.
struct Comparison {
  double trajectory = 0.0, force = 0.0;  // errors, relative
  double swing = 0.0;                    // half swing over the reference's
  int limited = 0;                       // steps at the largest force
};

Comparison Compare(const SpringCase& c, int steps, const BodySolver& solver = {}) {
  const ShapeAsset shape = Beam(c.young);
  const Point point(shape, {0.0, 0.075, 0.075});
  const Points rest = ToEigen(shape.rest());
  const Eigen::Vector3d target = point.At(rest) + Eigen::Vector3d(0.0, c.rest_length, 0.0);
  reference::EulerSettings settings;
  settings.dt_s = double(kDt);
  settings.gravity = {0.0, kGravity, 0.0};
  settings.springs = {{{}, target, c.rest_length, c.stiffness, c.damping, c.max_force}};
  point.AddTo(1.0, 0, &settings.springs[0]);
  settings.tolerance = 1e-5;
  reference::ImplicitEuler euler(reference::ElasticBody(shape.asset()), settings);
  World world;
  const BodyId id = AddBody(&world, shape.asset(), {.solver = &solver});
  AttachmentDesc desc = {.body = id,
                         .target = ToVec3(target),
                         .rest_length = static_cast<float>(c.rest_length),
                         .stiffness = static_cast<float>(c.stiffness),
                         .damping = static_cast<float>(c.damping),
                         .max_force = static_cast<float>(c.max_force)};
  point.SetSide(&desc);
  const AttachmentId spring = Attach(&world, desc);
  Trajectory right(rest), measured(rest);
  double forces = 0.0, errors = 0.0;
  int limited = 0;
  for (int step = 0; step < steps; ++step) {
    euler.Step();
    REQUIRE(euler.report().residual < 1e-2);
    right.Add(euler.x());
    REQUIRE(StepWorld(&world, kDt) == kStepOk);
    limited += euler.SpringForce(0).norm() > 0.999 * c.max_force ? 1 : 0;
    measured.Add(ToEigen(PositionsOf(world, id, shape.num_nodes())));
    forces += euler.SpringForce(0).squaredNorm();
    errors += (ForceOf(world, spring) - euler.SpringForce(0)).squaredNorm();
  }
  const Eigen::Vector3d back(-1.0, 0.0, 0.0);
  return {reference::TrajectoryError(measured, right), std::sqrt(errors / forces),
          static_cast<double>(reference::HalfSwingStep(measured, Eigen::Vector3d(1.0, 0.0, 0.0))) /
              static_cast<double>(reference::HalfSwingStep(right, Eigen::Vector3d(1.0, 0.0, 0.0))),
          limited};
}

TEST_CASE("A beam on a spring moves as implicit Euler's does, whatever the stiffness", "[long]") {
  for (const SpringCase& c : kSpringCases) {
    const Comparison found = Compare(c, 100);
    std::printf(
        "spring: E %.0e, k %.0e, c %.0f, rest %.1f: trajectory error %.4f, force %.4f, half swing "
        "%.3f\n",
        c.young, c.stiffness, c.damping, c.rest_length, found.trajectory, found.force, found.swing);
    CAPTURE(c.young, c.stiffness, c.damping, c.rest_length);
    CHECK(found.trajectory < 1.5e-3);
    CHECK(found.force < 0.01);
  }
}

TEST_CASE("A beam on a spring at its largest force moves as implicit Euler's does", "[long]") {
  const bool is_implicit = GENERATE(false, true);
  const BodySolver solver = is_implicit ? ImplicitSolver() : BodySolver();
  // The beam weighs 88 N. It falls from rest, so the spring begins with a quarter of that.
  constexpr SpringCase kCases[] = {{1e6, 1e3, 0.0, 0.0, 40.0},  {1e6, 1e5, 0.0, 0.0, 40.0},
                                   {1e6, 1e9, 0.0, 0.0, 40.0},  {1e6, 1e9, 0.0, 0.0, 80.0},
                                   {1e6, 1e5, 50.0, 0.0, 60.0}, {1e6, 1e9, 0.0, 0.3, 40.0},
                                   {1e6, 1e4, 10.0, 0.3, 60.0}};
  for (const SpringCase& c : kCases) {
    const Comparison found = Compare(c, 100, solver);
    std::printf(
        "%s, at most %.0f N: k %.0e, c %.0f, rest %.1f: trajectory error %.4f, force %.4f, "
        "%d steps at the limit\n",
        is_implicit ? "implicit" : "splitting", c.max_force, c.stiffness, c.damping, c.rest_length,
        found.trajectory, found.force, found.limited);
    CAPTURE(is_implicit, c.stiffness, c.damping, c.rest_length, c.max_force);
    CHECK(found.limited > 10);
    CHECK(found.trajectory < 1.5e-3);
    CHECK(found.force < 0.01);
  }
}

TEST_CASE("A beam of the implicit solver on a spring moves as implicit Euler's does", "[long]") {
  const bool is_converged = GENERATE(false, true);
  const BodySolver solver = is_converged ? ImplicitSolver({.newton_iterations = 40,
                                                           .linear_iterations = 400,
                                                           .newton_tolerance = 1e-6f,
                                                           .linear_tolerance = 1e-6f})
                                         : ImplicitSolver();
  for (const SpringCase& c : kSpringCases) {
    const Comparison found = Compare(c, 100, solver);
    std::printf(
        "implicit spring%s: E %.0e, k %.0e, c %.0f, rest %.1f: trajectory error %.5f, force "
        "%.5f, half swing %.3f\n",
        is_converged ? ", converged" : "", c.young, c.stiffness, c.damping, c.rest_length,
        found.trajectory, found.force, found.swing);
    CAPTURE(is_converged, c.young, c.stiffness, c.damping, c.rest_length);
    CHECK(found.trajectory < (is_converged ? 1e-4 : 5e-4));
    CHECK(found.force < 5e-4);
  }
}

TEST_CASE("A spring to a collider's point moves a body as implicit Euler's does", "[long]") {
  const float stiffness = GENERATE(1e3f, 1e5f, 1e9f), rest_length = GENERATE(0.0f, 0.1f);
  const float most = GENERATE(60.0f, std::numeric_limits<float>::infinity());
  const bool breaks = GENERATE(false, true);
  if (breaks && std::isinf(most)) return;
  CAPTURE(stiffness, rest_length, most, breaks);
  const ShapeAsset shape = Beam(1e6);
  const Point point(shape, {0.0, 0.075, 0.075});
  const Points rest = ToEigen(shape.rest());
  const Eigen::Vector3d arm(0.3, 0.0, 0.0), up(0.0, double(rest_length), 0.0);
  // Where the collider's point is after a step: it turns and rises, ever faster.
  const auto centre_at = [&](int step) -> Eigen::Vector3d {
    return point.At(rest) + up - arm + Eigen::Vector3d(0.0, 5e-5 * step * step, 0.0);
  };
  const auto turn_at = [](int step) { return TurnOf(2e-4 * step * step, {0.0, 0.6, 0.8}); };
  const auto place_at = [&](int step) -> Eigen::Vector3d {
    return centre_at(step) + RotationOf(turn_at(step)) * arm;
  };
  World world;
  const BodyId id = AddBody(&world, shape.asset());
  const ColliderId ball = AddCollider(&world, {.type = ShapeType::kSphere,
                                               .sphere = {0.01f},
                                               .pose = {.position = ToVec3(centre_at(0))},
                                               .filter = {.mask = 0}});
  AttachmentDesc desc = {.body = id,
                         .other_collider = ball,
                         .target = ToVec3(arm),
                         .rest_length = rest_length,
                         .stiffness = stiffness,
                         .damping = 5.0f};
  (breaks ? desc.break_force : desc.max_force) = most;
  point.SetSide(&desc);
  const AttachmentId spring = Attach(&world, desc);
  reference::EulerSettings settings = {
      .dt_s = double(kDt), .gravity = {0.0, kGravity, 0.0}, .springs = {SpringOf(desc)}};
  settings.springs[0].target = place_at(0);
  point.AddTo(1.0, 0, &settings.springs[0]);
  settings.tolerance = 1e-5;
  reference::ImplicitEuler euler(reference::ElasticBody(shape.asset()), settings);
  Trajectory right(rest), measured(rest);
  double forces = 0.0, errors = 0.0;
  int limited = 0, broken = 0, beyond = 0;
  for (int step = 1; step <= 100; ++step) {
    euler.MoveTarget(0, place_at(step - 1), place_at(step));
    const Points before = euler.v();
    euler.Step();
    if (broken > 0) reference::KeepTurns(0, rest.cols(), before, double(kDt), &euler);
    REQUIRE(euler.report().residual < 1e-2);
    right.Add(euler.x());
    REQUIRE(world.MoveCollider(ball, {ToVec3(centre_at(step)), turn_at(step)}).ok());
    REQUIRE(StepWorld(&world, kDt) == kStepOk);
    measured.Add(ToEigen(PositionsOf(world, id, shape.num_nodes())));
    if (broken > 0) continue;
    const Eigen::Vector3d force = euler.SpringForce(0);
    limited += force.norm() > 0.999 * double(most) ? 1 : 0;
    if (breaks && beyond == 0 && force.norm() > double(most)) beyond = step;
    const std::span<const AttachmentEvent> events = world.attachment_events();
    if (!events.empty()) {
      broken = step;
      euler.ReleaseSpring(0);
    }
    forces += force.squaredNorm();
    errors += ((events.empty() ? ForceOf(world, spring) : ToEigen(events[0].force)) - force)
                  .squaredNorm();
  }
  const double error = reference::TrajectoryError(measured, right);
  std::printf("collider's point: k %.0e, rest %.1f, %s %.0f N: %d, %d steps; error %.4f, %.4f\n",
              double(stiffness), double(rest_length), breaks ? "breaks at" : "at most",
              double(most), breaks ? broken : limited, beyond, error, std::sqrt(errors / forces));
  CHECK(broken == beyond);
  if (breaks) CHECK(broken > 1);
  if (!breaks && std::isfinite(most)) CHECK(limited > 10);
  CHECK(error < 2e-3);
  // Few steps before it breaks, while the beam rings from the start.
  CHECK(std::sqrt(errors / forces) < (breaks ? 0.02 : 0.01));
}

TEST_CASE("A small stiff body comes to rest on stiff springs after one moves") {
  const double edge = GENERATE(0.05, 0.1), young = GENERATE(1e6, 1e7);
  const uint32_t count = GENERATE(3u, 4u, 6u);
  const float stiffness = GENERATE(1e7f, 1e8f, 1e9f);
  const double way = GENERATE(0.01, 0.05);  // of one of them [m]
  CAPTURE(edge, young, count, stiffness, way);
  const ShapeAsset shape(TetBox(2, 2, 2, edge, 0.0, 1), {young, 0.4, 1000.0, 0.05}, double(kDt));
  World world;
  const BodyId id = AddBody(&world, shape.asset());
  const Points rest = ToEigen(shape.rest());
  AttachmentId springs[6];
  for (uint32_t k = 0; k < count; ++k) {
    constexpr uint32_t kCorners[6] = {0, 2, 6, 18, 20, 26};
    AttachmentDesc desc = {.body = id,
                           .weights = {1.0f, 0.0f, 0.0f, 0.0f},
                           .target = ToVec3(rest.col(kCorners[k])),
                           .stiffness = stiffness};
    desc.nodes[0] = kCorners[k];
    springs[k] = Attach(&world, desc);
  }
  const Eigen::Vector3d moved = rest.col(0) + way * Eigen::Vector3d(-0.6, 0.0, 0.8);
  REQUIRE(world.MoveAttachment(springs[0], ToVec3(moved)).ok());
  for (int step = 0; step < 300; ++step) REQUIRE(StepWorld(&world, kDt) == kStepOk);
  CHECK(world.stats().max_speed < 0.02f);
  const Points x = ToEigen(PositionsOf(world, id, shape.num_nodes()));
  CHECK((x.col(0) - moved).norm() < 0.02 * way);
}

TEST_CASE("Of many springs on a body, each keeps its law and its largest force") {
  // One of them cannot carry its share, so the others carry it.
  const ShapeAsset shape = Beam(1e6);
  const Points rest = ToEigen(shape.rest());
  const uint32_t count = GENERATE(5u, 16u, 80u);
  CAPTURE(count);
  World world;
  const BodyId id = AddBody(&world, shape.asset());
  const double mass = MomentsOf(world, id).mass, share = 9.81 * mass / double(count);
  std::vector<AttachmentId> springs;
  std::vector<Eigen::Vector3d> targets;
  const auto node_of = [&](uint32_t k) {
    return static_cast<uint32_t>(k * (shape.num_nodes() - 1) / (count - 1));
  };
  for (uint32_t k = 0; k < count; ++k) {
    targets.push_back(rest.col(node_of(k)) + Eigen::Vector3d(0.0, 0.05, 0.0));
    AttachmentDesc desc = {.body = id,
                           .weights = {1.0f, 0.0f, 0.0f, 0.0f},
                           .target = ToVec3(targets.back()),
                           .stiffness = 1e3f,
                           .damping = 30.0f};
    desc.nodes[0] = node_of(k);
    if (k == 1) desc.max_force = static_cast<float>(0.3 * share);
    springs.push_back(Attach(&world, desc));
  }
  for (int step = 0; step < 600; ++step) REQUIRE(StepWorld(&world, kDt) == kStepOk);
  CHECK(world.stats().max_speed < 1e-2f);
  const Points x = ToEigen(PositionsOf(world, id, shape.num_nodes()));
  Eigen::Vector3d sum = Eigen::Vector3d::Zero();
  for (uint32_t k = 0; k < count; ++k) {
    const Eigen::Vector3d force = ForceOf(world, springs[k]);
    const Eigen::Vector3d law = 1e3 * (targets[k] - x.col(node_of(k)));
    sum += force;
    if (k == 1) {
      CHECK(force.norm() == Approx(0.3 * share).epsilon(1e-4));
      CHECK(law.norm() > force.norm());
    } else {
      CHECK((force - law).norm() < 0.01 * share + 0.02 * law.norm());
    }
  }
  CHECK(sum.y() == Approx(9.81 * mass).epsilon(5e-3));
}

TEST_CASE("A body that is held and pressed on a floor obeys both") {
  const float stiffness = GENERATE(1e3f, 1e6f, 1e9f), down = GENERATE(-0.01f, -0.03f);
  const bool is_implicit = GENERATE(false, true);
  CAPTURE(stiffness, down, is_implicit);
  BoxOnPlane scene;
  if (is_implicit) REQUIRE(scene.world.SetSolver(scene.body, ImplicitSolver()).ok());
  const auto count = scene.shape.num_nodes();
  const Points rest = ToEigen(scene.positions());
  // A corner node of the top is pressed down.
  Eigen::Index top = 0;
  for (Eigen::Index i = 0; i < rest.cols(); ++i) {
    if (rest(0, i) + 2.0 * rest(1, i) + rest(2, i) >
        rest(0, top) + 2.0 * rest(1, top) + rest(2, top))
      top = i;
  }
  AttachmentDesc desc = {
      .body = scene.body, .target = ToVec3(rest.col(top)), .stiffness = stiffness};
  desc.nodes[0] = static_cast<uint32_t>(top);
  desc.weights = {1.0f, 0.0f, 0.0f, 0.0f};
  desc.target.y += down;
  desc.damping = 10.0f;
  const AttachmentId press = Attach(&scene.world, desc);
  scene.Step(300);
  const Points x = ToEigen(PositionsOf(scene.world, scene.body, count));
  const Eigen::Vector3d force = ForceOf(scene.world, press);
  CHECK(scene.Gap() > -1e-4);
  CHECK(force.y() < 0.0);
  // The spring's law holds for the force that is reported.
  const Eigen::Vector3d way = x.col(top) - ToEigen(desc.target);
  CHECK((force + double(stiffness) * way).norm() < 0.02 * force.norm() + double(stiffness) * 4e-8);
  CHECK(scene.world.stats().max_speed < 1e-2f);
}

}  // namespace attachment_test

// SPDX-License-Identifier: MIT
// Bodies that springs join: against converged implicit Euler with the same springs, in double
// precision, until they break; free ones keep their momentum.
#include "plush/solver.h"

#include "reference/kept_turns.h"
#include "reference/trajectory.h"
#include "runtime/attachments/attachment_scene.h"
#include "sweep.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <span>
#include <utility>

using namespace plush;
using namespace plush::test;
using reference::Trajectory;

namespace joined_beams_test {

constexpr float kDt = kBeamDt;
constexpr double kGravity = double(-9.81f);

// Two beams side by side, joined by springs at their near ends; the first one may be held.
struct TwoBeams {
  ShapeAsset shape = Beam(1e6);
  Points rest = ToEigen(shape.rest());
  Point near = Point(shape, {0.4, 0.075, 0.075}), far = Point(shape, {0.0, 0.075, 0.075});
  World world;
  BodyId a, b;

  TwoBeams(const WorldDesc& desc, const BodyDesc& second, int solvers = 0) : world(desc) {
    const BodySolver implicit = ImplicitSolver();
    BodyDesc of_a, of_b = second;
    if (solvers % 2 == 1) of_a.solver = &implicit;
    if (solvers / 2 == 1) of_b.solver = &implicit;
    a = AddBody(&world, shape.asset(), of_a);
    b = AddBody(&world, shape.asset(), of_b);
  }
  AttachmentId Join(const AttachmentDesc& numbers) {
    AttachmentDesc desc = numbers;
    desc.body = a;
    desc.other_body = b;
    near.SetSide(&desc);
    std::copy(far.nodes, far.nodes + 4, desc.other_nodes);
    desc.other_weights = far.weights;
    return Attach(&world, desc);
  }
};

Eigen::Vector3d Vector(const double (&v)[3]) { return {v[0], v[1], v[2]}; }

// Two beams and the same ones in the reference. The first one hangs on a spring, which is the
// reference's first one; the second one hangs on the first.
struct JoinedBeams {
  TwoBeams two;
  reference::ImplicitEuler euler;
  AttachmentId joint;
  Trajectory right, measured;
  double forces = 0.0, errors = 0.0;  // sums of squares
  bool breaks = false, has_broken = false, second_is_implicit = false;

  JoinedBeams(const AttachmentDesc& law, int solvers)
      : two({}, {.pose = {.position = ToVec3(Apart(law))}}, solvers),
        euler(MakeEuler(two, law)),
        right(euler.x()),
        measured(euler.x()),
        breaks(std::isfinite(law.break_force)),
        second_is_implicit(solvers / 2 == 1) {
    AttachmentDesc held = {
        .body = two.a, .target = ToVec3(two.far.At(two.rest)), .stiffness = 1e5f};
    two.far.SetSide(&held);
    Attach(&two.world, held);
    joint = two.Join(law);
  }
  void Step() {
    const size_t nodes = two.shape.num_nodes();
    const Points before = euler.v();
    euler.Step();
    if (has_broken && !second_is_implicit) {
      reference::KeepTurns(two.rest.cols(), 2 * two.rest.cols(), before, double(kDt), &euler);
    }
    REQUIRE(euler.report().residual < 1e-2);
    right.Add(euler.x());
    REQUIRE(StepWorld(&two.world, kDt) == kStepOk);
    Points x(3, 2 * static_cast<Eigen::Index>(nodes));
    x << ToEigen(PositionsOf(two.world, two.a, nodes)),
        ToEigen(PositionsOf(two.world, two.b, nodes));
    measured.Add(x);
    if (!has_broken) AddForce();
  }
  double TrajectoryError() const { return reference::TrajectoryError(measured, right); }
  double ForceError() const { return std::sqrt(errors / forces); }

 private:
  static Eigen::Vector3d Apart(const AttachmentDesc& law) {
    return {0.4 + double(law.rest_length), 0.0, 0.0};
  }
  static reference::ImplicitEuler MakeEuler(const TwoBeams& two, const AttachmentDesc& law) {
    const auto nodes = static_cast<uint32_t>(two.shape.num_nodes());
    reference::ElasticBody one(two.shape.asset()), both = one;
    both.rest.resize(3, 2 * one.num_nodes());
    both.rest << one.rest, one.rest.colwise() + Apart(law);
    both.masses.resize(2 * one.num_nodes());
    both.masses << one.masses, one.masses;
    for (reference::ElasticTet tet : one.tets) {
      for (uint32_t& node : tet.nodes) node += nodes;
      both.tets.push_back(tet);
    }
    reference::EulerSettings settings;
    settings.dt_s = double(kDt);
    settings.gravity = {0.0, kGravity, 0.0};
    settings.springs = {{{}, two.far.At(two.rest), 0.0, 1e5, 0.0}, SpringOf(law)};
    two.far.AddTo(1.0, 0, &settings.springs[0]);
    two.near.AddTo(1.0, 0, &settings.springs[1]);
    two.far.AddTo(-1.0, nodes, &settings.springs[1]);
    settings.tolerance = 1e-5;
    return reference::ImplicitEuler(both, settings);
  }
  void AddForce() {
    Eigen::Vector3d force;
    const std::span<const AttachmentEvent> events = two.world.attachment_events();
    has_broken = !events.empty();
    if (has_broken) {
      REQUIRE(breaks);
      REQUIRE(events[0].attachment == joint);
      REQUIRE(events[0].other_body == two.b);
      force = ToEigen(events[0].force);
      euler.ReleaseSpring(1);
    } else {
      force = ForceOf(two.world, joint);
    }
    forces += euler.SpringForce(1).squaredNorm();
    errors += (force - euler.SpringForce(1)).squaredNorm();
  }
};

TEST_CASE("Two beams on springs move as implicit Euler's do", "[long]") {
  const float stiffness = GENERATE(1e3f, 1e5f, 1e9f), rest_length = GENERATE(0.0f, 0.1f);
  const int solvers = GENERATE(0, 1, 2, 3);  // which ones are implicit
  static tests::SweepCells cells;
  if (!cells.TakesNext()) return;
  CAPTURE(stiffness, rest_length, solvers);
  JoinedBeams beams({.rest_length = rest_length, .stiffness = stiffness}, solvers);
  for (int step = 0; step < 100; ++step) beams.Step();
  std::printf("two beams: solvers %d, k %.0e, rest %.1f: trajectory error %.4f, force %.4f\n",
              solvers, double(stiffness), double(rest_length), beams.TrajectoryError(),
              beams.ForceError());
  CHECK(beams.TrajectoryError() < 4e-3);
  CHECK(beams.ForceError() < 0.01);
}

TEST_CASE("A spring between two beams gives its largest force and breaks as the reference's",
          "[long]") {
  // Its ends are a little apart at the start: stiffer ones break at once.
  const auto [stiffness, breaks] =
      GENERATE(std::pair(1e3f, false), std::pair(1e5f, false), std::pair(1e9f, false),
               std::pair(300.0f, true), std::pair(1e3f, true), std::pair(3e3f, true));
  const float rest_length = GENERATE(0.0f, 0.1f);
  const int solvers = GENERATE(0, 3);
  static tests::SweepCells cells;
  if (!cells.TakesNext()) return;
  CAPTURE(stiffness, rest_length, breaks, solvers);
  const float most = breaks ? 120.0f : 60.0f;  // less than it has to carry in the swing [N]
  AttachmentDesc law = {.rest_length = rest_length, .stiffness = stiffness};
  (breaks ? law.break_force : law.max_force) = most;
  JoinedBeams beams(law, solvers);
  int limited = 0, broken = 0, beyond = 0;
  for (int step = 1; step <= 100; ++step) {
    beams.Step();
    const double force = beams.euler.SpringForce(1).norm();
    if (breaks && beyond == 0 && force > double(most)) beyond = step;
    if (beams.has_broken && broken == 0) broken = step;
    limited += force > 0.999 * double(most) ? 1 : 0;
  }
  std::printf(
      "%s: solvers %d, k %.0e, rest %.1f: %d, %d steps; trajectory error %.4f, force %.4f\n",
      breaks ? "breaks" : "limited", solvers, double(stiffness), double(rest_length),
      breaks ? broken : limited, beyond, beams.TrajectoryError(), beams.ForceError());
  CHECK(broken == beyond);
  if (!breaks) CHECK(limited > 10);
  if (breaks) CHECK(broken > 1);
  CHECK(beams.TrajectoryError() < 4e-3);
  CHECK(beams.ForceError() < 0.01);
}

TEST_CASE("Two free bodies that a spring joins keep their momentum") {
  const float stiffness = GENERATE(1.0f, 1e4f, 1e9f), rest_length = GENERATE(0.0f, 0.3f);
  const float scale = GENERATE(1.0f, 1.7f);
  const int solvers = GENERATE(0, 1, 2, 3);
  static tests::SweepCells cells;
  if (!cells.TakesNext()) return;
  CAPTURE(stiffness, rest_length, scale, solvers);
  TwoBeams two({.gravity = {}},
               {.pose = {.position = {0.7f, 0.1f, 0.0f}},
                .scale = scale,
                .velocity = {0.0f, 1.0f, 0.5f},
                .angular_velocity = {0.3f, 0.0f, -0.5f}},
               solvers);
  two.Join({.rest_length = rest_length, .stiffness = stiffness, .damping = 1.0f});
  const auto momentum = [&] {
    return (Vector(MomentsOf(two.world, two.a).linear_momentum) +
            Vector(MomentsOf(two.world, two.b).linear_momentum))
        .eval();
  };
  const Eigen::Vector3d before = momentum();
  double largest = 0.0;
  for (const Vec3& v : VelocitiesOf(two.world, two.b, two.shape.num_nodes())) {
    largest = std::max(largest, ToEigen(v).norm());
  }
  for (int step = 0; step < 60; ++step) REQUIRE(StepWorld(&two.world, kDt) == kStepOk);
  const double mass = MomentsOf(two.world, two.a).mass + MomentsOf(two.world, two.b).mass;
  const double drift = (momentum() - before).norm() / (mass * largest);
  std::printf("momentum: k %.0e, rest %.1f, scale %.1f: drift %.1e\n", double(stiffness),
              double(rest_length), double(scale), drift);
  CHECK(drift < (solvers == 0 ? 1.0e-5 : 1.0e-6));
}

}  // namespace joined_beams_test

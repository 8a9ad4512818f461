// SPDX-License-Identifier: MIT
// Implicit bodies with a drag by mass: their factor has it, too, and belongs to it alone.
#include "plush/solver.h"

#include "body/system_cache.h"
#include "reference/dense_algebra.h"
#include "reference/trajectory.h"
#include "runtime/dense_reference.h"
#include "runtime/implicit/hung_bar.h"
#include "runtime/world/heap_counter.h"
#include "solver/panel_solve.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <vector>

using namespace plush;
using namespace plush::test;

namespace drag_test {

constexpr float kDt = 0.01f;
constexpr std::array<float, 4> kDrags = {1.0f, 10.0f, 100.0f, 1000.0f};

ShapeAsset Bar(uint32_t seed, std::optional<uint32_t> clusters = 0) {
  return ShapeAsset(TetBox(6, 2, 2, 0.1, 0.09, seed), {1.0e5, 0.33, 1000.0}, double(kDt), clusters);
}

// M (y - x - h v - h^2 g) + drag h M (y - x) - h^2 F(y): what contacts add to the momenta [kg m].
Points ImpulsesOf(const DenseModel& model, double drag, const Points& x, const Points& v,
                  const Points& y) {
  const double h = double(kDt);
  Points out = y - x - h * v;
  out.colwise() -= h * h * ToEigen(WorldDesc().gravity);
  out += drag * h * (y - x);
  return out * model.masses.asDiagonal() - h * h * DenseForces(model, y);
}

TEST_CASE("A factor is that of (1 + drag dt) M and the stiffness", "[long]") {
  const uint32_t seed = GENERATE(range(1u, 4u));
  const float drag = GENERATE(0.0f, 3.0f, 1000.0f), damping = GENERATE(0.0f, 0.02f);
  const float mass_scale = GENERATE(1.0f, 0.5f);
  CAPTURE(seed, drag, damping, mass_scale);
  const ShapeAsset shape = Bar(seed);
  const std::vector<uint8_t> free_nodes(shape.num_nodes(), 0);
  SystemCache cache(DefaultAllocator(), 0);
  const BodyMaterial material = {.damping = damping, .mass_scale = mass_scale, .drag = drag};
  System* system = cache.Acquire(shape.asset(), material, free_nodes);
  REQUIRE(system != nullptr);
  bool made = false;
  REQUIRE(cache.Prepare(system, kDt, 0.0f, kMaxSubsteps, &made).ok());
  DenseModel model(shape.asset());
  model.damping = double(damping);
  Random random(seed);
  for (int k = 0; k < kMaxSubsteps; ++k) {
    const double h = double(kDt) / (k + 1);
    DenseModel heavier = model;
    heavier.masses *= double(mass_scale) * (1.0 + double(drag) * h);
    const Eigen::MatrixXd A = DenseSystemOfAxis(heavier, h);
    const Points b = random.Vectors(shape.num_nodes(), 1.0);
    std::vector<NodeVec> x = ToNodeVecs(b);
    const PanelFactor& factor = system->Find(kDt)->factors[k];
    std::vector<float> workspace(
        PanelWorkspaceSize(factor.supernodes, static_cast<uint32_t>(shape.num_nodes())) + 4);
    SolvePanels(factor, workspace, x);
    const Points right = reference::SolveSymmetric(A, b.transpose()).transpose();
    CHECK((ToEigen(x) - right).norm() < 1e-4 * right.norm());
  }
  cache.Release(system);
}

// With the factor of M in place of (1 + drag dt) M, a drag of 1000/s needs twice as many.
TEST_CASE("With a drag, the implicit solver needs at most as many iterations as without") {
  const float young = GENERATE(1.0e4f, 1.0e5f, 1.0e6f, 1.0e7f);
  const auto iterations_from = [&](uint32_t seed, float drag) {
    const ShapeAsset shape = Bar(seed);
    const BodySolver solver = ImplicitSolver({.newton_iterations = 1,
                                              .linear_iterations = 500,
                                              .linear_tolerance = 1.0e-4f,
                                              .mass_damping = drag});
    World world(Awake());
    const BodyId id =
        AddBody(&world, shape.asset(), {.material = {.young = young}, .solver = &solver});
    Random random(seed);
    std::vector<Vec3> v = ToVec3s(random.Vectors(shape.num_nodes(), 0.5));
    REQUIRE(world.SetNodeVelocities(id, v).ok());
    StepWorld(&world, kDt);
    return world.stats().linear_iterations;
  };
  const auto iterations_of = [&](float drag) {
    uint32_t sum = 0;
    for (uint32_t seed = 1; seed <= 6; ++seed) sum += iterations_from(seed, drag);
    return sum;
  };
  const uint32_t without = iterations_of(0.0f);
  for (const float drag : kDrags) {
    const uint32_t with = iterations_of(drag);
    CAPTURE(young, drag, with, without);
    CHECK(double(with) < 1.02 * double(without));
    if (drag == 1000.0f) CHECK(double(with) < 0.7 * double(without));
  }
}

TEST_CASE("A converged step with a drag balances its forces, at contacts too", "[long]") {
  const float drag = GENERATE(1.0f, 10.0f, 100.0f, 1000.0f);
  const bool touches = GENERATE(false, true), has_clusters = GENERATE(false, true);
  const ShapeAsset shape = Bar(7, has_clusters ? std::optional<uint32_t>() : 0);
  const BodySolver solver = ImplicitSolver({.newton_iterations = 30,
                                            .linear_iterations = 500,
                                            .newton_tolerance = 1.0e-6f,
                                            .linear_tolerance = 1.0e-6f,
                                            .mass_damping = drag});
  WorldDesc of_world = Awake();
  of_world.contact.iterations = 64;
  of_world.contact.sweeps = 256;
  of_world.contact.max_substeps = 1;
  World world(of_world);
  BodyDesc desc = {.pose = {.rotation = TurnOf(0.2, {0.0, 0.0, 1.0})},
                   .velocity = {0.3f, -1.0f, 0.0f},
                   .solver = &solver};
  const BodyId id = AddBody(&world, shape.asset(), desc);
  const double ground = ToEigen(PositionsOf(world, id, shape.num_nodes())).row(1).minCoeff() - 2e-4;
  if (touches) AddPlane(&world, {.offset = static_cast<float>(ground)}, 0.5f);
  const DenseModel model(shape.asset());
  const double weight = model.masses.sum() * 9.81 * double(kDt) * double(kDt);
  const size_t n = shape.num_nodes();
  bool has_touched = false;
  for (int step = 0; step < 12; ++step) {
    const Points x = ToEigen(PositionsOf(world, id, n));
    if (step % 3 == 2) {  // a fall that a drag has stopped
      std::vector<Vec3> thrown = VelocitiesOf(world, id, n);
      for (Vec3& speed : thrown) speed = speed + Vec3{0.1f, -0.5f, 0.0f};
      REQUIRE(world.SetNodeVelocities(id, thrown).ok());
    }
    const Points start = ToEigen(VelocitiesOf(world, id, n));
    REQUIRE(StepWorld(&world, kDt) == kStepOk);
    const Points y = ToEigen(PositionsOf(world, id, n));
    const Points left = ImpulsesOf(model, double(drag), x, start, y);
    CAPTURE(drag, touches, has_clusters, step, weight);
    for (Eigen::Index i = 0; i < y.cols(); ++i) {
      const bool is_near = touches && y(1, i) < ground + 2e-4;
      has_touched = has_touched || (is_near && left(1, i) > 0.01 * weight);
      CAPTURE(i, y(1, i), left.col(i).transpose() / weight);
      if (!is_near) CHECK(left.col(i).norm() < 2e-3 * weight);
      if (is_near) CHECK(left(1, i) > -2e-3 * weight);
      const double along = std::hypot(left(0, i), left(2, i));
      if (is_near) CHECK(along < 0.501 * std::max(left(1, i), 0.0) + 2e-3 * weight);
    }
  }
  CHECK(has_touched == touches);
}

TEST_CASE("Eight iterations at contacts are as good with a drag as without") {
  const ShapeAsset shape = Bar(9);
  const auto fall = [&](float drag, ImplicitSettings settings) {
    settings.mass_damping = drag;
    const BodySolver solver = ImplicitSolver(settings);
    return FallAskew(shape, {.velocity = {0.3f, -1.0f - 0.03f * drag, 0.0f}, .solver = &solver});
  };
  const ImplicitSettings converged = {.newton_iterations = 20,
                                      .linear_iterations = 500,
                                      .newton_tolerance = 1.0e-6f,
                                      .linear_tolerance = 1.0e-5f};
  for (const float drag : {0.0f, 10.0f, 100.0f}) {
    const double error =
        reference::TrajectoryError(fall(drag, {.newton_iterations = 2}), fall(drag, converged));
    CAPTURE(drag, error);
    CHECK(error < 0.01);
  }
}

TEST_CASE("A drag takes the same share of a free body's momentum in each step") {
  const float drag = GENERATE(1.0f, 10.0f, 100.0f, 1000.0f);
  const ShapeAsset shape = Bar(11, std::nullopt);
  WorldDesc of_world = Awake();
  of_world.gravity = {};
  World world(of_world);
  const BodySolver solver = ImplicitSolver({.mass_damping = drag});
  const BodyId id =
      AddBody(&world, shape.asset(), {.velocity = {1.0f, 2.0f, -1.0f}, .solver = &solver});
  Eigen::Vector3d right(1.0, 2.0, -1.0);
  for (int step = 0; step < 10; ++step) {
    StepWorld(&world, kDt);
    right /= 1.0 + double(drag * kDt);
    const BodyMoments moments = MomentsOf(world, id);
    const Eigen::Vector3d v =
        Eigen::Map<const Eigen::Vector3d>(moments.linear_momentum) / moments.mass;
    CAPTURE(drag, step);
    CHECK((v - right).norm() < 1e-4 * right.norm() + 1e-6);
  }
}

TEST_CASE("Bodies share factors if their drags are equal, and without one as ever") {
  const ShapeAsset shape = Bar(13);
  const size_t factor = shape.asset().factor().values.size() * sizeof(float);
  const BodySolver none = ImplicitSolver(), some = ImplicitSolver({.mass_damping = 2.0f}),
                   alike = ImplicitSolver({.linear_iterations = 20, .mass_damping = 2.0f}),
                   more = ImplicitSolver({.mass_damping = 3.0f});
  const auto bytes_of_second = [&](const BodySolver* first, const BodySolver* second) {
    CountingMemory memory;
    World world({.allocator = memory.allocator()});
    AddBody(&world, shape.asset(), {.solver = first});
    const size_t before = memory.bytes_out();
    AddBody(&world, shape.asset(), {.solver = second});
    return memory.bytes_out() - before;
  };
  const size_t shared = bytes_of_second(&none, &none);
  CHECK(bytes_of_second(nullptr, &none) == shared);
  CHECK(bytes_of_second(&some, &some) == shared);
  CHECK(bytes_of_second(&some, &alike) == shared);
  CHECK(bytes_of_second(&none, &some) > shared + factor);
  CHECK(bytes_of_second(&some, &more) > shared + factor);
  // What splitting or a quasistatic body names is none.
  BodySolver unused = SplittingSolver();
  unused.implicit.mass_damping = 2.0f;
  CHECK(bytes_of_second(&none, &unused) < shared + factor);
}

TEST_CASE("SetSolver with another drag makes the factors, unless they are prepared") {
  const ShapeAsset shape = Bar(15);
  const BodySolver light = ImplicitSolver({.mass_damping = 2.0f}),
                   heavy = ImplicitSolver({.mass_damping = 500.0f});
  const auto requests_of = [&](bool prepares, uint64_t* out_hash) {
    CountingMemory memory;
    WorldDesc desc = Awake();
    desc.allocator = memory.allocator();
    World world(desc);
    const BodyId id = AddBody(&world, shape.asset(), {.velocity = {1.0f, 0.0f, 0.0f}});
    for (const BodySolver* solver : {&light, &heavy}) {
      if (prepares) REQUIRE(world.PrepareSystem(shape.asset(), {.solver = solver}).ok());
    }
    StepWorld(&world, kDt);
    uint64_t sum = 0;
    for (const BodySolver* solver : {&light, &heavy, &light}) {
      const uint64_t before = memory.requests();
      REQUIRE(world.SetSolver(id, *solver).ok());
      sum += memory.requests() - before;
      for (int step = 0; step < 3; ++step) REQUIRE(StepWorld(&world, kDt) == kStepOk);
    }
    BodySolver got;
    REQUIRE(world.GetSolver(id, &got).ok());
    CHECK(got.implicit == light.implicit);
    *out_hash = world.StateHash();
    return sum;
  };
  uint64_t hashes[2] = {};
  const uint64_t unprepared = requests_of(false, &hashes[0]);
  const uint64_t prepared = requests_of(true, &hashes[1]);
  CAPTURE(unprepared, prepared);
  CHECK(prepared + 8 < unprepared);
  CHECK(hashes[0] == hashes[1]);
  World world;
  const BodySolver wrong = ImplicitSolver({.mass_damping = -1.0f});
  CHECK(world.PrepareSystem(shape.asset(), {.solver = &wrong}).code ==
        StatusCode::kInvalidArgument);
}

TEST_CASE("A SetSolver with another drag that fails changes nothing") {
  const ShapeAsset shape = Bar(17);
  const BodySolver light = ImplicitSolver({.mass_damping = 2.0f}),
                   heavy = ImplicitSolver({.mass_damping = 500.0f});
  CountingMemory memory;
  WorldDesc desc = Awake();
  desc.allocator = memory.allocator();
  World world(desc), other(Awake());
  const BodyId id = AddBody(&world, shape.asset(), {.solver = &light});
  const BodyId right = AddBody(&other, shape.asset(), {.solver = &light});
  int failures = 0;
  for (uint64_t n = 1;; ++n) {
    memory.FailAt(n, true);
    const Status status = world.SetSolver(id, heavy);
    memory.FailNever();
    if (status.ok()) break;
    ++failures;
    CHECK(status.code == StatusCode::kOutOfMemory);
    BodySolver got;
    REQUIRE(world.GetSolver(id, &got).ok());
    CHECK(got.implicit == light.implicit);
    StepWorld(&world, kDt);
    StepWorld(&other, kDt);
    REQUIRE(world.StateHash() == other.StateHash());
  }
  CHECK(failures > 3);
  REQUIRE(other.SetSolver(right, heavy).ok());
  StepWorld(&world, kDt);
  StepWorld(&other, kDt);
  CHECK(world.StateHash() == other.StateHash());
}

}  // namespace drag_test

// SPDX-License-Identifier: MIT
// What a state holds: settings, results of the last step, and what later steps start from.
#include "runtime/attachments/attachment_scene.h"
#include "runtime/bodies/touching_cubes.h"
#include "runtime/colliders/plane_scene.h"
#include "runtime/crowds/crowd_scene.h"
#include "runtime/state/state_scene.h"

#include <catch2/catch.hpp>

#include <cmath>
#include <cstring>
#include <vector>

using namespace plush;
using namespace plush::test;

TEST_CASE("A state holds what the game set and what the last step did") {
  const StateScene scene;
  World world(scene.Desc());
  scene.Fill(&world);
  for (int step = 0; step < 40; ++step) {
    scene.Drive(&world, step);
    StepWorld(&world, kStateDt);
  }
  REQUIRE(world.SetGravity({1.0f, -3.0f, 0.5f}).ok());
  world.SetContact({.iterations = 5, .sweeps = 9, .max_substeps = 2, .push_out_time = 0.3f});
  world.SetSleep({.speed = 0.125f, .time = 3.0f});
  World loaded(scene.Desc());
  Load(&loaded, SavedState(world), scene);
  CHECK(loaded.gravity().x == 1.0f);
  CHECK(loaded.contact().iterations == 5);
  CHECK(loaded.contact().sweeps == 9);
  CHECK(loaded.contact().max_substeps == 2);
  CHECK(loaded.contact().push_out_time == 0.3f);
  CHECK(loaded.sleep().speed == 0.125f);
  CHECK(loaded.sleep().time == 3.0f);
  CHECK(std::memcmp(&loaded.stats(), &world.stats(), sizeof(StepStats)) == 0);
  CHECK(loaded.body_events().empty());
  std::vector<BodyId> ids(world.num_bodies());
  uint32_t count = 0;
  REQUIRE(world.Bodies(ids, &count).ok());
  for (const BodyId id : ids) {
    CAPTURE(id.value);
    uint64_t data[2] = {};
    Filter filters[2];
    REQUIRE(world.GetUserData(id, &data[0]).ok());
    REQUIRE(loaded.GetUserData(id, &data[1]).ok());
    REQUIRE(world.GetFilter(id, &filters[0]).ok());
    REQUIRE(loaded.GetFilter(id, &filters[1]).ok());
    CHECK(data[0] == data[1]);
    CHECK(filters[0] == filters[1]);
    CHECK(loaded.IsAsleep(id) == world.IsAsleep(id));
    CHECK(loaded.IsEnabled(id) == world.IsEnabled(id));
    float settings[2][3] = {};
    SplittingSettings splitting[2];
    MaterialOverride materials[2];
    std::vector<uint32_t> pins[2] = {std::vector<uint32_t>(200), std::vector<uint32_t>(200)};
    for (int k = 0; k < 2; ++k) {
      const World& w = k == 0 ? world : loaded;
      REQUIRE(w.GetMaxSpeed(id, &settings[k][0]).ok());
      REQUIRE(w.GetGravityFactor(id, &settings[k][1]).ok());
      REQUIRE(w.GetScale(id, &settings[k][2]).ok());
      REQUIRE(w.GetSplitting(id, &splitting[k]).ok());
      REQUIRE(w.GetMaterial(id, &materials[k]).ok());
      uint32_t num_pins = 0;
      REQUIRE(w.GetPinnedNodes(id, pins[k], &num_pins).ok());
    }
    CHECK(std::memcmp(settings[0], settings[1], sizeof(settings[0])) == 0);
    CHECK(std::memcmp(&materials[0], &materials[1], sizeof(MaterialOverride)) == 0);
    CHECK(pins[0] == pins[1]);
    CHECK(splitting[0] == splitting[1]);
    Reaction reactions[2];
    const Status reported = world.RegionReaction(id, 0, &reactions[0]);
    CHECK(loaded.RegionReaction(id, 0, &reactions[1]).code == reported.code);
    CHECK(std::memcmp(&reactions[0], &reactions[1], sizeof(Reaction)) == 0);
    // Positions before the last step.
    for (const Asset* asset : {&scene.large(), &scene.small()}) {
      std::vector<Vec3> before[2] = {std::vector<Vec3>(asset->simulation().nodes.size()),
                                     std::vector<Vec3>(asset->simulation().nodes.size())};
      const Status read = world.NodePositions(id, 0.25f, before[0]);
      CHECK(loaded.NodePositions(id, 0.25f, before[1]).code == read.code);
      CHECK(std::memcmp(before[0].data(), before[1].data(), sizeof(Vec3) * before[0].size()) == 0);
    }
  }
  for (int k = 0; k < 20; ++k) {
    REQUIRE(StepWorld(&world, 0.007f) == StepWorld(&loaded, 0.007f));
    REQUIRE(loaded.StateHash() == world.StateHash());
  }
}

TEST_CASE("A state keeps where a fast body came from") {
  const StateScene scene;
  World world(scene.Desc()), loaded(scene.Desc());
  const float speed = 500.0f;  // [m/s]: each step is far longer than the body
  const BodyId id = AddBody(&world, scene.small(), {.velocity = {speed, 0.0f, 0.0f}});
  std::vector<Vec3> now(scene.small().simulation().nodes.size()), before = now, same = now;
  for (int step = 0; step < 3; ++step) {
    StepWorld(&world, kStateDt);
    Load(&loaded, SavedState(world), scene);
    REQUIRE(world.NodePositions(id, 1.0f, now).ok());
    REQUIRE(world.NodePositions(id, 0.0f, before).ok());
    CHECK(now[0].x - before[0].x == Approx(speed * kStateDt).epsilon(1e-4));
    REQUIRE(loaded.NodePositions(id, 0.0f, same).ok());
    CHECK(std::memcmp(same.data(), before.data(), sizeof(Vec3) * same.size()) == 0);
  }
}

TEST_CASE("Loading a state without targets forgets those of pins") {
  const StateScene scene;
  const std::span<const uint32_t> pins = scene.large().region(0).nodes;
  World world(scene.Desc()), fresh(scene.Desc());
  const BodyId id = AddBody(&world, scene.large(), {.pinned_nodes = pins});
  const std::vector<std::byte> state = SavedState(world);
  REQUIRE(world.MovePins(id, 0, {.position = {0.03f, 0.0f, 0.0f}}).ok());
  Load(&world, state, scene);
  Load(&fresh, state, scene);
  for (World* w : {&world, &fresh}) {
    const Vec3 target = {0.0f, 0.05f, 0.0f};
    REQUIRE(w->MovePins(id, pins.first(1), std::span(&target, 1)).ok());
    StepWorld(w, kStateDt);
  }
  CHECK(world.StateHash() == fresh.StateHash());
}

TEST_CASE("After loading, a new material gets the factors of the last time step") {
  const StateScene scene;
  World world(scene.Desc()), loaded(scene.Desc());
  const BodyId id = AddBody(&world, scene.large());
  CHECK(StepWorld(&world, 0.013f) == kStepPreparedTimeStep);
  Load(&loaded, SavedState(world), scene);
  for (World* w : {&world, &loaded}) {
    REQUIRE(w->SetMaterial(id, {.young = 3.0e5f}).ok());
    CHECK(StepWorld(w, 0.013f) == kStepOk);
  }
  CHECK(loaded.StateHash() == world.StateHash());
}

TEST_CASE("A state names its contact method, and only a world with that method loads it") {
  const ShapeAsset shape(TetBox(3, 2, 2, 0.1));
  const Asset* const assets[] = {&shape.asset()};
  const ContactMethod* const methods[] = {nullptr, &kSnapContact, &kPenaltyContact,
                                          &kPseudoImpulseContact};
  for (const ContactMethod* saves : methods) {
    World world({.contact = {.method = saves}});
    AddPlane(&world, {});
    AddBody(&world, shape.asset(), {.pose = {.position = {0.0f, 0.05f, 0.0f}}});
    for (int step = 0; step < 20; ++step) StepWorld(&world, kStateDt);
    const std::vector<std::byte> state = SavedState(world);
    for (const ContactMethod* loads : methods) {
      CAPTURE(saves != nullptr, loads != nullptr, saves == loads);
      World loaded({.contact = {.method = loads}});
      const Status status = loaded.LoadState(state, assets);
      if (saves != nullptr && saves != loads) {
        CHECK(status.code == StatusCode::kMismatch);
        CHECK(loaded.contact().method == loads);
        CHECK(loaded.num_bodies() == 0);
        continue;
      }
      REQUIRE(status.ok());
      CHECK(loaded.contact().method == saves);
      World alike({.contact = {.method = saves}});
      REQUIRE(alike.LoadState(state, assets).ok());
      for (int step = 0; step < 20; ++step) {
        StepWorld(&loaded, kStateDt);
        StepWorld(&alike, kStateDt);
      }
      CHECK(loaded.StateHash() == alike.StateHash());
    }
  }
}

TEST_CASE("A state's splitting settings are in range, and equal in a crowd") {
  const ShapeAsset shape = CrowdBox(3);
  const Asset* const assets[] = {&shape.asset()};
  const int32_t settings[3] = {37, 11, 23};  // no other numbers of the state
  World world;
  for (int i = 0; i < 8; ++i) AddBody(&world, shape.asset(), {.splitting = {37, 11, 23}});
  StepWorld(&world, kStateDt);
  const std::vector<std::byte> state = SavedState(world);
  const auto with = [&](int which, size_t number, int32_t value) {
    std::vector<std::byte> edited = state;
    size_t at = 0;
    for (int found = -1; found < which; at += 4) {
      REQUIRE(at + sizeof(settings) <= state.size());
      if (std::memcmp(&edited[at], settings, sizeof(settings)) == 0) ++found;
    }
    std::memcpy(&edited[at - 4 + 4 * number], &value, 4);
    Reseal(edited);
    World loaded;
    return loaded.LoadState(edited, assets).code;
  };
  CHECK(with(3, 0, 37) == StatusCode::kOk);
  for (size_t number = 0; number < 3; ++number) {
    CAPTURE(number);
    CHECK(with(3, number, 12) == StatusCode::kCorrupt);  // another one than the crowd's
    for (const int32_t value : {-1, 65}) CHECK(with(0, number, value) == StatusCode::kCorrupt);
  }
}

// What implicit bodies need to touch others is reserved with the first of them.
TEST_CASE("Bodies that come after a state is loaded touch implicit ones") {
  const bool is_first_implicit = GENERATE(false, true);  // of the state, or of the world before
  CAPTURE(is_first_implicit);
  const BodySolver implicit = ImplicitSolver();
  TouchingCubes saved(TouchingCubes::Awake()), cubes(TouchingCubes::Awake());
  BodyDesc of_implicit = {.solver = &implicit};
  const BodyDesc of_saved = is_first_implicit ? of_implicit : BodyDesc();
  const BodyDesc of_new = is_first_implicit ? BodyDesc() : of_implicit;
  AddPlane(&saved.world, {});
  saved.Add({}, 1.0e6f, of_saved);
  if (!is_first_implicit) cubes.Add({}, 1.0e6f, of_implicit);
  const Asset* const assets[] = {&saved.shape.asset()};
  const SolverMethod* const methods[] = {&kImplicitMethod};
  REQUIRE(cubes.world.LoadState(SavedState(saved.world), assets, methods).ok());
  const BodyId high = AddBody(&cubes.world, saved.shape.asset(), [&] {
    BodyDesc desc = of_new;
    desc.pose.position = {0.05f, TouchingCubes::kSize, 0.03f};
    return desc;
  }());
  cubes.Step(20);
  CHECK(cubes.world.stats().body_pairs == 1);
  CHECK(cubes.Lowest(high) > 0.9 * double(TouchingCubes::kSize));
}

// Bodies freeze, or go on with numbers near the end of float's range.
TEST_CASE("States of bodies that are thrown at absurd speeds load, and forces stay finite") {
  const float speed = GENERATE(1.0e6f, 1.0e8f, 1.0e10f, 1.0e14f, 1.0e20f, 3.0e37f);
  const int solver_of = GENERATE(0, 1, 2);
  const bool holds = GENERATE(false, true), reports = GENERATE(false, true);
  CAPTURE(speed, solver_of, holds, reports);
  const ShapeAsset shape(
      SurfaceBytes(TetBox(2, 2, 2, 0.1), {.parts = 2, .depth = 0.0, .num_shells = 0}));
  const Asset* const assets[] = {&shape.asset()};
  const SolverMethod* const methods[] = {&kImplicitMethod};
  const BodySolver solvers[] = {SplittingSolver(), ImplicitSolver(),
                                ImplicitSolver({.mass_damping = 1.0f})};
  const uint32_t pins[] = {0, 1, 2};
  WorldDesc of_world = {.max_pairs = 8};
  World world(of_world), loaded(of_world);
  BodyDesc desc = {.solver = &solvers[solver_of], .report_reactions = reports};
  if (reports) desc.pinned_nodes = pins;
  const BodyId id = AddBody(&world, shape.asset(), desc);
  AddBody(&world, shape.asset(), {.pose = {.position = {.x = 0.22f}}});
  AttachmentDesc spring = {.body = id, .stiffness = 1.0e6f};
  spring.nodes[0] = 5;
  spring.weights = {1.0f, 0.0f, 0.0f, 0.0f};
  AttachmentId attachment;
  ConstraintId constraint;
  if (holds) {
    attachment = Attach(&world, spring);
    REQUIRE(world.AddConstraint({.body = id, .nodes = {7, 7, 7, 7}}, &constraint).ok());
  }
  StepWorld(&world, 0.01f);
  std::vector<Vec3> v(shape.num_nodes());
  for (size_t i = 0; i < v.size(); ++i) {
    v[i] = {i % 2 == 0 ? speed : -speed, i % 3 == 0 ? speed : -speed, i % 5 == 0 ? speed : -speed};
  }
  REQUIRE(world.SetNodeVelocities(id, v).ok());
  const auto check = [&] {
    Vec3 forces[2];
    if (holds) REQUIRE(world.AttachmentForce(attachment, &forces[0]).ok());
    if (holds) REQUIRE(world.ConstraintForce(constraint, &forces[1]).ok());
    for (const Vec3& force : forces) CHECK(std::isfinite(force.x + force.y + force.z));
    std::vector<Vec3> reactions(shape.num_nodes());
    if (reports) REQUIRE(world.NodeReactions(id, reactions).ok());
    for (const Vec3& force : reactions) CHECK(std::isfinite(force.x + force.y + force.z));
    CHECK(loaded.LoadState(SavedState(world), assets, methods).ok());
  };
  for (int step = 0; step < 6; ++step) {
    StepWorld(&world, 0.01f);
    check();
  }
  REQUIRE(world.ResetBody(id, {}).ok());
  check();
  StepWorld(&world, 0.01f);
  check();
}

TEST_CASE("A state loads after any step of a bounce") {
  for (const float young : {1.0e3f, 1.0e4f, 1.0e5f}) {
    for (const double height : {0.01, 0.05, 0.3}) {
      CAPTURE(young, height);
      const ShapeAsset shape(TetBox(2, 2, 2, 0.1), {double(young), 0.3, 1000.0}, 0.01);
      World world, loaded;
      for (World* of : {&world, &loaded}) {
        AddCollider(of, {.restitution = 1.0f});
        AddBody(of, shape.asset(),
                {.pose = {.position = {0.0f, static_cast<float>(height), 0.0f}}});
      }
      const Asset* const assets[] = {&shape.asset()};
      for (int step = 0; step < 150; ++step) {
        CAPTURE(step);
        StepWorld(&world, 0.01f);
        REQUIRE(loaded.LoadState(SavedState(world), assets).ok());
      }
    }
  }
}

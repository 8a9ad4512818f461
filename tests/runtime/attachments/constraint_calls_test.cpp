// SPDX-License-Identifier: MIT
// Calls on constraints: what they refuse, what they wake, how they go, and on threads.
#include "runtime/attachments/constraint_scene.h"
#include "runtime/state/state_scene.h"
#include "runtime/world/heap_counter.h"
#include "state/state_format.h"

#include <catch2/catch.hpp>

#include <cstddef>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

using namespace plush;
using namespace plush::test;

namespace constraint_calls_test {

constexpr float kDt = 0.01f;
constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();

const ShapeAsset& Box() {
  static const ShapeAsset* const box = new ShapeAsset(TetBox(2, 2, 2, 0.1, 0.09, 3), {3e5, 0.35});
  return *box;
}

// Holds a node of the box at its place at rest, or `shift` from there.
ConstraintDesc At(BodyId body, uint32_t node, const Vec3& shift = {}) {
  ConstraintDesc desc = {.body = body, .nodes = {node, node, node, node}};
  desc.target = ToVec3(ToEigen(Box().rest()).col(node) + ToEigen(shift));
  return desc;
}

void FallAsleep(World* world, BodyId id) {
  for (int step = 0; step < 5000 && !world->IsAsleep(id); ++step) StepWorld(world, kDt);
  REQUIRE(world->IsAsleep(id));
}

TEST_CASE("AddConstraint names what is wrong") {
  World world;
  const BodyId body = AddBody(&world, Box().asset());
  static BodyId s_fixed, s_removed;
  s_fixed = AddBody(&world, Box().asset(), {.fixed = true});
  s_removed = AddBody(&world, Box().asset());
  REQUIRE(world.RemoveBody(s_removed).ok());
  struct Row {
    const char* field;
    StatusCode code;
    void (*change)(ConstraintDesc* desc);
  };
  const StatusCode bad = StatusCode::kInvalidArgument;
  const Row rows[] = {
      {"body", StatusCode::kNullId, [](ConstraintDesc* d) { d->body = {}; }},
      {"body", StatusCode::kStaleId, [](ConstraintDesc* d) { d->body = s_removed; }},
      {"body", StatusCode::kForeignId, [](ConstraintDesc* d) { d->body.value ^= 1ull << 50; }},
      {"body", bad, [](ConstraintDesc* d) { d->body = s_fixed; }},
      {"nodes", bad, [](ConstraintDesc* d) { d->nodes[2] = 1u << 30; }},
      {"weights", bad, [](ConstraintDesc* d) { d->weights.x = 0.9f; }},
      {"weights", bad, [](ConstraintDesc* d) { d->weights.z = kNaN; }},
      {"kind", bad, [](ConstraintDesc* d) { d->kind = static_cast<ConstraintKind>(3); }},
      {"direction", bad, [](ConstraintDesc* d) { d->direction = {}; }},
      {"direction", bad, [](ConstraintDesc* d) { d->direction.x = kNaN; }},
      {"direction", bad, [](ConstraintDesc* d) { d->direction.y = 3e38f; }},
      {"target", bad, [](ConstraintDesc* d) { d->target.y = kNaN; }},
      {"target", bad, [](ConstraintDesc* d) { d->target.x = 2.0f * kMostCoordinate; }},
      {"correction", bad, [](ConstraintDesc* d) { d->correction = 0.0f; }},
      {"correction", bad, [](ConstraintDesc* d) { d->correction = 1.01f; }},
      {"correction", bad, [](ConstraintDesc* d) { d->correction = kNaN; }},
  };
  for (const Row& row : rows) {
    ConstraintDesc desc = At(body, 0);
    desc.kind = ConstraintKind::kLine;
    row.change(&desc);
    ConstraintId id = {1};
    const Status status = world.AddConstraint(desc, &id);
    CAPTURE(row.field, status.section, status.reason);
    CHECK(status.code == row.code);
    CHECK(status.section == std::string(row.field));
    CHECK(!id.valid());
  }
  CHECK(world.num_constraints() == 0);
  SurfacePoint nowhere;
  ConstraintId id;
  CHECK(world.AddConstraint(nowhere, At(body, 0), &id).section == std::string("at"));
  CHECK(world.AddConstraint(At(body, 0), nullptr).code == bad);
  ConstraintDesc line = At(body, 3);
  line.kind = ConstraintKind::kLine;
  line.direction = {0.0f, 3.0f, 4.0f};
  line.correction = 0.5f;
  id = AddConstraint(&world, line);
  ConstraintDesc read;
  REQUIRE(world.GetConstraint(id, &read).ok());
  CHECK(read.kind == ConstraintKind::kLine);
  CHECK(read.nodes[0] == 3);
  CHECK((ToEigen(read.direction) - Eigen::Vector3d(0.0, 0.6, 0.8)).norm() < 1e-6);
  CHECK(read.correction == 0.5f);
  CHECK(world.MoveConstraint(id, {kNaN, 0.0f, 0.0f}).section == std::string("target"));
  CHECK(world.MoveConstraint({}, {}).code == StatusCode::kNullId);
  // An id of the one is none of the other.
  AttachmentId spring;
  REQUIRE(world.Attach({.body = body, .weights = {1.0f, 0.0f, 0.0f, 0.0f}}, &spring).ok());
  CHECK(world.Detach({id.value}).code == StatusCode::kForeignId);
  CHECK(world.RemoveConstraint({spring.value}).code == StatusCode::kForeignId);
  CHECK(world.num_attachments() == 1);
  CHECK(world.num_constraints() == 1);
  REQUIRE(world.RemoveConstraint(id).ok());
  Vec3 force;
  CHECK(world.RemoveConstraint(id).code == StatusCode::kStaleId);
  CHECK(world.ConstraintForce(id, &force).code == StatusCode::kStaleId);
  CHECK(!world.IsValid(id));
  id = AddConstraint(&world, line);
  REQUIRE(world.RemoveBody(body).ok());
  CHECK(!world.IsValid(id));
  CHECK(world.num_constraints() + world.num_attachments() == 0);
}

TEST_CASE("Bodies that constraints hold fall asleep, and wake when a target moves or goes") {
  World world({.sleep = {.time = 0.1f}});
  const BodyId id = AddBody(&world, Box().asset(), {.material = {.damping = 0.1f}});
  std::vector<ConstraintId> ids;
  for (const uint32_t node : {0u, 2u, 6u}) ids.push_back(AddConstraint(&world, At(id, node)));
  FallAsleep(&world, id);
  Eigen::Vector3d lift = Eigen::Vector3d::Zero();
  for (const ConstraintId one : ids) lift += ForceOf(world, one);
  const double weight = 9.81 * MomentsOf(world, id).mass;
  CHECK((lift - Eigen::Vector3d(0.0, weight, 0.0)).norm() < 0.01 * weight);
  REQUIRE(world.MoveConstraint(ids[0], At(id, 0).target).ok());  // it is there already
  CHECK(world.IsAsleep(id));
  REQUIRE(world.MoveConstraint(ids[0], At(id, 0, {0.0f, 0.1f, 0.0f}).target).ok());
  CHECK(!world.IsAsleep(id));
  FallAsleep(&world, id);
  AddConstraint(&world, At(id, 2));  // once more
  CHECK(!world.IsAsleep(id));
  FallAsleep(&world, id);
  REQUIRE(world.RemoveConstraint(ids[1]).ok());
  CHECK(!world.IsAsleep(id));
}

TEST_CASE("AddConstraint leaves the world as it was if memory fails") {
  CountingMemory memory;
  World world({.allocator = memory.allocator()});
  const BodyId id = AddBody(&world, Box().asset());
  AddConstraint(&world, At(id, 0));
  for (int step = 0; step < 3; ++step) StepWorld(&world, kDt);
  uint64_t refused = 0;
  ConstraintId added;
  for (uint64_t n = 1; !added.valid(); ++n) {
    memory.FailAt(n, true);
    const Status status = world.AddConstraint(At(id, 2), &added);
    memory.FailNever();
    if (status.ok()) break;
    CHECK(status.code == StatusCode::kOutOfMemory);
    ++refused;
    REQUIRE(StepWorld(&world, kDt) == kStepOk);
    const Points x = ToEigen(PositionsOf(world, id, Box().num_nodes()));
    CHECK(DistanceOf(At(id, 0), x).norm() < 1e-6);
  }
  CHECK(refused > 3);
  CHECK(world.num_constraints() == 2);
}

TEST_CASE("A constraint takes as much memory as its note says") {
  const ShapeAsset shape(TetBox(10, 4, 4, 0.1), {3e5, 0.35});
  CountingMemory memory;
  World world({.allocator = memory.allocator()});
  const BodyId id = AddBody(&world, shape.asset());
  ConstraintId added;
  REQUIRE(world.AddConstraint({.body = id, .weights = {1.0f, 0.0f, 0.0f, 0.0f}}, &added).ok());
  REQUIRE(world.RemoveConstraint(added).ok());
  StepWorld(&world, kDt);
  const size_t before = memory.bytes_out();
  const size_t count = 32;  // capacities double
  for (uint32_t i = 0; i < count; ++i) {
    ConstraintDesc desc = {.body = id, .weights = {0.25f, 0.25f, 0.25f, 0.25f}};
    for (uint32_t k = 0; k < 4; ++k) desc.nodes[k] = 4 * i + k;
    desc.target = shape.rest()[4 * i];
    AddConstraint(&world, desc);
  }
  const size_t bytes = memory.bytes_out() - before;
  CAPTURE(bytes);
  CHECK(bytes < count * (4 * shape.num_nodes() + 1100) + 550 * count * count);
}

TEST_CASE("A state with a constraint's numbers out of range is refused") {
  constexpr float kShare = 0.37f;  // finds the record
  World world, other;
  const BodyId id = AddBody(&world, Box().asset());
  ConstraintDesc held = At(id, 4);
  held.correction = kShare;
  AddConstraint(&world, held);
  StepWorld(&world, kDt);
  const std::vector<std::byte> state = SavedState(world);
  const Asset* const assets[] = {&Box().asset()};
  size_t at = 0;
  StateAttachment record = {};
  const auto read = [&] { std::memcpy(&record, &state[at], sizeof(record)); };
  for (read(); record.correction != kShare || record.constraint != 1; read()) {
    at += sizeof(float);
    REQUIRE(at + sizeof(record) <= state.size());
  }
  const auto code_with = [&](const StateAttachment& changed) {
    std::vector<std::byte> copy = state;
    std::memcpy(&copy[at], &changed, sizeof(changed));
    Reseal(copy);
    return other.LoadState(copy, assets).code;
  };
  REQUIRE(code_with(record) == StatusCode::kOk);
  std::vector<StateAttachment> wrong(8, record);
  wrong[0].rest_length = 0.1f;
  wrong[1].max_force = 5.0f;
  wrong[2].break_force = 1.0f;
  wrong[3].constraint = 4;
  wrong[4].correction = 0.0f;
  wrong[5].correction = 1.5f;
  wrong[6].direction[0] = 2.0f;
  wrong[7].target[0] = kNaN;
  for (const StateAttachment& one : wrong) CHECK(code_with(one) == StatusCode::kCorrupt);
}

TEST_CASE("Constraints that stop every rigid motion hold a quasistatic body") {
  const bool is_turned = GENERATE(false, true);
  CAPTURE(is_turned);
  World world;
  BodyDesc desc;
  if (is_turned) desc.pose.rotation = {0.5f, -0.5f, 0.1f, 0.7f};
  const BodyId id = AddBody(&world, Box().asset(), desc);
  const auto at = [&](uint32_t node) {  // node 0 has no weight
    ConstraintDesc of = At(id, node);
    of.nodes[1] = of.nodes[2] = of.nodes[3] = 0;
    of.weights = {1.0f, 0.0f, 0.0f, 0.0f};
    of.target = PositionsOf(world, id, Box().num_nodes())[node];
    return of;
  };
  const BodySolver solver = ImplicitSolver({.newton_iterations = 30, .quasistatic = true});
  const auto code = [&] { return world.SetSolver(id, solver).code; };
  std::vector<ConstraintId> ids = {AddConstraint(&world, at(0))};
  CHECK(code() == StatusCode::kInvalidArgument);
  ConstraintDesc line = at(2), plane = at(18);
  line.kind = ConstraintKind::kLine;
  line.direction = ToVec3(ToEigen(line.target) - ToEigen(at(0).target));
  ids.push_back(AddConstraint(&world, line));
  CHECK(code() == StatusCode::kInvalidArgument);  // it may turn about the line
  plane.kind = ConstraintKind::kPlane;
  plane.direction = line.direction;
  ids.push_back(AddConstraint(&world, plane));
  CHECK(code() == StatusCode::kInvalidArgument);  // still
  plane.direction = {0.0f, 1.0f, 0.0f};
  const Eigen::Vector3d arm = ToEigen(plane.target) - ToEigen(line.target);
  const Eigen::Vector3d axis = ToEigen(line.direction);
  plane.direction = ToVec3(axis.cross(arm));
  ids.push_back(AddConstraint(&world, plane));
  REQUIRE(code() == StatusCode::kOk);
  CHECK(world.RemoveConstraint(ids[3]).code == StatusCode::kInvalidArgument);
  CHECK(world.IsValid(ids[3]));
  REQUIRE(world.RemoveConstraint(ids[2]).ok());  // not needed
  for (int step = 0; step < 5; ++step) REQUIRE(StepWorld(&world, kDt) == kStepOk);
  Eigen::Vector3d lift = Eigen::Vector3d::Zero();
  for (const size_t k : {size_t{0}, size_t{1}, size_t{3}}) lift += ForceOf(world, ids[k]);
  const double weight = 9.81 * MomentsOf(world, id).mass;
  CHECK((lift - Eigen::Vector3d(0.0, weight, 0.0)).norm() < 1e-3 * weight);
  REQUIRE(world.SetSolver(id, ImplicitSolver()).ok());
  CHECK(world.RemoveConstraint(ids[3]).ok());
}

}  // namespace constraint_calls_test

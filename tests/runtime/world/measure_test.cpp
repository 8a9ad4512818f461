// SPDX-License-Identifier: MIT
// World::Measure agrees with sums in double precision, changes nothing and takes no memory.
#include "runtime/dense_reference.h"
#include "runtime/world/crowd_scene.h"
#include "runtime/world/heap_counter.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <vector>

using namespace plush;
using namespace plush::test;

namespace {

constexpr float kDt = 0.01f;

struct Reference {
  double mass = 0.0, kinetic = 0.0, elastic = 0.0, gravity = 0.0;
  double max_speed = 0.0, min_det = 1.0;
  uint32_t tets = 0, inverted = 0, collapsed = 0;
};

void AddTo(Reference* sum, const World& world, BodyId id, const DenseModel& model,
           const Eigen::Vector3d& gravity) {
  const auto num_nodes = static_cast<size_t>(model.num_nodes());
  const Points x = ToEigen(PositionsOf(world, id, num_nodes));
  const Points v = ToEigen(VelocitiesOf(world, id, num_nodes));
  for (Eigen::Index i = 0; i < x.cols(); ++i) {
    const double m = model.masses[i];
    sum->mass += m;
    sum->kinetic += 0.5 * m * v.col(i).squaredNorm();
    sum->gravity -= m * gravity.dot(x.col(i));
    sum->max_speed = std::max(sum->max_speed, v.col(i).norm());
  }
  sum->elastic += DenseEnergy(model, x);
  for (size_t t = 0; t < model.tets.size(); ++t) {
    const double det = DenseGradient(model, t, x).determinant();
    sum->min_det = std::min(sum->min_det, det);
    sum->inverted += det <= 0.0 ? 1u : 0u;
    sum->collapsed += det < 0.1 ? 1u : 0u;
    ++sum->tets;
  }
}

}  // namespace

TEST_CASE("Measures are the sums over all bodies, fixed and sleeping ones too") {
  const uint32_t seed = GENERATE(1u, 2u, 3u);
  CAPTURE(seed);
  const ShapeAsset box(TetBox(2, 2, 1, 0.1, 0.05, seed), {}, double(kDt));
  const ShapeAsset bar(TetBox(1, 4, 1, 0.1, 0.05, seed + 9), {3.0e5, 0.4, 1500.0}, double(kDt));
  const DenseModel box_model(box.asset()), bar_model(bar.asset());
  WorldDesc desc;
  desc.gravity = {1.0f, -9.0f, 0.5f};
  World world(desc);
  WorldMeasures measures;
  REQUIRE(world.Measure(&measures).ok());
  CHECK(measures.mass_kg == 0.0);
  CHECK(measures.min_det_f == 1.0f);
  Random random(seed);
  std::vector<BodyId> ids;
  for (int i = 0; i < 14; ++i) {
    BodyDesc body;
    body.pose = {{static_cast<float>(i), 2.0f, -1.0f}, ToQuat(random.Rotation())};
    body.velocity = ToVec3(random.Vector(1.0));
    body.fixed = i == 5;
    ids.push_back(AddBody(&world, i % 4 == 3 ? bar.asset() : box.asset(), body));
  }
  REQUIRE(world.RemoveBody(ids[2]).ok());
  for (int step = 0; step < 8; ++step) StepWorld(&world, kDt);
  // One body so strained that tets are inside out, one shaken.
  std::vector<Vec3> strained = PositionsOf(world, ids[0], box.num_nodes());
  for (Vec3& x : strained) {
    const Vec3 by = ToVec3(random.Vector(0.1));
    x = {x.x + by.x, x.y + by.y, x.z + by.z};
  }
  REQUIRE(world.SetNodePositions(ids[0], strained).ok());
  std::vector<Vec3> shaken(box.num_nodes());
  for (Vec3& v : shaken) v = ToVec3(random.Vector(3.0));
  REQUIRE(world.SetNodeVelocities(ids[1], shaken).ok());

  const uint64_t hash = world.StateHash();
  REQUIRE(world.Measure(&measures).ok());
  CHECK(world.StateHash() == hash);
  Reference expected;
  for (size_t i = 0; i < ids.size(); ++i) {
    if (i == 2) continue;
    AddTo(&expected, world, ids[i], i % 4 == 3 ? bar_model : box_model, ToEigen(desc.gravity));
  }
  CHECK(expected.inverted > 0);
  CHECK(measures.mass_kg == Approx(expected.mass).epsilon(1e-6));
  CHECK(measures.kinetic_j == Approx(expected.kinetic).epsilon(1e-5));
  CHECK(measures.elastic_j == Approx(expected.elastic).epsilon(1e-3));
  CHECK(measures.gravity_j == Approx(expected.gravity).epsilon(1e-5));
  CHECK(double(measures.max_speed) == Approx(expected.max_speed).epsilon(1e-5));
  CHECK(double(measures.min_det_f) == Approx(expected.min_det).margin(1e-4));
  CHECK(measures.tets == expected.tets);
  CHECK(measures.inverted_tets == expected.inverted);
  CHECK(measures.collapsed_tets == expected.collapsed);
  CHECK(world.Measure(nullptr).code == StatusCode::kInvalidArgument);
}

TEST_CASE("Measuring changes no later step, and takes no memory") {
  const ShapeAsset shape = CrowdBox(4);
  CountingMemory memory, other_memory;
  WorldDesc desc, other_desc;
  desc.allocator = memory.allocator();
  other_desc.allocator = other_memory.allocator();
  World world(desc), other(other_desc);
  for (World* w : {&world, &other}) {
    Random random(11);
    AddPlane(w, {});
    for (int i = 0; i < 20; ++i) {
      RandomMember(shape, {static_cast<float>(i), i % 2 == 0 ? 0.6f : 4.0f, 0.0f}, 1.0, &random)
          .AddTo(w, shape.asset());
    }
    StepWorld(w, kDt);
  }
  const uint64_t requests = memory.requests(), heap = HeapAllocations();
  bool ok = true;
  WorldMeasures measures;
  for (int step = 0; step < 40; ++step) {
    ok = world.Measure(&measures).ok() && world.Step(kDt).ok() && ok;
  }
  const uint64_t heap_after = HeapAllocations();
  CHECK(ok);
  CHECK(heap_after == heap);
  CHECK(memory.requests() == requests);
  for (int step = 0; step < 40; ++step) StepWorld(&other, kDt);
  CHECK(world.StateHash() == other.StateHash());
  CHECK(world.stats().contacts > 0);
}

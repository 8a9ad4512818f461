// SPDX-License-Identifier: MIT
// Time step, pins and material behave alike whether they are baked or changed at run time, alone
// and together.
#include "runtime/dense_reference.h"
#include "sweep.h"

#include <catch2/catch.hpp>

#include <vector>

using namespace plush;
using namespace plush::test;

namespace rebake_test {

constexpr double kSize = 0.5;  // of the body [m]
constexpr double kTolerance = 1e-4 * kSize;
constexpr tools::Material kBaked = {1.0e5, 0.4, 1000.0, 0.0};

tools::TetMesh MeshOf(uint32_t seed) { return TetBox(2, 4, 2, 0.1, 0.09, seed); }

// End of a motion: the body hangs by its pins and starts at random velocities.
Points EndOf(const ShapeAsset& shape, const MaterialOverride& material,
             const std::vector<uint32_t>& pins, const std::vector<float>& steps, bool prepared,
             int volume_sweeps) {
  World world;
  BodyDesc body = {.material = material, .splitting = {.volume_sweeps = volume_sweeps}};
  body.pinned_nodes = pins;
  const BodyId id = AddBody(&world, shape.asset(), body);
  Random random(11);
  REQUIRE(world.SetNodeVelocities(id, ToVec3s(random.Vectors(shape.num_nodes(), 1.0))).ok());
  for (const float dt : steps) {
    if (prepared) REQUIRE(world.PrepareTimeStep(dt).ok());
    const uint32_t flags = StepWorld(&world, dt);
    if (prepared) REQUIRE(flags == kStepOk);
    REQUIRE((flags & ~uint32_t{kStepPreparedTimeStep}) == 0u);
  }
  return ToEigen(PositionsOf(world, id, shape.num_nodes()));
}

double Apart(const Points& a, const Points& b) { return (a - b).cwiseAbs().maxCoeff(); }

TEST_CASE("Changed numbers behave like baked ones, alone and together") {
  const uint32_t seed = GENERATE(1u, 2u, 3u);
  const bool new_young = GENERATE(false, true), new_poisson = GENERATE(false, true);
  const bool new_density = GENERATE(false, true), new_damping = GENERATE(false, true);
  const float dt = GENERATE(0.01f, 1.0f / 60, 0.004f);
  const bool with_pins = GENERATE(false, true);
  const int sweeps = GENERATE(0, 2);
  static tests::SweepCells cells;
  if (!cells.TakesNext()) return;
  CAPTURE(seed, new_young, new_poisson, new_density, new_damping, dt, with_pins, sweeps);
  tools::Material material = kBaked;
  MaterialOverride changes;
  if (new_young) material.young = double{changes.young = 3.0e5f};
  if (new_poisson) material.poisson = double{changes.poisson = 0.2f};
  if (new_density) material.density = double{changes.density = 700.0f};
  if (new_damping) material.damping = double{changes.damping = 0.03f};
  const tools::TetMesh mesh = MeshOf(seed);
  const ShapeAsset changed(mesh, kBaked, 0.01), baked(mesh, material, double(dt));
  std::vector<uint32_t> pins;
  if (with_pins) pins = Random(seed).Nodes(changed.num_nodes(), 0.15);
  const std::vector<float> steps(30, dt);
  const Points expected = EndOf(baked, {}, pins, steps, false, sweeps);
  CHECK(Apart(EndOf(changed, changes, pins, steps, true, sweeps), expected) < kTolerance);
  if (new_young || new_poisson || new_density || new_damping) {
    // The motion must depend on the material while the body rings; a free body's flight does not.
    const std::vector<float> few(4, dt);
    CHECK(Apart(EndOf(changed, {}, pins, few, true, sweeps),
                EndOf(baked, {}, pins, few, false, sweeps)) > kTolerance);
  }
}

TEST_CASE("A time step that changes during a motion does not depend on the baked one") {
  const uint32_t seed = GENERATE(1u, 2u, 3u);
  const bool prepared = GENERATE(false, true);
  const int sweeps = GENERATE(0, 2);
  CAPTURE(seed, prepared, sweeps);
  std::vector<float> steps(10, 0.01f);
  steps.insert(steps.end(), 10, 0.0125f);
  steps.insert(steps.end(), 10, 0.005f);
  steps.insert(steps.end(), 10, 0.01f);
  const tools::TetMesh mesh = MeshOf(seed);
  const ShapeAsset ten(mesh, kBaked, 0.01), five(mesh, kBaked, 0.005), other(mesh, kBaked, 0.03);
  const std::vector<uint32_t> pins = {0, 1, 2, 3};
  const Points expected = EndOf(ten, {}, pins, steps, prepared, sweeps);
  CHECK(Apart(EndOf(five, {}, pins, steps, prepared, sweeps), expected) < kTolerance);
  CHECK(Apart(EndOf(other, {}, pins, steps, prepared, sweeps), expected) < kTolerance);
}

TEST_CASE("Pins chosen at run time act as in the dense equations") {
  // Pins are not baked at all. The reference is the system without their rows and columns.
  const uint32_t seed = GENERATE(1u, 2u, 3u);
  const double share = GENERATE(0.05, 0.3, 0.8);
  CAPTURE(seed, share);
  const tools::Material material = {1.0e5, 0.4, 1000.0};
  const ShapeAsset shape(MeshOf(seed), material, 0.01);
  DenseModel model(shape.asset(), material);
  const std::vector<uint32_t> pins = Random(seed).Nodes(shape.num_nodes(), share);
  for (const uint32_t node : pins) model.pinned[node] = true;
  const WorldDesc desc;
  World world(desc);
  BodyDesc body = {.splitting = {.outer_iterations = 2, .polar_iterations = 64}};
  body.pinned_nodes = pins;
  const BodyId id = AddBody(&world, shape.asset(), body);
  DenseStepper stepper(model, 0.01, body.splitting.outer_iterations, body.splitting.volume_sweeps);
  for (int step = 0; step < 30; ++step) {
    REQUIRE(StepWorld(&world, 0.01f) == kStepOk);
    stepper.Step(ToEigen(desc.gravity));
    REQUIRE(Apart(ToEigen(PositionsOf(world, id, shape.num_nodes())), stepper.x) < kTolerance);
  }
}

}  // namespace rebake_test

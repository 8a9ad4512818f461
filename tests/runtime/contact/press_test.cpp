// SPDX-License-Identifier: MIT
// Cubes between a floor and a plate that presses them to half their height.
#include "runtime/contact/plane_fixtures.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <vector>

using namespace plush;
using namespace plush::test;

namespace {

// Presses a cube of 1 m in one second and holds it for two.
class Press {
 public:
  Press(const ShapeAsset& shape, const MaterialOverride& material, int outer_iterations,
        const ContactSettings& contact)
      : num_nodes_(shape.rest().size()), world_({.gravity = {}, .contact = contact}) {
    AddPlane(&world_, {}, 0.5f);
    ColliderDesc plate;
    plate.plane = {.normal = {0.0f, -1.0f, 0.0f}};
    plate.pose.position.y = 1.0f;
    plate.friction = 0.5f;
    REQUIRE(world_.AddCollider(plate, &plate_).ok());
    BodyDesc body;
    body.material = material;
    body.splitting.outer_iterations = outer_iterations;
    id_ = AddBody(&world_, shape.asset(), body);
    for (int step = 1; step <= 300; ++step) {
      const float height = std::max(1.0f - 0.005f * static_cast<float>(step), kHeight);
      REQUIRE(world_.MoveCollider(plate_, {.position = {0.0f, height, 0.0f}}).ok());
      flags |= StepWorld(&world_, kDt);
      depth = std::max(depth, MeasuresOf(world_).max_penetration);
    }
  }

  // The cube on the plate [N]: at rest, the elastic forces of its upper half.
  double Force() const {
    std::vector<Vec3> forces(num_nodes_);
    REQUIRE(world_.ElasticForces(id_, forces).ok());
    const std::vector<Vec3> x = PositionsOf(world_, id_, num_nodes_);
    double up = 0.0;
    for (size_t i = 0; i < num_nodes_; ++i) up += x[i].y > 0.5f * kHeight ? double(forces[i].y) : 0;
    return up;
  }
  float Speed() const { return world_.stats().max_speed; }

  float depth = 0.0f;  // of any step [m]
  uint32_t flags = 0;

 private:
  static constexpr float kHeight = 0.5f;  // [m]
  size_t num_nodes_;
  World world_;
  ColliderId plate_;
  BodyId id_;
};

}  // namespace

// The surface has 722 vertices on the planes, more than three times as many as contacts fit.
TEST_CASE("A pressed cube stays above the planes, and its force is that of many iterations",
          "[long]") {
  const bool has_surface = GENERATE(false, true);
  const float poisson = GENERATE(0.33f, 0.45f, 0.49f);
  const float young = GENERATE(1.0e4f, 1.0e5f, 1.0e6f, 1.0e7f);
  CAPTURE(has_surface, poisson, young);
  const tools::TetMesh mesh = TetBox(6, 6, 6, 1.0 / 6);
  const ShapeAsset shape =
      has_surface ? ShapeAsset(SurfaceBytes(mesh, {.parts = 3, .depth = 0.0, .num_shells = 0}))
                  : ShapeAsset(mesh);
  const MaterialOverride material = {
      .young = young, .poisson = poisson, .density = 1000.0f, .damping = 0.02f};
  const Press press(shape, material, SplittingSettings{}.outer_iterations, {});
  CHECK(press.flags == kStepOk);
  CHECK(press.depth < 1.0e-4f);
  CHECK(press.Speed() < 0.05f);
  if (young != 1.0e5f || has_surface) return;  // the reference takes seconds
  const Press reference(shape, material, 40, {.iterations = 40});
  CHECK(press.Force() == Approx(reference.Force()).epsilon(0.02));
}

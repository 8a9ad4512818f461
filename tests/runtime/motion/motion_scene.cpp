// SPDX-License-Identifier: MIT
#include "runtime/motion/motion_scene.h"

#include "reference/implicit_euler.h"
#include "reference/kept_turns.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <array>
#include <cmath>

namespace plush::test {
namespace {

constexpr float kDt = kMotionDt;

// Rest positions in the order of the asset's nodes, which the material does not change.
Points RestOf(const tools::TetMesh& mesh) {
  return ToEigen(ShapeAsset::Baked(mesh, {}, double(kDt)).rest());
}

}  // namespace

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

Scene HungClub(bool by_thick_end) {
  Scene scene;
  scene.mesh = TetBox(8, 2, 2, 0.05);
  for (tools::Vec3d& node : scene.mesh.nodes) {
    const double thickness = 0.5 + node.x / 0.4;
    node.y *= thickness;
    node.z = (node.z - 0.05) * thickness;
  }
  scene.start = RestOf(scene.mesh);
  const double end = by_thick_end ? 0.4 : 0.0, top = by_thick_end ? 0.15 : 0.05;
  for (Eigen::Index i = 0; i < scene.start.cols(); ++i) {
    const bool is_at_end = std::fabs(scene.start(0, i) - end) < 0.01;
    if (!is_at_end || scene.start(1, i) < 0.85 * top) continue;
    scene.pins.push_back(static_cast<uint32_t>(i));
  }
  scene.swing = {by_thick_end ? -1.0 : 1.0, 0.0, 0.0};
  scene.steps = 80;
  return scene;
}

Scene HungCross() {
  Scene scene;
  const tools::TetMesh box = TetBox(14, 2, 14, 0.05);
  std::vector<uint32_t> new_of_old(box.nodes.size(), UINT32_MAX);
  for (std::array<uint32_t, 4> tet : box.tets) {
    tools::Vec3d centre = {};
    for (const uint32_t node : tet) centre = centre + box.nodes[node] / 4.0;
    if (std::fabs(centre.x - 0.35) > 0.05 && std::fabs(centre.z - 0.35) > 0.05) continue;
    for (uint32_t& node : tet) {
      uint32_t& place = new_of_old[node];
      if (place == UINT32_MAX) {
        place = static_cast<uint32_t>(scene.mesh.nodes.size());
        scene.mesh.nodes.push_back(box.nodes[node]);
      }
      node = place;
    }
    scene.mesh.tets.push_back(tet);
  }
  scene.start = RestOf(scene.mesh);
  for (Eigen::Index i = 0; i < scene.start.cols(); ++i) {
    if (scene.start(0, i) < 1e-6) scene.pins.push_back(static_cast<uint32_t>(i));
  }
  scene.swing = {1.0, 0.0, 0.0};
  scene.steps = 120;
  return scene;
}

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

Scene HungRope() {
  Scene scene;
  scene.mesh = TetBox(24, 2, 2, 0.025);
  scene.start = RestOf(scene.mesh);
  for (Eigen::Index i = 0; i < scene.start.cols(); ++i) {
    if (scene.start(0, i) < 1e-6) scene.pins.push_back(static_cast<uint32_t>(i));
  }
  scene.swing = {1.0, 0.0, 0.0};
  scene.steps = 100;
  return scene;
}

Trajectory ReferenceOf(const Scene& scene, const ShapeAsset& shape) {
  reference::EulerSettings settings = {
      .dt_s = double(kDt), .gravity = scene.gravity, .pinned = scene.pins};
  settings.tolerance = 1e-4;  // moves the result by less than 1e-5 of the motion
  reference::ImplicitEuler euler(reference::ElasticBody(shape.asset()), settings);
  euler.SetState(scene.start, Points::Zero(3, scene.start.cols()));
  Trajectory out(scene.start);
  for (int step = 0; step < scene.steps; ++step) {
    const Points before = euler.v();
    const bool converged = euler.Step();
    CAPTURE(step, euler.report().residual, euler.report().newton_iterations,
            euler.report().cg_iterations);
    REQUIRE(converged);
    if (scene.pins.empty()) {
      reference::KeepTurns(0, scene.start.cols(), before, double(kDt), &euler);
    }
    out.Add(euler.x());
  }
  return out;
}

Trajectory RuntimeOf(const Scene& scene, const ShapeAsset& shape, const int (&steps)[2]) {
  World world({.gravity = ToVec3(scene.gravity), .sleep = {.speed = 0.0f}});
  BodyDesc body = {.splitting = {.outer_iterations = steps[0], .volume_sweeps = steps[1]}};
  body.pinned_nodes = scene.pins;
  const BodyId id = AddBody(&world, shape.asset(), body);
  REQUIRE(world.SetNodePositions(id, ToVec3s(scene.start)).ok());
  Trajectory out(scene.start);
  for (int step = 0; step < scene.steps; ++step) {
    CHECK(StepWorld(&world, kDt) == kStepOk);
    out.Add(ToEigen(PositionsOf(world, id, shape.num_nodes())));
  }
  return out;
}

}  // namespace plush::test

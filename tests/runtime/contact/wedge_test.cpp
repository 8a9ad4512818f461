// SPDX-License-Identifier: MIT
// Wedges of two planes and funnels of three that close on a body by MoveCollider, and open again.
#include "runtime/contact/plane_fixtures.h"
#include "sweep.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <vector>

using namespace plush;
using namespace plush::test;

namespace wedge_test {

constexpr float kFrame = 1.0f / 60;  // [s]
constexpr int kClosing = 60;         // steps, as many held, as many to open

// Planes whose surfaces make an angle with an axis that points out of the narrow end. Everything is
// turned by a random rotation.
struct Wedge {
  explicit Wedge(uint32_t seed) : random(seed) {
    num_planes = 2 + static_cast<int>(random.Below(2));
    angle = random.Uniform(0.15, 0.8);
    friction = random.Below(4) == 0 ? 0.0 : random.Uniform(0.0, 2.0);
    closing = random.Uniform(0.03, 0.1);
    falls = random.Below(2) == 0;
    has_surface = random.Below(2) == 0;
    material = {.young = static_cast<float>(std::pow(10.0, random.Uniform(4.5, 7.0))),
                .poisson = static_cast<float>(random.Uniform(0.0, 0.45)),
                .density = 1000.0f,
                .damping = static_cast<float>(random.Below(2) == 0 ? 0.0 : 0.02)};
    turn = random.Rotation();
    for (int k = 0; k < num_planes; ++k) {
      const double around = 6.283185307179586 * k / num_planes;
      normals.push_back(turn * Eigen::Vector3d(std::cos(angle) * std::cos(around), std::sin(angle),
                                               std::cos(angle) * std::sin(around)));
    }
  }

  /// Whether friction lets a rigid body slide out of it.
  bool HasWayOut() const { return friction < 0.9 * std::tan(angle); }

  Random random;
  int num_planes;
  double angle;     ///< [rad]
  double friction;  ///< Coulomb coefficient
  double closing;   ///< how far each plane moves [m]
  bool falls;       ///< into the narrow end
  bool has_surface;
  MaterialOverride material;
  Eigen::Matrix3d turn;
  std::vector<Eigen::Vector3d> normals;
};

struct Outcome {
  double depth = 0.0;   // of any step [m]
  double gained = 0.0;  // most kinetic, elastic and gravity energy more than at the start [J]
};

Outcome Close(const ShapeAsset& shape, const Wedge& wedge, uint32_t seed, int sweeps) {
  World world(
      {.gravity = wedge.falls ? ToVec3(wedge.turn * Eigen::Vector3d(0.0, -kGravity, 0.0)) : Vec3{},
       .contact = {.sweeps = sweeps}});
  BodyDesc body = {.pose = {.rotation = ToQuat(Random(seed).Rotation())},
                   .material = wedge.material};
  const BodyId id = AddBody(&world, shape.asset(), body);
  const std::vector<Vec3> x = PositionsOf(world, id, shape.num_nodes());
  std::vector<ColliderId> planes;
  for (const Eigen::Vector3d& normal : wedge.normals) {
    double low = 1.0;
    for (const Vec3& node : x) low = std::min(low, normal.dot(ToEigen(node)));
    ColliderDesc plane = {.plane = {ToVec3(normal), static_cast<float>(low - 0.005)},
                          .friction = static_cast<float>(wedge.friction)};
    planes.emplace_back();
    REQUIRE(world.AddCollider(plane, &planes.back()).ok());
  }
  const double start = Energy(world);
  Outcome out;
  for (int step = 1; step <= 3 * kClosing; ++step) {
    const double share = std::min({1.0, double(step) / kClosing, 3.0 - double(step) / kClosing});
    for (size_t k = 0; k < planes.size(); ++k) {
      const Vec3 at = ToVec3(wedge.normals[k] * (wedge.closing * share));
      REQUIRE(world.MoveCollider(planes[k], {.position = at}).ok());
    }
    REQUIRE((StepWorld(&world, kFrame) & kStepBodyFrozen) == 0u);
    REQUIRE(std::isfinite(Energy(world)));
    out.depth = std::max(out.depth, double(MeasuresOf(world).max_penetration));
    out.gained = std::max(out.gained, Energy(world) - start);
  }
  return out;
}

TEST_CASE("Bodies in closing wedges stay above the planes, and no impulse throws them about",
          "[long]") {
  const int sweeps = GENERATE(8, 64);
  const uint32_t count = tests::SweepCount(80u);
  constexpr double kSize = 0.3, kVolume = kSize * kSize * kSize;
  double deepest = 0.0, deepest_jammed = 0.0, most_gained = 0.0;
  uint32_t seeds[3] = {}, jammed = 0;
  const auto note = [](double value, uint32_t seed, double* worst, uint32_t* worst_seed) {
    if (value > *worst) *worst_seed = seed;
    *worst = std::max(*worst, value);
  };
  for (uint32_t seed = 1; seed <= count; ++seed) {
    const Wedge wedge(seed);
    CAPTURE(seed, sweeps, wedge.num_planes, wedge.angle, wedge.friction, wedge.closing);
    CAPTURE(wedge.falls, wedge.has_surface, wedge.material.young, wedge.material.poisson);
    const tools::TetMesh mesh = TetBox(3, 3, 3, kSize / 3);
    const ShapeAsset shape =
        wedge.has_surface
            ? ShapeAsset(SurfaceBytes(mesh, {.parts = 3, .depth = 0.1, .num_shells = 0}))
            : ShapeAsset(mesh);
    const Outcome out = Close(shape, wedge, seed, sweeps);
    const double speed = wedge.closing / (kClosing * double(kFrame));
    if (wedge.HasWayOut()) {
      CHECK(out.depth < 1e-3 * SizeOf(shape));
      note(out.depth / SizeOf(shape), seed, &deepest, &seeds[0]);
    } else {
      // Friction holds the body although the planes close on it, and sweeps do not converge. Deep
      // points come out in push_out_time, so they sink no further than a plane goes in that time.
      const double most = 1.1 * speed * double(ContactSettings{}.push_out_time);
      CHECK(out.depth < most);
      note(out.depth / most, seed, &deepest_jammed, &seeds[1]);
      ++jammed;
    }
    // The planes press the body to what is left of its width, or lift it and throw it out.
    const double strain = 2.0 * wedge.closing / kSize, steep = std::sin(wedge.angle);
    const double press = double(wedge.material.young) * kVolume * strain * strain;
    const double lift = double(wedge.material.density) * kVolume *
                        (speed * speed + kGravity * wedge.closing) / (steep * steep);
    CHECK(out.gained < 0.5 * (press + lift));
    note(out.gained / (press + lift), seed, &most_gained, &seeds[2]);
  }
  std::printf(
      "closing wedges, seeds 1-%u, %d sweeps: deepest %.1e of the size (seed %u); %u jammed, %.2f "
      "of "
      "how far planes go in the time of pushing out (seed %u); energy %.2f of what planes can do "
      "(seed %u)\n",
      count, sweeps, deepest, seeds[0], jammed, deepest_jammed, seeds[1], most_gained, seeds[2]);
  CHECK(jammed > count / 4);
  CHECK(jammed < count * 3 / 4);
}

}  // namespace wedge_test

// SPDX-License-Identifier: MIT
// Procedural bodies of any shape, mass ratio, material and time step, and how they start.
#pragma once

#include "runtime/tet_fixtures.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace plush::test {

/// A body, how it starts and what happens to it.
struct RandomScene {
  uint32_t seed = 0;
  tools::TetMesh mesh;
  std::vector<tools::Material> materials;
  std::vector<uint16_t> of_tets;
  double damping = 0.0;
  std::optional<uint32_t> clusters;  // nullopt: by size
  double scale = 1.0, dt = 0.01, later_dt = 0.01;
  int steps = 100, change = 1000;  // the step from which `later_dt` is used
  Eigen::Vector3d gravity = {0, 0, 0};
  int bodies = 1;  // more: a crowd
  enum class Pins { kNone, kNode, kFace, kRandom } pins = Pins::kNone;
  bool moves_pins = false;
  double spin = 0.0;    // [rad per step]
  double throw_ = 0.0;  // [m/s]
  double storm = 0.0;   // of the nodes [sizes per step]
  double bend = 0.0, twist = 0.0, squeeze = 1.0, noise = 0.0;
  int planes = 0;         // 1: a floor, 2 or 3: a V, 4: a floor and four walls
  double friction = 0.5;  // of the planes
  enum class Ground { kNone, kHeightField, kMesh, kLid, kWalls } ground = Ground::kNone;
  bool has_surface = false;
  std::string shape;
};

/// What a scene may hold.
enum class SceneKind {
  kMild,    // what games have: bodies start in their rest shape and do not tear themselves apart
  kWild,    // any velocities of the nodes, any bent, twisted, squeezed or shaken shape
  kPlanes,  // mild ones on a floor, in a V or in a box
  kGround,  // mild ones on hills, or between boxes that close, open and move along
};

/// The scene of a seed. `most_stiffness`: most of E dt^2 / (density l^2), l the least height of a
/// tet.
RandomScene MakeScene(uint32_t seed, SceneKind kind, double most_stiffness);

std::string Describe(const RandomScene& scene);

/// The file of its body. `parts`: of a surface's edges, see SurfaceShape.
std::vector<std::byte> BytesOf(const RandomScene& scene, uint32_t parts = 2);

/// Nodes to pin, never all.
std::vector<uint32_t> PinsOf(const RandomScene& scene, Random* random, const Points& rest);

/// The rest shape bent, twisted, squeezed and shaken, about the origin.
Points StartOf(const RandomScene& scene, Random* random, const Points& rest);

}  // namespace plush::test

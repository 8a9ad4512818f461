// SPDX-License-Identifier: MIT
// The input of `plush simulate`: a scene file, or the drop of one body.
//
// A scene file is strict JSON; unknown keys are errors. All lengths are metres, times seconds.
//   {"gravity":[0,-9.81,0], "dt":0.01, "steps":300, "threads":1, "bodies_touch":true,
//    "bodies":[{"asset":"duck.plush", "position":[0,1,0], "rotation":[0,0,0,1], "velocity":[0,0,0],
//               "scale":1, "count":1, "static":false, "gravity_factor":1, "max_speed":50,
//               "material":{"young":1e5,"poisson":0.4,"density":1000,"damping":0,
//                           "friction":0.5,"restitution":0},
//               "filter":{"category":1,"mask":4294967295,"group":0},
//               "solver":{"newton_iterations":3, "volume_sweeps":0},
//               "pins":[{"region":"feet"}, {"box":[[0,0,0],[1,1,1]]},
//                       {"sphere":{"centre":[0,0,0],"radius":0.1},
//                        "motion":[{"t":0,"position":[0,1,0]},
//                                  {"t":2,"position":[0,2,0],"rotation":[0,1,0,0]}]}]}],
//    "forces":[{"type":"wind","velocity":[5,0,0],"air_density":1.2,"drag":1,
//               "from":0,"to":2,"mask":1,"wake":true}],
//    "colliders":[{"plane":{"normal":[0,1,0],"offset":0}, "friction":0.5},
//                 {"box":{"half_extents":[1,0.1,1]},
//                  "pose":{"position":[0,0,0],"rotation":[0,0,0,1]},
//                  "velocity":[0,0,0], "angular_velocity":[0,0,0],
//                  "surface_velocity":[0,0,0], "sensor":false, "filter":{"category":2}}],
//    "attachments":[{"body":0,"at":[0,2,0],"target":[0,3,0],"rest_length":1,
//                    "stiffness":1e3,"damping":10,"max_force":1e4,"break_force":1e3},
//                   {"body":0,"at":[0,1,0],"other_collider":1,"target":[0,0,0]}],
//    "constraints":[{"body":0,"at":[0,2,0],"kind":"line","direction":[0,1,0],"correction":1}],
//    "solver":{"name":"splitting", "newton_iterations":1, "volume_sweeps":1, "contact":"hold"}}
// tools/README.md says what each key means.
#pragma once

#include "plush/types.h"
#include "plush/world.h"

#include "base/result.h"
#include "simulate/motion.h"

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace plush::tools {

// Limits of a scene, so that a typing slip ("count":1e9) does not exhaust the memory.
inline constexpr uint32_t kMaxSceneBodies = 10000;  ///< copies included
inline constexpr uint32_t kMaxSceneSteps = 1000000;
inline constexpr uint32_t kMaxSceneThreads = 256;
inline constexpr uint32_t kMaxSceneAttachments = 10000;  ///< copies included
inline constexpr uint32_t kMaxSceneConstraints = 10000;  ///< copies included

/// Pins the nodes of a region of the asset.
struct RegionPin {
  std::string name;
};

/// Pins the nodes whose rest positions lie in a box, its faces included.
struct BoxPin {
  Vec3 low;   ///< [m]
  Vec3 high;  ///< [m], each coordinate >= low's
};

/// Pins the nodes whose rest positions lie in a ball, its surface included.
struct SpherePin {
  Vec3 centre;          ///< [m]
  float radius = 0.0f;  ///< [m], > 0
};

/// What of a body is pinned.
using PinSelection = std::variant<RegionPin, BoxPin, SpherePin>;

/// Pinned nodes. A motion moves them rigidly:
/// - A region moves as its rest pose does (RegionView::rest), see World::MovePins.
/// - Nodes of a box or ball move as a pose that is at the mean of their rest positions, unturned,
///   while the body is at rest. Body scale included.
/// Motions are of the first copy; those of other copies are shifted as their bodies are.
struct ScenePin {
  PinSelection nodes;
  Motion motion;  ///< no key: the pins stay
};

/// One or several bodies of one asset.
struct SceneBody {
  std::string asset;   ///< path, relative ones already joined to the scene file's folder
  Pose pose;           ///< of the first copy
  Vec3 velocity;       ///< [m/s]
  float scale = 1.0f;  ///< in [kLeastScale, kMostScale]
  float gravity_factor = 1.0f;
  float max_speed = std::numeric_limits<float>::infinity();  ///< [m/s], > 0
  Filter filter;
  uint32_t count = 1;  ///< copies on a square grid in the plane y = const, 1.2 bounding
                       ///< boxes apart, from the first along +x, then +z
  MaterialOverride material;
  BodySolver solver;  ///< key "solver" of the body, else of the scene. Splitting's
                      ///< outer_iterations is the key "newton_iterations"
  std::vector<ScenePin> pins;
  bool fixed = false;  ///< the key "static": never moves
};

/// A collider; one with a motion starts at its first pose.
struct SceneCollider {
  ColliderDesc desc;              ///< without the points of a hull
  std::vector<Vec3> hull_points;  ///< of a hull, unless it is an asset's [m]
  std::string hull_asset;         ///< path of the asset whose rest surface the hull is around
  std::string mesh_asset;         ///< path of the static mesh of a mesh
  std::string heights_file;       ///< path of the heights of a height field: rows x columns floats,
                                  ///< little-endian [m]
  Motion motion;                  ///< no key: it moves by its velocities
};

/// A spring of a body to a place, to a collider or to another body. It is one of each copy of the
/// body, shifted as the copy is. Positions are those at the start, in the world.
struct SceneAttachment {
  AttachmentDesc desc;                 ///< numbers of the spring; World has the rest
  uint32_t body = 0;                   ///< into Scene::bodies
  Vec3 at;                             ///< the nearest point of the body's surface is attached [m]
  std::optional<uint32_t> other_body;  ///< into Scene::bodies: copy by copy
  std::optional<uint32_t> other_collider;  ///< into Scene::colliders
  Vec3 target;    ///< the other end [m]; of another body, the nearest point of its surface
  Motion motion;  ///< of the target; no key: it stays
};

/// Holds a point of each copy of a body in place, on a line or in a plane, shifted as the copy is.
/// Positions are those at the start, in the world.
struct SceneConstraint {
  ConstraintDesc desc;         ///< kind, direction and correction; World has the rest
  uint32_t body = 0;           ///< into Scene::bodies
  Vec3 at;                     ///< the nearest point of the body's surface is held [m]
  std::optional<Vec3> target;  ///< [m]; not given: where the point is
  Motion motion;               ///< of the target; no key: it stays
};

/// A force field that acts in the steps whose middle lies in [from, to).
struct SceneForce {
  ForceField field;
  double from = 0.0;                                    ///< [s]
  double to = std::numeric_limits<double>::infinity();  ///< [s]
};

/// The settings and bodies of a run.
struct Scene {
  Vec3 gravity = {0.0f, -9.81f, 0.0f};  ///< [m/s^2]
  double dt = 0.01;                     ///< [s], in kTimeStepRange
  uint32_t steps = 300;
  uint32_t threads = 1;  ///< the results do not depend on it
  std::vector<SceneBody> bodies;
  std::vector<SceneCollider> colliders;
  std::vector<SceneAttachment> attachments;
  std::vector<SceneConstraint> constraints;
  std::vector<SceneForce> forces;
  ContactSettings contact;
  bool bodies_touch = false;  ///< each other
};

/// Reads scene text; relative asset paths are joined to `folder`. Errors: kUsage (malformed,
/// unknown key, wrong type, out of range), kUnsupported (a solver that this version lacks), kLimit
/// (more than kMaxSceneBodies bodies, kMaxSceneAttachments attachments or kMaxSceneConstraints
/// constraints).
Result<Scene> ParseScene(std::string_view text, const std::string& folder);

/// Reads a scene file of at most 16 MiB. Errors: those of ParseScene, kIo, kLimit.
Result<Scene> LoadScene(const std::string& path);

/// The scene that drops one body of the asset at `path` on the plane y = 0 with friction 0.5: its
/// lowest surface point starts 0.3 of the body's height above it. Errors: those of OpenBody.
Result<Scene> DropScene(const std::string& path);

}  // namespace plush::tools

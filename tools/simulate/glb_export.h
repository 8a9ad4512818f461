// SPDX-License-Identifier: MIT
// A run as an animated .glb: render meshes skinned to their cages.
//
// Joint i carries x_i (its node's position), R (the best-fit rotation of the whole body) and s (the
// body's scale). Its inverse bind matrix is the translation by -X_i. So a vertex p with weights w_i
// is shown at
//   sum w_i (x_i + s R (p - X_i)) = sum w_i x_i + s R (p - sum w_i X_i).
// The second term vanishes for barycentric weights. So every glTF viewer shows exactly the
// embedding, even between frames, and normals turn with the body.
//
// Line layers are a node for each layer and frame. Its scale is 1 in its frame and 0 otherwise: the
// way to animate visibility that the specification names.
#pragma once

#include "plush/asset.h"
#include "plush/types.h"

#include "base/result.h"
#include "simulate/draw_layers.h"
#include "simulate/scene_world.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace plush::tools {

struct BodyAnimation {
  std::vector<Vec3> nodes;      ///< world positions [m] (num_frames x num_nodes)
  std::vector<Quat> rotations;  ///< best fit, unit, sign-continuous from frame to frame
                                ///< (num_frames x 1)
};

/// Recorded frames of all bodies.
struct Animation {
  std::vector<float> times;                   ///< [s], ascending from 0 (num_frames x 1)
  std::vector<BodyAnimation> bodies;          ///< in the order of SceneWorld::bodies
  std::vector<std::vector<LineLayer>> lines;  ///< the layers of each frame, or empty
  bool too_many_lines = false;                ///< more than 1 GiB; the rest was left out
};

/// Records every `stride`-th step and the last one.
class AnimationRecorder {
 public:
  /// `last_step` is the number of steps of the run, `stride` >= 1, `dt` in seconds; `draw_flags`
  /// picks line layers (DebugDrawFlags).
  AnimationRecorder(uint32_t last_step, uint32_t stride, double dt, uint32_t draw_flags = 0)
      : last_step_(last_step), stride_(stride), dt_(dt), draw_flags_(draw_flags) {}

  /// Records the state after `steps_done` steps if it is one of the frames.
  void Observe(const SceneWorld& scene_world, uint32_t steps_done);

  const Animation& animation() const { return animation_; }

 private:
  void RecordLines(const World& world);

  uint32_t last_step_;
  uint32_t stride_;
  double dt_;
  uint32_t draw_flags_;
  uint64_t line_bytes_ = 0;
  Animation animation_;
};

/// Steps between two frames at about `fps` frames per second, at least 1.
uint32_t FrameStride(double dt, double fps);

/// Refuses an animation whose node positions would take more than 1 GiB. Errors: kLimit.
Result<Done> CheckAnimationSize(const SceneWorld& scene_world, uint32_t steps, uint32_t stride);

/// Up to four joints per vertex. The joints are the cage's nodes.
struct SkinWeights {
  std::vector<std::array<uint16_t, 4>> joints;  ///< 0 if the weight is 0 (num_vertices x 4)
  std::vector<Vec4> weights;                    ///< >= 0, sum 1 within 1e-7 (num_vertices x 1)
};

/// Skin weights of `asset`'s render vertices; the cage must have at most 65536 nodes. Weights of
/// vertices inside their tet change by float rounding only. glTF has no negative weights: the
/// weights of a vertex outside its tet are clamped to zero and scaled to sum 1, and its remaining
/// offset turns rigidly with the body, because every joint carries the same rotation.
SkinWeights MakeSkinWeights(const Asset& asset);

/// Bytes of a .glb with all bodies, the recorded line layers and one animation. Bodies of one asset
/// share its mesh. Materials keep their names and get colours of the palette. Texture coordinates
/// are those of the source, whose v counts upwards (OBJ) or downwards (glTF). The same run gives
/// the same bytes. Errors: kLimit (a cage of more than 65536 nodes, too many lines, a file of 4
/// GiB), kInvalidInput (no triangle in any body).
Result<std::vector<std::byte>> ExportGlb(const SceneWorld& scene_world, const Animation& animation);

}  // namespace plush::tools

// SPDX-License-Identifier: MIT
#include "simulate/animation_recorder.h"

#include "plush/format/tet_block.h"

#include <cmath>

namespace plush::tools {
namespace {

constexpr uint64_t kMaxAnimationBytes = 1ull << 30;

// The unit quaternion of `q`'s rotation that lies on `previous`'s side: q and -q turn alike, but
// interpolation between opposite signs would go the long way round.
Quat Continued(const Quat& q, const Quat& previous) {
  const double length = std::sqrt(static_cast<double>(q.x) * q.x + static_cast<double>(q.y) * q.y +
                                  static_cast<double>(q.z) * q.z + static_cast<double>(q.w) * q.w);
  if (!(length > 0.5 && length < 2.0)) return previous;
  const float side = q.x * previous.x + q.y * previous.y + q.z * previous.z + q.w * previous.w;
  const double scale = (side < 0.0f ? -1.0 : 1.0) / length;
  const auto scaled = [&](float c) { return static_cast<float>(c * scale); };
  return {scaled(q.x), scaled(q.y), scaled(q.z), scaled(q.w)};
}

void RecordBody(const SceneWorld& scene_world, const SceneWorldBody& body,
                BodyAnimation* animation) {
  const size_t num_nodes = scene_world.asset_of(body).simulation().nodes.size();
  const size_t begin = animation->nodes.size();
  animation->nodes.resize(begin + num_nodes);
  Pose pose;
  // Both calls can only refuse wrong sizes and unknown bodies; the body is ours.
  (void)scene_world.world->NodePositions(body.id, std::span(animation->nodes).subspan(begin));
  (void)scene_world.world->BestFitPose(body.id, &pose);
  const Quat previous = animation->rotations.empty() ? Quat{} : animation->rotations.back();
  animation->rotations.push_back(Continued(pose.rotation, previous));
}

}  // namespace

void AnimationRecorder::Observe(const SceneWorld& scene_world, uint32_t steps_done) {
  if (steps_done % stride_ != 0 && steps_done != last_step_) return;
  animation_.bodies.resize(scene_world.bodies.size());
  animation_.times.push_back(static_cast<float>(dt_ * steps_done));
  for (size_t i = 0; i < scene_world.bodies.size(); ++i) {
    RecordBody(scene_world, scene_world.bodies[i], &animation_.bodies[i]);
  }
}

uint32_t FrameStride(double dt, double fps) {
  const double stride = std::round(1.0 / (dt * fps));
  return stride < 1.0 ? 1 : static_cast<uint32_t>(std::min(stride, 1.0e9));
}

Result<Done> CheckAnimationSize(const SceneWorld& scene_world, uint32_t steps, uint32_t stride) {
  uint64_t nodes = 0;
  for (const SceneWorldBody& body : scene_world.bodies) {
    nodes += scene_world.asset_of(body).simulation().nodes.size();
  }
  const uint64_t bytes = (steps / stride + 2) * nodes * sizeof(Vec3);
  if (bytes <= kMaxAnimationBytes) return Done{};
  return Error{ExitCode::kLimit,
               "the animation would have " + std::to_string(bytes >> 20) +
                   " MiB of joint positions, more than " +
                   std::to_string(kMaxAnimationBytes >> 20) + "; lower --fps or --steps",
               ""};
}

}  // namespace plush::tools

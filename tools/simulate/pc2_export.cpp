// SPDX-License-Identifier: MIT
// Source: Blender, source/blender/modifiers/intern/MOD_meshcache_pc2.c (the head: "POINTCACHE2\0",
// version 1, points, start frame, frames for each sample, samples).
#include "simulate/pc2_export.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace plush::tools {
namespace {

constexpr uint64_t kMaxBytes = 1ull << 30;
static_assert(std::endian::native == std::endian::little);

struct Head {
  char magic[12] = "POINTCACHE2";
  int32_t version = 1;
  int32_t num_points = 0;
  float first_frame = 0.0f;
  float frames_per_sample = 1.0f;
  int32_t num_samples = 0;
};
static_assert(sizeof(Head) == 32);

}  // namespace

void PointCacheRecorder::Observe(const SceneWorld& scene_world, uint32_t steps_done) {
  if (steps_done % stride_ != 0 && steps_done != last_step_) return;
  num_vertices_ = 0;
  for (const SceneWorldBody& body : scene_world.bodies) {
    const VisualView& visual = scene_world.asset_of(body).visual();
    std::vector<Vec3> positions(visual.positions.size());
    std::vector<Vec3> normals(visual.positions.size());
    const SkinTarget target = {.positions = positions.data(),
                               .normals = normals.data(),
                               .num_vertices = static_cast<uint32_t>(positions.size())};
    if (!scene_world.world->Skin(body.id, 1.0f, target).ok()) continue;
    const auto bytes = std::as_bytes(std::span(positions));
    points_.insert(points_.end(), bytes.begin(), bytes.end());
    num_vertices_ += static_cast<uint32_t>(positions.size());
  }
  ++num_frames_;
}

std::vector<std::byte> PointCacheRecorder::File() const {
  Head head;
  head.num_points = static_cast<int32_t>(num_vertices_);
  head.num_samples = static_cast<int32_t>(num_frames_);
  std::vector<std::byte> file(sizeof(head) + points_.size());
  std::memcpy(file.data(), &head, sizeof(head));
  std::ranges::copy(points_, file.begin() + sizeof(head));
  return file;
}

Result<Done> CheckPointCache(const SceneWorld& scene_world, uint32_t steps, uint32_t stride) {
  uint64_t num_vertices = 0;
  for (const SceneWorldBody& body : scene_world.bodies) {
    num_vertices += scene_world.asset_of(body).visual().positions.size();
  }
  if (num_vertices == 0) {
    return Error{ExitCode::kInvalidInput, "no body has a render vertex to export", ""};
  }
  const uint64_t num_frames = (steps + stride - 1) / stride + 1;
  if (num_frames > kMaxBytes / sizeof(Vec3) / num_vertices) {
    return Error{ExitCode::kLimit,
                 std::to_string(num_frames) + " frames of " + std::to_string(num_vertices) +
                     " vertices take more than 1 GiB; lower --fps or --steps",
                 ""};
  }
  return Done{};
}

}  // namespace plush::tools

// SPDX-License-Identifier: MIT
// Steps of 1/60 s under frames of any length: shows the body between its last two states.
// Uses WorldDesc::keep_previous, World::PrepareTimeStep and the alpha of World::Skin.

#include "plush/plush.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <utility>
#include <vector>

namespace {

constexpr float kTimeStep = 1.0f / 60.0f;  // [s]
constexpr int kFrames = 100;
constexpr int kMostSteps = 4;  // in a frame: a slow machine shows slow motion, not a standstill

/// Times of frames [s], from 4 to 25 ms, the same in every run.
class FrameTimes {
 public:
  float Next() {
    state_ = 1664525u * state_ + 1013904223u;
    return 0.004f + 0.021f * static_cast<float>(state_ >> 8) / 16777216.0f;
  }

 private:
  uint32_t state_ = 1;
};

/// What the player sees: the vertices of the last three frames, and how far they jumped.
class Screen {
 public:
  explicit Screen(size_t num_vertices) {
    for (auto& frame : frames_) frame.resize(num_vertices);
  }

  plush::SkinTarget Target() {
    auto& now = frames_[2];
    return {.positions = now.data(), .num_vertices = static_cast<uint32_t>(now.size())};
  }

  /// Shows what Target() got. A vertex jumps if it is not where its last speed would have taken it.
  void Show(float frame_time) {
    const float ratio = frame_time / last_time_;
    for (size_t i = 0; i < frames_[2].size() && num_frames_ >= 2; ++i) {
      const plush::Vec3 &a = frames_[0][i], &b = frames_[1][i], &c = frames_[2][i];
      const auto off = [ratio](float x, float y, float z) { return z - y - (y - x) * ratio; };
      largest_jump_ = std::max(
          largest_jump_, std::hypot(off(a.x, b.x, c.x), off(a.y, b.y, c.y), off(a.z, b.z, c.z)));
    }
    std::swap(frames_[0], frames_[1]);
    std::swap(frames_[1], frames_[2]);
    last_time_ = frame_time;
    ++num_frames_;
  }

  float largest_jump() const { return largest_jump_; }

 private:
  std::vector<plush::Vec3> frames_[3];
  float last_time_ = 1.0f;
  int num_frames_ = 0;
  float largest_jump_ = 0.0f;  // [m]
};

/// Throws the body and shows it with and without interpolation. Returns whether every call
/// succeeded and interpolation made jumps several times as small.
bool Play(const plush::Asset& asset) {
  plush::World world({.keep_previous = true});
  plush::BodyId body;
  const plush::BodyDesc thrown = {.velocity = {3, 4, 0}, .angular_velocity = {0, 0, -3}};
  if (!world.PrepareTimeStep(kTimeStep).ok() || !world.AddBody(asset, thrown, &body).ok()) {
    return false;
  }
  Screen smooth(asset.visual().positions.size());
  Screen rough(asset.visual().positions.size());
  FrameTimes frame_times;
  float unspent = 0.0f;  // time that no step has taken yet [s], less than a step
  float fastest = 0.0f;
  for (int frame = 0; frame < kFrames; ++frame) {
    const float frame_time = frame_times.Next();
    unspent += frame_time;
    for (int step = 0; step < kMostSteps && unspent >= kTimeStep; ++step) {
      if (!world.Step(kTimeStep).ok()) return false;
      fastest = std::max(fastest, world.stats().max_speed);
      unspent -= kTimeStep;
    }
    unspent = std::min(unspent, kTimeStep);
    // The picture lags behind by one step: it shows the time between the last two states.
    const float alpha = unspent / kTimeStep;
    if (!world.Skin(body, alpha, smooth.Target()).ok()) return false;
    if (!world.Skin(body, 1.0f, rough.Target()).ok()) return false;
    smooth.Show(frame_time);
    rough.Show(frame_time);
  }
  std::printf("%d frames of 4 to 25 ms, nodes at up to %.1f m/s\n", kFrames,
              static_cast<double>(fastest));
  std::printf("interpolated:            vertices jump by %5.1f mm at most\n",
              1000.0 * static_cast<double>(smooth.largest_jump()));
  std::printf("the last state as it is: vertices jump by %5.1f mm at most\n",
              1000.0 * static_cast<double>(rough.largest_jump()));
  return rough.largest_jump() > 4.0f * smooth.largest_jump();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: fixed_step FILE.plush\n");
    return 1;
  }
  plush::Asset asset;
  const plush::Status opened = asset.Open(argv[1]);
  if (!opened.ok()) {
    std::fprintf(stderr, "fixed_step: %s: %s %s\n", plush::StatusCodeName(opened.code),
                 opened.section, opened.reason);
    return 2;
  }
  return Play(asset) ? 0 : 3;
}

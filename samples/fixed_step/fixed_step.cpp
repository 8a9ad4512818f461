// SPDX-License-Identifier: MIT
// Steps of 1/60 s under frames of any length: shows the body between its last two states.
// Uses WorldDesc::keep_previous, World::PrepareTimeStep and the alpha of World::Skin.

#include "plush/plush.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <span>
#include <vector>

namespace {

constexpr float kTimeStep = 1.0f / 60.0f;  // [s]
constexpr int kFrames = 300;
constexpr int kMostSteps = 4;  // in a frame: a slow machine shows slow motion, not a standstill

/// Times of frames [s], from 4 to 40 ms, the same in every run.
class FrameTimes {
 public:
  float Next() {
    state_ = 1664525u * state_ + 1013904223u;
    return 0.004f + 0.036f * static_cast<float>(state_ >> 8) / 16777216.0f;
  }

 private:
  uint32_t state_ = 1;
};

/// What the player sees: the vertices of the last frame, and how fast they seemed to move.
class Screen {
 public:
  explicit Screen(size_t num_vertices) : last_(num_vertices), now_(num_vertices) {}

  plush::SkinTarget Target() {
    return {.positions = now_.data(), .num_vertices = static_cast<uint32_t>(now_.size())};
  }

  void Show(float frame_time) {
    for (size_t i = 0; i < now_.size() && num_frames_ > 0; ++i) {
      const plush::Vec3 d = {now_[i].x - last_[i].x, now_[i].y - last_[i].y,
                             now_[i].z - last_[i].z};
      const float jump = std::hypot(d.x, d.y, d.z);
      largest_jump_ = std::max(largest_jump_, jump);
      fastest_ = std::max(fastest_, jump / frame_time);
    }
    std::swap(last_, now_);
    ++num_frames_;
  }

  float largest_jump() const { return largest_jump_; }
  float fastest() const { return fastest_; }

 private:
  std::vector<plush::Vec3> last_;
  std::vector<plush::Vec3> now_;
  int num_frames_ = 0;
  float largest_jump_ = 0.0f;
  float fastest_ = 0.0f;
};

/// Drops the body and shows it with and without interpolation. Returns whether every call
/// succeeded and no vertex seemed faster than the body ever was.
bool Play(const plush::Asset& asset) {
  plush::World world({.keep_previous = true});
  plush::ColliderId ground;
  plush::BodyId body;
  if (!world.PrepareTimeStep(kTimeStep).ok() || !world.AddCollider({}, &ground).ok() ||
      !world.AddBody(asset, {.pose = {.position = {0, 0.5f, 0}}}, &body).ok()) {
    return false;
  }
  Screen smooth(asset.visual().positions.size());
  Screen rough(asset.visual().positions.size());
  FrameTimes frame_times;
  float unspent = 0.0f;  // time that no step has taken yet [s], less than a step
  float true_speed = 0.0f;
  for (int frame = 0; frame < kFrames; ++frame) {
    const float frame_time = frame_times.Next();
    unspent += frame_time;
    for (int step = 0; step < kMostSteps && unspent >= kTimeStep; ++step) {
      if (!world.Step(kTimeStep).ok()) return false;
      true_speed = std::max(true_speed, world.stats().max_speed);
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
  std::printf("fastest node in any step:  %5.2f m/s\n", static_cast<double>(true_speed));
  std::printf("interpolated:              %5.2f m/s at most, jumps up to %.1f mm\n",
              static_cast<double>(smooth.fastest()),
              static_cast<double>(1000.0f * smooth.largest_jump()));
  std::printf("the last state as it is:   %5.2f m/s at most, jumps up to %.1f mm\n",
              static_cast<double>(rough.fastest()),
              static_cast<double>(1000.0f * rough.largest_jump()));
  return smooth.fastest() < 1.05f * true_speed && rough.fastest() > 1.5f * smooth.fastest();
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

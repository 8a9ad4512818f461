// SPDX-License-Identifier: MIT
#include "tune/standard_motion.h"

#include "plush/format/tet_block.h"
#include "plush/world.h"

#include "base/vec3.h"
#include "mesh/box3.h"
#include "simulate/open_asset.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <ctime>
#include <numbers>
#include <span>
#include <string>

namespace plush::tools {
namespace {

constexpr double kDropHeight = 0.3;  // of the body's height
constexpr double kEnd = 0.1;         // of the longest side
constexpr double kSqueezed = 0.25;   // of the longest side
constexpr float kHalf = 0.70710678f;

double ThreadSeconds() {
  std::timespec now = {};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1.0e-9 * static_cast<double>(now.tv_nsec);
}

// The cage's longest side, and its nodes at both ends of it.
struct Ends {
  explicit Ends(const Asset& asset) {
    const std::span<const Vec3> nodes = asset.cage().nodes;
    const Box3 box = BoundsOf(nodes);
    const Vec3d extent = box.Extent();
    for (const int k : {1, 2}) {
      if (extent[k] > extent[axis]) axis = k;
    }
    length = extent[axis];
    centre = box.Centre();
    for (uint32_t i = 0; i < nodes.size(); ++i) {
      const double along = ToDouble(nodes[i])[axis] - box.low[axis];
      if (along <= kEnd * length) {
        held.push_back(i);
      } else if (along >= (1.0 - kEnd) * length) {
        moved.push_back(i);
      }
    }
  }

  // Where a node of the moved end is after the share `done` of its way.
  Vec3 Target(StandardMotion motion, const Vec3& rest, double done) const {
    Vec3d place = ToDouble(rest) - centre;
    if (motion == StandardMotion::kSqueeze) {
      place[axis] -= kSqueezed * done * length;
    } else {
      const double angle = 0.5 * std::numbers::pi * done;
      const int j = (axis + 1) % 3, k = (axis + 2) % 3;
      const double a = place[j], b = place[k];
      place[j] = std::cos(angle) * a - std::sin(angle) * b;
      place[k] = std::sin(angle) * a + std::cos(angle) * b;
    }
    return ToFloat(place + centre);
  }

  int axis = 0;
  double length = 0.0;
  Vec3d centre;
  std::vector<uint32_t> held, moved;
};

Error RefusedBy(const Status& status) {
  return {ExitCode::kLimit, std::string(status.section) + ": " + status.reason, ""};
}

// Turns the side `axis` to x.
Quat TurnToLevel(int axis) {
  if (axis == 1) return {0.0f, 0.0f, -kHalf, kHalf};
  return axis == 2 ? Quat{0.0f, kHalf, 0.0f, kHalf} : Quat{};
}

bool AreFinite(std::span<const Vec3> positions) {
  return std::ranges::all_of(positions, [](const Vec3& p) { return IsPosition(p); });
}

double Median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

}  // namespace

Result<MotionRecord> RunMotion(const Asset& asset, StandardMotion motion,
                               const MotionSettings& settings) {
  const Ends ends(asset);
  const bool has_two_ends = motion == StandardMotion::kTwist || motion == StandardMotion::kSqueeze;
  WorldDesc of_world;
  of_world.gravity = {0.0f, -9.81f, 0.0f};
  of_world.sleep.speed = 0.0f;
  World world(of_world);
  std::vector<uint32_t> pins;
  BodyDesc desc;
  desc.solver = &settings.solver;
  desc.material.damping = static_cast<float>(settings.damping);
  if (motion == StandardMotion::kDrop) {
    ColliderDesc plane;
    plane.friction = 0.5f;
    ColliderId ignored;
    if (const Status added = world.AddCollider(plane, &ignored); !added.ok()) {
      return RefusedBy(added);
    }
    const double lowest = LowestAlong({0.0, 1.0, 0.0}, asset, asset.cage().nodes);
    desc.pose.position.y =
        static_cast<float>(kDropHeight * SurfaceBounds(asset).Extent().y - lowest);
  } else {
    pins = ends.held;
    if (has_two_ends) pins.insert(pins.end(), ends.moved.begin(), ends.moved.end());
    if (motion == StandardMotion::kSwing) desc.pose.rotation = TurnToLevel(ends.axis);
  }
  desc.pinned_nodes = pins;
  const auto dt = static_cast<float>(settings.frame / settings.steps);
  BodyId body;
  if (const Status done = world.PrepareTimeStep(dt); !done.ok()) return RefusedBy(done);
  if (const Status done = world.AddBody(asset, desc, &body); !done.ok()) return RefusedBy(done);

  MotionRecord record;
  const size_t num_nodes = asset.cage().nodes.size();
  const int num_steps = settings.frames * settings.steps;
  record.positions.resize(num_nodes * static_cast<size_t>(settings.frames));
  std::vector<Vec3> targets(ends.moved.size());
  std::vector<double> seconds(static_cast<size_t>(settings.frames), 0.0);
  for (int step = 0; step < num_steps; ++step) {
    if (has_two_ends && !targets.empty()) {
      const double done = std::min(1.0, 2.0 * (step + 1) / num_steps);
      for (size_t k = 0; k < targets.size(); ++k) {
        targets[k] = ends.Target(motion, asset.cage().nodes[ends.moved[k]], done);
      }
      const Status moved = world.MovePins(body, ends.moved, targets);
      if (!moved.ok() && !world.IsFrozen(body)) return RefusedBy(moved);
    }
    const auto frame = static_cast<size_t>(step / settings.steps);
    const double start = ThreadSeconds();
    const Status stepped = world.Step(dt);
    seconds[frame] += ThreadSeconds() - start;
    if (!stepped.ok()) return RefusedBy(stepped);
    const auto positions = std::span(record.positions).subspan(frame * num_nodes, num_nodes);
    if (!world.NodePositions(body, 1.0f, positions).ok() || world.IsFrozen(body) ||
        !AreFinite(positions)) {
      return MotionRecord{{}, 0.0};
    }
  }
  record.frame_us = 1.0e6 * Median(seconds);
  return record;
}

}  // namespace plush::tools

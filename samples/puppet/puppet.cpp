// SPDX-License-Identifier: MIT
// Moves a soft body by the joints of its skeleton: an animation sets the joints, the flesh follows.
// Uses FindRegion, RegionView::rest, World::MovePins and World::RegionReaction.

#include "plush/plush.h"
#include "plush/pose.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <vector>

namespace {

constexpr float kTimeStep = 0.01f;  // [s]
constexpr int kSteps = 400;
constexpr double kPeriod = 2.0;  // of the animation [s]

/// What the animation does with a joint: it swings about an axis through its bind pose.
struct Track {
  const char* joint;
  plush::Vec3 axis;  // unit
  double swing;      // largest angle [rad]
};
constexpr Track kTracks[] = {{"hips", {0, 1, 0}, 0.0},    {"head", {0, 0, 1}, 0.35},
                             {"arm_l", {0, 0, 1}, 0.6},   {"arm_r", {0, 0, 1}, 0.6},
                             {"leg_l", {1, 0, 0}, -0.25}, {"leg_r", {1, 0, 0}, 0.25}};
constexpr size_t kTracksCount = sizeof(kTracks) / sizeof(kTracks[0]);

/// The pose of a joint at a time [s], as an animation system would give it.
plush::Pose JointPose(const Track& track, const plush::Pose& bind, double time) {
  const double half = 0.5 * track.swing * std::sin(2.0 * 3.14159265358979 * time / kPeriod);
  const double s = std::sin(half);
  const plush::Rotation turn = {track.axis.x * s, track.axis.y * s, track.axis.z * s,
                                std::cos(half)};
  return {bind.position, plush::ToQuat(turn * plush::RotationOf(bind.rotation))};
}

/// A body with all its joints pinned.
struct Puppet {
  const plush::Asset* asset = nullptr;
  plush::BodyId body;
  uint32_t regions[kTracksCount] = {};
  std::vector<bool> pinned;  // by node
};

bool AddPuppet(const plush::Asset& asset, plush::World* world, Puppet* puppet) {
  std::vector<uint32_t> pins;
  for (size_t i = 0; i < kTracksCount; ++i) {
    if (!plush::FindRegion(asset, kTracks[i].joint, &puppet->regions[i]).ok()) {
      std::fprintf(stderr, "puppet: no region '%s'; bake with samples/puppet/joints.json\n",
                   kTracks[i].joint);
      return false;
    }
    const auto nodes = asset.region(puppet->regions[i]).nodes;
    pins.insert(pins.end(), nodes.begin(), nodes.end());
  }
  puppet->pinned.resize(asset.cage().nodes.size());
  for (const uint32_t node : pins) puppet->pinned[node] = true;
  puppet->asset = &asset;
  const plush::BodyDesc desc = {.pinned_nodes = pins, .report_reactions = true};
  return world->AddBody(asset, desc, &puppet->body).ok();
}

/// Largest distance of the flesh, the nodes without pins, from their rest positions [m].
float FarthestFlesh(const plush::World& world, const Puppet& puppet) {
  const auto rest = puppet.asset->cage().nodes;
  std::vector<plush::Vec3> nodes(rest.size());
  if (!world.NodePositions(puppet.body, 1.0f, nodes).ok()) return 0.0f;
  float farthest = 0.0f;
  for (size_t i = 0; i < nodes.size(); ++i) {
    if (puppet.pinned[i]) continue;
    farthest = std::max(farthest, std::hypot(nodes[i].x - rest[i].x, nodes[i].y - rest[i].y,
                                             nodes[i].z - rest[i].z));
  }
  return farthest;
}

/// Plays the animation. Returns whether the flesh moved and the body kept its volume within a
/// fifth.
bool Play(plush::World* world, const Puppet& puppet) {
  plush::BodyMoments start;
  if (!world->Moments(puppet.body, &start).ok()) return false;
  float farthest = 0.0f;
  double largest_change = 0.0;
  std::printf("  time   flesh moved    volume   pull at the left arm's joint\n");
  for (int step = 1; step <= kSteps; ++step) {
    const double time = static_cast<double>(kTimeStep) * step;
    for (size_t i = 0; i < kTracksCount; ++i) {
      const plush::Pose bind = puppet.asset->region(puppet.regions[i]).rest;
      const plush::Pose target = JointPose(kTracks[i], bind, time);
      if (!world->MovePins(puppet.body, puppet.regions[i], target).ok()) return false;
    }
    if (!world->Step(kTimeStep).ok()) return false;
    plush::BodyMoments now;
    plush::Reaction arm;
    if (!world->Moments(puppet.body, &now).ok()) return false;
    if (!world->RegionReaction(puppet.body, puppet.regions[2], &arm).ok()) return false;
    const float reached = FarthestFlesh(*world, puppet);
    const double volume = now.volume / start.volume;
    farthest = std::max(farthest, reached);
    largest_change = std::max(largest_change, std::fabs(volume - 1.0));
    if (step % 25 != 0) continue;
    std::printf("%4.2f s        %6.3f m   %5.1f %%   %6.2f N\n", time, static_cast<double>(reached),
                100.0 * volume,
                static_cast<double>(std::hypot(arm.force.x, arm.force.y, arm.force.z)));
  }
  return farthest > 0.02f && largest_change < 0.2;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: puppet FILE.plush\n");
    return 1;
  }
  plush::Asset asset;
  const plush::Status opened = asset.Open(argv[1]);
  if (!opened.ok()) {
    std::fprintf(stderr, "puppet: %s: %s %s\n", plush::StatusCodeName(opened.code), opened.section,
                 opened.reason);
    return 2;
  }
  plush::World world;
  Puppet puppet;
  if (!AddPuppet(asset, &world, &puppet)) return 2;
  return Play(&world, puppet) ? 0 : 3;
}

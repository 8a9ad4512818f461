// SPDX-License-Identifier: MIT
// Grabs a body with a ray, lifts and swings it, and lets it go.
// Uses World::Raycast, Attach, MoveAttachment, AttachmentForce and Detach.

#include "plush/plush.h"

#include <cmath>
#include <cstdio>

namespace {

constexpr float kTimeStep = 0.01f;  // [s]
constexpr int kSteps = 300;
constexpr float kLift = 0.5f;   // [m]
constexpr float kSwing = 0.2f;  // [m]

/// The place of the hand after a step: up in the first second, then to and fro.
plush::Vec3 HandAt(const plush::Vec3& start, int step) {
  const float t = kTimeStep * static_cast<float>(step);
  const float up = t < 1.0f ? t : 1.0f;
  const float swing = t < 1.0f ? 0.0f : std::sin(4.0f * (t - 1.0f));
  return {start.x + kSwing * swing, start.y + kLift * up, start.z};
}

/// Returns whether the ray hit the body and the hand lifted it.
bool Grab(const plush::Asset& asset) {
  plush::World world;
  plush::ColliderId ground;
  plush::BodyId body;
  if (!world.AddCollider({}, &ground).ok() || !world.AddBody(asset, {}, &body).ok()) return false;
  for (int step = 0; step < 100; ++step) {
    if (!world.Step(kTimeStep).ok()) return false;
  }
  const plush::Ray from_above = {.origin = {0.0f, 5.0f, 0.0f}};
  plush::SurfacePoint hit;
  if (!world.Raycast(from_above, {}, &hit).ok() || !hit.valid()) return false;
  plush::BodyMoments moments;
  if (!world.Moments(body, &moments).ok()) return false;
  const float mass = static_cast<float>(moments.mass);
  // A spring that the weight stretches by 2 cm, and that swings for a few times only.
  const plush::AttachmentDesc hand = {
      .target = hit.position, .stiffness = 500.0f * mass, .damping = 5.0f * mass};
  plush::AttachmentId grabbed;
  if (!world.Attach(hit, hand, &grabbed).ok()) return false;
  const double start = moments.centre[1];
  for (int step = 1; step <= kSteps; ++step) {
    if (!world.MoveAttachment(grabbed, HandAt(hit.position, step)).ok()) return false;
    if (!world.Step(kTimeStep).ok()) return false;
    if (step % 50 != 0) continue;
    plush::Vec3 force;
    if (!world.AttachmentForce(grabbed, &force).ok() || !world.Moments(body, &moments).ok()) {
      return false;
    }
    std::printf("%4.2f s: centre at (%+.3f, %+.3f) m, the hand pulls with (%+.2f, %+.2f) weights\n",
                static_cast<double>(kTimeStep) * step, moments.centre[0], moments.centre[1],
                static_cast<double>(force.x / (9.81f * mass)),
                static_cast<double>(force.y / (9.81f * mass)));
  }
  const bool is_up = moments.centre[1] > start + 0.5 * static_cast<double>(kLift);
  return world.Detach(grabbed).ok() && world.Step(kTimeStep).ok() && is_up;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: grab FILE.plush\n");
    return 1;
  }
  plush::Asset asset;
  const plush::Status opened = asset.Open(argv[1]);
  if (!opened.ok()) {
    std::fprintf(stderr, "grab: %s: %s %s\n", plush::StatusCodeName(opened.code), opened.section,
                 opened.reason);
    return 2;
  }
  if (Grab(asset)) return 0;
  std::fprintf(stderr, "grab: the hand did not lift the body\n");
  return 3;
}

// SPDX-License-Identifier: MIT
// Pokes a body with a ray, prints the material at the hit and pushes it there.
// Uses World::Raycast, Asset::source_triangles and World::Attach.

#include "plush/plush.h"

#include <cstdio>
#include <string_view>
#include <vector>

namespace {

constexpr float kTimeStep = 0.01f;  // [s]
constexpr int kPokes = 5;
constexpr int kStepsBetween = 15;
constexpr int kStepsOfPush = 5;

/// Material of the render triangle from which a collision triangle was cut.
std::string_view MaterialAt(const plush::Asset& asset, uint32_t collision_triangle) {
  const auto sources = asset.source_triangles();
  if (sources.empty()) return "?";
  const uint32_t first_index = 3 * sources[collision_triangle];
  for (uint32_t i = 0; i < asset.num_parts(); ++i) {
    const plush::PartView part = asset.part(i);
    if (first_index >= part.first_index && first_index < part.first_index + part.num_indices) {
      return part.material;
    }
  }
  return "?";
}

/// Largest and smallest height of the body's nodes [m].
struct Heights {
  float low = 0.0f;
  float high = 0.0f;
};
Heights HeightsOf(const plush::World& world, plush::BodyId body, size_t num_nodes) {
  std::vector<plush::Vec3> nodes(num_nodes);
  if (!world.NodePositions(body, 1.0f, nodes).ok()) return {};
  Heights heights = {nodes[0].y, nodes[0].y};
  for (const plush::Vec3& node : nodes) {
    heights.low = node.y < heights.low ? node.y : heights.low;
    heights.high = node.y > heights.high ? node.y : heights.high;
  }
  return heights;
}

/// Pushes the body at the hit by a finger: a spring that goes in by 2 cm and stays for a moment.
bool PushAt(const plush::SurfacePoint& hit, float mass, plush::World* world) {
  plush::AttachmentDesc finger = {
      .target = hit.position, .stiffness = 20.0f * mass, .damping = mass};
  finger.target.x += 0.02f;
  plush::AttachmentId pushed;
  if (!world->Attach(hit, finger, &pushed).ok()) return false;
  for (int step = 0; step < kStepsOfPush; ++step) {
    if (!world->Step(kTimeStep).ok()) return false;
  }
  return world->Detach(pushed).ok();
}

/// Pokes the body at half its height, kPokes times. Returns whether every poke hit it.
bool Poke(const plush::Asset& asset) {
  plush::World world;
  plush::ColliderId ground;
  if (!world.AddCollider({}, &ground).ok()) return false;
  plush::BodyId body;
  if (!world.AddBody(asset, {}, &body).ok()) return false;
  const float mass = [&asset] {
    float sum = 0.0f;
    for (const float m : asset.cage().masses) sum += m;
    return sum;
  }();
  for (int poke = 0; poke < kPokes; ++poke) {
    for (int step = 0; step < kStepsBetween; ++step) {
      if (!world.Step(kTimeStep).ok()) return false;
    }
    const Heights heights = HeightsOf(world, body, asset.cage().nodes.size());
    const plush::Ray ray = {.origin = {-2.0f, 0.5f * (heights.low + heights.high), 0.0f},
                            .direction = {1.0f, 0.0f, 0.0f}};
    plush::SurfacePoint hit;
    if (!world.Raycast(ray, {}, &hit).ok() || !hit.valid()) {
      std::printf("the ray hit nothing\n");
      return false;
    }
    const std::string_view material = MaterialAt(asset, hit.triangle);
    std::printf(
        "%4.2f s: '%.*s' at x = %+.4f m, triangle %u of patch %u in tet %u\n",
        static_cast<double>(kTimeStep) * (poke * (kStepsBetween + kStepsOfPush) + kStepsBetween),
        static_cast<int>(material.size()), material.data(), static_cast<double>(hit.position.x),
        hit.triangle, hit.patch, hit.tet);
    if (!PushAt(hit, mass, &world)) return false;
  }
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: poke FILE.plush\n");
    return 1;
  }
  plush::Asset asset;
  const plush::Status opened = asset.Open(argv[1]);
  if (!opened.ok()) {
    std::fprintf(stderr, "poke: %s: %s %s\n", plush::StatusCodeName(opened.code), opened.section,
                 opened.reason);
    return 2;
  }
  return Poke(asset) ? 0 : 3;
}

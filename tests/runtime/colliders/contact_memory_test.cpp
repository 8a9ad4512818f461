// SPDX-License-Identifier: MIT
// The memory that contacts with colliders take for each body, by the formula of runtime/README.md.
#include "runtime/colliders/plane_scene.h"
#include "runtime/collision/surface_fixtures.h"
#include "runtime/world/heap_counter.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

using namespace plush;
using namespace plush::test;

namespace contact_memory_test {

// What a second body takes, whose system the first one has made [bytes].
double BytesOfBody(const Asset& asset, int colliders, uint32_t max_contacts,
                   const ColliderDesc* desc_of_all = nullptr) {
  CountingMemory memory;
  World world({.allocator = memory.allocator(), .max_contacts = max_contacts});
  for (int k = 0; k < colliders; ++k)
    AddCollider(&world, desc_of_all != nullptr ? *desc_of_all : ColliderDesc{});
  AddBody(&world, asset);
  const size_t before = memory.bytes_out();
  AddBody(&world, asset);
  return static_cast<double>(memory.bytes_out() - before);
}

TEST_CASE("Contacts take the memory that the documented formula says") {
  for (uint32_t seed = 1; seed <= 12; ++seed) {
    CAPTURE(seed);
    Random random(seed);
    const auto side = [&] { return 1 + random.Below(6); };
    const tools::TetMesh mesh = TetBox(side(), side(), side(), 0.1, 0.05, seed);
    const auto content = SurfaceBytes(mesh, {.parts = 2, .depth = 0.0, .num_shells = 0});
    const ShapeAsset shape(content);
    const SimulationView& simulation = shape.simulation();
    const double n = static_cast<double>(shape.num_nodes());
    const double t = 16.0 * std::ceil(double(shape.asset().collision().tets.size()) / 16.0);
    const double q = simulation.num_clusters;
    for (const int colliders : {1, 2, 3, 10, 100}) {
      for (const uint32_t max_contacts : {0u, 10u, 50u, UINT32_MAX}) {
        CAPTURE(colliders, max_contacts, n, t, q);
        const double most = std::min(n + 16.0, std::floor(192.0 + n / 16.0));
        const double c = std::min(most, double(max_contacts));
        const double k = std::min(colliders, 3), m = std::min(colliders, 64);
        const double per_cluster = q > 0 ? 84 : 0, row = 16.0 * std::ceil(c / 16.0);
        const double expected = (4 * row + 52 + (80 + per_cluster) * k) * c + 12 * row +
                                64 * k * most + (63 + 5 * k) * n + 24.25 * k * t + 64 * k +
                                144 * q * q + 529 * q + (q > 0 ? 128 : 0) + 532 * m;
        const double found = BytesOfBody(shape.asset(), colliders, max_contacts) -
                             BytesOfBody(shape.asset(), 0, max_contacts);
        CHECK(found == Approx(expected).epsilon(0.01));
      }
    }
  }
}

TEST_CASE("A height field takes the memory that the documented formula says, for each body") {
  constexpr uint32_t kPoints = 4;
  const std::vector<float> heights(size_t{kPoints} * kPoints, 0.0f);
  ColliderDesc ground = {.type = ShapeType::kHeightField,
                         .height_field = {heights, kPoints, kPoints, 1.0f}};
  for (const uint32_t side : {1u, 3u, 6u}) {
    CAPTURE(side);
    const tools::TetMesh mesh = TetBox(side, side, side, 0.1);
    const ShapeAsset shape(SurfaceBytes(mesh, {.parts = 2, .depth = 0.0, .num_shells = 0}));
    const double n = static_cast<double>(shape.num_nodes());
    const double t = static_cast<double>(shape.asset().collision().tets.size());
    const double found = BytesOfBody(shape.asset(), 1, UINT32_MAX, &ground) -
                         BytesOfBody(shape.asset(), 1, UINT32_MAX);
    CHECK(found == Approx(83.1e3 + 80 * n + 76 * t).epsilon(0.01));
  }
}

}  // namespace contact_memory_test

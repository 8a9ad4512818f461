// SPDX-License-Identifier: MIT
// Heaps: sweeps leave no contact out, and steps allocate nothing.
#include "runtime/bodies/touching_cubes.h"
#include "runtime/colliders/solid_scene.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>
#include <vector>

using namespace plush;
using namespace plush::test;

namespace heap_sweeps_test {

constexpr float kSize = TouchingCubes::kSize;

using Cubes = TouchingCubes;

// It sways for seconds: few sweeps carry impulses through ten bodies slowly.
TEST_CASE("A stack of ten stiff cubes stays up", "[long]") {
  Cubes cubes(Cubes::Awake());
  AddPlane(&cubes.world, {});
  for (int k = 0; k < 10; ++k) {
    cubes.Add({0.005f * float(k % 2), 0.001f + 0.2005f * float(k), 0}, 1.0e7f);
  }
  cubes.Step(400);
  for (size_t k = 0; k < cubes.ids.size(); ++k) {
    CAPTURE(k);
    const Eigen::Vector3d at = cubes.Centre(cubes.ids[k]);
    CHECK(std::hypot(at.x() - 0.1, at.z() - 0.1) < 0.2 * double(kSize));
    CHECK(at.y() == Approx(0.1 + 0.2 * double(k)).margin(0.002 + 0.001 * double(k)));
  }
  CHECK(cubes.world.stats().body_pairs == 9);
  CHECK(cubes.world.stats().max_speed < 0.2f);
}

TEST_CASE("A push goes along a row of cubes in one step, whichever comes first in sweeps") {
  constexpr int kCount = 10;
  // Their centres' ways along the row, from the one that is pushed on [m].
  const auto push = [](bool is_first) {
    Cubes cubes(Cubes::Awake());
    for (int i = 0; i < kCount; ++i) {
      const int place = is_first ? i : kCount - 1 - i;
      BodyDesc desc = {.velocity = {.x = place == 0 ? 2.0f : 0.0f}};
      cubes.Add({0.9999f * kSize * float(place), 0.0f, 0.0f}, 1.0e6f, desc);
    }
    cubes.Step(1);
    std::vector<double> ways;
    for (int i = 0; i < kCount; ++i) {
      const int place = is_first ? i : kCount - 1 - i;
      ways.push_back(cubes.Centre(cubes.ids[place]).x() - 0.9999 * kSize * i);
    }
    return ways;
  };
  const std::vector<double> first = push(true), last = push(false);
  for (int i = 0; i < kCount; ++i) {
    CAPTURE(i);
    CHECK(last[i] == Approx(first[i]).margin(1e-4));
  }
}

TEST_CASE("In a wall of 65 cubes all sweep groups meet: each cube rests on two below", "[long]") {
  constexpr int kRows = 5, kLongest = 15;
  constexpr float kPitch = 1.3f * kSize;
  WorldDesc desc = Cubes::WithPairs(256);
  desc.sleep.speed = 0.0f;
  Cubes cubes(desc);
  AddPlane(&cubes.world, {});
  std::vector<int> rows;
  for (int row = 0; row < kRows; ++row) {
    for (int i = 0; i < kLongest - row; ++i) {
      cubes.Add({kPitch * (float(i) + 0.5f * float(row)), kSize * float(row), 0.0f});
      rows.push_back(row);
    }
  }
  cubes.Step(150);
  CHECK(cubes.flags == 0);
  std::map<std::pair<size_t, size_t>, double> carried;  // by the lower and the higher cube [N]
  for (const BodyContactPoint& contact : cubes.Contacts()) {
    const auto low = std::ranges::find(cubes.ids, contact.bodies[0]) - cubes.ids.begin();
    const auto high = std::ranges::find(cubes.ids, contact.bodies[1]) - cubes.ids.begin();
    carried[{low, high}] -= double(contact.force.y);
  }
  const double weight = 9.81 * cubes.Mass(cubes.ids[0]);
  std::vector<double> by_row(kRows, 0.0);
  size_t num_held = 0;
  for (const auto& [pair, force] : carried) {
    if (rows[pair.first] == rows[pair.second]) continue;
    CAPTURE(pair.first, pair.second);
    CHECK(force > 0.2 * weight);
    ++num_held;
    by_row[rows[pair.second]] += force;
  }
  CHECK(num_held == 2 * (cubes.ids.size() - kLongest));
  double above = 0.0;
  for (int row = kRows - 1; row > 0; --row) {
    above += weight * (kLongest - row);
    CHECK(by_row[row] == Approx(above).epsilon(0.02));
  }
}

}  // namespace heap_sweeps_test

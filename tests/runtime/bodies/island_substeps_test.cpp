// SPDX-License-Identifier: MIT
// Bodies of one island take the same number of substeps.
#include "runtime/attachments/attachment_scene.h"
#include "runtime/bodies/touching_cubes.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <vector>

using namespace plush;
using namespace plush::test;

// Two cubes fly at each other, so fast that they need several substeps. A third one falls far away
// and needs one. In n substeps it falls by g dt^2 (n + 1) / (2 n).
TEST_CASE("All bodies of an island take as many substeps as the one that wants most") {
  // Substeps that the approach asks for: 2 v dt / e.
  const double wanted = GENERATE(1.5, 2.5, 3.5, 6.0);
  const bool is_joined = GENERATE(true, false);
  const uint32_t place = GENERATE(0u, 1u, 2u);  // of the third one among the bodies
  CAPTURE(wanted, is_joined, place);
  constexpr float kDt = TouchingCubes::kDt, kSize = TouchingCubes::kSize;
  TouchingCubes cubes(TouchingCubes::Awake());
  const double edge = double(cubes.shape.simulation().median_edge);
  const uint32_t substeps = std::min(4u, static_cast<uint32_t>(std::ceil(wanted)));
  BodyDesc flies, falls;
  // They overlap by little at the end of the step, so their contacts' normals are along x.
  const float way = static_cast<float>(0.5 * wanted * edge), gap = way - 0.004f;
  flies.velocity = {-way / kDt, 0.0f, 0.0f};
  std::vector<BodyId> pair;
  BodyId third;
  for (uint32_t k = 0; k < 3; ++k) {
    if (k == place) {
      third = cubes.Add({0.0f, 0.0f, 3.0f}, 1.0e5f, falls);
    } else if (pair.empty()) {
      pair.push_back(cubes.Add({0.0f, 0.0f, 0.0f}, 1.0e5f, falls));
    } else {
      pair.push_back(cubes.Add({kSize + gap, 0.013f, 0.007f}, 1.0e5f, flies));
    }
  }
  if (is_joined) {
    // So weak that it only makes them one island.
    AttachmentDesc spring = {.body = pair[0], .other_body = third};
    spring.weights = spring.other_weights = {1.0f, 0.0f, 0.0f, 0.0f};
    spring.stiffness = 1.0e-6f;
    Attach(&cubes.world, spring);
  }
  const double before = cubes.Centre(third).y();
  cubes.Step(1);
  CHECK(cubes.world.stats().substeps == substeps);
  const double n = is_joined ? double(substeps) : 1.0;
  const double fall = 9.81 * double(kDt) * double(kDt) * (n + 1.0) / (2.0 * n);
  // The island's momenta are kept, by a little of each body's own. A substep more or less makes
  // 6%.
  CHECK(before - cubes.Centre(third).y() == Approx(fall).epsilon(is_joined ? 3e-2 : 1e-4));
}

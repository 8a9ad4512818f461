// SPDX-License-Identifier: MIT
// Two models deep in each other: their baked collision surfaces intersect in the same triangles of
// the models as the models do. The numbers come from tests of all pairs in 80-bit floats. For 120
// degrees, the note that comes with the models has 409, 965, 1332 and 3927 pairs. The pose that it
// describes, which is this one, has 243, 569, 805 and 2403 by such a test; that of 30 degrees has
// those of the note.
#include "plush/asset.h"
#include "plush/format/cdg_records.h"
#include "plush/world.h"

#include "bake/bake.h"
#include "base/aligned_bytes.h"
#include "skip.h"
#include "tools/test_models.h"

#include <catch2/catch.hpp>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace plush::tests::deep_pair_test {
namespace {

// A model with the middle of its box at the origin and a diagonal of 1 m.
tools::ImportedModel NormalisedModel(const std::string& path) {
  tools::ImportedModel model = ImportOrFail(path);
  auto& positions = model.surface.positions;
  tools::Vec3d low = positions[0], high = low;
  for (const tools::Vec3d& p : positions) low = Min(low, p), high = Max(high, p);
  const tools::Vec3d size = high - low, centre = (low + high) * 0.5;
  const double scale = 1.0 / std::sqrt(size.x * size.x + size.y * size.y + size.z * size.z);
  for (tools::Vec3d& p : positions) p = (p - centre) * scale;
  return model;
}

// Stands a model up, then turns it about the vertical axis.
void Turn(double degrees, tools::ImportedModel* model) {
  const double angle = degrees * std::acos(-1.0) / 180.0, c = std::cos(angle), s = std::sin(angle);
  for (tools::Vec3d& p : model->surface.positions) {
    const tools::Vec3d up = {p.x, -p.z, p.y};
    p = {up.x * c + up.z * s, up.y, -up.x * s + up.z * c};
  }
}

struct BakedModel {
  explicit BakedModel(const tools::ImportedModel& model) : bytes(Bytes(model)) {
    REQUIRE(asset.Open(bytes.bytes()).ok());
  }
  static std::vector<std::byte> Bytes(const tools::ImportedModel& model) {
    tools::FindingList findings;
    auto baked = tools::Bake(model, {}, &findings);
    if (!baked.ok()) FAIL(baked.error().message);
    return std::move(baked.value().bytes);
  }

  tools::AlignedBytes bytes;
  Asset asset;
};

}  // namespace

TEST_CASE("Two models intersect in as many pairs of triangles after their bakes", "[long]") {
  struct Size {
    const char* armadillo;
    const char* horse;
    size_t pairs[2];  // with the horse turned by 30 and by 120 degrees
  };
  std::vector<Size> sizes = {
      {"1k", "1k", {134, 243}}, {"5k", "5k", {289, 569}}, {"10k", "10k", {411, 805}}};
  if (FullTests()) sizes.push_back({"86k", "97k", {1277, 2403}});
  for (const Size& size : sizes) {
    CAPTURE(size.armadillo);
    const std::string paths[2] = {
        TestModelOrSkip(std::string("armadillo_") + size.armadillo + ".obj"),
        TestModelOrSkip(std::string("horse_") + size.horse + ".obj")};
    if (paths[0].empty() || paths[1].empty()) return;
    const BakedModel armadillo(NormalisedModel(paths[0]));
    for (const size_t turned_far : {0u, 1u}) {
      const double degrees = turned_far == 0 ? 30.0 : 120.0;
      CAPTURE(degrees);
      tools::ImportedModel turned = NormalisedModel(paths[1]);
      Turn(degrees, &turned);
      const BakedModel horse(turned);
      World world({.max_pairs = 1});
      BodyId a, b;
      REQUIRE(world.AddBody(armadillo.asset, {}, &a).ok());
      REQUIRE(world.AddBody(horse.asset, {.pose = {.position = {.x = 0.1f}}}, &b).ok());
      std::vector<IntersectionSegment> segments(20000);
      Intersection found;
      REQUIRE(world.FindIntersection(a, b, segments, {}, &found).ok());
      REQUIRE(found.num_segments <= segments.size());
      segments.resize(found.num_segments);
      std::set<std::pair<uint32_t, uint32_t>> pairs;
      for (const IntersectionSegment& segment : segments) {
        pairs.insert({armadillo.asset.collision().source_triangles[segment.triangles[0]],
                      horse.asset.collision().source_triangles[segment.triangles[1]]});
      }
      CHECK(pairs.size() == size.pairs[turned_far]);
    }
  }
}

}  // namespace plush::tests::deep_pair_test

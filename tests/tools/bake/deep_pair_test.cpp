// SPDX-License-Identifier: MIT
// Two models deep in each other: their baked collision surfaces intersect in the same triangles of
// the models as the models do. The numbers come from tests of all pairs in 80-bit floats.
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

namespace plush::tests {
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
  const double angle = degrees * std::acos(-1.0) / 180.0;
  const double c = std::cos(angle), s = std::sin(angle);
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

TEST_CASE("Two models intersect in as many pairs of triangles after their bakes") {
  struct Pose {
    double turn;       // of the horse [degrees]
    const char* size;  // of the armadillo
    const char* horse_size;
    size_t pairs;
  };
  std::vector<Pose> poses = {{30, "1k", "1k", 134},
                             {120, "1k", "1k", 243},
                             {30, "10k", "10k", 411},
                             {120, "10k", "10k", 805}};
  if (FullTests()) poses.push_back({30, "86k", "97k", 1277});
  for (const Pose& pose : poses) {
    CAPTURE(pose.turn, pose.size);
    const std::string paths[2] = {
        TestModelOrSkip(std::string("armadillo_") + pose.size + ".obj"),
        TestModelOrSkip(std::string("horse_") + pose.horse_size + ".obj")};
    if (paths[0].empty() || paths[1].empty()) return;
    const BakedModel armadillo(NormalisedModel(paths[0]));
    tools::ImportedModel turned = NormalisedModel(paths[1]);
    Turn(pose.turn, &turned);
    const BakedModel horse(turned);
    World world({.max_pairs = 1});
    BodyId a, b;
    REQUIRE(world.AddBody(armadillo.asset, {}, &a).ok());
    BodyDesc beside;
    beside.pose.position.x = 0.1f;
    REQUIRE(world.AddBody(horse.asset, beside, &b).ok());
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
    CHECK(pairs.size() == pose.pairs);
  }
}

}  // namespace plush::tests

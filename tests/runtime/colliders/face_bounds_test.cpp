// SPDX-License-Identifier: MIT
// Bounds of many vertices beside the search that looks at each.
#include "colliders/face_bounds.h"

#include "base/vector_math.h"
#include "runtime/simd_targets.h"
#include "runtime/tet_fixtures.h"

#include <catch2/catch.hpp>

#include <cmath>
#include <limits>
#include <vector>

using namespace plush;
using namespace plush::test;

namespace face_bounds_test {

// Faces of rough ground, or anywhere.
std::vector<MeshFace> FacesOf(Random* random, bool is_ground) {
  std::vector<MeshFace> faces;
  const auto add = [&](const Eigen::Vector3d& a, const Eigen::Vector3d& b,
                       const Eigen::Vector3d& c) {
    const Eigen::Vector3d normal = (b - a).cross(c - a).normalized();
    faces.push_back({2 * static_cast<uint32_t>(faces.size()),
                     {ToVec3(a), ToVec3(b), ToVec3(c)},
                     ToVec3(normal)});
  };
  if (!is_ground) {
    for (int i = 0; i < 9; ++i) {
      const Eigen::Vector3d at = random->Vector(0.2);
      add(at, at + random->Vector(0.2), at + random->Vector(0.2));
    }
    return faces;
  }
  constexpr int kCells = 5;
  const double rough = random->Uniform(0.0, 0.05);
  std::vector<double> heights;
  for (int i = 0; i < (kCells + 1) * (kCells + 1); ++i)
    heights.push_back(random->Uniform(0, rough));
  const auto point = [&](int row, int column) {
    return Eigen::Vector3d(0.08 * (column - 2.5),
                           heights[static_cast<size_t>(row * (kCells + 1) + column)],
                           0.08 * (row - 2.5));
  };
  for (int row = 0; row < kCells; ++row) {
    for (int column = 0; column < kCells; ++column) {
      add(point(row, column), point(row + 1, column), point(row + 1, column + 1));
      add(point(row, column), point(row + 1, column + 1), point(row, column + 1));
    }
  }
  return faces;
}

TEST_CASE("Bounds of vertices near faces agree with a look at each") {
  constexpr float kReach = 0.03f, kDepth = 1.0e-6f, kRounding = 2.0e-6f;
  for (const int64_t target : SimdTargets()) {
    CAPTURE(NameOf(target));
    const SimdTargetScope scope(target);
    size_t clear = 0, sure = 0, apart = 0, all = 0;
    for (uint32_t seed = 1; seed <= 200; ++seed) {
      CAPTURE(seed);
      Random random(seed);
      const bool is_ground = seed % 4 != 0;
      const std::vector<MeshFace> faces = FacesOf(&random, is_ground);
      std::vector<FacePlanes> planes;
      for (const MeshFace& face : faces) planes.emplace_back(face);
      NodeWays ways;
      const Eigen::Vector3d at = is_ground ? Eigen::Vector3d(0, 0.05, 0) : Eigen::Vector3d(0, 0, 0);
      // Some are short.
      const double length = seed % 5 == 0 ? 0.01 : 1.0;
      const Eigen::Vector3d way = random.Vector(0.06 * length);
      for (int k = 0; k < 4; ++k) {
        ways.from[k] = ToVec3(at + random.Vector(0.1));
        ways.to[k] = ToVec3(ToEigen(ways.from[k]) + way + random.Vector(0.01 * length));
      }
      std::vector<Vec4> weights(1 + random.Below(70));
      for (Vec4& w : weights) {
        Eigen::Vector4d share;
        for (int k = 0; k < 4; ++k) share[k] = random.Uniform(0.0, 1.0);
        share /= share.sum();
        w = {static_cast<float>(share[0]), static_cast<float>(share[1]),
             static_cast<float>(share[2]), static_cast<float>(share[3])};
      }
      VertexBounds bounds(ways, weights, kDepth, kReach, kRounding);
      const size_t first = random.Below(static_cast<uint32_t>(planes.size()));
      bounds.Add(std::span(planes).first(first), true);
      bounds.Add(std::span(planes).subspan(first), false);
      const VertexClearances all_bounds = bounds.FindClearances({});
      const std::span<const float> clearances = all_bounds.of_ends, gaps = all_bounds.gaps;
      for (size_t i = 0; i < weights.size(); ++i) {
        const Vec4& w = weights[i];
        const auto mean = [&](const Vec3(&x)[4]) {
          return x[0] * w.x + x[1] * w.y + x[2] * w.z + x[3] * w.w;
        };
        const Vec3 from = mean(ways.from), to = mean(ways.to);
        WayToMesh crossing(from, to, nullptr, kDepth, 0.0f);
        NearestFace nearest(to, kReach, nullptr, false);
        for (const MeshFace& face : faces) {
          crossing.Visit(face);
          nearest.Visit(face);
        }
        const MeshHit& hit = crossing.hit();
        ++all;
        const float of_way = all_bounds.of_ways[i];
        CHECK(of_way <= clearances[i]);
        if (of_way > 0.0f) {
          ++apart;
          for (int k = 0; k <= 8; ++k) {
            const Vec3 on_way = from + (to - from) * (0.125f * static_cast<float>(k));
            for (const MeshFace& face : faces) {
              CHECK(of_way * of_way <= SquaredDistance(face, on_way));
            }
          }
        }
        if (clearances[i] > 0.0f) {
          ++clear;
          CHECK(hit.face == kNoTriangle);
          REQUIRE(nearest.nearest().face != kNoTriangle);
          CHECK(nearest.nearest().gap >= 0.0f);
          CHECK(clearances[i] <= nearest.nearest().distance);
          CHECK(gaps[i] == std::numeric_limits<float>::infinity());
        } else if (std::isfinite(gaps[i])) {
          ++sure;
          REQUIRE(hit.face != kNoTriangle);
          CHECK(gaps[i] <= hit.gap);
        }
      }
    }
    // Most of those in reach are one of both.
    CHECK(clear > all / 20);
    CHECK(sure > all / 100);
    CHECK(apart > clear / 2);
  }
}

}  // namespace face_bounds_test

// SPDX-License-Identifier: MIT
// A surface cut by a bounding cage, as the runtime sees it: closed under any deformation, and hit
// by rays exactly as a test of every triangle says.
#include "plush/format/cdg_records.h"
#include "plush/format/tet_block.h"
#include "plush/plush.h"

#include "base/aligned_bytes.h"
#include "tools/partition/partition_fixtures.h"
#include "tools/procedural_meshes.h"
#include "validate/collision_checks.h"

#include <catch2/catch.hpp>

#include <array>
#include <cmath>
#include <cstring>
#include <random>
#include <vector>

using namespace plush;
using namespace plush::tests;
using tools::ToDouble;
using tools::Vec3d;

namespace deformed_surface_test {

using Places = std::array<Vec3, 3>;

// A ring in a cage of few tets, alone in a world.
class Ring {
 public:
  Ring() : file_(BakedInCage(MakeTorus(1.0, 0.35, 72, 32), 120)) {
    REQUIRE(asset_.Open(file_.bytes()).ok());
    REQUIRE(world_.AddBody(asset_, {}, &body_).ok());
  }

  const Asset& asset() const { return asset_; }
  const World& world() const { return world_; }

  // Moves every node by up to `size`.
  void Deform(float size, std::mt19937* random) {
    std::uniform_real_distribution<float> in(-size, size);
    nodes_.assign(asset_.simulation().nodes.begin(), asset_.simulation().nodes.end());
    for (Vec3& x : nodes_) x = {x.x + in(*random), x.y + in(*random), x.z + in(*random)};
    REQUIRE(world_.SetNodePositions(body_, nodes_).ok());
    REQUIRE(world_.NodePositions(body_, 1.0f, nodes_).ok());
  }

  // The corner's position as the format defines it: a sequence of multiply-adds.
  Vec3 Place(uint32_t tet, uint32_t vertex) const {
    const Vec4& weights = asset_.collision().vertices[vertex];
    const float w[4] = {weights.x, weights.y, weights.z, weights.w};
    Vec3 place;
    for (size_t i = 0; i < 4; ++i) {
      const Vec3& x = nodes_[asset_.collision().tets[tet].nodes[i]];
      place = {place.x + x.x * w[i], place.y + x.y * w[i], place.z + x.z * w[i]};
    }
    return place;
  }

 private:
  tools::AlignedBytes file_;
  Asset asset_;
  World world_;
  BodyId body_;
  std::vector<Vec3> nodes_;
};

bool SameBits(const Vec3& a, const Vec3& b) { return std::memcmp(&a, &b, sizeof(a)) == 0; }

std::vector<Places> TrianglesOf(const Ring& ring) {
  const tools::UnpackedCollision c(ring.asset().collision());
  std::vector<Places> triangles(c.triangles.size());
  for (size_t t = 0; t < triangles.size(); ++t) {
    const uint32_t tet = c.view.patches[c.patch_of_triangle[t]].tet;
    for (size_t k = 0; k < 3; ++k) triangles[t][k] = ring.Place(tet, c.triangles[t].vertices[k]);
  }
  return triangles;
}

// Distance at which the ray meets the triangle well inside its edges, or infinity.
double Meet(const Vec3d& origin, const Vec3d& direction, const Places& t) {
  const Vec3d a = ToDouble(t[0]), e = ToDouble(t[1]) - a, f = ToDouble(t[2]) - a;
  const Vec3d p = Cross(direction, f);
  const double determinant = Dot(e, p);
  if (std::abs(determinant) < 1e-14) return HUGE_VAL;
  const Vec3d s = origin - a;
  const double u = Dot(s, p) / determinant;
  const Vec3d q = Cross(s, e);
  const double v = Dot(direction, q) / determinant, margin = 1e-3;
  if (u < margin || v < margin || u + v > 1.0 - margin) return HUGE_VAL;
  const double at = Dot(f, q) / determinant;
  return at >= 0.0 ? at : HUGE_VAL;
}

TEST_CASE("Both sides of a cut have the same bits, however the cage is deformed") {
  Ring ring;
  std::mt19937 random(5);
  const tools::UnpackedCollision c(ring.asset().collision());
  for (const float size : {0.0f, 0.05f, 0.5f, 5.0f, 1e6f}) {
    ring.Deform(size, &random);
    const std::vector<Places> triangles = TrianglesOf(ring);
    size_t compared = 0, different = 0;
    for (uint32_t t = 0; t < triangles.size(); ++t) {
      for (size_t k = 0; k < 3; ++k) {
        const uint32_t other = c.triangles[t].neighbours[k];
        REQUIRE(other != kNoTriangle);
        if (c.patch_of_triangle[other] == c.patch_of_triangle[t]) continue;
        ++compared;
        bool found = false;
        for (size_t m = 0; m < 3; ++m) {
          found = found || (SameBits(triangles[t][k], triangles[other][(m + 1) % 3]) &&
                            SameBits(triangles[t][(k + 1) % 3], triangles[other][m]));
        }
        different += found ? 0 : 1;
      }
    }
    INFO("nodes moved by up to " << size);
    CHECK(compared > 500);
    CHECK(different == 0);
  }
}

TEST_CASE("Rays hit a cut surface at the places at which they hit its triangles") {
  Ring ring;
  std::mt19937 random(6);
  std::uniform_real_distribution<float> in(-1.0f, 1.0f);
  for (const float size : {0.0f, 0.1f, 0.6f}) {
    ring.Deform(size, &random);
    const std::vector<Places> triangles = TrianglesOf(ring);
    int met = 0, wrong = 0, odd = 0;
    for (int i = 0; i < 500; ++i) {
      const Vec3 origin = {4.0f * in(random), 4.0f * in(random), 6.0f};
      const Vec3 direction = {1.2f * in(random)-origin.x, 0.3f * in(random)-origin.y,
                              1.2f * in(random)-origin.z};
      const Vec3d d = ToDouble(direction) / Length(ToDouble(direction));
      double nearest = HUGE_VAL;
      for (const Places& t : triangles) nearest = std::min(nearest, Meet(ToDouble(origin), d, t));
      SurfacePoint hit;
      REQUIRE(ring.world().Raycast({.origin = origin, .direction = direction}, {}, &hit).ok());
      if (nearest < HUGE_VAL) {
        ++met;
        // A hit on an edge counts too, and then comes first.
        wrong += !hit.valid() || double{hit.distance} > nearest + 1e-5 ? 1 : 0;
      }
      uint32_t count = 0;
      std::array<SurfacePoint, 64> hits;
      REQUIRE(ring.world()
                  .RaycastAll({.origin = origin, .direction = direction}, {}, hits, &count)
                  .ok());
      odd += count % 2 != 0 ? 1 : 0;
    }
    INFO("nodes moved by up to " << size);
    CHECK(met > 100);
    CHECK(wrong == 0);
    CHECK(odd == 0);
  }
}

}  // namespace deformed_surface_test

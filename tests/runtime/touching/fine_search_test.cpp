// SPDX-License-Identifier: MIT
// Searches of bodies on fine meshes with ridges: what they remember, and what they leave out.
#include "base/vector_math.h"
#include "colliders/ridge.h"
#include "collision/surface_records.h"
#include "runtime/collision/static_meshes.h"
#include "runtime/collision/surface_fixtures.h"
#include "sweep.h"
#include "touching/sunk_points.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <memory>
#include <tuple>
#include <vector>

using namespace plush;
using namespace plush::test;

namespace fine_search_test {

constexpr float kReach = 0.05f;
using Found = std::vector<std::tuple<uint32_t, uint32_t, float>>;  // id, face, gap

bool IsKnown(const void*, const SunkPoint&) { return false; }

// Ground of `cells` x `cells` squares, `size` wide, below y = 0: rough everywhere, or in one half.
SurfaceMesh RoughGround(uint32_t cells, double size, double rough, bool is_half, Random* random) {
  const double spacing = size / cells;
  return MakeSheet(cells, [&](uint32_t column, uint32_t row) {
    const double x = spacing * column - 0.5 * size;
    const double y = is_half && x > 0.0 ? 0.0 : -rough * spacing * random->Uniform(0.0, 1.0);
    return Vec3d{x, y, spacing * row - 0.5 * size};
  });
}

// A body above a mesh, its lowest vertex `above` y = 0.
struct AboveMesh {
  AboveMesh(const SurfaceMesh& surface, const tools::TetMesh& cage, uint32_t parts, uint32_t seed,
            double above)
      : subject(surface), body(cage, {.parts = parts, .seed = seed}) {
    patches.reset(MakeFacePatches(DefaultAllocator(), subject.mesh()));
    REQUIRE(patches != nullptr);
    source.mesh = &subject.mesh();
    source.code = &kTriangleCode;
    source.patches = patches.get();
    ground.is_solid = true;
    ground.mesh.source = &source;
    ground.end.rotation = RotationMatrix(Quat{0.0f, 0.0f, 0.0f, 1.0f});
    ground.start = ground.end;
    x.assign(body.x().begin(), body.x().end());
    Vec3 low = x[0], high = x[0];
    for (const Vec3& p : x) {
      low = LowerOf(low, p);
      high = UpperOf(high, p);
    }
    const Vec3 middle = (low + high) * 0.5f;
    for (Vec3& p : x) p -= Vec3{middle.x, low.y - static_cast<float>(above), middle.z};
    y = ToNodeVecs(x);
    pinned.assign(x.size(), 0);
  }
  ~AboveMesh() { DeleteObject(DefaultAllocator(), patches.release()); }

  ContactProblem Problem() {
    return {.colliders = {&ground, 1},
            .surface = {&body.surface(), pinned},
            .x = x,
            .y = y,
            .slop = 1.0e-4f,
            .rise = 1.0e-4f,
            .flush = 1.0e-5f,
            .reach = kReach};
  }
  void Reserve(SunkPoints* search, bool with_list) const {
    const size_t num_tets = body.surface().tets.size();
    REQUIRE(search->Allocate(DefaultAllocator(), num_tets, x.size(), 1, 4000));
    if (with_list) REQUIRE(search->ReserveMesh(DefaultAllocator(), num_tets, x.size()));
  }
  Found FindWith(SunkPoints* search, float depth) {
    Found found;
    for (const SunkPoint& p : search->Find(Problem(), {}, depth, IsKnown, nullptr)) {
      found.emplace_back(p.id, p.face, p.gap);
    }
    return found;
  }

  StaticSubject subject;
  SurfaceBody body;
  std::unique_ptr<FacePatches> patches;
  TriangleSource source;
  LocalCollider ground;
  std::vector<Vec3> x;
  std::vector<NodeVec> y;
  std::vector<uint8_t> pinned;
};

// The deepest of all points of triangles that ridges press on, among all pairs of them.
float DeepestOnRidges(AboveMesh* scene, float depth) {
  const ContactProblem problem = scene->Problem();
  const ColliderMesh& mesh = scene->ground.mesh;
  const CollisionView& surface = scene->body.surface();
  std::vector<Ridge> ridges;
  for (uint32_t t = 0; t < scene->source.num_triangles(); ++t) {
    for (int k = 0; k < 3; ++k) {
      Ridge ridge;
      if (FindRidge(mesh, mesh.Face(2 * t), k, &ridge)) ridges.push_back(ridge);
    }
  }
  float deepest = -depth;
  for (uint32_t i = 0; i < surface.num_triangles(); ++i) {
    SweptTriangle swept;
    const uint32_t id = problem.surface.num_points() + TouchingSurface::kPointsPerTriangle * i;
    problem.surface.ForCorners(id, [&](int k, const EmbeddedPoint& corner) {
      swept.from[k] = corner.Of(problem.x);
      swept.to[k] = corner.Of(problem.y);
    });
    for (const Ridge& ridge : ridges) {
      const RidgePoints points(ridge, swept.to, -depth);
      for (uint32_t p = 0; p < points.count; ++p) {
        const RidgePoint& at = points.at[p];
        const auto place = [&](const Vec3(&corners)[3]) {
          return corners[0] * (1.0f - at.u - at.v) + corners[1] * at.u + corners[2] * at.v;
        };
        const Vec3 start = place(swept.from);
        const float start_gap = Dot(at.normal, start) - at.offset;
        const float gap = at.gap + AllowedDepth(start_gap, problem.rise);
        const EasiestPlane easiest(swept, {at.normal, at.offset}, start, place(swept.to),
                                   problem.flush);
        if (start_gap < -0.2f * kReach || HasEasierFace(ridge, easiest)) continue;
        deepest = std::min(deepest, gap);
      }
    }
  }
  return deepest;
}

TEST_CASE("What is remembered of a fine mesh changes no point that a search finds") {
  size_t found = 0, searches = 0, inside = 0;
  const uint32_t count = tests::SweepCount(24u);
  for (uint32_t seed = 1; seed <= count; ++seed) {
    Random random(seed);
    // Fine tets on coarse triangles, coarse tets on fine ones, and some between.
    const bool are_fine_tets = seed % 3 == 0;
    const uint32_t cells = are_fine_tets ? 12 : seed % 3 == 1 ? 150 : 40;
    const auto cage =
        are_fine_tets ? TetBox(8, 4, 4, 0.03, 0.01, seed) : TetBox(3, 2, 2, 0.1, 0.05, seed);
    const double rough = seed % 4 == 0 ? 0.0 : random.Uniform(0.1, 0.8);
    AboveMesh scene(RoughGround(cells, 1.0, rough, seed % 2 == 0, &random), cage,
                    are_fine_tets ? 2 : 3, seed, 2.0e-3);
    SunkPoints remembering, fresh;
    scene.Reserve(&remembering, true);
    scene.Reserve(&fresh, false);
    for (int move = 0; move < 40; ++move) {
      CAPTURE(seed, move);
      const double size = move % 15 == 0 ? 0.03 : move % 4 == 0 ? 2e-3 : 2e-5;
      const Vec3 way = ToVec3(random.Vector(size));
      for (size_t i = 0; i < scene.x.size(); ++i) {
        if (move % 5 == 0) scene.x[i] = Vec3(scene.y[i]);
        scene.y[i] = Vec3(scene.y[i]) + way + ToVec3(random.Vector(0.2 * size));
      }
      const float depth = move % 3 == 0 ? 1.0e-4f : 1.0e-6f;
      const Found expected = scene.FindWith(&fresh, depth);
      CHECK(scene.FindWith(&remembering, depth) == expected);
      found += expected.size();
      const uint32_t num_points = scene.Problem().surface.num_points();
      inside += static_cast<size_t>(std::ranges::count_if(
          expected, [&](const auto& point) { return std::get<0>(point) >= num_points; }));
      ++searches;
    }
  }
  CHECK(found > 2 * searches);
  CHECK(inside > searches / 4);
}

TEST_CASE("The deepest place of a ridge in a body is found among all of a fine mesh", "[long]") {
  size_t pressed = 0;
  for (uint32_t seed = 1; seed <= 60; ++seed) {
    CAPTURE(seed);
    Random random(seed);
    const uint32_t cells = seed % 2 == 0 ? 10 : 40;
    const auto cage = TetBox(3, 2, 2, 0.1, 0.02, seed);
    AboveMesh scene(RoughGround(cells, 0.6, random.Uniform(0.2, 0.8), false, &random), cage, 2,
                    seed, 1.0e-3);
    // From a small way to one as long as a tet, mostly down.
    const double most = seed % 3 == 0 ? 0.08 : 5.0e-3;
    const Vec3 way = ToVec3(random.Vector(0.5 * most)) - Vec3{0.0f, static_cast<float>(most), 0.0f};
    for (NodeVec& p : scene.y) p += way;
    for (const bool with_list : {false, true}) {
      SunkPoints search;
      scene.Reserve(&search, with_list);
      constexpr float kDepth = 1.0e-5f;
      const float expected = DeepestOnRidges(&scene, kDepth);
      float deepest = -kDepth, of_all = -kDepth;
      const uint32_t num_points = scene.Problem().surface.num_points();
      for (const auto& [id, face, gap] : scene.FindWith(&search, kDepth)) {
        of_all = std::min(of_all, gap);
        if (id >= num_points) deepest = std::min(deepest, gap);
      }
      // A vertex on the same node may be deeper, and takes its place.
      CHECK(deepest >= expected - 1.0e-6f);
      CHECK(of_all <= expected + 1.0e-6f);
      pressed += deepest < -kDepth && std::fabs(deepest - expected) < 1.0e-6f ? 1 : 0;
    }
  }
  CHECK(pressed > 40);
}

}  // namespace fine_search_test

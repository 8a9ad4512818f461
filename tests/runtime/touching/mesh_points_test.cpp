// SPDX-License-Identifier: MIT
// What a search on a mesh remembers changes no result.
#include "base/vector_math.h"
#include "runtime/collision/static_meshes.h"
#include "runtime/collision/surface_fixtures.h"
#include "sweep.h"
#include "touching/sunk_points.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <tuple>
#include <vector>

using namespace plush;
using namespace plush::test;

namespace mesh_points_test {

bool IsKnown(const void*, const SunkPoint& point) { return point.id % 7 == 0; }

using Found = std::vector<std::tuple<uint32_t, uint32_t, float>>;  // id, face, gap

Found FindWith(SunkPoints* search, const ContactProblem& problem, const std::vector<NodeVec>& d,
               float depth) {
  Found found;
  for (const SunkPoint& point : search->Find(problem, d, depth, IsKnown, nullptr)) {
    found.emplace_back(point.id, point.face, point.gap);
  }
  return found;
}

// A search that remembers the mesh near a body, and one that looks anew.
class TwoSearches {
 public:
  explicit TwoSearches(const SurfaceBody& body) {
    const size_t num_tets = body.surface().tets.size(), num_nodes = body.x().size();
    for (SunkPoints* search : {&remembering_, &fresh_}) {
      REQUIRE(search->Allocate(DefaultAllocator(), num_tets, num_nodes, 1, 1000));
      REQUIRE(search->ReserveMesh(DefaultAllocator(), num_tets, num_nodes));
    }
  }

  // Both find the same.
  Found Check(const ContactProblem& problem) {
    fresh_.ForgetMesh();
    const Found expected = FindWith(&fresh_, problem, {}, 1.0e-6f);
    CHECK(FindWith(&remembering_, problem, {}, 1.0e-6f) == expected);
    return expected;
  }

 private:
  SunkPoints remembering_, fresh_;
};

TEST_CASE("A remembered list of a mesh changes no point that a search finds") {
  size_t found = 0, searches = 0;
  const uint32_t count = tests::SweepCount(36u);
  for (uint32_t seed = 1; seed <= count; ++seed) {
    CAPTURE(seed);
    // On flat ground, the body goes up and down by less than the depth that counts.
    const bool is_flat = seed % 3 != 0;
    Random random(seed);
    const SurfaceBody body(TetBox(3, 2, 2, 0.1, 0.05, seed), {.parts = 3, .seed = seed});
    const size_t num_tets = body.surface().tets.size(), num_nodes = body.x().size();
    std::vector<uint8_t> pinned(num_nodes, 0);
    for (const uint32_t node : random.Nodes(num_nodes, 0.1)) pinned[node] = 1;
    // Fine ground overfills the list.
    const float spacing = seed % 4 == 0 ? 0.008f : static_cast<float>(random.Uniform(0.03, 0.2));
    constexpr uint32_t kPoints = 80;
    std::vector<float> heights;
    for (uint32_t i = 0; i < kPoints * kPoints; ++i) {
      const auto rough = static_cast<float>(random.Uniform(0.0, 0.3));
      heights.push_back(is_flat ? 0.0f : 0.05f + spacing * rough);
    }
    TriangleSource source;
    source.code = &kTriangleCode;
    source.field = {heights, kPoints, kPoints, spacing};
    LocalCollider ground;
    ground.is_solid = true;
    ground.reach = 0.1f;
    ground.mesh.source = &source;
    for (const int k : {0, 2}) ground.mesh.anchor[k] = 0.4 * kPoints * double(spacing);
    const auto place = [&] {
      return SolidPlace{RotationMatrix(ToQuat(random.Rotation())), ToVec3(random.Vector(0.01))};
    };
    ground.end = {};
    ground.end.rotation = RotationMatrix(Quat{0.0f, 0.0f, 0.0f, 1.0f});
    ground.start = ground.end;
    std::vector<Vec3> x(body.x().begin(), body.x().end());
    if (is_flat) {
      const float lowest = std::ranges::min(x, {}, &Vec3::y).y;
      for (Vec3& p : x) p.y += 3.0e-4f - lowest;
    }
    std::vector<NodeVec> y = ToNodeVecs(x), d(y.size());
    SunkPoints remembering, fresh;
    for (SunkPoints* search : {&remembering, &fresh}) {
      REQUIRE(search->Allocate(DefaultAllocator(), num_tets, num_nodes, 1, 1000));
    }
    REQUIRE(remembering.ReserveMesh(DefaultAllocator(), num_tets, num_nodes));
    for (int move = 0; move < 60; ++move) {
      CAPTURE(move);
      // From a shiver, which is skipped, to jumps. Sometimes the substep ends, or the ground moves.
      const double size = move % 15 == 0 ? 0.1 : move % 4 == 0 ? 1e-3 : 1e-6;
      const double up = random.Uniform(-8e-4, 8e-4);
      for (size_t i = 0; i < num_nodes; ++i) {
        if (move % 5 == 0) x[i] = Vec3(y[i]);
        y[i] = Vec3(y[i]) + ToVec3(is_flat ? Eigen::Vector3d(0.0, up, 0.0) : random.Vector(size));
        d[i] = is_flat ? Vec3{} : ToVec3(random.Vector(size));
      }
      if (move % 20 == 19 && !is_flat) ground.end.position = place().position;
      const ContactProblem problem = {.colliders = {&ground, 1},
                                      .surface = {&body.surface(), pinned},
                                      .x = x,
                                      .y = y,
                                      .slop = 1.0e-3f,
                                      .rise = 1.0e-3f,
                                      .reach = 0.03f};
      const float depth = is_flat || move % 3 == 0 ? 1.0e-3f : 1.0e-6f;
      const Found expected = FindWith(&fresh, problem, d, depth);
      CHECK(FindWith(&remembering, problem, d, depth) == expected);
      found += expected.size();
      ++searches;
    }
  }
  CHECK(found > searches);
}

// Beside an open border, what is in front of a plane and what is behind it are close, far from any
// triangle.
TEST_CASE("A list of plates with open borders changes nothing while a body flies between them") {
  size_t found = 0, searches = 0;
  const uint32_t count = tests::SweepCount(200u);
  for (uint32_t seed = 1; seed <= count; ++seed) {
    CAPTURE(seed);
    Random random(seed);
    const bool is_flat = seed % 2 == 0;  // all plates are in one plane
    SurfaceMesh plates;
    for (uint32_t plate = 0; plate < 12; ++plate) {
      Eigen::Vector3d at = random.Vector(0.4), u = random.Vector(0.15), v = random.Vector(0.15);
      if (is_flat) at.y() = u.y() = v.y() = 0.0;
      for (const Eigen::Vector3d& corner :
           {at, Eigen::Vector3d(at + u), Eigen::Vector3d(at + v), Eigen::Vector3d(at + u + v)}) {
        plates.positions.push_back({corner.x(), corner.y(), corner.z()});
      }
      plates.triangles.push_back({4 * plate, 4 * plate + 1, 4 * plate + 2});
      plates.triangles.push_back({4 * plate + 2, 4 * plate + 1, 4 * plate + 3});
    }
    plush::tests::CompleteMesh(&plates);
    const StaticSubject subject(plates, seed % 3 == 0 ? MeshSides::kBoth : MeshSides::kFront);
    const SurfaceBody body(TetBox(3, 2, 2, 0.1, 0.05, seed), {.parts = 3, .seed = seed});
    const size_t num_nodes = body.x().size();
    const std::vector<uint8_t> pinned(num_nodes, 0);
    TriangleSource source;
    source.mesh = &subject.mesh();
    source.code = &kTriangleCode;
    LocalCollider ground;
    ground.is_solid = true;
    ground.reach = 0.1f;
    ground.mesh.source = &source;
    ground.end.rotation = RotationMatrix(Quat{0.0f, 0.0f, 0.0f, 1.0f});
    ground.start = ground.end;
    std::vector<Vec3> x(body.x().begin(), body.x().end());
    std::vector<NodeVec> y = ToNodeVecs(x);
    TwoSearches searched(body);
    Vec3 way;
    for (int move = 0; move < 80; ++move) {
      CAPTURE(move);
      // Substeps with several iterates, all nodes of which move alike or each for itself.
      const bool starts = move % 8 == 0;
      if (move % 16 == 0) way = ToVec3(random.Vector(is_flat ? 1e-3 : 0.02));
      const double size = std::pow(10.0, random.Uniform(-5.0, -2.0));
      const Vec3 shift = ToVec3(random.Vector(size)) + (starts ? way : Vec3{});
      const double own = move % 3 == 0 ? size : 1e-6;
      for (size_t i = 0; i < num_nodes; ++i) {
        if (starts) x[i] = Vec3(y[i]);
        y[i] = Vec3(y[i]) + shift + ToVec3(random.Vector(own));
      }
      const ContactProblem problem = {.colliders = {&ground, 1},
                                      .surface = {&body.surface(), pinned},
                                      .x = x,
                                      .y = y,
                                      .slop = 1.0e-4f,
                                      .rise = 1.0e-4f,
                                      .reach = 0.05f};
      const Found expected = searched.Check(problem);
      found += expected.size();
      ++searches;
    }
  }
  CHECK(2 * found > searches);
}

// A ridge may lie deep behind a triangle, where it does not press, and come up to where it does.
TEST_CASE("A list of a box's edges changes nothing while a body slides over them") {
  size_t found = 0, on_ridges = 0, searches = 0;
  const StaticSubject subject(tests::MakeBox({-0.1, -0.1, -0.1}, {0.1, 0.1, 0.1}));
  TriangleSource source;
  source.mesh = &subject.mesh();
  source.code = &kTriangleCode;
  for (uint32_t seed = 1; seed <= 60; ++seed) {
    CAPTURE(seed);
    Random random(seed);
    const SurfaceBody body(TetBox(3, 2, 2, 0.05, 0.02, seed), {.parts = 1, .seed = seed});
    const size_t num_nodes = body.x().size();
    const std::vector<uint8_t> pinned(num_nodes, 0);
    LocalCollider box;
    box.is_solid = true;
    box.reach = 0.1f;
    box.mesh.source = &source;
    box.end.rotation = RotationMatrix(Quat{0.0f, 0.0f, 0.0f, 1.0f});
    box.start = box.end;
    // Its middle is on an edge of the box.
    const Mat3 rotation = RotationMatrix(ToQuat(random.Rotation()));
    const Vec3 edge = {0.1f, 0.1f, static_cast<float>(random.Uniform(-0.1, 0.1))};
    Vec3 middle;
    for (const Vec3& p : body.x()) middle += p * (1.0f / static_cast<float>(num_nodes));
    std::vector<Vec3> x;
    for (const Vec3& p : body.x()) x.push_back(rotation * (p - middle) + edge);
    const Vec3 out = ToVec3(random.Vector(0.05)) + Vec3{0.05f, 0.05f, 0.0f};
    for (Vec3& p : x) p += out;
    std::vector<NodeVec> y = ToNodeVecs(x);
    TwoSearches searched(body);
    constexpr int kMoves = 60;
    for (int move = 0; move < kMoves; ++move) {
      CAPTURE(move);
      const bool starts = move % 3 == 0;
      const Vec3 shift = out * (-1.0f / kMoves) + ToVec3(random.Vector(1e-4));
      for (size_t i = 0; i < num_nodes; ++i) {
        if (starts) x[i] = Vec3(y[i]);
        y[i] = Vec3(y[i]) + shift + ToVec3(random.Vector(1e-5));
      }
      const ContactProblem problem = {.colliders = {&box, 1},
                                      .surface = {&body.surface(), pinned},
                                      .x = x,
                                      .y = y,
                                      .slop = 1.0e-4f,
                                      .rise = 1.0e-4f,
                                      .reach = 0.05f};
      const Found expected = searched.Check(problem);
      for (const auto& [id, face, gap] : expected) {
        on_ridges += problem.surface.IsInside(id) ? 1 : 0;
      }
      found += expected.size();
      ++searches;
    }
  }
  CAPTURE(found, on_ridges, searches);
  CHECK(2 * found > searches);
  CHECK(5 * on_ridges > searches);
}

// Each triangle beside the ridge goes down by three degrees, less than what counts as flat.
TEST_CASE("A flat ridge presses on a triangle that faces it, not on the far side of a thin body") {
  constexpr float kSine = 0.0523f, kCosine = 0.9986f;
  const Ridge ridge = {0,
                       {{-1.0f, 0.0f, 0.0f}, {1.0f, 0.0f, 0.0f}},
                       {{0.0f, -kSine, -kCosine}, {0.0f, -kSine, kCosine}}};
  const auto count_at = [&](float height, bool faces_down) {
    Vec3 corners[3] = {{-0.5f, height, -0.5f}, {0.5f, height, -0.5f}, {0.0f, height, 0.5f}};
    if (!faces_down) std::swap(corners[1], corners[2]);
    return RidgePoints(ridge, corners, 0.0f).count;
  };
  CHECK(count_at(-0.01f, true) == 2);
  CHECK(count_at(0.01f, true) == 0);
  CHECK(count_at(0.01f, false) == 0);
  CHECK(count_at(-0.01f, false) == 0);
}

TEST_CASE("An edge does not press on the front of a body that slides onto the face behind it") {
  const Ridge edge = {
      0, {{0.0f, 0.0f, -1.0f}, {0.0f, 0.0f, 1.0f}}, {{1.0f, 0.0f, 0.0f}, {0.0f, -1.0f, 0.0f}}};
  const auto is_free = [&](float height) {
    const Vec3 from[3] = {{-0.1f, height, 0.1f}, {-0.1f, height, -0.1f}, {-0.1f, 0.3f, 0.0f}};
    SweptTriangle front;
    for (int k = 0; k < 3; ++k) {
      front.from[k] = from[k];
      front.to[k] = from[k] + Vec3{0.2f, 0.0f, 0.0f};
    }
    const SolidFace held = {{-1.0f, 0.0f, 0.0f}, 0.0f};
    return HasEasierFace(edge, {front, held, front.from[0], front.to[0], 1.0e-4f});
  };
  CHECK(is_free(0.01f));
  CHECK(is_free(-1.0e-6f));
  CHECK_FALSE(is_free(-0.01f));
}

}  // namespace mesh_points_test

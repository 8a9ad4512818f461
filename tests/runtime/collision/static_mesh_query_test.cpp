// SPDX-License-Identifier: MIT
// Lines and nearest points of static meshes against all triangles one by one, and the side of a
// point against winding numbers.
#include "collision/static_mesh_query.h"

#include "base/float_rounding.h"
#include "collision/static_mesh.h"
#include "runtime/collision/static_meshes.h"
#include "solid/inside.h"
#include "solid/solid_surface.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <random>

using namespace plush;
using namespace plush::test;
using plush::tests::MakeBox;
using plush::tests::MakeOpenBox;
using plush::tests::MakeSphere;
using plush::tests::MakeTorus;
using plush::tests::MakeTriangleSoup;

namespace static_mesh_query_test {

Vec3d Double(const Vec3& p) { return {p.x, p.y, p.z}; }

std::array<Vec3d, 3> Corners(const StaticMeshView& mesh, uint32_t t) {
  const auto x = CornersOf(mesh, t);
  return {Double(x[0]), Double(x[1]), Double(x[2])};
}

double DistanceToSegment(const Vec3d& p, const Vec3d& a, const Vec3d& b) {
  const double t = std::clamp(Dot(p - a, b - a) / Dot(b - a, b - a), 0.0, 1.0);
  return Length(p - (a + t * (b - a)));
}

// Distance to the plane if the foot lies inside the triangle, else to the edges.
double DistanceToTriangle(const Vec3d& p, const std::array<Vec3d, 3>& x) {
  const Vec3d n = Cross(x[1] - x[0], x[2] - x[0]);
  bool inside = true;
  double least = HUGE_VAL;
  for (size_t k = 0; k < 3; ++k) {
    const Vec3d& a = x[k];
    const Vec3d& b = x[(k + 1) % 3];
    inside = inside && Dot(Cross(b - a, p - a), n) >= 0.0;
    least = std::min(least, DistanceToSegment(p, a, b));
  }
  return inside ? std::abs(Dot(p - x[0], n)) / Length(n) : least;
}

struct ForcedHit {
  double parameter = HUGE_VAL;
  uint32_t triangle = kNoTriangle;
  double margin = HUGE_VAL;  // least share by which a triangle before or at the hit is decided
};

// By volumes of tets; `margin` tells how near any line of the result is to an edge.
ForcedHit HitByForce(const StaticMeshView& mesh, const Vec3d& from, const Vec3d& to, bool backs) {
  ForcedHit hit;
  for (uint32_t t = 0; t < mesh.triangles.size(); ++t) {
    const auto x = Corners(mesh, t);
    const Vec3d n = Cross(x[1] - x[0], x[2] - x[0]);
    const double along = Dot(to - from, n);
    if (along == 0.0 || (!backs && along > 0.0)) continue;
    const double s = Dot(x[0] - from, n) / along;
    if (!(s >= 0.0 && s <= 1.0)) continue;
    const Vec3d p = from + s * (to - from);
    double least = HUGE_VAL;
    for (size_t k = 0; k < 3; ++k) {
      least = std::min(least, Dot(Cross(x[(k + 1) % 3] - x[k], p - x[k]), n) / Dot(n, n));
    }
    hit.margin = std::min(hit.margin, std::abs(least));
    if (least >= 0.0 && s < hit.parameter) {
      hit.parameter = s;
      hit.triangle = t;
    }
  }
  return hit;
}

// Points in a box somewhat larger than the mesh's, and very near its vertices.
class Points {
 public:
  Points(const StaticMeshView& mesh, uint32_t seed) : mesh_(mesh), random_(seed) {}

  Vec3 Next() {
    std::uniform_real_distribution<float> share(-0.3f, 1.3f), unit(-1.0f, 1.0f);
    const Vec3 low = mesh_.grid.low, high = mesh_.grid.high;
    const Vec3 size = {high.x - low.x, high.y - low.y, high.z - low.z};
    if (random_() % 2 == 0) {
      return {low.x + share(random_) * size.x, low.y + share(random_) * size.y,
              low.z + share(random_) * size.z};
    }
    const Vec3 v = mesh_.positions[random_() % mesh_.positions.size()];
    const float near = 0.03f * size.x;
    return {v.x + near * unit(random_), v.y + near * unit(random_), v.z + near * unit(random_)};
  }

 private:
  const StaticMeshView& mesh_;
  std::mt19937 random_;
};

void CompareNearest(const StaticMeshView& mesh, uint32_t seed, int count) {
  CAPTURE(seed);
  Points points(mesh, seed);
  int by_feature[3] = {};
  for (int i = 0; i < count; ++i) {
    const Vec3 p = points.Next();
    double least = HUGE_VAL;
    for (uint32_t t = 0; t < mesh.triangles.size(); ++t) {
      least = std::min(least, DistanceToTriangle(Double(p), Corners(mesh, t)));
    }
    const StaticNearest found = NearestOfStaticMesh(mesh, p, INFINITY);
    CAPTURE(i, p.x, p.y, p.z, least);
    REQUIRE(found.valid());
    REQUIRE(found.distance == Approx(least).epsilon(1e-6).margin(1e-9));
    const auto x = Corners(mesh, found.triangle);
    const Vec3 w = found.barycentrics;
    const Vec3d on = double(w.x) * x[0] + double(w.y) * x[1] + double(w.z) * x[2];
    const double rounding = 1e-6 * (1.0 + Length(Double(p)));
    REQUIRE(Length(on - Double(found.point)) < rounding);
    REQUIRE(Length(on - Double(p)) == Approx(least).margin(rounding));
    REQUIRE(NearestOfStaticMesh(mesh, p, float(0.999 * least)).valid() == false);
    REQUIRE(NearestOfStaticMesh(mesh, p, float(1.001 * least) + 1e-6f).valid());
    ++by_feature[static_cast<int>(found.feature)];
  }
  for (const int number : by_feature) CHECK(number > 0);
}

void CompareSides(const SurfaceMesh& surface, uint32_t seed, int count) {
  CAPTURE(seed);
  const StaticSubject subject(surface);
  REQUIRE(subject.mesh().sides == MeshSides::kSolid);
  SurfaceMesh rounded = surface;
  for (Vec3d& p : rounded.positions) p = tools::RoundToFloat(p);
  tools::FindingList findings;
  const tools::InsideTest inside(tools::MakeSolidSurface(rounded, &findings));
  Points points(subject.mesh(), seed);
  int behind[3] = {};
  for (int i = 0; i < count; ++i) {
    const Vec3 p = points.Next();
    const StaticNearest found = NearestOfStaticMesh(subject.mesh(), p, INFINITY);
    CAPTURE(i, p.x, p.y, p.z, int(found.feature), found.distance);
    REQUIRE(found.behind == inside.IsInside(Double(p)));
    behind[static_cast<int>(found.feature)] += found.behind ? 1 : 0;
  }
  CHECK(behind[0] > 0);
}

void CompareHits(const StaticMeshView& mesh, uint32_t seed, int count) {
  CAPTURE(seed);
  Points points(mesh, seed);
  int hits = 0, decided = 0;
  for (int i = 0; i < count; ++i) {
    const Vec3 from = points.Next(), to = points.Next();
    for (const MeshSides sides : {MeshSides::kBoth, MeshSides::kFront}) {
      const ForcedHit force = HitByForce(mesh, Double(from), Double(to), sides == MeshSides::kBoth);
      if (force.margin < 1e-7) continue;  // through an edge
      ++decided;
      const StaticHit hit = RaycastStaticMesh(mesh, from, to, sides);
      CAPTURE(i, from.x, from.y, from.z, to.x, to.y, to.z, force.parameter, force.triangle);
      REQUIRE(hit.valid() == (force.triangle != kNoTriangle));
      if (!hit.valid()) continue;
      ++hits;
      REQUIRE(hit.parameter == Approx(force.parameter).epsilon(1e-9).margin(1e-12));
      const auto x = Corners(mesh, hit.triangle);
      const Vec3d n = Cross(x[1] - x[0], x[2] - x[0]);
      REQUIRE(hit.front == (Dot(Double(to) - Double(from), n) < 0.0));
      const Vec3 w = hit.barycentrics;
      const Vec3d on = double(w.x) * x[0] + double(w.y) * x[1] + double(w.z) * x[2];
      const Vec3d at = Double(from) + hit.parameter * (Double(to) - Double(from));
      REQUIRE(Length(on - at) < 1e-6 * (1.0 + Length(at)));
    }
  }
  CHECK(decided > count);
  CHECK(hits > count / 20);
}

TEST_CASE("The nearest point of a static mesh is that of brute force") {
  const uint32_t seed = GENERATE(1u, 2u, 3u);
  const StaticSubject soup(MakeTriangleSoup(200, 0.3, seed));
  CompareNearest(soup.mesh(), seed, 300);
  const StaticSubject far(Moved(MakeTriangleSoup(200, 0.3, seed), 3000.0));
  CompareNearest(far.mesh(), seed, 300);
}

TEST_CASE("The side of the nearest point is that of the winding number") {
  const uint32_t seed = GENERATE(1u, 2u);
  CompareSides(MakeBox({-0.5, -0.2, -0.1}, {0.5, 0.2, 0.1}), seed, 1000);
  CompareSides(MakeSphere(1.0, 6, 7), seed, 1000);
  CompareSides(MakeTorus(1.0, 0.3, 9, 5), seed, 1000);
  CompareSides(Moved(MakeTorus(1.0, 0.3, 9, 5), 100.0), seed, 1000);
}

TEST_CASE("The side of a point near a spike needs the angles at its vertex") {
  // Six narrow triangles on one side, one wide one on the other: the plain mean is wrong.
  SurfaceMesh spike;
  spike.positions = {{0.0, 1.0, 0.0},  {-1.0, 0.0, -0.02}, {1.0, 0.0, -0.02}, {0.9, 0.0, 0.02},
                     {0.5, 0.0, 0.03}, {0.0, 0.0, 0.035},  {-0.5, 0.0, 0.03}, {-0.9, 0.0, 0.02}};
  for (uint32_t k = 1; k < 8; ++k) spike.triangles.push_back({0, k % 7 + 1, k});
  for (uint32_t k = 2; k < 7; ++k) spike.triangles.push_back({1, k, k + 1});
  plush::tests::CompleteMesh(&spike);
  tools::FindingList findings;
  const tools::SolidSurface solid = tools::MakeSolidSurface(spike, &findings);  // faces outwards
  REQUIRE(solid.closed);
  spike.positions = solid.points;
  spike.triangles = solid.triangles;
  plush::tests::CompleteMesh(&spike);
  CompareSides(spike, 5, 3000);
}

TEST_CASE("A line hits the triangle of a static mesh that brute force finds") {
  const uint32_t seed = GENERATE(1u, 2u, 3u);
  CompareHits(StaticSubject(MakeTriangleSoup(200, 0.3, seed)).mesh(), seed, 300);
  CompareHits(StaticSubject(MakeOpenBox({0.0, 0.0, 0.0}, {1.0, 2.0, 3.0})).mesh(), seed, 300);
  CompareHits(StaticSubject(Moved(MakeTorus(1.0, 0.3, 30, 20), 1000.0)).mesh(), seed, 300);
}

TEST_CASE("No line passes between the triangles of a closed static mesh") {
  const StaticSubject subject(MakeSphere(1.0, 12, 17));
  const StaticMeshView& mesh = subject.mesh();
  std::mt19937 random(9);
  for (int i = 0; i < 3000; ++i) {
    // From inside, exactly through a vertex or the rounded middle of an edge.
    const auto& t = mesh.triangles[random() % mesh.triangles.size()];
    const Vec3 a = mesh.positions[t.vertices[0]], b = mesh.positions[t.vertices[random() % 2]];
    const Vec3 m = {0.5f * (a.x + b.x), 0.5f * (a.y + b.y), 0.5f * (a.z + b.z)};
    const Vec3 from = {0.1f, 0.2f, -0.1f};
    const Vec3 to = {from.x + 3.0f * (m.x - from.x), from.y + 3.0f * (m.y - from.y),
                     from.z + 3.0f * (m.z - from.z)};
    CAPTURE(i, to.x, to.y, to.z);
    REQUIRE(RaycastStaticMesh(mesh, from, to, MeshSides::kBoth).valid());
    REQUIRE_FALSE(RaycastStaticMesh(mesh, from, to, MeshSides::kFront).valid());
    REQUIRE(RaycastStaticMesh(mesh, to, from, MeshSides::kFront).valid());
  }
  CHECK_FALSE(RaycastStaticMesh(mesh, {}, {}, MeshSides::kBoth).valid());
}

TEST_CASE("Queries of models agree with brute force") {
  const std::string path = plush::tests::TestModelOrSkip("armadillo_1k.obj");
  if (path.empty()) return;
  const SurfaceMesh armadillo = ReadObj(path);
  const StaticSubject subject(armadillo);
  CompareNearest(subject.mesh(), 4, 500);
  CompareHits(subject.mesh(), 4, 300);
  CompareSides(armadillo, 4, 3000);
}

}  // namespace static_mesh_query_test

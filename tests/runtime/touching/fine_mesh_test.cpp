// SPDX-License-Identifier: MIT
// What a search looks at on a fine mesh, against all triangles one by one.
#include "base/vector_math.h"
#include "colliders/plane_above.h"
#include "runtime/collision/static_meshes.h"
#include "runtime/collision/surface_fixtures.h"
#include "sweep.h"
#include "touching/face_search.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <optional>

using namespace plush;
using namespace plush::test;

namespace fine_mesh_test {

constexpr float kReach = 0.2f, kSlop = 1.0e-3f;

// Hills of `cells` x `cells` squares, 2 m wide, with holes between some.
SurfaceMesh Hills(uint32_t cells, double rough, bool has_holes, Random* random) {
  const double size = 2.0 / cells;
  const auto at = [&](uint32_t column, uint32_t row) {
    const double x = size * column - 1.0, z = size * row - 1.0;
    const double y = 0.1 * std::sin(3.0 * x) * std::cos(4.0 * z);
    return Vec3d{x, y + rough * size * random->Uniform(0.0, 1.0), z};
  };
  return MakeSheet(cells, at, [&] { return !has_holes || random->Below(5) != 0; });
}

constexpr uint32_t kFlatCells = 30;
// A flat square of cells from (offset, 0, offset) on.
SurfaceMesh Flat(double cell, double offset) {
  return MakeSheet(kFlatCells, [&](uint32_t column, uint32_t row) {
    return Vec3d{cell * column + offset, 0.0, cell * row + offset};
  });
}

// Plates with open borders that face anywhere.
SurfaceMesh Plates(Random* random) {
  SurfaceMesh plates;
  for (uint32_t plate = 0; plate < 120; ++plate) {
    const Eigen::Vector3d at = random->Vector(1.0), u = random->Vector(0.2),
                          v = random->Vector(0.2);
    for (const Eigen::Vector3d& corner :
         {at, Eigen::Vector3d(at + u), Eigen::Vector3d(at + v), Eigen::Vector3d(at + u + v)}) {
      plates.positions.push_back({corner.x(), 0.4 * corner.y(), corner.z()});
    }
    plates.triangles.push_back({4 * plate, 4 * plate + 1, 4 * plate + 2});
    plates.triangles.push_back({4 * plate + 2, 4 * plate + 1, 4 * plate + 3});
  }
  plush::tests::CompleteMesh(&plates);
  return plates;
}

// A fine mesh as a collider, and a search without a list.
struct OnMesh {
  OnMesh(const SurfaceMesh& surface, std::optional<MeshSides> sides, Random* random)
      : subject(surface, sides) {
    patches.reset(MakeFacePatches(DefaultAllocator(), subject.mesh()));
    REQUIRE(patches != nullptr);
    source.mesh = &subject.mesh();
    source.code = &kTriangleCode;
    source.patches = patches.get();
    ground.is_solid = true;
    ground.mesh.source = &source;
    ground.mesh.unit = random->Uniform(0.5, 2.0);
    for (double& at : ground.mesh.anchor) at = random->Uniform(-0.3, 0.3);
    problem.slop = problem.rise = kSlop;
    problem.reach = 2.0f * kReach;
  }
  ~OnMesh() { DeleteObject(DefaultAllocator(), patches.release()); }

  const ColliderMesh& mesh() const { return ground.mesh; }
  // A point above or below the mesh.
  Vec3 PointNear(Random* random) const {
    const auto place = [&](double x, int axis) {
      return static_cast<float>((x - mesh().anchor[axis]) * mesh().unit);
    };
    const double x = random->Uniform(-1.1, 1.1), z = random->Uniform(-1.1, 1.1);
    const double y = 0.1 * std::sin(3.0 * x) * std::cos(4.0 * z) + random->Uniform(-0.3, 0.3);
    return {place(x, 0), place(y, 1), place(z, 2)};
  }
  NearestPoint Nearest(const Vec3& at, float reach, const Vec3* front) const {
    NearestFace search(at, reach, front, source.has_two_sides());
    for (uint32_t t = 0; t < source.num_triangles(); ++t) search.Visit(mesh().Face(2 * t));
    return search.nearest();
  }
  // What Meet finds.
  MeshHit Hit(const MeshWay& way, const Vec3& inside, float depth) const {
    const bool has_two_sides = source.has_two_sides();
    WayToMesh crossing(way.from, way.to, has_two_sides ? &inside : nullptr, depth, problem.flush);
    const MeshBox box = {LowerOf(way.from, way.to), UpperOf(way.from, way.to)};
    for (uint32_t t = 0; t < source.num_triangles(); ++t) {
      const MeshFace face = mesh().Face(2 * t);
      if (BoxAround(face.corners).Overlaps(box)) crossing.Visit(face);
    }
    MeshHit hit = crossing.hit();
    if (hit.face != kNoTriangle || has_two_sides) return hit;
    const NearestPoint at_end = Nearest(way.to, kReach, nullptr);
    if (at_end.face != kNoTriangle && at_end.gap >= 0.0f) return hit;
    const NearestPoint at_start = Nearest(way.from, kReach, nullptr);
    if (at_start.face == kNoTriangle || at_start.gap >= 0.0f) return hit;
    return {at_start.face, at_start.gap, at_start.gap + Dot(at_start.normal, way.to - way.from)};
  }

  StaticSubject subject;
  std::unique_ptr<FacePatches> patches;
  TriangleSource source;
  LocalCollider ground;
  ContactProblem problem;
};

// A random scene: coarse or fine hills, smooth or rough, with or without holes, or plates; of one
// side or both.
std::unique_ptr<OnMesh> SceneOf(uint32_t seed, Random* random) {
  const uint32_t cells = seed % 3 == 0 ? 4 : 40;
  const std::optional<MeshSides> sides =
      seed % 4 == 0 ? std::optional(MeshSides::kBoth) : std::optional<MeshSides>();
  if (seed % 5 < 2) return std::make_unique<OnMesh>(Plates(random), sides, random);
  const double rough = seed % 2 == 0 ? 0.0 : random->Uniform(0.0, 0.6);
  return std::make_unique<OnMesh>(Hills(cells, rough, seed % 5 == 4, random), sides, random);
}

// Mostly about as far away as it may be.
Vec3 Beside(const Vec3& at, double most, Random* random) {
  const Eigen::Vector3d way = random->Vector(1.0);
  return at +
         ToVec3(way / std::fmax(way.norm(), 1e-6) * most * std::cbrt(random->Uniform(0.0, 1.0)));
}

TEST_CASE("A way meets the same triangle of a fine mesh as among all of them") {
  size_t hits = 0, clear = 0, clear_ways = 0;
  const uint32_t count = tests::SweepCount(40u);
  for (uint32_t seed = 1; seed <= count; ++seed) {
    Random random(seed);
    const auto scene = SceneOf(seed, &random);
    const NearMesh no_list;
    const NearMeshTet tet;
    const FaceSearch search(scene->problem, scene->ground, no_list, tet);
    for (int k = 0; k < 60; ++k) {
      CAPTURE(seed, k);
      const Vec3 from = scene->PointNear(&random);
      const MeshWay way = {from, Beside(from, k % 3 == 0 ? 0.5 : 0.02, &random)};
      const Vec3 inside = Beside(from, 0.05, &random);
      const float depth = k % 2 == 0 ? 1.0e-6f : 1.0e-3f;
      const MeshMeeting meeting = search.Meet(way, inside, depth);
      const MeshHit expected = scene->Hit(way, inside, depth);
      CHECK(meeting.hit.face == expected.face);
      CHECK(meeting.hit.gap == expected.gap);
      hits += expected.face != kNoTriangle ? 1 : 0;
      if (scene->source.has_two_sides()) continue;
      // Within clearances, nothing is met, or nothing deep.
      const auto is_met = [&](const MeshWay& other) {
        const MeshHit hit = scene->Hit(other, inside, depth);
        return hit.face != kNoTriangle && hit.gap + AllowedDepth(hit.start_gap, kSlop) < -depth;
      };
      const Clearance& clearance = meeting.clearance;
      CHECK(clearance.of_way <= clearance.of_end);
      for (int move = 0; move < 10; ++move) {
        if (clearance.of_end > 0.0f) {
          const double most = 0.499 * double(clearance.of_end);
          CHECK_FALSE(is_met({Beside(way.to, most, &random), Beside(way.to, most, &random)}));
          ++clear;
        }
        if (clearance.of_way > 0.0f) {
          const double most = 0.499 * double(clearance.of_way);
          CHECK_FALSE(is_met({Beside(way.from, most, &random), Beside(way.to, most, &random)}));
          ++clear_ways;
        }
      }
    }
  }
  CHECK(hits > 7 * count);
  CHECK(clear > 25 * count);
  CHECK(clear_ways > 25 * count);
}

// Boxes of small triangles far from the origin are as small as the rounding there.
TEST_CASE("Ways through edges and corners of a flat fine mesh meet it, far from its origin, too",
          "[long]") {
  const double cell = GENERATE(0.001, 0.01, 0.1), offset = GENERATE(0.0, 0.7, 5.0, 30.0);
  CAPTURE(cell, offset);
  Random random(7);
  OnMesh scene(Flat(cell, offset), MeshSides::kFront, &random);
  std::fill_n(scene.ground.mesh.anchor, 3, 0.0);
  scene.ground.mesh.unit = 1.0;
  const NearMesh no_list;
  const NearMeshTet tet;
  const FaceSearch search(scene.problem, scene.ground, no_list, tet);
  uint32_t hits = 0;
  for (int k = 0; k < 1000; ++k) {
    CAPTURE(k);
    const uint32_t column = 1 + random.Below(kFlatCells - 1),
                   row = 1 + random.Below(kFlatCells - 1);
    const double along = k % 2 == 0 ? 0.0 : random.Uniform(0.1, 0.9);
    MeshWay way;
    way.from = ToVec3({cell * column + offset, 0.0, cell * (row + along) + offset});
    way.to = way.from;
    way.from.y = random.Uniform(1e-5, 1e-2);
    way.to.y = -random.Uniform(1e-5, 1e-3);
    if (k % 3 == 0) way.from.z += random.Uniform(-0.01, 0.01);
    const MeshHit hit = search.Meet(way, way.from, 1.0e-6f).hit;
    CHECK(hit.face == scene.Hit(way, way.from, 1.0e-6f).face);
    hits += hit.face != kNoTriangle ? 1 : 0;
  }
  CHECK(hits > 900);  // some ways end beside the mesh
}

// The list of a coarser mesh holds it no more.
TEST_CASE("A point right in front of a mesh with two sides, of a body behind it, may leave") {
  Random random(8);
  OnMesh scene(Flat(0.01, 0.0), MeshSides::kBoth, &random);
  std::fill_n(scene.ground.mesh.anchor, 3, 0.0);
  scene.ground.mesh.unit = 1.0;
  scene.problem.flush = 1.0e-4f;
  const NearMesh no_list;
  const NearMeshTet tet;
  const FaceSearch search(scene.problem, scene.ground, no_list, tet);
  const Vec3 inside = {0.153f, -0.05f, 0.152f};
  const MeshWay leaves = {{0.153f, 6.0e-5f, 0.152f}, {0.153f, 2.5e-4f, 0.152f}};
  CHECK(search.Meet(leaves, inside, 1.0e-6f).hit.face == kNoTriangle);
  const MeshWay comes = {{0.153f, -6.0e-5f, 0.152f}, {0.153f, 2.5e-4f, 0.152f}};
  CHECK(search.Meet(comes, inside, 1.0e-6f).hit.face != kNoTriangle);
}

TEST_CASE("The nearest triangle of a fine mesh is that of all of them") {
  size_t found = 0;
  for (uint32_t seed = 1; seed <= 40; ++seed) {
    Random random(seed);
    const auto scene = SceneOf(seed, &random);
    for (int k = 0; k < 60; ++k) {
      CAPTURE(seed, k);
      const Vec3 at = scene->PointNear(&random), front = ToVec3(random.Vector(1.0));
      const float reach = k % 3 == 0 ? 2.0f : kReach;
      const Vec3* const facing = k % 2 == 0 ? &front : nullptr;
      const NearestPoint expected = scene->Nearest(at, reach, facing);
      const NearestPoint nearest = scene->mesh().FindNearest(at, reach, facing);
      CHECK(nearest.face == expected.face);
      CHECK(nearest.distance == expected.distance);
      CHECK(nearest.gap == expected.gap);
      found += expected.face != kNoTriangle ? 1 : 0;
    }
  }
  CHECK(found > 1000);
}

TEST_CASE("Patches bound their triangles, and have all ridges") {
  size_t num_ridges = 0, num_flat = 0;
  for (uint32_t seed = 1; seed <= 20; ++seed) {
    CAPTURE(seed);
    Random random(seed);
    const auto scene = SceneOf(seed, &random);
    const StaticMeshView& view = scene->subject.mesh();
    uint32_t size = FacePatches::kTriangles;
    for (uint32_t above = 0; above < FacePatches::kLevels; ++above, size *= kStaticChildren) {
      const auto patches = scene->patches->Level(above);
      REQUIRE(patches.size() == (view.triangles.size() + size - 1) / size);
      for (uint32_t t = 0; t < view.triangles.size(); ++t) {
        const FacePatch& patch = patches[t / size];
        const auto corners = CornersOf(view, t);
        const Vec3 normal = Cross(corners[1] - corners[0], corners[2] - corners[0]);
        CHECK(Dot(patch.normal, normal) >= patch.cosine * Length(normal));
        for (const Vec3& corner : corners) {
          const Vec3 from_middle = corner - patch.middle;
          CHECK(std::fabs(from_middle.x) <= patch.half.x);
          CHECK(std::fabs(from_middle.y) <= patch.half.y);
          CHECK(std::fabs(from_middle.z) <= patch.half.z);
          CHECK(Dot(patch.normal, from_middle) <= patch.height);
        }
      }
    }
    for (uint32_t t = 0; t < view.triangles.size(); ++t) {
      for (int k = 0; k < 3; ++k) {
        Ridge ridge;
        if (!FindRidge(scene->mesh(), scene->mesh().Face(2 * t), k, &ridge)) continue;
        CHECK(scene->patches->MayHaveRidges(t));
        ++num_ridges;
      }
      num_flat += scene->patches->MayHaveRidges(t) ? 0 : 1;
    }
  }
  CHECK(num_ridges > 1000);
  CHECK(num_flat > 1000);
}

TEST_CASE("All triangles of a fine mesh in a box are below the plane above them") {
  size_t found = 0;
  double excess = 0.0;
  for (uint32_t seed = 1; seed <= 40; ++seed) {
    Random random(seed);
    const auto scene = SceneOf(seed, &random);
    const ColliderMesh& mesh = scene->mesh();
    for (int k = 0; k < 20; ++k) {
      CAPTURE(seed, k);
      const Vec3 at = scene->PointNear(&random), half = ToVec3(random.Vector(0.3).cwiseAbs());
      const MeshBox box = {at - half, at + half};
      const PlaneAbove plane = FindPlaneAbove(mesh, box, 0.2f);
      if (IsZero(plane.normal)) continue;
      float highest = std::numeric_limits<float>::lowest();
      for (uint32_t t = 0; t < scene->source.num_triangles(); ++t) {
        const MeshFace face = mesh.Face(2 * t);
        if (!BoxAround(face.corners).Overlaps(box)) continue;
        CHECK(Dot(plane.normal, face.normal) >= 0.199f);
        for (const Vec3& corner : face.corners) {
          highest = std::fmax(highest, Dot(plane.normal, corner));
        }
      }
      if (!(highest > std::numeric_limits<float>::lowest())) continue;
      CHECK(highest <= plane.offset);
      excess += double(plane.offset - highest);
      ++found;
    }
  }
  CHECK(found > 200);
  CHECK(excess / double(found) < 1e-2);
}

}  // namespace fine_mesh_test

// SPDX-License-Identifier: MIT
// Among long triangles, whose boxes hold the whole body, only those that come near it cost work.
#include "base/vector_math.h"
#include "colliders/triangle_box.h"
#include "runtime/collision/static_meshes.h"
#include "runtime/collision/surface_fixtures.h"
#include "touching/sunk_points.h"

#include <catch2/catch.hpp>

#include <cmath>
#include <tuple>
#include <vector>

using namespace plush;
using namespace plush::test;

namespace near_mesh_test {

// Whether a triangle has a point in a box: what the box's six planes leave of it.
bool MeetsBox(std::vector<Eigen::Vector3d> polygon, const Eigen::Vector3d& low,
              const Eigen::Vector3d& high) {
  for (int side = 0; side < 6; ++side) {
    const int axis = side / 2;
    const auto inside = [&](const Eigen::Vector3d& p) {
      return side % 2 == 0 ? p[axis] - low[axis] : high[axis] - p[axis];
    };
    std::vector<Eigen::Vector3d> kept;
    for (size_t k = 0; k < polygon.size(); ++k) {
      const Eigen::Vector3d &a = polygon[k], &b = polygon[(k + 1) % polygon.size()];
      const double of_a = inside(a), of_b = inside(b);
      if (of_a >= 0.0) kept.push_back(a);
      if ((of_a >= 0.0) != (of_b >= 0.0)) kept.push_back(a + (b - a) * (of_a / (of_a - of_b)));
    }
    polygon = kept;
  }
  return !polygon.empty();
}

// A floor, y = 0, and walls that lean outwards, of two triangles each, 4 m wide. Their boxes hold
// all that is between them.
SurfaceMesh Room() {
  SurfaceMesh room;
  for (const double up : {0.0, 20.0}) {
    const double half = 2.0 + 0.3 * up;
    for (int corner = 0; corner < 4; ++corner) {
      const Eigen::Vector3d at(corner % 3 == 0 ? -half : half, up, corner < 2 ? -half : half);
      const Eigen::Vector3d turned = Eigen::AngleAxisd(0.6, Eigen::Vector3d::UnitY()) * at;
      room.positions.push_back({turned.x(), turned.y(), turned.z()});
    }
  }
  const auto add_quad = [&](uint32_t a, uint32_t b, uint32_t c, uint32_t d) {
    room.triangles.push_back({a, b, c});
    room.triangles.push_back({a, c, d});
  };
  add_quad(0, 3, 2, 1);
  for (uint32_t k = 0; k < 4; ++k) add_quad(k, (k + 1) % 4, (k + 1) % 4 + 4, k + 4);
  plush::tests::CompleteMesh(&room);
  return room;
}

bool IsKnown(const void*, const SunkPoint&) { return false; }

// A body in a room, and a search.
struct InRoom {
  InRoom() : room(Room()), body(TetBox(4, 3, 3, 0.1), {.parts = 3}) {
    source.mesh = &room.mesh();
    source.code = &kTriangleCode;
    ground.is_solid = true;
    ground.mesh.source = &source;
    ground.end.rotation = RotationMatrix(Quat{0.0f, 0.0f, 0.0f, 1.0f});
    ground.start = ground.end;
    x.assign(body.x().begin(), body.x().end());
    y = ToNodeVecs(x);
    pinned.assign(x.size(), 0);
  }

  void MoveBy(const Vec3& way) {
    for (size_t i = 0; i < x.size(); ++i) {
      x[i] = Vec3(y[i]);
      y[i] = x[i] + way;
    }
  }
  ContactProblem Problem() {
    return {.colliders = {&ground, 1},
            .surface = {&body.surface(), pinned},
            .x = x,
            .y = y,
            .slop = 1.0e-4f,
            .rise = 1.0e-4f,
            .reach = 0.03f};
  }

  StaticSubject room;
  SurfaceBody body;
  TriangleSource source;
  LocalCollider ground;
  std::vector<Vec3> x;
  std::vector<NodeVec> y;
  std::vector<uint8_t> pinned;
};

TEST_CASE("A triangle meets a box if a part of it is left inside") {
  int meeting = 0, boxes_meet = 0, ridges_meet = 0;
  for (uint32_t seed = 1; seed <= 20000; ++seed) {
    CAPTURE(seed);
    Random random(seed);
    // Also long ones, slivers and points.
    const double length = std::exp(random.Uniform(-2.0, 7.0)), width = random.Uniform(0.0, 1.0);
    const Eigen::Vector3d a = random.Vector(std::fmin(length, 2.0)), along = random.Vector(length);
    const double at = random.Uniform(-1.0, 0.0);
    Vec3 corners[3] = {ToVec3(a + at * along), ToVec3(a + (1.0 + at) * along),
                       ToVec3(a + random.Vector(seed % 5 == 0 ? 1e-6 : width * length))};
    const Eigen::Vector3d middle = random.Vector(1.0), half = random.Vector(0.5).cwiseAbs();
    const Vec3 normal = Cross(corners[1] - corners[0], corners[2] - corners[0]);
    const float area = Length(normal);
    const Vec3 unit = area > 0.0f ? normal * (1.0f / area) : Vec3{};
    const bool may_meet = MayMeetBox(corners, unit, ToVec3(middle - half), ToVec3(middle + half));
    // A ridge meets a box as a triangle without a width does.
    const NearMesh::Box box = {ToVec3(middle - half), ToVec3(middle + half)};
    const Vec3 edge[3] = {corners[0], corners[1], corners[1]};
    const Vec3 ends[2] = {corners[0], corners[1]};
    const bool ridge_meets = MayMeetBox(ends, box);
    CHECK(ridge_meets == MayMeetBox(edge, {}, box.low, box.high));
    ridges_meet += ridge_meets ? 1 : 0;
    std::vector<Eigen::Vector3d> triangle;
    for (const Vec3& corner : corners) triangle.push_back(ToEigen(corner));
    const auto meets = [&](double room) {
      const Eigen::Vector3d more = half + Eigen::Vector3d::Constant(room);
      return MeetsBox(triangle, middle - more, middle + more);
    };
    if (meets(0.0)) CHECK(may_meet);
    if (!meets(1e-4 + 3e-5 * length)) CHECK_FALSE(may_meet);
    meeting += may_meet ? 1 : 0;
    bool boxes = true;
    for (int k = 0; k < 3; ++k) {
      const double of[3] = {triangle[0][k], triangle[1][k], triangle[2][k]};
      boxes = boxes && *std::min_element(of, of + 3) <= middle[k] + half[k] &&
              *std::max_element(of, of + 3) >= middle[k] - half[k];
    }
    boxes_meet += boxes ? 1 : 0;
  }
  CHECK(meeting > 1000);
  CHECK(boxes_meet > meeting + 1000);
  CHECK(ridges_meet > 300);
}

TEST_CASE("A triangle that touches a box meets it, whatever the rounding") {
  for (uint32_t seed = 1; seed <= 20000; ++seed) {
    CAPTURE(seed);
    Random random(seed);
    const double away = random.Uniform(0.1, 1.0);  // the origin is near the body
    const Eigen::Vector3d middle = random.Vector(away), half = random.Vector(0.5).cwiseAbs();
    const Vec3 low = ToVec3(middle - half), high = ToVec3(middle + half);
    // A corner of the box is one of the triangle's, and the others are beyond it along each axis.
    Vec3 corners[3] = {high, high, high};
    for (int k = 1; k < 3; ++k) {
      const Vec3 beyond = ToVec3(random.Vector(1.0).cwiseAbs());
      corners[k] = {high.x + beyond.x, high.y + beyond.y, high.z + beyond.z};
      if (seed % 2 == 0) corners[k].x = high.x;  // in the plane of a side
    }
    const Vec3 normal = Cross(corners[1] - corners[0], corners[2] - corners[0]);
    const float area = Length(normal);
    CHECK(MayMeetBox(corners, area > 0.0f ? normal * (1.0f / area) : Vec3{}, low, high));
    CHECK(MayMeetBox({corners[0], corners[1]}, NearMesh::Box{low, high}));
  }
}

TEST_CASE("Only the triangles that come near a tet are in its list") {
  InRoom scene;
  NearMesh near;
  const size_t num_tets = scene.body.surface().tets.size();
  REQUIRE(near.Allocate(DefaultAllocator(), num_tets, scene.x.size()));
  // High in the middle of the room there is nothing.
  scene.MoveBy({0.0f, 4.0f, 0.0f});
  scene.MoveBy({});
  const auto build = [&] {
    std::vector<Vec3> ends(scene.y.begin(), scene.y.end());
    near.Build(scene.Problem(), scene.ground, ends);
  };
  build();
  CHECK(near.tets().empty());
  // On the floor, its lowest tets have its two triangles.
  scene.MoveBy({0.0f, -4.0f, 0.0f});
  scene.MoveBy({});
  build();
  CHECK_FALSE(near.tets().empty());
  CHECK(2 * near.tets().size() < num_tets);
  for (const NearMeshTet& tet : near.tets()) {
    CHECK(tet.has_list);
    CHECK_FALSE(IsZero(tet.normal));
    near.ForFaces(tet, [&](const MeshFace& face, const NearMesh::Box&) {
      for (const Vec3& corner : face.corners) CHECK(std::fabs(corner.y) < 1e-5f);
    });
  }
}

TEST_CASE("A search with a list does not look at the mesh") {
  InRoom scene;
  const size_t num_tets = scene.body.surface().tets.size(), num_nodes = scene.x.size();
  SunkPoints remembering, fresh;
  for (SunkPoints* search : {&remembering, &fresh}) {
    REQUIRE(search->Allocate(DefaultAllocator(), num_tets, num_nodes, 1, 1000));
  }
  REQUIRE(remembering.ReserveMesh(DefaultAllocator(), num_tets, num_nodes));
  const auto find = [&](SunkPoints* search) {
    std::vector<std::tuple<uint32_t, uint32_t, float>> found;
    for (const SunkPoint& p : search->Find(scene.Problem(), {}, 1e-5f, IsKnown, nullptr)) {
      found.emplace_back(p.id, p.face, p.gap);
    }
    return found;
  };
  StaticMeshView empty = scene.room.mesh();
  empty.tree = {};
  empty.triangles = {};
  scene.MoveBy({0.1f, 1e-3f, 0.0f});
  scene.MoveBy({});
  find(&remembering);  // makes the list
  size_t num_found = 0;
  for (uint32_t step = 1; step <= 40; ++step) {
    Random random(step);
    scene.MoveBy(ToVec3(random.Vector(2e-3)));
    scene.source.mesh = &scene.room.mesh();
    const auto expected = find(&fresh);
    scene.source.mesh = &empty;
    CHECK(find(&remembering) == expected);
    num_found += expected.size();
  }
  CHECK(num_found > 100);
}

TEST_CASE("Neighbours of triangles pass their side the other way") {
  const std::vector<float> heights(4 * 5, 0.0f);
  const StaticSubject room(Room());
  TriangleSource field, mesh;
  field.field = {heights, 4, 5, 0.5f};
  mesh.mesh = &room.mesh();
  for (const TriangleSource* source : {&field, &mesh}) {
    const uint32_t count = source->num_triangles();
    uint32_t num_open = 0;
    for (uint32_t t = 0; t < count; ++t) {
      for (int k = 0; k < 3; ++k) {
        Vec3 own[3], others[3];
        source->Corners(t, own);
        const uint32_t other = source->Neighbour(t, k);
        CAPTURE(t, k, other);
        if (other == kNoTriangle) {
          ++num_open;
          continue;
        }
        REQUIRE(other < count);
        source->Corners(other, others);
        int shared = 0;
        for (int j = 0; j < 3; ++j) {
          shared +=
              IsZero(others[j] - own[(k + 1) % 3]) && IsZero(others[(j + 1) % 3] - own[k]) ? 1 : 0;
        }
        CHECK(shared == 1);
      }
    }
    CHECK(num_open == (source == &field ? 2u * (3 + 4) : 4u));
  }
}

}  // namespace near_mesh_test

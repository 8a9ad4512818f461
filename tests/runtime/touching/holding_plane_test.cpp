// SPDX-License-Identifier: MIT
// Which side of a solid holds a point inside a triangle.
#include "runtime/collision/surface_fixtures.h"
#include "runtime/tet_fixtures.h"
#include "touching/contact_problem.h"

#include <catch2/catch.hpp>

#include <vector>

using namespace plush;
using namespace plush::test;

// An iterate may be far off. Its end alone would choose the plate's upper side.
TEST_CASE("A triangle that touches a plate is held by that side, however far it moves") {
  const ShapeAsset shape(SurfaceBytes(TetBox(2, 2, 2, 0.1), {.parts = 2, .depth = 0.0}));
  const std::vector<uint8_t> pinned(shape.num_nodes(), 0);
  ContactProblem problem;
  problem.surface = {&shape.asset().collision(), pinned, {}, {}};
  const std::vector<NodeVec> x = ToNodeVecs(ToEigen(shape.rest()));
  problem.x = x;
  LocalCollider plate;
  plate.is_solid = true;
  constexpr float kHalf = 0.02f, kDepth = 1.0e-3f;
  plate.shape.box.half_extents = {1.0f, kHalf, 1.0f};
  plate.start.rotation = plate.end.rotation = ToMat3(Eigen::Matrix3d::Identity());
  for (uint32_t triangle = 0; triangle < problem.surface.collision->num_triangles(); ++triangle) {
    const uint32_t id =
        problem.surface.num_points() + TouchingSurface::kPointsPerTriangle * triangle;
    EmbeddedPoint highest = problem.surface.Point(id);
    problem.surface.ForCorners(id, [&](int, const EmbeddedPoint& corner) {
      if (corner.Of(problem.x).y > highest.Of(problem.x).y) highest = corner;
    });
    // The plate's lower side is a bit below the highest corner.
    plate.start.position =
        plate.end.position = {0.0f, highest.Of(problem.x).y + kHalf - kDepth, 0.0f};
    for (const float way : {0.0f, 0.5f * kHalf, 1.5f * kHalf, 3.0f * kHalf}) {
      CAPTURE(triangle, way);
      std::vector<NodeVec> y = x;
      for (NodeVec& node : y) node += Vec3{0.0f, way, 0.0f};
      problem.y = y;
      const HoldingPlane plane = problem.PlaneFor(plate, highest, {});
      CHECK(plane.normal.y < -0.99f);
    }
  }
}

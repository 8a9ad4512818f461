// SPDX-License-Identifier: MIT
// A place comes inside a body only if a triangle passes it.
#include "touching/passing_triangles.h"

#include "collision/surface_records.h"
#include "runtime/collision/surface_fixtures.h"

#include <catch2/catch.hpp>

#include <cmath>
#include <numbers>
#include <vector>

using namespace plush;
using namespace plush::test;

namespace passing_triangles_test {

// How often the surface of a body with these nodes goes round a place.
int WindingOf(const SurfaceBody& body, const std::vector<Vec3>& nodes, const Vec3& place) {
  const CollisionView& surface = body.surface();
  double sum = 0.0;
  for (uint32_t i = 0; i < surface.num_triangles(); ++i) {
    const CdgTet& tet = surface.tets[body.TetOf(i)];
    Eigen::Vector3d to[3];
    for (int k = 0; k < 3; ++k) {
      const Vec4& w = surface.vertices[body.Corner(i, k)];
      to[k] = ToEigen(nodes[tet.nodes[0]]) * double(w.x) +
              ToEigen(nodes[tet.nodes[1]]) * double(w.y) +
              ToEigen(nodes[tet.nodes[2]]) * double(w.z) +
              ToEigen(nodes[tet.nodes[3]]) * double(w.w) - ToEigen(place);
    }
    // [van Oosterom and Strackee 1983]
    const double a = to[0].norm(), b = to[1].norm(), c = to[2].norm();
    sum +=
        std::atan2(to[0].dot(to[1].cross(to[2])),
                   a * b * c + to[0].dot(to[1]) * c + to[1].dot(to[2]) * a + to[2].dot(to[0]) * b);
  }
  return static_cast<int>(std::lround(sum / (2.0 * std::numbers::pi)));
}

bool AnyPasses(const SurfaceBody& body, const std::vector<Vec3>& from, const std::vector<Vec3>& to,
               const Vec3& place) {
  bool passes = false;
  for (uint32_t t = 0; t < body.surface().tets.size(); ++t) {
    passes = passes || PassesPlace(body.surface(), t, from, to, place);
  }
  return passes;
}

TEST_CASE("A place comes inside a body if and only if a triangle passes it from its front",
          "[long]") {
  constexpr int kSamples = 60;
  int came = 0, went = 0, alarms = 0, moves = 0;
  for (uint32_t seed = 1; seed <= 30; ++seed) {
    CAPTURE(seed);
    Random random(seed);
    const SurfaceBody body(TetBox(2, 2, 1, 0.1, 0.08, seed),
                           {.parts = 2, .depth = 0.0, .num_shells = 0, .seed = seed});
    const std::vector<Vec3> rest(body.x().begin(), body.x().end());
    for (int move = 0; move < 8; ++move) {
      CAPTURE(move);
      // Bodies fly, turn and are torn, also inside out.
      const Eigen::Vector3d way = random.Vector(0.4), middle(0.1, 0.1, 0.05);
      const Eigen::Matrix3d turn = random.Rotation();
      const double wild = move % 2 == 0 ? 0.005 : 0.15;
      std::vector<Vec3> from = rest, to = rest;
      for (size_t i = 0; i < rest.size(); ++i) {
        from[i] = ToVec3(ToEigen(rest[i]) + random.Vector(wild));
        to[i] = ToVec3(turn * (ToEigen(rest[i]) - middle) + middle + way + random.Vector(wild));
      }
      for (int p = 0; p < 6; ++p) {
        const Vec3 place = ToVec3(middle + random.Uniform(0.0, 1.0) * way + random.Vector(0.1));
        int before = WindingOf(body, from, place);
        bool comes = false, goes = false;
        std::vector<Vec3> at = from;
        for (int sample = 1; sample <= kSamples; ++sample) {
          const double share = double(sample) / kSamples;
          for (size_t i = 0; i < at.size(); ++i) {
            at[i] = ToVec3(ToEigen(from[i]) + share * (ToEigen(to[i]) - ToEigen(from[i])));
          }
          const int now = WindingOf(body, at, place);
          comes = comes || now > before;
          goes = goes || now < before;
          before = now;
        }
        const bool passes = AnyPasses(body, from, to, place);
        CHECK((passes || !comes));
        CHECK((AnyPasses(body, to, from, place) || !goes));
        // Between two samples, a place may come and go. Of a body that keeps its shape, rarely.
        if (passes && !comes) ++alarms;
        came += comes ? 1 : 0;
        went += goes ? 1 : 0;
        ++moves;
      }
    }
  }
  INFO(came << " came inside, " << went << " went out, " << alarms << " alarms of " << moves);
  CHECK(came > moves / 10);
  CHECK(went > moves / 10);
  CHECK(alarms < moves / 20);
}

TEST_CASE("The core of a solid is inside it") {
  Random random(7);
  for (int i = 0; i < 200; ++i) {
    Solid solid;
    const auto size = [&] { return static_cast<float>(std::exp(random.Uniform(-6.0, 2.0))); };
    solid.box.half_extents = i % 3 == 0 ? Vec3{} : Vec3{size(), size(), size()};
    solid.box.radius = i % 3 == 1 ? 0.0f : size();
    if (i % 3 == 2) solid.box.half_extents.x = solid.box.half_extents.z = 0.0f;  // a capsule
    const SolidCore core(solid);
    REQUIRE(core.count >= 1);
    // As deep as the solid is thin, but for the middle of a cube.
    for (uint32_t k = 0; k < core.count; ++k) {
      CHECK(TangentAt(solid, core.points[k]).gap <= -0.999f * solid.Thinness());
    }
    // A rectangle has four sides, a segment one.
    CHECK(core.num_sides == (core.count == 5 ? 4 : core.count == 3 ? 1 : 0));
    for (uint32_t k = 0; k < core.num_sides; ++k) {
      const auto& [from, to] = core.sides[k];
      CHECK(Length(to - from) > 0.0f);
      for (const float share : {0.0f, 0.3f, 1.0f}) {
        const Vec3 at = from + (to - from) * share;
        CHECK(TangentAt(solid, at).gap <= -0.999f * solid.Thinness());
      }
    }
  }
}

}  // namespace passing_triangles_test

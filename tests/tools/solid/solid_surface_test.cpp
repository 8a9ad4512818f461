// SPDX-License-Identifier: MIT
// Orientation and clean-up of procedural surfaces: flipped, nested, double-sided, open.
#include "solid/solid_surface.h"

#include "solid/inside.h"
#include "tools/procedural_meshes.h"

#include <catch2/catch.hpp>

using namespace plush::tools;
using namespace plush::tests;

namespace solid_surface_test {

double SignedVolume(const SolidSurface& solid) {
  double volume = 0.0;
  for (const auto& [a, b, c] : solid.triangles) {
    volume += SixVolume({}, solid.points[a], solid.points[b], solid.points[c]) / 6.0;
  }
  return volume;
}

struct Made {
  SolidSurface solid;
  FindingList findings;
};

Made Make(const SurfaceMesh& mesh) {
  Made made;
  made.solid = MakeSolidSurface(mesh, &made.findings);
  return made;
}

TEST_CASE("A sound mesh is taken as it is") {
  const SurfaceMesh sphere = MakeSphere(1.0, 12, 18);
  const Made made = Make(sphere);
  CHECK(made.solid.closed);
  CHECK(made.solid.triangles.size() == sphere.triangles.size());
  CHECK(made.findings.all().empty());
  const Made exploded = Make(Exploded(sphere));
  CHECK(exploded.solid.closed);
  CHECK(exploded.solid.points.size() == sphere.positions.size());
}

TEST_CASE("Faces without area, and all but one of coincident faces, are removed") {
  SurfaceMesh mesh = MakeBox({0, 0, 0}, {1, 1, 1});
  const size_t sound = mesh.triangles.size();
  const auto first = mesh.triangles[0];
  mesh.triangles.push_back({first[1], first[2], first[0]});
  mesh.triangles.push_back({first[1], first[0], first[2]});
  mesh.triangles.push_back({0, 0, 1});
  mesh.positions.push_back({0.5, 0, 0});  // on the edge between corners 0 and 1
  mesh.triangles.push_back({0, 1, 8});
  mesh.normals.push_back({0, 1, 0});
  const Made made = Make(mesh);
  CHECK(made.solid.triangles.size() == sound);
  CHECK(made.solid.closed);
  CHECK(made.solid.source_triangle.back() == sound - 1);
}

TEST_CASE("A double-sided sphere is one sphere") {
  const SurfaceMesh front = MakeSphere(1.0, 12, 18);
  SurfaceMesh back = front;
  FlipTriangles(&back, 0, back.triangles.size());
  for (const SurfaceMesh& mesh : {Joined(front, back), Joined(back, front)}) {
    const Made made = Make(mesh);
    CHECK(made.solid.triangles.size() == front.triangles.size());
    CHECK(made.solid.closed);
    CHECK(SignedVolume(made.solid) == Approx(SignedVolume(Make(front).solid)));
  }
}

TEST_CASE("A half-flipped sphere is turned outwards") {
  SurfaceMesh mesh = MakeSphere(1.0, 12, 18);
  const double volume = SignedVolume(Make(mesh).solid);
  for (const size_t start : {size_t{0}, mesh.triangles.size() / 2}) {
    SurfaceMesh flipped = mesh;
    FlipTriangles(&flipped, start, mesh.triangles.size() / 2);
    const Made made = Make(flipped);
    CHECK(made.solid.closed);
    CHECK(SignedVolume(made.solid) == Approx(volume));
  }
}

TEST_CASE("Nested shells: the outer one is solid, an inward inner one is a cavity") {
  for (const bool outer_inward : {false, true}) {
    for (const bool inner_inward : {false, true}) {
      INFO("outer inward " << outer_inward << ", inner inward " << inner_inward);
      const Made made = Make(MakeNestedShells(outer_inward, inner_inward));
      const InsideTest inside(made.solid);
      CHECK(made.solid.closed);
      CHECK(inside.IsInside({0.75, 0, 0}));
      CHECK(inside.IsInside({0, 0, -0.75}));
      CHECK_FALSE(inside.IsInside({1.25, 0, 0}));
      CHECK(inside.IsInside({0.1, 0.1, 0}) == !inner_inward);
      CHECK(made.findings.Has("CAGE_CAVITY") == inner_inward);
      CHECK(made.findings.Has("CAGE_COMPONENT_FLIPPED") == outer_inward);
    }
  }
}

TEST_CASE("An inward component beside others, or across them, is flipped and no cavity") {
  SurfaceMesh inward = MakeBox({2, 0, 0}, {3, 1, 1});
  FlipTriangles(&inward, 0, inward.triangles.size());
  const SurfaceMesh outward = MakeBox({0, 0, 0}, {1, 1, 1});
  const Made beside = Make(Joined(outward, inward));
  CHECK(beside.findings.Has("CAGE_COMPONENT_FLIPPED"));
  CHECK_FALSE(beside.findings.Has("CAGE_CAVITY"));
  CHECK(SignedVolume(beside.solid) == Approx(2.0));
  SurfaceMesh across = MakeBox({0.9, 0.2, 0.2}, {3, 0.8, 0.8});
  FlipTriangles(&across, 0, across.triangles.size());
  CHECK_FALSE(Make(Joined(outward, across)).findings.Has("CAGE_CAVITY"));
}

TEST_CASE("A shell inside a cavity is solid again") {
  SurfaceMesh cavity = MakeSphere(0.7, 12, 18);
  FlipTriangles(&cavity, 0, cavity.triangles.size());
  const SurfaceMesh core = MakeSphere(0.3, 12, 18);
  const Made made = Make(Joined(Joined(MakeSphere(1.0, 12, 18), cavity), core));
  const InsideTest inside(made.solid);
  CHECK(inside.IsInside({0.85, 0, 0}));
  CHECK_FALSE(inside.IsInside({0.5, 0, 0}));
  CHECK(inside.IsInside({0.1, 0, 0}));
}

TEST_CASE("Sheets have no inside and are not turned") {
  const Made moebius = Make(MakeMoebiusStrip(1.0, 0.4, 48));
  CHECK_FALSE(moebius.solid.closed);
  SurfaceMesh triangle = {.positions = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}}};
  triangle.triangles = {{0, 2, 1}};
  CompleteMesh(&triangle);
  const Made made = Make(triangle);
  CHECK(made.findings.all().empty());
  CHECK(made.solid.triangles == triangle.triangles);
}

TEST_CASE("Nothing with area gives an empty solid") {
  SurfaceMesh mesh = {.positions = {{0, 0, 0}, {1, 0, 0}, {2, 0, 0}}};
  mesh.triangles = {{0, 1, 2}, {0, 0, 1}};
  CompleteMesh(&mesh);
  CHECK(Make(mesh).solid.triangles.empty());
  CHECK(Make(SurfaceMesh{}).solid.triangles.empty());
}

}  // namespace solid_surface_test

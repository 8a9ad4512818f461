// SPDX-License-Identifier: MIT
#include "lattice/cell_search.h"
#include "solid/solid_volume.h"
#include "tools/cage/cage_fixtures.h"
#include "tools/procedural_meshes.h"

#include <catch2/catch.hpp>

#include <cmath>

using namespace plush::tools;
using namespace plush::tests;

TEST_CASE("A turned box is the same box with no edge along an axis") {
  const Solid solid(MakeBox({10, 20, 30}, {11, 22, 33}));
  const SolidSurface turned = TurnedSurface(solid.surface);
  CHECK(SignedVolume(turned) == Approx(6.0));
  CHECK(Length(BoxOf(turned).Centre() - BoxOf(solid.surface).Centre()) < 1e-12);
  for (const auto& triangle : turned.triangles) {
    const Vec3d side = turned.points[triangle[1]] - turned.points[triangle[0]];
    const double length = Length(side);
    for (int axis = 0; axis < 3; ++axis) CHECK(std::abs(side[axis]) > 0.02 * length);
  }
}

TEST_CASE("A cage around a turned surface is turned back around the surface") {
  const Solid solid(MakeBox({10, 20, 30}, {11, 22, 33}));
  const SolidSurface turned = TurnedSurface(solid.surface);
  SplitCage cage = {.mesh = {.nodes = turned.points}};
  TurnBack(solid.surface, &cage);
  for (size_t i = 0; i < turned.points.size(); ++i) {
    CHECK(Length(cage.mesh.nodes[i] - solid.surface.points[i]) < 1e-5);
  }
  CHECK(cage.rest_nodes == cage.mesh.nodes);
}

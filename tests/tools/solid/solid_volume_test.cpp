// SPDX-License-Identifier: MIT
#include "solid/solid_volume.h"

#include "cage/lattice_cage.h"
#include "tools/procedural_meshes.h"

#include <catch2/catch.hpp>

using namespace plush::tools;
using namespace plush::tests;

namespace solid_volume_test {

constexpr double kPi = 3.14159265358979323846;

struct Measured {
  double volume = 0.0, cage_volume = 0.0;
  FindingList findings;
};

Measured Measure(const SurfaceMesh& mesh) {
  Measured out;
  const SolidSurface solid = MakeSolidSurface(mesh, &out.findings);
  const InsideTest inside(solid);
  const auto cage = BuildLatticeCage(solid, inside, {.fit = FitMethod::kNone}, &out.findings);
  REQUIRE(cage.ok());
  out.volume = SolidVolume(solid, inside, cage.value().mesh, &out.findings);
  out.cage_volume = CageVolume(cage.value().mesh);
  return out;
}

TEST_CASE("Closed simple solids have their exact volume") {
  const Measured box = Measure(MakeBox({0, 0, 0}, {1, 2, 3}));
  CHECK(box.volume == Approx(6.0).epsilon(1e-12));
  CHECK(box.findings.all().empty());
  CHECK(box.cage_volume > 6.0);
  // The polyhedron loses less than 1% of the sphere.
  CHECK(Measure(MakeSphere(1.0, 60, 90)).volume == Approx(4.0 / 3.0 * kPi).epsilon(0.01));
  CHECK(Measure(MakeTorus(1.0, 0.3, 90, 45)).volume ==
        Approx(2.0 * kPi * kPi * 0.09).epsilon(0.01));
}

TEST_CASE("Overlap counts once", "[long]") {
  const Measured boxes = Measure(MakeOverlappingBoxes());
  CHECK(boxes.volume == Approx(1.875).epsilon(0.01));
  CHECK(boxes.findings.Has("CAGE_OVERLAP"));
  const double outer = Measure(MakeSphere(1.0, 12, 18)).volume;
  const double inner = Measure(MakeSphere(0.5, 12, 18)).volume;
  CHECK(Measure(MakeNestedShells(false, false)).volume == Approx(outer).epsilon(0.01));
  CHECK(Measure(MakeNestedShells(false, true)).volume == Approx(outer - inner).epsilon(1e-9));
}

TEST_CASE("An open box is about full") {
  const Measured open = Measure(MakeOpenBox({0, 0, 0}, {1, 1, 1}));
  CHECK(open.volume > 0.75);
  CHECK(open.volume < 1.1);
  CHECK(open.findings.Has("CAGE_HOLE_CLOSED"));
}

TEST_CASE("Sheets are shells") {
  SurfaceMesh triangle = {.positions = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}}};
  triangle.triangles = {{0, 1, 2}};
  CompleteMesh(&triangle);
  SurfaceMesh sheet = MakeGridBox({0, 0, 0}, {2, 1, 1}, 4);
  sheet.triangles.resize(32);  // its first face
  sheet.parts.clear();
  CompleteMesh(&sheet);
  for (const SurfaceMesh& mesh : {triangle, sheet}) {
    const Measured shell = Measure(mesh);
    CHECK(shell.findings.Has("CAGE_SHELL"));
    CHECK_FALSE(shell.findings.Has("CAGE_HOLE_CLOSED"));
    CHECK(shell.volume < kShellShare * shell.cage_volume);
    CHECK(shell.cage_volume > 0.0);
  }
}

TEST_CASE("A one-sided band encloses next to nothing") {
  const Measured band = Measure(MakeMoebiusStrip(1.0, 0.2, 48));
  CHECK(band.volume < 0.05 * band.cage_volume);
  CHECK((band.findings.Has("CAGE_SHELL") || band.findings.Has("CAGE_HOLE_CLOSED")));
}

}  // namespace solid_volume_test

// SPDX-License-Identifier: MIT
// Each defect, made in a procedural mesh, has its finding, count and place.
#include "mesh/surface_checks.h"

#include "mesh/topology.h"
#include "tools/procedural_meshes.h"

#include <catch2/catch.hpp>

#include <set>

namespace surface_checks_test {

using plush::tests::FlipTriangles;
using plush::tests::Joined;
using plush::tests::MakeSphere;
using plush::tests::SixTimesVolume;
using plush::tools::Finding;
using plush::tools::FindingList;
using plush::tools::SurfaceMesh;
using Codes = std::set<std::string>;

FindingList Check(const SurfaceMesh& mesh) {
  FindingList findings;
  plush::tools::CheckSurface(mesh, {}, &findings);
  return findings;
}

Codes CodesOf(const FindingList& findings) {
  Codes codes;
  for (const Finding& finding : findings.all()) codes.insert(finding.code);
  return codes;
}

const Finding& Find(const FindingList& findings, const std::string& code) {
  for (const Finding& finding : findings.all()) {
    if (finding.code == code) return finding;
  }
  FAIL("no finding " << code);
  return findings.all().front();
}

TEST_CASE("Sound closed meshes have no findings") {
  for (const SurfaceMesh& mesh :
       {MakeSphere(1.0, 12, 18), plush::tests::MakeBox({0, 0, 0}, {1, 2, 3}),
        plush::tests::MakeTorus(1.0, 0.4, 20, 10)}) {
    CHECK(Check(mesh).all().empty());
    CHECK(SixTimesVolume(mesh) > 0.0);
  }
  const SurfaceMesh grid_box = plush::tests::MakeGridBox({0, 0, 0}, {1, 2, 3}, 5);
  CHECK(CodesOf(Check(grid_box)) == Codes{"SEAMS_WELDED"});
  CHECK(SixTimesVolume(grid_box) == Approx(36.0));
}

TEST_CASE("Corners without shared vertices do not open the surface") {
  const SurfaceMesh sphere = MakeSphere(1.0, 12, 18);
  const FindingList findings = Check(plush::tests::Exploded(sphere));
  CHECK(CodesOf(findings) == Codes{"SEAMS_WELDED"});
  CHECK(findings.all()[0].count == 3 * sphere.triangles.size() - sphere.positions.size());
}

TEST_CASE("An open box has one hole of four edges") {
  const FindingList findings = Check(plush::tests::MakeOpenBox({0, 0, 0}, {1, 1, 1}));
  CHECK(CodesOf(findings) == Codes{"MESH_OPEN_BOUNDARY"});
  const Finding& open = findings.all()[0];
  CHECK(open.count == 4);
  CHECK(open.message.find("1 hole") != std::string::npos);
  REQUIRE(open.places.size() == 4);
  for (const auto& place : open.places) {
    CHECK(place.position.y == 1.0);
    CHECK(place.triangle >= 0);
    CHECK(place.object == "body");
  }
}

TEST_CASE("Empty, flat and lone triangles") {
  CHECK(CodesOf(Check({})) == Codes{"MESH_EMPTY"});
  SurfaceMesh flat = MakeSphere(1.0, 6, 8);
  for (auto& p : flat.positions) p = {p.x, 0.0, 0.0};
  CHECK(CodesOf(Check(flat)) == Codes{"MESH_DEGENERATE_TRIANGLE", "MESH_EMPTY"});
  CHECK(Check(flat).HasSeverity(plush::tools::Severity::kError));
  SurfaceMesh lone = {.positions = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}}};
  lone.triangles = {{0, 1, 2}};
  CHECK(CodesOf(Check(lone)) == Codes{"MESH_OPEN_BOUNDARY"});
}

TEST_CASE("Duplicated faces are one finding, not many") {
  SurfaceMesh doubled = MakeSphere(1.0, 10, 12);
  const size_t count = doubled.triangles.size();
  SurfaceMesh inner = doubled;
  FlipTriangles(&inner, 0, count);
  const FindingList findings = Check(Joined(doubled, inner));
  CHECK(CodesOf(findings) == Codes{"MESH_DUPLICATE_FACE", "SEAMS_WELDED"});
  CHECK(Find(findings, "MESH_DUPLICATE_FACE").count == count);
  doubled.triangles.push_back(doubled.triangles[5]);
  CHECK(Find(Check(doubled), "MESH_DUPLICATE_FACE").places[0].triangle == int64_t(count));
}

TEST_CASE("A half-flipped sphere disagrees along the border between the halves") {
  SurfaceMesh sphere = MakeSphere(1.0, 10, 12);
  FlipTriangles(&sphere, 0, sphere.triangles.size() / 2);
  const FindingList findings = Check(sphere);
  CHECK(CodesOf(findings) == Codes{"MESH_INCONSISTENT_ORIENTATION"});
  size_t disagreeing = 0;
  const auto topology = plush::tools::BuildTopology(sphere.triangles, 1000);
  for (const auto& edge : topology.edges) {
    const auto uses = topology.UsesOf(edge);
    disagreeing += uses[0].forward == uses[1].forward ? 1 : 0;
  }
  CHECK(findings.all()[0].count == disagreeing);
  CHECK(findings.all()[0].places[0].element >= 0);
}

TEST_CASE("A Moebius strip is open and one-sided") {
  const FindingList findings = Check(plush::tests::MakeMoebiusStrip(1.0, 0.4, 24));
  CHECK(CodesOf(findings) == Codes{"MESH_OPEN_BOUNDARY", "MESH_INCONSISTENT_ORIENTATION"});
  CHECK(Find(findings, "MESH_OPEN_BOUNDARY").message.find("1 hole") != std::string::npos);
  CHECK(Find(findings, "MESH_INCONSISTENT_ORIENTATION").message.find("one-sided") !=
        std::string::npos);
}

TEST_CASE("Overlapping boxes intersect, nested shells do not") {
  const FindingList boxes = Check(plush::tests::MakeOverlappingBoxes());
  CHECK(CodesOf(boxes) == Codes{"MESH_COMPONENTS", "MESH_SELF_INTERSECTION"});
  for (const auto& place : Find(boxes, "MESH_SELF_INTERSECTION").places) {
    CHECK(place.triangle < 12);
    CHECK(place.element >= 12);
    for (int axis = 0; axis < 3; ++axis) {
      CHECK(place.position[axis] >= 0.5);
      CHECK(place.position[axis] <= 1.0);
    }
  }
  for (const bool outer : {false, true}) {
    for (const bool inner : {false, true}) {
      const FindingList shells = Check(plush::tests::MakeNestedShells(outer, inner));
      CHECK(CodesOf(shells) == Codes{"MESH_COMPONENTS"});
      CHECK(shells.all()[0].count == 2);
    }
  }
}

TEST_CASE("Three sheets at one edge are a non-manifold edge") {
  SurfaceMesh mesh = {.positions = {{0, 0, 0}, {0, 0, 1}, {1, 0, 0}, {-1, 1, 0}, {-1, -1, 0}}};
  mesh.triangles = {{0, 1, 2}, {0, 1, 3}, {0, 1, 4}};
  const FindingList findings = Check(mesh);
  const Finding& finding = Find(findings, "MESH_NON_MANIFOLD_EDGE");
  CHECK(finding.count == 1);
  CHECK(finding.places[0].position.z == 0.5);
}

TEST_CASE("Findings do not depend on how vertices are shared") {
  const SurfaceMesh mesh = plush::tests::MakeOverlappingBoxes();
  FindingList exploded = Check(plush::tests::Exploded(mesh));
  CHECK(Find(exploded, "MESH_SELF_INTERSECTION").count ==
        Find(Check(mesh), "MESH_SELF_INTERSECTION").count);
}

SurfaceMesh Moved(SurfaceMesh mesh, const plush::tools::Vec3d& by) {
  for (plush::tools::Vec3d& p : mesh.positions) p += by;
  return mesh;
}

TEST_CASE("A stray vertex is named with its place") {
  for (const double far : {3.0e4, 1.0e30, 1.0e300}) {
    CAPTURE(far);
    SurfaceMesh mesh = MakeSphere(1.0, 12, 18);
    mesh.positions[17] = {far, 0.5, -far};
    const FindingList findings = Check(mesh);
    const Finding& stray = Find(findings, "MESH_STRAY_VERTEX");
    CHECK(stray.count == 1);
    REQUIRE(stray.places.size() == 1);
    CHECK(stray.places[0].element == 17);
    CHECK(stray.places[0].position == mesh.positions[17]);
    // All other vertices are near the origin.
    CHECK_FALSE(findings.Has("MESH_FAR_FROM_ORIGIN"));
  }
  SurfaceMesh triangle = plush::tests::MakeBox({0, 0, 0}, {1, 1, 1});
  triangle.positions[0] = {-9000.0, 0.0, 0.0};  // below kStrayRatio
  CHECK_FALSE(Check(triangle).Has("MESH_STRAY_VERTEX"));
}

TEST_CASE("All stray vertices count, wherever the model is") {
  SurfaceMesh mesh = Moved(MakeSphere(0.5, 12, 18), {100.0, -20.0, 7.0});
  for (const size_t v : {3u, 40u, 41u}) mesh.positions[v] += {0.0, 2.0e7 + double(v), 0.0};
  const FindingList findings = Check(mesh);
  const Finding& stray = Find(findings, "MESH_STRAY_VERTEX");
  CHECK(stray.count == 3);
  CHECK(stray.places[2].element == 41);
}

TEST_CASE("Two models far apart have no stray vertices") {
  const SurfaceMesh mesh =
      Joined(MakeSphere(1.0, 12, 18), Moved(MakeSphere(1.0, 12, 18), {1.0e5, 0.0, 0.0}));
  CHECK_FALSE(Check(mesh).Has("MESH_STRAY_VERTEX"));
}

TEST_CASE("A model is far from the origin once floats are coarser than 1e-4 of its size") {
  // Floats are 2^-14 m apart between 512 and 1024 m, and twice that beyond: 1e-4 of 0.61 m and 1.22
  // m.
  const auto is_far = [](double size, double distance) {
    const SurfaceMesh box = plush::tests::MakeBox({distance - size, 0, 0}, {distance, size, size});
    return Check(box).Has("MESH_FAR_FROM_ORIGIN");
  };
  CHECK_FALSE(is_far(1.0, 1000.0));
  CHECK(is_far(1.0, 1025.0));
  CHECK(is_far(0.6, 1000.0));
  CHECK_FALSE(is_far(0.62, 1000.0));
  CHECK_FALSE(is_far(0.01, 0.01));
  CHECK_FALSE(is_far(1.0e-30, 1.0e-30));
}

}  // namespace surface_checks_test

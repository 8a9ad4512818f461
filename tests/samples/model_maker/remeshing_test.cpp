// SPDX-License-Identifier: MIT
#include "remeshing.h"

#include "model_maker/surface_properties.h"
#include "parts.h"

#include <catch2/catch.hpp>

#include <cmath>

using namespace plush::samples;
using namespace plush::tests;

namespace {

TriangleMesh Remeshed(const Solid& solid, const Vec3d& inside, const Solid& details, double edge) {
  SurfaceEditor editor(MarchTets(solid, inside, 0.012));
  Remesh(solid, details, edge, &editor);
  return editor.Extract(nullptr);
}

/// Share of the edges whose length is within [low, high].
double ShareOfEdges(const TriangleMesh& mesh, double low, double high) {
  size_t count = 0;
  for (const auto& t : mesh.triangles) {
    for (int k = 0; k < 3; ++k) {
      const double length = Length(mesh.positions[t[k]] - mesh.positions[t[(k + 1) % 3]]);
      count += length >= low && length <= high ? 1 : 0;
    }
  }
  return static_cast<double>(count) / static_cast<double>(3 * mesh.triangles.size());
}

}  // namespace

TEST_CASE("Remeshing keeps manifold and genus, puts vertices on the surface, evens the edges out") {
  const bool is_ring = GENERATE(false, true);
  const Solid solid = is_ring ? RingSolid() : BallSolid();
  const Vec3d inside = {is_ring ? 0.1 : 0.0, 0.0, 0.0};
  const double edge = GENERATE(0.010, 0.018);
  const TriangleMesh mesh = Remeshed(solid, inside, {}, edge);
  CHECK(IsClosedOrientedManifold(mesh));
  CHECK(EulerCharacteristic(mesh) == (is_ring ? 0 : 2));
  CHECK(ShareOfEdges(mesh, 0.75 * edge, 1.4 * edge) > 0.9);
  CHECK(WorstTriangle(mesh) > 0.3);
  for (const Vec3d& p : mesh.positions) {
    REQUIRE(std::fabs(plush::samples::Distance(solid, p)) < 0.02 * edge);
  }
}

TEST_CASE("Details ask for finer triangles near them only") {
  const Solid details{{Finer(Ball({0.1, 0.0, 0.0}, 0.02, 0.0), 0.004)}};
  const TriangleMesh mesh = Remeshed(BallSolid(), {}, details, 0.018);
  double nearest_edge = 1.0, farthest_edge = 0.0;
  for (const auto& [a, b, c] : mesh.triangles) {
    const double length = Length(mesh.positions[a] - mesh.positions[b]);
    if (mesh.positions[a].x > 0.098) nearest_edge = std::min(nearest_edge, length);
    if (mesh.positions[a].x < 0.0) farthest_edge = std::max(farthest_edge, length);
  }
  CHECK(nearest_edge < 0.01);
  CHECK(farthest_edge > 0.015);
}

TEST_CASE("Projection lands on the surface and never farther than it may go") {
  const Solid ball = BallSolid();
  const Vec3d p = {0.07, 0.05, 0.03}, on = ProjectToSurface(ball, p, 1.0);
  CHECK(Length(on) == Approx(0.1).epsilon(1.0e-6));
  CHECK(Length(Cross(on, p)) < 1.0e-8);
  CHECK(Length(ProjectToSurface(ball, p, 0.002) - p) == Approx(0.002));
}

TEST_CASE("Smoothing does not move locked vertices") {
  SurfaceEditor editor(MarchTets(BallSolid(), {}, 0.02));
  std::vector<bool> locked(editor.num_vertices(), false);
  for (size_t vertex = 0; vertex < locked.size(); vertex += 3) locked[vertex] = true;
  const SurfaceEditor before = editor;
  SmoothAlongSurface(BallSolid(), locked, 0.01, &editor);
  size_t num_moved = 0;
  for (uint32_t vertex = 0; vertex < locked.size(); ++vertex) {
    const bool moved = !(editor.position(vertex) == before.position(vertex));
    if (locked[vertex]) REQUIRE_FALSE(moved);
    num_moved += moved ? 1 : 0;
  }
  CHECK(num_moved > locked.size() / 2);
}

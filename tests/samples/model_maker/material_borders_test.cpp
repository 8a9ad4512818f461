// SPDX-License-Identifier: MIT
#include "material_borders.h"

#include "model_maker/surface_properties.h"
#include "parts.h"
#include "remeshing.h"

#include <catch2/catch.hpp>

#include <cmath>
#include <map>
#include <numbers>

using namespace plush::samples;
using namespace plush::tests;

namespace {

constexpr double kRadius = 0.1;

/// A ball painted above y = 0.06 m nearly (by a large ball) and, finer, in a small round spot.
Model PaintedBall() {
  Model model;
  model.materials = {{"plain", {1, 1, 1}, 1.0}, {"cap", {1, 0, 0}, 1.0}, {"spot", {0, 0, 1}, 1.0}};
  model.solid = BallSolid();
  model.paints = {{1, Solid{{Ball({0.0, 0.16, 0.0}, 0.12, 0.0)}}},
                  {2, Solid{{Finer(Ball({0.0, -0.1, 0.0}, 0.02, 0.0), 0.006)}}}};
  model.pin = model.paints[0].region;
  model.lattice_step = 0.01;
  model.edge = 0.014;
  return model;
}

/// Area of the part of the ball of kRadius inside a ball of `radius` whose centre is `distance`
/// away: a cap of height kRadius (1 - cosine).
double CapArea(double distance, double radius) {
  const double cosine =
      (kRadius * kRadius + distance * distance - radius * radius) / (2.0 * kRadius * distance);
  return 2.0 * std::numbers::pi * kRadius * kRadius * (1.0 - cosine);
}

double AreaOf(const ModelMesh& mesh, size_t material) {
  double area = 0.0;
  for (size_t t = 0; t < mesh.surface.triangles.size(); ++t) {
    if (mesh.material_of_triangle[t] != material) continue;
    const auto& [a, b, c] = mesh.surface.triangles[t];
    const auto& p = mesh.surface.positions;
    area += 0.5 * Length(Cross(p[b] - p[a], p[c] - p[a]));
  }
  return area;
}

}  // namespace

TEST_CASE("Painted areas have the size of their regions") {
  const ModelMesh mesh = MakeModelMesh(PaintedBall());
  CHECK(AreaOf(mesh, 1) == Approx(CapArea(0.16, 0.12)).epsilon(0.02));
  CHECK(AreaOf(mesh, 2) == Approx(CapArea(0.10, 0.02)).epsilon(0.05));
}

TEST_CASE("Borders between materials lie on the regions' borders") {
  const Model model = PaintedBall();
  const ModelMesh mesh = MakeModelMesh(model);
  std::map<uint32_t, std::vector<size_t>> materials_of_vertex;
  for (size_t t = 0; t < mesh.surface.triangles.size(); ++t) {
    for (const uint32_t vertex : mesh.surface.triangles[t]) {
      materials_of_vertex[vertex].push_back(mesh.material_of_triangle[t]);
    }
  }
  // The lowest vertex is at y = 0: the ball's centre is one radius up, within the tessellation.
  size_t num_border = 0;
  for (const auto& [vertex, materials] : materials_of_vertex) {
    const auto [low, high] = std::minmax_element(materials.begin(), materials.end());
    if (*low == *high) continue;
    ++num_border;
    const Vec3d p = mesh.surface.positions[vertex] - Vec3d{0.0, kRadius, 0.0};
    REQUIRE(std::fabs(plush::samples::Distance(model.paints[*high - 1].region, p)) < 5.0e-4);
  }
  CHECK(num_border > 40);
}

TEST_CASE("Cutting keeps the surface a closed manifold with good triangles") {
  const ModelMesh mesh = MakeModelMesh(PaintedBall());
  CHECK(IsClosedOrientedManifold(mesh.surface));
  CHECK(EulerCharacteristic(mesh.surface) == 2);
  CHECK(WorstTriangle(mesh.surface) > 0.2);
}

TEST_CASE("A model mesh has its lowest vertex at y = 0, unit normals and a pin weight by region") {
  const Model model = PaintedBall();
  const ModelMesh mesh = MakeModelMesh(model);
  double lowest = 1.0;
  for (size_t vertex = 0; vertex < mesh.normals.size(); ++vertex) {
    const Vec3d p = mesh.surface.positions[vertex];
    lowest = std::min(lowest, p.y);
    const Vec3d from_centre = p - Vec3d{0.0, kRadius, 0.0};
    REQUIRE(Length(mesh.normals[vertex] - Unit(from_centre)) < 0.01);
    const double distance = plush::samples::Distance(model.pin, from_centre);
    if (distance < -model.pin_fade) REQUIRE(mesh.pin[vertex] == 1.0);
    if (distance > model.pin_fade) REQUIRE(mesh.pin[vertex] == 0.0);
  }
  CHECK(lowest == 0.0);
}

// SPDX-License-Identifier: MIT
// Tangents in closed form of planes, a sphere, mirrored and degenerate UVs.
#include "mesh/tangents.h"

#include <catch2/catch.hpp>

#include <cmath>
#include <functional>

using namespace plush::tools;
using plush::Vec2;
using plush::Vec3;
using plush::Vec4;

namespace tangents_test {

constexpr double kPi = 3.14159265358979323846;

// A grid over the unit square of parameters (s, t), counter-clockwise with s to the right and t
// upwards.
SurfaceMesh Grid(uint32_t n, const std::function<Vec3d(double, double)>& position,
                 const std::function<Vec3d(double, double)>& normal,
                 const std::function<Vec2(double, double)>& uv) {
  SurfaceMesh mesh;
  for (uint32_t j = 0; j <= n; ++j) {
    for (uint32_t i = 0; i <= n; ++i) {
      const double s = double(i) / n, t = double(j) / n;
      mesh.positions.push_back(position(s, t));
      mesh.normals.push_back(ToFloat(normal(s, t)));
      mesh.uvs.push_back(uv(s, t));
    }
  }
  for (uint32_t j = 0; j < n; ++j) {
    for (uint32_t i = 0; i < n; ++i) {
      const uint32_t a = j * (n + 1) + i, b = a + 1, c = a + n + 1, d = c + 1;
      mesh.triangles.push_back({a, b, d});
      mesh.triangles.push_back({a, d, c});
    }
  }
  return mesh;
}

Vec2 Uv(double u, double v) { return {static_cast<float>(u), static_cast<float>(v)}; }

// The plane z = 0, seen from +z.
SurfaceMesh Plane(const std::function<Vec2(double, double)>& uv) {
  return Grid(
      4,
      [](double s, double t) {
        return Vec3d{s, t, 0.0};
      },
      [](double, double) {
        return Vec3d{0.0, 0.0, 1.0};
      },
      uv);
}

Vec3d Direction(const Vec4& tangent) { return {tangent.x, tangent.y, tangent.z}; }

Vec3d Bitangent(const Vec4& tangent, const Vec3& normal) {
  return double(tangent.w) * Cross(ToDouble(normal), Direction(tangent));
}

void CheckFrames(const SurfaceMesh& mesh, const Vec3d& tangent, float w, const Vec3d& image_up) {
  const std::vector<Vec4> tangents = UnitTangents(mesh);
  REQUIRE(tangents.size() == mesh.positions.size());
  for (size_t v = 0; v < tangents.size(); ++v) {
    REQUIRE(Length(Direction(tangents[v]) - tangent) < 1e-5);
    REQUIRE(tangents[v].w == w);
    REQUIRE(Dot(Bitangent(tangents[v], mesh.normals[v]), image_up) > 0.5);
  }
}

// The tangent of vertex `v` is of length 1 and perpendicular to the normal, with w = 1.
void CheckArbitrary(const SurfaceMesh& mesh, size_t v) {
  const Vec4 tangent = UnitTangents(mesh).at(v);
  CHECK(std::abs(Length(Direction(tangent)) - 1.0) < 1e-6);
  CHECK(std::abs(Dot(Direction(tangent), ToDouble(mesh.normals[v]))) < 1e-6);
  CHECK(tangent.w == 1.0f);
}

TEST_CASE("Tangents of a plane point along u, and w tells a mirrored image") {
  const double angle = GENERATE(0.0, 0.7, 2.0, 4.0);
  CAPTURE(angle);
  const double c = std::cos(angle), s = std::sin(angle);
  const Vec3d to_u = {c, s, 0.0}, to_v = {-s, c, 0.0};
  SurfaceMesh mesh = Plane(
      [c, s](double x, double y) { return Uv(3.0 * (c * x + s * y), 0.5 * (c * y - s * x)); });
  CheckFrames(mesh, to_u, 1.0f, to_v);
  mesh.v_downwards = true;  // the same numbers are now a mirrored image
  CheckFrames(mesh, to_u, -1.0f, -to_v);
  for (Vec2& uv : mesh.uvs) uv.y = 1.0f - uv.y;  // and these the first image, written downwards
  CheckFrames(mesh, to_u, 1.0f, to_v);
  for (Vec2& uv : mesh.uvs) uv.x = -uv.x;
  CheckFrames(mesh, -to_u, -1.0f, to_v);
  for (Vec3& normal : mesh.normals) normal = {0.0f, 0.0f, -1.0f};
  CheckFrames(mesh, -to_u, 1.0f, to_v);
}

TEST_CASE("A tangent keeps v constant if UVs are sheared") {
  const SurfaceMesh mesh = Plane([](double x, double y) { return Uv(x + 0.75 * y, 2.0 * y); });
  CheckFrames(mesh, {1.0, 0.0, 0.0}, 1.0f, {0.0, 1.0, 0.0});
}

TEST_CASE("Tangents of a sphere are its parallels") {
  constexpr uint32_t kSteps = 64;
  const auto longitude = [](double s) { return 2.0 * kPi * s; };
  const auto latitude = [](double t) { return kPi * (0.8 * t - 0.4); };
  const auto point = [&](double s, double t) {
    const double ring = std::cos(latitude(t));
    return Vec3d{ring * std::cos(longitude(s)), std::sin(latitude(t)),
                 -ring * std::sin(longitude(s))};
  };
  // A map of the world as glTF has it: v counts from the north.
  SurfaceMesh mesh = Grid(kSteps, point, point, [](double s, double t) { return Uv(s, 1.0 - t); });
  mesh.v_downwards = true;
  const std::vector<Vec4> tangents = UnitTangents(mesh);
  REQUIRE(tangents.size() == mesh.positions.size());
  for (uint32_t j = 0; j <= kSteps; ++j) {
    for (uint32_t i = 0; i <= kSteps; ++i) {
      const size_t v = size_t{j} * (kSteps + 1) + i;
      const double phi = longitude(double(i) / kSteps);
      const Vec3d east = {-std::sin(phi), 0.0, -std::cos(phi)};
      // At the borders triangles lie on one side only.
      const bool inside = i > 0 && i < kSteps && j > 0 && j < kSteps;
      const double allowed = inside ? 5e-3 : 1.05 * kPi / kSteps;
      REQUIRE(Length(Direction(tangents[v]) - east) < allowed);
      REQUIRE(std::abs(Length(Direction(tangents[v])) - 1.0) < 1e-6);
      REQUIRE(std::abs(Dot(Direction(tangents[v]), ToDouble(mesh.normals[v]))) < 1e-6);
      REQUIRE(tangents[v].w == 1.0f);
      REQUIRE(Bitangent(tangents[v], mesh.normals[v]).y > 0.0);  // north
    }
  }
}

TEST_CASE("Larger triangles weigh more in the tangent of a vertex") {
  // Areas 1 and 3; u grows along x in the first triangle, along y in the second.
  SurfaceMesh mesh = {.positions = {{0, 0, 0}, {2, 0, 0}, {0, 1, 0}, {-2, 0, 0}, {0, -3, 0}}};
  mesh.normals.assign(5, {0, 0, 1});
  mesh.uvs = {{0, 0}, {2, 0}, {0, 1}, {0, 2}, {-3, 0}};
  mesh.triangles = {{0, 1, 2}, {0, 3, 4}};
  const Vec4 tangent = UnitTangents(mesh)[0];
  CHECK(tangent.x == Approx(1.0 / std::sqrt(10.0)));
  CHECK(tangent.y == Approx(3.0 / std::sqrt(10.0)));
  CHECK(tangent.w == 1.0f);
}

TEST_CASE("Degenerate UVs give some unit tangent perpendicular to the normal") {
  SECTION("a point and lines") {
    const int kind = GENERATE(0, 1, 2, 3);
    SurfaceMesh mesh = Plane([kind](double x, double y) {
      return kind == 0   ? Uv(0.25, 0.5)
             : kind == 1 ? Uv(x, 0.5)
             : kind == 2 ? Uv(0.5, x + y)
                         : Uv(0.3 * x + 0.1 * y, 0.9 * x + 0.3 * y);
    });
    mesh.normals[3] = {1, 0, 0};
    mesh.normals[4] = {0, 1, 0};
    mesh.normals[5] = {0.6f, 0, -0.8f};
    mesh.v_downwards = kind % 2 == 1;
    for (size_t v = 0; v < mesh.positions.size(); ++v) CheckArbitrary(mesh, v);
  }
  SECTION("a triangle without area, a vertex without triangle, numbers near the limits") {
    SurfaceMesh mesh = {.positions = {{0, 0, 0}, {1, 1, 1}, {2, 2, 2}, {5, 6, 7}}};
    mesh.normals.assign(4, {0, 0, 1});
    mesh.uvs = {{0, 0}, {1, 0}, {0, 1}, {3e38f, -3e38f}};
    mesh.triangles = {{0, 1, 2}, {1, 1, 1}};
    for (size_t v = 0; v < 4; ++v) CheckArbitrary(mesh, v);
  }
  SECTION("opposite directions that cancel") {
    const SurfaceMesh mesh = Plane([](double x, double y) { return Uv(std::abs(x - 0.5), y); });
    CheckArbitrary(mesh, 2 * 5 + 2);
    CHECK(UnitTangents(mesh)[2 * 5 + 0].w == -1.0f);
    CHECK(UnitTangents(mesh)[2 * 5 + 4].w == 1.0f);
  }
}

TEST_CASE("Huge and tiny UVs give the same tangents") {
  const float scale = GENERATE(1e-30f, 1e30f);
  SurfaceMesh mesh = Plane([](double x, double y) { return Uv(x, y); });
  for (Vec2& uv : mesh.uvs) uv = {uv.x * scale, uv.y * scale};
  CheckFrames(mesh, {1.0, 0.0, 0.0}, 1.0f, {0.0, 1.0, 0.0});
}

TEST_CASE("A surface without UVs has no tangents") {
  SurfaceMesh mesh = Plane([](double x, double y) { return Uv(x, y); });
  mesh.uvs.clear();
  CHECK(UnitTangents(mesh).empty());
}

}  // namespace tangents_test

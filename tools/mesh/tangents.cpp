// SPDX-License-Identifier: MIT
// Averages the directions of growing u and v over each vertex's triangles, then makes them
// perpendicular to the normal [Lengyel, Foundations of Game Engine Development 2, Sec. 7.5].
#include "mesh/tangents.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace plush::tools {
namespace {

// Most error of a difference of two floats, as a share of the larger one.
constexpr double kDifferenceError = 0x1p-23;
// A sum of directions vanishes if it is shorter than this share of the sum of their lengths.
constexpr double kVanished = 1.0e-6;

// Sums over a vertex's triangles, weighted by area.
struct Frame {
  Vec3d to_u;         // towards growing u
  Vec3d to_v;         // towards growing v
  double area = 0.0;  // doubled
};

Vec3d Unit(const Vec3d& v) { return v / Length(v); }

Vec3d AnyPerpendicular(const Vec3d& unit) {
  const Vec3d size = {std::abs(unit.x), std::abs(unit.y), std::abs(unit.z)};
  const Vec3d axis = size.x <= size.y && size.x <= size.z ? Vec3d{1.0, 0.0, 0.0}
                     : size.y <= size.z                   ? Vec3d{0.0, 1.0, 0.0}
                                                          : Vec3d{0.0, 0.0, 1.0};
  return Unit(Cross(unit, axis));
}

// The share of a triangle; all zero if the UVs or the positions of its corners are degenerate.
Frame FrameOf(const SurfaceMesh& surface, const std::array<uint32_t, 3>& corners) {
  const auto [a, b, c] = corners;
  const Vec3d edge_1 = surface.positions[b] - surface.positions[a];
  const Vec3d edge_2 = surface.positions[c] - surface.positions[a];
  const auto to_double = [](const Vec2& uv) { return std::array{double(uv.x), double(uv.y)}; };
  const auto [u_a, v_a] = to_double(surface.uvs[a]);
  const auto [u_b, v_b] = to_double(surface.uvs[b]);
  const auto [u_c, v_c] = to_double(surface.uvs[c]);
  const double u_1 = u_b - u_a, v_1 = v_b - v_a, u_2 = u_c - u_a, v_2 = v_c - v_a;
  const double determinant = u_1 * v_2 - u_2 * v_1;
  // Rounding UVs to float changes the determinant by this much.
  const double largest = std::max(
      {std::abs(u_a), std::abs(v_a), std::abs(u_b), std::abs(v_b), std::abs(u_c), std::abs(v_c)});
  const double rounding =
      kDifferenceError * largest * (std::abs(u_1) + std::abs(v_1) + std::abs(u_2) + std::abs(v_2));
  const double area = Length(Cross(edge_1, edge_2));
  if (!(std::abs(determinant) > rounding) || !(area > 0.0)) return {};
  // |determinant| times the derivatives of the position by u and v. They vanish only with the area.
  const double sign = determinant > 0.0 ? 1.0 : -1.0;
  const Vec3d to_u = (edge_1 * v_2 - edge_2 * v_1) * sign;
  const Vec3d to_v = (edge_2 * u_1 - edge_1 * u_2) * sign;
  if (!(Length(to_u) > 0.0) || !(Length(to_v) > 0.0)) return {};
  return {area * Unit(to_u), area * Unit(to_v), area};
}

Vec4 TangentOf(const Frame& frame, const Vec3& normal, bool v_downwards) {
  const Vec3d n = Unit(ToDouble(normal));
  const Vec3d projected = frame.to_u - n * Dot(n, frame.to_u);
  if (!(Length(projected) > kVanished * frame.area)) {
    const Vec3 any = ToFloat(AnyPerpendicular(n));
    return {any.x, any.y, any.z, 1.0f};
  }
  const Vec3d unit = Unit(projected);
  const double along_v = Dot(Cross(n, unit), frame.to_v);
  const bool turned = v_downwards ? along_v > 0.0 : along_v < 0.0;
  const Vec3 tangent = ToFloat(unit);
  return {tangent.x, tangent.y, tangent.z, turned ? -1.0f : 1.0f};
}

}  // namespace

std::vector<Vec4> UnitTangents(const SurfaceMesh& surface) {
  std::vector<Vec4> tangents;
  if (surface.uvs.empty()) return tangents;
  std::vector<Frame> frames(surface.positions.size());
  for (const auto& corners : surface.triangles) {
    const Frame share = FrameOf(surface, corners);
    for (const uint32_t v : corners) {
      frames[v].to_u += share.to_u;
      frames[v].to_v += share.to_v;
      frames[v].area += share.area;
    }
  }
  tangents.reserve(frames.size());
  for (size_t v = 0; v < frames.size(); ++v) {
    tangents.push_back(TangentOf(frames[v], surface.normals[v], surface.v_downwards));
  }
  return tangents;
}

}  // namespace plush::tools

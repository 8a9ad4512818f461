// SPDX-License-Identifier: MIT
// Source: passing_triangles.h.
#include "touching/passing_triangles.h"

#include "base/vector_math.h"
#include "collision/double_vector.h"
#include "collision/surface_records.h"
#include "collision/vertex_positions.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace plush {
namespace {

// A triangle whose corners move straight, relative to the place.
struct MovingTriangle {
  DoubleVector from[3], way[3];

  DoubleVector At(int k, double share) const {
    const DoubleVector &a = from[k], &b = way[k];
    return {a.x + b.x * share, a.y + b.y * share, a.z + b.z * share};
  }
};

double Volume(const DoubleVector& a, const DoubleVector& b, const DoubleVector& c) {
  return Dot(a, Cross(b, c));
}

// Six times the volume of the triangle's tet with the place, as a cubic of the share of the way:
// below 0 while the place is in front of the triangle's plane.
struct VolumeOnWay {
  explicit VolumeOnWay(const MovingTriangle& t) {
    const auto& [a, b, c] = t.from;
    const auto& [p, q, r] = t.way;
    of_powers[0] = Volume(a, b, c);
    of_powers[1] = Volume(p, b, c) + Volume(a, q, c) + Volume(a, b, r);
    of_powers[2] = Volume(a, q, r) + Volume(p, b, r) + Volume(p, q, c);
    of_powers[3] = Volume(p, q, r);
  }

  double At(double share) const {
    return of_powers[0] + share * (of_powers[1] + share * (of_powers[2] + share * of_powers[3]));
  }
  // Whether it may become positive: its coefficients in Bernstein's basis bound it.
  bool MayRise() const {
    const auto& c = of_powers;
    const double bounds[4] = {c[0], c[0] + c[1] / 3.0, c[0] + (2.0 * c[1] + c[2]) / 3.0, At(1.0)};
    return std::ranges::max(bounds) > 0.0 && std::ranges::min(bounds) <= 0.0;
  }
  // The ends of the parts of the way in which it only rises or falls. Returns their number.
  int FindTurns(double (&turns)[4]) const {
    const double a = 3.0 * of_powers[3], b = of_powers[2], c = of_powers[1];  // a s^2 + 2 b s + c
    int count = 0;
    turns[count++] = 0.0;
    const auto add = [&](double share) {
      if (share > turns[count - 1] && share < 1.0) turns[count++] = share;
    };
    const double discriminant = b * b - a * c;
    if (discriminant > 0.0) {
      const double sum = -(b + std::copysign(std::sqrt(discriminant), b));
      const double one = a != 0.0 ? sum / a : 2.0, other = sum != 0.0 ? c / sum : 2.0;
      add(std::min(one, other));
      add(std::max(one, other));
    }
    turns[count++] = 1.0;
    return count;
  }

  double of_powers[4];
};

// Whether the place, in the triangle's plane, is in the triangle. Neighbours overlap by a rounding.
bool IsInTriangle(const MovingTriangle& t, double share) {
  constexpr double kOverlap = 1.0e-6;  // of the area
  const DoubleVector a = t.At(0, share), b = t.At(1, share), c = t.At(2, share);
  const DoubleVector bc = Cross(b, c), ca = Cross(c, a), ab = Cross(a, b);
  const DoubleVector normal = {bc.x + ca.x + ab.x, bc.y + ca.y + ab.y, bc.z + ca.z + ab.z};
  const double least = -kOverlap * Dot(normal, normal);
  return Dot(bc, normal) >= least && Dot(ca, normal) >= least && Dot(ab, normal) >= least;
}

bool PassesPlace(const MovingTriangle& triangle) {
  constexpr int kHalvings = 50;
  const VolumeOnWay volume(triangle);
  if (!volume.MayRise()) return false;
  double turns[4];
  const int count = volume.FindTurns(turns);
  for (int i = 0; i + 1 < count; ++i) {
    double low = turns[i], high = turns[i + 1];
    if (volume.At(low) > 0.0 || !(volume.At(high) > 0.0)) continue;
    for (int k = 0; k < kHalvings; ++k) {
      const double middle = 0.5 * (low + high);
      (volume.At(middle) > 0.0 ? high : low) = middle;
    }
    if (IsInTriangle(triangle, high)) return true;
  }
  return false;
}

}  // namespace

SolidCore::SolidCore(const Solid& solid) {
  if (solid.hull != nullptr) {
    Vec3 sum;  // the middle of the bounding box may be outside
    for (const Vec3& point : solid.hull->points) sum += point;
    points[count++] = sum * (solid.unit / static_cast<float>(solid.hull->points.size()));
    return;
  }
  const Vec3 reach = solid.box.Reach();
  const float thinness = solid.Thinness();
  const float half[3] = {reach.x - thinness, reach.y - thinness, reach.z - thinness};
  points[count++] = {};
  const auto corner = [&](int bits) {
    const auto at = [&](int axis) { return ((bits >> axis) & 1) != 0 ? half[axis] : -half[axis]; };
    return Vec3{at(0), at(1), at(2)};
  };
  const int extended =
      (half[0] > 0.0f ? 1 : 0) | (half[1] > 0.0f ? 2 : 0) | (half[2] > 0.0f ? 4 : 0);
  for (int bits = 0; bits < 8 && extended != 0; ++bits) {
    if ((bits & ~extended) != 0) continue;  // the same corner as another one
    points[count++] = corner(bits);
    for (int axis = 0; axis < 3; ++axis) {
      if ((extended & ~bits & (1 << axis)) == 0) continue;
      sides[num_sides][0] = corner(bits);
      sides[num_sides++][1] = corner(bits | (1 << axis));
    }
  }
}

bool PassesPlace(const CollisionView& surface, uint32_t tet, NodeVectors from, NodeVectors to,
                 const Vec3& place) {
  const CdgTet& of = surface.tets[tet];
  const std::array<Vec3, 4> starts = NodesOf(of, from), ends = NodesOf(of, to);
  const auto is_beside = [&](float Vec3::*axis) {
    float low = starts[0].*axis, high = low;
    for (int k = 0; k < 4; ++k) {
      low = std::min({low, starts[k].*axis, ends[k].*axis});
      high = std::max({high, starts[k].*axis, ends[k].*axis});
    }
    return place.*axis < low || place.*axis > high;
  };
  if (is_beside(&Vec3::x) || is_beside(&Vec3::y) || is_beside(&Vec3::z)) return false;
  bool passes = false;
  WithTriangles(surface, [&](const auto& triangles) {
    ForTrianglesOf(surface, tet, [&](uint32_t, uint32_t i) {
      if (passes) return;
      MovingTriangle moving;
      for (int k = 0; k < 3; ++k) {
        const uint32_t v = VertexOf(triangles[i], k);
        if (v >= surface.vertices.size()) return;  // a wrong file
        const Vec3 start = VertexPosition(starts, surface.vertices[v]);
        moving.from[k] = Difference(start, place);
        moving.way[k] = Difference(VertexPosition(ends, surface.vertices[v]), start);
      }
      passes = PassesPlace(moving);
    });
  });
  return passes;
}

}  // namespace plush

// SPDX-License-Identifier: MIT
// Inward rays through a tree of boxes.
// Based on:
// Tomas Moeller, Ben Trumbore. Fast, Minimum Storage Ray/Triangle Intersection. 1997
#include "partition/thickness.h"

#include "mesh/triangle_bvh.h"

#include <tbb/blocked_range.h>
#include <tbb/parallel_for.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace plush::tools {
namespace {

struct InwardRay {
  Vec3d origin;
  Vec3d direction;  // unit
  std::array<double, 3> inverse = {};

  InwardRay(const Vec3d& from, const Vec3d& towards) : origin(from), direction(towards) {
    for (int axis = 0; axis < 3; ++axis) inverse[static_cast<size_t>(axis)] = 1.0 / towards[axis];
  }

  // Whether the ray meets the box before `limit`. Where it lies in a side of the box, 0 times
  // infinity is no number and the comparisons leave that axis out.
  bool MayMeet(const TriangleBvh::FloatBox& box, double limit) const {
    double enter = 0.0;
    double exit = limit;
    for (size_t axis = 0; axis < 3; ++axis) {
      const double from = origin[static_cast<int>(axis)];
      double a = (static_cast<double>(box.low[axis]) - from) * inverse[axis];
      double b = (static_cast<double>(box.high[axis]) - from) * inverse[axis];
      if (b < a) std::swap(a, b);
      if (a > enter) enter = a;
      if (b < exit) exit = b;
    }
    return enter <= exit;
  }

  // The way to the triangle (a, b, c) if the ray meets it from behind, else infinity. The triangle
  // counts as a little larger than it is, so that no ray slips through between two.
  double WayTo(const Vec3d& a, const Vec3d& b, const Vec3d& c) const {
    constexpr double kNever = std::numeric_limits<double>::infinity();
    constexpr double kLarger = 1e-9;
    const Vec3d ab = b - a;
    const Vec3d ac = c - a;
    const Vec3d normal = Cross(ab, ac);
    const double along = Dot(direction, normal);
    if (!(along > 0.0)) return kNever;
    const Vec3d to = a - origin;
    const double way = Dot(to, normal) / along;
    const Vec3d across = Cross(direction, to);
    const double u = -Dot(ac, across) / along;
    const double v = Dot(ab, across) / along;
    const bool meets = way > 0.0 && u >= -kLarger && v >= -kLarger && u + v <= 1.0 + kLarger;
    return meets ? way : kNever;
  }
};

class Thickness {
 public:
  Thickness(std::span<const Vec3d> points, std::span<const std::array<uint32_t, 3>> triangles)
      : points_(points), triangles_(triangles), bvh_(points, triangles) {}

  // `hint`: a triangle that the ray may meet; becomes the one that it met.
  double Behind(uint32_t triangle, uint32_t* hint) const {
    const auto& [a, b, c] = triangles_[triangle];
    const Vec3d normal = Cross(points_[b] - points_[a], points_[c] - points_[a]);
    const double area = Length(normal);
    if (!(area > 0.0)) return 0.0;
    const InwardRay ray((points_[a] + points_[b] + points_[c]) / 3.0, normal / -area);
    double nearest = WayTo(ray, triangle, *hint);
    bvh_.AnyOf([&](const TriangleBvh::FloatBox& box) { return ray.MayMeet(box, nearest); },
               [&](uint32_t other) {
                 const double way = WayTo(ray, triangle, other);
                 if (way < nearest) nearest = way, *hint = other;
                 return false;
               });
    return std::isfinite(nearest) ? nearest : 0.0;
  }

 private:
  double WayTo(const InwardRay& ray, uint32_t from, uint32_t to) const {
    if (to == from) return std::numeric_limits<double>::infinity();
    const auto& [a, b, c] = triangles_[to];
    return ray.WayTo(points_[a], points_[b], points_[c]);
  }

  std::span<const Vec3d> points_;
  std::span<const std::array<uint32_t, 3>> triangles_;
  TriangleBvh bvh_;
};

double AreaOf(std::span<const Vec3d> points, const std::array<uint32_t, 3>& triangle) {
  const auto& [a, b, c] = triangle;
  return 0.5 * Length(Cross(points[b] - points[a], points[c] - points[a]));
}

// The least thickness of the triangles but for the thinnest ones, which have this share of the
// area. Those without a thickness are the thickest.
float ThicknessBut(double share, std::span<const Vec3d> points,
                   std::span<const std::array<uint32_t, 3>> triangles,
                   std::span<const double> thickness) {
  struct Part {
    double thickness, area;
  };
  std::vector<Part> parts;
  double left_out = 0.0;
  for (size_t t = 0; t < triangles.size(); ++t) {
    const double area = AreaOf(points, triangles[t]);
    left_out += share * area;
    if (thickness[t] > 0.0) parts.push_back({thickness[t], area});
  }
  std::ranges::sort(parts, {}, &Part::thickness);
  for (const Part& part : parts) {
    left_out -= part.area;
    if (left_out < 0.0) return static_cast<float>(part.thickness);
  }
  return 0.0f;
}

}  // namespace

std::vector<double> TriangleThickness(std::span<const Vec3d> points,
                                      std::span<const std::array<uint32_t, 3>> triangles) {
  const Thickness thickness(points, triangles);
  std::vector<double> result(triangles.size());
  tbb::parallel_for(tbb::blocked_range<size_t>(0, triangles.size()), [&](const auto& range) {
    auto hint = static_cast<uint32_t>(range.begin());
    for (size_t t = range.begin(); t < range.end(); ++t) {
      result[t] = thickness.Behind(static_cast<uint32_t>(t), &hint);
    }
  });
  return result;
}

SurfaceThickness MeasureThickness(std::span<const Vec3d> points,
                                  std::span<const std::array<uint32_t, 3>> triangles,
                                  std::span<const CdgPatch> patches) {
  const std::vector<double> all = TriangleThickness(points, triangles);
  SurfaceThickness thickness;
  thickness.of_patches.reserve(patches.size());
  for (size_t p = 0; p < patches.size(); ++p) {
    const size_t end = p + 1 < patches.size() ? patches[p + 1].first_triangle : triangles.size();
    float least = 0.0f;
    for (size_t t = patches[p].first_triangle; t < end; ++t) {
      const auto own = static_cast<float>(all[t]);
      if (own > 0.0f && (least == 0.0f || own < least)) least = own;
    }
    thickness.of_patches.push_back(least);
  }
  thickness.of_body = ThicknessBut(kThinShare, points, triangles, all);
  return thickness;
}

}  // namespace plush::tools

// SPDX-License-Identifier: MIT
// Signed distances of the sample models' parts.
// Based on:
// Inigo Quilez. Distance functions; smooth minimum. iquilezles.org (formulas)

#include "solid.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace plush::samples {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr size_t kSegmentsPerRun = 6;
constexpr double kDifferenceStep = 1.0e-5;  // of central differences [m]

double EllipsoidDistance(const Ellipsoid& e, const Vec3d& p) {
  const Vec3d d = p - e.centre;
  const Vec3d q = {Dot(d, e.frame.x) / e.radii.x, Dot(d, e.frame.y) / e.radii.y,
                   Dot(d, e.frame.z) / e.radii.z};
  const double k0 = Length(q);
  const double k1 = Length(Vec3d{q.x / e.radii.x, q.y / e.radii.y, q.z / e.radii.z});
  if (k1 < 1.0e-9) return -std::min({e.radii.x, e.radii.y, e.radii.z});
  return k0 * (k0 - 1.0) / k1;
}

double SegmentDistance(const TubePoint& a, const TubePoint& b, const Vec3d& p, double* radius) {
  const Vec3d along = b.centre - a.centre;
  const double t = std::clamp(Dot(p - a.centre, along) / LengthSquared(along), 0.0, 1.0);
  *radius = a.radius + t * (b.radius - a.radius);
  return Length(p - (a.centre + t * along)) - *radius;
}

/// Distance to a blob's own form; exact enough below `enough`.
double FormDistance(const Blob& blob, const Vec3d& p, double enough, double* radius) {
  if (const Tube* tube = std::get_if<Tube>(&blob.form)) return tube->Distance(p, enough, radius);
  return EllipsoidDistance(std::get<Ellipsoid>(blob.form), p);
}

/// Quadratic smooth minimum: equal to min(a, b) if they differ by `width` or more.
double SmoothMin(double a, double b, double width) {
  const double gap = std::fabs(a - b);
  const double low = std::min(a, b);
  if (gap >= width) return low;
  const double overlap = width - gap;
  return low - overlap * overlap / (4.0 * width);
}

}  // namespace

Vec3d Unit(const Vec3d& v) { return v / Length(v); }

Vec3d Turn(const Vec3d& v, const Vec3d& axis, double half_tangent) {
  // Cayley's form of a rotation: rational in the tangent of half the angle.
  const Vec3d h = half_tangent * axis;
  const double scale = 2.0 / (1.0 + half_tangent * half_tangent);
  return v + scale * Cross(h, v + Cross(h, v));
}

Frame Turn(const Frame& frame, const Vec3d& axis, double half_tangent) {
  return {Turn(frame.x, axis, half_tangent), Turn(frame.y, axis, half_tangent),
          Turn(frame.z, axis, half_tangent)};
}

Tube::Tube(std::vector<TubePoint> points) : points_(std::move(points)) {
  for (size_t first = 0; first + 1 < points_.size(); first += kSegmentsPerRun) {
    Run run;
    run.first = first;
    run.last = std::min(first + kSegmentsPerRun, points_.size() - 1);
    run.centre = points_[(run.first + run.last) / 2].centre;
    for (size_t i = run.first; i <= run.last; ++i) {
      run.radius = std::max(run.radius, Length(points_[i].centre - run.centre) + points_[i].radius);
    }
    runs_.push_back(run);
  }
}

double Tube::Distance(const Vec3d& p, double enough, double* out_radius) const {
  double best = kInfinity;
  for (const Run& run : runs_) {
    const double bound = Length(p - run.centre) - run.radius;
    if (bound > best || bound > enough) continue;
    for (size_t i = run.first; i < run.last; ++i) {
      double radius = 0.0;
      const double distance = SegmentDistance(points_[i], points_[i + 1], p, &radius);
      if (distance >= best) continue;
      best = distance;
      if (out_radius != nullptr) *out_radius = radius;
    }
  }
  return best;
}

double Distance(const Solid& solid, const Vec3d& p) {
  double result = kInfinity;
  for (const Blob& blob : solid.blobs) {
    // A carved blob matters if -distance exceeds the result, so no distance rules it out.
    const double enough = blob.carve ? kInfinity : result + blob.blend;
    double radius = 0.0;
    const double distance = FormDistance(blob, p, enough, &radius);
    if (blob.carve) {
      result = -SmoothMin(-result, distance, blob.blend);
    } else if (distance < result + blob.blend) {
      result = result == kInfinity ? distance : SmoothMin(result, distance, blob.blend);
    }
  }
  return result;
}

Vec3d Gradient(const Solid& solid, const Vec3d& p) {
  Vec3d gradient;
  for (int axis = 0; axis < 3; ++axis) {
    Vec3d below = p;
    Vec3d above = p;
    below[axis] -= kDifferenceStep;
    above[axis] += kDifferenceStep;
    gradient[axis] = (Distance(solid, above) - Distance(solid, below)) / (2.0 * kDifferenceStep);
  }
  return gradient;
}

double WantedEdge(const Solid& solid, double base, const Vec3d& p) {
  double edge = base;
  for (const Blob& blob : solid.blobs) {
    if (blob.edge <= 0.0 && blob.edge_per_radius <= 0.0) continue;
    double radius = 0.0;
    const double distance = FormDistance(blob, p, base / kEdgeGrowth, &radius);
    if (distance > base / kEdgeGrowth) continue;
    const double here = blob.edge_per_radius > 0.0 ? blob.edge_per_radius * radius : blob.edge;
    edge = std::min(edge, std::max(here, blob.edge) + kEdgeGrowth * std::fabs(distance));
  }
  return edge;
}

}  // namespace plush::samples

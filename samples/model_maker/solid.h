// SPDX-License-Identifier: MIT
// Solids as signed distances: smooth unions of ellipsoids and tapering tubes.
//
// Everything here and in the files that build on it uses + - * / and sqrt only, so that every
// compiler makes the same bytes.
#pragma once

#include "base/vec3.h"

#include <variant>
#include <vector>

namespace plush::samples {

using tools::Vec3d;

/// Three orthonormal axes in world coordinates, right-handed.
struct Frame {
  Vec3d x = {1.0, 0.0, 0.0};
  Vec3d y = {0.0, 1.0, 0.0};
  Vec3d z = {0.0, 0.0, 1.0};
};

/// `v` at unit length; v != 0.
Vec3d Unit(const Vec3d& v);

/// `v` turned about the unit `axis` by the angle whose half has the tangent `half_tangent`.
Vec3d Turn(const Vec3d& v, const Vec3d& axis, double half_tangent);

/// `frame` with every axis turned, as Turn does.
Frame Turn(const Frame& frame, const Vec3d& axis, double half_tangent);

struct Ellipsoid {
  Vec3d centre;  ///< [m]
  Vec3d radii;   ///< along the frame's axes [m], > 0
  Frame frame;
};

/// One end of a tube's segment.
struct TubePoint {
  Vec3d centre;         ///< [m]
  double radius = 0.0;  ///< [m], > 0
};

/// A chain of segments whose radius changes linearly along each.
class Tube {
 public:
  /// `points`: two or more, no two neighbours equal.
  explicit Tube(std::vector<TubePoint> points);

  /// Signed distance of `p` to the tube [m]; may return any value above `enough` where the
  /// distance is above it. `out_radius`, if not null, gets the radius at the nearest point.
  double Distance(const Vec3d& p, double enough, double* out_radius) const;

 private:
  /// Ball around a few consecutive segments, to skip them.
  struct Run {
    size_t first = 0;
    size_t last = 0;  ///< index of the last point
    Vec3d centre;
    double radius = 0.0;
  };
  std::vector<TubePoint> points_;
  std::vector<Run> runs_;
};

/// A part of a solid and how it joins those before it.
struct Blob {
  std::variant<Ellipsoid, Tube> form;
  double blend = 0.0;            ///< width over which it melts into the rest [m], >= 0
  double edge = 0.0;             ///< length of triangle edges on it [m]; 0: as everywhere
  bool carve = false;            ///< taken away instead of added
  double edge_per_radius = 0.0;  ///< tubes only: edges at most this times the radius; 0: no limit
};

/// Blobs joined in order.
struct Solid {
  std::vector<Blob> blobs;
};

/// Signed distance estimate [m]: negative inside, exact zero set, about unit slope near it.
/// +infinity for a solid without blobs.
double Distance(const Solid& solid, const Vec3d& p);

/// Gradient of Distance by central differences; not normalised.
Vec3d Gradient(const Solid& solid, const Vec3d& p);

/// Edge length wanted at `p`: `base` [m], or less near the blobs that ask for less; grows by
/// `kEdgeGrowth` metres per metre away from them.
double WantedEdge(const Solid& solid, double base, const Vec3d& p);

inline constexpr double kEdgeGrowth = 0.35;

}  // namespace plush::samples

// SPDX-License-Identifier: MIT
// Solids as signed distances: smooth unions of ellipsoids and tapering tubes.
//
// This file and those that build on it use only + - * / and sqrt, so that every compiler makes the
// same bytes.
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

/// Turns `v` about the unit `axis` by the angle whose half has the tangent `half_tangent`.
Vec3d Turn(const Vec3d& v, const Vec3d& axis, double half_tangent);

/// Turns every axis of `frame`.
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

  /// Signed distance of `p` to the tube [m]. May return any value above `enough` if the distance is
  /// above it. `out_radius`, if not null, gets the radius at the nearest point.
  double Distance(const Vec3d& p, double enough, double* out_radius) const;

 private:
  /// Ball around a few consecutive segments; rules them out together.
  struct Run {
    size_t first = 0;
    size_t last = 0;  ///< index of the last point
    Vec3d centre;
    double radius = 0.0;
  };
  std::vector<TubePoint> points_;
  std::vector<Run> runs_;
};

/// A part of a solid, and how it joins the parts before it.
struct Blob {
  std::variant<Ellipsoid, Tube> form;
  double blend = 0.0;            ///< width over which it melts into the rest [m], >= 0
  double edge = 0.0;             ///< wanted length of triangle edges on it [m]; 0: the model's
  bool carve = false;            ///< subtracted instead of added
  double edge_per_radius = 0.0;  ///< tubes only: edges at most this times the radius; 0: no limit
};

/// Blobs joined in order.
struct Solid {
  std::vector<Blob> blobs;
};

/// Estimate of the signed distance [m]: negative inside, exactly zero on the surface, with a slope
/// of about one near it. +infinity for a solid without blobs.
double Distance(const Solid& solid, const Vec3d& p);

/// Gradient of Distance by central differences; not normalised.
Vec3d Gradient(const Solid& solid, const Vec3d& p);

/// Edge length wanted at `p` [m]: `base`, or less near blobs that ask for less. Away from these it
/// grows by `kEdgeGrowth` metres per metre.
double WantedEdge(const Solid& solid, double base, const Vec3d& p);

inline constexpr double kEdgeGrowth = 0.35;

}  // namespace plush::samples

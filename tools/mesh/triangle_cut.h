// SPDX-License-Identifier: MIT
// The part of a triangle that lies in a tet, decided by orientation signs that are never zero.
//
// A surface point may lie exactly on a node, edge or face plane of the cage. To decide such cases
// consistently, the whole surface counts as moved by the infinitely small vector (e, e^2, e^3).
// Based on:
// Herbert Edelsbrunner, Ernst Peter Muecke. Simulation of Simplicity. 1990
#pragma once

#include "base/vec3.h"
#include "mesh/tet_mesh.h"

#include <array>
#include <cstdint>
#include <optional>

namespace plush::tools {

/// 1 if the counter-clockwise normal of the cage's plane (a, b, c) points to the surface's point
/// `p`, else -1. a, b and c are not collinear.
int SideOfCagePlane(const Vec3d& a, const Vec3d& b, const Vec3d& c, const Vec3d& p);

/// A corner of the cut polygon.
struct CutCorner {
  enum class Kind : uint8_t {
    kCorner,    ///< corner `first` of the triangle
    kEdgeFace,  ///< edge `first` of the triangle, from that corner on, crosses face `second`
    kTetEdge,   ///< the tet's edge between corners `first` < `second` crosses the triangle
  };
  Kind kind = Kind::kCorner;
  uint8_t first = 0;
  uint8_t second = 0;  ///< a face has the number of the opposite corner
};

/// Lines of the polygon's sides: 0..2 are the triangle's edges, kFaceLine + f the tet's faces.
inline constexpr uint8_t kFaceLine = 3;

/// A convex polygon of up to seven sides, in the same sense of rotation as the triangle.
struct TriangleCut {
  std::array<CutCorner, 7> corners;
  std::array<uint8_t, 7> lines = {};  ///< of the side from corner i to the next
  uint8_t count = 0;                  ///< 0: triangle and tet do not meet

  bool IsWhole() const {
    return count == 3 && lines[0] < kFaceLine && lines[1] < kFaceLine && lines[2] < kFaceLine;
  }
};

/// Cuts a triangle of positive area by a positively oriented tet. The corners and their order are
/// exact for the moved surface, so neighbouring parts fit together. Returns nothing if the triangle
/// is degenerate, so that the signs form no polygon.
std::optional<TriangleCut> CutTriangle(const std::array<Vec3d, 3>& triangle, const TetCorners& tet);

}  // namespace plush::tools

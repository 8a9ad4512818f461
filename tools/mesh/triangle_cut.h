// SPDX-License-Identifier: MIT
// The part of a triangle that lies in a tet.
//
// Orientation signs that are never zero: where a surface touches the cage's tets in a node, edge or
// plane, it is taken to be moved by an infinitely small vector. Based on:
// Herbert Edelsbrunner, Ernst Peter Muecke. Simulation of Simplicity. 1990
//
// The vector is (e, e^2, e^3) for every point of the surface alike, so that all signs are those of
// one and the same surface in one and the same cage.
#pragma once

#include "base/vec3.h"
#include "mesh/tet_mesh.h"

#include <array>
#include <cstdint>
#include <optional>

namespace plush::tools {

/// Side of plane (a, b, c) of the cage on which point `p` of the surface lies: 1 where the plane's
/// counter-clockwise normal points, else -1. The three points are not on one line.
int SideOfCagePlane(const Vec3d& a, const Vec3d& b, const Vec3d& c, const Vec3d& p);

/// Side of triangle (p, q, r) of the surface on which node `n` of the cage lies; the same signs.
/// The triangle has an area.
int SideOfSurfacePlane(const Vec3d& p, const Vec3d& q, const Vec3d& r, const Vec3d& n);

/// Sign of SixVolume(p, q, a, b) for an edge pq of the surface and an edge ab of the cage: how
/// their lines pass each other. 0 only where they are parallel and in one plane; they do not cross
/// then.
int PassingSide(const Vec3d& p, const Vec3d& q, const Vec3d& a, const Vec3d& b);

/// A corner of the part, by what makes it.
struct CutCorner {
  enum class Kind : uint8_t {
    kCorner,    ///< corner `first` of the triangle
    kEdgeFace,  ///< edge `first` of the triangle (from that corner to the next) passes face
                ///< `second`
    kTetEdge,   ///< the tet's edge between corners `first` < `second` passes the triangle
  };
  Kind kind = Kind::kCorner;
  uint8_t first = 0;
  uint8_t second = 0;  ///< faces are named by the tet's corner opposite to them
};

/// Lines that the part's sides lie on: 0..2 are the triangle's edges, kFaceLine + f the tet's
/// faces.
inline constexpr uint8_t kFaceLine = 3;

/// A convex polygon with up to seven sides, in the triangle's sense of rotation.
struct TriangleCut {
  std::array<CutCorner, 7> corners;
  std::array<uint8_t, 7> lines = {};  ///< of the side from corner i to the next
  uint8_t count = 0;                  ///< 0: triangle and tet do not meet

  bool IsWhole() const {
    return count == 3 && lines[0] < kFaceLine && lines[1] < kFaceLine && lines[2] < kFaceLine;
  }
};

/// Cuts a triangle with an area by a positively oriented tet. Which corners there are and how they
/// follow each other is decided exactly, for a surface moved by an infinitely small vector
/// (perturbed_signs.h), so that parts in neighbouring tets and of neighbouring triangles fit
/// together. Nothing where the signs make no polygon: the triangle is degenerate.
std::optional<TriangleCut> CutTriangle(const std::array<Vec3d, 3>& triangle, const TetCorners& tet);

}  // namespace plush::tools

// SPDX-License-Identifier: MIT
// The part of a triangle that lies in a tet.
#pragma once

#include "base/vec3.h"
#include "embed/tet_geometry.h"

#include <array>
#include <cstdint>
#include <optional>

namespace plush::tools {

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

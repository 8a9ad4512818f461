// SPDX-License-Identifier: MIT
// Inside and outside of any triangle soup, by generalised winding numbers.
// Based on:
// Alec Jacobson, Ladislav Kavan, Olga Sorkine-Hornung. Robust Inside-Outside Segmentation using
//   Generalized Winding Numbers. 2013
// Gavin Barill, Neil Dickson, Ryan Schmidt, David Levin, Alec Jacobson. Fast Winding Numbers for
//   Soups and Clouds. 2018
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/finding.h"
#include "base/vec3.h"
#include "mesh/surface_mesh.h"

namespace plush::tools {

/// The solid that a surface means: welded points and oriented triangles without degenerate or
/// coincident ones, each component turned outwards unless it lies inside another (a cavity).
struct SolidSurface {
  std::vector<Vec3d> points;                       ///< [m]
  std::vector<std::array<uint32_t, 3>> triangles;  ///< into points
  std::vector<uint32_t> source_triangle;           ///< of the SurfaceMesh, per triangle
};

/// Drops degenerate faces, reduces coincident ones to one, orients components; adds CAGE_...
/// findings that say what was assumed. An empty result means that no triangle has positive area.
SolidSurface MakeSolidSurface(const SurfaceMesh& mesh, FindingList* findings);

/// Answers winding-number queries. Thread-safe.
class InsideTest {
 public:
  explicit InsideTest(const SolidSurface& surface);
  ~InsideTest();
  InsideTest(InsideTest&&) noexcept;

  /// Generalised winding number: 1 inside a closed outward surface, 0 outside.
  double WindingNumber(const Vec3d& point) const;
  /// |w| > 1/2.
  bool IsInside(const Vec3d& point) const;

 private:
  struct Tree;
  std::unique_ptr<Tree> tree_;
};

}  // namespace plush::tools

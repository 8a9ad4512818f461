// SPDX-License-Identifier: MIT
// Small meshes, sound and broken, for the tests of every tools module.
#pragma once

#include "mesh/surface_mesh.h"

#include <cstdint>
#include <string>

namespace plush::tests {

using tools::SurfaceMesh;
using tools::Vec3d;

/// A closed sphere of latitude rings (>= 2) and segments (>= 3), outward, 2 s (r - 1) triangles.
SurfaceMesh MakeSphere(double radius, uint32_t rings, uint32_t segments, const Vec3d& centre = {});

/// A closed, outward box of 12 triangles with 8 vertices.
SurfaceMesh MakeBox(const Vec3d& low, const Vec3d& high);

/// The same without its upper (+y) face: 10 triangles, one hole of 4 edges.
SurfaceMesh MakeOpenBox(const Vec3d& low, const Vec3d& high);

/// A closed box whose six faces are n x n squares of two triangles each.
SurfaceMesh MakeGridBox(const Vec3d& low, const Vec3d& high, uint32_t n);

/// A one-sided band with one border, of `segments` quadrilaterals (>= 3).
SurfaceMesh MakeMoebiusStrip(double radius, double width, uint32_t segments);

/// Two unit boxes that share the region [0.5, 1]^3.
SurfaceMesh MakeOverlappingBoxes();

/// A sphere of radius 0.5 inside one of radius 1; either can be turned inwards.
SurfaceMesh MakeNestedShells(bool outer_inward, bool inner_inward);

/// A closed ring in the xz plane around the y axis.
SurfaceMesh MakeTorus(double ring_radius, double tube_radius, uint32_t ring_segments,
                      uint32_t tube_segments);

/// n x n x n separate tets with three legs of length `leg` along the axes, 1 m apart.
SurfaceMesh MakeTetGrid(int n, double leg);

/// `count` unconnected triangles in the unit cube with edges about `size`, from a seed.
SurfaceMesh MakeTriangleSoup(uint32_t count, double size, uint32_t seed);

/// `a` and then `b` as one mesh with one more part.
SurfaceMesh Joined(const SurfaceMesh& a, const SurfaceMesh& b);

/// Turns triangles [first, first + count) inside out.
void FlipTriangles(SurfaceMesh* mesh, size_t first, size_t count);

/// Gives every corner its own vertex, as formats without shared vertices do.
SurfaceMesh Exploded(const SurfaceMesh& mesh);

/// Six times the volume within a closed mesh [m^3].
double SixTimesVolume(const SurfaceMesh& mesh);

/// Adds area-weighted normals and one part over all triangles. All makers above call it.
void CompleteMesh(SurfaceMesh* mesh);

/// Writes positions and triangles, 17 digits each, as Wavefront OBJ; one group per named part.
void WriteObj(const SurfaceMesh& mesh, const std::string& path);

/// Writes text or bytes to a file; the test fails if it cannot.
void WriteText(const std::string& path, const std::string& text);

/// A fresh directory, removed with all its content at the end of the scope.
class TemporaryFolder {
 public:
  TemporaryFolder();
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  const std::string& path() const { return path_; }
  std::string operator/(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

}  // namespace plush::tests

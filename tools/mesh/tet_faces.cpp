// SPDX-License-Identifier: MIT
// Finds the faces and the boundary of a tet mesh by sorting the corners of all faces.
#include "mesh/tet_faces.h"

#include <algorithm>

namespace plush::tools {
namespace {

// A face's sorted corners, its tet, and the tet's corner opposite the face.
struct FaceUse {
  std::array<uint32_t, 3> key;
  uint32_t tet;
  uint32_t corner;
};

std::vector<FaceUse> SortedUses(std::span<const std::array<uint32_t, 4>> tets) {
  std::vector<FaceUse> uses;
  uses.reserve(4 * tets.size());
  for (uint32_t t = 0; t < tets.size(); ++t) {
    for (uint32_t corner = 0; corner < 4; ++corner) {
      FaceUse use = {FaceOf(tets[t], corner), t, corner};
      std::sort(use.key.begin(), use.key.end());
      uses.push_back(use);
    }
  }
  std::sort(uses.begin(), uses.end(), [](const FaceUse& a, const FaceUse& b) {
    return a.key != b.key ? a.key < b.key : a.tet < b.tet;
  });
  return uses;
}

std::vector<Vec3> AreaWeightedNormals(const SurfaceMesh& surface) {
  std::vector<Vec3d> sums(surface.positions.size());
  for (const auto& [a, b, c] : surface.triangles) {
    const Vec3d normal = Cross(surface.positions[b] - surface.positions[a],
                               surface.positions[c] - surface.positions[a]);
    for (const uint32_t id : {a, b, c}) sums[id] += normal;
  }
  std::vector<Vec3> normals;
  normals.reserve(sums.size());
  for (const Vec3d& sum : sums) {
    const double length = Length(sum);
    const Vec3d unit = length > 0.0 ? sum / length : Vec3d{0.0, 1.0, 0.0};
    normals.push_back(ToFloat(unit));
  }
  return normals;
}

}  // namespace

TetFaces BuildTetFaces(std::span<const std::array<uint32_t, 4>> tets) {
  TetFaces faces;
  faces.of_tet.resize(tets.size());
  const std::vector<FaceUse> uses = SortedUses(tets);
  faces.tets.reserve(uses.size());
  for (size_t i = 0; i < uses.size(); ++i) {
    if (i == 0 || uses[i].key != uses[i - 1].key) {
      faces.starts.push_back(static_cast<uint32_t>(i));
    }
    faces.of_tet[uses[i].tet][uses[i].corner] = static_cast<uint32_t>(faces.starts.size() - 1);
    faces.tets.push_back(uses[i].tet);
  }
  faces.starts.push_back(static_cast<uint32_t>(uses.size()));
  return faces;
}

std::vector<BoundaryFace> FindBoundaryFaces(const TetMesh& mesh) {
  const std::vector<FaceUse> uses = SortedUses(mesh.tets);
  std::vector<BoundaryFace> boundary;
  for (size_t i = 0; i < uses.size(); ++i) {
    const bool like_previous = i > 0 && uses[i].key == uses[i - 1].key;
    const bool like_next = i + 1 < uses.size() && uses[i].key == uses[i + 1].key;
    if (like_previous || like_next) continue;
    boundary.push_back({FaceOf(mesh.tets[uses[i].tet], uses[i].corner), uses[i].tet});
  }
  return boundary;
}

SurfaceMesh BoundarySurface(const TetMesh& mesh) {
  SurfaceMesh surface;
  for (const BoundaryFace& face : FindBoundaryFaces(mesh)) surface.triangles.push_back(face.nodes);
  surface.positions = KeepUsedPoints(mesh.nodes, &surface.triangles);
  surface.normals = AreaWeightedNormals(surface);
  surface.parts.push_back({"", "", "", 0, static_cast<uint32_t>(surface.triangles.size())});
  return surface;
}

}  // namespace plush::tools

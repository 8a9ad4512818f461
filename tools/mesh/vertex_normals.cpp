// SPDX-License-Identifier: MIT
#include "mesh/vertex_normals.h"

#include "mesh/welding.h"

#include <algorithm>

namespace plush::tools {
namespace {

// Divided by the model's size, squares neither overflow nor underflow.
double LargestCoordinate(const SurfaceMesh& mesh) {
  double size = 0.0;
  for (const Vec3d& p : mesh.positions) {
    size = std::max({size, std::abs(p.x), std::abs(p.y), std::abs(p.z)});
  }
  return size > 0.0 ? size : 1.0;
}

std::vector<Vec3d> AreaNormals(const SurfaceMesh& mesh, const Welding& welding) {
  std::vector<Vec3d> sums(welding.num_points);
  const double size = LargestCoordinate(mesh);
  for (const auto& t : mesh.triangles) {
    const Vec3d a = mesh.positions[t[0]] / size;
    const Vec3d n = Cross(mesh.positions[t[1]] / size - a, mesh.positions[t[2]] / size - a);
    for (const uint32_t v : t) sums[welding.point_of_vertex[v]] += n;
  }
  return sums;
}

}  // namespace

void FillMissingNormals(const std::vector<bool>& missing, SurfaceMesh* mesh) {
  if (std::find(missing.begin(), missing.end(), true) == missing.end()) return;
  const Welding welding = WeldByPosition(*mesh);
  const std::vector<Vec3d> sums = AreaNormals(*mesh, welding);
  for (size_t v = 0; v < missing.size(); ++v) {
    if (!missing[v]) continue;
    const Vec3d& sum = sums[welding.point_of_vertex[v]];
    const double length = Length(sum);
    const Vec3d n = length > 0.0 ? sum / length : Vec3d{0.0, 1.0, 0.0};
    mesh->normals[v] = {static_cast<float>(n.x), static_cast<float>(n.y), static_cast<float>(n.z)};
  }
}

}  // namespace plush::tools

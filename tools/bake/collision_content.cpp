// SPDX-License-Identifier: MIT
#include "bake/collision_content.h"

#include <vector>

namespace plush::tools {
namespace {

// The tets as the file numbers their nodes.
TetMesh MeshOf(const RestData& rest) {
  TetMesh mesh;
  mesh.nodes.reserve(rest.nodes.size());
  for (const Vec3& node : rest.nodes) mesh.nodes.push_back({node.x, node.y, node.z});
  mesh.tets.reserve(rest.tets.size());
  for (const Tet& tet : rest.tets) mesh.tets.push_back({tet.a, tet.b, tet.c, tet.d});
  return mesh;
}

}  // namespace

Partition CutSolid(const SolidSurface& solid, std::span<const uint32_t> tet_of_point,
                   const RestData& rest, FindingList* findings) {
  return PartitionSurface(solid, MeshOf(rest), tet_of_point, findings);
}

Partition CutEmbedded(const SurfaceMesh& surface, std::span<const uint32_t> tet_ids,
                      const RestData& rest, FindingList* findings) {
  FindingList already_told;  // about the surface, which the import has looked at
  const SolidSurface solid = MakeSolidSurface(surface, &already_told);
  std::vector<uint32_t> tet_of_point(solid.points.size(), 0);
  for (size_t v = 0; v < tet_ids.size(); ++v) tet_of_point[solid.point_of_vertex[v]] = tet_ids[v];
  Partition partition = PartitionSurface(solid, MeshOf(rest), tet_of_point, findings);
  return partition.data.tets.empty() ? TakeBoundary(surface, rest) : partition;
}

Partition TakeBoundary(const SurfaceMesh& surface, const RestData& rest) {
  return PartitionBoundary(surface, MeshOf(rest));
}

}  // namespace plush::tools

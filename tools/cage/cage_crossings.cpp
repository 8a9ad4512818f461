// SPDX-License-Identifier: MIT
#include "cage/cage_crossings.h"

#include "cage/split_overlaps.h"
#include "cage/tet_neighbourhood.h"
#include "mesh/self_intersection.h"

namespace plush::tools {

std::vector<std::array<uint32_t, 2>> FindCageCrossings(const SplitCage& cage,
                                                       const CageFaces& faces, double cell) {
  std::vector<std::array<uint32_t, 3>> triangles;
  triangles.reserve(faces.boundary.size());
  for (const CageFace& face : faces.boundary) triangles.push_back(face.nodes);
  TetNeighbourhood near(cage, faces);
  std::vector<std::array<uint32_t, 2>> crossings;
  for (const TrianglePair& pair : FindSelfIntersections(cage.mesh.nodes, triangles).pairs) {
    const uint32_t tet = faces.boundary[pair.first].tet;
    const uint32_t other = faces.boundary[pair.second].tet;
    near.LookAround(tet);
    if (!MayOverlap(cage, tet, other, near.Has(other), cell)) {
      crossings.push_back({pair.first, pair.second});
    }
  }
  return crossings;
}

}  // namespace plush::tools

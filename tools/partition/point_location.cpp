// SPDX-License-Identifier: MIT
#include "partition/point_location.h"

#include "partition/perturbed_signs.h"

namespace plush::tools {
namespace {

// Steps around the node that a point may coincide with; a walk that needs more has lost its way.
constexpr int kMaxSteps = 200;

// The face that the point lies beyond: 4 where there is none.
size_t FaceBeyond(const TetMesh& mesh, uint32_t tet, const Vec3d& p) {
  for (size_t corner = 0; corner < 4; ++corner) {
    const auto [a, b, c] = FaceOf(mesh.tets[tet], corner);
    if (SideOfCagePlane(mesh.nodes[a], mesh.nodes[b], mesh.nodes[c], p) > 0) return corner;
  }
  return 4;
}

}  // namespace

uint32_t FindHoldingTet(const TetMesh& mesh, const CageFaces& faces, uint32_t start,
                        const Vec3d& p) {
  if (start >= mesh.tets.size()) return kNotHeld;
  uint32_t tet = start;
  for (int step = 0; step < kMaxSteps; ++step) {
    const size_t face = FaceBeyond(mesh, tet, p);
    if (face == 4) return tet;
    tet = faces.neighbours[tet][face];
    if (tet == kBoundaryFace) return kNotHeld;
  }
  return kNotHeld;
}

}  // namespace plush::tools

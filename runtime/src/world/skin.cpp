// SPDX-License-Identifier: MIT
#include "world/skin.h"

#include "base/vector_math.h"
#include "elasticity/elements.h"

namespace plush {

void SkinPositions(const Body& body, std::span<Vec3> positions) {
  // Origin first in double, then one rounding: the same place to the bit wherever it is asked.
  for (size_t v = 0; v < positions.size(); ++v) {
    const Tet& tet = body.simulation.tets[body.visual.tet_ids[v]];
    const Vec4& w = body.visual.weights[v];
    const Vec3 local =
        body.x[tet.a] * w.x + body.x[tet.b] * w.y + body.x[tet.c] * w.z + body.x[tet.d] * w.w;
    positions[v] = WorldPosition(body, local);
  }
}

void SkinNormals(const Body& body, std::span<Vec3> normals) {
  for (size_t v = 0; v < normals.size(); ++v) {
    const uint32_t t = body.visual.tet_ids[v];
    const Tet& tet = body.simulation.tets[t];
    const Mat3 F = DeformationGradient(body.x[tet.a], body.x[tet.b], body.x[tet.c], body.x[tet.d],
                                       body.simulation.DmInv(t));
    const Vec3 normal = Cofactor(F) * body.visual.normals[v];
    const float length = Length(normal);
    // A collapsed tet has no normal to give: the rest normal, turned with the tet, stands in.
    normals[v] = length > 1.0e-20f
                     ? normal * (1.0f / length)
                     : RotationMatrix(body.Rotations().Get(body.simulation.tet_slots[t])) *
                           body.visual.normals[v];
  }
}

}  // namespace plush

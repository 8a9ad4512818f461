// SPDX-License-Identifier: MIT
// Source: triangle_code.h.
#include "contact/triangle_code.h"

namespace plush {

constinit const TriangleCode kTriangleCode = {
    MakeRestMesh,
    MakeFacePatches,
    FindDeepestInMesh,
    [](const ColliderMesh& mesh, uint32_t index) { return mesh.Face(index); },
    [](const ColliderMesh& mesh, const Vec3& point, float reach, const Vec3* front) {
      return mesh.FindNearest(point, reach, front);
    },
    [](const ContactProblem& problem, const LocalCollider& collider, std::span<const NodeVec> moved,
       float depth, SunkPoints::IsKnown is_known, const void* user,
       SunkPoints* sunk) { sunk->FindOnMesh(problem, collider, moved, depth, is_known, user); },
    FollowMesh,
    FindMeshPlane};

}  // namespace plush

// SPDX-License-Identifier: MIT
// What the runtime calls of meshes and height fields. Their shapes refer to it, so that a program
// that makes none does not link it.
#pragma once

#include "collision/rest_mesh.h"
#include "touching/sensor_overlap.h"
#include "touching/sunk_points.h"

namespace plush {

struct ContactState;
struct PlaneContact;

/// The one table is kTriangleCode (contact/mesh_contacts.cpp).
struct TriangleCode {
  /// See the functions and members of these names.
  decltype(&MakeRestMesh) make_rest_mesh;
  decltype(&MakeFacePatches) make_patches;
  decltype(&FindDeepestInMesh) find_deepest;
  MeshFace (*face)(const ColliderMesh& mesh, uint32_t index);
  NearestPoint (*find_nearest)(const ColliderMesh& mesh, const Vec3& point, float reach,
                               const Vec3* front);
  /// SunkPoints::FindOnMesh.
  void (*find_sunk)(const ContactProblem& problem, const LocalCollider& collider,
                    std::span<const NodeVec> moved, float depth, SunkPoints::IsKnown is_known,
                    const void* user, SunkPoints* sunk);
  /// Moves a contact to the triangle that holds its point at the start of the substep, and finds
  /// the plane. If no triangle does, the contact has no face.
  void (*follow)(const ContactProblem& problem, const LocalCollider& collider,
                 PlaneContact* contact, ContactState* state);
  /// Finds the plane of a mesh that holds a sunk point. Returns whether there is one: a ridge that
  /// the search saw may just miss the triangle here, because numbers round differently.
  bool (*find_plane)(const ContactProblem& problem, const SunkPoint& sunk,
                     const EmbeddedPoint& point, std::span<const NodeVec> d, HoldingPlane* plane);
};

}  // namespace plush

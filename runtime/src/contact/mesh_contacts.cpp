// SPDX-License-Identifier: MIT
// Contacts with meshes: which triangle or ridge holds them, and its plane. And the one
// TriangleCode.
#include "base/vector_math.h"
#include "contact/plane_contacts.h"
#include "touching/triangle_code.h"

#include <cmath>

namespace plush {
namespace {

// Finds the triangle of a mesh that a contact has come to, as the substep starts: the nearest one
// that faces its plane, once the point has left the triangle that holds it. A point behind that one
// stays there, however deep it is: in a thin wall the other side may be nearer. Leaves no triangle
// if the point has left the surface.
void FollowFace(const ContactProblem& problem, const LocalCollider& collider, const Vec3& start,
                PlaneContact* contact) {
  const Vec3 at = collider.start.ToLocal(start);
  const MeshFace before = collider.mesh.Face(contact->face);
  const float distance = std::sqrt(SquaredDistance(before, at));
  const bool is_deep = before.Gap(at) < 0.0f && IsAbove(before, at);
  if (distance > problem.slop && !is_deep) {
    const float reach = distance + problem.slop;
    const NearestPoint nearest = collider.mesh.FindNearest(at, reach, &before.normal);
    // Beyond its border.
    const bool has_left = std::fabs(nearest.gap) < nearest.distance - problem.slop;
    contact->face = has_left ? kNoTriangle : nearest.face;
  }
  if (contact->face != kNoTriangle) {
    contact->plane = PlaneOfFace(collider, contact->face, start, problem.rise);
  }
}

// Moves a contact to the point of its triangle that a ridge presses on at the start of the substep.
// The contact keeps its impulse. It has no face if the ridge does not reach the triangle any more.
void FollowRidge(const ContactProblem& problem, const LocalCollider& collider,
                 PlaneContact* contact, ContactState* state) {
  constexpr float kSame = 0.01f;  // of weights: farther, the contact moves
  PointCouplings& S = state->couplings;
  if (S.num_slots == S.points.size()) state->KeepTouching();
  const EmbeddedPoint point = state->PointOf(*contact);
  Vec3 corners[3];
  problem.surface.ForCorners(point.id, [&](int k, const EmbeddedPoint& corner) {
    corners[k] = collider.start.ToLocal(corner.Of(problem.x));
  });
  RidgePoint at;
  if (!FindRidgePoint(collider.mesh, contact->face, corners, point.u, point.v, problem.slop, &at)) {
    contact->face = kNoTriangle;
    return;
  }
  const bool moves = std::fabs(at.u - point.u) + std::fabs(at.v - point.v) > kSame;
  if (moves && S.num_slots < S.points.size()) {
    const EmbeddedPoint moved = problem.surface.Point(point.id, at.u, at.v);
    if (moved.MovableShare() >= kLeastMovable) contact->slot = S.Add(moved);
  }
  const Vec3 start = state->PointOf(*contact).Of(problem.x);
  contact->plane = PlaneOfRidge(collider, at, start, problem.rise);
}

void FollowMesh(const ContactProblem& problem, const LocalCollider& collider, PlaneContact* contact,
                ContactState* state) {
  const EmbeddedPoint& point = state->PointOf(*contact);
  if (problem.surface.IsInside(point.id)) return FollowRidge(problem, collider, contact, state);
  FollowFace(problem, collider, point.Of(problem.x), contact);
}

bool FindMeshPlane(const ContactProblem& problem, const SunkPoint& sunk, const EmbeddedPoint& point,
                   std::span<const NodeVec> d, HoldingPlane* plane) {
  const LocalCollider& collider = problem.InSlot(sunk.collider);
  const Vec3 start = point.Of(problem.x);
  if (!problem.surface.IsInside(sunk.id)) {
    *plane = PlaneOfFace(collider, sunk.face, start, problem.rise);
    return true;
  }
  Vec3 corners[3];
  problem.surface.ForCorners(sunk.id, [&](int k, const EmbeddedPoint& corner) {
    const Vec3 y = corner.Of(problem.y);
    corners[k] = collider.end.ToLocal(d.empty() ? y : y + corner.Of(d));
  });
  RidgePoint at;
  if (!FindRidgePoint(collider.mesh, sunk.face, corners, sunk.u, sunk.v, problem.slop, &at)) {
    return false;
  }
  *plane = PlaneOfRidge(collider, at, start, problem.rise);
  return true;
}

}  // namespace

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

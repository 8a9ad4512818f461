// SPDX-License-Identifier: MIT
// The part of a mesh near a body, and which tets of the body are near it.
//
// A list like Verlet's: it holds while no node has moved farther than a margin. Within it, each tet
// has clearances: so far may its nodes move before a vertex can be deeper than it may be. A body
// at rest is searched once. One that moves is searched once in a substep, except where it touches.
// What is remembered are bounds and copies of triangles, so it changes no result.
#pragma once

#include "plush/allocator.h"

#include "base/array.h"
#include "base/vector_math.h"
#include "colliders/face_bounds.h"
#include "colliders/mesh_box.h"
#include "colliders/ridge.h"
#include "touching/contact_problem.h"

#include <cstdint>
#include <span>

namespace plush {

/// How far vertices may move before one can be deeper than it may be [m].
struct Clearance {
  float of_end = 0.0f;  ///< from their ways' ends, if they start near there, too
  float of_way = 0.0f;  ///< both ends of their ways; no more than `of_end`

  void AtMost(const Clearance& other) {
    of_end = other.of_end < of_end ? other.of_end : of_end;  // quicker than calls of fmin
    of_way = other.of_way < of_way ? other.of_way : of_way;
  }
};

/// By how much clearances shrink if a node moves: by twice its distance from its noted way [m].
struct NodeMoves {
  float from_end = 0.0f;  ///< of both ends from the noted end
  float from_way = 0.0f;  ///< of each end from its own
};

/// A CdgTet near a mesh.
struct NearMeshTet {
  uint32_t tet = 0;
  uint32_t first_face = 0;
  uint32_t num_faces = 0;
  bool has_list = false;  ///< whether the faces had room
  Clearance of_all;       ///< of all vertices, see NearMesh::Clears
  // Vertices with the least clearances, and a bound for all others: only those few touch.
  Clearance of_others;
  uint32_t few[4] = {};  ///< from the tet's first one on
  uint32_t num_few = 0;
  bool has_ridges = false;  ///< whether a ridge may come near
  float of_ridges = 0.0f;   ///< how far nodes may move before one is near a triangle [m]
  // A plane that all parts of these faces near the tet are below, or a normal of zero.
  Vec3 normal;
  float offset = 0.0f;  ///< dot(normal, x) on the plane [m]
};

/// The tets of a body near one mesh, and the faces near each.
class NearMesh {
 public:
  using Box = MeshBox;

  /// Memory for a body. Returns false if the allocator fails.
  bool Allocate(const Allocator& allocator, size_t num_tets, size_t num_nodes);
  bool is_allocated() const { return from_.size() > 0; }

  /// Forgets the list: the slot of its collider may get another one.
  void Forget() { collider_ = UINT32_MAX; }

  /// Whether the list is of this collider at its poses in the substep.
  bool IsOf(const LocalCollider& collider) const;
  /// Whether the list holds for nodes that move from problem.x to `ends` (num_nodes x 1).
  bool Holds(const ContactProblem& problem, std::span<const Vec3> ends) const;
  /// Makes the list for nodes that move from problem.x to `ends`.
  void Build(const ContactProblem& problem, const LocalCollider& collider,
             std::span<const Vec3> ends);

  /// Places nodes that move from problem.x to `ends` in the mesh's coordinates, as Build does.
  void PlaceNodes(const ContactProblem& problem, const LocalCollider& collider,
                  std::span<const Vec3> ends);
  const Vec3& From(uint32_t node) const { return local_from_[node]; }
  const Vec3& To(uint32_t node) const { return local_to_[node]; }

  std::span<NearMeshTet> tets() { return tets_.span().first(num_tets_); }
  /// Calls visit(face, box around it) for the fronts of the faces near a tet with a list.
  template <class Visit>
  void ForFaces(const NearMeshTet& tet, const Visit& visit) const {
    for (uint32_t i = 0; i < tet.num_faces; ++i) {
      const uint16_t index = of_tets_[tet.first_face + i];
      visit(faces_[index], boxes_[index]);
    }
  }

  /// The same with the faces' planes; faces without an area have none.
  template <class Visit>
  void ForPlanes(const NearMeshTet& tet, const Visit& visit) const {
    for (uint32_t i = 0; i < tet.num_faces; ++i) {
      const FacePlanes& planes = planes_[of_tets_[tet.first_face + i]];
      if (!IsZero(planes.normal)) visit(planes);
    }
  }
  /// Around all faces near the body that have room.
  const Box& around_faces() const { return around_faces_; }

  /// Whether ForRidges has all that are near tets.
  bool has_all_ridges() const { return has_all_ridges_; }
  template <class Visit>
  void ForRidges(const Visit& visit) const {
    for (uint32_t i = 0; i < num_ridges_; ++i) visit(ridges_[i]);
  }

  /// Finds how far nodes that move from problem.x to `ends` (num_nodes x 1) are from where NoteWays
  /// saw them.
  void FindMoves(const ContactProblem& problem, std::span<const Vec3> ends);
  /// Whether a tet is clear: no vertex is deeper than it may be, by more than `depth` [m], if nodes
  /// move as FindMoves saw. Clearances are those at the last NoteWays, then those of that way.
  bool Clears(const ContactProblem& problem, float depth, NearMeshTet* tet) const;
  /// Notes where nodes start and end, once all tets have their clearances of these ways.
  void NoteWays(const ContactProblem& problem, std::span<const Vec3> ends);

  /// Triangles closer than this to a tet are in its list, while it holds [m].
  static float Margin(const ContactProblem& problem) { return 0.5f * problem.reach; }

 private:
  bool ListFaces(const Box& box, const ColliderMesh& mesh);
  void ListRidges(const Box& box, const ColliderMesh& mesh);
  bool HasRidges(const Box& box, const ColliderMesh& mesh) const;
  void AddTet(const ContactProblem& problem, const ColliderMesh& mesh, uint32_t tet);
  template <class Visit>
  void ForFacesIn(const Box& box, const ColliderMesh& mesh, const NearMeshTet& tet,
                  const Visit& visit) const;
  bool HasFacesIn(const Box& box, const ColliderMesh& mesh, const NearMeshTet& tet) const;
  void FindPlaneAbove(const Box& box, const ColliderMesh& mesh, NearMeshTet* tet) const;

  uint32_t collider_ = UINT32_MAX;  // its slot
  double anchor_[3] = {};
  double unit_ = 0.0;
  SolidPlace start_, end_;      // of the collider
  float margin_ = 0.0f;         // [m]
  bool has_all_faces_ = false;  // whether those near the body had room
  Array<NearMeshTet> tets_;     // (num_tets x 1)
  uint32_t num_tets_ = 0;
  Array<MeshFace> faces_;  // near the body, in the mesh's coordinates
  Array<FacePlanes> planes_;
  Array<Box> boxes_;  // around them
  Box around_faces_;  // around all of these, if there are any
  uint32_t num_faces_ = 0;
  Array<uint16_t> of_tets_;  // indices of faces, for one tet after the other
  uint32_t num_of_tets_ = 0;
  Array<Ridge> ridges_;  // of the faces
  uint32_t num_ridges_ = 0;
  bool has_all_ridges_ = false;  // whether they and the faces had room, or there are none
  // The nodes' ways when the list was made, in the body's coordinates (num_nodes x 1).
  Array<Vec3> from_, to_;
  // The nodes' ways as of NoteWays, in the body's coordinates, and since (num_nodes x 1).
  Array<Vec3> noted_from_, noted_to_;
  Array<NodeMoves> moves_;
  // Scratch: of PlaceNodes (num_nodes x 1).
  Array<Vec3> local_from_, local_to_;
};

/// A box around the vertices of a tet whose nodes move straight, and this margin [m].
NearMesh::Box BoxAround(const CdgTet& tet, const Vec3 (&from)[4], const Vec3 (&to)[4],
                        float margin);

/// MayMeetBox for ridges whose own boxes overlap the box.
bool MayCrossBox(const Vec3 (&ends)[2], const MeshBox& box);

/// Whether a ridge between these ends may come into a box.
inline bool MayMeetBox(const Vec3 (&ends)[2], const MeshBox& box) {
  const auto& [a, b] = ends;
  return box.Overlaps({LowerOf(a, b), UpperOf(a, b)}) && MayCrossBox(ends, box);  // few overlap
}

/// Calls visit(ridge) for the ridges whose own boxes overlap a box, and whose ends is_wanted(ends)
/// accepts, until it returns false.
template <class IsWanted, class Visit>
void ForRidgesIn(const MeshBox& box, const ColliderMesh& mesh, const IsWanted& is_wanted,
                 const Visit& visit) {
  const FacePatches* const patches = mesh.source->patches;
  mesh.ForTriangles(box.low, box.high, [&](uint32_t triangle) {
    if (patches != nullptr && !patches->MayHaveRidges(triangle)) return true;
    Vec3 corners[3];
    mesh.Corners(triangle, corners);
    MeshFace face = {.index = kNoTriangle};
    for (int k = 0; k < 3; ++k) {
      const Vec3 ends[2] = {corners[k], corners[(k + 1) % 3]};
      const bool overlaps = box.Overlaps({LowerOf(ends[0], ends[1]), UpperOf(ends[0], ends[1])});
      if (!overlaps || !OwnsEdge(mesh, triangle, k) || !is_wanted(ends)) continue;
      if (face.index == kNoTriangle) face = mesh.Face(2 * triangle);
      Ridge ridge;
      if (FindRidge(mesh, face, k, &ridge) && !visit(ridge)) return false;
    }
    return true;
  });
}

}  // namespace plush

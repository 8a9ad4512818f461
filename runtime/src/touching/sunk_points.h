// SPDX-License-Identifier: MIT
// Finds the points of a body's surface that lie below planes and inside convex solids.
//
// A point's gap is the mean of its nodes' gaps by its weights. So a tet whose nodes are above a
// plane has no point below it. The vertices of other tets are read one after the other, in vectors;
// if they are many, by the bounds of their patches' trees (b-DOPs) [Civ 5.4.3].
// A solid's distance is convex. So its tangent plane above a tet's middle rules out most tets in
// the same way, and a triangle can be deeper inside than its corners: small solids press on
// triangles. Of a mesh, the triangles that a vertex crosses hold it, one after the other.
#pragma once

#include "plush/allocator.h"

#include "base/array.h"
#include "base/float4.h"
#include "touching/contact_problem.h"
#include "touching/lowest_vertex.h"
#include "touching/near_mesh.h"

#include <array>
#include <cstdint>
#include <span>
#include <utility>

namespace plush {

/// A point below a plane or inside a solid.
struct SunkPoint {
  static constexpr uint32_t kNoTet = UINT32_MAX;

  uint32_t id = 0;        ///< of the EmbeddedPoint
  uint32_t tet = kNoTet;  ///< CdgTet, or kNoTet for a node
  uint32_t node = 0;      ///< the main one: with the greatest weight
  uint32_t collider = 0;  ///< its slot
  float gap = 0.0f;       ///< its gap, plus the depth that it may have (AllowedDepth) [m]; below 0
  float u = 0.0f, v = 0.0f;     ///< see EmbeddedPoint
  uint32_t face = kNoTriangle;  ///< of a mesh, whose plane it is below
};

/// One number per node of a tet.
using TetNumbers = std::array<float, 4>;

/// 0 for a tet's pinned nodes, 1 for others.
TetNumbers MovableOf(const TouchingSurface& surface, const CdgTet& tet);

/// Searches points. Remembers which tets are near planes, and how far above: a tet is searched
/// again once it may have come down. What it remembers are lower bounds, so it changes no result.
class SunkPoints {
 public:
  /// Whether a point is already a contact with a plane.
  using IsKnown = bool (*)(const void* user, const SunkPoint& point);

  /// Memory for a body and searches that return up to `most` points. Returns false if the allocator
  /// fails.
  bool Allocate(const Allocator& allocator, size_t num_tets, size_t num_nodes, size_t num_planes,
                size_t most);
  /// Memory for a list of a mesh near the body: searches go faster. Keeps an existing one. Returns
  /// false if the allocator fails.
  bool ReserveMesh(const Allocator& allocator, size_t num_tets, size_t num_nodes) {
    return mesh_.is_allocated() || mesh_.Allocate(allocator, num_tets, num_nodes);
  }
  /// Forgets that list: another mesh may come to its collider's slot.
  void ForgetMesh() { mesh_.Forget(); }
  /// Forgets all lists: they leave out tets whose nodes are all pinned.
  void ForgetLists() {
    ForgetMesh();
    for (NearPlane& list : lists_) list.plane = NearPlane::kUnused;
  }
  /// Takes the list for a mesh, if there is one.
  void TakeMesh(SunkPoints* from) { mesh_ = std::move(from->mesh_); }
  size_t num_lists() const { return lists_.size(); }

  /// Lists for bodies in a world of `num_planes` planes. More planes than lists share them.
  static size_t NumLists(size_t num_planes) { return num_planes < 3 ? num_planes : 3; }

  /// Finds points at problem.y + `moved` (num_nodes + 1 x 1, or empty) that are deeper below the
  /// plane that holds them (HoldingPlane) than they may be, by more than `depth` [m], and that are
  /// not known.
  /// - Of a surface: for each plane, the deepest vertex of each CdgTet, unless a tet with the
  ///   vertex's main node has a deeper one. Points that the same nodes carry move together. In a
  ///   solid, also the deepest points of triangles that are deeper than their corners, and
  ///   vertices that pass a solid in the substep; of a mesh, points of triangles that its ridges
  ///   press on.
  /// - Of a cage without a surface: all nodes.
  ///
  /// If there are more than `most`, drops the least deep. Sorted by id and plane. The result is
  /// valid until the next call. Does not allocate.
  std::span<SunkPoint> Find(const ContactProblem& problem, std::span<const NodeVec> moved,
                            float depth, IsKnown is_known, const void* user);

  /// The part of Find that adds the points of one mesh, for TriangleCode.
  void FindOnMesh(const ContactProblem& problem, const LocalCollider& collider,
                  std::span<const NodeVec> moved, float depth, IsKnown is_known, const void* user);

 private:
  // The least gaps of nodes, and of those that are not near [m].
  struct LeastGaps {
    float of_all, of_far;
  };
  // The tets near a plane.
  struct NearPlane {
    static constexpr uint32_t kUnused = UINT32_MAX;
    uint32_t plane = kUnused;
    uint32_t num_tets = 0;
    std::span<NearTets> tets;  // ascending
    std::span<uint8_t> near;   // whether a node is near it (num_nodes x 1)
    std::span<float> gaps;     // of the nodes at the last search [m] (num_nodes x 1)
    float fallen = 0.0f;       // falls of nodes that no floor knows of, at most [m]
    float size = 0.0f;         // the largest gap at the last search [m]

    // Makes a search the last one. Sets fallen and size to infinity unless all gaps are finite.
    LeastGaps Note(std::span<const float> now);
    // Lowers the floors of all tets by the nodes' falls.
    void LowerFloors();
  };

  void FindGaps(const ContactProblem& problem, const LocalCollider& plane,
                std::span<const NodeVec> moved);
  NearPlane* FindNearTets(const ContactProblem& problem, uint32_t plane, float depth);
  void FindInTets(const ContactProblem& problem, const LocalCollider& plane, float depth,
                  IsKnown is_known, const void* user, NearPlane* near);
  void FindBelow(const ContactProblem& problem, const LocalCollider& plane, float depth,
                 IsKnown is_known, const void* user, int at, NearTets* near);
  void FindInSolid(const ContactProblem& problem, const LocalCollider& solid,
                   std::span<const NodeVec> moved, float depth, IsKnown is_known, const void* user);
  bool MayMeet(const ContactProblem& problem, const LocalCollider& collider, uint32_t tet) const;
  void FindInTet(const ContactProblem& problem, const LocalCollider& collider, float depth,
                 IsKnown is_known, const void* user, NearMeshTet* near);
  void FindOnRidges(const ContactProblem& problem, const LocalCollider& collider, float depth,
                    IsKnown is_known, const void* user, NearMeshTet* near);
  void Add(const SunkPoint& point);
  std::span<SunkPoint> KeepDeepest(const CollisionView& surface);
  size_t KeepUntakenOfAll(const CollisionView& surface, std::span<SunkPoint> found);

  size_t num_tets_ = 0;  // CdgTets of the body
  Array<float> gaps_;    // of the nodes from one plane [m]; of pinned ones at least -most_pinned
                         // (num_nodes x 1)
  Array<NearPlane> lists_;
  size_t next_list_ = 0;       // to be given to another plane
  Array<uint8_t> near_;        // NearPlane::near (num_lists x num_nodes)
  Array<float> last_gaps_;     // NearPlane::gaps (num_lists x num_nodes)
  Array<NearTets> near_tets_;  // those with such a node (num_lists x num_tets / kCount, rounded up)
  Array<Vec3> starts_, ends_;  // of the nodes, in a solid's coordinates [m] (num_nodes x 1)
  Array<uint8_t> sides_;       // of a solid's bounding box that nodes are beyond (num_nodes x 1)
  NearMesh mesh_;              // the list for a mesh, if ReserveMesh made room
  Array<SunkPoint> found_;     // (2 most x 1)
  size_t num_found_ = 0;
  Array<uint8_t> taken_;  // whether a found point's tet has the node (num_nodes x 1)
};

}  // namespace plush

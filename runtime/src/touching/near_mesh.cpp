// SPDX-License-Identifier: MIT
// Source: near_mesh.h.
#include "touching/near_mesh.h"

#include "base/float4.h"
#include "base/vector_math.h"
#include "colliders/plane_above.h"
#include "colliders/triangle_box.h"
#include "touching/sunk_points.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace plush {
namespace {

// Faces near a body, and uses of them by its tets. Of more, points look at the mesh itself.
constexpr size_t kFaces = FacePatches::kLeast, kUses = 4096, kRidges = 384;

float Squared(const Vec3& v) { return Dot(v, v); }

// Whether a face comes into a box. What is below a height field is inside: there a face counts if
// it is above, too.
bool ComesInto(const NearMesh::Box& box, const ColliderMesh& mesh, const MeshFace& face) {
  Vec3 high = box.high;
  if (mesh.source->mesh == nullptr) {
    for (const Vec3& corner : face.corners) high.y = std::fmax(high.y, corner.y);
  }
  return MayMeetBox(face.corners, face.normal, box.low, high);
}

}  // namespace

NearMesh::Box BoxAround(const CdgTet& tet, const Vec3 (&from)[4], const Vec3 (&to)[4],
                        float margin) {
  NearMesh::Box box;
  const auto range = [&](float Vec3::*axis) {
    Float4 starts{}, ends{};
    for (int k = 0; k < 4; ++k) {
      starts[k] = from[k].*axis;
      ends[k] = to[k].*axis;
    }
    const Range of_starts = RangeIn(starts, &tet.low.x, &tet.high.x);
    const Range of_ends = RangeIn(ends, &tet.low.x, &tet.high.x);
    box.low.*axis = std::min(of_starts.low, of_ends.low) - margin;
    box.high.*axis = std::max(of_starts.high, of_ends.high) + margin;
  };
  range(&Vec3::x);
  range(&Vec3::y);
  range(&Vec3::z);
  return box;
}

bool MayCrossBox(const Vec3 (&ends)[2], const MeshBox& box) {
  return !PartBesideBox<2>(ends, box.low, box.high).IsSeparatedAcross(0, 1);
}

bool NearMesh::Allocate(const Allocator& allocator, size_t num_tets, size_t num_nodes) {
  return tets_.Allocate(allocator, num_tets) && faces_.Allocate(allocator, kFaces) &&
         planes_.Allocate(allocator, kFaces) && boxes_.Allocate(allocator, kFaces) &&
         ridges_.Allocate(allocator, kRidges) && of_tets_.Allocate(allocator, kUses) &&
         from_.Allocate(allocator, num_nodes) && to_.Allocate(allocator, num_nodes) &&
         noted_from_.Allocate(allocator, num_nodes) && noted_to_.Allocate(allocator, num_nodes) &&
         moves_.Allocate(allocator, num_nodes) && local_from_.Allocate(allocator, num_nodes) &&
         local_to_.Allocate(allocator, num_nodes);
}

bool NearMesh::IsOf(const LocalCollider& collider) const {
  const auto are_same = [](const SolidPlace& a, const SolidPlace& b) {
    return std::memcmp(&a, &b, sizeof a) == 0;
  };
  return collider.slot == collider_ && std::equal(anchor_, anchor_ + 3, collider.mesh.anchor) &&
         unit_ == collider.mesh.unit && are_same(collider.start, start_) &&
         are_same(collider.end, end_);
}

bool NearMesh::Holds(const ContactProblem& problem, std::span<const Vec3> ends) const {
  const float most = Margin(problem) * Margin(problem);
  for (size_t i = 0; i < from_.size(); ++i) {
    const float of_start = Squared(problem.x[i] - from_[i]), of_end = Squared(ends[i] - to_[i]);
    if (!(of_start < most && of_end < most)) return false;
  }
  return true;
}

// Lists all faces in the box around the body. Returns whether there is room.
bool NearMesh::ListFaces(const Box& box, const ColliderMesh& mesh) {
  bool has_room = true;
  mesh.ForTriangles(box.low, box.high, [&](uint32_t triangle) {
    const MeshFace face = mesh.Face(2 * triangle);
    if (!ComesInto(box, mesh, face)) return true;
    has_room = num_faces_ < faces_.size();
    if (!has_room) return false;
    const Box around = BoxAround(face.corners);
    around_faces_ = num_faces_ == 0 ? around
                                    : Box{LowerOf(around_faces_.low, around.low),
                                          UpperOf(around_faces_.high, around.high)};
    boxes_[num_faces_] = around;
    planes_[num_faces_] = IsZero(face.normal) ? FacePlanes() : FacePlanes(face);
    faces_[num_faces_++] = face;
    return true;
  });
  return has_room;
}

// Lists all ridges in the box around the body, if there is room.
void NearMesh::ListRidges(const Box& box, const ColliderMesh& mesh) {
  has_all_ridges_ = true;
  if (mesh.source->has_two_sides()) return;
  const auto is_wanted = [&](const Vec3(&ends)[2]) { return MayCrossBox(ends, box); };
  ForRidgesIn(box, mesh, is_wanted, [&](const Ridge& ridge) {
    has_all_ridges_ = num_ridges_ < ridges_.size();
    if (has_all_ridges_) ridges_[num_ridges_++] = ridge;
    return has_all_ridges_;
  });
}

bool NearMesh::HasRidges(const Box& box, const ColliderMesh& mesh) const {
  bool has = false;
  if (has_all_ridges_) {
    ForRidges([&](const Ridge& ridge) { has = has || MayMeetBox(ridge.ends, box); });
  } else {
    const auto is_wanted = [&](const Vec3(&ends)[2]) { return MayCrossBox(ends, box); };
    ForRidgesIn(box, mesh, is_wanted, [&](const Ridge&) {
      has = true;
      return false;
    });
  }
  return has;
}

// Calls visit(face) for the faces that come into a tet's box: those of its list, or without one,
// of the mesh.
template <class Visit>
void NearMesh::ForFacesIn(const Box& box, const ColliderMesh& mesh, const NearMeshTet& tet,
                          const Visit& visit) const {
  if (tet.has_list) {
    ForFaces(tet, [&](const MeshFace& face, const Box&) { visit(face); });
    return;
  }
  mesh.ForTriangles(box.low, box.high, [&](uint32_t triangle) {
    const MeshFace face = mesh.Face(2 * triangle);
    if (ComesInto(box, mesh, face)) visit(face);
    return true;
  });
}

bool NearMesh::HasFacesIn(const Box& box, const ColliderMesh& mesh, const NearMeshTet& tet) const {
  bool has = tet.num_faces > 0;
  if (tet.has_list) return has;
  mesh.ForTriangles(box.low, box.high, [&](uint32_t triangle) {
    has = ComesInto(box, mesh, mesh.Face(2 * triangle));
    return !has;
  });
  return has;
}

// A plane that all parts of a tet's faces in the box are below: along the mean of their normals, if
// they face the same way more or less.
void NearMesh::FindPlaneAbove(const Box& box, const ColliderMesh& mesh, NearMeshTet* tet) const {
  constexpr float kSameWay = 0.2f, kRounding = 1.0e-6f;
  if (!tet->has_list && mesh.source->patches != nullptr) {
    const PlaneAbove above = plush::FindPlaneAbove(mesh, box, kSameWay);
    tet->normal = above.normal;
    tet->offset = above.offset;
    return;
  }
  const Vec3 middle = (box.low + box.high) * 0.5f;
  const float reach = 0.5f * Length(box.high - box.low);
  Vec3 sum;
  ForFacesIn(box, mesh, *tet, [&](const MeshFace& face) { sum += face.normal; });
  const float length = Length(sum);
  if (!(length > 0.0f)) return;
  const Vec3 normal = sum * (1.0f / length);
  float highest = std::numeric_limits<float>::lowest();
  bool face_same_way = true;
  ForFacesIn(box, mesh, *tet, [&](const MeshFace& face) {
    const float cosine = Dot(normal, face.normal);
    face_same_way = face_same_way && cosine >= kSameWay;
    float of_corners = std::numeric_limits<float>::lowest();
    for (const Vec3& corner : face.corners) {
      of_corners = std::max(of_corners, Dot(normal, corner));
    }
    // Large faces: the highest place of their plane within reach.
    const float gap = face.Gap(middle);
    const float along = std::sqrt(std::max(0.0f, reach * reach - gap * gap));
    const float tilt = Length(normal - face.normal * cosine);
    const float of_plane = Dot(normal, middle) - gap * cosine + along * tilt;
    highest = std::max(highest, std::min(of_corners, of_plane));
  });
  if (!face_same_way) return;
  tet->normal = normal;
  tet->offset = highest + kRounding * (reach + std::fabs(highest));
}

void NearMesh::AddTet(const ContactProblem& problem, const ColliderMesh& mesh, uint32_t t) {
  const CdgTet& tet = problem.surface.collision->tets[t];
  const TetNumbers movable = MovableOf(problem.surface, tet);
  if (std::ranges::count(movable, 0.0f) == 4) return;
  Vec3 from[4], to[4];
  for (int k = 0; k < 4; ++k) {
    from[k] = local_from_[tet.nodes[k]];
    to[k] = local_to_[tet.nodes[k]];
  }
  // What is below a height field is inside: a face may be above.
  const bool holds_below = mesh.source->mesh == nullptr;
  const auto comes_near = [holds_below](const Box& box, const Box& faces) {
    return faces.low.x <= box.high.x && box.low.x <= faces.high.x && box.low.y <= faces.high.y &&
           faces.low.z <= box.high.z && box.low.z <= faces.high.z &&
           (holds_below || faces.low.y <= box.high.y);
  };
  // Most tets are far away. The box around their nodes shows that sooner than the vertices' one.
  Box of_nodes = {from[0], from[0]};
  for (int k = 0; k < 4; ++k) {
    of_nodes = {LowerOf(of_nodes.low, LowerOf(from[k], to[k])),
                UpperOf(of_nodes.high, UpperOf(from[k], to[k]))};
  }
  const float room = 2.5f * margin_;
  of_nodes = {of_nodes.low - Vec3{room, room, room}, of_nodes.high + Vec3{room, room, room}};
  if (has_all_faces_ && !comes_near(of_nodes, around_faces_)) return;
  const Box box = BoxAround(tet, from, to, 2.0f * margin_);
  const auto overlaps = [&](const Box& faces) { return comes_near(box, faces); };
  if (has_all_faces_ && !overlaps(around_faces_)) return;
  constexpr float kNone = -std::numeric_limits<float>::infinity();
  constexpr Clearance kBeforeSearch = {kNone, kNone};
  NearMeshTet near = {.tet = t,
                      .first_face = num_of_tets_,
                      .has_list = has_all_faces_,
                      .of_all = kBeforeSearch,
                      .of_others = kBeforeSearch,
                      .of_ridges = kNone};
  for (uint32_t i = 0; i < num_faces_ && near.has_list; ++i) {
    if (!overlaps(boxes_[i]) || !ComesInto(box, mesh, faces_[i])) continue;
    near.has_list = num_of_tets_ < of_tets_.size();
    if (near.has_list) of_tets_[num_of_tets_++] = static_cast<uint16_t>(i);
  }
  near.num_faces = num_of_tets_ - near.first_face;
  if (!near.has_list) num_of_tets_ = near.first_face;
  if (!HasFacesIn(box, mesh, near)) return;
  if (!mesh.source->has_two_sides()) FindPlaneAbove(box, mesh, &near);
  near.has_ridges = HasRidges(box, mesh);
  tets_[num_tets_++] = near;
}

void NearMesh::Build(const ContactProblem& problem, const LocalCollider& collider,
                     std::span<const Vec3> ends) {
  collider_ = collider.slot;
  std::copy_n(collider.mesh.anchor, 3, anchor_);
  unit_ = collider.mesh.unit;
  start_ = collider.start;
  end_ = collider.end;
  num_tets_ = num_faces_ = num_of_tets_ = num_ridges_ = 0;
  margin_ = Margin(problem);
  Box box;
  for (size_t i = 0; i < from_.size(); ++i) {
    from_[i] = problem.x[i];
    to_[i] = ends[i];
    local_from_[i] = collider.start.ToLocal(from_[i]);
    local_to_[i] = collider.end.ToLocal(to_[i]);
    const Vec3 low = LowerOf(local_from_[i], local_to_[i]);
    const Vec3 high = UpperOf(local_from_[i], local_to_[i]);
    box = i == 0 ? Box{low, high} : Box{LowerOf(box.low, low), UpperOf(box.high, high)};
  }
  const Vec3 margin = {2.0f * margin_, 2.0f * margin_, 2.0f * margin_};
  box = {box.low - margin, box.high + margin};
  has_all_faces_ = ListFaces(box, collider.mesh);
  if (has_all_faces_ && num_faces_ == 0) return;
  ListRidges(box, collider.mesh);
  const auto num_tets = static_cast<uint32_t>(problem.surface.collision->tets.size());
  for (uint32_t t = 0; t < num_tets; ++t) AddTet(problem, collider.mesh, t);
}

// A vertex moves no farther than a node. Its depth and the depth that it may have change by that.
void NearMesh::FindMoves(const ContactProblem& problem, std::span<const Vec3> ends) {
  for (size_t i = 0; i < moves_.size(); ++i) {
    const Vec3 from = problem.x[i], &to = ends[i], &noted = noted_to_[i];
    const float of_from = Squared(from - noted_from_[i]), of_to = Squared(to - noted);
    const float to_end = Squared(from - noted);
    moves_[i] = {2.0f * std::sqrt(to_end > of_to ? to_end : of_to),
                 2.0f * std::sqrt(of_from > of_to ? of_from : of_to)};
  }
}

// Clearances of ways hold for their ends, too.
bool NearMesh::Clears(const ContactProblem& problem, float depth, NearMeshTet* tet) const {
  NodeMoves lost;
  for (const uint32_t i : problem.surface.collision->tets[tet->tet].nodes) {
    const NodeMoves& moves = moves_[i];
    lost.from_end = moves.from_end > lost.from_end ? moves.from_end : lost.from_end;
    lost.from_way = moves.from_way > lost.from_way ? moves.from_way : lost.from_way;
  }
  // Boxes around ways and their lengths change by less.
  tet->of_ridges -= 2.0f * lost.from_way;
  for (Clearance* clearance : {&tet->of_all, &tet->of_others}) {
    clearance->of_way -= lost.from_way;
    const float of_end = clearance->of_end - lost.from_end;
    clearance->of_end = of_end > clearance->of_way ? of_end : clearance->of_way;
  }
  return tet->of_all.of_end + depth > 0.0f;
}

void NearMesh::PlaceNodes(const ContactProblem& problem, const LocalCollider& collider,
                          std::span<const Vec3> ends) {
  for (size_t i = 0; i < local_from_.size(); ++i) {
    local_from_[i] = collider.start.ToLocal(problem.x[i]);
    local_to_[i] = collider.end.ToLocal(ends[i]);
  }
}

void NearMesh::NoteWays(const ContactProblem& problem, std::span<const Vec3> ends) {
  for (size_t i = 0; i < noted_from_.size(); ++i) noted_from_[i] = problem.x[i];
  std::copy(ends.begin(), ends.end(), noted_to_.begin());
}

}  // namespace plush

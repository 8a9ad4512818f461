// SPDX-License-Identifier: MIT
// Which points of a body are contacts, and the planes that hold them: found, kept, moved, dropped.
// Source: plane_contacts.h.
#include "contact/body_contacts.h"
#include "touching/triangle_code.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <tuple>
#include <utility>

namespace plush {
namespace {

// Contacts are in this order.
auto KeyOf(const ContactState& state, const PlaneContact& contact) {
  return std::make_tuple(state.PointOf(contact).id, contact.collider, contact.face);
}

void Sort(const ContactState& state, std::span<PlaneContact> contacts) {
  const auto key_of = [&](const PlaneContact& contact) { return KeyOf(state, contact); };
  std::ranges::sort(contacts, {}, key_of);
}

// The contacts of a point with a collider.
std::span<const PlaneContact> ContactsOf(const ContactState& state, uint32_t id,
                                         uint32_t collider) {
  const auto key_of = [&](const PlaneContact& contact) {
    return std::make_tuple(state.PointOf(contact).id, contact.collider);
  };
  const std::span<const PlaneContact> all = state.Current();
  const auto key = std::make_tuple(id, collider);
  const auto begin = std::ranges::lower_bound(all, key, {}, key_of);
  auto end = begin;
  while (end != all.end() && key_of(*end) == key) ++end;  // a few
  return {begin, end};
}

// Whether planes differ so little that one of them is enough.
bool AreAlike(const Vec3& normal, const Vec3& other) {
  constexpr float kAlike = 1.0f - 1.0e-4f;  // less than a degree
  return Dot(normal, other) >= kAlike;
}

// Whether these contacts of the point are all that it needs with the collider: one, or of a mesh,
// one with a plane like that of the point's triangle.
bool AreEnough(const ContactProblem& problem, std::span<const PlaneContact> contacts,
               const SunkPoint& point) {
  if (contacts.empty() || point.face == kNoTriangle) return !contacts.empty();
  const LocalCollider& collider = problem.InSlot(point.collider);
  const ColliderMesh& mesh = collider.mesh;
  const Vec3 normal = collider.end.rotation * mesh.source->code->face(mesh, point.face).normal;
  return contacts.size() >= kMostOnMesh ||
         std::ranges::any_of(contacts, [&](const PlaneContact& contact) {
           return AreAlike(contact.plane.normal, normal);
         });
}

// What SunkPoints knows of contacts.
struct Known {
  const ContactState& state;
  const ContactProblem& problem;
  const SlotIndex& slots;

  // Whether a contact may be at the place of a vertex.
  bool MayHold(uint32_t vertex) const {
    const Vec4& w = problem.surface.collision->vertices[vertex];
    return slots.MayHave(w.x != 0.0f ? w.x : w.y != 0.0f ? w.y : w.z != 0.0f ? w.z : w.w);
  }
};

// Whether points of a triangle are so near that one is enough: a share of the triangle.
bool AreNear(float u, float v, const EmbeddedPoint& point) {
  constexpr float kNear = 0.1f;
  return std::fabs(point.u - u) < kNear && std::fabs(point.v - v) < kNear;
}

// Whether the triangle has a contact near the point, or as many as it may have: one with a round
// solid. Of a box, two corners may press on it, and would take turns for ever.
bool IsKnownInside(const Known& known, const SunkPoint& point) {
  const TouchingSurface& surface = known.problem.surface;
  const uint32_t triangle = surface.TriangleOf(point.id);
  const bool is_round = known.problem.InSlot(point.collider).shape.is_round();
  uint32_t count = 0;
  for (const PlaneContact& contact : known.state.Current()) {
    const EmbeddedPoint& other = known.state.PointOf(contact);
    if (contact.collider != point.collider || !surface.IsInside(other.id) ||
        surface.TriangleOf(other.id) != triangle) {
      continue;
    }
    ++count;
    if (is_round || AreNear(point.u, point.v, other)) return true;
  }
  return count == TouchingSurface::kPointsPerTriangle;
}

// Whether the point, or one at the same place, is a contact: a vertex on a border has another id in
// each patch.
bool IsKnown(const void* user, const SunkPoint& point) {
  const Known& known = *static_cast<const Known*>(user);
  if (known.problem.surface.IsInside(point.id)) return IsKnownInside(known, point);
  if (point.tet != SunkPoint::kNoTet && !known.MayHold(point.id)) return false;
  const auto is_held = [&](uint32_t id) {
    return AreEnough(known.problem, ContactsOf(known.state, id, point.collider), point);
  };
  if (is_held(point.id)) return true;
  if (point.tet == SunkPoint::kNoTet) return false;
  const uint32_t slot = known.slots.Find(known.problem.surface.Vertex(point.tet, point.id));
  return slot != PointCouplings::kNoSlot && is_held(known.state.couplings.points[slot].id);
}

EmbeddedPoint PointOf(const TouchingSurface& surface, const SunkPoint& sunk) {
  if (sunk.tet == SunkPoint::kNoTet) return surface.Node(sunk.id);
  if (!surface.IsInside(sunk.id)) return surface.Vertex(sunk.tet, sunk.id);
  return surface.Inside(sunk.tet, surface.TriangleOf(sunk.id), sunk.u, sunk.v);
}

// Gives a point inside a triangle the first id that no other one has. Returns whether there is one.
bool ChooseId(const PointCouplings& couplings, EmbeddedPoint* point) {
  const auto has_id = [&](uint32_t id) {
    const std::span<const EmbeddedPoint> all = couplings.points.span().first(couplings.num_slots);
    return std::ranges::find(all, id, &EmbeddedPoint::id) != all.end();
  };
  const uint32_t end = point->id + TouchingSurface::kPointsPerTriangle;
  while (point->id < end && has_id(point->id)) ++point->id;
  return point->id < end;
}

// Finds the plane of a contact inside a triangle, as the substep starts. If another point of the
// triangle is now deeper, because a corner has slid on or the body rolls, the contact moves there
// with its impulse.
void FollowTriangle(const ContactProblem& problem, const LocalCollider& solid,
                    PlaneContact* contact, ContactState* state) {
  PointCouplings& S = state->couplings;
  if (S.num_slots == S.points.size()) state->KeepTouching();
  const EmbeddedPoint point = state->PointOf(*contact);
  Vec3 corners[3];
  problem.surface.ForCorners(point.id, [&](int k, const EmbeddedPoint& corner) {
    corners[k] = solid.start.ToLocal(corner.Of(problem.x));
  });
  const Vec3 at = point.Of(problem.x);
  TrianglePoint held = {point.u, point.v, TangentAt(solid.shape, solid.start.ToLocal(at)).gap};
  const TrianglePoint deepest = FollowDeepest(solid.shape, corners, held);
  const bool may_move = solid.shape.is_round() || AreNear(deepest.u, deepest.v, point);
  if (may_move && deepest.gap < held.gap - problem.tolerance && S.num_slots < S.points.size()) {
    const EmbeddedPoint moved = problem.surface.Point(point.id, deepest.u, deepest.v);
    if (moved.MovableShare() >= kLeastMovable) {
      contact->slot = S.Add(moved);
      held = deepest;
    }
  }
  const Vec3 start = state->PointOf(*contact).Of(problem.x);
  contact->plane = FindHoldingPlane(solid, corners, held, start, problem.rise);
  problem.GiveWay(solid, state->PointOf(*contact), {}, &contact->plane);
}

// Finds the plane that holds a sunk point. Returns whether there is one.
bool FindPlane(const ContactProblem& problem, const SunkPoint& sunk, const EmbeddedPoint& point,
               std::span<const NodeVec> d, HoldingPlane* plane) {
  const LocalCollider& collider = problem.InSlot(sunk.collider);
  if (collider.is_mesh()) {
    return collider.mesh.source->code->find_plane(problem, sunk, point, d, plane);
  }
  *plane = problem.PlaneFor(collider, point, d);
  return true;
}

// Lets a point be as deep as pinned nodes hold it. Inside a solid, the side that is nearest to the
// other nodes then holds it.
void AllowPinned(const ContactProblem& problem, const LocalCollider& collider,
                 std::span<const NodeVec> d, const EmbeddedPoint& point, HoldingPlane* plane) {
  if (point.pinned == 0 || !(point.MovableShare() > 0.0f)) return;
  const auto depth_now = [&] {
    return point.PinnedDepth(problem.most_pinned, [&](uint32_t node) {
      return Dot(plane->normal, Vec3(problem.y[node])) - plane->offset;
    });
  };
  if (!(depth_now() > 0.0f)) return;
  if (collider.is_solid && !collider.is_mesh()) {
    const Vec3 end = point.FreeMeanOf(problem.y);
    *plane = FindHoldingPlane(collider, point.FreeMeanOf(problem.x),
                              d.empty() ? end : end + point.FreeMeanOf(d), problem.rise);
  }
  const auto start_gap = [&](const Vec3& x) { return StartGap(collider, *plane, x); };
  const float before = point.PinnedDepth(problem.most_pinned,
                                         [&](uint32_t node) { return start_gap(problem.x[node]); });
  plane->allowed =
      AllowedDepth(start_gap(point.Of(problem.x)) + before, problem.rise) + depth_now();
}

// Puts the contacts back in order once some have come to other triangles. Of several of a point
// with planes alike, keeps one, with their impulses.
void JoinAlike(ContactState* state) {
  const std::span<PlaneContact> all = state->Current();
  Sort(*state, all);
  uint32_t kept = 0;
  for (const PlaneContact& contact : all) {
    const auto is_alike = [&](const PlaneContact& other) {
      return other.slot == contact.slot && other.collider == contact.collider &&
             AreAlike(other.plane.normal, contact.plane.normal);
    };
    const auto end = all.begin() + kept;
    const auto alike = std::find_if(end - std::min(kept, kMostOnMesh - 1), end, is_alike);
    if (alike == end || contact.face == kNoTriangle) {
      all[kept++] = contact;
    } else {
      alike->impulse += contact.impulse;
    }
  }
  state->num_contacts = kept;
}

// Whether two contacts with the plane have the point's main node, the movable one with its greatest
// weight, at no smaller weight. A third one would have little to hold. Of a mesh, only those with a
// plane like the one with this `normal`.
bool IsHeldByOthers(const ContactState& state, const EmbeddedPoint& point, uint32_t plane,
                    const Vec3* normal) {
  const auto main_of = [](const EmbeddedPoint& p) {
    int main = 0;
    for (int k = 1; k < 4; ++k) main = p.Free(k) > p.Free(main) ? k : main;
    return main;
  };
  const int main = main_of(point);
  const auto holds = [&](const PlaneContact& contact) {
    if (contact.collider != plane) return false;
    if (normal != nullptr && !AreAlike(contact.plane.normal, *normal)) return false;
    const EmbeddedPoint& other = state.PointOf(contact);
    const int of_other = main_of(other);
    return other.nodes[of_other] == point.nodes[main] && other.Free(of_other) >= point.Free(main);
  };
  const std::span<const PlaneContact> all = state.Current();
  const auto first = std::ranges::find_if(all, holds);
  return first != all.end() && std::any_of(first + 1, all.end(), holds);
}

}  // namespace

bool ContactState::Reserve(const Allocator& allocator, size_t num_tets, uint32_t num_nodes,
                           bool has_clusters, uint32_t num_planes) {
  if (moved.size() == 0 && !(couplings.Allocate(allocator, num_nodes, max_contacts) &&
                             moved.Allocate(allocator, size_t{3} * couplings.stride, 0.0f))) {
    return false;
  }
  const size_t capacity = MostContacts(num_nodes, num_planes, max_contacts);
  if (contacts.size() >= capacity && sunk.num_lists() >= SunkPoints::NumLists(num_planes))
    return true;
  Array<PlaneContact> more_contacts;
  Array<CoarsePoint> more_coarse;
  SunkPoints more_sunk;
  if (!more_contacts.Allocate(allocator, capacity) ||
      !more_sunk.Allocate(allocator, num_tets, num_nodes, num_planes,
                          MostContacts(num_nodes, num_planes)) ||
      !more_coarse.Allocate(allocator, has_clusters ? capacity : 0)) {
    return false;
  }
  std::copy(contacts.begin(), contacts.begin() + num_contacts, more_contacts.begin());
  contacts = std::move(more_contacts);
  coarse = std::move(more_coarse);
  more_sunk.TakeMesh(&sunk);
  sunk = std::move(more_sunk);
  return true;
}

void ContactState::KeepTouching() {
  PointCouplings& S = couplings;
  std::fill_n(S.new_slots.begin(), S.num_slots, PointCouplings::kNoSlot);
  for (const PlaneContact& contact : Current()) S.new_slots[contact.slot] = 0;
  for (const BodyContactSide& at : between) S.new_slots[at.contact->sides[at.side].slot] = 0;
  S.Keep();
  for (PlaneContact& contact : Current()) contact.slot = S.new_slots[contact.slot];
  for (const BodyContactSide& at : between) {
    uint32_t& slot = at.contact->sides[at.side].slot;
    slot = S.new_slots[slot];
  }
}

void BeginSubstep(const ContactProblem& problem, ContactState* state) {
  state->Drop([&](const PlaneContact& contact) { return !problem.HasSlot(contact.collider); });
  bool any_on_mesh = false;
  for (PlaneContact& contact : state->Current()) {
    const LocalCollider& collider = problem.InSlot(contact.collider);
    const EmbeddedPoint& point = state->PointOf(contact);
    if (collider.is_mesh()) {
      collider.mesh.source->code->follow(problem, collider, &contact, state);
      any_on_mesh = true;
    } else if (collider.is_solid && problem.surface.IsInside(point.id)) {
      FollowTriangle(problem, collider, &contact, state);
    } else {
      contact.plane = problem.PlaneFor(collider, point, {});
    }
    AllowPinned(problem, collider, {}, state->PointOf(contact), &contact.plane);
  }
  if (!any_on_mesh) return;
  state->Drop([&](const PlaneContact& contact) {
    return contact.face == kNoTriangle && problem.InSlot(contact.collider).is_mesh();
  });
  JoinAlike(state);
}

AddedContacts AddContacts(const ContactProblem& problem, std::span<const NodeVec> d,
                          ContactState* state) {
  PointCouplings& S = state->couplings;
  SlotIndex slots(&S);
  const Known known = {*state, problem, slots};
  std::span<SunkPoint> found = state->sunk.Find(problem, d, problem.tolerance, IsKnown, &known);
  if (found.empty()) return {};
  if (S.num_slots + found.size() > S.points.size()) {
    state->KeepTouching();
    slots = SlotIndex(&S);
  }
  const size_t room = state->contacts.size() - state->num_contacts;
  if (found.size() > std::min(room, S.points.size() - S.num_slots)) {
    const auto key = [](const SunkPoint& p) { return std::make_tuple(p.gap, p.id, p.collider); };
    std::ranges::sort(found, {}, key);  // the deepest first: there may be too little room
  }
  // A flat surface on a plane has many more vertices there than nodes. Contacts of all of them
  // would fill the room with points that others hold, and leave none for those that sink later.
  const bool is_crowded = 2 * (state->num_contacts + found.size()) > S.points.size();
  PlaneContact* const added = state->contacts.data() + state->num_contacts;
  uint32_t count = 0, num_dropped = 0;
  for (const SunkPoint& sunk : found) {
    const TouchingSurface& surface = problem.surface;
    const bool is_vertex = sunk.tet != SunkPoint::kNoTet && !surface.IsInside(sunk.id);
    EmbeddedPoint point = PointOf(surface, sunk);
    const LocalCollider& collider = problem.InSlot(sunk.collider);
    HoldingPlane plane;
    if (!FindPlane(problem, sunk, point, d, &plane)) continue;
    AllowPinned(problem, collider, d, point, &plane);
    const Vec3* const normal = collider.is_mesh() ? &plane.normal : nullptr;
    if (is_crowded && is_vertex && IsHeldByOthers(*state, point, sunk.collider, normal)) continue;
    uint32_t slot = slots.Find(point);
    if (slot == PointCouplings::kNoSlot) {
      if (S.num_slots == S.points.size()) {
        ++num_dropped;
        continue;
      }
      if (surface.IsInside(point.id) && !ChooseId(S, &point)) continue;
      slot = slots.Add(point);
    } else {
      const auto is_same = [&](const PlaneContact& contact) {
        return contact.slot == slot && contact.collider == sunk.collider;
      };
      if (AreEnough(problem, ContactsOf(*state, S.points[slot].id, sunk.collider), sunk) ||
          std::any_of(added, added + count, is_same)) {
        continue;
      }
    }
    if (count == room) {
      ++num_dropped;
      continue;
    }
    added[count++] = {.slot = slot, .collider = sunk.collider, .face = sunk.face, .plane = plane};
  }
  state->num_contacts += count;
  if (count > 0) Sort(*state, state->Current());
  return {count > 0, num_dropped};
}

void DropOpenContacts(ContactState* state) {
  state->Drop([](const PlaneContact& contact) { return !(NormalImpulse(contact) > 0.0f); });
  // Points of pressing contacts have values. A state does not save the others.
  state->couplings.num_slots = state->couplings.num_known;
}

}  // namespace plush

// SPDX-License-Identifier: MIT
// Pinned nodes in a step: a node of a region turns about the region's pose, any other one moves
// straight. Reactions follow from the momentum balance of the pinned nodes in the discrete step.
#include "body/pin_motion.h"

#include "plush/pose.h"

#include "base/vector_math.h"
#include "body/crowd.h"
#include "contact/body_contacts.h"

#include <algorithm>
#include <utility>

namespace plush {
namespace {

Vec3 ToLocal(const Body& body, const double* world) {
  const double inverse = 1.0 / double(body.scale);
  return {static_cast<float>((world[0] - body.origin[0]) * inverse),
          static_cast<float>((world[1] - body.origin[1]) * inverse),
          static_cast<float>((world[2] - body.origin[2]) * inverse)};
}

// Where a node is after the share `part` of the way that is left, which ends at the share `end` of
// the step and began at `begin`. `x`: where it is now.
Vec3 OnItsWay(const Body& body, size_t node, const Vec3& x, double begin, double end) {
  const PinMotion& pins = body.pins;
  const Vec3 target = pins.targets[node];
  if (end >= 1.0) return target;
  const float left = static_cast<float>((1.0 - end) / (1.0 - begin));
  const int32_t region = pins.regions[node];
  if (region >= 0 && pins.motions[static_cast<size_t>(region)].known) {
    // The pose's motion, plus the distance that the node had from it at the start, fading out.
    const RegionMotion& motion = pins.motions[static_cast<size_t>(region)];
    const auto at = [&](double t) {
      double p[3] = {body.origin[0] + double(body.scale) * double(target.x),
                     body.origin[1] + double(body.scale) * double(target.y),
                     body.origin[2] + double(body.scale) * double(target.z)};
      MoveWithPose(motion.to, Interpolated(motion.from, motion.to, t), 1.0, p);
      return ToLocal(body, p);
    };
    return at(end) + (x - at(begin)) * left;
  }
  return target + (x - target) * left;
}

// Calls place(node, position) for all nodes with a target, for substep `k` of `count`.
template <class Place>
void ForTargets(int k, int count, const Body& body, StepStats* stats, const Place& place) {
  constexpr float kFar = 2.0f;  // [median edges]
  const float most = kFar * body.simulation.median_edge;
  const double begin = double(k) / double(count), end = double(k + 1) / double(count);
  float farthest2 = 0.0f;
  for (size_t i = 0; i < body.x.size(); ++i) {
    if (body.pins.regions[i] == PinMotion::kStays) continue;
    const Vec3 x = body.x[i];
    const Vec3 next = OnItsWay(body, i, x, begin, k + 1 == count ? 1.0 : end);
    farthest2 = std::fmax(farthest2, Dot(next - x, next - x));
    place(i, next);
  }
  if (farthest2 > most * most) stats->flags |= kStepPinsFar;
}

}  // namespace

bool ReserveTargets(const Allocator& allocator, uint32_t num_regions, Body* body) {
  PinMotion& pins = body->pins;
  if (pins.targets.size() > 0) return true;
  Array<NodeVec> targets;
  Array<int32_t> regions;
  Array<RegionMotion> motions;
  if (!targets.Allocate(allocator, body->x.size()) ||
      !regions.Allocate(allocator, body->x.size(), PinMotion::kStays) ||
      !motions.Allocate(allocator, num_regions)) {
    return false;
  }
  pins.targets = std::move(targets);
  pins.regions = std::move(regions);
  pins.motions = std::move(motions);
  return true;
}

bool ReserveReactions(const Allocator& allocator, Body* body) {
  PinMotion& pins = body->pins;
  return pins.reactions.Allocate(allocator, body->x.size(), Vec3{}) &&
         pins.impulses.Allocate(allocator, body->x.size(), Vec3{}) &&
         pins.swept.Allocate(allocator, body->kappa.size(), 0.0f);
}

void MoveWithPose(const Pose& rest, const Pose& target, double scale, double* X) {
  const double from[3] = {rest.position.x, rest.position.y, rest.position.z};
  const double to[3] = {target.position.x, target.position.y, target.position.z};
  for (int k = 0; k < 3; ++k) X[k] = scale * (X[k] - from[k]);
  Turn(RotationOf(target.rotation) * Conjugate(RotationOf(rest.rotation)), X);
  for (int k = 0; k < 3; ++k) X[k] += to[k];
}

void PlacePins(int k, int count, Body* body, StepStats* stats) {
  ForTargets(k, count, *body, stats, [&](size_t i, const Vec3& next) { body->y[i] = next; });
}

void PlaceCrowdPins(Crowd* crowd, const Body* body, StepStats* stats) {
  ForTargets(0, 1, *body, stats, [&](size_t i, const Vec3& next) {
    float* at = &crowd->positions[kCrowdPosition * i + body->lane];
    at[0] = next.x;
    at[kCrowdLanes] = next.y;
    at[2 * kCrowdLanes] = next.z;
  });
}

bool IsCarried(const Body& body) { return body.fixed && (body.pins.moves || !body.pins.rests); }

bool MayMove(const Body& body) {
  return body.Steps() && !body.frozen && (!body.fixed || IsCarried(body));
}

void FindCarriedVelocities(float dt, Body* body) {
  for (size_t i = 0; i < body->x.size(); ++i) {
    const bool moves = body->pins.moves && body->pins.regions[i] != PinMotion::kStays;
    body->v[i] = moves ? (body->pins.targets[i] - body->x[i]) * (1.0f / dt) : Vec3{};
  }
}

void MoveFixedBody(float dt, Body* body, StepStats* stats) {
  if (KeepsPrevious(*body)) {
    std::copy(body->x.begin(), body->x.end(), body->previous.begin());
    std::copy(body->origin, body->origin + 3, body->previous_origin);
    body->has_previous = true;
  }
  FindCarriedVelocities(dt, body);
  body->pins.rests = true;
  if (!body->pins.moves) return;
  ForTargets(0, 1, *body, stats, [&](size_t i, const Vec3& next) { body->x[i] = next; });
  body->moved = true;
  FollowOrigin(body);
}

void EndPinMotion(Body* body) {
  PinMotion& pins = body->pins;
  for (RegionMotion& motion : pins.motions) {
    if (motion.moves) motion = {motion.to, {}, true, false};
  }
  std::fill(pins.regions.begin(), pins.regions.end(), PinMotion::kStays);
  pins.moves = false;
  pins.rests = false;
}

void StartPinImpulses(Body* body) {
  for (size_t i = 0; i < body->x.size(); ++i) {
    body->pins.impulses[i] = body->IsPinned(i) ? Vec3(body->rhs[i]) : Vec3{};
  }
}

namespace {

// Calls add(t, tet) for all tets with a pinned node.
template <class Add>
void ForPinnedTets(const Body& body, const Add& add) {
  for (size_t t = 0; t < body.elements.tets.size(); ++t) {
    const Tet& tet = body.elements.tets[t];
    if (body.IsPinned(tet.a) || body.IsPinned(tet.b) || body.IsPinned(tet.c) ||
        body.IsPinned(tet.d)) {
      add(t, tet);
    }
  }
}

}  // namespace

void SubtractStiffness(float h, std::span<const NodeVec> d, Body* body) {
  const ElementView& elements = body->elements;
  const float time2 = h * (h + elements.damping);
  ForPinnedTets(*body, [&](size_t t, const Tet& tet) {
    const Mat3 dm_inv = elements.DmInv(t);
    const Mat3 D = DeformationGradient(d[tet.a], d[tet.b], d[tet.c], d[tet.d], dm_inv);
    ScatterNodeGradients(tet, NodeGradients(D, dm_inv), -time2 * elements.Stiffness(t),
                         body->pins.impulses.span());
  });
}

void SubtractStretchStiffness(float h, std::span<const NodeVec> d, Body* body) {
  const ElementView& elements = body->elements;
  const RotationView rotations = body->Rotations();
  const float time2 = h * (h + elements.damping);
  ForPinnedTets(*body, [&](size_t t, const Tet& tet) {
    const Mat3 dm_inv = elements.DmInv(t);
    const Mat3 R = RotationMatrix(rotations.Get(elements.slots[t]));
    const Mat3 D =
        TransposeTimes(R, DeformationGradient(d[tet.a], d[tet.b], d[tet.c], d[tet.d], dm_inv));
    ScatterNodeGradients(tet, NodeGradients(R * (D + Transpose(D)), dm_inv),
                         -0.5f * time2 * elements.Stiffness(t), body->pins.impulses.span());
  });
}

void AddSweepImpulses(Body* body) {
  const ElementView& elements = body->elements;
  for (size_t t = 0; t < elements.tets.size(); ++t) {
    const Tet& tet = elements.tets[t];
    const float change = body->kappa[elements.slots[t]] - body->pins.swept[elements.slots[t]];
    if (!(elements.Bulk(t) > 0.0f) || change == 0.0f) continue;
    const Mat3 dm_inv = elements.DmInv(t);
    const Mat3 F =
        DeformationGradient(body->y[tet.a], body->y[tet.b], body->y[tet.c], body->y[tet.d], dm_inv);
    ScatterNodeGradients(tet, NodeGradients(Cofactor(F), dm_inv), change,
                         body->pins.impulses.span());
  }
}

void AddReactions(const StepSettings& settings, int k, int count, Body* body) {
  const float h = settings.dt / static_cast<float>(count);
  const float s2 = body->scale * body->scale;
  const float share = s2 * s2 / static_cast<float>(count);
  const Vec3 gravity = GravityOf(settings, *body);
  // Pinned nodes carry a part of the points between them and others.
  for (const PlaneContact& contact : body->contacts.Current()) {
    const EmbeddedPoint& point = body->contacts.PointOf(contact);
    for (int i = 0; i < 4; ++i) {
      if (!body->IsPinned(point.nodes[i])) continue;
      body->pins.impulses[point.nodes[i]] += contact.impulse * point.weights[i];
    }
  }
  for (const BodyContactSide& at : body->contacts.between) {
    const EmbeddedPoint& point = at.contact->sides[at.side].point;
    const Vec3 impulse = at.contact->Own(at.side, at.contact->row.impulse);
    for (int i = 0; i < 4; ++i) {
      if (!body->IsPinned(point.nodes[i])) continue;
      body->pins.impulses[point.nodes[i]] += impulse * point.weights[i];
    }
  }
  for (const AttachedPoint& at : body->attached.Current()) {
    const AttachmentRow& row = body->attached.RowOf(at);
    const Vec3 impulse = body->attached.Own(at, row.acts ? row.impulse : Vec3{});
    for (int i = 0; i < 4; ++i) {
      if (!body->IsPinned(at.point.nodes[i])) continue;
      body->pins.impulses[at.point.nodes[i]] += impulse * at.point.weights[i];
    }
  }
  for (size_t i = 0; i < body->x.size(); ++i) {
    Vec3& reaction = body->pins.reactions[i];
    if (k == 0) reaction = {};
    if (!body->IsPinned(i)) continue;
    const Vec3 velocity = (body->y[i] - body->x[i]) * (1.0f / h);
    const Vec3 gained = (velocity - body->v[i]) * (1.0f / h);
    reaction +=
        (body->pins.impulses[i] * (1.0f / (h * h)) + (gravity - gained) * body->Mass(i)) * share;
  }
}

}  // namespace plush

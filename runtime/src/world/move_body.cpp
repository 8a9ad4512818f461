// SPDX-License-Identifier: MIT
// World's calls that read or set a body's velocities and positions: impulses, Teleport, ResetBody.
// A call that changes positions forgets what belongs to the old ones.
#include "plush/pose.h"

#include "base/invalid.h"
#include "base/vector_math.h"
#include "body/best_fit.h"
#include "body/make_body.h"
#include "collision/double_vector.h"
#include "collision/surface_records.h"
#include "elasticity/elements.h"
#include "touching/contact_problem.h"
#include "world/world_impl.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>

namespace plush {
namespace {

Vec3 ToWorldVelocity(const Body& body, const Vec3& v) { return v * body.scale; }
// A velocity, or a way, from the world's unit to the body's.
Vec3 ToOwn(const Body& body, const Vec3& v) {
  return {v.x / body.scale, v.y / body.scale, v.z / body.scale};
}

// Velocity of a node after an impulse [N s], in the body's coordinates.
Vec3 Pushed(const Body& body, size_t node, const Vec3& impulse) {
  const float s2 = body.scale * body.scale;
  return Vec3(body.v[node]) + impulse * body.x[node].w * (1.0f / (s2 * s2));
}

bool IsVelocity(const Body& body, const Vec3& own) {
  return IsFinite(own) && IsFinite(ToWorldVelocity(body, own));
}

// Moves the origin of the body's coordinates to `origin` [m]. Targets of pins stay in the world,
// but nobody knows any more from which poses regions come.
void MoveOrigin(const double (&origin)[3], Body* body) {
  PinMotion& pins = body->pins;
  if (pins.moves) {
    const double s = body->scale;
    for (NodeVec& target : pins.targets) {
      target = Vec3{ToFloat((body->origin[0] - origin[0]) / s + double(target.x)),
                    ToFloat((body->origin[1] - origin[1]) / s + double(target.y)),
                    ToFloat((body->origin[2] - origin[2]) / s + double(target.z))};
    }
  }
  for (RegionMotion& motion : pins.motions) motion.known = false;
  for (int k = 0; k < 3; ++k) body->origin[k] = origin[k];
}

// Lets a frozen body move again. Clears the arrays that steps work in, and forces of its last step:
// they may not be finite. So may the rotations' padding, which the caller sets.
void Revive(Body* body) {
  body->frozen = false;
  for (NodeVec& y : body->y) y = NodeVec(Vec3{}, 0.0f);
  for (NodeVec& rhs : body->rhs) rhs = NodeVec(Vec3{}, 0.0f);
  for (float& value : body->workspace) value = 0.0f;
  for (Vec3& reaction : body->pins.reactions) reaction = {};
}

// Whether the body's surface has the patch, triangle and tet that the point names.
bool HasPlace(const Body& body, const SurfacePoint& at) {
  const CollisionView& surface = body.surface;
  if (at.patch >= surface.patches.size()) return false;
  const CdgPatch& patch = surface.patches[at.patch];
  if (at.triangle < patch.first_triangle || at.triangle >= TrianglesEnd(surface, at.patch)) {
    return false;
  }
  const CdgTet& tet = surface.tets[patch.tet];
  return at.tet == tet.tet && std::equal(at.nodes, at.nodes + 4, tet.nodes);
}

Vec3 Turned(const Rotation& turn, const Vec3& v) {
  double turned[3] = {v.x, v.y, v.z};
  Turn(turn, turned);
  return {ToFloat(turned[0]), ToFloat(turned[1]), ToFloat(turned[2])};
}

}  // namespace

Status World::NodeVelocities(BodyId id, std::span<Vec3> velocities) const {
  Body* body = nullptr;
  const Status found = Impl::FindBody(impl_, id, &body);
  if (!found.ok()) return found;
  if (velocities.size() != body->v.size()) return kWrongSize;
  for (size_t i = 0; i < velocities.size(); ++i) {
    velocities[i] = ToWorldVelocity(*body, body->v[i]);
  }
  return {};
}

Status World::SetNodeVelocities(BodyId id, std::span<const Vec3> velocities) {
  Body* body = nullptr;
  const Status found = Impl::FindBody(impl_, id, &body);
  if (!found.ok()) return found;
  if (velocities.size() != body->v.size()) return kWrongSize;
  for (size_t i = 0; i < velocities.size(); ++i) {
    if (!IsFinite(ToOwn(*body, velocities[i]))) {
      return Invalid("velocities", "must be finite", i);
    }
  }
  WakeUp(body);
  for (size_t i = 0; i < velocities.size(); ++i) {
    if (!body->IsPinned(i)) body->v[i] = ToOwn(*body, velocities[i]);
  }
  return {};
}

Status World::AddImpulses(BodyId id, std::span<const Vec3> impulses) {
  Body* body = nullptr;
  const Status found = Impl::FindBody(impl_, id, &body);
  if (!found.ok()) return found;
  if (body->fixed) return kFixed;
  if (impulses.size() != body->v.size()) return kWrongSize;
  for (size_t i = 0; i < impulses.size(); ++i) {
    if (!IsFinite(impulses[i]) || !IsVelocity(*body, Pushed(*body, i, impulses[i]))) {
      return Invalid("impulses", "must be finite and give finite velocities", i);
    }
  }
  WakeUp(body);
  for (size_t i = 0; i < impulses.size(); ++i) body->v[i] = Pushed(*body, i, impulses[i]);
  return {};
}

// Finds the body of a point that a call pushes or moves.
Status World::Impl::FindPushed(Impl* impl, const SurfacePoint& at, Body** body) {
  if (!at.valid()) return Invalid("at", "is not valid()");
  if (at.collider.valid()) return Invalid("at", "is on a collider, which nothing pushes");
  const Status found = FindBody(impl, at.body, body);
  if (!found.ok()) return found;
  if ((*body)->fixed) return kFixed;
  if (!HasPlace(**body, at)) return Invalid("at", "is no place on the body's surface");
  if (!AreWeights(at.weights)) return Invalid("at.weights", "must be those of a point in the tet");
  return {};
}

Status World::AddImpulse(const SurfacePoint& at, const Vec3& impulse) {
  Body* body = nullptr;
  const Status found = Impl::FindPushed(impl_, at, &body);
  if (!found.ok()) return found;
  const float weights[4] = {at.weights.x, at.weights.y, at.weights.z, at.weights.w};
  Vec3 pushed[4];
  for (int i = 0; i < 4; ++i) {
    pushed[i] = Pushed(*body, at.nodes[i], impulse * weights[i]);
    if (!IsFinite(impulse) || !IsVelocity(*body, pushed[i])) {
      return Invalid("impulse", "must be finite and give finite velocities");
    }
  }
  WakeUp(body);
  for (int i = 0; i < 4; ++i) body->v[at.nodes[i]] = pushed[i];
  return {};
}

namespace {

// Changes of the four nodes per change of the point, of places or velocities, if an impulse at the
// point makes them [Civ, Eq. 3.33, 3.34]. All zeros if contacts would leave the point alone
// (kLeastMovable).
std::array<float, 4> SharesOf(const Body& body, const SurfacePoint& at) {
  const double weights[4] = {at.weights.x, at.weights.y, at.weights.z, at.weights.w};
  double response = 0.0, movable = 0.0;
  for (size_t i = 0; i < 4; ++i) {
    const double inverse_mass = body.x[at.nodes[i]].w;
    response += weights[i] * weights[i] * inverse_mass;
    movable += inverse_mass > 0.0 ? weights[i] : 0.0;
  }
  std::array<float, 4> shares = {};
  if (!(movable >= double(kLeastMovable))) return shares;
  for (size_t i = 0; i < 4; ++i) {
    shares[i] = ToFloat(weights[i] * double(body.x[at.nodes[i]].w) / response);
  }
  return shares;
}

bool AreZero(const std::array<float, 4>& shares) {
  return std::ranges::all_of(shares, [](float share) { return share == 0.0f; });
}

constexpr Status kCarriedByPins = {StatusCode::kInvalidArgument, "at",
                                   "pinned nodes carry three quarters or more of it: move the pins",
                                   0};

}  // namespace

Status World::AddVelocity(const SurfacePoint& at, const Vec3& change) {
  Body* body = nullptr;
  const Status found = Impl::FindPushed(impl_, at, &body);
  if (!found.ok()) return found;
  const std::array<float, 4> shares = SharesOf(*body, at);
  if (AreZero(shares)) return kCarriedByPins;
  const Vec3 own = ToOwn(*body, change);
  Vec3 changed[4];
  for (size_t i = 0; i < 4; ++i) {
    changed[i] = Vec3(body->v[at.nodes[i]]) + own * shares[i];
    if (!IsFinite(change) || !IsVelocity(*body, changed[i])) {
      return Invalid("change", "must be finite and give finite velocities");
    }
  }
  WakeUp(body);
  for (size_t i = 0; i < 4; ++i) body->v[at.nodes[i]] = changed[i];
  return {};
}

Status World::AddDisplacement(const SurfacePoint& at, const Vec3& change) {
  Body* body = nullptr;
  const Status found = Impl::FindPushed(impl_, at, &body);
  if (!found.ok()) return found;
  if (body->frozen) return kFrozen;
  const std::array<float, 4> shares = SharesOf(*body, at);
  if (AreZero(shares)) return kCarriedByPins;
  const Vec3 own = ToOwn(*body, change);
  Vec3 changed[4];
  for (size_t i = 0; i < 4; ++i) {
    changed[i] = Vec3(body->x[at.nodes[i]]) + own * shares[i];
    if (!IsFinite(change) || !IsPosition(WorldPosition(*body, changed[i]))) {
      return Invalid("change", "must be finite and end within kMostCoordinate");
    }
  }
  LeaveLane(body);
  WakeUp(body);
  for (size_t i = 0; i < 4; ++i) body->x[at.nodes[i]] = changed[i];
  body->has_previous = false;
  body->moved = true;
  MatchRotations(body->elements, body->x.span(), body->Rotations());
  return {};
}

Status World::SetNodePositions(BodyId id, std::span<const Vec3> positions) {
  Body* body = nullptr;
  const Status found = Impl::FindBody(impl_, id, &body);
  if (!found.ok()) return found;
  if (positions.size() != body->x.size()) return kWrongSize;
  for (size_t i = 0; i < positions.size(); ++i) {
    if (!IsPosition(positions[i])) {
      return Invalid("positions", "must lie within kMostCoordinate", i);
    }
  }
  // Move the origin first: relative to a far origin, positions would lose their last digits.
  MoveOrigin({positions[0].x, positions[0].y, positions[0].z}, body);
  for (size_t i = 0; i < positions.size(); ++i) body->x[i] = LocalPosition(*body, positions[i]);
  impl_->ForgetPast(body);
  LeaveLane(body);
  WakeUp(body);
  if (body->frozen) {
    Revive(body);
    const RotationView rotations = body->Rotations();
    rotations.Set(0, Quat{});
    const Quat turned = FindBestFit(*body).rotation;
    for (uint32_t slot = 0; slot < body->kappa.size(); ++slot) rotations.Set(slot, turned);
  }
  // Reset what belongs to the old shape. Multipliers start from zero, not from
  // lambda V (det F - 1): the solve would apply that force explicitly and, far from equilibrium,
  // overshoot (45 times the energy at a Poisson's ratio of 0.49). The volume sweep does not.
  MatchRotations(body->elements, body->x.span(), body->Rotations());
  for (float& kappa : body->kappa) kappa = 0.0f;
  std::fill(body->newton.tets.begin(), body->newton.tets.end(), ModelTet());
  return {};
}

Status World::Teleport(BodyId id, const Pose& pose) {
  Body* body = nullptr;
  const Status found = Impl::FindBody(impl_, id, &body);
  if (!found.ok()) return found;
  const Status checked = CheckPose(pose);
  if (!checked.ok()) return checked;
  if (body->frozen) return kFrozen;
  // Only the origin changes place; the nodes turn about it. So the shape keeps its precision.
  const BestFit fit = FindBestFit(*body);
  const Rotation turn = Normalised(RotationOf(pose.rotation) * Conjugate(RotationOf(fit.rotation)));
  double arm[3];
  for (int k = 0; k < 3; ++k) arm[k] = body->origin[k] - fit.position[k];
  Turn(turn, arm);
  body->origin[0] = double(pose.position.x) + arm[0];
  body->origin[1] = double(pose.position.y) + arm[1];
  body->origin[2] = double(pose.position.z) + arm[2];
  for (size_t i = 0; i < body->x.size(); ++i) {
    body->x[i] = Turned(turn, body->x[i]);
    body->v[i] = Turned(turn, body->v[i]);
  }
  const RotationView rotations = body->Rotations();
  for (uint32_t slot = 0; slot < body->kappa.size(); ++slot) {
    rotations.Set(slot, ToQuat(Normalised(turn * RotationOf(rotations.Get(slot)))));
  }
  FollowOrigin(body);
  impl_->ForgetPast(body);
  body->pins.Forget();
  WakeUp(body);
  return {};
}

Status World::ResetBody(BodyId id, const Pose& pose) {
  Body* body = nullptr;
  const Status found = Impl::FindBody(impl_, id, &body);
  if (!found.ok()) return found;
  const Status checked = CheckPose(pose);
  if (!checked.ok()) return checked;
  LeaveLane(body);
  if (body->frozen) Revive(body);
  PlaceBody(pose, {}, {}, body);
  for (float& kappa : body->kappa) kappa = 0.0f;
  body->kappa_dt = 0.0f;
  std::fill(body->newton.tets.begin(), body->newton.tets.end(), ModelTet());
  impl_->ForgetPast(body);
  body->pins.Forget();
  WakeUp(body);
  return {};
}

}  // namespace plush

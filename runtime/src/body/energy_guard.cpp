// SPDX-License-Identifier: MIT
// Source: energy_guard.h.
#include "body/energy_guard.h"

#include "base/vector_math.h"
#include "body/body.h"
#include "body/body_colliders.h"
#include "body/crowd.h"
#include "body/node_pass.h"
#include "body/substep.h"
#include "body/touches.h"
#include "collision/double_vector.h"
#include "contact/body_contacts.h"
#include "elasticity/element_pass.h"
#include "solver/volume_sweep.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace plush {
namespace {

double EnergyAt(std::span<const NodeVec> at, const Body& body) {
  constexpr int kMostPolar = 64;  // one or two from those of the last iterate
  return ElasticEnergy(body.elements, at, LawOf(body), kMostPolar, body.Rotations());
}

// Over the free nodes.
struct NodeSums {
  double mass = 0.0, second = 0.0;       // of m and m d^2
  DoubleVector first = {0.0, 0.0, 0.0};  // of m d
};

// Of vectors d = of(node).
template <class Of>
NodeSums SumOver(const Body& body, const Of& of) {
  NodeSums sums;
  for (size_t i = 0; i < body.x.size(); ++i) {
    if (!(body.x[i].w > 0.0f)) continue;
    const double m = 1.0 / double(body.x[i].w);
    const DoubleVector d = InDouble(of(i));
    sums.mass += m;
    sums.first = sums.first + d * m;
    sums.second += m * Dot(d, d);
  }
  return sums;
}

double KineticOf(const Body& body, std::span<const NodeVec> v, const Vec3& frame = {}) {
  return 0.5 * SumOver(body, [&](size_t i) -> Vec3 { return v[i] - frame; }).second;
}

// Calls `of` with the impulse of each collider and the way that its surface goes.
template <class Of>
void ForPresses(const Body& body, const Of& of) {
  for (const PlaneContact& contact : body.contacts.Current()) {
    const Vec3 x = body.contacts.PointOf(contact).Of(body.x), &normal = contact.plane.normal;
    for (const LocalCollider& near : body.NearColliders()) {
      if (near.slot != contact.collider) continue;
      const Vec3 along = near.run - normal * Dot(normal, near.run);  // a belt's
      of(contact.impulse, near.MotionAt(x) + along);
    }
  }
}

// The velocity beside which a body slows: the mean one of colliders that press on it, and what no
// contact can take of its own, along all planes. None of a body that is held.
Vec3 FrameOf(const Body& body, float h) {
  constexpr float kLeast2 = 1.0e-4f;  // of a direction beside the others
  if (body.system->num_pinned > 0 || body.attached.any()) return {};
  Vec3 frame, normals[3];
  float all = 0.0f;
  ForPresses(body, [&](const Vec3& impulse, const Vec3& way) {
    frame += way * (Length(impulse) / h), all += Length(impulse);
  });
  if (all > 0.0f) frame = frame * (1.0f / all);
  const NodeSums sums = SumOver(body, [&](size_t i) -> Vec3 { return body.v[i] - frame; });
  Vec3 own = InFloat(sums.first * (1.0 / sums.mass));
  size_t count = 0;
  for (const PlaneContact& contact : body.contacts.Current()) {
    Vec3 n = contact.plane.normal;
    for (size_t k = 0; k < count; ++k) n -= normals[k] * Dot(normals[k], n);
    if (!(Dot(n, n) > kLeast2)) continue;
    normals[count] = n * (1.0f / Length(n));
    own -= normals[count] * Dot(normals[count], own);
    if (++count == 3) return frame;
  }
  return frame + own;
}

// What gravity, colliders, other bodies, springs and constraints do on the way to body.y [J].
double WorkOfOthers(const StepSettings& settings, float h, const Body& body) {
  double work = 0.0;  // of impulses, times h^2
  const auto add = [&](const EmbeddedPoint& point, const Vec3& impulse) {
    work += double(Dot(impulse, point.Of(body.y) - point.Of(body.x)));
  };
  // A collider at rest does no work, although its impulse may lift a point that has sunk.
  ForPresses(body, [&](const Vec3& f, const Vec3& way) { work += double(Dot(f, way)); });
  for (const BodyContactSide& at : body.contacts.between) {
    add(at.contact->sides[at.side].point, at.contact->Own(at.side, at.contact->row.impulse));
  }
  for (const AttachedPoint& at : body.attached.Current()) {
    const AttachmentRow& row = body.attached.RowOf(at);
    if (row.acts) add(at.point, body.attached.Own(at, row.impulse));
  }
  const NodeSums fallen = SumOver(body, [&](size_t i) { return body.y[i] - body.x[i]; });
  return Dot(InDouble(GravityOf(settings, body)), fallen.first) + work / (double(h) * double(h));
}

// Colliders take what a free body loses, as they take what they press.
void AddMomentum(const Vec3& gained, Body* body) {
  if (body->system->num_pinned > 0 || body->contacts.num_contacts == 0) return;
  Vec3 pressing;
  for (PlaneContact& contact : body->contacts.Current()) {
    contact.push = NormalImpulse(contact);
    pressing += contact.plane.normal * contact.push;
  }
  const float length2 = Dot(pressing, pressing);
  if (length2 > 0.0f) AddReboundTouches(Dot(gained, pressing) / length2, body);
}

// Whether the body may go a shorter way: it is in flight, or pins hold it. Others would sink in.
bool MayShorten(const Body& body) {
  const bool flies = body.contacts.num_contacts == 0 && body.system->coarse.num_components() > 0;
  return body.contacts.between.empty() && !body.attached.any() &&
         (flies || body.system->num_pinned > 0);
}

// Goes a share of the way to body->y that leaves energy and makes no tet flatter. A body that
// touches nothing goes beside the rigid part of its prediction, and starts again from there with
// the fine solve alone: A majorises the stretch energy. `given`: energy without the work of
// others [J].
void Shorten(const SubstepOf& of, double given, GuardedSubstep* substep, Body* body,
             StepStats* stats) {
  constexpr int kTries = 6;
  const std::span<const NodeVec> x = body->x.span();
  const std::span<NodeVec> y = body->y.span(), end = body->rhs.span();
  const CoarseLevel& coarse = body->system->coarse;
  const double room = substep->most + substep->least - substep->elastic;
  for (size_t i = 0; i < x.size(); ++i) end[i] = NodeVec((y[i] - x[i]) * (1.0f / of.h), 0.0f);
  if (KineticOf(*body, end) <= room) return;
  RigidMotion motions[kMaxClusters] = {};
  const std::span<RigidMotion> moved = {motions, coarse.num_clusters()};
  double kinetic = 0.0;
  // Returns the energy that is left.
  const auto go = [&](double share) {
    std::copy(x.begin(), x.end(), y.begin());
    coarse.Move(moved, y);
    for (size_t i = 0; i < x.size() && share > 0.0; ++i)
      y[i] += (end[i] - y[i]) * static_cast<float>(share);
    substep->elastic = EnergyAt(y, *body);
    substep->most = given + WorkOfOthers(of.settings, of.h, *body);
    const double left = substep->most - substep->elastic - kinetic;
    return std::isfinite(left) ? left : std::numeric_limits<double>::lowest();
  };
  const bool starts_again = body->contacts.num_contacts == 0;
  if (starts_again) {
    const Vec3 fall = GravityOf(of.settings, *body) * of.h;
    for (size_t i = 0; i < x.size(); ++i)
      end[i] = NodeVec(x[i].w > 0.0f ? body->v[i] + fall : Vec3{}, 0.0f);
    kinetic = coarse.FindRigidMotions(x, of.h, end.first(x.size()), moved);
    if (kinetic <= room) return;
  } else {
    std::copy(y.begin(), y.end(), end.begin());
  }
  const double most = std::fmax(go(0.0), 0.0);
  if (starts_again) {
    LeaveLane(body);
    SetMultipliers(of.h, body);
    IterateOnce(of, body, stats);
    std::copy(y.begin(), y.end(), end.begin());
  }
  double share = 1.0, left = go(1.0);
  for (int k = 0; k < kTries && left < 0.0; ++k) {
    // The energy is nearly a square of the share.
    share *= std::clamp(std::sqrt(most / (most - left)), 0.1, 0.9);
    left = go(share);
    if (HasFlatterTet(body->elements, x, y)) left = -std::fmax(most, 1.0e-30);
  }
  if (left < 0.0) go(0.0);
  substep->is_shorter = true;
  SetMultipliers(of.h, body);
}

}  // namespace

bool GuardLooks(const StepSettings& settings, float h, bool is_rough, const Body& body) {
  if (settings.contact.method != nullptr || body.pins.moves) return false;
  if (body.splitting.volume_sweeps > 0) return false;
  const ImplicitSettings& implicit = body.solver.implicit;
  if (body.solver.method != nullptr) return !implicit.quasistatic && !UsesModel(implicit);
  constexpr float kAtRest = 0.003f;  // of the way that gravity adds in a substep
  return is_rough || body.progress.longest > kAtRest * Length(GravityOf(settings, body)) * h * h;
}

GuardedSubstep BeginGuard(const SubstepOf& of, bool is_rough, Body* body, StepStats* stats) {
  constexpr double kTiny = 1.0e-5;
  EnergyGuard& guard = body->guard;
  GuardedSubstep substep = {.looks = GuardLooks(of.settings, of.h, is_rough, *body)};
  if (substep.looks) {
    if (!guard.is_known) {
      std::copy(body->x.begin(), body->x.end(), body->rhs.begin());
      body->rhs[body->x.size()] = body->y[body->x.size()];
      guard.elastic = EnergyAt(body->rhs.span(), *body);
    }
    const double before = guard.elastic + KineticOf(*body, body->v.span());
    substep.elastic = EnergyAt(body->y.span(), *body);
    const double given = before + guard.credit;
    substep.most = given + WorkOfOthers(of.settings, of.h, *body);
    const double strain =  // of float positions
        double(std::numeric_limits<float>::epsilon() * body->size / body->simulation.median_edge);
    const double shear = body->system->shear, own = guard.elastic;
    substep.least = kTiny * before + strain * (strain * shear + 2.0 * std::sqrt(own * shear));
    if (std::isfinite(given) && MayShorten(*body)) Shorten(of, given, &substep, body, stats);
    substep.looks = std::isfinite(substep.most) && std::isfinite(substep.elastic);
  }
  guard.is_known = substep.looks;
  return substep;
}

void EndGuard(const GuardedSubstep& substep, float h, Body* body) {
  constexpr double kMostCredit = 0.05;
  if (!substep.looks) return;
  const std::span<NodeVec> v = body->v.span(), rigid = body->rhs.span().first(body->x.size());
  const double left = substep.most - substep.elastic;
  double kinetic = KineticOf(*body, v);
  if (kinetic > left + substep.least) {
    const Vec3 frame = FrameOf(*body, h);
    const double moving = KineticOf(*body, v, frame), most = moving - (kinetic - left);
    (void)body->system->coarse.FindRigidPart(body->x.span(), v, rigid);
    double kept = KineticOf(*body, rigid, frame);
    if (kept > most || body->system->coarse.num_components() == 0) {
      std::ranges::fill(rigid, NodeVec(frame, 0.0f));
      kept = 0.0;
    }
    const double share2 = std::fmax(most - kept, 0.0) / std::fmax(moving - kept, 1.0e-300);
    const double lost = 1.0 - std::fmin(std::sqrt(share2), 1.0);
    const auto slowed = [&](size_t i) { return (rigid[i] - v[i]) * static_cast<float>(lost); };
    const NodeSums gained = SumOver(*body, slowed);
    for (size_t i = 0; i < body->x.size(); ++i) v[i] += slowed(i);
    AddMomentum(InFloat(gained.first), body);
    kinetic = std::fmax(left, 0.0);
  }
  body->guard.credit = std::clamp(left - kinetic, 0.0, kMostCredit * (substep.elastic + kinetic));
  body->guard.elastic = substep.elastic;
}

}  // namespace plush

// SPDX-License-Identifier: MIT
// Source: energy_guard.h.
#include "body/energy_guard.h"

#include "base/vector_math.h"
#include "body/body.h"
#include "body/body_colliders.h"
#include "body/crowd.h"
#include "body/node_pass.h"
#include "body/touches.h"
#include "contact/body_contacts.h"
#include "elasticity/element_pass.h"
#include "solver/volume_sweep.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace plush {
namespace {

constexpr int kPolarIterations = 64;  // one or two from those of the last iterate

double EnergyAt(std::span<const NodeVec> at, const Body& body) {
  return ElasticEnergy(body.elements, at, LawOf(body), kPolarIterations, body.Rotations());
}

// Over the free nodes.
struct NodeSums {
  double mass = 0.0, first[3] = {}, second = 0.0;  // of m, m d and m d^2

  Vec3 Times(double factor) const {
    return {static_cast<float>(first[0] * factor), static_cast<float>(first[1] * factor),
            static_cast<float>(first[2] * factor)};
  }
};

// Of vectors d = of(node).
template <class Of>
NodeSums SumOver(const Body& body, const Of& of) {
  NodeSums sums;
  for (size_t i = 0; i < body.x.size(); ++i) {
    if (!(body.x[i].w > 0.0f)) continue;
    const double m = 1.0 / double(body.x[i].w);
    const Vec3 d = of(i);
    const double x = d.x, y = d.y, z = d.z;
    sums.mass += m;
    sums.first[0] += m * x, sums.first[1] += m * y, sums.first[2] += m * z;
    sums.second += m * (x * x + y * y + z * z);
  }
  return sums;
}
NodeSums SumUp(const Body& body, std::span<const NodeVec> v, const Vec3& frame = {}) {
  return SumOver(body, [&](size_t i) -> Vec3 { return v[i] - frame; });
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

// The mean way of the colliders that press on a free body.
Vec3 WayOfPresses(const Body& body) {
  Vec3 sum;
  float all = 0.0f;
  if (body.system->num_pinned > 0 || body.attached.any()) return sum;
  ForPresses(body, [&](const Vec3& impulse, const Vec3& way) {
    sum += way * Length(impulse), all += Length(impulse);
  });
  return all > 0.0f ? sum * (1.0f / all) : sum;
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
  const AttachedPoints& attached = body.attached;
  for (const AttachedPoint& at : attached.Current()) {
    const AttachmentRow& row = attached.RowOf(at);
    if (row.acts) add(at.point, attached.Own(at, row.impulse));
  }
  const NodeSums fallen = SumOver(body, [&](size_t i) { return body.y[i] - body.x[i]; });
  const Vec3 g = GravityOf(settings, body);
  return double(g.x) * fallen.first[0] + double(g.y) * fallen.first[1] +
         double(g.z) * fallen.first[2] + work / (double(h) * double(h));
}

// The mean velocity in `frame` that no contact can take: along all planes. None of a pinned body.
Vec3 FreeMean(const Body& body, std::span<const NodeVec> v, const Vec3& frame) {
  constexpr float kLeast2 = 1.0e-4f;  // of a direction beside the others
  if (body.system->num_pinned > 0 || body.attached.any()) return {};
  const NodeSums sums = SumUp(body, v, frame);
  Vec3 mean = sums.Times(1.0 / sums.mass);
  Vec3 normals[3];
  size_t count = 0;
  for (const PlaneContact& contact : body.contacts.Current()) {
    Vec3 n = contact.plane.normal;
    for (size_t k = 0; k < count; ++k) n -= normals[k] * Dot(normals[k], n);
    if (!(Dot(n, n) > kLeast2)) continue;
    normals[count] = n * (1.0f / Length(n));
    mean -= normals[count] * Dot(normals[count], mean);
    if (++count == 3) return {};
  }
  return mean;
}

// Colliders take what a free body loses, as they take what they press.
void AddLostMomentum(const Vec3& before, Body* body) {
  if (body->system->num_pinned > 0 || body->contacts.num_contacts == 0) return;
  const Vec3 gained = SumUp(*body, body->v.span()).Times(1.0) - before;
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
  return body.solver.method == nullptr && body.contacts.between.empty() && !body.attached.any() &&
         (flies || body.system->num_pinned > 0);
}

// Goes a share of the way to body->y beside its free part, one that leaves energy for that part and
// makes no tet flatter. `given`: energy without the work of others [J].
void Shorten(const StepSettings& settings, float h, double given, GuardedSubstep* substep,
             Body* body) {
  constexpr int kTries = 6;
  const std::span<const NodeVec> x = body->x.span();
  const std::span<NodeVec> y = body->y.span(), end = body->rhs.span();
  const CoarseLevel& coarse = body->system->coarse;
  for (size_t i = 0; i < x.size(); ++i) end[i] = NodeVec((y[i] - x[i]) * (1.0f / h), 0.0f);
  if (substep->elastic + 0.5 * SumUp(*body, end).second <= substep->most + substep->least) return;
  RigidMotion motions[kMaxClusters] = {};  // of the free part
  const std::span<RigidMotion> moved = {motions, coarse.num_clusters()};
  double kinetic = 0.0;
  if (body->contacts.num_contacts == 0)
    kinetic = coarse.FindRigidMotions(x, h, end.first(x.size()), moved);
  if (substep->elastic + kinetic <= substep->most) return;
  std::copy(y.begin(), y.end(), end.begin());
  const auto spare_at = [&](double share) {
    std::copy(x.begin(), x.end(), y.begin());
    coarse.Move(moved, y);
    for (size_t i = 0; i < x.size(); ++i) y[i] += (end[i] - y[i]) * static_cast<float>(share);
    substep->elastic = EnergyAt(y, *body);
    substep->most = given + WorkOfOthers(settings, h, *body);
    return substep->most - substep->elastic - kinetic;
  };
  const double without = std::fmax(spare_at(0.0), 0.0);
  double share = 1.0, spare = spare_at(1.0);
  for (int k = 0; k < kTries && spare < 0.0; ++k) {
    // The energy is nearly a square of the share.
    share *= std::clamp(std::sqrt(without / (without - spare)), 0.1, 0.9);
    spare = spare_at(share);
    if (HasFlatterTet(body->elements, x, y)) spare = -std::fmax(without, 1.0e-30);
  }
  if (spare < 0.0 && body->system->num_pinned == 0) spare_at(0.0);
  substep->is_shorter = true;
  SetMultipliers(h, body);
}

}  // namespace

bool GuardLooks(const StepSettings& settings, float h, bool is_rough, const Body& body) {
  if (settings.splitting.volume_sweeps > 0 || settings.contact.method != nullptr) return false;
  if (body.pins.moves) return false;
  const ImplicitSettings& implicit = body.solver.implicit;
  if (body.solver.method != nullptr) return !implicit.quasistatic && !UsesModel(implicit);
  constexpr float kShare = 0.003f;
  const float fast = body.progress.longest / (kShare * h);  // if nodes are faster, it has settled
  const bool is_slow = fast <= Length(GravityOf(settings, body)) * h;
  return is_rough || !(is_slow || AnyDiffers(body.v.span(), fast));
}

GuardedSubstep BeginGuard(const StepSettings& settings, float h, bool is_rough, Body* body) {
  constexpr double kTiny = 1.0e-5;
  EnergyGuard& guard = body->guard;
  GuardedSubstep substep;
  substep.looks = GuardLooks(settings, h, is_rough, *body);
  if (substep.looks) {
    const size_t spare = body->x.size();
    if (!guard.is_known) {
      std::copy(body->x.begin(), body->x.end(), body->rhs.begin());
      body->rhs[spare] = body->y[spare];
      guard.elastic = EnergyAt(body->rhs.span(), *body);
    }
    const double before = guard.elastic + 0.5 * SumUp(*body, body->v.span()).second;
    substep.elastic = EnergyAt(body->y.span(), *body);
    const double given = before + guard.credit;
    substep.most = given + WorkOfOthers(settings, h, *body);
    const double strain =  // of float positions
        double(std::numeric_limits<float>::epsilon() * body->size / body->simulation.median_edge);
    const double shear = body->system->shear, own = guard.elastic;
    substep.least = kTiny * before + strain * (strain * shear + 2.0 * std::sqrt(own * shear));
    substep.looks = std::isfinite(substep.most) && std::isfinite(substep.elastic);
    if (substep.looks && MayShorten(*body)) Shorten(settings, h, given, &substep, body);
  }
  guard.is_known = substep.looks;
  return substep;
}

void EndGuard(const GuardedSubstep& substep, float h, Body* body) {
  constexpr double kMostCredit = 0.05;
  if (!substep.looks) return;
  const std::span<NodeVec> v = body->v.span(), rigid = body->rhs.span().first(body->x.size());
  const double left = substep.most - substep.elastic;
  double kinetic = 0.5 * SumUp(*body, v).second;
  if (kinetic > left + substep.least) {
    // A body stops beside what presses on it, not where the world is at rest.
    const Vec3 frame = WayOfPresses(*body) * (1.0f / h);
    const double moving = 0.5 * SumUp(*body, v, frame).second, most = moving - (kinetic - left);
    (void)body->system->coarse.FindRigidPart(body->x.span(), v, rigid);
    double kept = 0.5 * SumUp(*body, rigid, frame).second;
    const auto keep = [&](const Vec3& one) {
      std::fill(rigid.begin(), rigid.end(), NodeVec(one, 0.0f));
      kept = 0.5 * SumUp(*body, rigid, frame).second;
    };
    const bool has_part = body->system->coarse.num_components() > 0 && kept <= most;
    if (!has_part) keep(frame + FreeMean(*body, v, frame));
    if (kept > most) keep(frame);
    const double share2 = std::fmax(most - kept, 0.0) / std::fmax(moving - kept, 1.0e-300);
    const float lost = 1.0f - std::fmin(static_cast<float>(std::sqrt(share2)), 1.0f);
    const Vec3 momentum = SumUp(*body, v).Times(1.0);
    for (size_t i = 0; i < body->x.size(); ++i) v[i] += (rigid[i] - v[i]) * lost;
    AddLostMomentum(momentum, body);
    kinetic = std::fmax(left, 0.0);
  }
  const double most_credit = kMostCredit * (substep.elastic + kinetic);
  body->guard.credit = std::clamp(left - kinetic, 0.0, most_credit);
  body->guard.elastic = substep.elastic;
}

}  // namespace plush

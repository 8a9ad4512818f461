// SPDX-License-Identifier: MIT
// Source: restitution.h.
#include "body/restitution.h"

#include "body/body_colliders.h"
#include "contact/body_contacts.h"
#include "contact/contact_pushes.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>

namespace plush {
namespace {

// Slower points stay, so that bodies come to rest.
constexpr float kLeastSpeed = 0.2f, kFalls = 2.0f;  // [m/s], [gravity h]

// Kinetic energy of the free nodes in a frame that moves at `frame`, plus elastic energy.
double EnergyIn(const StepSettings& settings, const Vec3& frame, const Body& body) {
  double kinetic = 0.0;
  for (size_t i = 0; i < body.x.size(); ++i) {
    if (body.IsPinned(i)) continue;
    const double x = body.v[i].x - frame.x, y = body.v[i].y - frame.y, z = body.v[i].z - frame.z;
    kinetic += 0.5 * (x * x + y * y + z * z) / double(body.x[i].w);
  }
  return kinetic + SummariseElements(body.elements, body.x.span(), body.Rotations(),
                                     LawOf(settings.splitting))
                       .elastic_j;
}

// Work of gravity in `h` seconds at the velocities v, in a frame that moves at `frame`.
double WorkOfGravity(const StepSettings& settings, float h, const Vec3& frame, const Body& body) {
  const Vec3 g = GravityOf(settings, body);
  double sum = 0.0;
  for (size_t i = 0; i < body.x.size(); ++i) {
    if (!body.IsPinned(i)) sum += double(Dot(g, body.v[i] - frame)) / double(body.x[i].w);
  }
  return double(h) * sum;
}

// How long a wave of speed sqrt(2 mu / density) takes through the body and back, at most 1 s.
float WaveTime(const Body& body) {
  double stiffness = 0.0, mass = 0.0;  // of 2 mu V
  for (size_t t = 0; t < body.elements.tets.size(); ++t) stiffness += body.elements.Stiffness(t);
  for (size_t i = 0; i < body.x.size(); ++i) mass += body.Mass(i);
  return std::fmin(2.0f * body.size * static_cast<float>(std::sqrt(mass / stiffness)), 1.0f);
}

}  // namespace

ThrowBack FindThrowBack(const StepSettings& settings, float h, Body* body) {
  constexpr double kMost = std::numeric_limits<float>::max();
  Rebound& rebound = body->contacts.rebound;
  rebound.time -= h;
  if (!(rebound.time > 0.0f)) rebound = {};
  if (rebound.time > 0.0f) {  // what the last substep has turned into height is not owed
    const double work = WorkOfGravity(settings, h, {}, *body);
    rebound.energy += std::fmin(static_cast<float>(work), 0.0f);
    rebound.energy = std::fmax(rebound.energy, 0.0f);
  }
  if (!MayHold(settings, *body) || body->contacts.num_contacts == 0) return {};
  const float least =
      std::fmax(kLeastSpeed / body->scale, kFalls * h * Length(GravityOf(settings, *body)));
  const NotedRebounds noted =
      NoteRebounds(ProblemOf(settings, h, *body), body->v.span(), h, least, &body->contacts);
  if (!(noted.speed > 0.0f)) return {};
  double most = EnergyIn(settings, noted.carried, *body);
  if (noted.collider == rebound.collider) most = std::fmax(most, double(rebound.energy));
  // Weaker impacts do not renew what is owed: the body would never rest.
  if (noted.is_new && noted.speed > rebound.speed) {
    const float energy = static_cast<float>(std::fmin(most, kMost));
    rebound = {noted.collider, noted.speed, WaveTime(*body), energy};
  }
  return {true, noted.carried, most};
}

// A takes turns back, so a free body gets the moment of the impulses besides. The fast corner of
// another one would throw it as a whole, so the energy bounds the change. The next solve starts
// without impulses: those of the impact would press a body that leaves, and strained stiff ones by
// up to 30 times the energy of a fall.
void Throw(const StepSettings& settings, const FactoredSystem& system, const ThrowBack& back,
           Body* body, StepStats* stats) {
  const PhaseTimer timer(stats, Phase::kContact);
  ContactSolve solve = {system, {}, &body->contacts, body->d.span()};
  if (!body->attached.any() && FindOnlyHinge(*body, body->x.span(), &solve.hinge)) {
    solve.turn =
        FindFreeTurn(system, body->x.span(), body->contacts.couplings.columns.span(), solve.hinge);
  }
  FindRebound(body->v.span(), &solve);
  double ud = 0.0, dd = 0.0;  // sums of m u.d and m d.d, d the change of velocity
  for (size_t i = 0; i < body->x.size(); ++i) {
    if (body->IsPinned(i)) continue;
    const double mass = 1.0 / double(body->x[i].w);
    const Vec3 u = body->v[i] - back.frame;
    const double x = body->d[i].x, y = body->d[i].y, z = body->d[i].z;
    ud += mass * (u.x * x + u.y * y + u.z * z);
    dd += mass * (x * x + y * y + z * z);
  }
  const double spare = 2.0 * (back.most - EnergyIn(settings, back.frame, *body));
  const double share = std::fmin((std::sqrt(ud * ud + dd * spare) - ud) / dd, 1.0);
  if (!(spare > 0.0 && dd > 0.0 && share > 0.0) || !std::isfinite(spare * dd)) return;
  for (size_t i = 0; i < body->x.size(); ++i) body->v[i] += body->d[i] * static_cast<float>(share);
  AddReboundTouches(static_cast<float>(share), body);
  for (PlaneContact& contact : body->contacts.Current()) contact.impulse = {};
}

namespace {

bool Moves(const Body& body) { return body.Steps() && !body.frozen && !body.contacts.is_static; }

// Calls visit(body) for those of an island that move.
template <class Visit>
void ForMoving(Body* first, const Visit& visit) {
  for (Body* body = first; body != nullptr; body = body->next_of_island) {
    if (Moves(*body)) visit(body);
  }
}

// Calls visit(contact) for each contact between the bodies of an island that presses.
template <class Visit>
void ForPressing(Body* first, const Visit& visit) {
  ForMoving(first, [&](Body* body) {
    for (const BodyContactSide& at : body->contacts.between) {
      BodyContact* contact = at.contact;
      if (at.side == contact->Owner() && NormalImpulse(contact->row) > 0.0f) visit(contact);
    }
  });
}

// A body of scale s has s^5 times the energy that it has in its own units.
double EnergyScale(const Body& body) {
  const double s = body.scale;
  return s * s * s * s * s;
}

// Kinetic and elastic energy of an island, less the work of gravity in the `h` seconds before [J].
double EnergyOf(const StepSettings& settings, float h, const Vec3& frame, Body* first) {
  double sum = 0.0;
  ForMoving(first, [&](Body* body) {
    const Vec3 own = frame * (1.0f / body->scale);
    sum += EnergyScale(*body) *
           (EnergyIn(settings, own, *body) - WorkOfGravity(settings, h, own, *body));
  });
  return sum;
}

// The velocity of a contact's point on the body that no solve moves, or 0.
Vec3 FrameOf(const BodyContact& contact) {
  for (const BodyContact::Side& side : contact.sides) {
    if (side.of->is_carried) return side.point.Of(side.of->v) * side.of->scale;
  }
  return {};
}

}  // namespace

JointThrow FindJointThrow(const StepSettings& settings, float h, Body* first) {
  const float least = std::fmax(kLeastSpeed, kFalls * h * Length(settings.gravity));
  JointThrow thrown;
  float fastest = 0.0f;
  bool is_new = false;
  const BodyContact* of_fastest = nullptr;
  ForPressing(first, [&](BodyContact* contact) {
    const float speed = contact->ApproachSpeed();
    const float own = speed > least ? contact->restitution * speed : 0.0f;
    const float owed = contact->restitution > 0.0f ? contact->owed->speed : 0.0f;
    contact->row.rebound = std::fmax(own, owed);
    if (!(contact->row.rebound > fastest)) return;
    fastest = contact->row.rebound;
    is_new = own > owed;
    of_fastest = contact;
  });
  if (of_fastest == nullptr) return thrown;
  thrown.owed = of_fastest->owed;
  thrown.frame = FrameOf(*of_fastest);
  if (is_new) {  // weaker impacts do not renew what is owed: the bodies would never rest
    thrown.owed->speed = fastest;
    thrown.owed->time = 0.0f;
    ForMoving(first, [&](Body* body) {
      for (const BodyContact::Side& side : of_fastest->sides) {
        if (side.of == &body->contacts) thrown.owed->time += WaveTime(*body);
      }
    });
  }
  thrown.energy = EnergyOf(settings, 0.0f, thrown.frame, first);
  ForMoving(first, [&](Body*) { ++thrown.num_bodies; });
  return thrown;
}

void ThrowJointly(const StepSettings& settings, float h, const JointThrow& thrown,
                  ContactSolve* solves, Body* first) {
  uint32_t num_bodies = 0;
  ForMoving(first, [&](Body*) { ++num_bodies; });
  if (num_bodies != thrown.num_bodies) return;  // the energy of one that froze is not to be had
  FindJointRebound(solves);
  double ud = 0.0, dd = 0.0;  // sums of m u.d and m d.d, d the change of velocity [J]
  ForMoving(first, [&](Body* body) {
    const double scale = EnergyScale(*body);
    const Vec3 frame = thrown.frame * (1.0f / body->scale);
    for (size_t i = 0; i < body->x.size(); ++i) {
      if (body->IsPinned(i)) continue;
      const double mass = scale / double(body->x[i].w);
      const Vec3 u = body->v[i] - frame;
      const double x = body->d[i].x, y = body->d[i].y, z = body->d[i].z;
      ud += mass * (u.x * x + u.y * y + u.z * z);
      dd += mass * (x * x + y * y + z * z);
    }
  });
  double lost = thrown.energy - EnergyOf(settings, h, thrown.frame, first);
  ForPressing(first, [&](BodyContact* contact) {
    lost += double(std::exchange(contact->owed->energy, 0.0f));
  });
  const double share = std::fmin((std::sqrt(ud * ud + 2.0 * dd * lost) - ud) / dd, 1.0);
  if (lost > 0.0 && dd > 0.0 && share > 0.0 && std::isfinite(dd * lost)) {
    const float part = static_cast<float>(share);
    ForMoving(first, [&](Body* body) {
      for (size_t i = 0; i < body->x.size(); ++i) body->v[i] += body->d[i] * part;
      AddReboundTouches(part, body);
    });
    ForPressing(first, [&](BodyContact* contact) {
      contact->pressed += std::fmax(contact->row.push, 0.0f) * part;
    });
    lost -= share * ud + 0.5 * share * share * dd;
  }
  thrown.owed->energy =
      static_cast<float>(std::clamp(lost, 0.0, double(std::numeric_limits<float>::max())));
}

}  // namespace plush

// SPDX-License-Identifier: MIT
// Source: restitution.h.
#include "body/restitution.h"

#include "body/body_colliders.h"

#include <cmath>
#include <cstddef>
#include <limits>

namespace plush {
namespace {

// Kinetic energy of the free nodes in a frame that moves at `frame`, plus elastic energy.
double EnergyIn(const StepSettings& settings, const Vec3& frame, const Body& body) {
  double kinetic = 0.0;
  for (size_t i = 0; i < body.x.size(); ++i) {
    if (body.IsPinned(i)) continue;
    const double x = body.v[i].x - frame.x, y = body.v[i].y - frame.y, z = body.v[i].z - frame.z;
    kinetic += 0.5 * (x * x + y * y + z * z) / double(body.x[i].w);
  }
  return kinetic + SummariseElements(body.elements, body.x.span(), body.Rotations(),
                                     MostBulk(settings.splitting))
                       .elastic_j;
}

// How long a wave of speed sqrt(2 mu / density) takes through the body and back, at most 1 s.
float WaveTime(const Body& body) {
  double stiffness = 0.0, mass = 0.0;  // of 2 mu V
  for (size_t t = 0; t < body.elements.tets.size(); ++t) stiffness += body.elements.Stiffness(t);
  for (size_t i = 0; i < body.x.size(); ++i) mass += body.Mass(i);
  return std::fmin(2.0f * body.size * static_cast<float>(std::sqrt(mass / stiffness)), 1.0f);
}

}  // namespace

// Slower points stay, so that bodies come to rest.
ThrowBack FindThrowBack(const StepSettings& settings, float h, Body* body) {
  constexpr float kLeastSpeed = 0.2f, kFalls = 2.0f;  // [m/s], [gravity h]
  constexpr double kMost = std::numeric_limits<float>::max();
  Rebound& rebound = body->contacts.rebound;
  rebound.time -= h;
  if (!(rebound.time > 0.0f)) rebound = {};
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

// A resists turns: the fast corner of a spinning body would throw it as a whole. So the energy
// bounds the change.
void Throw(const StepSettings& settings, const FactoredSystem& system, const ThrowBack& back,
           Body* body, StepStats* stats) {
  const PhaseTimer timer(stats, Phase::kContact);
  FindRebound(system, body->v.span(), &body->contacts, body->d.span());
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
}

}  // namespace plush

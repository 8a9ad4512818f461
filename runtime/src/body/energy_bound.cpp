// SPDX-License-Identifier: MIT
// Source: energy_bound.h.
#include "body/energy_bound.h"

#include "base/vector_math.h"
#include "body/touches.h"

#include <algorithm>
#include <cmath>

namespace plush {
namespace {

bool IsNearlyIncompressible(const Body& body) {
  constexpr float kLeastBulk = 8.0f;                // lambda / mu: Poisson's ratio 0.444
  const CoarseLevel& coarse = body.system->coarse;  // knows no bulk without clusters
  return coarse.num_clusters() == 0 || coarse.most_bulk > kLeastBulk;
}

// Whether colliders at rest hold the body, and nothing else does.
bool TouchesOnlyResting(const Body& body) {
  if (body.contacts.num_contacts == 0 || !body.contacts.between.empty()) return false;
  if (body.system->num_pinned > 0 || body.attached.any()) return false;
  const auto moves = [](const Vec3& v) { return Dot(v, v) > 0.0f; };
  return std::ranges::none_of(body.NearColliders(), [&](const LocalCollider& near) {
    return moves(near.shift) || moves(near.turn) || moves(near.run);
  });
}

bool MayGainEnergy(const StepSettings& settings, const Body& body) {
  constexpr float kPressed = 0.9f;  // det F
  return body.progress.lowest < kPressed && settings.splitting.volume_sweeps == 0 &&
         body.solver.method == nullptr && !(body.elements.damping > 0.0f) &&
         TouchesOnlyResting(body) && IsNearlyIncompressible(body);
}

double ElasticEnergy(const Body& body, NodeVectors x) {
  return SummariseElements(body.elements, x, body.Rotations(), kMostBulk).elastic_j;
}

// The mean velocity without the directions of the contacts' normals.
Vec3 FreeVelocity(const Body& body) {
  constexpr float kLeast2 = 1.0e-4f;  // of a direction beside the others
  double sum[3] = {}, mass = 0.0;
  for (size_t i = 0; i < body.v.size(); ++i) {
    const double m = body.Mass(i);
    const Vec3 v = body.v[i];
    sum[0] += m * double(v.x), sum[1] += m * double(v.y), sum[2] += m * double(v.z);
    mass += m;
  }
  Vec3 mean = {static_cast<float>(sum[0] / mass), static_cast<float>(sum[1] / mass),
               static_cast<float>(sum[2] / mass)};
  Vec3 normals[3];
  size_t count = 0;
  for (const PlaneContact& contact : body.contacts.Current()) {
    Vec3 n = contact.plane.normal;
    for (size_t k = 0; k < count; ++k) n -= normals[k] * Dot(normals[k], n);
    const float length2 = Dot(n, n);
    if (!(length2 > kLeast2)) continue;
    normals[count] = n * (1.0f / std::sqrt(length2));
    mean -= normals[count] * Dot(normals[count], mean);
    if (++count == 3) return {};
  }
  return mean;
}

// Colliders take the momentum that the nodes gain, as they take what they press: exactly if all
// normals are the same.
void AddGainedMomentum(const Vec3& gained, Body* body) {
  Vec3 pressing;
  for (PlaneContact& contact : body->contacts.Current()) {
    contact.push = NormalImpulse(contact);
    pressing += contact.plane.normal * contact.push;
  }
  const float length2 = Dot(pressing, pressing);
  if (length2 > 0.0f) AddReboundTouches(Dot(gained, pressing) / length2, body);
}

}  // namespace

EnergyBound FindEnergyBound(const StepSettings& settings, const Body& body) {
  constexpr double kGain = 1.0e-5;  // more than rounding adds
  if (!MayGainEnergy(settings, body)) return {};
  const Vec3 gravity = GravityOf(settings, body);
  double before = ElasticEnergy(body, body.x.span()), fall = 0.0;
  for (size_t i = 0; i < body.x.size(); ++i) {
    const double m = body.Mass(i);
    const Vec3 v = body.v[i], way = body.y[i] - body.x[i];
    before += 0.5 * m * double(Dot(v, v));
    fall += m * double(Dot(gravity, way));
  }
  return {true, before + fall - ElasticEnergy(body, body.y.span()), kGain * before};
}

void BoundKineticEnergy(const EnergyBound& bound, Body* body) {
  if (!bound.any) return;
  // Kinetic energy at a share s of the velocities beside `kept`: fixed + s mixed + s^2 squared.
  const Vec3 kept = FreeVelocity(*body);
  double fixed = 0.0, mixed = 0.0, squared = 0.0;
  for (size_t i = 0; i < body->v.size(); ++i) {
    const double m = body->Mass(i);
    const Vec3 own = body->v[i] - kept;
    fixed += 0.5 * m * double(Dot(kept, kept));
    mixed += m * double(Dot(kept, own));
    squared += 0.5 * m * double(Dot(own, own));
  }
  if (!(fixed + mixed + squared > bound.kinetic + bound.least) || !(squared > 0.0)) return;
  const double spare = bound.kinetic - fixed;
  const double root = std::sqrt(std::fmax(mixed * mixed + 4.0 * squared * spare, 0.0));
  const double share = std::clamp((root - mixed) / (2.0 * squared), 0.0, 1.0);
  if (!std::isfinite(share)) return;
  const float lost = static_cast<float>(1.0 - share);
  Vec3 gained;
  for (size_t i = 0; i < body->v.size(); ++i) {
    const Vec3 change = (kept - body->v[i]) * lost;
    body->v[i] += change;
    gained += change * body->Mass(i);
  }
  AddGainedMomentum(gained, body);
}

}  // namespace plush

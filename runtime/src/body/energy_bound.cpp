// SPDX-License-Identifier: MIT
// Source: energy_bound.h.
#include "body/energy_bound.h"

#include "base/vector_math.h"
#include "body/touches.h"
#include "elasticity/elastic_energy.h"
#include "solver/volume_sweep.h"

#include <algorithm>
#include <cmath>

namespace plush {
namespace {

bool IsNearlyIncompressible(const Body& body) {
  constexpr float kLeastBulk = 8.0f;                // lambda / mu: Poisson's ratio 0.444
  const CoarseLevel& coarse = body.system->coarse;  // knows no bulk without clusters
  return coarse.num_clusters() == 0 || coarse.most_bulk > kLeastBulk;
}

// Whether nothing but colliders at rest holds the body.
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

// The mean displacement from body.x to body.y without the directions of the contacts' normals.
Vec3 FreeShift(const Body& body) {
  constexpr float kLeast2 = 1.0e-4f;  // of a direction beside the others
  double sum[3] = {}, mass = 0.0;
  for (size_t i = 0; i < body.x.size(); ++i) {
    const double m = body.Mass(i);
    const Vec3 u = body.y[i] - body.x[i];
    sum[0] += m * double(u.x), sum[1] += m * double(u.y), sum[2] += m * double(u.z);
    mass += m;
  }
  Vec3 shift = {static_cast<float>(sum[0] / mass), static_cast<float>(sum[1] / mass),
                static_cast<float>(sum[2] / mass)};
  Vec3 normals[3];
  size_t count = 0;
  for (const PlaneContact& contact : body.contacts.Current()) {
    Vec3 n = contact.plane.normal;
    for (size_t k = 0; k < count; ++k) n -= normals[k] * Dot(normals[k], n);
    const float length2 = Dot(n, n);
    if (!(length2 > kLeast2)) continue;
    normals[count] = n * (1.0f / std::sqrt(length2));
    shift -= normals[count] * Dot(normals[count], shift);
    if (++count == 3) return {};
  }
  return shift;
}

// A substep's kinetic and gravity's energy, if it goes only a share s of its way beside `shift`.
struct Ways {
  double before = 0.0;                               // kinetic energy at its start [J]
  double shifted = 0.0, mixed = 0.0, squared = 0.0;  // of 1, 2 s and s^2 [J]
  double fall = 0.0, own_fall = 0.0;                 // work of gravity, of 1 and of s [J]

  Ways(const Body& body, const Vec3& gravity, const Vec3& shift, float h) {
    const double per_time2 = 0.5 / (double(h) * double(h));
    for (size_t i = 0; i < body.x.size(); ++i) {
      const double m = body.Mass(i);
      const Vec3 own = body.y[i] - body.x[i] - shift, v = body.v[i];
      before += 0.5 * m * double(Dot(v, v));
      shifted += per_time2 * m * double(Dot(shift, shift));
      mixed += per_time2 * m * double(Dot(shift, own));
      squared += per_time2 * m * double(Dot(own, own));
      fall += m * double(Dot(gravity, shift));
      own_fall += m * double(Dot(gravity, own));
    }
  }
  double At(double s) const {
    return shifted + 2.0 * s * mixed + s * s * squared - fall - s * own_fall;
  }
};

constexpr int kPolarIterations = 4;

// Colliders take the momentum that the nodes lose, from `end` to body->y, as they take what they
// press: exactly if all normals are the same.
void AddLostMomentum(float h, std::span<const NodeVec> end, Body* body) {
  double lost[3] = {};
  for (size_t i = 0; i < body->x.size(); ++i) {
    const double m = body->Mass(i) / double(h);
    const Vec3 d = body->y[i] - end[i];
    lost[0] += m * double(d.x), lost[1] += m * double(d.y), lost[2] += m * double(d.z);
  }
  Vec3 pressing;
  for (PlaneContact& contact : body->contacts.Current()) {
    contact.push = NormalImpulse(contact) / h;
    pressing += contact.plane.normal * contact.push;
  }
  const float length2 = Dot(pressing, pressing);
  if (!(length2 > 0.0f)) return;
  const double along =
      lost[0] * double(pressing.x) + lost[1] * double(pressing.y) + lost[2] * double(pressing.z);
  AddReboundTouches(static_cast<float>(along / double(length2)), body);
}

}  // namespace

void BoundEnergy(const StepSettings& settings, float h, Body* body, StepStats* stats) {
  constexpr double kGain = 1.0e-5;  // more than rounding adds
  constexpr double kNear = 0.02;    // of what the way changes: closer is not worth another look
  constexpr int kMostLooks = 3;
  if (!MayGainEnergy(settings, *body)) return;
  const size_t count = body->x.size();
  const std::span<NodeVec> y = body->y.span(), end = body->rhs.span();
  const auto elastic_at = [&](std::span<const NodeVec> nodes) {
    return ElasticEnergy(body->elements, nodes, kPolarIterations, body->Rotations());
  };
  const Vec3 shift = FreeShift(*body);
  const Ways ways(*body, GravityOf(settings, *body), shift, h);
  std::copy(body->x.begin(), body->x.end(), end.begin());
  end[count] = y[count];
  const double at_start = elastic_at(end), before = ways.before + at_start;
  // What the energy rises by at shares of the way.
  double low = 0.0, rise_low = ways.At(0.0) + at_start - before;
  double high = 1.0, rise_high = ways.At(1.0) + elastic_at(y) - before;
  if (!(rise_high > kGain * before) || !std::isfinite(rise_high)) return;
  const double close = -kNear * rise_low;
  const bool may_be_flat = HasFlatTet(body->elements, y);
  std::copy(y.begin(), y.end(), end.begin());
  const auto go = [&](double share) {
    const float s = static_cast<float>(share);
    for (size_t i = 0; i < count; ++i) {
      y[i] = body->x[i] + shift + (end[i] - body->x[i] - shift) * s;
    }
  };
  // The energy is nearly convex along the way: a chord meets `before` where the energy is below.
  double at = 1.0;
  for (int look = 0; look < kMostLooks && rise_low < -close; ++look) {
    at = low + (high - low) * rise_low / (rise_low - rise_high);
    go(at);
    const double rise = ways.At(at) + elastic_at(y) - before;
    if (rise <= 0.0 && (may_be_flat || !HasFlatTet(body->elements, y))) {
      low = at, rise_low = rise;
    } else {
      high = at, rise_high = std::fmax(rise, close);
    }
  }
  if (at != low) go(low);
  AddLostMomentum(h, end, body);
  if (may_be_flat) stats->flat_tets = CountFlatTets(body->elements, y);
}

}  // namespace plush

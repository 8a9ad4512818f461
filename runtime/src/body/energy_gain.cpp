// SPDX-License-Identifier: MIT
// Source: energy_gain.h.
#include "body/energy_gain.h"

#include "body/body_colliders.h"
#include "body/node_pass.h"
#include "elasticity/element_pass.h"

#include <algorithm>
#include <cmath>

namespace plush {
namespace {

// What colliders, other bodies and springs do by pushing the body on its own way, less `shift` [J].
double WorkOfOthers(float h, const Vec3& shift, const Body& body) {
  double work = 0.0;
  const auto add = [&](const EmbeddedPoint& point, const Vec3& impulse) {
    work += double(Dot(impulse, point.Of(body.y) - point.Of(body.x) - shift));
  };
  const ContactState& contacts = body.contacts;
  for (const PlaneContact& contact : contacts.Current()) {
    add(contacts.PointOf(contact), contact.impulse);
  }
  for (const BodyContactSide& at : contacts.between) {
    add(at.contact->sides[at.side].point, at.contact->Own(at.side, at.contact->row.impulse));
  }
  const AttachedPoints& attached = body.attached;
  for (const AttachedPoint& at : attached.Current()) {
    const AttachmentRow& row = attached.RowOf(at);
    if (row.acts) add(at.point, attached.Own(at, row.impulse));
  }
  return work / (double(h) * double(h));
}

}  // namespace

NodeSums SumUp(const Body& body, const NodeVec* to, const NodeVec* from, const Vec3& carried) {
  NodeSums sums;
  for (size_t i = 0; i < body.x.size(); ++i) {
    const double m = body.Mass(i);
    Vec3 d = to[i] - carried;
    if (from != nullptr) d -= from[i];
    const double x = d.x, y = d.y, z = d.z;
    sums.first[0] += m * x, sums.first[1] += m * y, sums.first[2] += m * z;
    sums.second += m * (x * x + y * y + z * z);
    sums.mass += m;
  }
  return sums;
}

std::span<const NodeVec> CopyStart(Body* body) {
  std::copy(body->x.begin(), body->x.end(), body->rhs.begin());
  body->rhs[body->x.size()] = body->y[body->x.size()];
  return body->rhs.span();
}

double EnergyAt(std::span<const NodeVec> at, const Body& body) {
  return ElasticEnergy(body.elements, at, kMostBulk, body.Rotations());
}

double EnergyAtStart(Body* body) { return EnergyAt(CopyStart(body), *body); }

bool IsUnsettled(float h, const Body& body) {
  if (body.progress.is_soft) return false;
  constexpr float kShare = 0.003f, kSlow = 0.1f;  // [sizes / s]
  const float resisted = body.progress.longest * (1.0f + body.elements.damping / h);
  const float fast = resisted / (kShare * h);  // if nodes are faster, it has settled [m/s]
  return fast > kSlow * body.size && !AnyDiffers(body.v.span(), fast);
}

bool MayBeJerked(const StepSettings& settings, float h, const Body& body) {
  const SplittingSettings& splitting = settings.splitting;
  if (body.contacts.any() || body.attached.any()) return false;
  if (splitting.outer_iterations > 0 || splitting.volume_sweeps > 0) return false;
  return !body.pins.moves && IsUnsettled(h, body);
}

bool IsJerked(const StepSettings& settings, float h, Body* body) {
  if (!MayBeJerked(settings, h, *body)) return false;
  const NodeSums way = SumUp(*body, body->y.data(), body->x.data(), {});
  const double lost = 0.5 * SumUp(*body, body->v.data(), nullptr, {}).second +
                      way.Along(GravityOf(settings, *body)) -
                      0.5 * way.second / (double(h) * double(h));
  const double end = EnergyAt(body->y.span(), *body);
  return end > lost && end > (1.0 + kTinyGain) * (lost + EnergyAtStart(body));
}

bool MayGainFromOthers(const StepSettings& settings, float h, bool is_rough, const Body& body) {
  if (body.contacts.between.empty() && !body.attached.any()) return false;
  if (settings.splitting.volume_sweeps > 0 || body.solver.method != nullptr) return false;
  if (!SolvesContact(settings) || body.attached.has_constraints || body.pins.moves) return false;
  if (is_rough || MayGainInFlight(settings, body)) return true;
  // Reactions of pins would not know of what the bound takes.
  const bool is_hung = body.attached.any() && body.system->num_pinned > 0;
  return !is_hung && IsUnsettled(h, body);
}

bool GainsFromOthers(const StepSettings& settings, float h, Body* body) {
  if (settings.splitting.outer_iterations > 0) return false;
  if (!MayGainFromOthers(settings, h, false, *body)) return false;
  const auto energies = MeasureAmongOthers(settings, h, body);
  return energies && energies->elastic + energies->kinetic >
                         energies->before + kClearGain * std::fabs(energies->before);
}

bool MayGainInFlight(const StepSettings& settings, const Body& body) {
  constexpr float kSlow = 0.01f;  // [sizes / s]
  const CoarseLevel& coarse = body.system->coarse;
  if (!coarse.MayLag() || settings.splitting.volume_sweeps > 0) return false;
  return AnyDiffers(body.v.span(), kSlow * body.size);
}

std::optional<EnergiesAmongOthers> MeasureAmongOthers(const StepSettings& settings, float h,
                                                      Body* body) {
  const bool is_pinned = body->system->num_pinned > 0;
  const NodeSums ways = SumUp(*body, body->y.data(), body->x.data(), {});
  const NodeSums momenta = SumUp(*body, body->v.data(), nullptr, {});
  Vec3 way, velocity;  // of a free body's centre of mass
  if (!is_pinned) way = ways.Times(1.0 / ways.mass), velocity = momenta.Times(1.0 / momenta.mass);
  double moving =
      0.5 * SumUp(*body, body->v.data(), nullptr, velocity).second + WorkOfOthers(h, way, *body);
  if (is_pinned) moving += ways.Along(GravityOf(settings, *body));
  EnergiesAmongOthers energies;
  energies.kinetic =
      0.5 * SumUp(*body, body->y.data(), body->x.data(), way).second / (double(h) * double(h));
  energies.elastic = EnergyAt(body->y.span(), *body);
  if (energies.elastic + energies.kinetic <= moving) return {};  // whatever the start had
  energies.before = EnergyAtStart(body) + moving;
  return energies;
}

}  // namespace plush

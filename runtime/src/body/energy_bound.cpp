// SPDX-License-Identifier: MIT
// Source: energy_bound.h.
#include "body/energy_bound.h"

#include "base/vector_math.h"
#include "body/body_colliders.h"
#include "body/crowd.h"
#include "body/energy_gain.h"
#include "body/node_pass.h"
#include "body/touches.h"
#include "elasticity/element_pass.h"
#include "solver/volume_sweep.h"

#include <algorithm>
#include <cmath>

namespace plush {
namespace {

// Whether the colliders that touch the body move together without a turn. `shift`: how [m].
bool FindShift(const Body& body, Vec3* shift) {
  const LocalCollider* first = nullptr;
  for (const LocalCollider& near : body.NearColliders()) {
    const auto is_its = [&](const PlaneContact& contact) { return contact.collider == near.slot; };
    if (std::ranges::none_of(body.contacts.Current(), is_its)) continue;
    if (first == nullptr) first = &near;
    const bool turns = SquaredNorm(near.change) > 0.0f;
    if (turns || !IsZero(near.shift - first->shift)) return false;
  }
  if (first == nullptr) return false;
  *shift = first->shift;
  return true;
}

// Whether the body is nearly incompressible and has a tet that is pressed.
bool IsPressed(const Body& body) {
  constexpr float kPressed = 0.9f;  // det F
  return body.progress.lowest < kPressed && !body.progress.is_slow &&
         body.system->coarse.MayBeIncompressible();
}

// Whether a substep in touch may have added energy in small shares, step by step.
bool IsSuspect(bool is_rough, const Body& body) {
  if (is_rough || IsPressed(body)) return true;
  return body.system->num_pinned > 0 && body.system->coarse.MayLag();
}

// Whether a substep of a body that no others act on may add energy. (The bound would let a press
// sink in, so it asks for colliders that press the body flat.)
bool MayGainEnergy(const StepSettings& settings, float h, bool is_rough, const Body& body) {
  if (settings.splitting.volume_sweeps > 0 || body.solver.method != nullptr) return false;
  if (!SolvesContact(settings)) return false;
  if (!body.contacts.between.empty() || body.attached.any() || body.pins.moves) return false;
  if (body.contacts.num_contacts > 0) return IsSuspect(is_rough, body) || IsUnsettled(h, body);
  if (MayGainInFlight(settings, body)) return true;
  const bool was_jerked = body.progress.iterations > body.progress.least_iterations;
  return is_rough || was_jerked;
}

// What colliders do by pushing the body on their way, less `shift` [J].
double WorkOfColliders(float h, const Vec3& shift, const Body& body) {
  double work = 0.0;
  for (const PlaneContact& contact : body.contacts.Current()) {
    const Vec3 x = body.contacts.PointOf(contact).Of(body.x), &normal = contact.plane.normal;
    for (const LocalCollider& near : body.NearColliders()) {
      if (near.slot != contact.collider) continue;
      const Vec3 along = near.run - normal * Dot(normal, near.run);  // a belt's
      work += double(Dot(contact.impulse, near.MotionAt(x) + along - shift));
    }
  }
  return work / (double(h) * double(h));
}

// The mean without the directions of the contacts' normals.
Vec3 FreeMean(const Body& body, const NodeSums& sums) {
  constexpr float kLeast2 = 1.0e-4f;  // of a direction beside the others
  if (body.system->num_pinned > 0) return {};
  Vec3 mean = sums.Times(1.0 / sums.mass);
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
// normals are the same. Those that press on a pinned body do not.
void AddGainedMomentum(const Vec3& gained, Body* body) {
  if (body->system->num_pinned > 0) return;
  Vec3 pressing;
  for (PlaneContact& contact : body->contacts.Current()) {
    contact.push = NormalImpulse(contact);
    pressing += contact.plane.normal * contact.push;
  }
  const float length2 = Dot(pressing, pressing);
  if (length2 > 0.0f) AddReboundTouches(Dot(gained, pressing) / length2, body);
}

// Whether no tet passes flat on the way to body->y. Then none ends a shorter way inside out.
bool MayShorten(Body* body) { return !PassesFlat(body->elements, CopyStart(body), body->y.span()); }

// Of a substep's start, its end and the way between [J].
struct Energies {
  double before = 0.0;               // all, and the work of colliders
  double elastic = 0.0, work = 0.0;  // at body.y; of gravity

  double Kinetic() const { return before + work - elastic; }  // the most that may be left
  void MeasureEnd(const StepSettings& settings, const Vec3& shift, const Body& body) {
    elastic = EnergyAt(body.y.span(), body);
    work = SumUp(body, body.y.data(), body.x.data(), shift).Along(GravityOf(settings, body));
  }
};

// A way from body.x + shift to body->rhs, of which a part `kept` stays whole. `free`: the mean
// along the contacts' planes. With a share s of the rest, the mean is kept + s (free - kept).
struct Way {
  Vec3 shift;             // of the colliders [m]
  Vec3 free, kept;        // [m]
  double per_way2 = 0.0;  // kinetic energy of all nodes together per square of their way [J/m^2]

  double KineticAt(float s) const {
    const Vec3 mean = kept + (free - kept) * s;
    return per_way2 * double(Dot(mean, mean));
  }
};

// Goes the largest share of a way, as far as a few looks tell, that leaves energy to spare.
// `spare_at`(share) goes it and returns what is left [J]: `spare_low` >= 0 at none of the way,
// where the body is, and `spare_high` < 0 at all of it.
template <class SpareAt>
void GoSpareShare(double spare_low, double spare_high, const SpareAt& spare_at) {
  constexpr double kNear = 0.05;  // of what is spare without the way
  constexpr int kMostLooks = 3;
  const double close = kNear * spare_low;
  double low = 0.0, high = 1.0, at = 0.0;
  // The energy is nearly convex along the way, so a chord overestimates it: the share at which the
  // chord has nothing to spare leaves some.
  for (int look = 0; look < kMostLooks && spare_low > close; ++look) {
    at = low + (high - low) * spare_low / (spare_low - spare_high);
    const double spare = spare_at(at);
    (spare >= 0.0 ? low : high) = at;
    (spare >= 0.0 ? spare_low : spare_high) = spare;
  }
  if (at != low) spare_at(low);
}

// Goes a share of the way that leaves enough kinetic energy for the mean. Returns whether there is
// one. If not, stays, or goes the whole way if that takes less energy: colliders then take more
// than there is.
bool GoShare(const StepSettings& settings, const Way& way, double spare_high, Energies* energies,
             Body* body) {
  const std::span<NodeVec> y = body->y.span(), end = body->rhs.span();
  const Vec3 kept = way.shift + way.kept;
  const auto spare_at = [&](double share) {
    const float s = static_cast<float>(share);
    for (size_t i = 0; i < body->x.size(); ++i) {
      y[i] = body->x[i] + kept + (end[i] - body->x[i] - kept) * s;
    }
    energies->MeasureEnd(settings, way.shift, *body);
    return energies->Kinetic() - way.KineticAt(s);
  };
  const double spare_low = spare_at(0.0);
  if (spare_low < 0.0) {
    if (spare_low < spare_high) spare_at(1.0);
    return false;
  }
  GoSpareShare(spare_low, spare_high, spare_at);
  return true;
}

// Shortens the way to body->y. The mean along the contacts' planes stays whole, unless it leads
// below a collider that no contact knows any more, or takes energy that is not there.
void ShortenWay(const StepSettings& settings, float h, Way way, double spare, Energies* energies,
                Body* body) {
  constexpr float kMostDepth = 3.0f;  // [slops]
  const std::span<NodeVec> end = body->rhs.span();
  std::copy(body->y.begin(), body->y.end(), end.begin());
  way.kept = way.free;
  const bool keeps_mean =
      GoShare(settings, way, spare, energies, body) && !IsBelowSurface(settings, kMostDepth, body);
  if (!keeps_mean && !IsZero(way.kept)) {
    way.kept = Vec3();
    GoShare(settings, way, spare, energies, body);
  }
  const NodeSums change = SumUp(*body, body->y.data(), end.data(), {});
  AddGainedMomentum(change.Times(1.0 / double(h)), body);
}

// Shortens the way to body->y. If a tet would pass flat on a shorter one, a pinned body does not
// move, and a free one only moves with its colliders if the whole way would double the energy. A
// free body otherwise goes the whole way: its colliders may have to stop it. The impulses on a
// pinned body begin anew, because those that add energy would grow in the next solve. Returns
// whether the way is shorter.
bool Shorten(const StepSettings& settings, float h, const Way& way, double spare,
             Energies* energies, Body* body) {
  const bool is_pinned = body->system->num_pinned > 0;
  if (MayShorten(body)) {
    ShortenWay(settings, h, way, spare, energies, body);
  } else if (is_pinned || -spare > energies->before) {
    const NodeSums lost = SumUp(*body, body->y.data(), body->x.data(), way.shift);
    AddGainedMomentum(lost.Times(-1.0 / double(h)), body);
    for (size_t i = 0; i < body->x.size(); ++i) body->y[i] = body->x[i] + way.shift;
    energies->MeasureEnd(settings, way.shift, *body);
  } else {
    return false;
  }
  if (is_pinned) {
    if (body->contacts.num_contacts == 0) ClearMultipliers(body);
    for (PlaneContact& contact : body->contacts.Current()) contact.impulse = {};
  }
  return true;
}

// Goes a share of the way to body->y beside rigid `motions` of the components, which take no
// elastic energy. `most`: the elastic energy that may be left [J].
void ShortenInFlight(const StepSettings& settings, float h, std::span<const RigidMotion> motions,
                     double most, Body* body) {
  const std::span<NodeVec> y = body->y.span(), end = body->rhs.span();
  const Vec3 fall = GravityOf(settings, *body) * (h * h);
  std::copy(y.begin(), y.end(), end.begin());
  const auto spare_at = [&](double share) {
    std::copy(body->x.begin(), body->x.end(), y.begin());
    body->system->coarse.Move(motions, y);
    const float rest = static_cast<float>(1.0 - share);
    for (size_t i = 0; i < body->x.size(); ++i) y[i] = end[i] + (y[i] + fall - end[i]) * rest;
    return most - EnergyAt(y, *body);
  };
  const double spare_high = most - EnergyAt(y, *body), spare_low = spare_at(0.0);
  if (spare_low > 0.0 && !PassesFlat(body->elements, y, end)) {
    GoSpareShare(spare_low, spare_high, spare_at);
  }
  ClearMultipliers(body);  // those of the whole way would pull on
}

// The bound of a free body in flight.
EnergyBound FindBoundInFlight(const StepSettings& settings, float h, Body* body) {
  const CoarseLevel& coarse = body->system->coarse;
  if (coarse.num_components() == 0) return {};
  EnergyBound bound = {.any = true, .keeps_rigid = true};
  const NodeSums all = SumUp(*body, body->v.data(), nullptr, {});
  const Vec3 mean = all.Times(1.0 / all.mass);
  const double of_centre = 0.5 * all.mass * double(Dot(mean, mean));
  const double at_start = EnergyAtStart(body);
  const double before = at_start + 0.5 * SumUp(*body, body->v.data(), nullptr, mean).second;
  bound.least = kTinyGain * before;
  double at_end = EnergyAt(body->y.span(), *body);
  if (at_end > at_start + bound.least) {
    RigidMotion motions[kMaxClusters];
    const std::span<RigidMotion> all_motions = {motions, coarse.num_clusters()};
    const RigidEnergies rigid =
        coarse.FindRigidWays(body->x.span(), body->v.span(), h, body->y.span(),
                             body->rhs.span().first(body->x.size()), all_motions);
    const double may_end = before + of_centre - rigid.at_end;
    if (at_end > may_end + bound.least && std::isfinite(at_end)) {
      ShortenInFlight(settings, h, all_motions, before + of_centre - rigid.at_start, body);
      at_end = EnergyAt(body->y.span(), *body);
      bound.is_shorter = true;
    }
  }
  bound.kinetic = before - at_end;
  return bound;
}

}  // namespace

EnergyBound FindEnergyBound(const StepSettings& settings, float h, bool is_rough, Body* body) {
  if (MayGainFromOthers(settings, h, is_rough, *body)) {
    const auto energies = MeasureAmongOthers(settings, h, body);
    if (!energies) return {};
    return {.any = true,
            .kinetic = energies->before - energies->elastic,
            .least = kTinyGain * std::fabs(energies->before),
            .keeps_rigid = body->system->num_pinned == 0};
  }
  if (!MayGainEnergy(settings, h, is_rough, *body)) return {};
  if (body->contacts.num_contacts == 0 && body->system->num_pinned == 0) {
    return FindBoundInFlight(settings, h, body);
  }
  Way way;
  const bool is_pinned = body->system->num_pinned > 0;
  const bool is_work_exact = is_pinned || FindShift(*body, &way.shift);
  const Vec3 carried = way.shift * (1.0f / h);
  const NodeSums sums = SumUp(*body, body->y.data(), body->x.data(), way.shift);
  way.per_way2 = 0.5 * sums.mass / (double(h) * double(h));
  const double moving = 0.5 * SumUp(*body, body->v.data(), nullptr, carried).second +
                        WorkOfColliders(h, way.shift, *body);
  Energies energies;
  energies.MeasureEnd(settings, way.shift, *body);
  const double kinetic = 0.5 * sums.second / (double(h) * double(h));
  if (energies.elastic + kinetic <= moving + energies.work) return {};  // whatever the start had
  energies.before = EnergyAtStart(body) + moving;
  way.free = FreeMean(*body, sums);
  const double spare = energies.Kinetic() - way.KineticAt(1.0f);
  // Ways of soft bodies that collapse would be shortened again and again, and these sink in.
  const bool speeds_up = kinetic > moving + energies.work;
  const bool is_suspect = is_pinned || speeds_up ? IsSuspect(is_rough, *body) : IsPressed(*body);
  const double gain = !is_work_exact ? 1.0 : is_suspect ? kTinyGain : kClearGain;
  const double least = gain * std::fabs(energies.before);
  const bool is_shorter =
      spare < -least && std::isfinite(spare) && Shorten(settings, h, way, spare, &energies, body);
  return {true, is_shorter, carried, energies.Kinetic(), least};
}

void BoundKineticEnergy(const EnergyBound& bound, Body* body) {
  if (!bound.any) return;
  if (bound.keeps_rigid) {
    body->system->coarse.BoundVibration(body->x.span(), bound.kinetic, bound.least,
                                        body->rhs.span().first(body->x.size()), body->v.span());
    return;
  }
  const NodeSums sums = SumUp(*body, body->v.data(), nullptr, bound.carried);
  const Vec3 kept = FreeMean(*body, sums);  // at right angles to the rest of the mean
  const double fixed = 0.5 * sums.mass * double(Dot(kept, kept)), kinetic = 0.5 * sums.second;
  if (!(kinetic > bound.kinetic + bound.least) || !(kinetic > fixed)) return;
  const double share = std::sqrt(std::fmax((bound.kinetic - fixed) / (kinetic - fixed), 0.0));
  if (!(share < 1.0)) return;
  const float lost = static_cast<float>(1.0 - share);
  for (NodeVec& v : body->v) v += (kept + bound.carried - v) * lost;
  AddGainedMomentum((kept * static_cast<float>(sums.mass) - sums.Times(1.0)) * lost, body);
}

}  // namespace plush

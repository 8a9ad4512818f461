// SPDX-License-Identifier: MIT
// Bodies and crowds as records of a state. Source: state_sink.h.
#include "body/contact_method.h"
#include "body/solver_method.h"
#include "state/state_scenery.h"
#include "state/state_sink.h"

#include <algorithm>

namespace plush {
namespace {

StateContact Saved(const PlaneContact& contact) {
  StateContact out = {};
  out.slot = contact.slot;
  out.collider = contact.collider;
  out.face = contact.face;
  Copy(contact.impulse, out.impulse);
  Copy(contact.plane.normal, out.normal);
  return out;
}

StateTouch Saved(const Touch& touch) {
  StateTouch out = {};
  out.collider = touch.collider;
  Copy(touch.force, out.force);
  Copy(touch.torque, out.torque);
  Copy(touch.point, out.point);
  Copy(touch.normal, out.normal);
  out.impulse = touch.impulse;
  out.approach_speed = touch.approach_speed;
  out.triangle = touch.triangle;
  out.other_triangle = touch.other_triangle;
  out.is_sensor = touch.is_sensor ? 1 : 0;
  out.is_reported = touch.is_reported ? 1 : 0;
  return out;
}

uint32_t FlagsOf(const Body& body) {
  const auto flag = [](bool is_set, StateBodyFlags bit) { return is_set ? uint32_t{bit} : 0u; };
  return flag(body.fixed, kStateFixed) | flag(body.frozen, kStateFrozen) |
         flag(body.asleep, kStateAsleep) | flag(body.enabled, kStateEnabled) |
         flag(body.was_asleep, kStateWasAsleep) | flag(body.in_lane, kStateInLane) |
         flag(body.in_crowd_step, kStateInCrowdStep) |
         flag(body.has_previous && body.previous.size() > 0, kStateHasPrevious) |
         flag(body.pins.reactions.size() > 0, kStateReports) |
         flag(body.pins.targets.size() > 0, kStateHasTargets) |
         flag(body.report_contacts, kStateReportsContacts) | flag(body.pins.rests, kStatePinsRest) |
         flag(body.pins.moves, kStatePinsMove) | flag(body.searched.is_known, kStateHasSearched) |
         flag(body.guard.is_known, kStateKnowsElastic) |
         flag(body.resting.is_tried, kStateTriesRest) |
         flag(body.resting.is_known && !body.asleep, kStateHasResting);
}

void WriteCouplings(const PointCouplings& couplings, StateSink* sink) {
  for (uint32_t k = 0; k < couplings.num_known; ++k) {
    const EmbeddedPoint& point = couplings.points[k];
    sink->Write(StatePoint{point.id, point.u, point.v});
  }
  for (uint32_t k = 0; k < couplings.num_known; ++k) {
    for (uint32_t other = 0; other <= k; ++other) sink->Write(couplings.Row(k)[other]);
  }
}

StateModelTet Saved(const ModelTet& tet) {
  const Matrix3<float>& R = tet.state.rotation;
  const Vector3<float>& reflected = tet.state.reflected;
  return {{R.c0.x, R.c0.y, R.c0.z, R.c1.x, R.c1.y, R.c1.z, R.c2.x, R.c2.y, R.c2.z},
          {reflected.x, reflected.y, reflected.z},
          tet.state.witness};
}

}  // namespace

StateStats Saved(const StepStats& s) {
  StateStats out = {s.flags,
                    s.max_speed,
                    s.contacts,
                    s.contact_sweeps,
                    s.substeps,
                    s.outer_iterations,
                    s.asleep,
                    s.overshoots,
                    s.contacts_dropped,
                    s.contacts_unsettled,
                    s.body_pairs,
                    s.pairs_searched,
                    s.linear_iterations,
                    s.newton_fallbacks,
                    s.flat_tets,
                    {}};
  static_assert(sizeof(out.phase_s) == sizeof(s.phase_s));
  std::copy(std::begin(s.phase_s), std::end(s.phase_s), out.phase_s);
  return out;
}

StateBody Saved(const Body& body, const StepStats& stats) {
  StateBody out = {};
  out.user_data = body.user_data;
  std::copy(std::begin(body.origin), std::end(body.origin), out.origin);
  out.slot = body.slot;
  out.system = body.system->state_index;
  out.dt = body.dt;
  out.kappa_dt = body.kappa_dt;
  out.resting_time = body.resting.time;
  out.gravity_factor = body.gravity_factor;
  out.max_speed = body.max_speed;
  out.filter = Saved(body.filter);
  out.flags = FlagsOf(body);
  if ((out.flags & kStateHasPrevious) != 0) {
    std::copy(std::begin(body.previous_origin), std::end(body.previous_origin),
              out.previous_origin);
  }
  if (body.searched.is_known) {
    std::copy(std::begin(body.searched.origin), std::end(body.searched.origin),
              out.searched_origin);
  }
  std::copy(std::begin(body.searched.travel), std::end(body.searched.travel), out.searched_travel);
  out.searched_way = body.searched.way;
  out.guard_credit = body.guard.credit;
  out.guard_elastic = body.guard.is_known ? body.guard.elastic : 0.0;
  out.crowd = body.crowd != nullptr ? body.crowd->index : kNoIndex;
  out.lane = body.crowd != nullptr ? static_cast<uint32_t>(body.lane) : kNoIndex;
  out.num_contacts = body.contacts.num_contacts;
  const PointCouplings& couplings = body.contacts.couplings;
  if (couplings.num_known > 0) {
    out.factor_id = couplings.factor_id;
    out.num_coupled = couplings.num_known;
  }
  out.stats = Saved(stats);
  out.friction = body.coefficients.friction;
  out.restitution = body.coefficients.restitution;
  out.rebound_collider = body.contacts.rebound.collider;
  out.rebound_speed = body.contacts.rebound.speed;
  out.rebound_time = body.contacts.rebound.time;
  out.rebound_energy = body.contacts.rebound.energy;
  out.outer_iterations = body.splitting.outer_iterations;
  out.volume_sweeps = body.splitting.volume_sweeps;
  out.polar_iterations = body.splitting.polar_iterations;
  out.num_touches = body.num_touches;
  out.solver = NumberOf(body.solver.method);
  const ImplicitSettings& implicit = body.solver.implicit;
  out.newton_iterations = implicit.newton_iterations;
  out.linear_iterations = implicit.linear_iterations;
  out.newton_tolerance = implicit.newton_tolerance;
  out.linear_tolerance = implicit.linear_tolerance;
  out.mass_damping = implicit.mass_damping;
  out.differential = static_cast<uint32_t>(implicit.differential);
  out.preconditioner = static_cast<uint32_t>(implicit.preconditioner);
  out.line_search = implicit.line_search ? 1 : 0;
  out.linear_method = static_cast<uint32_t>(implicit.linear_method);
  out.quasistatic = implicit.quasistatic ? 1 : 0;
  out.model = static_cast<uint32_t>(implicit.model);
  out.rotation = static_cast<uint32_t>(implicit.rotation);
  out.alpha = implicit.alpha;
  out.beta = implicit.beta;
  out.exact_degenerate_stress = implicit.exact_degenerate_stress ? 1 : 0;
  out.assembled = implicit.assembled ? 1 : 0;
  if (out.solver != 0 && UsesModel(implicit)) {
    out.num_models = static_cast<uint32_t>(body.newton.tets.size());
  }
  return out;
}

BodyLayout LayoutOf(const Body& body, const StateBody& saved) {
  return BodyLayout(saved, body.x.size(), body.elements.blocks.size(), body.pins.motions.size());
}

void WriteBulk(const Body& body, const StateBody& saved, StateSink* sink) {
  const BodyLayout layout = LayoutOf(body, saved);
  if (!sink->writes()) {
    sink->Skip(layout.Sum());
    return sink->End();
  }
  sink->WriteAll(body.x);
  sink->WriteAll(body.v);
  if (layout.rotations > 0) {
    sink->WriteAll(body.rotations);
    sink->WriteAll(body.kappa);
  }
  if (layout.previous > 0) sink->WriteAll(body.previous);
  if (layout.searched > 0) sink->WriteAll(body.searched.y);
  if (layout.resting > 0) sink->WriteAll(body.resting.x);
  if (layout.targets > 0) {
    sink->WriteAll(body.pins.targets);
    sink->WriteAll(body.pins.regions);
    for (const RegionMotion& motion : body.pins.motions) {
      const StateMotion out = {Saved(motion.from), Saved(motion.to), motion.known ? 1u : 0u,
                               motion.moves ? 1u : 0u};
      sink->Write(out);
    }
  }
  sink->WriteAll(body.pins.reactions);
  for (const PlaneContact& contact : body.contacts.Current()) sink->Write(Saved(contact));
  for (uint32_t i = 0; i < body.num_touches; ++i) sink->Write(Saved(body.touches[i]));
  if (saved.num_coupled > 0) WriteCouplings(body.contacts.couplings, sink);
  for (uint32_t i = 0; i < saved.num_models; ++i) sink->Write(Saved(body.newton.tets[i]));
  sink->End();
}

bool HasLanes(const Crowd& crowd) {
  return std::any_of(crowd.bodies, crowd.bodies + kCrowdLanes,
                     [](const Body* body) { return body != nullptr && body->in_lane; });
}

StateCrowd Saved(const Crowd& crowd) {
  StateCrowd out = {};
  out.system = crowd.system->state_index;
  const Crowd* next = crowd.num_bodies < kCrowdLanes
                          ? LinkedList<Crowd>::Next(const_cast<Crowd*>(&crowd))
                          : nullptr;
  out.next_open = next != nullptr ? next->index : kNoIndex;
  out.kappa_dt = crowd.kappa_dt;
  out.has_lanes = HasLanes(crowd) ? 1 : 0;
  for (size_t lane = 0; lane < kCrowdLanes; ++lane) {
    const Body* body = crowd.bodies[lane];
    out.slots[lane] = body != nullptr ? body->slot : kNoIndex;
  }
  return out;
}

}  // namespace plush

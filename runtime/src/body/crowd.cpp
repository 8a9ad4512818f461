// SPDX-License-Identifier: MIT
// Which bodies are in a crowd and its lanes, and which step with it.
#include "body/crowd.h"

#include "body/body_colliders.h"
#include "body/coarse_correction.h"

#include <algorithm>

namespace plush {

RotationView Body::Rotations() const {
  if (in_lane) return RotationView(crowd->rotations.span(), lane);
  return RotationView({const_cast<float*>(rotations.data()), rotations.size()});
}

bool Crowd::Allocate(const Allocator& allocator, System* of_system) {
  system = of_system;
  const size_t num_nodes = system->pinned.size();
  const size_t places = kBlockTets * system->view.elements.blocks.size();
  if (!positions.Allocate(allocator, kCrowdPosition * num_nodes, 0.0f) ||
      !rhs.Allocate(allocator, kCrowdVector * num_nodes, 0.0f) ||
      !rotations.Allocate(allocator, kCrowdRotation * places, 0.0f) ||
      !kappa.Allocate(allocator, kCrowdLanes * places, 0.0f) ||
      !start_rotations.Allocate(allocator, rotations.size()) ||
      !start_kappa.Allocate(allocator, kappa.size()) ||
      !sums.Allocate(allocator, kCrowdSums * system->coarse.num_clusters(), 0.0f) ||
      !motions.Allocate(allocator, kCrowdMotion * system->coarse.num_clusters(), 0.0f)) {
    return false;
  }
  for (size_t place = 0; place < places; ++place) {
    float* w = &rotations[kCrowdRotation * place + 3 * kCrowdLanes];
    std::fill(w, w + kCrowdLanes, 1.0f);
  }
  return true;
}

bool MayJoinCrowds(const Body& body) {
  return !body.fixed && body.elements.damping == 0.0f && body.pins.reactions.size() == 0 &&
         body.solver.method == nullptr;
}

System* CrowdSystem(const Body& body) {
  return body.system->base != nullptr ? body.system->base : body.system;
}

bool JoinCrowd(const Allocator& allocator, Crowd* crowd, Body* body) {
  if (body->system->base != nullptr && crowd->more.size() == 0 &&
      !crowd->more.Allocate(allocator, crowd->rhs.size(), 0.0f)) {
    return false;
  }
  size_t lane = 0;
  while (crowd->bodies[lane] != nullptr) ++lane;
  crowd->bodies[lane] = body;
  if (++crowd->num_bodies == kCrowdLanes) crowd->system->open_crowds.Remove(crowd);
  body->crowd = crowd;
  body->lane = lane;
  return true;
}

void LeaveLane(Body* body) {
  if (!body->in_lane) return;
  const Crowd& crowd = *body->crowd;
  const RotationView lane = body->Rotations();
  body->in_lane = false;
  const RotationView own = body->Rotations();
  for (uint32_t slot = 0; slot < body->kappa.size(); ++slot) {
    own.Set(slot, lane.Get(slot));
    body->kappa[slot] = crowd.kappa[kCrowdLanes * slot + body->lane];
  }
  body->kappa_dt = crowd.kappa_dt;
}

void SetMultipliers(float h, Body* body) {
  const ElementView& elements = body->elements;
  for (size_t t = 0; t < elements.tets.size(); ++t) {
    const Tet& tet = elements.tets[t];
    const float change =
        Determinant(DeformationGradient(body->y[tet.a], body->y[tet.b], body->y[tet.c],
                                        body->y[tet.d], elements.DmInv(t))) -
        1.0f;
    const size_t slot = elements.slots[t];
    const bool in_lane = body->in_lane;
    (in_lane ? body->crowd->kappa[kCrowdLanes * slot + body->lane] : body->kappa[slot]) =
        -h * h * VolumePressure(LawOf(*body), elements.Stiffness(t), elements.Bulk(t), change);
  }
}

void LeaveCrowd(Body* body) {
  LeaveLane(body);
  Crowd* crowd = body->crowd;
  crowd->bodies[body->lane] = nullptr;
  if (crowd->num_bodies-- == kCrowdLanes) crowd->system->open_crowds.PushBack(crowd);
  body->crowd = nullptr;
}

void DecideCrowdStep(const StepSettings& settings, Body* body) {
  body->in_crowd_step = false;
  const ContactState& contacts = body->contacts;
  if (body->crowd == nullptr || !body->Steps() || body->frozen || contacts.any() ||
      contacts.rebound.time > 0.0f || !body->leads_island || body->next_of_island != nullptr) {
    return;
  }
  const float before = body->in_lane ? body->crowd->kappa_dt : body->kappa_dt;
  if (LeastIterations(before, settings.dt) > 1) return;
  const bool has_own_factor =
      body->system->base != nullptr && body->Factors().factors[0].pins == nullptr;
  // A crowd makes the same iterations for all.
  const SplittingSettings& splitting = body->crowd->splitting;
  const bool has_own_pins = body->system->num_pinned > 0 && body->crowd->system->num_pinned == 0;
  const bool has_own_plan =
      (splitting.outer_iterations == 0 && body->attached.has_constraints) ||
      (has_own_pins && PlanIterations(splitting, *body, settings.dt).is_stiffest);
  body->in_crowd_step = !has_own_factor && !has_own_plan && !CanTouchColliders(settings, body);
}

}  // namespace plush

// SPDX-License-Identifier: MIT
// World's calls that measure: energies, extremes and depths of all bodies; forces, moments and pose
// of one. Not on the step path. With s the scale, a body's own mass counts s^3, momentum and force
// s^4, energy and angular momentum s^5.
#include "body/best_fit.h"
#include "body/body_colliders.h"
#include "body/node_pass.h"
#include "elasticity/elements.h"
#include "world/world_impl.h"

#include <cmath>

namespace plush {
namespace {

WorldMeasures MeasureBody(const WorldDesc& desc, const Body& body) {
  const Vec3& gravity = desc.gravity;
  const double s = body.scale, s3 = s * s * s, s5 = s3 * s * s;
  const Vec3 g = {gravity.x * body.gravity_factor, gravity.y * body.gravity_factor,
                  gravity.z * body.gravity_factor};
  const ElementSummary summary =
      SummariseElements(body.elements, body.x.span(), body.Rotations(), LawOf(body));
  WorldMeasures measures;
  measures.elastic_j = s5 * summary.elastic_j;
  measures.min_det_f = summary.min_det_f;
  measures.tets = static_cast<uint32_t>(body.elements.tets.size());
  measures.inverted_tets = summary.inverted;
  measures.collapsed_tets = summary.collapsed;
  measures.max_speed = body.scale * LongestVector(body.v.span());
  for (size_t i = 0; i < body.x.size(); ++i) {
    const double mass = body.Mass(i);
    const Vec3& v = body.v[i];
    measures.mass_kg += mass;
    measures.kinetic_j += 0.5 * mass * (double(v.x) * v.x + double(v.y) * v.y + double(v.z) * v.z);
    measures.gravity_j -= mass * (g.x * (body.origin[0] + s * double(body.x[i].x)) +
                                  g.y * (body.origin[1] + s * double(body.x[i].y)) +
                                  g.z * (body.origin[2] + s * double(body.x[i].z)));
  }
  measures.mass_kg *= s3;
  measures.kinetic_j *= s5;
  measures.gravity_j *= s3;
  return measures;
}

BodyMoments MeasureMoments(const Body& body) {
  const double s = body.scale, s3 = s * s * s, s4 = s3 * s, s5 = s4 * s;
  BodyMoments moments;
  const Centre centre = FindCentre(body);
  moments.mass = s3 * centre.mass;
  for (int k = 0; k < 3; ++k) moments.centre[k] = body.origin[k] + s * centre.x[k];
  for (size_t i = 0; i < body.x.size(); ++i) {
    const double m = body.Mass(i);
    const double r[3] = {body.x[i].x - centre.x[0], body.x[i].y - centre.x[1],
                         body.x[i].z - centre.x[2]};
    const double v[3] = {body.v[i].x, body.v[i].y, body.v[i].z};
    for (int k = 0; k < 3; ++k) {
      const int a = (k + 1) % 3, b = (k + 2) % 3;
      moments.linear_momentum[k] += m * v[k];
      moments.angular_momentum[k] += m * (r[a] * v[b] - r[b] * v[a]);
    }
    moments.kinetic_j += 0.5 * m * (v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
  }
  for (int k = 0; k < 3; ++k) {
    moments.linear_momentum[k] *= s4;
    moments.angular_momentum[k] *= s5;
  }
  moments.kinetic_j *= s5;
  const ElementSummary summary =
      SummariseElements(body.elements, body.x.span(), body.Rotations(), LawOf(body));
  moments.volume = s3 * summary.volume;
  moments.elastic_j = s5 * summary.elastic_j;
  return moments;
}

}  // namespace

// See WorldMeasures::max_penetration. Body and colliders may have moved since the last step.
float World::Impl::DeepestPoint(const Body& body) const {
  float deepest = 0.0f;
  if (!body.enabled || body.fixed || body.frozen) return deepest;
  for (const uint32_t slot : collider_slots) {
    const StepCollider collider = ColliderNow(colliders[slot]);
    if (!collider.is_sensor && MayTouch(collider.filter, body.filter)) {
      deepest = std::fmax(deepest, body.scale * DepthIn(collider, body));
    }
  }
  return deepest;
}

Status World::Measure(WorldMeasures* out_measures) const {
  if (out_measures == nullptr) return kNoOutput;
  *out_measures = {};
  if (impl_ == nullptr) return kNoWorld;
  Impl& w = *impl_;
  w.ListLiveBodies();
  const JobFunction measure_one = [](void* context, uint32_t index) {
    Impl& world = *static_cast<Impl*>(context);
    const Body& body = *world.live[index];
    world.measured[index] = MeasureBody(world.desc, body);
    world.measured[index].max_penetration = world.DeepestPoint(body);
  };
  w.RunJobs(w.slots.num_live(), measure_one);
  // In the order of the bodies, whatever order the jobs ran in.
  WorldMeasures& sum = *out_measures;
  for (uint32_t i = 0; i < w.slots.num_live(); ++i) {
    const WorldMeasures& m = w.measured[i];
    sum.mass_kg += m.mass_kg;
    sum.kinetic_j += m.kinetic_j;
    sum.elastic_j += m.elastic_j;
    sum.gravity_j += m.gravity_j;
    sum.max_speed = std::fmax(sum.max_speed, m.max_speed);
    sum.min_det_f = std::fmin(sum.min_det_f, m.min_det_f);
    sum.tets += m.tets;
    sum.inverted_tets += m.inverted_tets;
    sum.collapsed_tets += m.collapsed_tets;
    sum.max_penetration = std::fmax(sum.max_penetration, m.max_penetration);
  }
  return {};
}

Status World::ElasticForces(BodyId id, std::span<Vec3> forces) const {
  Body* body = nullptr;
  const Status found = Impl::FindBody(impl_, id, &body);
  if (!found.ok()) return found;
  if (forces.size() != body->x.size()) return kWrongSize;
  plush::ElasticForces(body->elements, body->x.span(), body->Rotations(), LawOf(*body), forces);
  const float s2 = body->scale * body->scale, s4 = s2 * s2;
  for (Vec3& force : forces) force = {force.x * s4, force.y * s4, force.z * s4};
  return {};
}

Status World::Moments(BodyId id, BodyMoments* out_moments) const {
  Body* body = nullptr;
  const Status found = Impl::FindBody(impl_, id, out_moments, &body);
  if (!found.ok()) return found;
  *out_moments = MeasureMoments(*body);
  return {};
}

Status World::BestFitPose(BodyId id, Pose* out_pose) const {
  Body* body = nullptr;
  const Status found = Impl::FindBody(impl_, id, out_pose, &body);
  if (!found.ok()) return found;
  const BestFit fit = FindBestFit(*body);
  out_pose->rotation = fit.rotation;
  out_pose->position = {static_cast<float>(fit.position[0]), static_cast<float>(fit.position[1]),
                        static_cast<float>(fit.position[2])};
  return {};
}

}  // namespace plush

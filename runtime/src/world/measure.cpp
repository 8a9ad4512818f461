// SPDX-License-Identifier: MIT
// World::Measure: energies and extremes of all bodies now. Not on the step path.
#include "elasticity/elements.h"
#include "world/node_pass.h"
#include "world/world_impl.h"

#include <cmath>

namespace plush {
namespace {

WorldMeasures MeasureBody(const Vec3& gravity, const Body& body) {
  const ElementSummary summary = SummariseElements(body.elements, body.x.span(), body.Rotations());
  WorldMeasures measures;
  measures.elastic_j = summary.elastic_j;
  measures.min_det_f = summary.min_det_f;
  measures.tets = static_cast<uint32_t>(body.elements.tets.size());
  measures.inverted_tets = summary.inverted;
  measures.collapsed_tets = summary.collapsed;
  measures.max_speed = LongestVector(body.v.span());
  for (size_t i = 0; i < body.x.size(); ++i) {
    const double mass = body.Mass(i);
    const Vec3& v = body.v[i];
    measures.mass_kg += mass;
    measures.kinetic_j += 0.5 * mass * (double(v.x) * v.x + double(v.y) * v.y + double(v.z) * v.z);
    measures.gravity_j -= mass * (gravity.x * (body.origin[0] + double(body.x[i].x)) +
                                  gravity.y * (body.origin[1] + double(body.x[i].y)) +
                                  gravity.z * (body.origin[2] + double(body.x[i].z)));
  }
  return measures;
}

}  // namespace

Status World::Measure(WorldMeasures* out_measures) const {
  if (out_measures == nullptr) return kNoOutput;
  *out_measures = {};
  if (impl_ == nullptr) return kNoWorld;
  Impl& w = *impl_;
  w.ListLiveBodies();
  const JobFunction measure_one = [](void* context, uint32_t index) {
    Impl& world = *static_cast<Impl*>(context);
    world.measured[index] = MeasureBody(world.desc.gravity, *world.live[index]);
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
  }
  return {};
}

}  // namespace plush

// SPDX-License-Identifier: MIT
#include "tools/simulate/drop_measures.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace plush::tests {
namespace {

constexpr double kGravity = 9.81;
constexpr double kDropHeight = 0.3;
constexpr size_t kLateSteps = 50;
constexpr double kImpactSeconds = 0.2;

double Total(const WorldMeasures& measures) {
  return measures.kinetic_j + measures.elastic_j + measures.gravity_j;
}

// The first step after the impact; the number of steps if nothing ever touched the plane.
size_t EndOfImpact(const tools::RunRecord& record, double dt) {
  const auto& steps = record.steps;
  const auto touch = std::find_if(steps.begin(), steps.end(), [](const tools::StepRecord& step) {
    return step.stats.contacts > 0;
  });
  const auto delay = static_cast<size_t>(std::ceil(kImpactSeconds / dt));
  return std::min(static_cast<size_t>(touch - steps.begin()) + delay, steps.size());
}

}  // namespace

DropMeasures MeasureDrop(const tools::RunRecord& record, double dt, const DroppedBody& body) {
  DropMeasures measures;
  const double weight = record.mass_kg * kGravity;
  const double drop_energy = weight * kDropHeight * body.height_m;
  const double start = record.start.kinetic + record.start.elastic + record.start.gravity;
  const size_t settled = EndOfImpact(record, dt);
  measures.impact_speed = std::sqrt(2.0 * kGravity * kDropHeight * body.height_m);
  measures.late_energy = -INFINITY;
  measures.lowest = INFINITY;
  double gain_before = 0.0, most_gain = -INFINITY, most_kinetic = 0.0;
  for (size_t i = 0; i < record.steps.size(); ++i) {
    const tools::StepRecord& step = record.steps[i];
    const double gain = (Total(step.measures) - start) / drop_energy;
    measures.energy_rise = std::max(measures.energy_rise, gain - gain_before);
    gain_before = gain;
    most_gain = std::max(most_gain, gain);
    most_kinetic = std::max(most_kinetic, step.measures.kinetic_j);
    if (i >= settled) measures.late_energy = std::max(measures.late_energy, gain);
    measures.inverted_tets = std::max(measures.inverted_tets, step.measures.inverted_tets);
    measures.lowest = std::min(measures.lowest, step.cages.lowest_m / body.size_m);
    if (i + kLateSteps < record.steps.size()) continue;
    measures.late_speed = std::max(measures.late_speed, static_cast<double>(step.stats.max_speed));
  }
  measures.energy_gain = most_gain * drop_energy / most_kinetic;
  const tools::StepRecord& last = record.steps.back();
  measures.end_kinetic = last.measures.kinetic_j / (weight * body.height_m);
  measures.end_elastic = last.measures.elastic_j / (body.young_pa * record.rest_volume_m3);
  measures.end_gap = last.cages.lowest_m / body.height_m;
  measures.end_volume_change =
      std::max(1.0 - last.cages.min_volume_ratio, last.cages.max_volume_ratio - 1.0);
  return measures;
}

std::string ToText(const DropMeasures& m) {
  char text[320];
  std::snprintf(text, sizeof(text),
                "end kinetic %.2e, late speed %.4f of %.2f m/s, end elastic %.2e, inverted %u, "
                "volume change %.4f, energy gain %.4f, late energy %.3f, energy rise %.1e, "
                "lowest %.2e, end gap %.1e",
                m.end_kinetic, m.late_speed, m.impact_speed, m.end_elastic, m.inverted_tets,
                m.end_volume_change, m.energy_gain, m.late_energy, m.energy_rise, m.lowest,
                m.end_gap);
  return text;
}

}  // namespace plush::tests

// SPDX-License-Identifier: MIT
// Summarises a run as JSON for machines and as text for people.
// Times are those of the steps in which a body was awake.
#include "simulate/run_statistics.h"

#include "base/text.h"
#include "report/source_report.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cmath>

namespace plush::tools {
namespace {

using nlohmann::json;

struct FlagName {
  uint32_t flag;
  const char* name;
  const char* remedy;
};

constexpr std::array<FlagName, 8> kFlagNames = {{
    {kStepPreparedTimeStep, "prepared_time_step", "a step made a factor; report this as a bug"},
    {kStepBodyFrozen, "body_frozen",
     "a body's state became infinite and it was stopped; take smaller steps or a softer material"},
    {kStepContactsDropped, "contacts_dropped",
     "more points of a body touch planes than it has room for; some may sink in"},
    {kStepPinsFar, "pins_far",
     "pins moved further than two edges of their cage in a substep; slow their motion or lower dt"},
    {kStepEventsLost, "events_lost", "more bodies slept or woke in a step than it reports"},
    {kStepColliderTurnsFar, "collider_turns_far",
     "a collider near a body turned by more than 30 degrees in a substep; slow it or lower dt"},
    {kStepBodiesFast, "bodies_fast",
     "two bodies came nearer by more than half their thickness in a substep; slow them or lower "
     "dt"},
    {kStepSurfacesOpen, "surfaces_open",
     "two bodies overlap at a hole in a surface, where contacts may be missing; close the mesh"},
}};

constexpr std::array<const char*, static_cast<size_t>(Phase::kCount)> kPhaseNames = {
    "elements", "solve", "volume", "contact", "find_pairs", "other"};

template <class Getter>
auto Column(const RunRecord& record, const Getter& get) {
  std::vector<decltype(get(record.steps[0]))> column;
  column.reserve(record.steps.size());
  for (const StepRecord& step : record.steps) column.push_back(get(step));
  return column;
}

// The largest value in the run, at least 0.
template <class Getter>
auto Largest(const RunRecord& record, const Getter& get) {
  auto largest = decltype(get(record.steps[0])){};
  for (const StepRecord& step : record.steps) largest = std::max(largest, get(step));
  return largest;
}

std::vector<double> AwakeStepMs(const RunRecord& record) {
  std::vector<double> times;
  for (const StepRecord& step : record.steps) {
    if (step.awake) times.push_back(step.step_ms);
  }
  return times;
}

json PhaseJson(const RunRecord& record, size_t awake_steps) {
  json phases = json::object();
  for (size_t phase = 0; phase < kPhaseNames.size(); ++phase) {
    double seconds = 0.0;
    for (const StepRecord& step : record.steps) {
      if (step.awake) seconds += step.stats.phase_s[phase];
    }
    phases[kPhaseNames[phase]] =
        1000.0 * seconds / std::max<double>(1.0, static_cast<double>(awake_steps));
  }
  return phases;
}

json PerStepJson(const RunRecord& record) {
  using Step = const StepRecord&;
  return {
      {"lowest_m", Column(record, [](Step s) { return s.cages.lowest_m; })},
      {"min_volume_ratio", Column(record, [](Step s) { return s.cages.min_volume_ratio; })},
      {"max_volume_ratio", Column(record, [](Step s) { return s.cages.max_volume_ratio; })},
      {"max_speed_m_s", Column(record, [](Step s) { return s.stats.max_speed; })},
      {"min_det_f", Column(record, [](Step s) { return s.measures.min_det_f; })},
      {"max_penetration_m", Column(record, [](Step s) { return s.measures.max_penetration; })},
      {"contact_sweeps", Column(record, [](Step s) { return s.stats.contact_sweeps; })},
      {"contacts", Column(record, [](Step s) { return s.stats.contacts; })},
      {"body_pairs", Column(record, [](Step s) { return s.stats.body_pairs; })},
      {"pairs_searched", Column(record, [](Step s) { return s.stats.pairs_searched; })},
      {"inverted_tets", Column(record, [](Step s) { return s.measures.inverted_tets; })},
      {"substeps", Column(record, [](Step s) { return s.stats.substeps; })},
      {"outer_iterations", Column(record, [](Step s) { return s.stats.outer_iterations; })},
  };
}

json EnergyJson(const RunRecord& record) {
  using Step = const StepRecord&;
  return {{"kinetic", Column(record, [](Step s) { return s.measures.kinetic_j; })},
          {"elastic", Column(record, [](Step s) { return s.measures.elastic_j; })},
          {"gravity", Column(record, [](Step s) { return s.measures.gravity_j; })}};
}

json AttachmentsJson(const SceneWorld& scene_world, const RunRecord& record) {
  json broken = json::array();
  for (const BrokenAttachment& event : record.broken) {
    const SceneWorldAttachment& attachment = scene_world.attachments[event.attachment];
    broken.push_back({{"attachment", attachment.index},
                      {"body", scene_world.bodies[attachment.body].name},
                      {"time_s", event.time_s}});
  }
  return {{"number", scene_world.attachments.size()}, {"broken", broken}};
}

json FlagsJson(uint32_t flags) {
  json names = json::array();
  for (const FlagName& row : kFlagNames) {
    if ((flags & row.flag) != 0) names.push_back(row.name);
  }
  return names;
}

}  // namespace

double Quantile(std::vector<double> numbers, double quantile) {
  if (numbers.empty()) return 0.0;
  std::sort(numbers.begin(), numbers.end());
  const double rank = std::ceil(quantile * static_cast<double>(numbers.size()));
  const size_t index = rank < 1.0 ? 0 : static_cast<size_t>(rank) - 1;
  return numbers[std::min(index, numbers.size() - 1)];
}

json StatisticsJson(const Scene& scene, const SceneWorld& scene_world, const RunRecord& record) {
  using Step = const StepRecord&;
  const std::vector<double> step_ms = AwakeStepMs(record);
  const auto contacts = Column(record, [](Step s) -> double { return s.stats.contacts; });
  return {
      {"steps", record.steps.size()},
      {"awake_steps", step_ms.size()},
      {"dt", scene.dt},
      {"solver", "splitting"},
      {"threads", scene.threads},
      {"bodies", scene_world.bodies.size()},
      {"tets", scene_world.num_tets()},
      {"nodes", scene_world.num_nodes()},
      {"mass_kg", record.mass_kg},
      {"rest_volume_m3", record.rest_volume_m3},
      {"step_ms",
       {{"median", Quantile(step_ms, 0.5)},
        {"p95", Quantile(step_ms, 0.95)},
        {"max", Quantile(step_ms, 1.0)}}},
      {"phase_ms", PhaseJson(record, step_ms.size())},
      {"energy_start_j",
       {{"kinetic", record.start.kinetic},
        {"elastic", record.start.elastic},
        {"gravity", record.start.gravity}}},
      {"energy_j", EnergyJson(record)},
      {"max_penetration_m", Largest(record, [](Step s) { return s.measures.max_penetration; })},
      {"contacts", {{"median", Quantile(contacts, 0.5)}, {"max", Quantile(contacts, 1.0)}}},
      {"degenerate_tets", Largest(record, [](Step s) { return s.measures.collapsed_tets; })},
      {"inverted_tets", Largest(record, [](Step s) { return s.measures.inverted_tets; })},
      {"attachments", AttachmentsJson(scene_world, record)},
      {"flags", FlagsJson(record.flags)},
      {"state_hash", HexHash(record.state_hash)},
      {"per_step", PerStepJson(record)},
  };
}

std::string StatisticsText(const Scene& scene, const SceneWorld& scene_world,
                           const RunRecord& record) {
  using Step = const StepRecord&;
  const std::vector<double> step_ms = AwakeStepMs(record);
  const StepRecord last = record.steps.empty() ? StepRecord{} : record.steps.back();
  const size_t bodies = scene_world.bodies.size();
  std::string text;
  text +=
      Formatted("%zu steps of %g ms: %zu %s, %zu tets\n", record.steps.size(), 1000.0 * scene.dt,
                bodies, bodies == 1 ? "body" : "bodies", scene_world.num_tets());
  text += Formatted("  step       median %.3f ms, p95 %.3f ms, max %.3f ms over %zu awake steps\n",
                    Quantile(step_ms, 0.5), Quantile(step_ms, 0.95), Quantile(step_ms, 1.0),
                    step_ms.size());
  text += Formatted("  energy     kinetic %.4g J, elastic %.4g J at the end\n",
                    last.measures.kinetic_j, last.measures.elastic_j);
  const float deepest = Largest(record, [](Step s) { return s.measures.max_penetration; });
  text += Formatted("  contacts   %u at the end, deepest point ever %.3g m\n", last.stats.contacts,
                    static_cast<double>(deepest));
  text += Formatted("  tets       least det F %.3g at the end, most inverted %u\n",
                    static_cast<double>(last.measures.min_det_f),
                    Largest(record, [](Step s) { return s.measures.inverted_tets; }));
  if (!scene_world.attachments.empty()) {
    text += Formatted("  springs    %zu, of which %zu broke\n", scene_world.attachments.size(),
                      record.broken.size());
  }
  text += "  state hash " + HexHash(record.state_hash) + "\n";
  for (const FlagName& row : kFlagNames) {
    if ((record.flags & row.flag) != 0) text += std::string("  note       ") + row.remedy + "\n";
  }
  return text;
}

}  // namespace plush::tools

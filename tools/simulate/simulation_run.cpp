// SPDX-License-Identifier: MIT
// Steps a scene and times each step; measures cages and energies after it.
// AllowedEnergy in simulation_run.h says how much energy a run may gain.
#include "simulate/simulation_run.h"

#include "plush/format/tet_block.h"

#include "report/source_report.h"
#include "simulate/open_asset.h"
#include "simulate/scene_driver.h"

#include <algorithm>
#include <chrono>
#include <cmath>

namespace plush::tools {
namespace {

using Clock = std::chrono::steady_clock;

constexpr double kAllowedGain = 0.01;      // of the largest kinetic energy
constexpr double kGravityRounding = 1e-6;  // of the gravity energy, from float positions
constexpr double kRestSpeed = 1e-3;        // slower motion is rounding [m/s]

double CageVolume(std::span<const Vec3> nodes, std::span<const Tet> tets) {
  double six_volumes = 0.0;
  for (const Tet& tet : tets) {
    six_volumes += SixVolume(ToDouble(nodes[tet.a]), ToDouble(nodes[tet.b]), ToDouble(nodes[tet.c]),
                             ToDouble(nodes[tet.d]));
  }
  return six_volumes / 6.0;
}

double LeastDistance(const ColliderDesc& collider, const Asset& asset,
                     std::span<const Vec3> nodes) {
  const Vec3d normal = Rotate(collider.pose.rotation, ToDouble(collider.plane.normal));
  const double length = Length(normal);
  return (LowestAlong(normal, asset, nodes) - Dot(normal, ToDouble(collider.pose.position))) /
             length -
         collider.plane.offset;
}

// Measures the bodies of a scene after every step, without allocating.
class CageMeter {
 public:
  explicit CageMeter(const SceneWorld& scene_world)
      : scene_world_(scene_world), colliders_(scene_world.colliders.size()) {
    size_t most_nodes = 0;
    for (const auto& asset : scene_world.assets) {
      const SimulationView& simulation = asset->simulation();
      rest_volumes_.push_back(CageVolume(simulation.nodes, simulation.tets));
      most_nodes = std::max(most_nodes, simulation.nodes.size());
    }
    nodes_.resize(most_nodes);
  }

  CageMeasures Measure() {
    CageMeasures measures;
    double lowest = INFINITY;
    for (size_t i = 0; i < colliders_.size(); ++i) {
      (void)scene_world_.world->GetCollider(scene_world_.colliders[i], &colliders_[i]);
    }
    for (const SceneWorldBody& body : scene_world_.bodies) {
      if (body.fixed) continue;
      const Asset& asset = scene_world_.asset_of(body);
      const SimulationView& simulation = asset.simulation();
      const std::span<Vec3> nodes = std::span(nodes_).first(simulation.nodes.size());
      if (!scene_world_.world->NodePositions(body.id, 1.0f, nodes).ok()) continue;
      for (const ColliderDesc& collider : colliders_) {
        if (collider.type != ShapeType::kPlane || !MayTouch(body.filter, collider.filter)) continue;
        lowest = std::min(lowest, LeastDistance(collider, asset, nodes));
      }
      const double ratio = CageVolume(nodes, simulation.tets) / rest_volume(body);
      measures.min_volume_ratio = std::min(measures.min_volume_ratio, ratio);
      measures.max_volume_ratio = std::max(measures.max_volume_ratio, ratio);
    }
    measures.lowest_m = std::isfinite(lowest) ? lowest : 0.0;
    return measures;
  }

  double rest_volume(const SceneWorldBody& body) const {
    const double scale = body.scale;
    return scale * scale * scale * rest_volumes_[body.asset_index];
  }

 private:
  const SceneWorld& scene_world_;
  std::vector<ColliderDesc> colliders_;  // as they are now
  std::vector<double> rest_volumes_;     // per asset, unscaled
  std::vector<Vec3> nodes_;              // of the body being measured
};

BodyMoments MomentsOf(const World& world, BodyId id) {
  BodyMoments moments;
  (void)world.Moments(id, &moments);  // refuses unknown bodies only; these are ours
  return moments;
}

// `gravity` is that of the body.
Energies EnergiesOf(const BodyMoments& moments, const Vec3d& gravity) {
  const Vec3d centre = {moments.centre[0], moments.centre[1], moments.centre[2]};
  return {moments.kinetic_j, moments.elastic_j, -moments.mass * Dot(gravity, centre)};
}

Energies EnergiesOf(const WorldMeasures& measures) {
  return {measures.kinetic_j, measures.elastic_j, measures.gravity_j};
}

WorldMeasures MeasuresOf(const World& world) {
  WorldMeasures measures;
  (void)world.Measure(&measures);  // refuses a null output only
  return measures;
}

void RecordStart(const Scene& scene, const SceneWorld& scene_world, const CageMeter& meter,
                 RunRecord* record) {
  const WorldMeasures measures = MeasuresOf(*scene_world.world);
  record->start = EnergiesOf(measures);
  record->mass_kg = measures.mass_kg;
  record->driven = SuppliesEnergy(scene);
  for (const SceneWorldBody& body : scene_world.bodies) {
    record->rest_volume_m3 += meter.rest_volume(body);
  }
}

// Finds the first step in which the run gained energy, and the first in which a body froze.
class RunWatch {
 public:
  explicit RunWatch(const SceneWorld& scene_world)
      : gravity_(scene_world.world->gravity()), scene_world_(scene_world) {
    for (const SceneWorldBody& body : scene_world.bodies) {
      starts_.push_back(EnergyOf(body));
    }
  }

  // Judges the last step of `record`.
  void Observe(const RunRecord& record) {
    const WorldMeasures& measures = record.steps.back().measures;
    const auto step = static_cast<uint32_t>(record.steps.size());
    if ((record.steps.back().stats.flags & kStepBodyFrozen) != 0 && freeze_.step == 0)
      freeze_ = {step, FrozenBody()};
    // The limit grows with the largest kinetic energy still to come, so every new maximum is a
    // candidate.
    largest_kinetic_ = std::max(largest_kinetic_, measures.kinetic_j);
    const double gain = EnergiesOf(measures).total() - record.start.total();
    const double last_gain = candidates_.empty() ? 0.0 : candidates_.back().gain_j;
    if (record.driven) return;
    if (gain > std::max(last_gain, kAllowedGain * largest_kinetic_)) {
      candidates_.push_back({step, BodyThatGainedMost(), gain});
    }
  }

  void Finish(RunRecord* record) const {
    record->freeze = freeze_;
    const double allowed = AllowedEnergy(*record) - record->start.total();
    for (const RunEvent& candidate : candidates_) {
      if (candidate.gain_j <= allowed) continue;
      record->energy_gain = candidate;
      return;
    }
  }

 private:
  double EnergyOf(const SceneWorldBody& body) const {
    const Vec3d gravity = static_cast<double>(body.gravity_factor) * ToDouble(gravity_);
    return EnergiesOf(MomentsOf(*scene_world_.world, body.id), gravity).total();
  }

  std::string FrozenBody() const {
    for (const SceneWorldBody& body : scene_world_.bodies) {
      if (scene_world_.world->IsFrozen(body.id)) return body.name;
    }
    return "";
  }

  std::string BodyThatGainedMost() const {
    size_t most = 0;
    double most_gain = -INFINITY;
    for (size_t i = 0; i < starts_.size(); ++i) {
      const double gain = EnergyOf(scene_world_.bodies[i]) - starts_[i];
      if (gain > most_gain) most = i;
      most_gain = std::max(most_gain, gain);
    }
    return scene_world_.bodies[most].name;
  }

  Vec3 gravity_;
  const SceneWorld& scene_world_;
  std::vector<double> starts_;        // total energy by body
  std::vector<RunEvent> candidates_;  // by rising gain
  RunEvent freeze_;
  double largest_kinetic_ = 0.0;
};

// Notes the attachments that broke.
class AttachmentWatch {
 public:
  explicit AttachmentWatch(const SceneWorld& scene_world) : scene_world_(scene_world) {
    for (const SceneWorldAttachment& attachment : scene_world.attachments) {
      holds_.push_back(scene_world.world->IsValid(attachment.id));  // a state may come without it
    }
  }

  void Observe(double time_s, std::vector<BrokenAttachment>* broken) {
    for (size_t i = 0; i < holds_.size(); ++i) {
      if (!holds_[i] || scene_world_.world->IsValid(scene_world_.attachments[i].id)) continue;
      holds_[i] = false;
      broken->push_back({i, time_s});
    }
  }

 private:
  const SceneWorld& scene_world_;
  std::vector<bool> holds_;  // by attachment
};

std::string At(const RunEvent& event) {
  const std::string who = event.body.empty() ? "a body" : "body '" + event.body + "'";
  return "step " + std::to_string(event.step) + ": " + who;
}

}  // namespace

Result<RunRecord> RunScene(const Scene& scene, SceneWorld* scene_world,
                           const StepObserver& observer) {
  RunRecord record;
  World& world = *scene_world->world;
  CageMeter meter(*scene_world);
  SceneDriver driver(scene, scene_world);
  RecordStart(scene, *scene_world, meter, &record);
  RunWatch watch(*scene_world);
  AttachmentWatch attachments(*scene_world);
  const auto moving =
      static_cast<uint32_t>(std::count_if(scene_world->bodies.begin(), scene_world->bodies.end(),
                                          [](const SceneWorldBody& body) { return !body.fixed; }));
  bool go_on = observer(*scene_world, 0);
  for (uint32_t step = 1; step <= scene.steps && go_on; ++step) {
    const uint32_t asleep = step == 1 ? 0 : world.stats().asleep;
    const auto driven =
        driver.Drive(scene_world->clock.After(0, scene.dt), scene_world->clock.After(1, scene.dt));
    if (!driven.ok()) return driven.error().WithContext("step " + std::to_string(step));
    const Clock::time_point begin = Clock::now();
    const Status stepped = world.Step(static_cast<float>(scene.dt));
    const std::chrono::duration<double, std::milli> elapsed = Clock::now() - begin;
    if (!stepped.ok()) {  // its dt is prepared, so only memory can be missing
      return Error{ExitCode::kLimit, "step " + std::to_string(step) + " ran out of memory", ""};
    }
    ++scene_world->clock.steps;
    attachments.Observe(scene_world->clock.After(0, scene.dt), &record.broken);
    record.flags |= world.stats().flags;
    record.steps.push_back(
        {world.stats(), MeasuresOf(world), meter.Measure(), elapsed.count(), asleep < moving});
    watch.Observe(record);
    go_on = observer(*scene_world, step);
  }
  record.state_hash = world.StateHash();
  watch.Finish(&record);
  return record;
}

double AllowedEnergy(const RunRecord& record) {
  double largest_kinetic = record.start.kinetic;
  for (const StepRecord& step : record.steps) {
    largest_kinetic = std::max(largest_kinetic, step.measures.kinetic_j);
  }
  return record.start.total() + kAllowedGain * largest_kinetic +
         kGravityRounding * std::fabs(record.start.gravity) +
         0.5 * record.mass_kg * kRestSpeed * kRestSpeed;
}

Result<Done> JudgeRun(const RunRecord& record, FindingList* findings) {
  const RunEvent& gain = record.energy_gain;
  if (gain.step != 0) {
    const double allowed = AllowedEnergy(record) - record.start.total();
    findings->Add(
        "SIM_ENERGY_GAINED", 1,
        At(gain) + Formatted(": total energy is %.3g J above its start; %.3g J are allowed",
                             gain.gain_j, allowed));
  }
  if (record.freeze.step == 0) return Done{};
  const Error error = {ExitCode::kGateFailed,
                       At(record.freeze) + " left the range of finite numbers and was stopped",
                       "SIM_BODY_FROZEN"};
  findings->Add(error.finding_code, 1, error.message);
  return error;
}

}  // namespace plush::tools

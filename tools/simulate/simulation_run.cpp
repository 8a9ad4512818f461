// SPDX-License-Identifier: MIT
#include "simulate/simulation_run.h"

#include "plush/format/tet_block.h"

#include <algorithm>
#include <chrono>
#include <cmath>

namespace plush::tools {
namespace {

using Clock = std::chrono::steady_clock;

double CageVolume(std::span<const Vec3> nodes, std::span<const Tet> tets) {
  double six_volumes = 0.0;
  for (const Tet& tet : tets) {
    six_volumes += SixVolume(ToDouble(nodes[tet.a]), ToDouble(nodes[tet.b]), ToDouble(nodes[tet.c]),
                             ToDouble(nodes[tet.d]));
  }
  return six_volumes / 6.0;
}

// Least signed distance of `nodes` to the plane.
double LeastDistance(const PlaneDesc& plane, std::span<const Vec3> nodes) {
  const Vec3d normal = ToDouble(plane.normal);
  const double length = Length(normal);
  double least = INFINITY;
  for (const Vec3& node : nodes) least = std::min(least, Dot(normal, ToDouble(node)) / length);
  return least - plane.offset;
}

// Measures the bodies of a scene after every step without allocating anew.
class CageMeter {
 public:
  CageMeter(const Scene& scene, const SceneWorld& scene_world)
      : planes_(scene.planes), scene_world_(scene_world) {
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
    for (const SceneWorldBody& body : scene_world_.bodies) {
      if (body.fixed) continue;
      const SimulationView& simulation = scene_world_.asset_of(body).simulation();
      const std::span<Vec3> nodes = std::span(nodes_).first(simulation.nodes.size());
      if (!scene_world_.world->NodePositions(body.id, nodes).ok()) continue;
      for (const PlaneDesc& plane : planes_) {
        lowest = std::min(lowest, LeastDistance(plane, nodes));
      }
      const double ratio = CageVolume(nodes, simulation.tets) / rest_volumes_[body.asset_index];
      measures.min_volume_ratio = std::min(measures.min_volume_ratio, ratio);
      measures.max_volume_ratio = std::max(measures.max_volume_ratio, ratio);
    }
    measures.lowest_m = std::isfinite(lowest) ? lowest : 0.0;
    return measures;
  }

  double rest_volume(const SceneWorldBody& body) const { return rest_volumes_[body.asset_index]; }

 private:
  std::span<const PlaneDesc> planes_;
  const SceneWorld& scene_world_;
  std::vector<double> rest_volumes_;  // per asset
  std::vector<Vec3> nodes_;           // of the body being measured
};

void RecordStart(const Scene& scene, const SceneWorld& scene_world, const CageMeter& meter,
                 RunRecord* record) {
  for (const SceneWorldBody& body : scene_world.bodies) {
    BodyMoments moments;
    if (!scene_world.world->Moments(body.id, &moments).ok()) continue;
    const Vec3d centre = {moments.centre[0], moments.centre[1], moments.centre[2]};
    record->start.kinetic += moments.kinetic_j;
    record->start.elastic += moments.elastic_j;
    record->start.gravity -= moments.mass * Dot(ToDouble(scene.gravity), centre);
    record->mass_kg += moments.mass;
    record->rest_volume_m3 += meter.rest_volume(body);
  }
}

}  // namespace

Result<RunRecord> RunScene(const Scene& scene, SceneWorld* scene_world,
                           const StepObserver& observer) {
  RunRecord record;
  World& world = *scene_world->world;
  CageMeter meter(scene, *scene_world);
  RecordStart(scene, *scene_world, meter, &record);
  bool go_on = observer(*scene_world, 0);
  for (uint32_t step = 1; step <= scene.steps && go_on; ++step) {
    const Clock::time_point begin = Clock::now();
    const uint32_t flags = world.Step(static_cast<float>(scene.dt));
    const std::chrono::duration<double, std::milli> elapsed = Clock::now() - begin;
    record.flags |= flags;
    if ((flags & kStepOutOfMemory) != 0) {
      return Error{ExitCode::kLimit, "step " + std::to_string(step) + " ran out of memory", ""};
    }
    record.steps.push_back({world.stats(), meter.Measure(), elapsed.count()});
    go_on = observer(*scene_world, step);
  }
  record.state_hash = world.StateHash();
  return record;
}

}  // namespace plush::tools

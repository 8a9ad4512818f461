// SPDX-License-Identifier: MIT
#include "scenes/scene_measures.h"

#include "plush/format/cdg_records.h"
#include "plush/format/tet_block.h"

#include "simulate/scene_world.h"

#include <algorithm>
#include <cmath>

namespace plush::tests {
namespace {

std::vector<Vec3> Places(const tools::SceneWorld& scene_world) {
  std::vector<Vec3> places;
  for (const tools::SceneWorldBody& body : scene_world.bodies) {
    Pose pose;
    (void)scene_world.world->BestFitPose(body.id, &pose);
    places.push_back(pose.position);
  }
  return places;
}

bool IsFinite(const tools::SceneWorld& scene_world) {
  std::vector<Vec3> nodes;
  for (const tools::SceneWorldBody& body : scene_world.bodies) {
    nodes.resize(scene_world.asset_of(body).simulation().nodes.size());
    (void)scene_world.world->NodePositions(body.id, 1.0f, nodes);
    for (const Vec3& x : nodes)
      if (!std::isfinite(x.x) || !std::isfinite(x.y) || !std::isfinite(x.z)) return false;
  }
  return true;
}

// The work of a world's colliders, by their reactions and ways.
class ColliderWork {
 public:
  explicit ColliderWork(const tools::SceneWorld& scene_world) : places_(PlacesIn(scene_world)) {}

  // What they have done up to the end of the last step [J].
  double After(const tools::SceneWorld& scene_world) {
    const std::vector<Vec3> places = PlacesIn(scene_world);
    for (size_t i = 0; i < places.size(); ++i) {
      Reaction on_it;
      (void)scene_world.world->ColliderReaction(scene_world.colliders[i], &on_it);
      const Vec3 &from = places_[i], &to = places[i], &f = on_it.force;
      sum_ -= double(f.x) * (double(to.x) - double(from.x)) +
              double(f.y) * (double(to.y) - double(from.y)) +
              double(f.z) * (double(to.z) - double(from.z));
    }
    places_ = places;
    return sum_;
  }

 private:
  static std::vector<Vec3> PlacesIn(const tools::SceneWorld& scene_world) {
    std::vector<Vec3> places;
    for (const ColliderId id : scene_world.colliders) {
      ColliderDesc desc;
      (void)scene_world.world->GetCollider(id, &desc);
      places.push_back(desc.pose.position);
    }
    return places;
  }

  std::vector<Vec3> places_;
  double sum_ = 0.0;
};

}  // namespace

double SceneMeasures::MostGain() const {
  double most = -INFINITY;
  for (size_t i = 0; i < record.steps.size(); ++i) {
    const WorldMeasures& m = record.steps[i].measures;
    most =
        std::max(most, m.kinetic_j + m.elastic_j + m.gravity_j - work_j[i] - record.start.total());
  }
  return most;
}

double SceneMeasures::MostKinetic() const {
  double most = record.start.kinetic;
  for (const tools::StepRecord& step : record.steps) most = std::max(most, step.measures.kinetic_j);
  return most;
}

const MeasuredStep& SceneMeasures::deepest() const {
  return *std::max_element(overlaps.begin(), overlaps.end(),
                           [](const MeasuredStep& a, const MeasuredStep& b) {
                             return a.overlap.depth_share < b.overlap.depth_share;
                           });
}

tools::Result<SceneMeasures> MeasureScene(const tools::Scene& scene,
                                          const MeasureSettings& settings) {
  tools::FindingList findings;
  auto built = tools::BuildSceneWorld(scene, &findings);
  if (!built.ok()) return built.error();
  if (!settings.may_sleep) built.value().world->SetSleep({.speed = 0.0f});
  SceneMeasures measures = {.bodies = built.value().bodies.size()};
  for (const tools::SceneWorldBody& body : built.value().bodies)
    measures.triangles += built.value().asset_of(body).collision().num_triangles();
  OverlapMeter meter(built.value());
  const auto drift_from = static_cast<uint32_t>(
      std::min<double>(scene.steps, std::ceil(settings.drift_from / scene.dt)));
  std::vector<Vec3> before;
  ColliderWork work(built.value());
  auto record = tools::RunScene(
      scene, &built.value(), [&](const tools::SceneWorld& scene_world, uint32_t done) {
        if (done == drift_from) before = Places(scene_world);
        if (done > 0) measures.work_j.push_back(work.After(scene_world));
        const bool is_due =
            settings.every > 0 && (done % settings.every == 0 || done == scene.steps);
        if (is_due) measures.overlaps.push_back({done, meter.Measure()});
        return true;
      });
  if (!record.ok()) return record.error();
  measures.record = std::move(record.value());
  const std::vector<Vec3> after = Places(built.value());
  for (size_t i = 0; i < before.size(); ++i) {
    const Vec3 &p = before[i], &q = after[i];
    measures.drift_m =
        std::max<double>(measures.drift_m, std::hypot(q.x - p.x, q.y - p.y, q.z - p.z));
  }
  measures.finite = IsFinite(built.value());
  const std::vector<tools::StepRecord>& steps = measures.record.steps;
  size_t moving = 0;
  for (const tools::SceneWorldBody& body : built.value().bodies) moving += body.fixed ? 0u : 1u;
  for (size_t i = steps.size(); i > 0 && steps[i - 1].stats.asleep >= moving; --i)
    measures.all_asleep = static_cast<uint32_t>(i);
  for (size_t i = steps.size(); i > 0; --i)
    if (steps[i - 1].stats.body_pairs > 0) measures.first_touch = static_cast<uint32_t>(i);
  return measures;
}

}  // namespace plush::tests

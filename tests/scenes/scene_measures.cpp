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

}  // namespace

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
  SceneMeasures measures;
  measures.bodies = built.value().bodies.size();
  for (const tools::SceneWorldBody& body : built.value().bodies)
    measures.triangles += built.value().asset_of(body).collision().num_triangles();
  OverlapMeter meter(built.value());
  const auto drift_from = static_cast<uint32_t>(
      std::min<double>(scene.steps, std::ceil(settings.drift_from / scene.dt)));
  std::vector<Vec3> before;
  auto record = tools::RunScene(scene, &built.value(),
                                [&](const tools::SceneWorld& scene_world, uint32_t done) {
                                  if (done == drift_from) before = Places(scene_world);
                                  if (done % settings.every == 0 || done == scene.steps)
                                    measures.overlaps.push_back({done, meter.Measure()});
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

// SPDX-License-Identifier: MIT
// Source: crowd_correction.h.
#include "body/crowd_correction.h"

#include "body/attachment_step.h"
#include "body/coarse_correction.h"

namespace plush {
namespace {

// Adds the impulses of the tets that resist rigid motions of clusters. Bodies with more pins than
// the crowd's system have more such tets. Lanes whose `active` is 0 keep their rotations and get
// none.
void AddClusterImpulses(const StepSettings& settings, const CrowdStepping& stepping,
                        const float (&active)[kCrowdLanes], Crowd* crowd, float* lowest_det_f) {
  const ElementSettings elements = {settings.dt, 0.0f, settings.splitting.polar_iterations};
  const auto add = [&](const float* lanes, uint32_t begin, std::span<const uint16_t> tets) {
    AddCrowdImpulses(crowd->system->view.elements, crowd->positions.data(), elements,
                     crowd->kappa.data(), lanes, begin, begin + tets.size(),
                     crowd->rotations.data(), crowd->rhs.data(), lowest_det_f, tets);
  };
  const CoarseLevel& common = crowd->system->coarse;
  for (const BlockRun& run : common.runs) {
    add(active, run.begin, common.resisting.span().subspan(run.begin, run.end - run.begin));
  }
  for (size_t lane = 0; lane < kCrowdLanes; ++lane) {
    const Body* body = stepping.bodies[lane];
    if (body == nullptr || active[lane] == 0.0f || body->system == crowd->system) continue;
    float only[kCrowdLanes] = {};
    only[lane] = 1.0f;
    const CoarseLevel& own = body->system->coarse;
    for (const BlockRun& run : own.runs) {
      for (uint32_t b = run.begin; b < run.end; ++b) {
        const uint16_t more = static_cast<uint16_t>(own.resisting[b] & ~common.resisting[b]);
        if (more != 0) add(only, b, {&more, 1});
      }
    }
  }
}

Vec3 VectorAt(const float* at) { return {at[0], at[kCrowdLanes], at[2 * kCrowdLanes]}; }

ClusterSums SumsAt(const Crowd& crowd, size_t k, size_t lane) {
  const float* at = &crowd.sums[kCrowdSums * k + lane];
  const auto vector = [&](size_t n) { return VectorAt(at + 3 * kCrowdLanes * n); };
  return {vector(0),
          vector(1),
          vector(2),
          vector(3),
          vector(4),
          vector(5),
          {vector(6), vector(7), vector(8)}};
}

RigidMotion MotionAt(const Crowd& crowd, size_t k, size_t lane) {
  constexpr size_t kNext = 3 * kCrowdLanes;
  const float* at = &crowd.motions[kCrowdMotion * k + lane];
  return {VectorAt(at),
          VectorAt(at + kNext),
          {VectorAt(at + 2 * kNext), VectorAt(at + 3 * kNext), VectorAt(at + 4 * kNext)}};
}

// Finds the clusters' motions of one body. Makes its matrix unless it has one.
void SolveLaneClusters(const StepSettings& settings, const CoarseLevel& level, size_t lane,
                       Body* body, Crowd* crowd) {
  const float dt = settings.dt;
  ClusterSums sums[kMaxClusters];
  RigidMotion motions[kMaxClusters];
  for (size_t k = 0; k < level.num_clusters(); ++k) sums[k] = SumsAt(*crowd, k, lane);
  const CoarseLevel& own = body->system->coarse;
  const NodePlaces places = {&crowd->positions[lane], kCrowdPosition, kCrowdLanes};
  if (!body->progress.has_matrix) {
    body->coarse.Make(own.pattern, dt * dt, own.masses.span(), own.turns.span(), places,
                      body->Rotations(), sums);
    if (body->attached.any()) body->responses.Forget();
    body->progress.has_matrix = true;
  }
  SolveLaneCoarse(settings, {sums, level.num_clusters()}, crowd, body);
  SolveClusters(dt, places, {sums, level.num_clusters()}, body, {motions, level.num_clusters()});
  for (size_t k = 0; k < level.num_clusters(); ++k) {
    float* at = &crowd->motions[kCrowdMotion * k + lane];
    const Vec3 vectors[5] = {motions[k].centre, motions[k].shift, motions[k].change.c0,
                             motions[k].change.c1, motions[k].change.c2};
    for (const Vec3& v : vectors) {
      at[0] = v.x;
      at[kCrowdLanes] = v.y;
      at[2 * kCrowdLanes] = v.z;
      at += 3 * kCrowdLanes;
    }
  }
}

// Sums the right-hand sides of the nodes' inertia and, in `active` lanes, the tets between
// clusters.
void SumClusters(const StepSettings& settings, const CrowdStepping& stepping,
                 const float (&active)[kCrowdLanes], Crowd* crowd, CrowdWarnings* warnings,
                 StepStats* stats) {
  const CoarseLevel& level = crowd->system->coarse;
  {
    const PhaseTimer timer(stats, Phase::kSolve);
    MakeInertialCrowdRhs(stepping.nodes, settings.gravity, settings.dt, crowd->positions.data(),
                         crowd->rhs.data());
    SumCrowdClusters(level, crowd->positions.data(), crowd->rhs.data(), crowd->sums.data());
  }
  {
    const PhaseTimer timer(stats, Phase::kElements);
    std::fill(crowd->rhs.begin(), crowd->rhs.end(), 0.0f);
    AddClusterImpulses(settings, stepping, active, crowd, warnings->lowest_det_f);
  }
  const PhaseTimer timer(stats, Phase::kSolve);
  AddCrowdForces(level, crowd->positions.data(), crowd->rhs.data(), stepping.has_pins,
                 crowd->sums.data());
  for (size_t lane = 0; lane < kCrowdLanes; ++lane) {
    if (active[lane] > 0.0f) AddToLane(crowd, stepping.bodies[lane]);
  }
}

// Sums of WorkAtStart and WorkAtEnd over a lane's clusters.
float WorkAtStart(const Crowd& crowd, size_t lane) {
  float work = 0.0f;
  for (size_t k = 0; k < crowd.system->coarse.num_clusters(); ++k) {
    work += WorkAtStart(SumsAt(crowd, k, lane), MotionAt(crowd, k, lane));
  }
  return work;
}

float WorkAtEnd(const Crowd& crowd, size_t lane) {
  float work = 0.0f;
  for (size_t k = 0; k < crowd.system->coarse.num_clusters(); ++k) {
    work += WorkAtEnd(SumsAt(crowd, k, lane), MotionAt(crowd, k, lane));
  }
  return work;
}

bool HasLargeMotion(const Crowd& crowd, size_t lane) {
  const Array<float>& masses = crowd.system->coarse.masses;
  for (size_t k = 0; k < masses.size(); ++k) {
    if (masses[k] == 0.0f) continue;
    if (!IsSmall(SumsAt(crowd, k, lane), MotionAt(crowd, k, lane))) return true;
  }
  return false;
}

}  // namespace

void CorrectCrowdClusters(const StepSettings& settings, const CrowdStepping& stepping, Crowd* crowd,
                          CrowdWarnings* warnings, StepStats* stats) {
  const CoarseLevel& level = crowd->system->coarse;
  SumClusters(settings, stepping, stepping.active, crowd, warnings, stats);
  float work[kCrowdLanes] = {};
  float is_large[kCrowdLanes] = {};  // 1 or 0
  bool any_large = false;
  {
    const PhaseTimer timer(stats, Phase::kSolve);
    for (size_t lane = 0; lane < kCrowdLanes; ++lane) {
      Body* body = stepping.bodies[lane];
      if (body != nullptr) SolveLaneClusters(settings, level, lane, body, crowd);
    }
    for (size_t lane = 0; lane < kCrowdLanes; ++lane) {
      if (stepping.bodies[lane] == nullptr) continue;
      work[lane] = WorkAtStart(*crowd, lane);
      if (!HasLargeMotion(*crowd, lane)) continue;
      is_large[lane] = 1.0f;
      any_large = true;
    }
    MoveCrowdClusters(level, crowd->motions.data(), crowd->positions.data());
  }
  if (!any_large) return;
  SumClusters(settings, stepping, is_large, crowd, warnings, stats);
  for (size_t lane = 0; lane < kCrowdLanes; ++lane) {
    if (is_large[lane] == 0.0f) continue;
    if (ShareToKeep(work[lane], WorkAtEnd(*crowd, lane)) < 1.0f) warnings->overshot[lane] = true;
  }
}

}  // namespace plush

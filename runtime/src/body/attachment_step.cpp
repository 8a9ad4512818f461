// SPDX-License-Identifier: MIT
// Source: attachment_step.h.
#include "body/attachment_step.h"

#include "plush/pose.h"

#include "body/body_colliders.h"
#include "body/crowd.h"
#include "body/pin_motion.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace plush {
namespace {

// World position.
struct Place {
  double at[3];
};

Place TargetAt(const StepSettings& settings, const StepTarget& target, double share) {
  const auto mix = [share](float a, float b) {
    return double(a) + share * (double(b) - double(a));
  };
  Place place = {{mix(target.from.x, target.to.x), mix(target.from.y, target.to.y),
                  mix(target.from.z, target.to.z)}};
  if (target.collider == StepTarget::kNoCollider) return place;
  const StepCollider& collider = settings.colliders[target.collider];
  const Pose pose = Interpolated(collider.from, collider.to, share);
  Turn(RotationOf(pose.rotation), place.at);
  place.at[0] += double(pose.position.x);
  place.at[1] += double(pose.position.y);
  place.at[2] += double(pose.position.z);
  return place;
}

Vec3 Difference(const double (&a)[3], const double (&b)[3]) {
  return {static_cast<float>(a[0] - b[0]), static_cast<float>(a[1] - b[1]),
          static_cast<float>(a[2] - b[2])};
}

// Finds the ways of a row whose first point is the body's.
void PlaceRow(const StepSettings& settings, int k, int count, const AttachedPoint& at, Body* body,
              AttachmentRow* row) {
  row->start = at.point.Of(body->x) * body->scale;
  const AttachedPoints* other = row->sides[1].of;
  if (other != nullptr) {
    row->base = Difference(body->origin, other->origin);
    const EmbeddedPoint& point = other->points[row->sides[1].index].point;
    row->start += row->base - point.Of(other->x) * other->scale;
    return;
  }
  const StepTarget& target = settings.targets[at.row];
  const auto way = [&](int substep) {
    const double share = double(substep) / double(count);
    return Difference(body->origin, TargetAt(settings, target, share).at);
  };
  row->base = way(k + 1);
  row->start += way(k);
  if (!row->is_constraint()) return;
  if (k == 0) {
    row->gap = {};
    for (uint32_t i = 0; i < row->num_directions; ++i) {
      row->gap += row->directions[i] * Dot(row->directions[i], row->start);
    }
  }
  const float closed = row->correction * static_cast<float>(k + 1) / static_cast<float>(count);
  row->base -= row->gap * (1.0f - closed);
}

constexpr size_t kVectorsOfSums = kCrowdSums / (3 * kCrowdLanes);

// Vectors of a lane.
struct LaneOf {
  float* first;
  size_t node;  // from a vector to the next

  Vec3 operator()(size_t i) const {
    const float* at = first + node * i;
    return {at[0], at[kCrowdLanes], at[2 * kCrowdLanes]};
  }
  void Set(size_t i, const Vec3& v) const {
    float* at = first + node * i;
    at[0] = v.x;
    at[kCrowdLanes] = v.y;
    at[2 * kCrowdLanes] = v.z;
  }
  void Add(size_t i, const Vec3& by) const { Set(i, (*this)(i) + by); }
};

// Whether springs change their impulses while clusters move. Soft ones need not: the solves before
// and after know them, and the clusters' motion is wrong by kShare at most.
bool ActsOnClusters(const Body& body) {
  constexpr float kShare = 0.25f;  // of a cluster's mass
  const CoarseLevel& coarse = body.system->coarse;
  const AttachedPoints& attached = body.attached;
  if (!attached.any() || coarse.num_clusters() == 0) return false;
  if (attached.has_constraints || attached.joins_bodies) return true;
  float gains[kMaxClusters] = {};
  for (const AttachedPoint& at : attached.Current()) {
    const AttachmentRow& row = attached.RowOf(at);
    for (int k = 0; k < 4 && row.acts; ++k) {
      if (at.point.Free(k) == 0.0f) continue;
      gains[coarse.clusters[at.point.nodes[k]]] += row.gain * std::fabs(at.point.Free(k));
    }
  }
  const float to_world = body.scale * body.scale * body.scale;
  for (size_t k = 0; k < coarse.num_clusters(); ++k) {
    if (gains[k] > kShare * coarse.masses[k] * to_world) return true;
  }
  return false;
}

LaneOf RhsOf(Crowd* crowd, const Body& body) { return {&crowd->rhs[body.lane], kCrowdVector}; }

}  // namespace

bool ReserveAttached(const Allocator& allocator, uint32_t count, Body* body) {
  return ReserveSolve(allocator, body) && body->attached.Reserve(allocator, count, body->x.size());
}

bool ReserveSprings(const Allocator& allocator, Body* body) {
  SpringBlock& springs = body->attached.springs;
  return springs.capacity() > 0 || springs.Reserve(allocator, body->attached.points.size());
}

bool ReserveConstraints(const Allocator& allocator, uint32_t count, Body* body) {
  return body->attached.ReserveConstraints(allocator, count, body->x.size());
}

FactoredSystem FactoredSystemOf(float dt, int count, Body* body) {
  const FactorSet& factors = body->Factors();
  FactoredSystem system = {body->system->view, factors.factors[count - 1], body->workspace.span(),
                           FactorId(dt, count)};
  system.system.dt = dt / static_cast<float>(count);
  return system;
}

void PrepareAttached(const FactoredSystem& system, Body* body) {
  AttachedPoints& attached = body->attached;
  if (!attached.any()) return;
  attached.x = body->x.span();
  attached.y = body->y.span().first(body->x.size());
  std::copy(body->origin, body->origin + 3, attached.origin);
  attached.Find(system);
}

void BeginAttachments(const StepSettings& settings, int k, int count, Body* body) {
  AttachedPoints& attached = body->attached;
  for (const AttachedPoint& at : attached.Current()) {
    AttachmentRow& row = attached.RowOf(at);
    if (at.sign < 0.0f) continue;
    if (row.acts) PlaceRow(settings, k, count, at, body, &row);
    row.Begin(settings.dt / static_cast<float>(count));
  }
  if (attached.has_springs) attached.ListSprings();
  attached.acts_on_clusters = ActsOnClusters(*body);
}

void EndAttachments(float h, int count, Body* body) {
  for (const AttachedPoint& at : body->attached.Current()) {
    AttachmentRow& row = body->attached.RowOf(at);
    if (!row.acts) continue;
    if (body->frozen) {
      row.acts = false;
      row.force = row.mean_force = {};
    } else if (at.sign > 0.0f) {
      row.force = row.impulse * (1.0f / (h * h));
      row.mean_force += row.force * (1.0f / static_cast<float>(count));
      const bool is_finite = IsFinite(row.force) && IsFinite(row.mean_force);
      if (!is_finite) row.force = row.mean_force = row.impulse = {};
    }
  }
}

void HoldConstraints(Body* body) {
  if (!body->attached.block.any()) return;
  body->attached.Hold([body](uint32_t node) { return body->y[node]; },
                      [body](size_t node, const Vec3& by) { body->y[node] += by; });
}

void HoldNodes(Body* body) {
  if (!body->attached.block.any()) return;
  body->attached.HoldNodes([body](uint32_t node) { return body->y[node]; },
                           [body](size_t node, const Vec3& by) { body->y[node] += by; });
}

void HoldConstraints(float h, Body* body) {
  if (!ReportsReactions(*body)) return HoldConstraints(body);
  if (!body->attached.block.any()) return;
  std::copy(body->y.begin(), body->y.end(), body->d.begin());
  HoldConstraints(body);
  for (size_t i = 0; i < body->d.size(); ++i) body->d[i] = body->y[i] - body->d[i];
  SubtractStiffness(h, body->d.span(), body);
}

void PushLane(Crowd* crowd, Body* body) {
  if (!body->attached.any()) return;
  body->attached.Locate(LaneOf{&crowd->positions[body->lane], kCrowdPosition});
  const LaneOf rhs = RhsOf(crowd, *body);
  body->attached.Push([&](size_t node, const Vec3& impulse) { rhs.Add(node, impulse); });
}

void SolveLane(const StepSettings& settings, Crowd* crowd, Body* body) {
  if (!body->attached.any()) return;
  const LaneOf d = RhsOf(crowd, *body);
  body->attached.StartSweeps(d);
  body->attached.SweepAlone(SolveAccuracy(settings, settings.dt, *body));
  body->attached.AddChanges([&](size_t node, const Vec3& by) { d.Add(node, by); });
}

void HoldLane(Crowd* crowd, Body* body) {
  const LaneOf y = {&crowd->positions[body->lane], kCrowdPosition};
  body->attached.Hold(y, [&](size_t node, const Vec3& by) { y.Add(node, by); });
}

void AddToLane(Crowd* crowd, Body* body) {
  AttachedPoints& attached = body->attached;
  if (!attached.any()) return;
  attached.Locate(LaneOf{&crowd->positions[body->lane], kCrowdPosition});
  // The impulses' own sums, about the clusters' centres.
  ClusterSums sums[kMaxClusters];
  const size_t count = body->system->coarse.num_clusters();
  const LaneOf vectors = {&crowd->sums[body->lane], 3 * kCrowdLanes};
  for (size_t k = 0; k < count; ++k) sums[k].centre = vectors(kVectorsOfSums * k + 2);
  attached.AddTo(body->system->coarse.clusters.span(), {sums, count});
  for (size_t k = 0; k < count; ++k) {
    vectors.Add(kVectorsOfSums * k, sums[k].impulse);
    vectors.Add(kVectorsOfSums * k + 1, sums[k].moment);
  }
}

void SolveLaneCoarse(const StepSettings& settings, std::span<ClusterSums> sums, Crowd* crowd,
                     Body* body) {
  AttachedPoints& attached = body->attached;
  if (!attached.any()) return;
  if (!attached.acts_on_clusters) {
    return attached.AddToInertia(body->system->coarse.clusters.span(), sums);
  }
  CoarseContacts solve = {.coarse = &body->system->coarse,
                          .matrix = &body->coarse,
                          .clusters = body->system->coarse.clusters.span(),
                          .attached = &attached,
                          .sums = sums,
                          .responses = &body->responses,
                          .d = body->d.span()};
  solve.problem.accuracy = SolveAccuracy(settings, settings.dt, *body);
  SolveCoarseContacts(&solve);
  const LaneOf vectors = {&crowd->sums[body->lane], 3 * kCrowdLanes};
  for (size_t k = 0; k < sums.size(); ++k) {
    vectors.Set(kVectorsOfSums * k, sums[k].impulse);
    vectors.Set(kVectorsOfSums * k + 1, sums[k].moment);
  }
  attached.AddToInertia(body->system->coarse.clusters.span(), sums);
}

}  // namespace plush

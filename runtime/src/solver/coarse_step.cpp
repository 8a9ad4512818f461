// SPDX-License-Identifier: MIT
// What a step does with clusters: sums over them, their rigid motions, and moves of their nodes.
// Source: see coarse_level.h.
#include "plush/asset.h"

#include "base/vector_math.h"
#include "solver/cluster_lanes.h"
#include "solver/coarse_level.h"

#include <algorithm>
#include <cmath>

namespace plush {
namespace {

Vec3 ToVec3(Float4 v) { return {v[0], v[1], v[2]}; }

// The axis a of TurnBy, times 2 / (1 + |a|^2).
Vec3 SkewOf(const Mat3& change) {
  return Vec3{change.c1.z - change.c2.y, change.c2.x - change.c0.z, change.c0.y - change.c1.x} *
         0.5f;
}

}  // namespace

Mat3 TurnBy(const Vec3& angle) {
  // The Cayley map needs no sine: R - I = 2 (a x + a x a x) / (1 + |a|^2) for a = angle / 2.
  const Vec3 a = angle * 0.5f;
  const float square = Dot(a, a), scale = 2.0f / (1.0f + square);
  return Mat3{Vec3{a.x * a.x - square, a.y * a.x + a.z, a.z * a.x - a.y},
              Vec3{a.x * a.y - a.z, a.y * a.y - square, a.z * a.y + a.x},
              Vec3{a.x * a.z + a.y, a.y * a.z - a.x, a.z * a.z - square}} *
         scale;
}

Vec3 AngleOf(const Mat3& change) {
  const float trace = change.c0.x + change.c1.y + change.c2.z;  // -4 |a|^2 / (1 + |a|^2)
  return SkewOf(change) * (1.0f / std::fmax(1.0f + 0.25f * trace, 1.0e-6f));
}

RigidMotion InverseOf(const RigidMotion& motion) {
  return {motion.centre + motion.shift, motion.shift * -1.0f, Transpose(motion.change)};
}

RigidMotion PartOf(const RigidMotion& motion, float share) {
  return {motion.centre, motion.shift * share, TurnBy(AngleOf(motion.change) * share)};
}

float WorkAtStart(const ClusterSums& sums, const RigidMotion& motion) {
  return Dot(sums.impulse, motion.shift) + Dot(sums.moment, AngleOf(motion.change));
}

float WorkAtEnd(const ClusterSums& sums, const RigidMotion& motion) {
  // Towards its end, a turn slows down: a share s of it has the angle 2 atan(s |a|).
  return Dot(sums.impulse, motion.shift) + Dot(sums.moment, SkewOf(motion.change));
}

bool IsSmall(const ClusterSums& sums, const RigidMotion& motion) {
  constexpr float kMost2 = 0.05f * 0.05f;
  const Vec3 turn = SkewOf(motion.change);
  const float size2 = sums.squares.x + sums.squares.y + sums.squares.z;
  return Dot(turn, turn) < kMost2 && Dot(motion.shift, motion.shift) < kMost2 * size2;
}

float ShareToKeep(float work_at_start, float work_at_end) {
  // There, the objective is as high as at the start. Smaller overshoots are left to the next solve.
  if (work_at_end >= -work_at_start) return 1.0f;
  const float share = work_at_start / (work_at_start - work_at_end);
  return share > 0.0f && share < 1.0f ? share : 0.0f;
}

void CoarseLevel::Sum(std::span<const NodeVec> y, std::span<const NodeVec> rhs,
                      std::span<ClusterSums> sums) const {
  for (size_t k = 0; k < num_clusters(); ++k) {
    if (first_member[k] == first_member[k + 1]) {
      sums[k] = {};
      continue;
    }
    const Float4 from = Load(y[members[first_member[k]]]);  // near the cluster: keeps digits
    const Float4 zero = Broadcast(0.0f);
    Float4 impulse = zero, centre = zero, squares = zero, products = zero;
    Float4 arms[3] = {zero, zero, zero};
    for (uint32_t i = first_member[k]; i < first_member[k + 1]; ++i) {
      const uint32_t node = members[i];
      const Float4 r = Load(y[node]) - from, b = Load(rhs[node]);
      impulse = impulse + b;
      arms[0] = arms[0] + r * Shuffle<0, 0, 0, 0>(b, b);
      arms[1] = arms[1] + r * Shuffle<1, 1, 1, 1>(b, b);
      arms[2] = arms[2] + r * Shuffle<2, 2, 2, 2>(b, b);
      const Float4 part = r * Broadcast(shares[i]);
      centre = centre + part;
      squares = squares + r * part;
      products = products + Turned(r) * part;
    }
    arms[0] = arms[0] - centre * Shuffle<0, 0, 0, 0>(impulse, impulse);
    arms[1] = arms[1] - centre * Shuffle<1, 1, 1, 1>(impulse, impulse);
    arms[2] = arms[2] - centre * Shuffle<2, 2, 2, 2>(impulse, impulse);
    const Vec3 moment = {arms[2][1] - arms[1][2], arms[0][2] - arms[2][0], arms[1][0] - arms[0][1]};
    sums[k] = {ToVec3(impulse),
               moment,
               ToVec3(from + centre),
               ToVec3(Max(squares - centre * centre, zero)),
               ToVec3(products - Turned(centre) * centre),
               ToVec3(impulse),
               {ToVec3(arms[0]), ToVec3(arms[1]), ToVec3(arms[2])}};
  }
}

void CoarseLevel::AddForces(std::span<const NodeVec> y, std::span<const NodeVec> rhs, bool balances,
                            std::span<ClusterSums> sums) const {
  Vec3 impulses[kMaxClusters], moments[kMaxClusters];
  for (size_t k = 0; k < num_clusters(); ++k) {
    const Float4 centre = Lanes(sums[k].centre);
    Float4 impulse = Broadcast(0.0f), turned_moment = impulse;
    for (uint32_t i = first_member[k]; i < first_inner[k]; ++i) {
      const uint32_t node = members[i];
      const Float4 r = Load(y[node]) - centre, b = Load(rhs[node]);
      impulse = impulse + b;
      turned_moment = turned_moment + (r * Turned(b) - Turned(r) * b);
    }
    impulses[k] = ToVec3(impulse);
    moments[k] = ToVec3(Turned(turned_moment));
  }
  if (balances) {
    Hinge hinges[kMaxClusters];
    FindHinges({&y[0].x, sizeof(NodeVec) / sizeof(float), 1}, hinges);
    for (size_t c = 0; c < num_components(); ++c) Balance(c, hinges[c], sums, impulses, moments);
  }
  for (size_t k = 0; k < num_clusters(); ++k) {
    sums[k].impulse += impulses[k];
    sums[k].moment += moments[k];
  }
}

void CoarseLevel::Solve(const CoarseMatrix& matrix, std::span<const ClusterSums> sums,
                        std::span<const Hinge> hinges, std::span<RigidMotion> motions) const {
  double q[8 * kMaxClusters];
  for (size_t k = 0; k < num_clusters(); ++k) {
    const Vec3 &impulse = sums[k].impulse, &moment = sums[k].moment;
    const double eight[8] = {impulse.x, impulse.y, impulse.z, moment.x, moment.y, moment.z};
    std::copy(eight, eight + 8, q + 8 * k);
  }
  matrix.Solve(pattern, {q, 8 * num_clusters()});
  for (size_t k = 0; k < num_clusters(); ++k) {
    const double* x = q + 8 * k;
    const auto vector = [&](size_t i) {
      return Vec3{static_cast<float>(x[i]), static_cast<float>(x[i + 1]),
                  static_cast<float>(x[i + 2])};
    };
    motions[k] = {sums[k].centre, vector(0), TurnBy(vector(3))};
  }
  for (size_t c = 0; c < hinges.size(); ++c) TurnAsOne(c, hinges[c], sums, motions);
}

void CoarseLevel::Move(std::span<const RigidMotion> motions, std::span<NodeVec> y) const {
  for (size_t k = 0; k < num_clusters(); ++k) {
    const RigidMotion& motion = motions[k];
    const Float4 centre = Lanes(motion.centre), shift = Lanes(motion.shift);
    const Float4 c0 = Lanes(motion.change.c0), c1 = Lanes(motion.change.c1),
                 c2 = Lanes(motion.change.c2);
    for (uint32_t i = first_member[k]; i < first_member[k + 1]; ++i) {
      NodeVec* node = &y[members[i]];
      const Float4 x = Load(*node), r = x - centre;
      const Float4 turned = c0 * Shuffle<0, 0, 0, 0>(r, r) + c1 * Shuffle<1, 1, 1, 1>(r, r) +
                            c2 * Shuffle<2, 2, 2, 2>(r, r);
      Store4(x + (shift + turned), &node->x);
    }
  }
}

}  // namespace plush

// SPDX-License-Identifier: MIT
// What a step does with clusters: sums over them, their rigid motions, and moves of their nodes.
// Source: see coarse_level.h.
#include "plush/asset.h"

#include "base/float4.h"
#include "base/simd_target.h"
#include "base/vector_math.h"
#include "solver/coarse_level.h"

#include <algorithm>
#include <cmath>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "solver/coarse_step.cpp"
#include <hwy/foreach_target.h>
// Must follow foreach_target.h.
#include "base/lanes-inl.h"

HWY_BEFORE_NAMESPACE();
namespace plush {
namespace HWY_NAMESPACE {
namespace {

// Rows [0, kVectors N) of `matrix` b; its columns are `n` apart.
template <size_t kVectors, class D>
HWY_INLINE void MultiplyRows(D d, size_t n, const float* matrix, const float* b, float* q) {
  using V = hn::Vec<D>;
  constexpr size_t N = kLanes<D>;
  V sum[kVectors];
  for (size_t v = 0; v < kVectors; ++v) sum[v] = hn::Zero(d);
  for (size_t j = 0; j < n; ++j) {
    const V factor = hn::Set(d, b[j]);
    for (size_t v = 0; v < kVectors; ++v) {
      sum[v] = Fma(hn::LoadU(d, matrix + n * j + N * v), factor, sum[v]);
    }
  }
  for (size_t v = 0; v < kVectors; ++v) hn::StoreU(sum[v], d, q + N * v);
}

// q = matrix b (n x n, by columns). Each number of q is a sum over the columns in their order.
void Multiply(size_t n, const float* matrix, const float* b, float* q) {
  // Six vectors hide the latency of a sum.
  constexpr size_t kVectors = 6, N = kLanes<Lanes16>;
  size_t i = 0;
  for (; i + kVectors * N <= n; i += kVectors * N) {
    MultiplyRows<kVectors>(Lanes16(), n, matrix + i, b, q + i);
  }
  for (; i + N <= n; i += N) MultiplyRows<1>(Lanes16(), n, matrix + i, b, q + i);
  for (; i < n; ++i) MultiplyRows<1>(hn::CappedTag<float, 1>(), n, matrix + i, b, q + i);
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace plush
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace plush {
namespace {

HWY_EXPORT(Multiply);

Float4 Load(const NodeVec& v) { return Load4(&v.x); }
Float4 Lanes(const Vec3& v) { return Float4{v.x, v.y, v.z, 0.0f}; }
Vec3 ToVec3(Float4 v) { return {v[0], v[1], v[2]}; }
Float4 Turned(Float4 v) { return Shuffle<1, 2, 0, 3>(v, v); }

// The turn by about `angle` [rad], at most half a turn, minus the identity. The Cayley map needs no
// sine: R - I = 2 (a x + a x a x) / (1 + |a|^2) for a = angle / 2.
Mat3 TurnBy(const Vec3& angle) {
  const Vec3 a = angle * 0.5f;
  const float square = Dot(a, a), scale = 2.0f / (1.0f + square);
  return Mat3{Vec3{a.x * a.x - square, a.y * a.x + a.z, a.z * a.x - a.y},
              Vec3{a.x * a.y - a.z, a.y * a.y - square, a.z * a.y + a.x},
              Vec3{a.x * a.z + a.y, a.y * a.z - a.x, a.z * a.z - square}} *
         scale;
}

// The axis a of TurnBy, times 2 / (1 + |a|^2).
Vec3 SkewOf(const Mat3& change) {
  return Vec3{change.c1.z - change.c2.y, change.c2.x - change.c0.z, change.c0.y - change.c1.x} *
         0.5f;
}

// What TurnBy made `change` of.
Vec3 AngleOf(const Mat3& change) {
  const float trace = change.c0.x + change.c1.y + change.c2.z;  // -4 |a|^2 / (1 + |a|^2)
  return SkewOf(change) * (1.0f / std::fmax(1.0f + 0.25f * trace, 1.0e-6f));
}

}  // namespace

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

float ShareToKeep(float work_at_start, float work_at_end) {
  // At 1, the objective is as high as at the start. A smaller overshoot than this one stays in few
  // clusters, and the next solve with A takes it back: taking back part of all motions instead made
  // the trajectory of a swinging armadillo of 1e6 Pa 27% worse.
  constexpr float kMostOvershoot = 3.0f;
  if (work_at_end >= -kMostOvershoot * work_at_start) return 1.0f;
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
    Float4 impulse = Broadcast(0.0f), turned_moment = impulse, centre = impulse;
    for (uint32_t i = first_member[k]; i < first_member[k + 1]; ++i) {
      const uint32_t node = members[i];
      const Float4 r = Load(y[node]) - from, b = Load(rhs[node]);
      impulse = impulse + b;
      turned_moment = turned_moment + (r * Turned(b) - Turned(r) * b);
      centre = centre + r * Broadcast(shares[i]);
    }
    const Vec3 moment = ToVec3(Turned(turned_moment));
    sums[k] = {ToVec3(impulse), moment - Cross(ToVec3(centre), ToVec3(impulse)),
               ToVec3(from + centre)};
  }
}

Mat3 CoarseLevel::Frame(const RotationView& rotations, size_t k) const {
  const uint32_t* slots = &frames[kFrameTets * k];
  const Quat first = rotations.Get(slots[0]);
  Quat sum = first;
  for (size_t i = 1; i < kFrameTets; ++i) {
    const Quat q = rotations.Get(slots[i]);
    const float dot = q.x * first.x + q.y * first.y + q.z * first.z + q.w * first.w;
    const float sign = dot < 0.0f ? -1.0f : 1.0f;
    sum = {sum.x + sign * q.x, sum.y + sign * q.y, sum.z + sign * q.z, sum.w + sign * q.w};
  }
  // At least the length of `first`: no summand points against it.
  const float scale =
      1.0f / std::sqrt(sum.x * sum.x + sum.y * sum.y + sum.z * sum.z + sum.w * sum.w);
  return RotationMatrix({sum.x * scale, sum.y * scale, sum.z * scale, sum.w * scale});
}

void CoarseLevel::Solve(std::span<const float> inverse, const RotationView& rotations,
                        bool keep_momentum, std::span<const ClusterSums> sums,
                        std::span<RigidMotion> motions) const {
  float b[6 * kMaxClusters], q[6 * kMaxClusters];
  Mat3 frames_now[kMaxClusters];
  for (size_t k = 0; k < num_clusters(); ++k) {
    frames_now[k] = Frame(rotations, k);
    const Vec3 impulse = TransposeTimes(frames_now[k], sums[k].impulse);
    const Vec3 moment = TransposeTimes(frames_now[k], sums[k].moment);
    const float six[6] = {impulse.x, impulse.y, impulse.z, moment.x, moment.y, moment.z};
    std::copy(six, six + 6, b + 6 * k);
  }
  HWY_DYNAMIC_DISPATCH(Multiply)(num_unknowns(), inverse.data(), b, q);
  Vec3 drift{};
  if (keep_momentum) {
    float mass = 0.0f;
    for (size_t k = 0; k < num_clusters(); ++k) {
      drift += frames_now[k] * Vec3{q[6 * k], q[6 * k + 1], q[6 * k + 2]} * masses[k];
      mass += masses[k];
    }
    drift *= 1.0f / mass;
  }
  for (size_t k = 0; k < num_clusters(); ++k) {
    const Mat3& frame = frames_now[k];
    motions[k] = {sums[k].centre, frame * Vec3{q[6 * k], q[6 * k + 1], q[6 * k + 2]} - drift,
                  TurnBy(frame * Vec3{q[6 * k + 3], q[6 * k + 4], q[6 * k + 5]})};
  }
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
#endif

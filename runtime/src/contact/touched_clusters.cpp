// SPDX-License-Identifier: MIT
// Source: touched_clusters.h.
#include "contact/touched_clusters.h"

#include "base/float4.h"
#include "base/simd_target.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "contact/touched_clusters.cpp"
#include <hwy/foreach_target.h>
// Must follow foreach_target.h.
#include "base/lanes-inl.h"

HWY_BEFORE_NAMESPACE();
namespace plush {
namespace HWY_NAMESPACE {
namespace {

// q += sum of columns[p] load[p], p < 6; columns follow each other. Whole vectors. Not fused: all
// instruction sets give the same bits.
void AddColumns(const float* columns, size_t size, const float* load, float* q) {
  const Lanes16 d;
  for (size_t i = 0; i < size; i += kLanes<Lanes16>) {
    auto sum = hn::LoadU(d, q + i);
    for (size_t p = 0; p < 6; ++p) {
      sum = hn::Add(sum, hn::Mul(hn::LoadU(d, columns + size * p + i), hn::Set(d, load[p])));
    }
    hn::StoreU(sum, d, q + i);
  }
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace plush
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace plush {

HWY_EXPORT(AddColumns);

namespace {

// Displacement of a part of a point whose cluster moves by q.
Vec3 DisplacementOf(const CoarsePoint::Part& part, const float* q) {
  return Vec3{q[0], q[1], q[2]} * part.weight + Cross(Vec3{q[3], q[4], q[5]}, part.arm);
}

// What an impulse on a point does to the cluster of a part.
void Load(const CoarsePoint::Part& part, const Vec3& impulse, float* b) {
  const Vec3 moment = Cross(part.arm, impulse);
  b[0] = impulse.x * part.weight, b[1] = impulse.y * part.weight, b[2] = impulse.z * part.weight;
  b[3] = moment.x, b[4] = moment.y, b[5] = moment.z;
}

}  // namespace

bool CoarseResponses::Allocate(const Allocator& allocator, size_t num_clusters) {
  const size_t unknowns = 6 * num_clusters;
  constexpr size_t kBeyond = 16;  // whole vectors
  return columns.Allocate(allocator, unknowns * unknowns + kBeyond, 0.0f) &&
         known.Allocate(allocator, num_clusters, uint8_t{0}) &&
         scratch.Allocate(allocator, 8 * unknowns) && sums.Allocate(allocator, num_clusters) &&
         centres.Allocate(allocator, num_clusters) &&
         motions.Allocate(allocator, unknowns + kBeyond, 0.0f);
}

void TouchedClusters::Start(const CoarseLevel& coarse, const CoarseMatrix& matrix,
                            std::span<const ClusterSums> sums, CoarseResponses* responses) {
  coarse_ = &coarse;
  matrix_ = &matrix;
  responses_ = responses;
  q_ = responses->motions.data();
  double numbers[8 * kMaxClusters];
  double* q = numbers;
  for (size_t k = 0; k < coarse.num_clusters(); ++k, q += 8) {
    const Vec3 &impulse = sums[k].impulse, &moment = sums[k].moment;
    q[0] = impulse.x, q[1] = impulse.y, q[2] = impulse.z;
    q[3] = moment.x, q[4] = moment.y, q[5] = moment.z;
    q[6] = q[7] = 0.0;
    responses->centres[k] = sums[k].centre;
  }
  matrix.Solve(coarse.pattern, {numbers, 8 * coarse.num_clusters()});
  for (size_t k = 0; k < coarse.num_clusters(); ++k) {
    for (size_t i = 0; i < 6; ++i) q_[6 * k + i] = static_cast<float>(numbers[8 * k + i]);
  }
}

Vec3 TouchedClusters::Displacement(const CoarsePoint& point) const {
  Vec3 sum;
  for (int i = 0; i < point.num_parts; ++i) {
    sum += DisplacementOf(point.parts[i], q_ + 6 * point.parts[i].cluster);
  }
  return sum;
}

CoarsePoint TouchedClusters::Place(const EmbeddedPoint& point, std::span<const uint16_t> clusters,
                                   const Vec3* at) {
  CoarsePoint placed;
  for (int i = 0; i < 4; ++i) {
    if (point.Free(i) == 0.0f) continue;
    const uint16_t k = clusters[point.nodes[i]];
    int part = 0;
    while (part < placed.num_parts && placed.parts[part].cluster != k) ++part;
    if (part == placed.num_parts) {
      placed.parts[placed.num_parts++] = {k, 0.0f, {}};
      Touch(k);
    }
    placed.parts[part].weight += point.Free(i);
    placed.parts[part].arm += (at[i] - responses_->centres[k]) * point.Free(i);
  }
  return placed;
}

void TouchedClusters::Push(const CoarsePoint& point, const Vec3& impulse,
                           std::span<ClusterSums> sums) {
  for (int j = 0; j < point.num_parts; ++j) {
    const CoarsePoint::Part& part = point.parts[j];
    float b[6];
    Load(part, impulse, b);
    sums[part.cluster].impulse += impulse * part.weight;
    sums[part.cluster].moment += Vec3{b[3], b[4], b[5]};
    const size_t size = coarse_->num_unknowns();
    const float* columns = &responses_->columns[6 * size * part.cluster];
    HWY_DYNAMIC_DISPATCH(AddColumns)(columns, size, b, q_);
  }
}

Mat3 TouchedClusters::Response(const CoarsePoint& point) const {
  Mat3 D;
  Vec3* columns[3] = {&D.c0, &D.c1, &D.c2};
  const Vec3 axes[3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
  for (int axis = 0; axis < 3; ++axis) {
    for (int j = 0; j < point.num_parts; ++j) {
      float b[6];
      Load(point.parts[j], axes[axis], b);
      for (int i = 0; i < point.num_parts; ++i) {
        float q[8] = {};
        AddResponse(point.parts[j].cluster, b, point.parts[i].cluster, q);
        *columns[axis] += DisplacementOf(point.parts[i], q);
      }
    }
  }
  return D;
}

// Adds the motion of cluster `k` in answer to `load` (6 x 1) on a touched cluster to `q` (8 x 1;
// the last two numbers become any).
void TouchedClusters::AddResponse(size_t touched, const float* load, size_t k, float* q) const {
  const size_t size = coarse_->num_unknowns();
  const float* c = &responses_->columns[6 * (size * touched + k)];
  Float4 low = Load4(q), high = Load4(q + 4);
  for (int p = 0; p < 6; ++p, c += size) {
    low = low + Load4(c) * Broadcast(load[p]);
    high = high + Load4(c + 4) * Broadcast(load[p]);
  }
  Store4(low, q);
  Store4(high, q + 4);
}

// Finds how all clusters answer impulses on cluster `k`.
void TouchedClusters::Touch(uint16_t k) {
  if (responses_->known[k] != 0) return;
  responses_->known[k] = 1;
  const size_t size = coarse_->num_unknowns();
  matrix_->Respond(coarse_->pattern, k, responses_->scratch.span(),
                   responses_->columns.span().subspan(6 * size * k, 6 * size));
}

}  // namespace plush
#endif

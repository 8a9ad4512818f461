// SPDX-License-Identifier: MIT
// Node loops of a single body's step: predict, inertial right-hand side, move, finish.
// Each loop reads and writes whole positions of four floats.
#include "body/node_pass.h"

#include "base/float4.h"
#include "base/vector_math.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace plush {
namespace {

Float4 Load(const NodeVec& v) { return Load4(&v.x); }
void Store(Float4 value, NodeVec* v) { Store4(value, &v->x); }
Float4 Lanes(const Vec3& v) { return Float4{v.x, v.y, v.z, 0.0f}; }
Float4 Magnitude(Float4 v) { return Max(v, -v); }

}  // namespace

void PredictNodes(std::span<const NodeVec> x, std::span<const NodeVec> v, const Vec3& gravity,
                  float h, std::span<NodeVec> y) {
  const Float4 gained = Lanes(gravity) * Broadcast(h), time = Broadcast(h);
  for (size_t i = 0; i < x.size(); ++i) {
    const Float4 at = Load(x[i]);
    Store(x[i].w > 0.0f ? at + (Load(v[i]) + gained) * time : at, &y[i]);
  }
}

void MakeInertialRhs(std::span<const NodeVec> x, std::span<const NodeVec> v, const Vec3& gravity,
                     float h, std::span<const NodeVec> y, std::span<NodeVec> rhs) {
  const Float4 gained = Lanes(gravity) * Broadcast(h), time = Broadcast(h);
  for (size_t i = 0; i < x.size(); ++i) {
    if (x[i].w == 0.0f) {
      rhs[i] = NodeVec();
      continue;
    }
    const Float4 predicted = Load(x[i]) + (Load(v[i]) + gained) * time;
    Store((predicted - Load(y[i])) * Broadcast(1.0f / x[i].w), &rhs[i]);
  }
}

void AddDrag(std::span<const NodeVec> x, std::span<const NodeVec> y, float drag, float h,
             std::span<NodeVec> rhs) {
  for (size_t i = 0; i < x.size(); ++i) {
    if (x[i].w > 0.0f) rhs[i] -= (y[i] - x[i]) * (drag * h / x[i].w);
  }
}

void ClearPinned(std::span<const NodeVec> x, std::span<NodeVec> rhs) {
  for (size_t i = 0; i < x.size(); ++i) {
    if (x[i].w == 0.0f) rhs[i] = NodeVec();
  }
}

Vec3 SumVectors(std::span<const NodeVec> v) {
  Float4 sum = Broadcast(0.0f);
  for (const NodeVec& vector : v) sum = sum + Load(vector);
  return {sum[0], sum[1], sum[2]};
}

void KeepMomentum(std::span<const NodeVec> x, const Vec3& momentum, std::span<NodeVec> d) {
  Float4 kept = Broadcast(0.0f);
  float mass = 0.0f;
  for (size_t i = 0; i < x.size(); ++i) {
    const float m = 1.0f / x[i].w;
    mass += m;
    kept = kept + Load(d[i]) * Broadcast(m);
  }
  const Float4 missing = (Lanes(momentum) - kept) * Broadcast(1.0f / mass);
  for (size_t i = 0; i < x.size(); ++i) Store(Load(d[i]) + missing, &d[i]);
}

float MoveNodes(std::span<const NodeVec> d, std::span<NodeVec> y) {
  Float4 longest = Broadcast(0.0f);
  for (size_t i = 0; i < y.size(); ++i) {
    const Float4 move = Load(d[i]);
    longest = Max(Magnitude(move), longest);
    Store(Load(y[i]) + move, &y[i]);
  }
  return GreatestOf(longest);
}

bool CanMoveTo(std::span<const NodeVec> x, std::span<const NodeVec> y, const Vec3& limit, float h) {
  const Float4 most = Lanes(limit), inverse = Broadcast(1.0f / h), zero = Broadcast(0.0f);
  Float4 beyond = zero, not_finite = zero;
  for (size_t i = 0; i < x.size(); ++i) {
    const Float4 next = Load(y[i]);
    beyond = Max(Magnitude(next) - most, beyond);
    not_finite = not_finite + (next - Load(x[i])) * inverse * zero + next * zero;
  }
  // Skip the fourth lane: it holds inverse masses, which have no limit.
  for (int k = 0; k < 3; ++k) {
    if (!(beyond[k] <= 0.0f) || !(not_finite[k] == 0.0f)) return false;
  }
  return true;
}

void FinishNodes(std::span<const NodeVec> x, std::span<const NodeVec> y, const Vec3& gravity,
                 float h, std::span<NodeVec> v, std::span<NodeVec> next) {
  const Float4 gained = Lanes(gravity) * Broadcast(h), time = Broadcast(h);
  const Float4 inverse = Broadcast(1.0f / h), zero = Broadcast(0.0f);
  for (size_t i = 0; i < x.size(); ++i) {
    const Float4 free_fall = x[i].w > 0.0f ? Load(v[i]) + gained : zero, end = Load(y[i]);
    const Float4 predicted = Load(x[i]) + free_fall * time;
    Store(free_fall + (end - predicted) * inverse, &v[i]);
    Store(end, &next[i]);
  }
}

bool AnyDiffers(std::span<const NodeVec> v, float most) {
  const Vec3 first = v[0];
  return std::ranges::any_of(v, [&](const NodeVec& other) {
    const Vec3 beside = other - first;
    return Dot(beside, beside) > most * most;
  });
}

float LongestVector(std::span<const NodeVec> v) {
  Float4 longest2 = Broadcast(0.0f);
  for (const NodeVec& vector : v) {
    const Float4 lanes = Load(vector), squares = lanes * lanes;
    const Float4 pairs = squares + Shuffle<1, 0, 3, 2>(squares, squares);
    longest2 = Max(pairs + Shuffle<2, 3, 0, 1>(pairs, pairs), longest2);
  }
  return std::sqrt(longest2[0]);
}

}  // namespace plush

// SPDX-License-Identifier: MIT
// Node loops of a crowd's step: gather nodes into lanes, predict, move, write back.
// Compiled once per instruction set; the functions at the end pick one.
#include "body/crowd_nodes.h"

#include "base/simd_target.h"
#include "base/vector_math.h"

#include <limits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "body/crowd_nodes.cpp"
#include <hwy/foreach_target.h>
// Must follow foreach_target.h.
#include "elasticity/crowd_lanes-inl.h"

HWY_BEFORE_NAMESPACE();
namespace plush {
namespace HWY_NAMESPACE {
namespace {

using V = hn::Vec<Lanes16>;
inline constexpr size_t kStep = kLanes<Lanes16>;

// Numbers of node `i` of the bodies in the lanes from `lane` on.
HWY_INLINE Xyz<V> GatherBodies(const NodeVec* const* bodies, size_t lane, size_t i, V* w) {
  const Lanes16 d;
  return GatherFrom(
      d, [&](size_t k) HWY_ATTR { return &bodies[lane + k][i].x; }, w);
}

// One vector for all lanes.
HWY_INLINE Xyz<V> SetAll(const Vec3& v) {
  const Lanes16 d;
  return {hn::Set(d, v.x), hn::Set(d, v.y), hn::Set(d, v.z)};
}

// x + (v + gravity h falls) h if the inverse mass is above zero, else x.
HWY_INLINE Xyz<V> Predicted(const CrowdBodies& bodies, size_t lane, size_t i, const Vec3& gained,
                            V falls, float h, V* w) {
  const Lanes16 d;
  const Xyz<V> x = GatherBodies(bodies.x, lane, i, w);
  const Xyz<V> v = GatherBodies(bodies.v, lane, i, nullptr);
  const Xyz<V> change = (v + SetAll(gained) * falls) * hn::Set(d, h);
  const auto is_free = hn::Gt(*w, hn::Zero(d));
  return x + Xyz<V>{hn::IfThenElseZero(is_free, change.x), hn::IfThenElseZero(is_free, change.y),
                    hn::IfThenElseZero(is_free, change.z)};
}

void Predict(const CrowdBodies& bodies, const Vec3& gravity, const float* falls, float h,
             float* positions) {
  const Lanes16 d;
  const Vec3 gained = gravity * h;
  for (size_t i = 0; i < bodies.num_nodes; ++i, positions += kCrowdPosition) {
    for (size_t lane = 0; lane < kCrowdLanes; lane += kStep) {
      V w;
      const V falling = hn::Mul(hn::LoadU(d, falls + lane), hn::LoadU(d, bodies.weight + lane));
      StoreCrowd(d, Predicted(bodies, lane, i, gained, falling, h, &w), positions + lane);
      hn::StoreU(w, d, positions + 3 * kCrowdLanes + lane);
    }
  }
}

void InertialRhs(const CrowdBodies& bodies, const Vec3& gravity, float h, const float* positions,
                 float* rhs) {
  const Lanes16 d;
  const Vec3 gained = gravity * h;
  for (size_t i = 0; i < bodies.num_nodes; ++i) {
    for (size_t lane = 0; lane < kCrowdLanes; lane += kStep) {
      V w;
      const V weight = hn::LoadU(d, bodies.weight + lane);
      const Xyz<V> target = Predicted(bodies, lane, i, gained, weight, h, &w);
      const V mass = hn::IfThenElseZero(hn::Gt(w, hn::Zero(d)), hn::Div(hn::Set(d, 1.0f), w));
      StoreCrowd(d, (target - LoadCrowd(d, positions + kCrowdPosition * i + lane)) * mass,
                 rhs + kCrowdVector * i + lane);
    }
  }
}

void Sum(size_t num_nodes, const float* v, float* sums) {
  const Lanes16 d;
  for (size_t lane = 0; lane < kCrowdLanes; lane += kStep) {
    Xyz<V> sum = {hn::Zero(d), hn::Zero(d), hn::Zero(d)};
    for (size_t i = 0; i < num_nodes; ++i) sum = sum + LoadCrowd(d, v + kCrowdVector * i + lane);
    StoreCrowd(d, sum, sums + lane);
  }
}

void KeepTotal(size_t num_nodes, const float* positions, const float* momentum, const float* keeps,
               float* by) {
  const Lanes16 d;
  for (size_t lane = 0; lane < kCrowdLanes; lane += kStep) {
    Xyz<V> kept = {hn::Zero(d), hn::Zero(d), hn::Zero(d)};
    V mass = hn::Zero(d);
    for (size_t i = 0; i < num_nodes; ++i) {
      const V w = hn::LoadU(d, positions + kCrowdPosition * i + 3 * kCrowdLanes + lane);
      const V m = hn::IfThenElseZero(hn::Gt(w, hn::Zero(d)), hn::Div(hn::Set(d, 1.0f), w));
      mass = hn::Add(mass, m);
      kept = kept + LoadCrowd(d, by + kCrowdVector * i + lane) * m;
    }
    const Xyz<V> missing =
        (LoadCrowd(d, momentum + lane) - kept) * hn::Div(hn::LoadU(d, keeps + lane), mass);
    for (size_t i = 0; i < num_nodes; ++i) {
      float* at = by + kCrowdVector * i + lane;
      StoreCrowd(d, LoadCrowd(d, at) + missing, at);
    }
  }
}

void Move(size_t num_nodes, const float* by, float* positions) {
  const Lanes16 d;
  for (size_t i = 0; i < num_nodes; ++i, positions += kCrowdPosition, by += kCrowdVector) {
    for (size_t lane = 0; lane < kCrowdLanes; lane += kStep) {
      StoreCrowd(d, LoadCrowd(d, positions + lane) + LoadCrowd(d, by + lane), positions + lane);
    }
  }
}

void LowerGap(size_t num_nodes, const float* positions, const CrowdPlane& plane, float* gap) {
  const Lanes16 d;
  const Xyz<V> normal = SetAll(plane.normal);
  for (size_t lane = 0; lane < kCrowdLanes; lane += kStep) {
    const V offset = hn::LoadU(d, plane.offset + lane);
    V lowest = hn::LoadU(d, gap + lane);
    for (size_t i = 0; i < num_nodes; ++i) {
      const float* at = positions + kCrowdPosition * i + lane;
      const V height = hn::Sub(Dot(normal, LoadCrowd(d, at)), offset);
      const auto is_free = hn::Gt(hn::LoadU(d, at + 3 * kCrowdLanes), hn::Zero(d));
      lowest = hn::Min(lowest, hn::IfThenElse(is_free, height, lowest));
    }
    hn::StoreU(lowest, d, gap + lane);
  }
}

void RaiseReach(size_t num_nodes, size_t stride, const float* vectors, float* farthest) {
  const Lanes16 d;
  const V infinite = hn::Set(d, std::numeric_limits<float>::infinity());
  for (size_t lane = 0; lane < kCrowdLanes; lane += kStep) {
    V reach = hn::LoadU(d, farthest + lane), none = hn::Zero(d);
    for (size_t i = 0; i < num_nodes; ++i) {
      const Xyz<V> x = LoadCrowd(d, vectors + stride * i + lane);
      // A NaN coordinate makes this sum NaN, whatever Max does with it.
      none = hn::Add(none, hn::Mul(hn::Zero(d), hn::Add(x.x, hn::Add(x.y, x.z))));
      reach = hn::Max(reach, hn::Max(hn::Abs(x.x), hn::Max(hn::Abs(x.y), hn::Abs(x.z))));
    }
    hn::StoreU(hn::IfThenElse(hn::Eq(none, hn::Zero(d)), reach, infinite), d, farthest + lane);
  }
}

void Finish(const CrowdBodies& bodies, const float* positions, const Vec3& gravity, float h,
            NodeVec* const* out_x, NodeVec* const* out_v) {
  const Lanes16 d;
  const V inverse = hn::Set(d, 1.0f / h);
  const Vec3 gained = gravity * h;
  for (size_t i = 0; i < bodies.num_nodes; ++i, positions += kCrowdPosition) {
    for (size_t lane = 0; lane < kCrowdLanes; lane += kStep) {
      const Xyz<V> next = LoadCrowd(d, positions + lane);
      V w;
      const V weight = hn::LoadU(d, bodies.weight + lane);
      const Xyz<V> predicted = Predicted(bodies, lane, i, gained, weight, h, &w);
      const Xyz<V> falls = GatherBodies(bodies.v, lane, i, nullptr) + SetAll(gained) * weight;
      const auto is_free = hn::Gt(w, hn::Zero(d));
      const Xyz<V> free_fall = {hn::IfThenElseZero(is_free, falls.x),
                                hn::IfThenElseZero(is_free, falls.y),
                                hn::IfThenElseZero(is_free, falls.z)};
      const Xyz<V> velocity = free_fall + (next - predicted) * inverse;
      ForNodes(d, velocity, hn::Zero(d), [&](size_t k, const auto& block) HWY_ATTR {
        if (out_v[lane + k] != nullptr) StoreBlock(block, &out_v[lane + k][i].x);
      });
      ForNodes(d, next, w, [&](size_t k, const auto& block) HWY_ATTR {
        if (out_x[lane + k] != nullptr) StoreBlock(block, &out_x[lane + k][i].x);
      });
    }
  }
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace plush
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace plush {

HWY_EXPORT(Predict);
HWY_EXPORT(InertialRhs);
HWY_EXPORT(Sum);
HWY_EXPORT(KeepTotal);
HWY_EXPORT(Move);
HWY_EXPORT(LowerGap);
HWY_EXPORT(RaiseReach);
HWY_EXPORT(Finish);

void PredictCrowd(const CrowdBodies& bodies, const Vec3& gravity, const float* falls, float h,
                  float* positions) {
  HWY_DYNAMIC_DISPATCH(Predict)(bodies, gravity, falls, h, positions);
}

void MakeInertialCrowdRhs(const CrowdBodies& bodies, const Vec3& gravity, float h,
                          const float* positions, float* rhs) {
  HWY_DYNAMIC_DISPATCH(InertialRhs)(bodies, gravity, h, positions, rhs);
}

void SumCrowd(size_t num_nodes, const float* v, float* sums) {
  HWY_DYNAMIC_DISPATCH(Sum)(num_nodes, v, sums);
}

void KeepCrowdMomentum(size_t num_nodes, const float* positions, const float* momentum,
                       const float* keeps, float* d) {
  HWY_DYNAMIC_DISPATCH(KeepTotal)(num_nodes, positions, momentum, keeps, d);
}

void MoveCrowd(size_t num_nodes, const float* d, float* positions) {
  HWY_DYNAMIC_DISPATCH(Move)(num_nodes, d, positions);
}

void LowerCrowdGap(size_t num_nodes, const float* positions, const CrowdPlane& plane, float* gap) {
  HWY_DYNAMIC_DISPATCH(LowerGap)(num_nodes, positions, plane, gap);
}

void RaiseCrowdReach(size_t num_nodes, size_t stride, const float* vectors, float* farthest) {
  HWY_DYNAMIC_DISPATCH(RaiseReach)(num_nodes, stride, vectors, farthest);
}

void FinishCrowd(const CrowdBodies& bodies, const float* positions, const Vec3& gravity, float h,
                 NodeVec* const (&out_x)[kCrowdLanes], NodeVec* const (&out_v)[kCrowdLanes]) {
  HWY_DYNAMIC_DISPATCH(Finish)(bodies, positions, gravity, h, out_x, out_v);
}

}  // namespace plush
#endif

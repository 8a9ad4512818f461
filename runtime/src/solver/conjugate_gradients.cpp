// SPDX-License-Identifier: MIT
// Vector operations of conjugate gradients. Sums are single within kChunk nodes and double beyond.
// They add 16 numbers side by side, however many lanes there are, and so have the same bits.
// Source: see conjugate_gradients.h.
#include "solver/conjugate_gradients.h"

#include "base/simd_target.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "solver/conjugate_gradients.cpp"
#include <hwy/foreach_target.h>
// Must follow foreach_target.h.
#include "base/lanes-inl.h"

HWY_BEFORE_NAMESPACE();
namespace plush {
namespace HWY_NAMESPACE {
namespace {

using Lanes4 = hn::CappedTag<float, 4>;
constexpr size_t kN = kLanes<Lanes16>, kN4 = kLanes<Lanes4>;

// Calls of(d, i) for all vectors of `count` nodes' numbers, from number i on.
template <class Of>
HWY_INLINE void ForNumbers(size_t count, const Of& of) {
  size_t i = 0;
  for (; i + kN <= 4 * count; i += kN) of(Lanes16(), i);
  for (; i < 4 * count; i += kN4) of(Lanes4(), i);
}

// Sums the vectors term(d, i).
template <class Term>
HWY_INLINE double SumNumbers(size_t count, const Term& term) {
  constexpr size_t kChunk = 64, kParts = 16 / kN;
  const Lanes16 d;
  const Lanes4 d4;
  double sum = 0.0;
  for (size_t begin = 0; begin < 4 * count; begin += 4 * kChunk) {
    const size_t end = std::min(begin + 4 * kChunk, 4 * count);
    hn::Vec<Lanes16> parts[kParts];
    for (auto& part : parts) part = hn::Zero(d);
    size_t i = begin;
    for (; i + 16 <= end; i += 16) {
      for (size_t p = 0; p < kParts; ++p) parts[p] = hn::Add(parts[p], term(d, i + kN * p));
    }
    HWY_ALIGN float lanes[16];
    for (size_t p = 0; p < kParts; ++p) hn::Store(parts[p], d, lanes + kN * p);
    for (; i < end; i += kN4) {
      float* const at = lanes + i % 4;
      hn::Store(hn::Add(hn::Load(d4, at), term(d4, i)), d4, at);
    }
    for (size_t k = 0; k < 3; ++k) {
      sum += double((lanes[k] + lanes[8 + k]) + (lanes[4 + k] + lanes[12 + k]));
    }
  }
  return sum;
}

double DotOfNodes(const float* a, const float* b, size_t count) {
  return SumNumbers(count, [&](auto d, size_t i) HWY_ATTR {
    return hn::Mul(hn::LoadU(d, a + i), hn::LoadU(d, b + i));
  });
}

// d += s p.
void Add(float s, const float* p, float* sum, size_t count) {
  ForNumbers(count, [&](auto d, size_t i) HWY_ATTR {
    hn::StoreU(Fma(hn::Set(d, s), hn::LoadU(d, p + i), hn::LoadU(d, sum + i)), d, sum + i);
  });
}

double Along(float s, const float* p, const float* q, float* sum, float* r, size_t count) {
  return SumNumbers(count, [&](auto d, size_t i) HWY_ATTR {
    const auto step = hn::Set(d, s);
    hn::StoreU(Fma(step, hn::LoadU(d, p + i), hn::LoadU(d, sum + i)), d, sum + i);
    const auto left = FmaNegated(step, hn::LoadU(d, q + i), hn::LoadU(d, r + i));
    hn::StoreU(left, d, r + i);
    return hn::Mul(left, left);
  });
}

double Residual(float s, float* q, float* r, size_t count) {
  return SumNumbers(count, [&](auto d, size_t i) HWY_ATTR {
    const auto left = FmaNegated(hn::Set(d, s), hn::LoadU(d, q + i), hn::LoadU(d, r + i));
    hn::StoreU(left, d, r + i);
    hn::StoreU(left, d, q + i);
    return hn::Mul(left, left);
  });
}

void Turn(float turn, const float* z, float* p, size_t count) {
  ForNumbers(count, [&](auto d, size_t i) HWY_ATTR {
    hn::StoreU(Fma(hn::Set(d, turn), hn::LoadU(d, p + i), hn::LoadU(d, z + i)), d, p + i);
  });
}

void AddAndTurn(float s, float turn, const float* z, float* p, float* sum, size_t count) {
  ForNumbers(count, [&](auto d, size_t i) HWY_ATTR {
    const auto old = hn::LoadU(d, p + i);
    hn::StoreU(Fma(hn::Set(d, s), old, hn::LoadU(d, sum + i)), d, sum + i);
    hn::StoreU(Fma(hn::Set(d, turn), old, hn::LoadU(d, z + i)), d, p + i);
  });
}

// The masses of one or more nodes, each for its four numbers.
template <class D>
HWY_INLINE hn::Vec<D> LoadMasses(D d, const float* masses, size_t i) {
#if HWY_TARGET != HWY_SCALAR
  if constexpr (kLanes < D >> 4) {
    const hn::Half<D> half;
    return hn::Combine(d, LoadMasses(half, masses, i + kLanes<D> / 2), LoadMasses(half, masses, i));
  }
#endif
  return hn::Set(d, std::max(masses[i / 4], 0.0f));
}

double Masses(const float* masses, const float* p, float* q, size_t count) {
  return SumNumbers(count, [&](auto d, size_t i) HWY_ATTR {
    const auto at = hn::LoadU(d, p + i);
    const auto heavy = hn::Mul(LoadMasses(d, masses, i), at);
    hn::StoreU(heavy, d, q + i);
    return hn::Mul(heavy, at);
  });
}

void Clear(const float* masses, NodeVec* q, size_t count) {
  const Lanes16 d;
  const auto clear = [=](size_t i) HWY_ATTR {
    if (masses[i] < 0.0f) q[i] = NodeVec();
  };
  size_t i = 0;
  for (; i + kN <= count; i += kN) {
    if (hn::AllFalse(d, hn::Lt(hn::LoadU(d, masses + i), hn::Zero(d)))) continue;
    for (size_t k = 0; k < kN; ++k) clear(i + k);
  }
  for (; i < count; ++i) clear(i);
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace plush
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace plush {

HWY_EXPORT(DotOfNodes);
HWY_EXPORT(Add);
HWY_EXPORT(Along);
HWY_EXPORT(Residual);
HWY_EXPORT(Turn);
HWY_EXPORT(AddAndTurn);
HWY_EXPORT(Masses);
HWY_EXPORT(Clear);

double DotProduct(std::span<const NodeVec> a, std::span<const NodeVec> b) {
  return HWY_DYNAMIC_DISPATCH(DotOfNodes)(&a[0].x, &b[0].x, a.size());
}

void AddScaled(float s, std::span<const NodeVec> p, std::span<NodeVec> d) {
  HWY_DYNAMIC_DISPATCH(Add)(s, &p[0].x, &d[0].x, d.size());
}

double MoveAlong(float a, std::span<const NodeVec> p, std::span<const NodeVec> q,
                 std::span<NodeVec> d, std::span<NodeVec> r) {
  return HWY_DYNAMIC_DISPATCH(Along)(a, &p[0].x, &q[0].x, &d[0].x, &r[0].x, r.size());
}

double MoveResidual(float a, std::span<NodeVec> q, std::span<NodeVec> r) {
  return HWY_DYNAMIC_DISPATCH(Residual)(a, &q[0].x, &r[0].x, r.size());
}

void TurnDirection(float b, std::span<const NodeVec> z, std::span<NodeVec> p) {
  if (b == 0.0f) {
    std::copy(z.begin(), z.end(), p.begin());
  } else {
    HWY_DYNAMIC_DISPATCH(Turn)(b, &z[0].x, &p[0].x, p.size());
  }
}

void MoveAndTurn(float a, float b, std::span<const NodeVec> z, std::span<NodeVec> p,
                 std::span<NodeVec> d) {
  HWY_DYNAMIC_DISPATCH(AddAndTurn)(a, b, &z[0].x, &p[0].x, &d[0].x, p.size());
}

double MultiplyMasses(std::span<const float> masses, std::span<const NodeVec> p,
                      std::span<NodeVec> q) {
  return HWY_DYNAMIC_DISPATCH(Masses)(masses.data(), &p[0].x, &q[0].x, p.size());
}

void ClearHeld(std::span<const float> masses, std::span<NodeVec> q) {
  HWY_DYNAMIC_DISPATCH(Clear)(masses.data(), q.data(), masses.size());
}

}  // namespace plush
#endif

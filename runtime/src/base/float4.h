// SPDX-License-Identifier: MIT
// Four floats at once if the compiler has vectors; otherwise the same arithmetic one by one.
//
// Every lane rounds like a single float, so results depend neither on which of the two is compiled
// nor on the instruction set.
#pragma once

#include <cstdint>
#include <cstring>

namespace plush {

#if defined(__GNUC__) && !defined(PLUSH_SCALAR_LANES)

using Float4 = float __attribute__((vector_size(16)));

inline Float4 Min(Float4 a, Float4 b) { return a < b ? a : b; }  ///< b if either is NaN
inline Float4 Max(Float4 a, Float4 b) { return a > b ? a : b; }  ///< b if either is NaN

/// `value`, but at least `least` > 0 away from zero.
inline Float4 AwayFromZero(Float4 value, Float4 least) {
  return value < 0.0f ? Min(value, -least) : Max(value, least);
}

/// Lanes (a[I], a[J], b[K], b[L]).
template <int I, int J, int K, int L>
inline Float4 Shuffle(Float4 a, Float4 b) {
  return __builtin_shufflevector(a, b, I, J, 4 + K, 4 + L);
}

#else

struct Float4 {
  float lanes[4];
  float& operator[](int i) { return lanes[i]; }
  float operator[](int i) const { return lanes[i]; }
};

template <class Operation>
inline Float4 ForLanes(Operation operation) {
  return {{operation(0), operation(1), operation(2), operation(3)}};
}
inline Float4 operator+(Float4 a, Float4 b) {
  return ForLanes([&](int i) { return a[i] + b[i]; });
}
inline Float4 operator-(Float4 a, Float4 b) {
  return ForLanes([&](int i) { return a[i] - b[i]; });
}
inline Float4 operator*(Float4 a, Float4 b) {
  return ForLanes([&](int i) { return a[i] * b[i]; });
}
inline Float4 operator/(Float4 a, Float4 b) {
  return ForLanes([&](int i) { return a[i] / b[i]; });
}
inline Float4 operator-(Float4 a) {
  return ForLanes([&](int i) { return -a[i]; });
}
inline Float4 Min(Float4 a, Float4 b) {
  return ForLanes([&](int i) { return a[i] < b[i] ? a[i] : b[i]; });
}
inline Float4 Max(Float4 a, Float4 b) {
  return ForLanes([&](int i) { return a[i] > b[i] ? a[i] : b[i]; });
}
inline Float4 AwayFromZero(Float4 value, Float4 least) {
  return ForLanes([&](int i) {
    const float away = value[i] < 0.0f ? -value[i] : value[i];
    const float most = away > least[i] ? away : least[i];
    return value[i] < 0.0f ? -most : most;
  });
}
template <int I, int J, int K, int L>
inline Float4 Shuffle(Float4 a, Float4 b) {
  return {{a[I], a[J], b[K], b[L]}};
}

#endif

inline Float4 Broadcast(float value) { return Float4{value, value, value, value}; }

inline Float4 Load4(const float* from) {
  Float4 value;
  std::memcpy(&value, from, sizeof value);
  return value;
}
inline void Store4(Float4 value, float* to) { std::memcpy(to, &value, sizeof value); }

inline float LeastOf(Float4 a) {
  const Float4 pairs = Min(a, Shuffle<2, 3, 0, 1>(a, a));
  return Min(pairs, Shuffle<1, 0, 3, 2>(pairs, pairs))[0];
}
inline float GreatestOf(Float4 a) {
  const Float4 pairs = Max(a, Shuffle<2, 3, 0, 1>(a, a));
  return Max(pairs, Shuffle<1, 0, 3, 2>(pairs, pairs))[0];
}

/// The greatest lane of `a` and the least lane of `b`.
struct GreatestAndLeast {
  float greatest, least;
};
inline GreatestAndLeast Extremes(Float4 a, Float4 b) {
  const Float4 negative = -b;
  const Float4 halves = Max(Shuffle<0, 1, 0, 1>(a, negative), Shuffle<2, 3, 2, 3>(a, negative));
  const Float4 both = Max(halves, Shuffle<1, 0, 3, 2>(halves, halves));
  return {both[0], -both[2]};
}

/// The four bytes of `bits` as floats, lowest byte first.
inline Float4 BytesToFloats(uint32_t bits) {
#if defined(__GNUC__) && !defined(PLUSH_SCALAR_LANES)
  using Bytes = uint8_t __attribute__((vector_size(16)));
  using Words = int32_t __attribute__((vector_size(16)));
  using Quarters = uint32_t __attribute__((vector_size(16)));
  const Bytes zero = {};
  const Bytes bytes = reinterpret_cast<Bytes>(Quarters{bits, 0, 0, 0});
  const Bytes halves =
      __builtin_shufflevector(bytes, zero, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
  const Bytes words =
      __builtin_shufflevector(halves, zero, 0, 1, 16, 17, 2, 3, 18, 19, 4, 5, 20, 21, 6, 7, 22, 23);
  return __builtin_convertvector(reinterpret_cast<Words>(words), Float4);
#else
  return {{static_cast<float>(bits & 0xffu), static_cast<float>(bits >> 8 & 0xffu),
           static_cast<float>(bits >> 16 & 0xffu), static_cast<float>(bits >> 24)}};
#endif
}

/// Transposes a 4x4 matrix in four registers.
inline void Transpose4(Float4* a, Float4* b, Float4* c, Float4* d) {
  const Float4 low_ab = Shuffle<0, 1, 0, 1>(*a, *b), high_ab = Shuffle<2, 3, 2, 3>(*a, *b);
  const Float4 low_cd = Shuffle<0, 1, 0, 1>(*c, *d), high_cd = Shuffle<2, 3, 2, 3>(*c, *d);
  *a = Shuffle<0, 2, 0, 2>(low_ab, low_cd);
  *b = Shuffle<1, 3, 1, 3>(low_ab, low_cd);
  *c = Shuffle<0, 2, 0, 2>(high_ab, high_cd);
  *d = Shuffle<1, 3, 1, 3>(high_ab, high_cd);
}

}  // namespace plush

// SPDX-License-Identifier: MIT
// Source: rounded_signs.h.
#include "intersection/rounded_signs.h"

#include "base/simd_target.h"

#include <limits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "intersection/rounded_signs.cpp"
#include <hwy/foreach_target.h>
// Must follow foreach_target.h.
#include "base/lanes-inl.h"

HWY_BEFORE_NAMESPACE();
namespace plush {
namespace HWY_NAMESPACE {
namespace {

using V = hn::Vec<Lanes16>;
using Bits16 = hn::RebindToUnsigned<Lanes16>;
using Vector = Xyz<V>;

// |x| + |y| + |z|
HWY_INLINE V SumNorm(const Vector& a) {
  return hn::Add(hn::Add(hn::Abs(a.x), hn::Abs(a.y)), hn::Abs(a.z));
}

// Collects signs of determinants in bits.
struct Signs {
  hn::Vec<Bits16> positive = hn::Zero(Bits16());
  hn::Mask<Lanes16> are_known = hn::FirstN(Lanes16(), kLanes<Lanes16>);
  hn::Mask<Lanes16> all_above, all_below;  // since Begin

  HWY_INLINE Signs() { Begin(); }
  HWY_INLINE void Begin() { all_above = all_below = hn::FirstN(Lanes16(), kLanes<Lanes16>); }

  // With u = 2^-24, and norms that sum components: the three vectors err by u each, the product of
  // two by 3 u more, its product with the third by 4 u. In all less than 12 u times the norms.
  HWY_INLINE void Add(V determinant, V norms, uint32_t bit) {
    const Lanes16 d;
    const Bits16 du;
    const V rounding = hn::Set(d, 12.0f * 0.5f * std::numeric_limits<float>::epsilon());
    const V error = Fma(norms, rounding, hn::Set(d, 1.0e-25f));  // the latter for underflow
    const auto above = hn::Gt(determinant, error), below = hn::Lt(determinant, hn::Neg(error));
    all_above = hn::And(all_above, above);
    all_below = hn::And(all_below, below);
    are_known = hn::And(are_known, hn::Or(above, below));
    positive =
        hn::Or(positive, hn::IfThenElseZero(hn::RebindMask(du, above), hn::Set(du, 1u << bit)));
  }
};

// Where SegmentOf finds no segment, for many signs at once.
HWY_INLINE hn::Mask<Bits16> HaveNoSegment(hn::Vec<Bits16> signs) {
  const Bits16 du;
  const auto all = [du](uint32_t bits) HWY_ATTR { return hn::Set(du, bits); };
  const auto next = hn::Or(hn::And(hn::ShiftRight<1>(signs), all(0b011011u)),
                           hn::And(hn::ShiftLeft<2>(signs), all(0b100100u)));
  const auto rows = hn::Xor(signs, hn::ShiftRight<1>(signs));
  const auto columns = hn::Xor(signs, hn::ShiftRight<3>(signs));
  const auto row = hn::Or(rows, hn::ShiftRight<1>(rows));
  const auto column = hn::Or(columns, hn::ShiftRight<3>(columns));
  const auto apart = hn::Or(
      hn::Or(hn::And(hn::ShiftRight<6>(row), all(1u)), hn::And(hn::ShiftRight<8>(row), all(2u))),
      hn::Or(hn::And(hn::ShiftRight<10>(row), all(4u)),
             hn::And(hn::ShiftRight<3>(column), all(0b111000u))));
  const auto pierce = hn::AndNot(apart, hn::And(hn::Xor(signs, next), all(0b111111u)));
  const auto starts = hn::And(pierce, hn::Xor(next, all(0b111000u)));
  const auto ends = hn::AndNot(starts, pierce);
  const auto zero = hn::Zero(du);
  const auto more =
      hn::Or(hn::And(starts, hn::Sub(starts, all(1u))), hn::And(ends, hn::Sub(ends, all(1u))));
  return hn::Or(hn::Ne(more, zero), hn::Or(hn::Eq(starts, zero), hn::Eq(ends, zero)));
}

HWY_INLINE void LoadCorners(const float* from, const uint32_t (*columns)[CornerColumns::kMost],
                            size_t i, Vector corners[3]) {
  const Lanes16 d;
  const hn::RebindToSigned<Lanes16> di;
  for (int k = 0; k < 3; ++k) {
    const auto at = hn::BitCast(di, hn::LoadU(Bits16(), &columns[k][i]));
    corners[k].x = hn::GatherIndex(d, from, at);
    corners[k].y = hn::GatherIndex(d, from + 1, at);
    corners[k].z = hn::GatherIndex(d, from + 2, at);
  }
}

void FindSigns(const float* moved, const float* fixed, const CornerColumns& corners, size_t count,
               uint32_t* bits) {
  const Lanes16 d;
  const Bits16 du;
  constexpr size_t N = kLanes<Lanes16>;
  for (size_t i = 0; i < count; i += N) {
    Vector p[3], q[3], edges_p[3], edges_q[3];
    V norms_p[3], norms_q[3];
    LoadCorners(moved, corners.moved, i, p);
    LoadCorners(fixed, corners.fixed, i, q);
    for (int k = 0; k < 3; ++k) {
      edges_p[k] = p[(k + 1) % 3] - p[k];
      edges_q[k] = q[(k + 1) % 3] - q[k];
      norms_p[k] = SumNorm(edges_p[k]);
      norms_q[k] = SumNorm(edges_q[k]);
    }
    Signs signs;
    // Sides of the corners of each: (b - a) x (c - a) . (corner - a).
    const Vector second_q = q[2] - q[0], second_p = p[2] - p[0];
    const Vector normal_q = Cross(edges_q[0], second_q), normal_p = Cross(edges_p[0], second_p);
    const V norm_q = hn::Mul(norms_q[0], SumNorm(second_q));
    const V norm_p = hn::Mul(norms_p[0], SumNorm(second_p));
    for (uint32_t k = 0; k < 3; ++k) {
      const Vector away = p[k] - q[0];
      signs.Add(Dot(normal_q, away), hn::Mul(norm_q, SumNorm(away)), k);
    }
    auto are_apart = hn::Or(signs.all_above, signs.all_below);
    signs.Begin();
    for (uint32_t k = 0; k < 3; ++k) {
      const Vector away = q[k] - p[0];
      signs.Add(Dot(normal_p, away), hn::Mul(norm_p, SumNorm(away)), 3 + k);
    }
    are_apart = hn::Or(are_apart, hn::Or(signs.all_above, signs.all_below));
    if (!hn::AllTrue(d, are_apart)) {
      // Edge i of the moved and j of the fixed one: (p' - p) x (q - p) . (q' - p).
      for (uint32_t k = 0; k < 3; ++k) {
        Vector ways[3];
        V norms[3];
        for (int j = 0; j < 3; ++j) ways[j] = q[j] - p[k], norms[j] = SumNorm(ways[j]);
        for (uint32_t j = 0; j < 3; ++j) {
          const uint32_t next = (j + 1) % 3;
          signs.Add(Dot(Cross(edges_p[k], ways[j]), ways[next]),
                    hn::Mul(hn::Mul(norms_p[k], norms[j]), norms[next]), 6 + 3 * k + j);
        }
      }
    }
    const auto are_known = hn::RebindMask(du, signs.are_known);
    const auto do_not =
        hn::Or(hn::RebindMask(du, are_apart), hn::And(are_known, HaveNoSegment(signs.positive)));
    const auto known = hn::IfThenElseZero(are_known, hn::Set(du, kSignsKnown));
    const auto apart = hn::IfThenElseZero(do_not, hn::Set(du, kTrianglesApart));
    hn::StoreU(hn::Or(signs.positive, hn::Or(known, apart)), du, bits + i);
  }
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace plush
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace plush {

HWY_EXPORT(FindSigns);

void RoundedSigns(const float* moved, const float* fixed, const CornerColumns& corners,
                  size_t count, uint32_t* bits) {
  HWY_DYNAMIC_DISPATCH(FindSigns)(moved, fixed, corners, count, bits);
}

}  // namespace plush
#endif

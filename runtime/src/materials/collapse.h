// SPDX-License-Identifier: MIT
// Which features of a tet came together when it collapsed.
// Based on:
// Civit. Interactive simulation of detailed deformable solids (thesis), 4.4.1: [Civ].
//
// F(t) = F0 + t (F1 - F0) is the deformation gradient while the nodes move on lines from t = 0
// to 1.
#pragma once

#include "materials/first_root.h"
#include "materials/singular_values.h"

#include <cstdint>

namespace plush {

/// The pair of features (A, B) of a collapsed tet: bit i is 1 if node i belongs to A. One bit for a
/// vertex and the opposite face; two bits, one of them node 0's, for two opposite edges.
using Witness = uint8_t;
/// A tet that is not degenerate.
inline constexpr Witness kNoWitness = 0;

/// Whether `witness` is kNoWitness or one of the seven pairs. For numbers from files.
constexpr bool IsWitness(uint8_t witness) {
  switch (witness) {
    case 0b0000:
    case 0b0001:
    case 0b0010:
    case 0b0100:
    case 0b1000:
    case 0b0011:
    case 0b0101:
    case 0b1001:
      return true;
    default:
      return false;
  }
}

/// The pair whose feature A or B is `nodes` (four bits, at least one 0 and one 1).
constexpr Witness WitnessOf(uint8_t nodes) {
  const auto others = static_cast<uint8_t>(~nodes & 0b1111);
  return IsWitness(nodes) ? nodes : others;
}

/// The pair of a tet with edge matrix `Ds` (x_b - x_a, x_c - x_a, x_d - x_a) [m]: the Radon
/// partition of its nodes once flattened along the smallest singular direction of Ds. The flattened
/// matrix has the null vector v, the last right singular vector of Ds. So the flattened nodes
/// fulfil v.x (x_b - x_a) + v.y (x_c - x_a) + v.z (x_d - x_a) = 0, and the signs of the nodes'
/// coefficients
/// -(v.x + v.y + v.z), v.x, v.y, v.z are the partition. A node with coefficient 0 may go to either
/// side: the direction in which the features met is the same.
template <class T>
Witness FlattenedWitness(const Matrix3<T>& Ds) {
  const Vector3<T> v = DecomposeSingular(Ds).V.c2;
  const T first = -(v.x + v.y + v.z);
  const auto nodes = static_cast<uint8_t>((first > T(0) ? 1 : 0) | (v.x > T(0) ? 2 : 0) |
                                          (v.y > T(0) ? 4 : 0) | (v.z > T(0) ? 8 : 0));
  return WitnessOf(nodes);  // v is not zero, so neither side is empty
}

/// The first t in [0, 1] with det F(t) <= alpha, or nothing [Civ, 4.4.1]. det F(t) is the cubic
/// det F0 + t cof(F0) : D + t^2 cof(D) : F0 + t^3 det D with D = F1 - F0.
template <class T>
std::optional<T> FirstCollapse(const Matrix3<T>& F0, const Matrix3<T>& F1, T alpha) {
  const Matrix3<T> D = F1 - F0;
  return FirstRoot<T>(
      {Determinant(F0) - alpha, Inner(Cofactor(F0), D), Inner(Cofactor(D), F0), Determinant(D)});
}

/// A tet's witness pair after a step from gradient F0 to F1, with `witness` before it:
/// - none if det F1 >= alpha. An even number of collapses within the step corrects itself;
/// - that before the step, if there was one;
/// - else the pair at the first collapse, at t = 0 if the tet began below alpha.
/// `dm_inv` is Dm^-1 [1/m], 0 < alpha < 1. A gradient that is not finite changes nothing. Does not
/// allocate.
template <class T>
Witness UpdateWitness(Witness witness, const Matrix3<T>& F0, const Matrix3<T>& F1,
                      const Matrix3<T>& dm_inv, double alpha) {
  if (!IsFinite(F0) || !IsFinite(F1)) return witness;
  const auto begin = Cast<double>(F0), end = Cast<double>(F1), inverse = Cast<double>(dm_inv);
  if (Determinant(end) >= alpha) return kNoWitness;
  if (witness != kNoWitness) return witness;
  // The end is below alpha. Where rounding of the cubic disagrees, that is where it collapses.
  const double t = FirstCollapse(begin, end, alpha).value_or(1.0);
  // Dm up to the positive factor det Dm^-1, which moves no singular vector.
  const Matrix3<double> dm = Transpose(Cofactor(inverse));
  return FlattenedWitness((begin + (end - begin) * t) * dm);
}

}  // namespace plush

// SPDX-License-Identifier: MIT
// One linear tetrahedron: deformation gradient, and how a stress acts on its nodes.
// Based on:
// Tassilo Kugelstadt, Dan Koschier, Jan Bender. Fast Corotated FEM using Operator Splitting. 2018
#pragma once

#include "plush/types.h"

#include "base/vector_math.h"

#include <span>

namespace plush {

/// F = Ds Dm^-1 [Kug, Eq. 4] for node positions x_a .. x_d.
inline Mat3 DeformationGradient(const Vec3& xa, const Vec3& xb, const Vec3& xc, const Vec3& xd,
                                const Mat3& dm_inv) {
  return Mat3{xb - xa, xc - xa, xd - xa} * dm_inv;
}

/// The derivatives of a scalar by the positions of nodes b, c, d (the columns), from its derivative
/// P by F: dPsi/dDs = P Dm^-T. That by node a is minus their sum.
inline Mat3 NodeGradients(const Mat3& P, const Mat3& dm_inv) { return P * Transpose(dm_inv); }

/// Adds `gradients` (of b, c, d) times `scale` to the nodes' entries, Vec3 or NodeVec, minus their
/// sum to node a's.
template <class Node>
void ScatterNodeGradients(const Tet& tet, const Mat3& gradients, float scale, std::span<Node> out) {
  const Vec3 b = gradients.c0 * scale, c = gradients.c1 * scale, d = gradients.c2 * scale;
  out[tet.b] += b;
  out[tet.c] += c;
  out[tet.d] += d;
  out[tet.a] -= b + c + d;
}

}  // namespace plush

// SPDX-License-Identifier: MIT
// The loops of a step over the nodes: a few operations on each, as fast as memory gives them.
//
// The fourth number of a position is the node's inverse mass [1/kg], 0 where it is pinned, and of a
// velocity or displacement 0: the loops compute all four lanes alike.
#pragma once

#include "base/node_vec.h"

#include <span>

namespace plush {

/// y = x + (v + gravity h) h where nodes are free, x elsewhere: where they are at the end of a
/// substep of `h` seconds without forces in the body.
void PredictNodes(std::span<const NodeVec> x, std::span<const NodeVec> v, const Vec3& gravity,
                  float h, std::span<NodeVec> y);

/// rhs = M (predicted - y), zero where nodes are pinned.
void MakeInertialRhs(std::span<const NodeVec> x, std::span<const NodeVec> v, const Vec3& gravity,
                     float h, std::span<const NodeVec> y, std::span<NodeVec> rhs);

/// rhs = 0 where nodes are pinned.
void ClearPinned(std::span<const NodeVec> x, std::span<NodeVec> rhs);

/// Sum of the vectors.
Vec3 SumVectors(std::span<const NodeVec> v);

/// Adds the same vector to all of d, such that sum m d = momentum: what a solve loses of it by
/// rounding, which for stiff and light bodies is far more than that of d (1 GPa: they would drift).
/// `x`: with inverse masses, all above 0.
void KeepMomentum(std::span<const NodeVec> x, const Vec3& momentum, std::span<NodeVec> d);

/// y += d. Returns the longest component of d.
float MoveNodes(std::span<const NodeVec> d, std::span<NodeVec> y);

/// Whether all of y and of (y - x) / h is finite, and y within +-`limit`.
bool CanMoveTo(std::span<const NodeVec> x, std::span<const NodeVec> y, const Vec3& limit, float h);

/// v += gravity h + (y - predicted) / h, x = y; pinned nodes have no velocity. That is (y - x) / h,
/// without the rounding of positions: a falling body would gather it.
void FinishNodes(std::span<const NodeVec> y, const Vec3& gravity, float h, std::span<NodeVec> x,
                 std::span<NodeVec> v);

/// Length of the longest vector.
float LongestVector(std::span<const NodeVec> v);

}  // namespace plush

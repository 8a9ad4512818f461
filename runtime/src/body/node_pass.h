// SPDX-License-Identifier: MIT
// Node loops of a step: a few operations per node, limited by memory bandwidth.
//
// The fourth number of a position is the inverse mass [1/kg], 0 if the node is pinned; that of a
// velocity or displacement is 0. The loops treat all four numbers alike.
#pragma once

#include "base/node_vec.h"

#include <span>

namespace plush {

/// y = x + (v + gravity h) h for free nodes, x for pinned ones: positions after a substep of `h`
/// seconds without internal forces.
void PredictNodes(std::span<const NodeVec> x, std::span<const NodeVec> v, const Vec3& gravity,
                  float h, std::span<NodeVec> y);

/// rhs = M (predicted - y) for free nodes, 0 for pinned ones.
void MakeInertialRhs(std::span<const NodeVec> x, std::span<const NodeVec> v, const Vec3& gravity,
                     float h, std::span<const NodeVec> y, std::span<NodeVec> rhs);

/// rhs -= drag h M (y - x) for free nodes: a drag by mass [1/s] in a substep of `h` seconds.
void AddDrag(std::span<const NodeVec> x, std::span<const NodeVec> y, float drag, float h,
             std::span<NodeVec> rhs);

/// rhs = 0 for pinned nodes.
void ClearPinned(std::span<const NodeVec> x, std::span<NodeVec> rhs);

Vec3 SumVectors(std::span<const NodeVec> v);

/// Adds one vector to every element of d so that sum m d = momentum. A solve's rounding changes the
/// momentum; at 1 GPa, light bodies would drift. All inverse masses in `x` must be above 0.
void KeepMomentum(std::span<const NodeVec> x, const Vec3& momentum, std::span<NodeVec> d);

/// y += d. Returns the longest component of d.
float MoveNodes(std::span<const NodeVec> d, std::span<NodeVec> y);

/// Whether all of y and (y - x) / h are finite, and y lies within +-`limit`.
bool CanMoveTo(std::span<const NodeVec> x, std::span<const NodeVec> y, const Vec3& limit, float h);

/// v += gravity h + (y - predicted) / h for free nodes, v = (y - x) / h for pinned ones; then
/// next = y, which may be x. The result is (y - x) / h without the rounding of positions, which
/// would add up in a falling body.
void FinishNodes(std::span<const NodeVec> x, std::span<const NodeVec> y, const Vec3& gravity,
                 float h, std::span<NodeVec> v, std::span<NodeVec> next);

/// Whether a vector differs from the first one by more than `most`.
bool AnyDiffers(std::span<const NodeVec> v, float most);

/// Length of the longest vector.
float LongestVector(std::span<const NodeVec> v);

}  // namespace plush

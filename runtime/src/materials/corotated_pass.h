// SPDX-License-Identifier: MIT
// Forces of the corotated materials and their differentials for all tets of a body, 16 at once.
// Based on:
// Civit. Interactive simulation of detailed deformable solids (thesis), chapter 3: [Civ].
#pragma once

#include "base/node_vec.h"
#include "elasticity/elements.h"
#include "materials/material.h"

#include <cstddef>
#include <span>

namespace plush {

/// Adds the elastic forces [N] at positions `x` [m] to `forces` (num_nodes + 1 x 1 each):
/// -V P Dm^-T on nodes b, c, d of each tet, and what balances them on node a [Civ, Eq. 2.53 and
/// 2.54]. P is Stress of `material`, kCorotated or kCorrectedCorotated, with `rotations`, which
/// FindRotations (element_pass.h) has found at `x`. Only blocks [begin, end) count. Does not
/// allocate.
void AddCorotatedForces(Material material, const ElementView& elements, std::span<const NodeVec> x,
                        size_t begin, size_t end, const RotationView& rotations,
                        std::span<NodeVec> forces);

/// Adds the change [N] of these forces for displacements `dx` [m] to `forces`: -V dP Dm^-T with dP
/// of DifferentialOfStress and the differential of polar rotations [Civ, Eq. 3.13 to 3.23]. So
/// minus this is K dx: symmetric, and positive semidefinite but for kExact. Same shapes and
/// conditions as AddCorotatedForces. Does not allocate.
void AddCorotatedDifferentials(DifferentialKind kind, Material material,
                               const ElementView& elements, std::span<const NodeVec> x,
                               std::span<const NodeVec> dx, size_t begin, size_t end,
                               const RotationView& rotations, std::span<NodeVec> forces);

}  // namespace plush

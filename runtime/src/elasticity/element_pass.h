// SPDX-License-Identifier: MIT
// The step's pass over the tets: deformation gradients, rotations and right-hand side.
// Based on:
// Tassilo Kugelstadt, Dan Koschier, Jan Bender. Fast Corotated FEM using Operator Splitting. 2018
#pragma once

#include "base/node_vec.h"
#include "elasticity/elements.h"

#include <cstddef>
#include <cstdint>
#include <span>

namespace plush {

/// Adds dt^2 times the forces of the tets at positions `x` [m] to `rhs` [kg m] (num_nodes + 1 x 1
/// each):
/// - the stretch term, with rotations by APD, warm-started from and stored to `rotations`;
/// - the volume term by its multipliers, kappa_t grad C_t [Kug, Eq. 12 and 16];
/// - unless `stretches` is empty, the viscous potential (beta / dt) mu V |F - R S|^2, where S is
///   the `stretches` at the start of the step; it is zero for a rigid motion.
///
/// `kappa`: [kg m^2] (16 num_blocks x 1); `stretches`: by block (9 x 16 num_blocks). Only blocks
/// [begin, end) count. If settings.relaxation c > 0, each multiplier first moves towards its law:
///   kappa += s (-p V dt^2 - kappa), p the pressure of settings.law.
/// RelaxedMultiplier (tet_lanes-inl.h) says what s is. One solve with A answers a multiplier's
/// error by several times the error, and s makes the step that removes it. Returns the lowest det
/// F, at most 1. Does not allocate.
float AddElasticImpulses(const ElementView& elements, std::span<const NodeVec> x,
                         const ElementSettings& settings, std::span<const float> stretches,
                         std::span<float> kappa, size_t begin, size_t end,
                         const RotationView& rotations, std::span<NodeVec> rhs);

/// Finds the rotations of the tets in blocks [begin, end) at positions `x`, as AddElasticImpulses
/// does. Threads that share a large body call this first, and then AddElasticImpulses with no
/// iterations. Does not allocate.
void FindRotations(const ElementView& elements, std::span<const NodeVec> x, int polar_iterations,
                   size_t begin, size_t end, const RotationView& rotations);

/// Computes S = R^T F of every tet at positions `x`, by block (9 x 16 num_blocks). Damping acts
/// against the change of stretch since S. The rotations R are found anew by APD, warm-started from
/// and stored to `rotations`: those of the last solve lag behind its result, and an S with that lag
/// would keep turning the tet. Does not allocate.
void ComputeStretches(const ElementView& elements, std::span<const NodeVec> x, int polar_iterations,
                      const RotationView& rotations, std::span<float> stretches);

/// ElementSummary::elastic_j [J] at positions `x` (num_nodes + 1 x 1), in a fraction of the time of
/// SummariseElements. Rotations are found as in AddElasticImpulses, warm-started from `rotations`,
/// which stay as they are. An error of theirs changes the energy to second order. Does not
/// allocate.
double ElasticEnergy(const ElementView& elements, std::span<const NodeVec> x, const VolumeLaw& law,
                     int polar_iterations, const RotationView& rotations);

/// Bodies of a crowd. With c numbers per node or tet, number k of node or tet i of the body in lane
/// l is at [16 (c i + k) + l].
inline constexpr size_t kCrowdLanes = 16;

/// Numbers per node of a crowd's positions: x, y, z [m] and the inverse mass [1/kg].
inline constexpr size_t kCrowdPosition = 4 * kCrowdLanes;
/// Numbers per node of a crowd's right-hand sides: x, y, z.
inline constexpr size_t kCrowdVector = 3 * kCrowdLanes;
/// Numbers per place of a crowd's rotations.
inline constexpr size_t kCrowdRotation = 4 * kCrowdLanes;

/// AddElasticImpulses for an undamped crowd: `positions` (num_nodes x 4 x 16), `kappa` by place (16
/// num_blocks x 16), `rotations` by place (16 num_blocks x 4 x 16), `rhs` (num_nodes x 3 x 16).
/// Lanes whose `active` (16 x 1) is not above zero keep their rotations and get no impulses. Unless
/// `tets` ((end - begin) x 1) is empty, its bit i is 1 if the tet at place i of the block counts.
/// Lowers `lowest_det_f` (16 x 1) to the tets' det F. Does not allocate.
void AddCrowdImpulses(const ElementView& elements, const float* positions,
                      const ElementSettings& settings, float* kappa, const float* active,
                      size_t begin, size_t end, float* rotations, float* rhs, float* lowest_det_f,
                      std::span<const uint16_t> tets = {});

}  // namespace plush

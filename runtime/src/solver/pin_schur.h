// SPDX-License-Identifier: MIT
// A few pinned nodes beyond those of a factor, so that bodies with different pins can share it.
//
// Pinned nodes do not move: E^T x = 0, where E selects them. With A^-1 from the shared factor,
// x = A^-1 (b + E lambda), lambda = -S^-1 E^T A^-1 b and S = E^T A^-1 E. One S serves all axes.
#pragma once

#include "plush/allocator.h"
#include "plush/types.h"

#include "base/array.h"
#include "base/node_vec.h"

#include <cstddef>
#include <cstdint>
#include <span>

namespace plush {

struct PanelFactor;

/// Most nodes pinned beyond the factor's: 63 degrees of freedom.
inline constexpr uint32_t kMaxExtraPins = 21;

/// The pinned nodes, and the Cholesky factor of S.
struct PinSchur {
  std::span<const uint32_t> nodes;   ///< ascending (num_pins x 1)
  std::span<const double> cholesky;  ///< lower triangle by rows [1/sqrt(kg)] (num_pins x num_pins)
};

/// Computes the Cholesky factor of S into `cholesky` (num_pins^2 x 1) by solves with `factor`,
/// ignoring factor.pins. `workspace` as for SolvePanels; `scratch`: (num_nodes + 1 x 1). Does not
/// allocate. Returns false if S is not positive definite, or only barely.
bool FactorPinSchur(const PanelFactor& factor, std::span<const uint32_t> nodes,
                    std::span<float> workspace, std::span<NodeVec> scratch,
                    std::span<double> cholesky);

/// Replaces the pinned nodes' displacements (num_pins x 1) by the impulses lambda that undo them.
void SolvePinImpulses(const PinSchur& pins, std::span<Vec3> moves);

}  // namespace plush

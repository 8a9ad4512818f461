// SPDX-License-Identifier: MIT
// The splitting step's linear solve with displacements held along some directions.
//
// Minimises 1/2 d^T A d - b^T d subject to direction . d_node = target for every row. The
// multipliers are the impulses that hold the nodes. Two methods:
// - few rows: exact, by the Schur complement of the rows;
// - many rows: a fixed number of conjugate-gradient steps in the free directions, preconditioned
//   with the factor of A.
// Based on:
// Jorge Nocedal, Stephen Wright. Numerical Optimization. 2006
// (ch. 16, Schur-complement and projected CG methods for equality constraints)
#pragma once

#include "plush/types.h"

#include "base/array.h"
#include "base/node_vec.h"
#include "solver/panel_solve.h"
#include "solver/system_matrix.h"

#include <cstdint>
#include <span>

namespace plush {

/// Most held degrees of freedom that the Schur-complement solve takes.
inline constexpr uint32_t kMaxSchurRows = 96;

/// One held degree of freedom.
struct HeldRow {
  uint32_t node = 0;
  Vec3 direction;           ///< unit
  float target = 0.0f;      ///< displacement of the node along it [m]
  float compliance = 0.0f;  ///< how far the displacement may fall short of the target, per
                            ///< multiplier [1/kg]; must be 0 for SolveHeldIterative
  double multiplier = 0.0;  ///< out: impulse times dt along it [kg m]
};

/// A factor, and the matrix it belongs to.
struct FactoredSystem {
  SystemView system;
  PanelFactor factor;
  std::span<float> workspace;  ///< of solves (PanelWorkspaceSize x 1)
  uint64_t id = 0;             ///< identifies the factor among those of its matrix; never 0
};

/// Working memory of held solves, allocated once per body. Keeps the couplings of held nodes
/// through A^-1 between solves. So a result's rounding depends on which nodes were held before.
struct HeldSolveWorkspace {
  uint64_t factor_id = 0;
  Array<float> couplings;        ///< of A^-1, symmetric, by slots (kMaxSchurRows x kMaxSchurRows)
  Array<uint32_t> slot_of_node;  ///< slot in `couplings`, or kNoSlot (num_nodes x 1)
  uint32_t node_of_slot[kMaxSchurRows] = {};
  bool used[kMaxSchurRows] = {};  ///< whether the current solve needs the slot
  uint32_t num_slots = 0;
  Array<double> schur;      ///< (kMaxSchurRows x kMaxSchurRows)
  Array<NodeVec> residual;  ///< of conjugate gradients, like the next three (num_nodes + 1 x 1)
  Array<NodeVec> direction;
  Array<NodeVec> preconditioned;
  Array<NodeVec> product;
  Array<Vec3> held;  ///< orthonormal basis of each node's rows (3 num_nodes x 1)

  /// Allocates everything for `num_nodes`. Returns false if the allocator fails.
  bool Allocate(const Allocator& allocator, uint32_t num_nodes);
  /// Forgets all couplings.
  void Forget();
  /// Adds a slot for a node that has none; there must be fewer than kMaxSchurRows. Returns it.
  uint32_t AddSlot(uint32_t node);
};

/// Solves with at most kMaxSchurRows rows. `d` (num_nodes + 1 x 1) is the free solution A^-1 b on
/// entry and the held one on return. A row that depends on earlier ones gets multiplier 0. Does not
/// allocate.
void SolveHeldSchur(const FactoredSystem& system, std::span<const NodeVec> b,
                    std::span<HeldRow> rows, HeldSolveWorkspace* workspace, std::span<NodeVec> d);

/// Solves with any number of rows by `iterations` steps of projected conjugate gradients, starting
/// from `d` moved onto the rows. Returns the relative residual. Rows of one node must be
/// consecutive; a row that depends on earlier ones gets multiplier 0. Does not allocate.
float SolveHeldIterative(const FactoredSystem& system, std::span<const NodeVec> b,
                         std::span<HeldRow> rows, int iterations, HeldSolveWorkspace* workspace,
                         std::span<NodeVec> d);

}  // namespace plush

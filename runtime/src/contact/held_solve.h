// SPDX-License-Identifier: MIT
// The splitting step's linear solve with displacements held along some directions.
//
// Minimise 1/2 d^T A d - b^T d subject to r . d_node = target for every row: the multipliers are
// the impulses that hold. Few rows go through the Schur complement of A, exactly; many through
// conjugate gradients on the remaining freedom, with the factor of A as preconditioner and a fixed
// count. Based on: Jorge Nocedal, Stephen Wright. Numerical Optimization. 2006 (ch. 16,
// Schur-complement and projected
//   CG methods for equality constraints)
#pragma once

#include "plush/types.h"

#include "base/array.h"
#include "base/node_vec.h"
#include "solver/panel_solve.h"
#include "solver/system_matrix.h"

#include <cstdint>
#include <span>

namespace plush {

/// Most held degrees of freedom that the Schur complement takes.
inline constexpr uint32_t kMaxSchurRows = 96;

/// One held degree of freedom.
struct HeldRow {
  uint32_t node = 0;
  Vec3 direction;           ///< unit
  float target = 0.0f;      ///< displacement of the node along it [m]
  float compliance = 0.0f;  ///< how far the multiplier pushes it short of the target [1/kg]; only
                            ///< SolveHeldSchur takes any but 0
  double multiplier = 0.0;  ///< out: impulse times dt along it [kg m]
};

/// The factor that the solve uses, and the matrix it belongs to.
struct FactoredSystem {
  SystemView system;
  PanelFactor factor;
  std::span<float> workspace;  ///< of solves (PanelWorkspaceSize x 1)
  uint64_t id = 0;             ///< names the factor's values; never 0, never reused
  FreeTurns* turns = nullptr;  ///< prepared: the matrix is A', see there; null: it is A
};

/// x := the inverse of the system's matrix times x (num_nodes + 1 x 1).
void SolveSystem(const FactoredSystem& system, std::span<NodeVec> x);

/// Working memory of held solves, sized once for a body. Keeps between solves what A^-1 couples
/// held nodes with: results depend, in rounding, on which nodes were held before.
class HeldSolveWorkspace {
 public:
  /// Sizes everything for `num_nodes`. Returns false where the allocator fails.
  bool Allocate(const Allocator& allocator, uint32_t num_nodes);

 private:
  friend void SolveHeldSchur(const FactoredSystem&, std::span<const NodeVec>, std::span<HeldRow>,
                             HeldSolveWorkspace*, std::span<NodeVec>);
  friend float SolveHeldIterative(const FactoredSystem&, std::span<const NodeVec>,
                                  std::span<HeldRow>, int, HeldSolveWorkspace*, std::span<NodeVec>);

  void FindCouplings(const FactoredSystem& system, std::span<const HeldRow> rows);
  uint32_t TakeSlot(uint32_t node);
  float& Coupling(uint32_t slot, uint32_t other) {
    return couplings_[size_t{slot} * kMaxSchurRows + other];
  }
  void SolveColumns(const FactoredSystem& system, std::span<const uint32_t> slots);

  uint64_t factor_id_ = 0;
  Array<float> couplings_;        // of A^-1, symmetric, by slots (kMaxSchurRows x kMaxSchurRows)
  Array<uint32_t> slot_of_node_;  // slot in couplings_, or none (num_nodes x 1)
  uint32_t node_of_slot_[kMaxSchurRows] = {};
  bool used_[kMaxSchurRows] = {};  // slots that the current solve needs
  uint32_t num_slots_ = 0;
  Array<double> schur_;      // (kMaxSchurRows x kMaxSchurRows)
  Array<NodeVec> residual_;  // conjugate gradients (num_nodes + 1 x 1 each)
  Array<NodeVec> direction_;
  Array<NodeVec> preconditioned_;
  Array<NodeVec> product_;
  Array<Vec3> held_;  // rows by node, orthonormal (3 num_nodes x 1)
};

/// Solves with at most kMaxSchurRows rows. `d` (num_nodes + 1 x 1) comes in as the free solution
/// A^-1 b and leaves as the held one; rows that depend on earlier ones get multiplier 0. Does not
/// allocate.
void SolveHeldSchur(const FactoredSystem& system, std::span<const NodeVec> b,
                    std::span<HeldRow> rows, HeldSolveWorkspace* workspace, std::span<NodeVec> d);

/// Solves with any number of rows by `iterations` steps of projected conjugate gradients, starting
/// from `d` moved onto the rows. Returns the relative residual that is left. Rows of one node must
/// stand together; those that depend on earlier ones get multiplier 0. Does not allocate.
float SolveHeldIterative(const FactoredSystem& system, std::span<const NodeVec> b,
                         std::span<HeldRow> rows, int iterations, HeldSolveWorkspace* workspace,
                         std::span<NodeVec> d);

}  // namespace plush

// SPDX-License-Identifier: MIT
// What a step calls in place of splitting.
#pragma once

#include "plush/allocator.h"
#include "plush/asset.h"
#include "plush/solver.h"
#include "plush/status.h"

#include "body/substep.h"
#include "solver/constraint_projector.h"

#include <cstdint>
#include <span>

namespace plush {

struct SolverMethod {
  uint32_t number;  ///< in saved states; never changes, 0 is splitting
  /// See CheckSolver.
  Status (*check)(const BodySolver& solver);
  /// See CheckSolverPins.
  Status (*check_pins)(const Allocator& allocator, const BodySolver& solver,
                       const SimulationView& simulation, std::span<const uint8_t> pinned,
                       std::span<const ConstraintRow> constraints);
  /// See ReserveSolver.
  bool (*reserve)(const Allocator& allocator, const BodySolver& solver, Body* body);
  /// Moves `body->y` from where BeginSubstep put it to the end of the substep. Returns false, and
  /// leaves y as it was, if the substep is splitting's. Does not allocate.
  bool (*advance)(const SubstepOf& of, Body* body, StepStats* stats);
  /// Makes room for a body, of any solver, that may touch those of this method. Returns false if
  /// the allocator fails.
  bool (*reserve_touching)(const Allocator& allocator, Body* body);
  /// `advance` of all bodies of an island that touch each other, in substep `k` of `count`. At
  /// least one of them has this method. Returns false, and leaves `y` as it was, if the substep is
  /// splitting's. Does not allocate.
  bool (*advance_island)(const StepSettings& of_world, int k, int count, Body* first,
                         StepStats* stats);
};

/// Whether a body with these pins (num_nodes x 1, 1 if pinned) and constraints can have the solver.
/// Errors: kInvalidArgument, kOutOfMemory.
inline Status CheckSolverPins(const Allocator& allocator, const BodySolver& solver,
                              const SimulationView& simulation, std::span<const uint8_t> pinned,
                              std::span<const ConstraintRow> constraints = {}) {
  if (solver.method == nullptr) return {};
  return solver.method->check_pins(allocator, solver, simulation, pinned, constraints);
}

/// BodyMaterial::drag of a body that the solver steps [1/s].
inline float DragOf(const BodySolver& solver) {
  const bool drags = solver.method != nullptr && !solver.implicit.quasistatic;
  return drags ? solver.implicit.mass_damping : 0.0f;
}

inline uint32_t NumberOf(const SolverMethod* method) {
  return method != nullptr ? method->number : 0;
}

}  // namespace plush

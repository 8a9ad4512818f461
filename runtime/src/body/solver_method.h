// SPDX-License-Identifier: MIT
// What a step calls in place of splitting.
#pragma once

#include "plush/allocator.h"
#include "plush/solver.h"

#include "body/substep.h"

#include <cstdint>

namespace plush {

struct SolverMethod {
  uint32_t number;  ///< in saved states; never changes, 0 is splitting
  /// See ReserveSolver.
  bool (*reserve)(const Allocator& allocator, const BodySolver& solver, Body* body);
  /// Moves `body->y` from where BeginSubstep put it to the end of the substep. Returns false, and
  /// leaves y as it was, if the substep is splitting's. Does not allocate.
  bool (*advance)(const SubstepOf& of, Body* body, StepStats* stats);
};

inline uint32_t NumberOf(const SolverMethod* method) {
  return method != nullptr ? method->number : 0;
}

}  // namespace plush

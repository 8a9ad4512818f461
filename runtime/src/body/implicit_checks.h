// SPDX-License-Identifier: MIT
// Which settings of the implicit solver are possible.
#pragma once

#include "body/solver_method.h"

namespace plush {

/// Errors: kInvalidArgument, if a setting is out of its range.
Status CheckImplicit(const BodySolver& solver);

/// Whether pins stop every rigid motion of a quasistatic body: each connected part of its tets must
/// have three pinned nodes that are not on a line. See SolverMethod::check_pins.
Status CheckImplicitPins(const Allocator& allocator, const BodySolver& solver,
                         const SimulationView& simulation, std::span<const uint8_t> pinned);

}  // namespace plush

// SPDX-License-Identifier: MIT
// Which settings of the implicit solver are possible.
#pragma once

#include "body/solver_method.h"

namespace plush {

/// Errors: kInvalidArgument, if a setting is out of its range.
Status CheckImplicit(const BodySolver& solver);

/// Whether pins and constraints stop every rigid motion of each connected part of the tets of a
/// quasistatic body at rest: three pinned nodes that are not on a line do. See
/// SolverMethod::check_pins.
Status CheckImplicitPins(const Allocator& allocator, const BodySolver& solver,
                         const SimulationView& simulation, std::span<const uint8_t> pinned,
                         std::span<const ConstraintRow> constraints);

}  // namespace plush

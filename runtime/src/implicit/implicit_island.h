// SPDX-License-Identifier: MIT
// Newton iterations of implicit bodies that touch other bodies: see implicit_island.cpp.
#pragma once

#include "body/substep.h"

namespace plush {

/// See SolverMethod::advance_island.
bool AdvanceImplicitIsland(const StepSettings& of_world, int k, int count, Body* first,
                           StepStats* stats);

}  // namespace plush

// SPDX-License-Identifier: MIT
// The free turn of a body in a solve.
#pragma once

#include "body/body.h"
#include "contact/free_turn.h"

#include <span>

namespace plush {

/// The turn about the centre of mass at node positions `at` (num_nodes x 1), which must stay valid.
/// It acts if the body is of one piece, without pins and springs, and not all of its mass lies near
/// a line. Solves with A once; fills body->turned.
FreeTurn FindFreeTurn(const FactoredSystem& system, std::span<const NodeVec> at, Body* body);

}  // namespace plush

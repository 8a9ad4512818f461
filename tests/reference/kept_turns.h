// SPDX-License-Identifier: MIT
// The angular momentum that implicit Euler takes from bodies in flight, and that the runtime gives
// back.
#pragma once

#include "reference/elastic_body.h"
#include "reference/implicit_euler.h"

#include <Eigen/Dense>

#include <vector>

namespace plush::reference {

/// Turns the velocities `v` of the `nodes` of a free component, so that its angular momentum is
/// that before a step of `dt` seconds to `x` that began with velocities `before` (3 x num_nodes
/// each): implicit Euler changes it by dt sum m v x before. Above 0.3 radians a step it gets less
/// of it back, above 0.4 nothing. (In the runtime less if waves cross 1,000 clusters.)
void KeepTurns(const std::vector<Eigen::Index>& nodes, const Eigen::VectorXd& masses,
               const Points& x, const Points& before, double dt, Points* v);

/// The same for the state of `euler` after its step from velocities `before`: nodes `first` to
/// `end` are a free component.
void KeepTurns(Eigen::Index first, Eigen::Index end, const Points& before, double dt,
               ImplicitEuler* euler);

}  // namespace plush::reference

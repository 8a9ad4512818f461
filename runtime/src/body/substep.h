// SPDX-License-Identifier: MIT
// The parts of a substep of one body. Bodies that springs join take turns between them.
#pragma once

#include "body/body.h"

#include <span>

namespace plush {

/// A substep's settings and factor.
struct SubstepOf {
  /// Substep `number` of `num_substeps` of a step, which BeginSubstep has begun.
  SubstepOf(const StepSettings& of_step, int number, int num_substeps, Body* body);

  StepSettings settings;
  int k, count;  ///< the substep is number k of count
  float h;       ///< [s]
  FactoredSystem system;
};

/// Predicts the nodes, and begins what the substep's iterations change.
void BeginSubstep(const StepSettings& of_step, int k, int count, Body* body, StepStats* stats);
/// Turns the prediction of a stiff body, part by part. BeginSubstep does so unless it is attached:
/// all attachments must have begun the substep.
void TurnAlone(const StepSettings& settings, float h, Body* body);

/// Sets body->y to the substep's first iterate: the prediction, with pins where they go.
void PlaceFirstIterate(const SubstepOf& of, Body* body, StepStats* stats);

/// One outer iteration with its coarse correction.
void Iterate(const SubstepOf& of, Body* body, StepStats* stats);

// An outer iteration of bodies that touch each other: all begin, SolveWithContacts solves the list
// of their body->solve, all end. Their coarse correction (coarse_correction.h) comes first.

void BeginJointSolve(const SubstepOf& of, Body* body, StepStats* stats);
void EndJointSolve(const SubstepOf& of, Body* body, StepStats* stats);
/// The part of EndJointSolve after body->y has moved by `d` (num_nodes + 1 x 1), and
/// body->progress.longest is known. Unless it `owes` that to CorrectJointly, moves the clusters.
void EndJointMove(const SubstepOf& of, std::span<const NodeVec> d, bool owes, Body* body,
                  StepStats* stats);

/// Prepares body->solve for FindPushOut.
void BeginPush(const SubstepOf& of, Body* body);
/// The share of their depth by which deep points come out in the substep.
float ShareOut(const SubstepOf& of);
/// Finds how far the deep points of a body that touches no other come out, in body->d. Returns
/// whether there are any.
bool FindWayOut(const SubstepOf& of, Body* body, StepStats* stats);

/// Whether the substep needs another outer iteration, or at least `least_of_island` of them.
bool WantsIteration(const SubstepOf& of, Body* body, int least_of_island);

/// Whether a point has sunk that the last solve did not know of.
bool IsSunk(const SubstepOf& of, Body* body);
/// One more outer iteration without a coarse correction: for such a body, or one that starts again.
void IterateOnce(const SubstepOf& of, Body* body, StepStats* stats);

/// Adds what a solve with contacts did.
void CountContacts(const ContactSolveStats& solved, StepStats* stats);

/// Notes what the solves of the substep did.
void EndSolves(const SubstepOf& of, Body* body, StepStats* stats);
/// Ends a substep with the positions `body->y`. Lifts flat tets first if `may_be_flat`. Freezes the
/// body if a position is not finite.
void FinishSubstep(const SubstepOf& of, bool may_be_flat, Body* body, StepStats* stats);
/// Ends the substep with the iterate. `is_deep`: deep points come out by body->d.
void EndSubstep(const SubstepOf& of, bool is_deep, Body* body, StepStats* stats);

}  // namespace plush

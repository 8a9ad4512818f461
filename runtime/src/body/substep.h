// SPDX-License-Identifier: MIT
// The parts of a substep of one body. Bodies that springs join take turns between them.
#pragma once

#include "body/body.h"

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

/// Sets body->y to the substep's first iterate: the prediction, with pins where they go.
void PlaceFirstIterate(const SubstepOf& of, Body* body, StepStats* stats);

/// One outer iteration with its coarse correction.
void Iterate(const SubstepOf& of, Body* body, StepStats* stats);

/// Whether the substep needs another outer iteration, or at least `least_of_island` of them.
bool WantsIteration(const SubstepOf& of, const Body& body, int least_of_island);

/// One more if a point has sunk that the last solve did not know of.
void IterateIfSunk(const SubstepOf& of, Body* body, StepStats* stats);

/// Ends the substep with the iterate.
void EndSubstep(const SubstepOf& of, Body* body, StepStats* stats);

}  // namespace plush

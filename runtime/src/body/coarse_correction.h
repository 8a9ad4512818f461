// SPDX-License-Identifier: MIT
// The coarse correction of one body's outer iteration: clusters move as the material and the planes
// let them.
#pragma once

#include "body/body.h"
#include "solver/coarse_level.h"

#include <span>

namespace plush {

/// Whether clusters move after each solve. They know no drag by mass.
inline bool HasCoarseLevel(const StepSettings& settings, const Body& body) {
  return settings.splitting.volume_sweeps == 0 && body.system->coarse.num_clusters() > 0 &&
         body.system->key.material.drag == 0.0f;
}

/// How a substep iterates, of a body that touches nothing unless said.
struct IterationPlan {
  int outer_iterations = 2;
  bool is_soft = false;      ///< one iteration is enough, however many it makes
  bool is_stiff = false;     ///< it turns freely: see CoarseLevel::TurnPredictions, AddForces and
                             ///< Solve, and, if it touches, contact/free_turn.h
  bool is_stiffest = false;  ///< makes three iterations, because it has pins
};

/// The plan for substeps of `h` seconds. The error of a swing's motion grows with the number s of
/// clusters that stress waves cross in a substep. Measured over two seconds, without damping: one
/// iteration gives a bear 0.03 at s = 0.7, 0.1 at 1.2 and 0.3 at 2.1; two give 0.007, 0.03 and
/// 0.09. With two, a cantilever of s = 14 swings 4.6% too slowly, so pinned bodies make three from
/// s = 12 on. (Two, with clusters that also move before the first solve, miss the frequencies of
/// cantilevers by 1.5 to 2.8 times as much. A ball of 4e8 Pa that hung by two nodes gained 100
/// times the energy of its swing.)
/// Pressures of nearly incompressible bodies lag too far behind a single iteration.
/// A body with free components is stiff from s = 4 on.
/// A body with constraints makes two iterations: with one, a point on a line is wrong by 13% of its
/// way.
/// Iterations that were tuned for splitting take the place of all this, unless the body has
/// constraints.
IterationPlan PlanIterations(const SplittingSettings& settings, const Body& body, float h);

/// Moves the clusters of body->y in a substep of `h` seconds, if HasCoarseLevel. Makes their matrix
/// unless body->progress.has_matrix, which is then set: later corrections of a substep would hardly
/// differ with their own. Does not allocate.
void CorrectClusters(const StepSettings& settings, float h, Body* body, StepStats* stats);

/// Whether a substep of `h` seconds begins with TurnPrediction: that of a stiff body does
/// (IterationPlan), that of another if its nodes move far beside each other in the air. (Its one or
/// two iterations began straight on: what swells in a spin had 0.75 to 7 times the strain energy,
/// now 1.0.)
bool TurnsPrediction(const StepSettings& settings, float h, const Body& body);

/// Turns the prediction body->y as its components turn (CoarseLevel::TurnPredictions), and takes
/// those that constraints hold to where their points must be. Pins and targets are known. Uses
/// body->rhs.
void TurnPrediction(const StepSettings& settings, float h, Body* body);

/// Finds the clusters' `motions` in a substep of `h` seconds (num_clusters x 1 each) at nodes `y`.
/// Gives components that turn freely and touch nothing their momenta (CoarseLevel::KeepMomenta),
/// and the constraints that hold them what that takes. Clears body->progress.has_matrix if a stiff
/// body turns too far for its matrix.
void SolveClusters(float h, const NodePlaces& y, std::span<const ClusterSums> sums, Body* body,
                   std::span<RigidMotion> motions);

// CorrectClusters for bodies that touch each other: all begin, SolveCoarseContacts solves the list
// of their body->coarse_solve, all end.

/// Returns whether the body takes part.
bool BeginJointCorrection(const StepSettings& settings, float h, Body* body, StepStats* stats);
/// Moves the clusters.
void EndJointCorrection(const StepSettings& settings, float h, Body* body, StepStats* stats);

}  // namespace plush

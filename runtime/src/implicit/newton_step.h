// SPDX-License-Identifier: MIT
// Newton iterations of one body's substep of backward Euler: see implicit_step.cpp.
#pragma once

#include "plush/implicit_settings.h"

#include "body/body.h"
#include "body/coarse_correction.h"
#include "body/substep.h"
#include "contact/contact_gradients.h"
#include "elasticity/force_differential.h"
#include "materials/model_lanes.h"
#include "solver/cluster_solve.h"
#include "solver/conjugate_gradients.h"

#include <span>

namespace plush {

/// Parts of a Newton step that are tried before it is dropped.
inline constexpr int kMostTries = 8;

/// Whether clusters move between Newton iterations. They know only the default material.
/// Constraints would have to be put right after them, against the volume's stiffness:
/// stiff bodies explode by that, even if clusters move only as far as the objective does not rise.
inline bool MovesClusters(const StepSettings& settings, const Body& body) {
  const ImplicitSettings& own = body.solver.implicit;
  return HasCoarseLevel(settings, body) && !own.quasistatic && !UsesModel(own) &&
         !body.attached.has_constraints;
}

/// Of a body's energies in the world's units, see contact_gradients.h.
inline double WeightOf(const Body& body) {
  const double s = double(body.scale);
  return s * s * s * s * s;
}

/// The body's part of ContactGradients, with its own vectors.
GradientPart GradientPartOf(ContactSolve* contacts, Body* body);

/// The body's settings. Iterations that they leave open are as tuned, or one Newton iteration with
/// eight of the linear solver.
ImplicitSettings NewtonSettingsOf(const Body& body);

/// One substep of one body. Its functions do not allocate.
struct NewtonStep {
  const SubstepOf& of;
  const ImplicitSettings& settings;
  Body* body;
  StepStats* stats;
  bool is_held = false;   ///< by contacts or springs
  double longest2 = 0.0;  ///< see ContactGradients

  /// Begins the substep.
  void Begin();
  /// Goes back to where BeginSubstep left the body. The multipliers become those of the start.
  void Restart();
  /// body->rhs = b at body->y, and what A is made of. Returns the norm of b.
  double MakeGradient();
  /// Moves the clusters, if MovesClusters. They take the volume's change from the multipliers,
  /// which do not change meanwhile: where tets resist it so much that this could add energy, they
  /// move as far as the objective does not rise, or if contacts or springs hold the body, not at
  /// all.
  void MoveClusters();
  /// Whether they move while contacts hold the body.
  bool MovesHeldClusters() const;
  /// One Newton iteration. Returns whether body->y has moved; `norm` is that of b afterwards.
  bool Iterate(double* norm);
  /// Ends the substep at body->y.
  void End();

  // For Newton iterations of several bodies (implicit_island.cpp), which hold them all.

  /// The body's part in their contact solve.
  ContactSolve ContactPart() const;
  /// Makes what products and solves with a differential need besides MakeGradient.
  void MakeMatrix(StressDifferential differential);
  /// q = A p, zero for pinned nodes and the spare element (num_nodes + 1 x 1 each). MakeMatrix has
  /// been called with this differential. Returns p.q.
  double Multiply(StressDifferential differential, std::span<const NodeVec> p,
                  std::span<NodeVec> q);

 private:
  bool has_lanes() const { return UsesModelLanes(settings); }
  bool has_model() const { return UsesModel(settings) && !has_lanes(); }
  ElementSettings Elements() const {
    return {of.h, settings.quasistatic ? 0.0f : body->elements.damping,
            of.settings.splitting.polar_iterations, 0.0f, LawOf(settings)};
  }
  TetsAt At() const { return {body->Rotations(), body->newton.stretches.span()}; }
  // The factor that the drag puts on masses.
  float DragShare() const { return 1.0f + settings.mass_damping * of.h; }
  // The share of the mass matrix in A.
  float MassShare() const { return settings.quasistatic ? 0.0f : DragShare(); }

  // Whether solves take steps that constraints allow, by their projector. Contacts solve for the
  // constraints' impulses with their own.
  bool projects() const { return !is_held && body->attached.block.any(); }
  void Project(std::span<NodeVec> v);
  void MakeInertialPart();
  void AddForces(std::span<const float> starts);
  void MakeInverses();
  double MultiplyTets(StressDifferential differential, std::span<const NodeVec> p,
                      std::span<NodeVec> q);
  // Whether clusters are part of the preconditioner (cluster_solve.h). They may be in any solve
  // without contacts and springs, also if constraints, a drag or a model keep them from moving.
  bool HasClusterSolve() const;
  void MakeClusterMatrix(std::span<ClusterSums> sums);
  void Precondition(const ClusterSolve* clusters, std::span<NodeVec> z);
  double WorkOfSprings(std::span<const NodeVec> d);
  LinearResult Solve(StressDifferential differential);
  LinearResult SolveHeld(StressDifferential differential);
  bool MoveBy(double work, bool has_moved);
};

}  // namespace plush

// SPDX-License-Identifier: MIT
// A substep of backward Euler by Newton's method. Nothing else of the runtime names what is here: a
// game links it only if its bodies do.
// Based on:
// Oscar Civit-Flores. Interactive simulation of detailed deformable solids with the corotational
//   finite element method. Thesis. (3.2 and 3.3: Eq. 3.3 to 3.10)
//
// A substep ends where
//   1/2 |y - x - h v - h^2 g|^2_M + alpha h/2 |y - x|^2_M + h^2 (elastic + viscous energy)(y)
// is least. Its negative gradient is b, and its second derivative, with a differential of the
// stress, A = (1 + alpha h) M + (h^2 + beta h) K [Civ, Eq. 3.10].
//
// Deviations from the thesis:
// - Conjugate gradients have the constant factor of splitting as preconditioner, that of
//   (1 + alpha h) M + (h^2 + beta h) K0. Bodies with the same alpha share it.
// - Damping by beta resists changes of stretch, as it does in splitting.
// - Clusters of nodes move rigidly before and after (coarse_level.h): with eight iterations, an
//   armadillo's swing is then wrong by 0.002 instead of 0.24 of its motion. In long solves, and
//   if they may not move freely, they are part of the preconditioner (cluster_solve.h).
// - No tet is lifted that becomes flat: a lift adds energy, and this step resists the volume's
//   change by the energy alone, as the equations say.
// - A step d that overshoots is shortened by the work of b along it, which needs no energies.
// - Springs and contacts with colliders are part of each Newton step (contact_gradients.h); so are
//   those with other bodies (implicit_island.cpp).
#include "body/attachment_step.h"
#include "body/body.h"
#include "body/body_colliders.h"
#include "body/coarse_correction.h"
#include "body/solver_method.h"
#include "implicit/implicit_checks.h"
#include "implicit/implicit_island.h"
#include "implicit/newton_step.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace plush {
namespace {

// Depth of a point that ends a free body's substep [slops]: the depth that counts as inside.
constexpr float kAnyDepth = 0.1f;

// Makes room for `count` elements, unless there is enough.
template <class T>
bool ReserveArray(const Allocator& allocator, size_t count, Array<T>* array) {
  Array<T> larger;
  if (array->size() >= count) return true;
  if (!larger.Allocate(allocator, count, T())) return false;
  *array = std::move(larger);
  return true;
}

// Makes room for the vectors of Newton iterations, also of splitting bodies in an island with
// others.
bool ReserveVectors(const Allocator& allocator, Body* body) {
  const size_t nodes = body->x.size() + 1;
  Body::Newton& own = body->newton;
  return ReserveArray(allocator, nodes, &own.d) && ReserveArray(allocator, nodes, &own.p) &&
         ReserveArray(allocator, nodes, &own.q);
}

bool ReserveImplicit(const Allocator& allocator, const BodySolver& solver, Body* body) {
  const ImplicitSettings& settings = solver.implicit;
  const size_t nodes = body->x.size() + 1;
  const bool has_blocks = settings.preconditioner == Preconditioner::kJacobi;
  const bool has_minres = settings.linear_method == LinearMethod::kMinimumResiduals;
  const bool has_products =
      !settings.assembled && (!UsesModel(settings) || UsesModelLanes(settings));
  Body::Newton& own = body->newton;
  if (!ReserveVectors(allocator, body) ||
      !ReserveArray(allocator, has_blocks ? nodes - 1 : 0, &own.inverses) ||
      !ReserveArray(allocator, has_minres ? nodes : 0, &own.v) ||
      !ReserveArray(allocator, has_minres ? nodes : 0, &own.w) ||
      !ReserveArray(allocator, has_minres ? nodes : 0, &own.last_w) ||
      !ReserveArray(allocator, UsesModel(settings) ? body->elements.tets.size() : 0, &own.tets) ||
      !ReserveArray(allocator, nodes, &own.masses) ||
      !ReserveArray(allocator, kStretchNumbers * body->kappa.size(), &own.stretches) ||
      !ReserveArray(allocator, has_products ? body->elements.blocks.size() : 0, &own.products) ||
      (settings.assembled && !own.matrix.any() &&
       !own.matrix.Reserve(allocator, body->elements, nodes - 1))) {
    return false;
  }
  return true;
}

// Moves a body that touches no collider. Returns whether it still touches none.
bool AdvanceFree(const SubstepOf& of, NewtonStep* step) {
  Body* body = step->body;
  const ImplicitSettings& settings = step->settings;
  HoldConstraints(of.h, body);
  step->MoveClusters();
  const double start = step->MakeGradient();
  double norm = start;
  int& done = body->progress.iterations;
  for (; done < settings.newton_iterations && norm > 0.0; ++done) {
    if (done > 0 && norm <= double(settings.newton_tolerance) * start) break;
    if (!step->Iterate(&norm)) break;
  }
  step->MoveClusters();
  return !MayHold(of.settings, *body) || !IsBelowSurface(of.settings, kAnyDepth, body);
}

// Moves a body that colliders or springs hold: Newton iterations until nodes hardly move. Where
// colliders hold it, they start where the substep does. A prediction sinks in: to take it out
// first, with the constant matrix, would strain a body that is nearly incompressible. A turn of
// clusters lifts touching nodes off a plane, or sinks them, to second order, and takes the ends of
// stiff springs along. So they turn before each iteration, and not after the last one.
void AdvanceHeld(const SubstepOf& of, bool touches, NewtonStep* step) {
  constexpr float kConverged = 3.0e-5f;  // [median edges]
  constexpr float kMostDepth = 3.0f;     // [slops]; less is not worth another iteration
  Body* body = step->body;
  step->is_held = true;
  for (size_t i = 0; i < body->x.size() && touches; ++i) {
    if (!body->IsPinned(i)) body->y[i] = body->x[i];
  }
  HoldConstraints(of.h, body);
  const int most = std::max(step->settings.newton_iterations, of.settings.contact.iterations);
  int& done = body->progress.iterations;
  for (bool wants = true; wants;) {
    if (body->contacts.any() || body->attached.has_springs) step->MoveClusters();
    step->MakeGradient();
    double norm = 0.0;
    wants = step->Iterate(&norm);
    ++done;
    float longest = 0.0f;
    for (const NodeVec& d : body->newton.d) {
      longest =
          std::fmax(longest, std::fmax(std::fabs(d.x), std::fmax(std::fabs(d.y), std::fabs(d.z))));
    }
    wants = wants && done < most && longest > kConverged * body->simulation.median_edge;
  }
  if (!IsBelowSurface(of.settings, kMostDepth, body)) return;
  step->MakeGradient();
  double norm = 0.0;
  step->Iterate(&norm);
  ++done;
}

bool AdvanceImplicit(const SubstepOf& of, Body* body, StepStats* stats) {
  if (body->attached.JoinsBodies()) return false;  // implicit_island.cpp did not move it
  const ImplicitSettings settings = NewtonSettingsOf(*body);
  NewtonStep step = {of, settings, body, stats};
  step.Begin();
  const bool may_touch = MayHold(of.settings, *body);
  const bool touches = may_touch && body->contacts.num_contacts > 0;
  if (body->attached.has_springs) {
    const bool sinks = may_touch && IsBelowSurface(of.settings, kAnyDepth, body);
    AdvanceHeld(of, touches || sinks, &step);
  } else if (touches || !AdvanceFree(of, &step)) {
    if (!touches) step.Restart();
    AdvanceHeld(of, true, &step);
  }
  HoldConstraints(of.h, body);
  step.End();
  body->progress.is_static = settings.quasistatic;
  return true;
}

}  // namespace

constinit const SolverMethod kImplicitMethod = {1,
                                                CheckImplicit,
                                                CheckImplicitPins,
                                                ReserveImplicit,
                                                AdvanceImplicit,
                                                ReserveVectors,
                                                AdvanceImplicitIsland};

}  // namespace plush

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
// - Conjugate gradients have the constant factor of splitting as preconditioner.
// - Damping by beta resists changes of stretch, as it does in splitting.
// - Clusters of nodes move rigidly before and after (coarse_level.h): with eight iterations, an
//   armadillo's swing is then wrong by 0.002 instead of 0.24 of its motion.
// - No tet is lifted that becomes flat: a lift adds energy, and this step resists the volume's
//   change by the energy alone, as the equations say.
// - A step d that overshoots is shortened by the work of b along it, which needs no energies.
#include "base/vector_math.h"
#include "body/body.h"
#include "body/body_colliders.h"
#include "body/coarse_correction.h"
#include "body/node_pass.h"
#include "body/pin_motion.h"
#include "body/solver_method.h"
#include "elasticity/force_differential.h"
#include "solver/conjugate_gradients.h"
#include "solver/panel_solve.h"

#include <algorithm>
#include <cmath>

namespace plush {
namespace {

// Parts of a Newton step that are tried before it is dropped.
constexpr int kMostTries = 8;
// Depth of a point that makes a substep splitting's [slops]: the depth that counts as inside.
constexpr float kAnyDepth = 0.1f;

bool ReserveImplicit(const Allocator& allocator, const BodySolver& solver, Body* body) {
  const size_t nodes = body->x.size() + 1;
  const bool has_blocks = solver.implicit.preconditioner == Preconditioner::kJacobi;
  Array<NodeVec> d, p, q;
  Array<Mat3> inverses;
  Array<float> stretches;
  Body::Newton& own = body->newton;
  if (own.inverses.size() == 0) {
    if (!inverses.Allocate(allocator, has_blocks ? nodes - 1 : 0)) return false;
    own.inverses = std::move(inverses);
  }
  if (own.d.size() > 0) return true;
  if (!d.Allocate(allocator, nodes) || !p.Allocate(allocator, nodes) ||
      !q.Allocate(allocator, nodes) ||
      !stretches.Allocate(allocator, kStretchNumbers * body->kappa.size(), 0.0f)) {
    return false;
  }
  own.d = std::move(d);
  own.p = std::move(p);
  own.q = std::move(q);
  own.stretches = std::move(stretches);
  return true;
}

// One substep of one body.
struct NewtonStep {
  const SubstepOf& of;
  const ImplicitSettings& settings;
  Body* body;
  StepStats* stats;

  ElementSettings Elements() const {
    return {of.h, body->elements.damping, of.settings.splitting.polar_iterations};
  }
  TetsAt At() const { return {body->Rotations(), body->newton.stretches.span()}; }
  // The share of the mass matrix in A.
  float MassShare() const { return 1.0f + settings.mass_damping * of.h; }

  void MakeInertialPart();
  double MakeGradient();
  void Multiply(StressDifferential differential, std::span<const NodeVec> p, std::span<NodeVec> q);
  void MakeInverses();
  void Precondition(std::span<NodeVec> z);
  LinearResult Solve(StressDifferential differential);
  bool MoveBy(double work);
  bool Iterate(double* norm);
};

// rhs = the part of b that elasticity does not have.
void NewtonStep::MakeInertialPart() {
  const std::span<const NodeVec> x = body->x.span();
  const std::span<NodeVec> y = body->y.span(), rhs = body->rhs.span();
  rhs[x.size()] = NodeVec();
  MakeInertialRhs(x, body->v.span(), GravityOf(of.settings, *body), of.h, y, rhs);
  if (settings.mass_damping == 0.0f) return;
  for (size_t i = 0; i < x.size(); ++i) {
    if (x[i].w > 0.0f) rhs[i] -= (y[i] - x[i]) * (settings.mass_damping * of.h / x[i].w);
  }
}

// rhs = b at y, and what A is made of. Returns the norm of b.
double NewtonStep::MakeGradient() {
  const PhaseTimer timer(stats, Phase::kElements);
  MakeInertialPart();
  body->momentum = SumVectors(body->rhs.span());
  LineariseTets(body->elements, body->y.span(), Elements(), body->stretches.span(), At(),
                body->kappa.span(), body->rhs.span());
  if (ReportsReactions(*body)) StartPinImpulses(body);
  ClearPinned(body->x.span(), body->rhs.span());
  return std::sqrt(DotProduct(body->rhs.span(), body->rhs.span()));
}

void NewtonStep::Multiply(StressDifferential differential, std::span<const NodeVec> p,
                          std::span<NodeVec> q) {
  const float share = MassShare();
  for (size_t i = 0; i < body->x.size(); ++i) {
    const float w = body->x[i].w;
    q[i] = NodeVec(w > 0.0f ? p[i] * (share / w) : Vec3{}, 0.0f);
  }
  q[body->x.size()] = NodeVec();
  AddStiffnessProduct(body->elements, Elements(), At(), differential, p, q);
  ClearPinned(body->x.span(), q);
}

void NewtonStep::MakeInverses() {
  const std::span<Mat3> blocks = body->newton.inverses.span();
  for (size_t i = 0; i < blocks.size(); ++i) {
    const float w = body->x[i].w, m = w > 0.0f ? MassShare() / w : 1.0f;
    blocks[i] = {{m, 0.0f, 0.0f}, {0.0f, m, 0.0f}, {0.0f, 0.0f, m}};
  }
  AddStiffnessDiagonal(body->elements, Elements(), At(), blocks);
  for (Mat3& block : blocks) {  // symmetric: the inverse is the cofactors over the determinant
    const Mat3 cofactors = Cofactor(block);
    const float det = Dot(block.c0, cofactors.c0);
    block = cofactors * (det > 0.0f ? 1.0f / det : 0.0f);
  }
}

void NewtonStep::Precondition(std::span<NodeVec> z) {
  if (settings.preconditioner == Preconditioner::kFactor) {
    SolvePanels(of.system.factor, of.system.workspace, z);
    return;
  }
  const std::span<const Mat3> inverses = body->newton.inverses.span();
  for (size_t i = 0; i < inverses.size(); ++i) z[i] = inverses[i] * z[i];
}

// newton.d = A^-1 rhs as far as the settings say. rhs becomes the residual.
LinearResult NewtonStep::Solve(StressDifferential differential) {
  const PhaseTimer timer(stats, Phase::kSolve);
  if (settings.preconditioner == Preconditioner::kJacobi) MakeInverses();
  const auto multiply = [&](std::span<const NodeVec> p, std::span<NodeVec> q) {
    Multiply(differential, p, q);
  };
  const auto precondition = [&](std::span<NodeVec> z) { Precondition(z); };
  const LinearLimits limits = {settings.linear_iterations, double(settings.linear_tolerance)};
  const LinearResult result = ConjugateGradients(multiply, precondition, limits,
                                                 {body->newton.p.span(), body->newton.q.span()},
                                                 body->rhs.span(), body->newton.d.span());
  stats->linear_iterations += static_cast<uint32_t>(result.iterations);
  const bool has_drag = settings.mass_damping > 0.0f;
  if (body->system->num_pinned == 0 && !has_drag && !HasCoarseLevel(of.settings, *body)) {
    KeepMomentum(body->x.span(), body->momentum, body->newton.d.span().first(body->x.size()));
  }
  return result;
}

// Moves y along newton.d, whose work at the start is `work`, and makes the gradient there. Goes
// back on the way, if the settings say so, until the objective has not risen. Returns whether y has
// moved.
bool NewtonStep::MoveBy(double work) {
  const std::span<NodeVec> d = body->newton.d.span();
  float moved = 1.0f;
  MoveNodes(d, body->y.span());
  for (int i = 0;; ++i) {
    MakeGradient();
    const double at_end = DotProduct(body->rhs.span(), d) * double(moved);
    const bool rises = !(work * double(moved) + at_end >= 0.0);
    if (!settings.line_search || !rises) return true;
    if (i == 0) ++stats->overshoots;
    const double start = work * double(moved);
    double share = start / (start - at_end);  // where the work vanishes, if it were linear
    if (!(share > 0.0 && share < 1.0) || i == kMostTries) share = 0.0;
    const float next = moved * static_cast<float>(share);
    for (size_t k = 0; k < d.size(); ++k) body->y[k] += d[k] * (next - moved);
    moved = next;
    if (moved == 0.0f) return MakeGradient(), false;
  }
}

// One Newton iteration. Returns whether y has moved; `norm` is that of b afterwards.
bool NewtonStep::Iterate(double* norm) {
  const StressDifferential wanted = settings.differential;
  for (const StressDifferential differential : {wanted, StressDifferential::kHybrid}) {
    const LinearResult result = Solve(differential);
    if (result.iterations > 0 &&
        !(result.is_indefinite && differential == StressDifferential::kExact)) {
      if (MoveBy(result.work)) {
        *norm = std::sqrt(DotProduct(body->rhs.span(), body->rhs.span()));
        return true;
      }
    } else {
      MakeGradient();
    }
    if (differential == StressDifferential::kHybrid) break;
    ++stats->newton_fallbacks;
  }
  return false;
}

// Moves the clusters. They do not know a drag by mass.
void MoveClusters(const SubstepOf& of, Body* body, StepStats* stats) {
  if (body->solver.implicit.mass_damping > 0.0f) return;
  CorrectClusters(of.settings, of.h, body, stats, &body->progress.has_matrix);
}

// Goes back to where BeginSubstep left the body. The multipliers become those of the start.
void GoBack(const NewtonStep& step) {
  Body* body = step.body;
  std::copy(body->x.begin(), body->x.end(), body->y.begin());
  LineariseTets(body->elements, body->y.span(), step.Elements(), {}, step.At(), body->kappa.span(),
                body->rhs.span());
  PlaceFirstIterate(step.of, body, step.stats);
  body->progress.has_matrix = false;
}

bool AdvanceImplicit(const SubstepOf& of, Body* body, StepStats* stats) {
  const bool touches = body->contacts.num_contacts > 0 && MayHold(of.settings, *body);
  if (touches || body->attached.any()) return false;
  const ImplicitSettings& settings = body->solver.implicit;
  NewtonStep step = {of, settings, body, stats};
  MoveClusters(of, body, stats);
  const double start = step.MakeGradient();
  double norm = start;
  int iterations = 0;
  while (iterations < settings.newton_iterations && norm > 0.0 &&
         !(iterations > 0 && norm <= double(settings.newton_tolerance) * start)) {
    if (!step.Iterate(&norm)) break;
    ++iterations;
  }
  MoveClusters(of, body, stats);
  if (MayHold(of.settings, *body) && IsBelowSurface(of.settings, kAnyDepth, body)) {
    GoBack(step);
    return false;
  }
  if (ReportsReactions(*body)) step.MakeGradient();
  body->progress.iterations = iterations;
  return true;
}

}  // namespace

constinit const SolverMethod kImplicitMethod = {1, ReserveImplicit, AdvanceImplicit};

}  // namespace plush

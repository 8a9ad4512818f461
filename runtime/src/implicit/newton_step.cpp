// SPDX-License-Identifier: MIT
// Source: see implicit_step.cpp.
#include "implicit/newton_step.h"

#include "base/vector_math.h"
#include "body/attachment_step.h"
#include "body/body_colliders.h"
#include "body/node_pass.h"
#include "body/pin_motion.h"
#include "solver/minimum_residuals.h"
#include "solver/panel_solve.h"

#include <algorithm>
#include <cmath>

namespace plush {
namespace {

// Solves of at most so many iterations leave clusters out if these also move between Newton's.
// Eight with them take 1.15 times as long, for an error of 0.0010 instead of 0.0019 of an
// armadillo's swing. A residual of 1e-4 takes 0.52 to 0.63 times as many.
constexpr int kFewIterations = 8;

// Whether a tet's lambda is more than splitting takes.
bool ResistsVolume(const ElementView& elements) {
  for (size_t b = 0; b < elements.blocks.size(); ++b) {
    const float *bulk = elements.BulkOf(b), *stiffness = elements.StiffnessOf(b);
    for (size_t i = 0; i < kBlockTets; ++i) {
      if (bulk[i] > 0.5f * kMostBulk * stiffness[i]) return true;
    }
  }
  return false;
}

}  // namespace

GradientPart GradientPartOf(ContactSolve* contacts, Body* body) {
  Body::Newton& own = body->newton;
  return {.of = contacts,
          .r = body->rhs.span(),
          .y = body->y.span(),
          .D = own.d.span(),
          .scratch = {own.p.span(), own.q.span()},
          .weight = WeightOf(*body),
          .work = &own.work,
          .most = &own.solved};
}

ImplicitSettings NewtonSettingsOf(const Body& body) {
  ImplicitSettings settings = body.solver.implicit;
  const bool is_tuned = body.tuning.solver == TunedSolver::kImplicit;
  if (settings.newton_iterations == 0) {
    settings.newton_iterations = is_tuned ? body.tuning.newton_iterations : 1;
  }
  if (settings.linear_iterations == 0) {
    settings.linear_iterations = is_tuned ? body.tuning.linear_iterations : 8;
  }
  return settings;
}

// rhs = the part of b that elasticity does not have.
void NewtonStep::MakeInertialPart() {
  const std::span<const NodeVec> x = body->x.span();
  const std::span<NodeVec> y = body->y.span(), rhs = body->rhs.span();
  rhs[x.size()] = NodeVec();
  if (settings.quasistatic) {
    const Vec3 fall = GravityOf(of.settings, *body) * (of.h * of.h);
    for (size_t i = 0; i < x.size(); ++i) {
      rhs[i] = NodeVec(x[i].w > 0.0f ? fall * (1.0f / x[i].w) : Vec3{}, 0.0f);
    }
    return;
  }
  MakeInertialRhs(x, body->v.span(), GravityOf(of.settings, *body), of.h, y, rhs);
  if (settings.mass_damping > 0.0f) AddDrag(x, y, settings.mass_damping, of.h, rhs);
}

// Adds the tets' forces at y, and finds what A is made of.
void NewtonStep::AddForces(std::span<const float> starts) {
  if (has_model()) {
    LineariseModelTets(body->elements, body->y.span(), Elements(), settings, starts,
                       body->newton.tets.span(), body->kappa.span(), body->rhs.span());
  } else if (has_lanes()) {
    LineariseModelLanes(body->elements, body->y.span(), Elements(), settings.model, starts, At(),
                        body->kappa.span(), body->rhs.span());
  } else {
    LineariseTets(body->elements, body->y.span(), Elements(), starts, At(), body->kappa.span(),
                  body->rhs.span());
  }
}

void NewtonStep::Begin() {
  const std::span<float> masses = body->newton.masses.span();
  const float share = MassShare();
  for (size_t i = 0; i < body->x.size(); ++i) {
    masses[i] = body->x[i].w > 0.0f ? share / body->x[i].w : -1.0f;
  }
  masses.back() = -1.0f;
  if (!has_model()) return;
  BeginModelTets(body->elements, body->x.span(), settings, body->Rotations(),
                 body->newton.tets.span());
}

void NewtonStep::Restart() {
  std::copy(body->x.begin(), body->x.end(), body->y.begin());
  AddForces({});
  PlaceFirstIterate(of, body, stats);
  body->progress.has_matrix = false;
  body->progress.iterations = 0;
}

void NewtonStep::End() {
  if (ReportsReactions(*body) || projects()) MakeGradient();
  if (!has_model()) return;
  EndModelTets(body->elements, body->x.span(), body->y.span(), settings, body->newton.tets.span(),
               body->Rotations());
}

double NewtonStep::MakeGradient() {
  const PhaseTimer timer(stats, Phase::kElements);
  MakeInertialPart();
  body->momentum = SumVectors(body->rhs.span());
  AddForces(settings.quasistatic ? std::span<const float>() : body->stretches.span());
  if (ReportsReactions(*body)) StartPinImpulses(body);
  ClearHeld(body->newton.masses.span(), body->rhs.span());
  if (projects()) body->attached.ProjectImpulses(body->rhs.span());
  return std::sqrt(DotProduct(body->rhs.span(), body->rhs.span()));
}

void NewtonStep::MakeMatrix(StressDifferential differential) {
  if (settings.preconditioner == Preconditioner::kJacobi && !is_held) MakeInverses();
  if (!settings.assembled) {
    if (!has_model() && !(has_lanes() && IsExactModel(settings.model, differential))) {
      MakeProducts(body->elements, Elements(), At(), differential, body->newton.products.span(),
                   settings.model);
    }
    return;
  }
  BlockMatrix* const matrix = &body->newton.matrix;
  if (has_model()) {
    MakeModelStiffness(body->elements, Elements(), settings, body->newton.tets.span(), differential,
                       matrix);
  } else {
    MakeStiffness(body->elements, Elements(), At(), differential, matrix);
  }
  for (size_t i = 0; i < body->x.size(); ++i) {
    if (body->x[i].w > 0.0f) matrix->AddToDiagonal(i, MassShare() / body->x[i].w);
  }
}

double NewtonStep::Multiply(StressDifferential differential, std::span<const NodeVec> p,
                            std::span<NodeVec> q) {
  double product = 0.0;
  if (settings.assembled) {
    body->newton.matrix.Multiply(p, q);
  } else {
    product = MultiplyTets(differential, p, q);
  }
  ClearHeld(body->newton.masses.span(), q);
  Project(q);
  return settings.assembled ? DotProduct(p, q) : product;
}

// The same without the matrix, and with any value for pinned nodes.
double NewtonStep::MultiplyTets(StressDifferential differential, std::span<const NodeVec> p,
                                std::span<NodeVec> q) {
  const double inertia = MultiplyMasses(body->newton.masses.span(), p, q);
  if (has_model()) {
    AddModelProduct(body->elements, Elements(), settings, body->newton.tets.span(), differential, p,
                    q);
    return DotProduct(p, q);
  }
  if (has_lanes() && IsExactModel(settings.model, differential)) {
    return inertia + AddModelLanesProduct(body->elements, Elements(), settings.model, At(), p, q);
  }
  return inertia + AddStiffnessProduct(body->elements, Elements(), body->newton.products.span(),
                                       differential, p, q);
}

// S in front of the matrix and behind the preconditioner, see constraint_projector.h.
void NewtonStep::Project(std::span<NodeVec> v) {
  if (!projects()) return;
  body->attached.block.projector.Project(v, body->attached.block.Numbers());
}

void NewtonStep::MakeInverses() {
  const std::span<Mat3> blocks = body->newton.inverses.span();
  for (size_t i = 0; i < blocks.size(); ++i) {
    const float w = body->x[i].w, m = w > 0.0f ? MassShare() / w : 1.0f;
    blocks[i] = {{m, 0.0f, 0.0f}, {0.0f, m, 0.0f}, {0.0f, 0.0f, m}};
  }
  if (has_model()) {
    AddModelDiagonal(body->elements, Elements(), settings, body->newton.tets.span(), blocks);
  } else {
    AddStiffnessDiagonal(body->elements, Elements(), At(), blocks);
  }
  for (Mat3& block : blocks) {  // symmetric: the inverse is the cofactors over the determinant
    const Mat3 cofactors = Cofactor(block);
    const float det = Dot(block.c0, cofactors.c0);
    block = cofactors * (det > 0.0f ? 1.0f / det : 0.0f);
  }
}

void NewtonStep::Precondition(const ClusterSolve* clusters, std::span<NodeVec> z) {
  if (settings.preconditioner == Preconditioner::kFactor) {
    if (clusters == nullptr) return SolvePanels(of.system.factor, of.system.workspace, z);
    double numbers[8 * kMaxClusters];
    const std::span<double> motions = {numbers, 8 * clusters->level.num_clusters()};
    clusters->FindMotions(z, motions);
    SolvePanels(of.system.factor, of.system.workspace, z);
    clusters->AddMotions(motions, z);
    return;
  }
  if (settings.preconditioner == Preconditioner::kNone) return;
  const std::span<const Mat3> inverses = body->newton.inverses.span();
  for (size_t i = 0; i < inverses.size(); ++i) z[i] = inverses[i] * z[i];
}

bool NewtonStep::HasClusterSolve() const {
  return settings.preconditioner == Preconditioner::kFactor &&
         body->system->coarse.num_clusters() > 0 &&
         (settings.linear_iterations > kFewIterations || !MovesClusters(of.settings, *body));
}

// C of the clusters at y, divided by the factor that a drag puts on masses.
void NewtonStep::MakeClusterMatrix(std::span<ClusterSums> sums) {
  const CoarseLevel& coarse = body->system->coarse;
  coarse.Sum(body->y.span(), body->rhs.span(), sums);
  const NodePlaces places = {&body->y[0].x, sizeof(NodeVec) / sizeof(float), 1};
  body->coarse.Make(coarse.pattern, of.h * (of.h + body->elements.damping) / DragShare(),
                    coarse.masses.span(), coarse.turns.span(), places, body->Rotations(), sums);
  body->responses.Forget();
  body->progress.has_matrix = true;
}

// newton.d = A^-1 rhs as far as the settings say. rhs is lost.
LinearResult NewtonStep::Solve(StressDifferential differential) {
  const PhaseTimer timer(stats, Phase::kSolve);
  MakeMatrix(differential);
  ClusterSums of_clusters[kMaxClusters];
  const CoarseLevel& coarse = body->system->coarse;
  const std::span<ClusterSums> sums = {of_clusters, coarse.num_clusters()};
  const bool has_clusters = HasClusterSolve();
  if (has_clusters) MakeClusterMatrix(sums);
  const ClusterSolve clusters = {coarse, body->coarse, sums, body->y.span(),
                                 1.0 / double(DragShare())};
  const auto multiply = [&](std::span<const NodeVec> p, std::span<NodeVec> q) {
    return Multiply(differential, p, q);
  };
  const auto precondition = [&](std::span<NodeVec> z) {
    Precondition(has_clusters ? &clusters : nullptr, z);
    Project(z);
  };
  const LinearLimits limits = {settings.linear_iterations, double(settings.linear_tolerance)};
  Body::Newton& own = body->newton;
  const std::span<NodeVec> p = own.p.span(), q = own.q.span(), d = own.d.span();
  LinearResult result;
  if (settings.linear_method == LinearMethod::kMinimumResiduals) {
    const MinresScratch scratch = {p, q, own.v.span(), own.w.span(), own.last_w.span()};
    result = MinimumResiduals(multiply, precondition, limits, scratch, body->rhs.span(), d);
    result.is_indefinite = !(result.work > 0.0);
  } else {
    result = ConjugateGradients(multiply, precondition, limits, {p, q}, body->rhs.span(), d);
  }
  stats->linear_iterations += static_cast<uint32_t>(result.iterations);
  const bool is_free =
      body->system->num_pinned == 0 && !body->attached.any() && settings.mass_damping == 0.0f;
  if (is_free && !MovesClusters(of.settings, *body)) {
    KeepMomentum(body->x.span(), body->momentum, d.first(body->x.size()));
  }
  return result;
}

ContactSolve NewtonStep::ContactPart() const {
  ContactSolve part = {of.system, ProblemOf(of.settings, of.h, *body), &body->contacts,
                       body->d.span()};
  if (body->attached.any()) part.problem.attached = &body->attached;
  return part;
}

// The same where contacts or springs may hold the body. Moves y, too.
LinearResult NewtonStep::SolveHeld(StressDifferential differential) {
  const PhaseTimer timer(stats, Phase::kContact);
  MakeMatrix(differential);
  ContactSolve solve = ContactPart();
  const GradientPart part = GradientPartOf(&solve, body);
  const auto multiply = [&](float) { Multiply(differential, part.scratch.p, part.scratch.q); };
  const LinearLimits limits = {settings.linear_iterations, double(settings.linear_tolerance)};
  const LinearResult result = ContactGradients([&](const auto& visit) { visit(part, multiply); },
                                               limits, &solve, &longest2);
  stats->linear_iterations += static_cast<uint32_t>(result.iterations);
  CountContacts(*part.most, stats);
  return result;
}

// Work of the springs' forces at y along displacements [kg m^2, world].
double NewtonStep::WorkOfSprings(std::span<const NodeVec> d) {
  AttachedPoints* const attached = &body->attached;
  attached->Locate([this](uint32_t node) { return body->y[node]; });
  return SumSprings([&](const auto& visit) { visit(attached, d); }, SpringWork);
}

// Moves y along newton.d, unless it `has_moved`, and makes the gradient there. `work` is
// that of newton.d at the start. Goes back on the way, if the settings say so, until the objective
// has not risen; with the contacts' impulses as forces. Returns whether y has moved.
bool NewtonStep::MoveBy(double work, bool has_moved) {
  const std::span<NodeVec> d = body->newton.d.span();
  const double weight = is_held ? WeightOf(*body) : 1.0;
  const double of_contacts = is_held ? ContactWork(body->contacts, d) : 0.0;
  float moved = 1.0f;
  if (!has_moved) MoveNodes(d, body->y.span());
  for (int i = 0;; ++i) {
    MakeGradient();
    double along = weight * (DotProduct(body->rhs.span(), d) + of_contacts);
    if (is_held && body->attached.has_springs) along += WorkOfSprings(d);
    const double at_end = along * double(moved);
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

bool NewtonStep::MovesHeldClusters() const {
  return MovesClusters(of.settings, *body) &&
         !(settings.line_search && ResistsVolume(body->elements));
}

void NewtonStep::MoveClusters() {
  if (!MovesClusters(of.settings, *body)) return;
  if (!settings.line_search || !ResistsVolume(body->elements)) {
    return CorrectClusters(of.settings, of.h, body, stats);
  }
  if (is_held) return;
  const std::span<NodeVec> d = body->newton.d.span(), start = body->newton.p.span();
  MakeGradient();
  std::copy(body->rhs.begin(), body->rhs.end(), start.begin());
  std::copy(body->y.begin(), body->y.end(), d.begin());
  CorrectClusters(of.settings, of.h, body, stats);
  for (size_t i = 0; i < d.size(); ++i) d[i] = NodeVec(body->y[i] - d[i], 0.0f);
  MoveBy(DotProduct(start, d), true);
}

// One Newton iteration. Returns whether y has moved; `norm` is that of b afterwards.
bool NewtonStep::Iterate(double* norm) {
  const StressDifferential wanted = settings.differential;
  for (const StressDifferential differential : {wanted, StressDifferential::kHybrid}) {
    const LinearResult result = is_held ? SolveHeld(differential) : Solve(differential);
    if (result.iterations > 0 &&
        !(result.is_indefinite && differential == StressDifferential::kExact)) {
      if (MoveBy(result.work, is_held)) {
        *norm = std::sqrt(DotProduct(body->rhs.span(), body->rhs.span()));
        return true;
      }
    } else {
      if (is_held) {
        for (size_t k = 0; k < body->y.size(); ++k) body->y[k] -= body->newton.d[k];
      }
      MakeGradient();
    }
    if (differential == StressDifferential::kHybrid) break;
    ++stats->newton_fallbacks;
  }
  return false;
}

}  // namespace plush

// SPDX-License-Identifier: MIT
// One substep of one body: the splitting step of [Kug, Alg. 2] on two levels, with planes inside
// the solves. Based on: Tassilo Kugelstadt, Dan Koschier, Jan Bender. Fast Corotated FEM using
// Operator Splitting. 2018
//
// Deviations from the paper:
// - A coarse level (coarse_level.h) gives bodies the turns that A takes back, after each solve.
//   Once at the end of the substep is not enough: how good the motion is then depends on luck with
//   the clusters (error of an armadillo's swing: 0.02 to 0.10, after each solve 0.02 to 0.03).
// - The volume term has no sweeps, unless volume_sweeps is above 0. Sweeps move nodes by mass, and
//   hardly build up multipliers: with them, the two levels miss the swing by 0.3 to 0.5.
//   Multipliers move towards their law in the element pass instead. With sweeps, there is no coarse
//   level.
// - The multipliers kappa of the volume term enter the right-hand side of the stretch solve and are
//   kept from step to step. If they were reset, a resting body would balance its stretch forces
//   against volume forces of another configuration. A hanging bar of E = 1e6 Pa then shows
//   Poisson's ratio 26% above 0.3 and 12% below 0.45; with kept multipliers, within 1% of both.
// - Positions are relative to an origin that follows the body, and velocities change by the
//   deviation from the prediction. So precision suffers neither far from the world's origin nor in
//   a fall.
// - det F has a lower bound (LiftFlatTets). The paper's tets may turn inside out.
#include "base/vector_math.h"
#include "body/attachment_step.h"
#include "body/body.h"
#include "body/body_colliders.h"
#include "body/coarse_correction.h"
#include "body/node_pass.h"
#include "body/pin_motion.h"
#include "body/restitution.h"
#include "body/solver_method.h"
#include "body/substep.h"
#include "contact/contact_pushes.h"
#include "elasticity/element_pass.h"
#include "solver/panel_solve.h"
#include "solver/volume_sweep.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <utility>

namespace plush {
namespace {

// Whether the first iterate of a substep leaves gravity out. A held body mostly does not fall.
// If its first iterate fell, the solve would have to undo that with the constant matrix, which is
// too stiff against turns. The shape at rest would then depend on the number of iterations (a
// cantilever hung 9% too low after one, 7% too high after five).
bool StartsWithoutGravity(const Body& body) {
  return body.system->num_pinned > 0 || body.attached.any();
}

// Whether solves restore the momentum of a free body. If clusters follow, they do.
bool SolvesKeepMomentum(const StepSettings& settings, const Body& body) {
  return body.system->num_pinned == 0 && !body.attached.any() && !HasCoarseLevel(settings, body) &&
         body.system->key.material.drag == 0.0f;
}

// Finds the rotations on several threads. Each job writes only those of its blocks, so the result
// does not depend on the schedule.
void ShareRotations(const StepSettings& settings, Body* body) {
  constexpr size_t kBlocksPerJob = 128;
  struct Context {
    const StepSettings& settings;
    Body* body;
  } context = {settings, body};
  const size_t num_blocks = body->elements.blocks.size();
  const JobFunction job = [](void* user, uint32_t index) {
    const Context& c = *static_cast<const Context*>(user);
    const size_t begin = kBlocksPerJob * index;
    const size_t end = std::min(begin + kBlocksPerJob, c.body->elements.blocks.size());
    FindRotations(c.body->elements, c.body->y.span(), c.settings.splitting.polar_iterations, begin,
                  end, c.body->Rotations());
  };
  settings.jobs->run(settings.jobs->user,
                     static_cast<uint32_t>((num_blocks + kBlocksPerJob - 1) / kBlocksPerJob), job,
                     &context);
}

// b = M (predicted - y) + dt^2 f(y), less the drag of a step that the implicit solver leaves to
// splitting: the negative gradient of the step's objective at y. Returns the lowest det F at y, at
// most 1.
float MakeRightHandSide(const StepSettings& settings, float h, bool is_first, Body* body) {
  const size_t num_nodes = body->x.size();
  const bool is_predicted = is_first && !body->progress.is_put_back;
  if (is_predicted && !StartsWithoutGravity(*body)) {  // y is the prediction
    std::fill(body->rhs.begin(), body->rhs.end(), NodeVec());
  } else {
    MakeInertialRhs(body->x.span(), body->v.span(), GravityOf(settings, *body), h, body->y.span(),
                    body->rhs.span());
    body->rhs[num_nodes] = NodeVec();
  }
  const float drag = body->system->key.material.drag;
  if (drag > 0.0f) AddDrag(body->x.span(), body->y.span(), drag, h, body->rhs.span());
  if (SolvesKeepMomentum(settings, *body)) body->momentum = SumVectors(body->rhs.span());
  const bool shares = settings.jobs != nullptr && body->elements.blocks.size() >= kBlocksForJobs;
  if (shares) ShareRotations(settings, body);
  const float lowest = AddElasticImpulses(
      body->elements, body->y.span(),
      {h, body->elements.damping, shares ? 0 : settings.splitting.polar_iterations,
       Relaxation(settings, is_first), kSplittingLaw},
      body->stretches.span(), body->kappa.span(), 0, body->elements.blocks.size(),
      body->Rotations(), body->rhs.span());
  if (ReportsReactions(*body)) StartPinImpulses(body);
  if (body->system->num_pinned > 0) ClearPinned(body->x.span(), body->rhs.span());
  return lowest;
}

// d := A^-1 (d + impulses of the springs), with the impulses that follow from it.
void SolveAttached(const FactoredSystem& system, float accuracy, AttachedPoints* attached,
                   std::span<NodeVec> d) {
  attached->Locate([attached](uint32_t node) { return attached->y[node]; });
  attached->Push([d](uint32_t node, const Vec3& impulse) { d[node] += impulse; });
  SolvePanels(system.factor, system.workspace, d);
  attached->StartSweeps([d](uint32_t node) { return d[node]; });
  attached->SweepAlone(accuracy);
  attached->AddChanges(d);
  attached->MoveOthers();
}

// A body's part in the solve of an outer iteration. Points that a soft body presses below a plane
// are left to the next one, as long as one follows for sure. The last one searches once more than
// others, unless the body is in a heap.
ContactSolve PartOf(const StepSettings& settings, const FactoredSystem& system, Body* body) {
  ContactProblem problem = ProblemOf(settings, system.system.dt, *body);
  if (body->attached.any()) problem.attached = &body->attached;
  const Body::Progress& p = body->progress;
  ContactSolve part = {system, problem, &body->contacts, body->d.span()};
  // (Stacked bodies would creep: a stack of ten cubes by 1.5% of an edge instead of 0.2%.)
  constexpr double kStiffInHeap = 17.0;  // clusters; more substeps take care of softer bodies
  const bool turns_in_heap = body->attached.any() || body->system->num_pinned > 0 ||
                             body->system->coarse.CrossesClusters(system.system.dt, kStiffInHeap);
  part.may_turn = p.is_stiff && (turns_in_heap || body->contacts.between.empty()) &&
                  FindOnlyHinge(*body, body->y.span().first(body->x.size()), &part.hinge);
  if (!p.is_soft) return part;
  const bool is_alone = body->contacts.between.empty();
  const bool is_on_solid = std::ranges::any_of(problem.colliders, &LocalCollider::is_solid);
  const bool ends_early = is_alone && is_on_solid;
  const int most = std::max(ends_early ? 2 : settings.contact.iterations, p.least_iterations);
  const bool is_last = p.iterations + 1 >= most;
  if (!is_last || is_alone) part.problem.searches = is_last ? 3 : 1;
  return part;
}

// Returns the displacement of the outer iteration (num_nodes + 1 x 1).
std::span<const NodeVec> SolveDisplacement(const StepSettings& settings,
                                           const FactoredSystem& system, Body* body,
                                           StepStats* stats) {
  AttachedPoints* attached = body->attached.any() ? &body->attached : nullptr;
  if (!MayHold(settings, *body)) {
    if (attached != nullptr) {
      SolveAttached(system, SolveAccuracy(settings, system.system.dt, *body), attached,
                    body->rhs.span());
      return body->rhs.span();
    }
    SolvePanels(system.factor, system.workspace, body->rhs.span());
    if (SolvesKeepMomentum(settings, *body)) {
      KeepMomentum(body->x.span(), body->momentum, body->rhs.span());
    }
    return body->rhs.span();
  }
  ContactSolve solve = PartOf(settings, system, body);
  SolveWithContacts(&solve);
  if (attached != nullptr) attached->MoveOthers();
  CountContacts(solve.stats, stats);
  if (SolvesKeepMomentum(settings, *body) && !body->contacts.any()) {
    KeepMomentum(body->x.span(), body->momentum, body->d.span());
  }
  return body->d.span();
}

// Returns whether a tet may be flat now.
bool SweepBody(const StepSettings& settings, float h, Body* body, StepStats* stats) {
  if (settings.splitting.volume_sweeps == 0) return false;
  const PhaseTimer timer(stats, Phase::kVolume);
  NotePlaces(body->y.span(), &body->contacts);
  if (ReportsReactions(*body)) {
    std::copy(body->kappa.begin(), body->kappa.end(), body->pins.swept.begin());
  }
  // Nodes that are put back leave tets that the stiffest multipliers would throw apart.
  const float most = body->contacts.any() ? kMostBulk : LawOf(body->splitting).most_bulk;
  SweepChanges last;
  for (int sweep = 0; sweep < settings.splitting.volume_sweeps; ++sweep) {
    last = SweepVolumes(body->elements, h, body->y.span(), body->kappa.span(), most);
    PutBack(body->contacts, body->y.span());
  }
  if (ReportsReactions(*body)) AddSweepImpulses(body);
  return MayBeFlat(last);
}

// Returns the longest component of any displacement. Lowers `lowest_det_f` to that of any tet
// beforehand.
float OuterIteration(const StepSettings& settings, const FactoredSystem& system, bool is_first,
                     Body* body, StepStats* stats, float* lowest_det_f) {
  std::span<const NodeVec> d;
  {
    PhaseTimer timer(stats, Phase::kElements);
    *lowest_det_f =
        std::fmin(*lowest_det_f, MakeRightHandSide(settings, system.system.dt, is_first, body));
    timer.Switch(SolvePhase(settings, *body));
    d = SolveDisplacement(settings, system, body, stats);
  }
  if (ReportsReactions(*body)) SubtractStiffness(system.system.dt, d, body);
  return MoveNodes(d, body->y.span());
}

}  // namespace

void CountContacts(const ContactSolveStats& solved, StepStats* stats) {
  stats->contact_sweeps = std::max(stats->contact_sweeps, static_cast<uint32_t>(solved.sweeps));
  stats->contacts_dropped = std::max(stats->contacts_dropped, solved.num_dropped);
  if (solved.num_dropped > 0) stats->flags |= kStepContactsDropped;
  stats->contacts_unsettled += solved.unsettled;
}

float Relaxation(const StepSettings& settings, bool is_first) {
  if (settings.splitting.volume_sweeps > 0) return 0.0f;
  return is_first ? 2.5f : 1.5f;
}

int LeastIterations(float from, float to) {
  constexpr int kIterations = 5;
  return from > 0.0f && to > kMostStepGrowth * from ? kIterations : 1;
}

float MultiplierScale(float from, float to) {
  constexpr float kMostGrowth = 2.0f;
  const float ratio = from > 0.0f ? std::fmin(to / from, kMostGrowth) : 1.0f;
  return ratio * ratio;
}

void ScaleMultipliers(float h, Array<float>* kappa, float* kappa_dt) {
  if (*kappa_dt == h) return;
  const float scale = MultiplierScale(*kappa_dt, h);
  for (float& multiplier : *kappa) multiplier *= scale;
  *kappa_dt = h;
}

void EndStep(const StepSettings& settings, Body* body, StepStats* stats) {
  if (body->pins.moves) EndPinMotion(body);
  if (body->fixed || body->frozen) return;
  PlaceLocalColliders(settings, 1.0f, settings.dt, body);
  stats->contacts = body->contacts.num_contacts;
  const float static_speed = std::exchange(body->progress.static_speed, 0.0f);
  stats->max_speed = body->scale * std::fmax(LongestVector(body->v.span()), static_speed);
}

namespace {

// Settings of a substep. One much longer than the one before is a step of [Kug]: its multipliers
// start too small, and sweeps restore volumes at once. Relaxed multipliers would let volumes drift
// for many steps, and shorter steps after it turn such a drift into energy.
StepSettings SettingsOf(const StepSettings& settings, int count, const Body& body) {
  constexpr int kSweeps = 2;
  StepSettings own = settings;
  const float h = settings.dt / static_cast<float>(count);
  if (!FollowsSubsteps(settings, count, body) && LeastIterations(body.kappa_dt, h) > 1 &&
      own.splitting.volume_sweeps == 0) {
    own.splitting.volume_sweeps = kSweeps;
  }
  return own;
}

}  // namespace

SubstepOf::SubstepOf(const StepSettings& of_step, int number, int num_substeps, Body* body)
    : settings(of_step),
      k(number),
      count(num_substeps),
      h(of_step.dt / static_cast<float>(num_substeps)),
      system(FactoredSystemOf(of_step.dt, num_substeps, body)) {
  settings.splitting.volume_sweeps = body->progress.volume_sweeps;
}

void PlaceFirstIterate(const SubstepOf& of, Body* body, StepStats* stats) {
  PredictNodes(body->x.span(), body->v.span(),
               StartsWithoutGravity(*body) ? Vec3{} : GravityOf(of.settings, *body), of.h,
               body->y.span());
  if (body->pins.moves) PlacePins(of.k, of.count, body, stats);
}

bool FindOnlyHinge(const Body& body, std::span<const NodeVec> at, Hinge* hinge) {
  const CoarseLevel& coarse = body.system->coarse;
  *hinge = {};
  if (body.simulation.components > 1) return false;
  if (body.system->num_pinned == 0) return true;
  const auto moves = [](float mass) { return mass > 0.0f; };
  const auto count = static_cast<size_t>(std::ranges::count_if(coarse.masses, moves));
  if (coarse.num_components() != 1 || coarse.free_clusters.size() != count) return false;
  coarse.FindHinges({&at[0].x, sizeof(NodeVec) / sizeof(float), 1}, {hinge, 1});
  return hinge->kind != Hinge::Kind::kHeld;
}

void TurnAlone(const StepSettings& settings, float h, Body* body) {
  if (!TurnsPrediction(settings, h, *body)) return;
  TurnPrediction(settings, h, body);
  body->progress.is_put_back = true;
}

void BeginSubstep(const StepSettings& of_step, int k, int count, Body* body, StepStats* stats) {
  const float h = of_step.dt / static_cast<float>(count);
  const StepSettings settings = SettingsOf(of_step, count, *body);
  body->progress = {.volume_sweeps = settings.splitting.volume_sweeps};
  const ContactMethod* method = settings.contact.method;
  if (method != nullptr && method->push != nullptr) method->push(settings, h, body);
  if (body->stretches.size() > 0) {
    // ComputeStretches needs the spare element that y has and x lacks.
    std::copy(body->x.begin(), body->x.end(), body->y.begin());
    ComputeStretches(body->elements, body->y.span(), settings.splitting.polar_iterations,
                     body->Rotations(), body->stretches.span());
  }
  PlaceFirstIterate(SubstepOf(settings, k, count, body), body, stats);
  const bool follows = FollowsSubsteps(of_step, count, *body);
  const IterationPlan plan = PlanIterations(settings.splitting, *body, h);
  body->progress.least_iterations =
      std::max(plan.outer_iterations, follows ? 1 : LeastIterations(body->kappa_dt, h));
  body->progress.is_soft = plan.is_soft && body->solver.method == nullptr;
  body->progress.is_stiff = plan.is_stiff && body->solver.method == nullptr;
  if (!body->attached.any()) TurnAlone(settings, h, body);
  const float scale = MultiplierScale(body->kappa_dt, h);
  for (PlaneContact& contact : body->contacts.Current()) contact.impulse *= scale;
  ScaleMultipliers(h, &body->kappa, &body->kappa_dt);
  if (body->contacts.num_contacts > 0) {
    // [sizes / s]. Above the motion of contacts that take turns, below that of a swing. If faster
    // bodies passed on loads slowly, too, presses would deform them too far.
    constexpr float kSlow = 1.0e-2f;
    body->progress.is_slow =
        body->contacts.between.empty() && LongestVector(body->v.span()) < kSlow * body->size;
    BeginSubstep(ProblemOf(settings, h, *body), &body->contacts);
  }
  PrepareAttached(FactoredSystemOf(of_step.dt, count, body), body);
}

// What follows a solve. `owes`: clusters move before the next one, if at all.
static void EndIteration(const SubstepOf& of, bool owes, Body* body, StepStats* stats) {
  Body::Progress& p = body->progress;
  p.is_owed = owes;
  if (!p.is_owed) CorrectClusters(of.settings, of.h, body, stats);
  p.may_be_flat = SweepBody(of.settings, of.h, body, stats);
  HoldConstraints(of.h, body);
  ++p.iterations;
}

void Iterate(const SubstepOf& of, Body* body, StepStats* stats) {
  Body::Progress& p = body->progress;
  const SolverMethod* method = body->solver.method;
  if (method != nullptr && p.iterations == 0 && method->advance(of, body, stats)) {
    p.is_done = true;
    return;
  }
  // A turn lifts touching nodes off a plane, or sinks them, to second order. So the last word is
  // the fine solve's if nodes touch.
  if (p.is_owed) CorrectClusters(of.settings, of.h, body, stats);
  p.longest = OuterIteration(of.settings, of.system, p.iterations == 0, body, stats, &p.lowest);
  EndIteration(of, body->contacts.any(), body, stats);
}

void BeginJointSolve(const SubstepOf& of, Body* body, StepStats* stats) {
  {
    const PhaseTimer timer(stats, Phase::kElements);
    Body::Progress& p = body->progress;
    p.lowest = std::fmin(
        p.lowest, MakeRightHandSide(of.settings, of.system.system.dt, p.iterations == 0, body));
  }
  body->solve = PartOf(of.settings, of.system, body);
}

void EndJointSolve(const SubstepOf& of, Body* body, StepStats* stats) {
  CountContacts(body->solve.stats, stats);
  body->progress.longest = MoveNodes(body->d.span(), body->y.span());
  const bool owes = body->contacts.any() || body->attached.joins_bodies;
  EndJointMove(of, body->d.span(), owes, body, stats);
}

void EndJointMove(const SubstepOf& of, std::span<const NodeVec> d, bool owes, Body* body,
                  StepStats* stats) {
  if (ReportsReactions(*body)) SubtractStiffness(of.system.system.dt, d, body);
  EndIteration(of, owes, body, stats);
}

// While a point touches, iterations go on as long as one moves a node by more than a small share of
// the median edge, the smaller the more damped the body is: A resists turns by its viscous part,
// too, so an iteration goes a smaller part of the way. (An octopus with 0.15 s of damping crept to
// its rest twice as slowly as it should.) Without the coarse level, it takes more of them: if an
// impact on light legs ended after three, it would add up to 2% of the fall's energy.
bool WantsIteration(const SubstepOf& of, Body* body, int least_of_island) {
  const int least = std::max(least_of_island, body->progress.least_iterations);
  const int done = body->progress.iterations;
  constexpr float kConverged = 3.0e-5f;  // [median edges]; above it, small bodies rock on slopes
  constexpr float kAtRest = 1.0e-4f;     // [sizes per s]; slower moves need no more iterations
  constexpr int kMostWithoutCoarse = 8;
  if (body->progress.is_done) return false;
  if (done < least) return true;
  const bool has_coarse = HasCoarseLevel(of.settings, *body);
  if (!body->contacts.any()) return false;
  if (has_coarse && done < 2) return true;  // clusters have not moved yet
  const int own = of.settings.contact.iterations;
  if (!has_coarse && done < own) return true;
  const float far = kConverged * body->simulation.median_edge;
  const float resisting = 1.0f + body->elements.damping / of.h;
  const float at_rest = std::fmin(far, kAtRest * body->size * of.h);
  return done < (has_coarse ? own : std::max(own, kMostWithoutCoarse)) &&
         body->progress.longest > std::fmax(far / resisting, at_rest);
}

void EndSolves(const SubstepOf& of, Body* body, StepStats* stats) {
  Body::Progress& p = body->progress;
  stats->outer_iterations = std::max(stats->outer_iterations, static_cast<uint32_t>(p.iterations));
  if (ReportsReactions(*body)) AddReactions(of.settings, of.k, of.count, body);
  AddTouches(of.h, body);
  p.rebound = FindThrowBack(of.settings, of.h, body);
}

bool IsSunk(const SubstepOf& of, Body* body) {
  constexpr float kMostDepth = 3.0f;  // [slops]; less is not worth another iteration
  return !body->progress.is_done && SolvesContact(of.settings) &&
         IsBelowSurface(of.settings, kMostDepth, body);
}

void IterateOnce(const SubstepOf& of, Body* body, StepStats* stats) {
  Body::Progress& p = body->progress;
  OuterIteration(of.settings, of.system, false, body, stats, &p.lowest);
  HoldConstraints(of.h, body);
  p.may_be_flat = true;
  ++p.iterations;
}

}  // namespace plush

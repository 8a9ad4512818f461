// SPDX-License-Identifier: MIT
// Clusters of one body move after a solve. Source: see coarse_level.h.
#include "body/coarse_correction.h"

#include "body/body_colliders.h"
#include "body/node_pass.h"
#include "body/pin_motion.h"
#include "contact/body_contacts.h"
#include "contact/coarse_contacts.h"
#include "elasticity/element_pass.h"

#include <algorithm>
#include <cmath>

namespace plush {
namespace {

// Sums the right-hand side at y over the clusters: the nodes' inertia, the tets between clusters,
// contacts and springs. The timer is in SolvePhase.
void SumClusters(const StepSettings& settings, float h, Body* body, std::span<ClusterSums> sums,
                 PhaseTimer* timer) {
  const CoarseLevel& coarse = body->system->coarse;
  MakeInertialRhs(body->x.span(), body->v.span(), GravityOf(settings, *body), h, body->y.span(),
                  body->rhs.span());
  coarse.Sum(body->y.span(), body->rhs.span(), sums);
  timer->Switch(Phase::kElements);
  std::fill(body->rhs.begin(), body->rhs.end(), NodeVec());
  for (const BlockRun& run : coarse.runs) {
    AddElasticImpulses(body->elements, body->y.span(),
                       {h, body->elements.damping, settings.splitting.polar_iterations},
                       body->stretches.span(), body->kappa.span(), run.begin, run.end,
                       body->Rotations(), body->rhs.span());
  }
  timer->Switch(SolvePhase(settings, *body));
  coarse.AddForces(body->y.span(), body->rhs.span(), body->progress.is_stiff, sums);
  AddContactImpulses(body->contacts, body->system->coarse.clusters.span(), body->y.span(), sums);
  if (!body->attached.any()) return;
  body->attached.Locate([body](uint32_t node) { return body->y[node]; });
  body->attached.AddTo(body->system->coarse.clusters.span(), sums);
}

// Takes back what the clusters' `motions` overshot; see coarse_level.h. `work` is their
// WorkAtStart. On return, `motions` are those that remain.
void TakeBackMotions(const StepSettings& settings, float h, float work, Body* body,
                     std::span<RigidMotion> motions, StepStats* stats, PhaseTimer* timer) {
  const CoarseLevel& coarse = body->system->coarse;
  ClusterSums sums[kMaxClusters];
  for (int part = 0; part <= kMostParts; ++part) {
    SumClusters(settings, h, body, sums, timer);
    float at_end = 0.0f;
    for (size_t k = 0; k < motions.size(); ++k) at_end += WorkAtEnd(sums[k], motions[k]);
    float share = ShareToKeep(work, at_end);
    if (share == 1.0f) return;
    if (part == kMostParts) share = 0.0f;
    if (part == 0) ++stats->overshoots;
    for (RigidMotion& motion : motions) motion = InverseOf(motion);
    coarse.Move(motions, body->y.span());
    for (RigidMotion& motion : motions) motion = PartOf(InverseOf(motion), share);
    if (share == 0.0f) return;
    coarse.Move(motions, body->y.span());
    work *= share;
  }
}

// Takes what the clusters' `motions`, which are done, change out of the impulses on pins.
void SubtractMotions(float h, std::span<RigidMotion> motions, Body* body) {
  for (RigidMotion& motion : motions) motion = InverseOf(motion);
  std::copy(body->y.begin(), body->y.end(), body->rhs.begin());
  body->system->coarse.Move(motions, body->rhs.span());
  for (size_t i = 0; i < body->rhs.size(); ++i) body->rhs[i] = body->y[i] - body->rhs[i];
  SubtractStretchStiffness(h, body->rhs.span(), body);
}

// Where `motions` take a point. Pinned nodes stay.
Vec3 MovedTo(const CoarseLevel& coarse, std::span<const RigidMotion> motions,
             const AttachedPoint& at) {
  Vec3 place;
  for (int k = 0; k < 4; ++k) {
    const RigidMotion& motion = motions[coarse.clusters[at.point.nodes[k]]];
    const Vec3 r = at.at[k] - motion.centre;
    const Vec3 way = at.point.Free(k) != 0.0f ? motion.shift + motion.change * r : Vec3{};
    place += (at.at[k] + way) * at.point.weights[k];
  }
  return place;
}

// Whether free nodes of a component carry a point.
bool IsIn(std::span<const uint16_t> component, const CoarseLevel& coarse,
          const EmbeddedPoint& point) {
  for (int k = 0; k < 4; ++k) {
    if (point.Free(k) == 0.0f) continue;
    if (std::ranges::find(component, coarse.clusters[point.nodes[k]]) != component.end()) {
      return true;
    }
  }
  return false;
}

// The springs that hold component `c` to targets, once its clusters have made `motions`. Those at
// their largest force do not resist. Those between bodies do not, either: both keep their momentum.
// Those with a rest length do in all directions, as if they could not turn.
ComponentHold HoldOf(const Body& body, size_t c, std::span<const ClusterSums> sums,
                     std::span<const RigidMotion> motions) {
  const CoarseLevel& coarse = body.system->coarse;
  const AttachedPoints& attached = body.attached;
  const std::span<const uint16_t> component = coarse.Component(c);
  const float s3 = body.scale * body.scale * body.scale;
  ComponentHold hold;
  for (const AttachedPoint& at : attached.Current()) {
    const AttachmentRow& row = attached.RowOf(at);
    if (row.is_constraint() || !row.acts || row.sides[1].of != nullptr || row.IsAtLimit()) continue;
    if (!IsIn(component, coarse, at.point)) continue;
    hold.Add(row.gain / s3, MovedTo(coarse, motions, at) - sums[component[0]].centre);
  }
  return hold;
}

// The directions in which constraints hold component `c`, once its clusters have made `motions`.
struct HeldOf {
  static constexpr size_t kMost = 96;
  HeldDirection directions[kMost];
  uint32_t points[kMost];
  size_t count = 0;
  bool fits = true;

  HeldOf(const Body& body, size_t c, std::span<const RigidMotion> motions) {
    const CoarseLevel& coarse = body.system->coarse;
    const AttachedPoints& attached = body.attached;
    const std::span<const uint16_t> component = coarse.Component(c);
    for (const ConstraintBlock::Row& row : attached.block.Current()) {
      const AttachedPoint& at = attached.points[row.point];
      if (!attached.RowOf(at).acts || !IsIn(component, coarse, at.point)) continue;
      fits = fits && count < kMost;
      if (!fits) return;
      const Vec3 place = MovedTo(coarse, motions, at);
      const Vec3 way = attached.RowOf(at).base * (1.0f / body.scale) + place;
      points[count] = row.point;
      directions[count++] = {place, row.direction, double(Dot(row.direction, way))};
    }
  }

  std::span<HeldDirection> Directions() { return {directions, count}; }
  void AddImpulses(AttachedPoints* attached) const {
    const float s = attached->scale, to_world = s * s * s * s;
    for (size_t i = 0; i < count; ++i) {
      AttachmentRow& row = attached->RowOf(attached->points[points[i]]);
      row.impulse +=
          directions[i].direction * (static_cast<float>(directions[i].impulse) * to_world);
    }
  }
};

// Which clusters have contacts on free nodes.
class TouchingClusters {
 public:
  explicit TouchingClusters(const Body& body) {
    const auto add = [&](const EmbeddedPoint& point) {
      for (int k = 0; k < 4; ++k) {
        if (point.Free(k) != 0.0f) touches_[body.system->coarse.clusters[point.nodes[k]]] = true;
      }
    };
    for (const PlaneContact& contact : body.contacts.Current()) add(body.contacts.PointOf(contact));
    for (const BodyContactSide& at : body.contacts.between) add(at.contact->sides[at.side].point);
  }
  bool AnyOf(std::span<const uint16_t> clusters) const {
    return std::ranges::any_of(clusters, [this](uint16_t k) { return touches_[k]; });
  }

 private:
  bool touches_[kMaxClusters] = {};
};

// Adds to the `motions` of component `c` what gives it its momenta, and to the constraints that
// hold it what that takes.
void KeepMomenta(size_t c, const Hinge& hinge, std::span<const ClusterSums> sums, Body* body,
                 std::span<RigidMotion> motions) {
  const CoarseLevel& coarse = body->system->coarse;
  const ComponentHold hold = HoldOf(*body, c, sums, motions);
  if (!body->attached.block.any()) return coarse.KeepMomenta(c, hinge, sums, hold, motions);
  HeldOf held(*body, c, motions);
  if (held.count == 0) {
    coarse.KeepMomenta(c, hinge, sums, hold, motions);
  } else if (body->progress.is_stiff && held.fits && !hinge.IsOnPoints() &&
             LeaveMotion(held.Directions())) {
    coarse.KeepHeldMomenta(c, sums, hold, held.Directions(), motions);
    held.AddImpulses(&body->attached);
  }
}

// The mean turn of a body's clusters [rad].
float MeanTurn(const CoarseLevel& coarse, std::span<const RigidMotion> motions) {
  Vec3 sum;
  float mass = 0.0f;
  for (size_t k = 0; k < motions.size(); ++k) {
    sum += AngleOf(motions[k].change) * coarse.masses[k];
    mass += coarse.masses[k];
  }
  return Length(sum) / mass;
}

}  // namespace

bool TurnsPrediction(const StepSettings& settings, float h, const Body& body) {
  constexpr float kFar = 0.02f;  // [sizes]
  if (body.progress.is_stiff) return true;
  if (body.system->num_pinned > 0 || body.contacts.any() || body.attached.any()) return false;
  if (body.solver.method != nullptr || settings.contact.method != nullptr) return false;
  return HasCoarseLevel(settings, body) && body.system->coarse.num_components() > 0 &&
         AnyDiffers(body.v.span(), kFar * body.size / h);
}

void TurnPrediction(const StepSettings& settings, float h, Body* body) {
  const CoarseLevel& coarse = body->system->coarse;
  constexpr size_t kNext = sizeof(NodeVec) / sizeof(float);
  const std::span<NodeVec> y = body->y.span();
  Hinge hinges[kMaxClusters], ends[kMaxClusters];
  coarse.FindHinges({&body->x[0].x, kNext, 1}, hinges);
  coarse.FindHinges({&y[0].x, kNext, 1}, ends);
  const size_t count = coarse.num_components();
  for (size_t c = 0; c < count; ++c) {
    if (ends[c].kind != hinges[c].kind) hinges[c].kind = Hinge::Kind::kHeld;
    for (size_t i = 0; i < 3; ++i) hinges[c].way[i] = ends[c].at[i] - hinges[c].at[i];
  }
  coarse.TurnPredictions(body->x.span(), body->v.span(), h, hinges, !body->progress.is_stiff,
                         body->rhs.span().first(body->x.size()), y);
  if (!body->attached.any() && body->system->num_pinned == 0) return;
  // What holds a body takes it along as a whole: solves would pull at single nodes.
  const TouchingClusters touching(*body);
  ClusterSums sums[kMaxClusters];
  RigidMotion motions[kMaxClusters];
  const std::span<RigidMotion> all = {motions, coarse.num_clusters()};
  MakeInertialRhs(body->x.span(), body->v.span(), GravityOf(settings, *body), h, y,
                  body->rhs.span());
  coarse.Sum(y, body->rhs.span(), sums);
  for (size_t k = 0; k < all.size(); ++k) motions[k] = {sums[k].centre, {}, {}};
  body->attached.Locate([y](uint32_t node) { return y[node]; });
  body->attached.AddToInertia(coarse.clusters.span(), sums);
  for (size_t c = 0; c < count; ++c) {
    if (!touching.AnyOf(coarse.Component(c))) KeepMomenta(c, ends[c], sums, body, all);
  }
  coarse.Move(all, y);
}

void SolveClusters(float h, const NodePlaces& y, std::span<const ClusterSums> sums, Body* body,
                   std::span<RigidMotion> motions) {
  // A body that turns by w takes its stiffness along. The matrix from before the turn resists turns
  // by w^2 of that, and takes parts w of internal forces for moments: at 1e9 Pa, a beam of 4 cm
  // that spins by 0.2 radians a step got 1e7 times its kinetic energy. [clusters that waves cross]
  constexpr float kSameFrame = 0.1f;
  const CoarseLevel& coarse = body->system->coarse;
  const TouchingClusters touching(*body);
  Hinge hinges[kMaxClusters];
  coarse.FindHinges(y, hinges);
  const size_t count = coarse.num_components();
  coarse.Solve(body->coarse, sums, {hinges, body->progress.is_stiff ? count : 0}, motions);
  for (size_t c = 0; c < count; ++c) {
    if (!touching.AnyOf(coarse.Component(c))) KeepMomenta(c, hinges[c], sums, body, motions);
  }
  const float turn = MeanTurn(coarse, motions);
  const bool is_turned = turn > 0.0f && coarse.CrossesClusters(h, double(kSameFrame / turn));
  if (body->progress.is_stiff && is_turned) body->progress.has_matrix = false;
}

namespace {

CoarseContacts PartOf(const StepSettings& settings, float h, std::span<ClusterSums> sums,
                      Body* body) {
  AttachedPoints& attached = body->attached;
  const bool answers = attached.any() && attached.acts_on_clusters;
  return {.coarse = &body->system->coarse,
          .matrix = &body->coarse,
          .clusters = body->system->coarse.clusters.span(),
          .problem = ProblemOf(settings, h, *body),
          .state = body->contacts.any() ? &body->contacts : nullptr,
          .attached = answers ? &attached : nullptr,
          .sums = sums,
          .responses = &body->responses,
          .d = body->d.span(),
          .is_soft = body->progress.is_soft && !answers};
}

// Finds the sums that the clusters' motions follow from, but for contacts, and C.
void BeginCorrection(const StepSettings& settings, float h, std::span<ClusterSums> sums, Body* body,
                     PhaseTimer* timer) {
  const CoarseLevel& coarse = body->system->coarse;
  SumClusters(settings, h, body, sums, timer);
  if (ReportsReactions(*body)) StartPinImpulses(body);
  // A stiff body that touches would resist its own turn since the matrix was made.
  const bool is_stale = body->progress.is_stiff && body->contacts.any();
  if (body->progress.has_matrix && !is_stale) return;
  const NodePlaces places = {&body->y[0].x, sizeof(NodeVec) / sizeof(float), 1};
  body->coarse.Make(coarse.pattern, h * (h + body->elements.damping), coarse.masses.span(),
                    coarse.turns.span(), places, body->Rotations(), sums);
  body->responses.Forget();
  body->progress.has_matrix = true;
}

// Moves the clusters by what the sums ask for, after SolveCoarseContacts.
void MoveClusters(const StepSettings& settings, float h, std::span<ClusterSums> sums, Body* body,
                  StepStats* stats, PhaseTimer* timer) {
  const CoarseLevel& coarse = body->system->coarse;
  if (body->attached.any()) body->attached.AddToInertia(coarse.clusters.span(), sums);
  const size_t count = coarse.num_clusters();
  RigidMotion motions[kMaxClusters];
  float work = 0.0f;
  bool is_small = true;
  SolveClusters(h, {&body->y[0].x, sizeof(NodeVec) / sizeof(float), 1}, sums, body,
                {motions, count});
  for (size_t k = 0; k < count; ++k) {
    work += WorkAtStart(sums[k], motions[k]);
    is_small = is_small && (coarse.masses[k] == 0.0f || IsSmall(sums[k], motions[k]));
  }
  coarse.Move(motions, body->y.span());
  if (!is_small) TakeBackMotions(settings, h, work, body, {motions, count}, stats, timer);
  if (ReportsReactions(*body)) SubtractMotions(h, {motions, count}, body);
}

}  // namespace

IterationPlan PlanIterations(const SplittingSettings& settings, const Body& body, float h) {
  constexpr double kSoft = 1.0, kStiff = 4.0, kStiffest = 12.0;  // clusters
  const CoarseLevel& coarse = body.system->coarse;
  const bool has_clusters = settings.volume_sweeps == 0 && coarse.num_clusters() > 0;
  const bool is_soft = has_clusters && !body.attached.has_constraints &&
                       !coarse.MayBeIncompressible() && !coarse.CrossesClusters(h, kSoft);
  const bool is_stiff =
      has_clusters && coarse.num_components() > 0 && coarse.CrossesClusters(h, kStiff);
  if (settings.outer_iterations > 0) {
    return {settings.outer_iterations, is_soft, is_stiff};
  }
  const bool is_tuned = body.tuning.solver == TunedSolver::kSplitting;
  if (is_tuned && settings.volume_sweeps == 0 && !body.attached.has_constraints) {
    return {body.tuning.newton_iterations, is_soft, is_stiff};
  }
  const bool is_stiffest =
      has_clusters && body.system->num_pinned > 0 && coarse.CrossesClusters(h, kStiffest);
  return {is_soft ? 1 : is_stiffest ? 3 : 2, is_soft, is_stiff, is_stiffest};
}

void CorrectClusters(const StepSettings& settings, float h, Body* body, StepStats* stats) {
  if (!HasCoarseLevel(settings, *body)) return;
  ClusterSums of_clusters[kMaxClusters];
  const std::span<ClusterSums> sums = {of_clusters, body->system->coarse.num_clusters()};
  PhaseTimer timer(stats, SolvePhase(settings, *body));
  BeginCorrection(settings, h, sums, body, &timer);
  AttachedPoints* attached = body->attached.any() ? &body->attached : nullptr;
  if (body->contacts.any() || (attached != nullptr && attached->acts_on_clusters)) {
    CoarseContacts part = PartOf(settings, h, sums, body);
    SolveCoarseContacts(&part);
  }
  MoveClusters(settings, h, sums, body, stats, &timer);
}

bool BeginJointCorrection(const StepSettings& settings, float h, Body* body, StepStats* stats) {
  if (!HasCoarseLevel(settings, *body)) return false;
  const std::span<ClusterSums> sums = body->responses.sums.span();
  PhaseTimer timer(stats, SolvePhase(settings, *body));
  BeginCorrection(settings, h, sums, body, &timer);
  body->coarse_solve = PartOf(settings, h, sums, body);
  return true;
}

void EndJointCorrection(const StepSettings& settings, float h, Body* body, StepStats* stats) {
  PhaseTimer timer(stats, SolvePhase(settings, *body));
  MoveClusters(settings, h, body->coarse_solve.sums, body, stats, &timer);
}

}  // namespace plush

// SPDX-License-Identifier: MIT
// A substep of an island: implicit bodies that contacts or springs join to each other or to bodies
// of splitting.
//
// One Newton iteration minimises the sum of all bodies' quadratics, while contacts hold
// (contact_gradients.h): an implicit body's has the matrix of its Newton step, and that of a body
// of splitting is what its outer iteration minimises, with its constant matrix A0. A linear
// iteration solves contacts for A0 of all bodies; a product with A0 is then known without a pass
// over tets. A step that overshoots is shortened by the work of all bodies' forces along it;
// splitting's are those of its quadratic, because its element pass changes multipliers.
//
// Deviations from the steps of single bodies:
// - A body of splitting makes as many outer iterations as implicit bodies want Newton's.
// - Clusters move together (CorrectJointly) between iterations, not before the first one, and only
//   if those of all implicit bodies may: the clusters of the others would push those bodies away.
// - Free bodies with contacts start at their predictions without their mean ways, which sink them
// into each other
//   and into what holds them (by g dt^2 in each step at rest): to take them out with A0 strains a
//   nearly incompressible body. If nothing outside the island holds it, all go its mean way, and
//   the sum of their momenta stays, however few iterations follow.
// - The clusters of implicit bodies with springs do not move. Those of a body of splitting with
//   springs and no contacts move by themselves between iterations, while the spring's other ends
//   give way as A0 says: without them, beams move wrong by 5 to 12%, with them by 0.3% at most.
//   They never move after the last iteration: the sum of momenta would drift.
// - The substep is splitting's if the first iteration does not move the bodies.
#include "implicit/implicit_island.h"

#include "body/attachment_step.h"
#include "body/body_colliders.h"
#include "body/island.h"
#include "body/solver_method.h"
#include "contact/body_contacts.h"
#include "contact/contact_gradients.h"
#include "implicit/newton_step.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>

namespace plush {
namespace {

bool IsImplicit(const Body& body) { return body.solver.method != nullptr; }

StressDifferential DifferentialOf(const ImplicitSettings& settings, bool is_hybrid) {
  return is_hybrid ? StressDifferential::kHybrid : settings.differential;
}

class IslandStep {
 public:
  IslandStep(const StepSettings& of_world, int k, int count, Body* first, StepStats* stats)
      : of_world_(of_world), k_(k), count_(count), first_(first), stats_(stats) {}

  // Whether springs or contacts of the solves join the bodies. A contact method does not.
  bool IsTaken();
  // Finds the first iterates.
  void Begin();
  // Puts the bodies back to where Begin found them.
  void TakeBack();
  // Makes iterations until no body wants another one. Returns false if the first one fails.
  bool Iterate();
  void End();

 private:
  // Calls visit(substep, body, statistics) for the bodies that move.
  template <class Visit>
  void ForBodies(const Visit& visit) {
    ForMoving(of_world_, first_, stats_,
              [&](Body* body, const StepSettings& own, StepStats* stats) {
                visit(SubstepOf(own, k_, count_, body), body, stats);
              });
  }
  // Calls visit(step) for the implicit ones.
  template <class Visit>
  void ForSteps(const Visit& visit) {
    ForBodies([&](const SubstepOf& of, Body* body, StepStats* stats) {
      if (!IsImplicit(*body)) return;
      const ImplicitSettings settings = NewtonSettingsOf(*body);
      NewtonStep step = {of, settings, body, stats, true};
      visit(&step);
    });
  }
  bool IsHeld();
  bool KeepsMomentum();
  void RestoreMomentum();
  bool WantsIteration();
  bool IsSunk();
  LinearResult Solve(bool is_hybrid);
  double WorkOfSprings();
  bool MoveBy(double work);
  bool IterateOnce();
  void EndIteration();

  const StepSettings& of_world_;
  const int k_, count_;
  Body* first_;
  StepStats* stats_;
  double longest2_ = 0.0;  // see ContactGradients
};

bool IslandStep::IsTaken() {
  bool is_joined = false;
  ForBodies([&](const SubstepOf&, Body* body, StepStats*) {
    is_joined = is_joined || !body->contacts.between.empty() || body->attached.JoinsBodies();
  });
  return is_joined;
}

// Whether something outside the island holds it.
bool IslandStep::IsHeld() {
  bool is_held = false;
  ForBodies([&](const SubstepOf&, Body* body, StepStats*) {
    is_held = is_held || body->system->num_pinned > 0 || body->attached.has_target ||
              body->contacts.num_contacts > 0;
    for (const BodyContactSide& at : body->contacts.between) {
      is_held = is_held || at.contact->sides[1 - at.side].of->is_static;
    }
  });
  return is_held;
}

// Mass times length, in the world's units, and mass.
struct Way {
  double sum[3] = {};
  double mass = 0.0;

  void Add(const Way& other) {
    for (int axis = 0; axis < 3; ++axis) sum[axis] += other.sum[axis];
    mass += other.mass;
  }
  Vec3 Mean() const {
    if (mass == 0.0) return {};
    return {static_cast<float>(sum[0] / mass), static_cast<float>(sum[1] / mass),
            static_cast<float>(sum[2] / mass)};
  }
};

// The sum of way_of(i) [m] over a free body's nodes.
template <class WayOfNode>
Way SumWays(const Body& body, const WayOfNode& way_of) {
  const double s = double(body.scale), s3 = s * s * s;
  Way way;
  for (size_t i = 0; i < body.x.size(); ++i) {
    const double m = s3 / double(body.x[i].w);
    const Vec3 own = way_of(i);
    way.Add({{m * s * double(own.x), m * s * double(own.y), m * s * double(own.z)}, m});
  }
  return way;
}

// The way of a free body from the substep's start to y.
Way WayOf(const Body& body) {
  return SumWays(body, [&](size_t i) { return body.y[i] - body.x[i]; });
}

// From y to where its momentum takes it, with the roundings of FinishNodes.
Way MissingWayOf(const SubstepOf& of, const Body& body) {
  const Vec3 gained = GravityOf(of.settings, body) * of.h;
  return SumWays(body,
                 [&](size_t i) { return body.x[i] + (body.v[i] + gained) * of.h - body.y[i]; });
}

// Whether the sum of momenta is what gravity makes of it. Contacts with colliders may be new in
// this substep.
bool IslandStep::KeepsMomentum() {
  bool keeps = !IsHeld();
  ForSteps([&](NewtonStep* step) {
    keeps = keeps && !step->settings.quasistatic && step->settings.mass_damping == 0.0f &&
            !step->body->attached.block.any();
  });
  return keeps;
}

// Solves and clusters round: beside a spring of 1e9 N/m, the sum of momenta would drift by 1e-5 in
// 60 steps. Moves all bodies by one vector, so that it stays. That is less than positions can hold,
// so each node takes over what the one before has lost by rounding.
void IslandStep::RestoreMomentum() {
  if (!KeepsMomentum()) return;
  Way missing;
  ForBodies(
      [&](const SubstepOf& of, Body* body, StepStats*) { missing.Add(MissingWayOf(of, *body)); });
  ForBodies([&](const SubstepOf&, Body* body, StepStats*) {
    const double all = 1.0 / (missing.mass * double(body->scale));
    for (size_t axis = 0; axis < 3; ++axis) {
      double lost = 0.0;  // [kg m]
      for (size_t i = 0; i < body->x.size(); ++i) {
        const double w = double(body->x[i].w);
        float* at = &body->y[i].x + axis;
        const double wanted = double(*at) + all * missing.sum[axis] + lost * w;
        *at = static_cast<float>(wanted);
        lost = (wanted - double(*at)) / w;
      }
    }
  });
}

void IslandStep::Begin() {
  const bool is_held = IsHeld();
  const auto goes_mean_way = [](const Body& body) {
    return body.contacts.any() && body.system->num_pinned == 0 && !body.attached.has_target;
  };
  Way of_all;
  ForSteps([](NewtonStep* step) { step->Begin(); });
  ForBodies([&](const SubstepOf& of, Body* body, StepStats*) {
    if (is_held) return;
    if (body->attached.any()) {  // its prediction leaves gravity out
      const Vec3 fall = GravityOf(of.settings, *body) * (of.h * of.h);
      for (size_t i = 0; i < body->x.size(); ++i) body->y[i] += fall;
    }
    if (goes_mean_way(*body)) of_all.Add(WayOf(*body));
  });
  const Vec3 common = of_all.Mean();
  ForBodies([&](const SubstepOf& of, Body* body, StepStats*) {
    if (goes_mean_way(*body)) {
      const Vec3 back = (WayOf(*body).Mean() - common) * (1.0f / body->scale);
      for (size_t i = 0; i < body->x.size(); ++i) body->y[i] -= back;
      body->progress.is_put_back = true;
    } else if (IsImplicit(*body)) {
      for (size_t i = 0; i < body->x.size() && body->contacts.any(); ++i) {
        if (!body->IsPinned(i)) body->y[i] = body->x[i];
      }
      HoldConstraints(of.h, body);
    }
  });
}

void IslandStep::TakeBack() {
  ForSteps([](NewtonStep* step) { step->Restart(); });
  ForBodies([](const SubstepOf& of, Body* body, StepStats* stats) {
    if (!IsImplicit(*body)) PlaceFirstIterate(of, body, stats);
    body->progress.is_put_back = false;
  });
}

// Moves the bodies by the D of the sum.
LinearResult IslandStep::Solve(bool is_hybrid) {
  LinearLimits limits = {1, 1.0};
  Chain<ContactSolve> chain;
  ForBodies([&](const SubstepOf& of, Body* body, StepStats* stats) {
    if (IsImplicit(*body)) return;
    BeginJointSolve(of, body, stats);
    body->solve.may_turn = false;  // gradients need A itself
  });
  ForSteps([&](NewtonStep* step) {
    step->MakeGradient();
    step->MakeMatrix(DifferentialOf(step->settings, is_hybrid));
    step->body->solve = step->ContactPart();
    limits.iterations = std::max(limits.iterations, step->settings.linear_iterations);
    limits.tolerance = std::fmin(limits.tolerance, double(step->settings.linear_tolerance));
  });
  ForBodies([&](const SubstepOf&, Body* body, StepStats*) { chain.Add(&body->solve); });
  const auto for_parts = [&](const auto& visit) {
    ForBodies([&](const SubstepOf& of, Body* body, StepStats* stats) {
      const GradientPart part = GradientPartOf(&body->solve, body);
      const std::span<NodeVec> q = part.scratch.q, z = part.of->d;
      visit(part, [&](float turn) {
        if (IsImplicit(*body)) {
          const ImplicitSettings settings = NewtonSettingsOf(*body);
          NewtonStep step = {of, settings, body, stats, true};
          step.Multiply(DifferentialOf(settings, is_hybrid), part.scratch.p, q);
          return;
        }
        // A0 z is r with the contacts' impulses. p has taken over z, whose memory is free.
        std::copy(part.r.begin(), part.r.end(), z.begin());
        AddImpulses(*part.of, z);
        TurnDirection(turn, z, q);
      });
    });
  };
  const PhaseTimer timer(&stats_[first_->slot], Phase::kContact);
  const LinearResult result = ContactGradients(for_parts, limits, chain.first, &longest2_);
  ForSteps([&](NewtonStep* step) {
    step->stats->linear_iterations += static_cast<uint32_t>(result.iterations);
  });
  return result;
}

// Work of the springs' forces at the iterates along the bodies' D.
double IslandStep::WorkOfSprings() {
  ForBodies([](const SubstepOf&, Body* body, StepStats*) {
    body->attached.Locate([body](uint32_t node) { return body->y[node]; });
  });
  return SumSprings(
      [this](const auto& visit) {
        ForBodies([&](const SubstepOf&, Body* body, StepStats*) {
          visit(&body->attached, std::span<const NodeVec>(body->newton.d.span()));
        });
      },
      SpringWork);
}

// Goes back along the D by which the bodies have moved until the sum of the objectives has not
// risen, if the settings of any body say so. `work` is that of the sum. Returns whether bodies are
// then elsewhere than before.
bool IslandStep::MoveBy(double work) {
  bool searches = false;
  ForSteps([&](NewtonStep* step) { searches = searches || step->settings.line_search; });
  float moved = 1.0f;
  for (int i = 0; searches; ++i) {
    ForSteps([](NewtonStep* step) { step->MakeGradient(); });
    double at_end = 0.0;
    ForBodies([&](const SubstepOf&, Body* body, StepStats*) {
      const GradientPart part = GradientPartOf(&body->solve, body);
      double own = DotProduct(part.r, part.D);
      if (!IsImplicit(*body)) own += (*part.work - own) * (1.0 - double(moved));
      at_end += part.weight * (own + ContactWork(body->contacts, part.D)) * double(moved);
    });
    at_end += WorkOfSprings() * double(moved);
    const double start = work * double(moved);
    if (start + at_end >= 0.0) break;
    double share = start / (start - at_end);  // where the work vanishes, if it were linear
    if (!(share > 0.0 && share < 1.0) || i == kMostTries) share = 0.0;
    const float next = moved * static_cast<float>(share);
    ForBodies([&](const SubstepOf&, Body* body, StepStats* stats) {
      if (i == 0 && IsImplicit(*body)) ++stats->overshoots;
      for (size_t n = 0; n < body->y.size(); ++n) body->y[n] += body->newton.d[n] * (next - moved);
    });
    moved = next;
    if (moved == 0.0f) return false;
  }
  if (moved == 1.0f) return true;
  ForBodies([&](const SubstepOf&, Body* body, StepStats*) {
    for (NodeVec& d : body->newton.d) d *= moved;
  });
  return true;
}

// Notes what an iteration has moved, and what follows from that.
void IslandStep::EndIteration() {
  bool moves_clusters = true;
  ForSteps([&](NewtonStep* step) {
    moves_clusters = moves_clusters && step->MovesHeldClusters();
    ++step->body->progress.iterations;
  });
  ForBodies([&](const SubstepOf& of, Body* body, StepStats* stats) {
    CountContacts(body->newton.solved, stats);
    float longest = 0.0f;
    for (const NodeVec& d : body->newton.d) {
      longest =
          std::fmax(longest, std::fmax(std::fabs(d.x), std::fmax(std::fabs(d.y), std::fabs(d.z))));
    }
    body->progress.longest = longest;
    if (!IsImplicit(*body)) EndJointMove(of, body->newton.d.span(), true, body, stats);
    body->progress.is_owed = moves_clusters;
  });
}

// Returns whether the bodies have moved.
bool IslandStep::IterateOnce() {
  bool has_hybrid = true, is_exact = false;
  ForSteps([&](NewtonStep* step) {
    has_hybrid = has_hybrid && step->settings.differential == StressDifferential::kHybrid;
    is_exact = is_exact || step->settings.differential == StressDifferential::kExact;
  });
  CorrectJointly(of_world_, k_, count_, first_, stats_);
  for (const bool is_hybrid : {false, true}) {
    const LinearResult result = Solve(is_hybrid);
    const bool is_wrong = result.is_indefinite && is_exact && !is_hybrid;
    if (result.iterations > 0 && !is_wrong) {
      if (MoveBy(result.work)) return EndIteration(), true;
    } else {
      ForBodies([](const SubstepOf&, Body* body, StepStats*) {
        for (size_t i = 0; i < body->y.size(); ++i) body->y[i] -= body->newton.d[i];
      });
    }
    if (has_hybrid || is_hybrid) break;
    ForSteps([](NewtonStep* step) { ++step->stats->newton_fallbacks; });
  }
  return false;
}

// Iterations go on while one moves a node by more than a small share of the median edge, as those
// of splitting do. There are as many as there if no clusters move: after three, bodies with a
// Poisson's ratio of 0.49 lost up to 7% of their angular momentum in an impact, after eight 2%.
bool IslandStep::WantsIteration() {
  constexpr float kConverged = 3.0e-5f;  // [median edges]
  constexpr int kMostWithoutCoarse = 8;
  bool wants = false;
  ForBodies([&](const SubstepOf& of, Body* body, StepStats*) {
    wants = wants || (!IsImplicit(*body) && plush::WantsIteration(of, body, 1));
  });
  ForSteps([&](NewtonStep* step) {
    const Body::Progress& p = step->body->progress;
    int most = std::max(step->settings.newton_iterations, step->of.settings.contact.iterations);
    if (!p.is_owed || step->body->attached.has_springs) most = std::max(most, kMostWithoutCoarse);
    const float least = kConverged * step->body->simulation.median_edge;
    wants = wants || (p.iterations < most && p.longest > least);
  });
  return wants;
}

bool IslandStep::IsSunk() {
  bool is_sunk = false;
  ForBodies([&](const SubstepOf& of, Body* body, StepStats*) {
    is_sunk = is_sunk || plush::IsSunk(of, body);
  });
  return is_sunk;
}

bool IslandStep::Iterate() {
  if (!IterateOnce()) return false;
  while (WantsIteration() && IterateOnce()) {
  }
  if (IsSunk()) IterateOnce();
  return true;
}

void IslandStep::End() {
  RestoreMomentum();
  ForSteps([](NewtonStep* step) {
    HoldConstraints(step->of.h, step->body);
    step->End();
    step->body->progress.is_static = step->settings.quasistatic;
  });
}

}  // namespace

bool AdvanceImplicitIsland(const StepSettings& of_world, int k, int count, Body* first,
                           StepStats* stats) {
  IslandStep step(of_world, k, count, first, stats);
  if (!step.IsTaken()) return false;
  step.Begin();
  if (!step.Iterate()) {
    step.TakeBack();
    return false;
  }
  step.End();
  return true;
}

}  // namespace plush

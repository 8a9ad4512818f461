// SPDX-License-Identifier: MIT
// What follows the solves of a substep: lifts of flat tets, new velocities, the way out of deep
// points and rebounds. Source and deviations: see body_step.cpp.
#include "base/vector_math.h"
#include "body/attachment_step.h"
#include "body/body.h"
#include "body/body_colliders.h"
#include "body/node_pass.h"
#include "body/pin_motion.h"
#include "body/restitution.h"
#include "body/solid_guard.h"
#include "body/substep.h"
#include "contact/contact_pushes.h"
#include "elasticity/element_pass.h"
#include "solver/volume_sweep.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <utility>

namespace plush {
namespace {

// A contact method's last word in a substep.
void Correct(const StepSettings& settings, float h, Body* body) {
  const ContactMethod* method = settings.contact.method;
  if (method != nullptr && method->correct != nullptr) {
    method->correct(settings, h, body);
  }
}

// The collider that alone touches the body, or null.
const LocalCollider* OnlyTouched(const Body& body) {
  const std::span<const PlaneContact> contacts = body.contacts.Current();
  if (contacts.empty() || !body.contacts.between.empty()) return nullptr;
  const uint32_t slot = contacts[0].collider;
  const auto is_other = [&](const PlaneContact& contact) { return contact.collider != slot; };
  if (std::ranges::any_of(contacts, is_other)) return nullptr;
  for (const LocalCollider& near : body.NearColliders()) {
    if (near.slot == slot) return &near;
  }
  return nullptr;
}

// Where nodes are that do not move in the substep: beside the collider, along the contacts' mean
// normal, if nothing else touches or holds the body. A fast one would leave nodes behind that rest
// in the world. Else nodes rest in the world.
void FindRest(const Body& body, std::span<NodeVec> rest) {
  std::copy(body.x.begin(), body.x.end(), rest.begin());
  rest[body.x.size()] = body.y[body.x.size()];
  const auto is_pinned = [](const NodeVec& x) { return x.w == 0.0f; };
  const LocalCollider* collider = OnlyTouched(body);
  if (collider == nullptr || body.attached.any() || std::ranges::any_of(body.x, is_pinned)) return;
  Vec3 normal;
  for (const PlaneContact& contact : body.contacts.Current()) normal += contact.plane.normal;
  const float length2 = Dot(normal, normal);
  if (!(length2 > 0.0f)) return;
  for (NodeVec& x : rest.first(body.x.size())) {
    x += normal * (Dot(normal, collider->MotionAt(x)) / length2);
  }
}

// The substep's last correction: no tet may end it flat or inside out. Lifts alternate with the
// planes and constraints, because each can undo the other; a few rounds usually suffice. In a body
// that colliders press flat as a whole they never do. Its nodes then move less (FindRest), and the
// colliders give way: inside out, most such bodies would stay tangled for ever. Friction does not
// resist these moves, which are rare and small; the solve sees them in the next substep. Uses
// body->rhs. Leaves body->d alone: it may hold the way out.
void LiftBody(const StepSettings& settings, float h, Body* body, StepStats* stats) {
  constexpr int kRounds = 256, kPatience = 16;
  constexpr float kStuck = 0.9f;
  constexpr int kHalvings = 6, kHolds = 64;  // ways that were halved so often are not gone
  const PhaseTimer timer(stats, Phase::kVolume);
  const std::span<NodeVec> y = body->y.span(), before = body->rhs.span();
  FindRest(*body, before);
  if (!HasFlatTet(body->elements, y)) return;
  // The impulses on held points change the momentum, so they count as forces of the constraints;
  // reactions of pins are known by now.
  const auto hold_all = [&](bool searches) {
    if (MayHold(settings, *body)) {
      LiftSunk(ProblemOf(settings, settings.dt, *body), searches, &body->contacts, y);
    } else {
      Correct(settings, h, body);
    }
    HoldNodes(body);
  };
  // Searches for points that lifts pressed below planes take longer than lifts.
  const auto searches_in = [](int round) { return std::has_single_bit(unsigned(round)); };
  float missing = 1.0f, earlier = std::numeric_limits<float>::infinity();
  for (int round = 1; round <= kRounds && missing > 0.0f; ++round) {
    hold_all(searches_in(round));
    missing = LiftFlatTets(body->elements, body->x.span(), y);
    if (round % kPatience != 0) continue;
    if (body->contacts.any() && missing > kStuck * earlier) break;
    earlier = missing;
  }
  if (missing > 0.0f) hold_all(true);
  bool is_flat = missing > 0.0f && body->contacts.any();
  for (int i = 0; i < kHolds && is_flat; ++i) {
    is_flat = HoldFlatTets(body->elements, before, i < kHalvings ? 0.5f : 1.0f, y);
  }
  DropOpenContacts(&body->contacts);
  stats->flat_tets = CountFlatTets(body->elements, y);
}

// Whether the result is finite, also in world coordinates as float, and what it exerts on pins.
bool IsFiniteState(const Body& body, float h) {
  constexpr double kMost = std::numeric_limits<float>::max();
  const auto limit = [&](int axis) {
    const double most = (kMost - std::fabs(body.origin[axis])) / double(body.scale);
    return std::nextafter(static_cast<float>(std::fmin(most, kMost)), 0.0f);
  };
  float sum = 0.0f;
  for (const float multiplier : body.kappa) sum += multiplier * 0.0f;
  for (const Vec3& force : body.pins.reactions) sum += (force.x + force.y + force.z) * 0.0f;
  return sum == 0.0f && CanMoveTo(body.x.span(), body.y.span().first(body.x.size()),
                                  {limit(0), limit(1), limit(2)}, h);
}

void Freeze(Body* body, StepStats* stats) {
  body->frozen = true;
  stats->flags |= kStepBodyFrozen;
  for (NodeVec& velocity : body->v) velocity = Vec3{};
  for (Vec3& reaction : body->pins.reactions) reaction = {};
  body->contacts.Forget();
}

}  // namespace

void FollowOrigin(Body* body) {
  // Shift by multiples of a power of two near the body's size: the subtraction is then exact.
  float grid = 1.0f;
  while (grid < body->size && grid < 1.0e15f) grid *= 2.0f;
  while (grid > 2.0f * body->size && grid > 1.0e-15f) grid *= 0.5f;
  const auto shift_by = [grid](float coordinate) {
    const float cells = std::floor(coordinate / grid + 0.5f) * grid;
    return std::fabs(cells) > 2.0f * grid ? cells : 0.0f;  // a smaller shift gains nothing
  };
  const NodeVec& first = body->x[0];
  const Vec3 shift = {shift_by(first.x), shift_by(first.y), shift_by(first.z)};
  if (shift.x == 0.0f && shift.y == 0.0f && shift.z == 0.0f) return;
  for (NodeVec& x : body->x) x -= shift;
  if (body->pins.moves) {
    for (NodeVec& target : body->pins.targets) target -= shift;
  }
  const double scale = body->scale;
  body->origin[0] += scale * double(shift.x);
  body->origin[1] += scale * double(shift.y);
  body->origin[2] += scale * double(shift.z);
}

bool NoteVelocities(const StepSettings& settings, float h, Body* body) {
  constexpr float kLeast = 1.0e-3f;  // [sizes]
  const CoarseLevel& coarse = body->system->coarse;
  if (coarse.num_clusters() == 0 || coarse.num_components() == 0) return false;
  if (body->contacts.any() || body->attached.any()) return false;
  if (body->solver.method != nullptr || settings.splitting.volume_sweeps > 0) return false;
  if (!AnyDiffers(body->v.span(), kLeast * body->size / h)) return false;
  std::copy(body->v.begin(), body->v.end(), body->rhs.begin());
  return true;
}

void KeepTurns(float h, Body* body) {
  body->system->coarse.KeepTurns(body->x.span(), body->rhs.span().first(body->x.size()), h,
                                 body->y.span().first(body->x.size()), body->v.span());
}

void SwapPrevious(Body* body) {
  std::swap(body->x, body->previous);
  std::copy(body->origin, body->origin + 3, body->previous_origin);
  body->has_previous = true;
}

// Whether something may press tets flat: contacts, constraints, moving pins, or the nodes of a body
// in flight each other. Lifts add energy to a body that hangs and that its own weight stretches,
// and such tets come back by themselves.
static bool IsPressed(const StepSettings& settings, const Body& body) {
  const bool hangs = body.system->num_pinned > 0 || body.attached.any();
  return !hangs || body.contacts.any() || body.attached.block.any() || body.pins.moves ||
         settings.contact.method != nullptr;
}

// FinishSubstep. Returns whether the guard has shortened the way of a pinned body.
static bool Finish(const SubstepOf& of, bool may_be_flat, Body* body, StepStats* stats) {
  const StepSettings& settings = of.settings;
  const float h = of.h;
  stats->flat_tets = 0;
  if (may_be_flat && IsPressed(settings, *body)) LiftBody(settings, h, body, stats);
  Correct(settings, h, body);
  if (!IsFiniteState(*body, h)) {
    Freeze(body, stats);
    return false;
  }
  if (SolvesContact(settings)) StayOutsideSolids(body);
  HoldConstraints(body);  // as pins, they do not give way to solids
  const bool keeps = KeepsPrevious(*body);
  const GuardedSubstep guarded = BeginGuard(of, may_be_flat, body, stats);
  if (guarded.is_shorter) {
    if (!IsFiniteState(*body, h)) {
      Freeze(body, stats);
      return false;
    }
    StayOutsideSolids(body);  // solids go on by their whole way
    stats->flat_tets = CountFlatTets(body->elements, body->y.span());
  }
  const bool turns = NoteVelocities(settings, h, body);
  FinishNodes(body->x.span(), body->y.span().first(body->x.size()), GravityOf(settings, *body), h,
              body->v.span(), keeps ? body->previous.span() : body->x.span());
  if (keeps) SwapPrevious(body);
  if (turns) KeepTurns(h, body);
  EndGuard(guarded, h, body);
  return guarded.is_shorter && body->system->num_pinned > 0;
}

void FinishSubstep(const SubstepOf& of, bool may_be_flat, Body* body, StepStats* stats) {
  Finish(of, may_be_flat, body, stats);
  FollowOrigin(body);
}

namespace {

// Moves the nodes by body->d, without a change of velocities, unless that makes a tet flat. Those
// of an implicit body may be flat: with that condition, a body that is too soft for its weight
// would never come out.
void PushOut(float h, Body* body) {
  if (body->frozen) return;
  const bool may_be_flat = body->solver.method != nullptr;
  ConstraintBlock& block = body->attached.block;
  if (block.any()) block.projector.Project(body->d.span(), block.Numbers());
  for (const float share : {1.0f, 0.25f}) {
    for (size_t i = 0; i < body->x.size(); ++i) body->y[i] = body->x[i] + body->d[i] * share;
    const bool is_flat = !may_be_flat && HasFlatTet(body->elements, body->y.span());
    if (!IsFiniteState(*body, h) || is_flat || PassesSolids(*body)) continue;
    std::copy(body->y.begin(), body->y.end() - 1, body->x.begin());
    body->guard.is_known = false;
    return;
  }
}

}  // namespace

void BeginPush(const SubstepOf& of, Body* body) {
  body->solve = {of.system, ProblemOf(of.settings, of.h, *body), &body->contacts, body->d.span()};
}

float ShareOut(const SubstepOf& of) { return of.h / (of.h + of.settings.contact.push_out_time); }

bool FindWayOut(const SubstepOf& of, Body* body, StepStats* stats) {
  if (!MayHold(of.settings, *body) || body->contacts.num_contacts == 0) return false;
  const PhaseTimer timer(stats, Phase::kContact);
  BeginPush(of, body);
  return FindPushOut(ShareOut(of), &body->solve);
}

void EndSubstep(const SubstepOf& of, bool is_deep, Body* body, StepStats* stats) {
  const Body::Progress& p = body->progress;
  // Constraints move points as far as they like, after all tests.
  const bool may_be_flat = p.may_be_flat || MayBeFlat(p.lowest) || body->attached.block.any();
  const bool is_jammed = Finish(of, may_be_flat, body, stats);
  if (body->progress.is_static) {
    body->progress.static_speed = LongestVector(body->v.span());
    std::fill(body->v.begin(), body->v.end(), NodeVec());
  }
  // The way out of a jammed body would strain it, with energy from nowhere.
  if (is_deep && !is_jammed) PushOut(of.h, body);
  FollowOrigin(body);
  if (p.rebound.any && !body->frozen) Throw(of.settings, of.system, p.rebound, body, stats);
  EndAttachments(of.h, of.count, body);
}

}  // namespace plush

// SPDX-License-Identifier: MIT
// The contacts of two bodies that may meet within a step.
//
// Surfaces are intersected where the bodies would be at the end of the step if they moved on as
// they do. So an impact is found before it happens, with the normals of the overlap to come; and a
// body at rest on another one, by a small depth, keeps its contacts.
#include "body/body_colliders.h"
#include "body/coarse_correction.h"
#include "body/island.h"
#include "intersection/enclosed_pieces.h"
#include "world/choose_contacts.h"
#include "world/world_impl.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace plush {
namespace {

// Contacts of the step before between predicted bodies.
struct PastNormals {
  const Meeting* meeting;
  std::span<const PastContact> past;
};

// LastNormal::find: the normal of the contact that is nearest to a place from the first body's
// origin.
bool NearestNormal(const void* user, const Vec3& at, Vec3* normal) {
  const auto& last = *static_cast<const PastNormals*>(user);
  const Body& body = last.meeting->a;
  float nearest = std::numeric_limits<float>::infinity();
  for (const PastContact& old : last.past) {
    const EmbeddedPoint point = TouchingPointAt(body, old.triangles[0], old.u[0], old.v[0]);
    const float distance = Length(point.Of(body.y.span()) - at);
    if (distance < nearest) nearest = distance, *normal = old.normal;
  }
  return !last.past.empty();
}

// Whether contacts of the step before hold.
bool Holds(const TouchingPair& pair, const Body& a, const Body& b) {
  double travel2 = 0.0;
  for (int k = 0; k < 3; ++k) {
    const double travel = TravelOf(a, b, k) - pair.travel[k];
    travel2 += travel * travel;
  }
  return WayOf(a, b) + std::sqrt(travel2) < pair.holds_until;
}

// How far two bodies may move until contacts are chosen again [m]. Each choice differs a little,
// which keeps a heap trembling. But stiff bodies jump apart from what has sunk in unseen: with
// twice as much, a stack of stiff cubes sways.
float SlackOf(const StepSettings& settings, const Body& a, const Body& b) {
  constexpr float kSoft = 5.0e-3f, kStiff = 3.0e-3f;  // [sizes]
  const auto is_soft = [&](const Body& body) {
    return !Moves(body) || (body.solver.method == nullptr &&
                            PlanIterations(body.splitting, body, settings.dt).is_soft);
  };
  return (is_soft(a) && is_soft(b) ? kSoft : kStiff) * SizeOf(a, b);
}

// Refits the body's tree to its predicted positions.
void RefitSearched(Body* body) {
  body->moved = true;  // queries need another refit
  const std::span<const NodeVec> y = body->y.span().first(body->x.size());
  RefitVolumes(body->surface, y, &body->collision);
  SearchedShape& searched = body->searched;
  for (int k = 0; k < 3; ++k) searched.travel[k] = searched.TravelNow(k);
  searched.way = searched.WayNow();
  searched.shift = {};
  searched.away = 0.0f;
  searched.is_known = true;
  for (size_t i = 0; i < y.size(); ++i) searched.y[i] = Vec3(y[i]);  // w may be anything
  std::copy(body->origin, body->origin + 3, searched.origin);
}

}  // namespace

// Whether a pair keeps contacts that it found in the step before, although its bodies move: each
// contact's gap follows them, and so does its way out. A fall into a heap takes three quarters of
// the time, and bodies sink no deeper into each other, unless they pass each other fast.
bool World::Impl::Waits(const TouchingPair& before, const Body& a, const Body& b) const {
  constexpr float kSlow = 0.01f;  // way within a step [sizes]
  return before.was_searched && before.begin < before.end &&
         Length(predicted[a.slot].way - predicted[b.slot].way) < kSlow * SizeOf(a, b);
}

// Lists pairs from `first` on of which one acts and that have not been done. Returns the next one.
uint32_t World::Impl::ListWantedPairs(uint32_t first) {
  TouchingBodies& t = touching_bodies;
  const auto acts = [&](uint32_t slot) {
    const Body& body = *bodies[slot];
    return body.Steps() && (!body.contacts.is_static || body.contacts.is_carried);
  };
  t.num_wanted = 0;
  for (; first < t.num_pairs && t.num_wanted < t.wanted.size(); ++first) {
    TouchingPair& pair = t.pairs[first];
    if (t.is_done[first] != 0 || (!acts(pair.first) && !acts(pair.second))) continue;
    t.is_done[first] = 1;
    WantedPair& wanted = t.wanted[t.num_wanted++];
    wanted.pair = &pair;
    wanted.before = t.PastOf(pair);
    const Body &a = *bodies[pair.first], &b = *bodies[pair.second];
    wanted.times = SearchTimes(a, b);
    wanted.is_found = false;
    wanted.is_searched =
        wanted.before == nullptr || !(Holds(*wanted.before, a, b) || Waits(*wanted.before, a, b));
  }
  return first;
}

// Searches the listed pairs that need it, on all threads.
void World::Impl::SearchWantedPairs() {
  TouchingBodies& t = touching_bodies;
  const std::span<WantedPair> wanted = t.wanted.span().first(t.num_wanted);
  const auto mark = [this](const WantedPair& pair, uint8_t as) {
    is_refitted[pair.pair->first] = is_refitted[pair.pair->second] = as;
  };
  constexpr uint8_t kRefitted = 1, kMoves = 2;
  uint32_t num_refitted = 0, num_fast = 0;
  t.num_at_once = 0;
  for (WantedPair& pair : wanted) {
    if (!pair.is_searched) continue;
    for (const uint32_t slot : {pair.pair->first, pair.pair->second}) {
      if (is_refitted[slot] == 0) t.refitted[num_refitted++] = bodies[slot];
      is_refitted[slot] = kRefitted;
    }
    const bool is_fast = pair.times > 1;
    num_fast += is_fast ? 1 : 0;
    if (!is_fast) t.at_once[t.num_at_once++] = &pair;
  }
  if (num_refitted > 0) {
    RunJobs(num_refitted, [](void* context, uint32_t index) {
      RefitSearched(static_cast<Impl*>(context)->touching_bodies.refitted[index]);
    });
  }
  SearchAtOnce();
  // Bodies of fast pairs move meanwhile, so pairs that share a body go one after the other.
  for (uint32_t num_done = 0; num_done < num_fast; num_done += t.num_at_once) {
    t.num_at_once = 0;
    for (WantedPair& pair : wanted) {
      const bool is_left = pair.is_searched && pair.times > 1 && !pair.is_found;
      const bool is_free =
          is_refitted[pair.pair->first] != kMoves && is_refitted[pair.pair->second] != kMoves;
      if (!is_left || !is_free) continue;
      mark(pair, kMoves);
      pair.is_found = true;
      t.at_once[t.num_at_once++] = &pair;
    }
    SearchAtOnce();
    for (const WantedPair* pair : t.at_once.span().first(t.num_at_once)) mark(*pair, kRefitted);
  }
}

// Each job has its own memory, and takes one pair after the other.
void World::Impl::SearchAtOnce() {
  TouchingBodies& t = touching_bodies;
  if (t.num_at_once == 0) return;
  t.next_at_once = 0;
  RunJobs(std::min(t.num_searches, t.num_at_once), [](void* context, uint32_t index) {
    Impl& world = *static_cast<Impl*>(context);
    TouchingBodies& touching = world.touching_bodies;
    for (uint32_t i = touching.next_at_once++; i < touching.num_at_once;
         i = touching.next_at_once++) {
      world.SearchContacts(&touching.searches[index], touching.at_once[i]);
    }
  });
}

// Intersects the surfaces of a pair.
void World::Impl::SearchContacts(SearchMemory* memory, WantedPair* wanted) {
  constexpr float kSpacing = 0.5f;                                        // [median edges]
  constexpr float kMostSlip = 5.0e-3f, kNear = 0.01f, kDeeper = 2.0e-3f;  // [sizes]
  Body* const of[2] = {bodies[wanted->pair->first], bodies[wanted->pair->second]};
  const Body &a = *of[0], &b = *of[1];
  const Meeting meeting = {a, b};
  const std::span<const PastContact> past = touching_bodies.ContactsOf(wanted->before);
  const float size = SizeOf(a, b);
  const CollisionBody views[2] = {ViewOf(a), ViewOf(b)};
  const PlacedBody placed[2] = {PlacedAt(views[0], a), PlacedAt(views[1], b)};
  const bool is_fast = wanted->times > 1;
  // What is deep inside the other body is near, too.
  const auto may_meet = [&] {
    return MayMeet(placed[0], placed[1], kNear * size) || HasEnclosedPiece(placed[0], placed[1]);
  };
  // What touched mostly still does.
  const bool touched = !past.empty();
  bool is_near = is_fast || MayEnclose(a, b) || (!touched && may_meet());
  wanted->chosen.count = 0;
  wanted->chosen.taken = 0;
  wanted->chosen.dropped = 0;
  PairContactCount count = {.complete = true};
  if (is_near || touched) {
    const PastNormals past_normals = {&meeting, past};
    const LastNormal last = {&past_normals, NearestNormal};
    count = is_fast ? FindWithin(wanted->times, of, last, memory)
                    : FindPairContacts(placed[0], placed[1], &memory->scratch, memory->found.span(),
                                       last);
  }
  is_near = is_near || count.pairs > 0 || (touched && may_meet());
  wanted->holds_for = is_fast ? 0.0f : (is_near ? SlackOf(settings, a, b) : kNear * size);
  wanted->is_complete = count.complete;
  wanted->is_open = count.open;
  // If they move far between the times that are looked at, they may also pass unseen.
  wanted->meets_fast = is_fast && (count.pairs > 0 || wanted->times == WantedPair::kMostTimes);
  const float edge =
      std::fmin(a.simulation.median_edge * a.scale, b.simulation.median_edge * b.scale);
  ChooseContacts({kSpacing * edge, kMostSlip * size, kDeeper * size}, meeting,
                 memory->found.span().first(count.contacts), past, memory->places.span(),
                 &wanted->chosen);
}

}  // namespace plush

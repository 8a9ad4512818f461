// SPDX-License-Identifier: MIT
// Pairs of bodies whose surfaces meet within a step become contacts, and islands.
//
// Surfaces are intersected where the bodies would be at the end of the step if they moved on as
// they do. So an impact is found before it happens, with the normals of the overlap to come; and a
// body at rest on another one, by a small depth, keeps its contacts.
#include "world/touching_bodies.h"

#include "body/body_colliders.h"
#include "world/world_impl.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <tuple>
#include <utility>

namespace plush {
namespace {

// Share of the smaller body's size at which two bodies rest on each other.
constexpr float kRestDepth = 5.0e-4f;

bool IsStatic(const Body& body) { return body.fixed || body.frozen; }

// Writes where the nodes are at the end of the step unless something holds them, to body->y, from
// the body's origin [m]. Returns their bounds, and sets body->most_motion.
WorldBox PredictInWorld(const StepSettings& settings, Body* body) {
  const bool moves = body->Steps() && !IsStatic(*body);
  // A body that touches something mostly does not fall.
  const bool falls = moves && !body->touches_body && body->contacts.num_contacts == 0 &&
                     body->system->num_pinned == 0;
  const float dt = moves ? settings.dt : 0.0f, s = body->scale;
  const Vec3 fallen = falls ? GravityOf(settings, *body) * (dt * dt) : Vec3{};
  constexpr float kMost = std::numeric_limits<float>::max();
  Vec3 low = {kMost, kMost, kMost}, high = -low;
  float farthest2 = 0.0f;
  for (size_t i = 0; i < body->x.size(); ++i) {
    Vec3 at = body->x[i];
    if (body->x[i].w > 0.0f) {
      const Vec3 way = body->v[i] * dt + fallen;
      farthest2 = std::fmax(farthest2, Dot(way, way));
      at += way;
    }
    at *= s;
    body->y[i] = at;
    low = {std::fmin(low.x, at.x), std::fmin(low.y, at.y), std::fmin(low.z, at.z)};
    high = {std::fmax(high.x, at.x), std::fmax(high.y, at.y), std::fmax(high.z, at.z)};
  }
  const double lows[3] = {low.x, low.y, low.z}, highs[3] = {high.x, high.y, high.z};
  body->most_motion = s * std::sqrt(farthest2);
  WorldBox box;
  for (int k = 0; k < 3; ++k) {
    box.low[k] = body->origin[k] + lows[k];
    box.high[k] = body->origin[k] + highs[k];
  }
  return box;
}

CollisionBody ViewOf(const Body& body) {
  return {body.surface, body.simulation.nodes, body.y.span().first(body.x.size()), body.collision};
}

EmbeddedPoint PointAt(const Body& body, uint32_t triangle, float u, float v) {
  const TouchingSurface surface = SurfaceOf(body);
  EmbeddedPoint point =
      surface.Point(surface.num_points() + TouchingSurface::kPointsPerTriangle * triangle, u, v);
  point.id = TouchingSurface::kNoId;
  return point;
}

// Coefficients of a body as the other side of a contact.
LocalCollider AsOther(const Body& body, const EmbeddedPoint& point) {
  LocalCollider other;
  const bool is_baked = body.baked.size() > 0;
  const Coefficients baked = is_baked ? body.baked[point.material] : Coefficients{};
  other.coefficients = {
      body.coefficients.friction >= 0.0f ? body.coefficients.friction : baked.friction,
      body.coefficients.restitution >= 0.0f ? body.coefficients.restitution : baked.restitution};
  other.user_data = body.user_data;
  return other;
}

}  // namespace

bool TouchingBodies::Reserve(const Allocator& allocator, uint32_t max_pairs) {
  if (max_pairs == 0) return true;
  const size_t most = size_t{kMeanContacts} * max_pairs;
  return pairs.Allocate(allocator, max_pairs) && past_pairs.Allocate(allocator, max_pairs) &&
         next_pairs.Allocate(allocator, max_pairs) && is_done.Allocate(allocator, max_pairs) &&
         contacts.Allocate(allocator, most) && past.Allocate(allocator, most) &&
         next_past.Allocate(allocator, most) && sides.Allocate(allocator, 2 * most) &&
         found.Allocate(allocator, kMostFound);
}

bool TouchingBodies::ReserveSurface(const Allocator& allocator, const CollisionView& surface) {
  PairCapacity larger = capacity;
  larger.triangles = std::max(larger.triangles, surface.num_triangles());
  larger.patches = std::max(larger.patches, static_cast<uint32_t>(surface.patches.size()));
  if (pairs.size() == 0 ||
      (larger.triangles == capacity.triangles && larger.patches == capacity.patches)) {
    return true;
  }
  PairScratch more;
  if (!more.Reserve(allocator, larger)) return false;
  scratch = std::move(more);
  capacity = larger;
  return true;
}

const TouchingPair* TouchingBodies::PastOf(const TouchingPair& pair) const {
  const std::span<const TouchingPair> all = Past();
  const auto at = std::ranges::lower_bound(all, pair.Key(), {}, &TouchingPair::Key);
  return at != all.end() && at->Key() == pair.Key() ? &*at : nullptr;
}

std::span<const PastContact> TouchingBodies::ContactsOf(const TouchingPair* pair) const {
  if (pair == nullptr) return {};
  return past.span().subspan(pair->begin, pair->end - pair->begin);
}

// Bodies that may meet within the step, in touching_bodies.pairs, by ascending slots.
void World::Impl::FindNearPairs() {
  TouchingBodies& t = touching_bodies;
  t.num_pairs = 0;
  uint32_t count = 0;
  for (Body* body : live_bodies()) {
    if (!body->enabled || body->surface.tets.empty()) continue;
    predicted[body->slot] = PredictInWorld(settings, body);
    is_refitted[body->slot] = 0;
    sorted_bodies[count++] = body;
  }
  const std::span<Body*> sorted = sorted_bodies.span().first(count);
  std::ranges::sort(sorted, {}, [this](const Body* body) {
    return std::make_pair(predicted[body->slot].low[0], body->slot);
  });
  for (size_t i = 0; i < sorted.size(); ++i) {
    const Body& a = *sorted[i];
    for (size_t j = i + 1; j < sorted.size(); ++j) {
      const Body& b = *sorted[j];
      if (predicted[b.slot].low[0] > predicted[a.slot].high[0]) break;
      if (!predicted[a.slot].Overlaps(predicted[b.slot]) || !MayTouch(a.filter, b.filter) ||
          (IsStatic(a) && IsStatic(b))) {
        continue;
      }
      if (t.num_pairs == t.pairs.size()) {
        t.has_dropped = true;
        break;
      }
      t.is_done[t.num_pairs] = 0;
      t.pairs[t.num_pairs++] = {std::min(a.slot, b.slot), std::max(a.slot, b.slot), 0, 0};
    }
  }
  std::ranges::sort(t.pairs.span().first(t.num_pairs), {}, &TouchingPair::Key);
}

namespace {

// A contact between predicted bodies.
struct Meeting {
  const Body &a, &b;

  // From the second body's point to the first's [m].
  Vec3 Way(const EmbeddedPoint& of_a, const EmbeddedPoint& of_b) const {
    const Vec3 base = {static_cast<float>(a.origin[0] - b.origin[0]),
                       static_cast<float>(a.origin[1] - b.origin[1]),
                       static_cast<float>(a.origin[2] - b.origin[2])};
    return of_a.Of(a.y.span()) - of_b.Of(b.y.span()) + base;
  }
};

// Of contacts nearer to each other than `spacing` [m] keeps one: the same few nodes carry them, so
// the others would hold nothing more. Those that carried load in the step before, and then the
// deepest, come first: if points took turns, the body would rock for ever. Writes the kept ones to
// `kept` and returns their number.
size_t Spread(float spacing, const Meeting& meeting, std::span<PairContact> contacts,
              std::span<const PastContact> past,
              PairContact (&kept)[TouchingBodies::kMostContacts]) {
  std::ranges::sort(contacts, {}, [](const PairContact& c) {
    return std::make_tuple(c.gap, c.triangles[0], c.triangles[1], c.u[0], c.v[0]);
  });
  const auto place = [&](const auto& c) {
    return PointAt(meeting.a, c.triangles[0], c.u[0], c.v[0]).Of(meeting.a.y.span());
  };
  constexpr float kAlike = 0.8f;  // of the normals
  Vec3 places[TouchingBodies::kMostContacts];
  size_t count = 0;
  for (const bool only_loaded : {true, false}) {
    for (const PairContact& contact : contacts) {
      const Vec3 at = place(contact);
      const auto carried_load = [&](const PastContact& old) {
        return !IsZero(old.force) && Length(place(old) - at) < 0.5f * spacing;
      };
      if (only_loaded && std::ranges::none_of(past, carried_load)) continue;
      const auto is_near = [&](size_t i) {
        return Length(places[i] - at) < spacing && Dot(kept[i].normal, contact.normal) > kAlike;
      };
      size_t i = 0;
      while (i < count && !is_near(i)) ++i;
      if (i < count || count == TouchingBodies::kMostContacts) continue;
      places[count] = at;
      kept[count++] = contact;
    }
  }
  return count;
}

// The contact of the step before that is nearest to a new one, at most `reach` away on both bodies,
// and has not been taken.
const PastContact* NearestPast(std::span<const PastContact> past, const Meeting& meeting,
                               const BodyContact& contact, float reach, uint64_t* taken) {
  float nearest = reach * reach;
  const PastContact* best = nullptr;
  for (size_t i = 0; i < past.size(); ++i) {
    if ((*taken >> i & 1u) != 0) continue;
    float distance2 = 0.0f;
    const Body* bodies[2] = {&meeting.a, &meeting.b};
    for (int k = 0; k < 2; ++k) {
      const EmbeddedPoint old =
          PointAt(*bodies[k], past[i].triangles[k], past[i].u[k], past[i].v[k]);
      const Vec3 way = old.Of(bodies[k]->y.span()) - contact.sides[k].point.Of(bodies[k]->y.span());
      distance2 += Dot(way, way);
    }
    if (!(distance2 < nearest)) continue;
    nearest = distance2;
    best = &past[i];
  }
  if (best != nullptr) *taken |= uint64_t{1} << (best - past.data());
  return best;
}

}  // namespace

// Adds a contact of the pair in `touching`. Returns null if there is no room.
BodyContact* World::Impl::AddBodyContact(const TouchingPair& pair, const uint32_t (&triangles)[2],
                                         const float (&u)[2], const float (&v)[2],
                                         const Vec3& normal) {
  TouchingBodies& t = touching_bodies;
  Body* const of[2] = {bodies[pair.first], bodies[pair.second]};
  EmbeddedPoint points[2];
  bool has_room = t.num_contacts < t.contacts.size();
  bool may_move = false;
  for (int k = 0; k < 2; ++k) {
    points[k] = PointAt(*of[k], triangles[k], u[k], v[k]);
    ContactState& state = of[k]->contacts;
    may_move = may_move || points[k].MovableShare() >= kLeastMovable;
    if (state.is_static) continue;
    has_room = has_room && state.couplings.num_slots < state.couplings.points.size();
  }
  if (!may_move) return nullptr;
  if (!has_room) {
    t.has_dropped = true;
    return nullptr;
  }
  BodyContact& contact = t.contacts[t.num_contacts++] = {};
  for (int k = 0; k < 2; ++k) {
    BodyContact::Side& side = contact.sides[k];
    side.of = &of[k]->contacts;
    side.point = points[k];
    side.triangle = triangles[k];
    side.u = u[k];
    side.v = v[k];
    if (!side.of->is_static) side.slot = side.of->couplings.Add(points[k]);
  }
  const CoefficientRules rules = ProblemOf(settings, settings.dt, *of[0]).coefficients;
  contact.row.friction = rules.Friction(points[0], AsOther(*of[1], points[1]));
  contact.row.plane.normal = normal;
  contact.rest = kRestDepth * std::fmin(of[0]->size * of[0]->scale, of[1]->size * of[1]->scale);
  return &contact;
}

// Finds the contacts of a pair of which one moves.
void World::Impl::FindContacts(TouchingPair* pair) {
  TouchingBodies& t = touching_bodies;
  Body* const of[2] = {bodies[pair->first], bodies[pair->second]};
  const TouchingPair* before = t.PastOf(*pair);
  const float size = std::fmin(of[0]->size * of[0]->scale, of[1]->size * of[1]->scale);
  pair->begin = t.num_contacts;
  // What a search finds changes by as much as the bodies move.
  constexpr float kSteps = 2.0f;  // the way until now, and from the prediction before to this one
  const float moved = kSteps * (of[0]->most_motion + of[1]->most_motion);
  pair->slack = before != nullptr ? before->slack - moved : 0.0f;
  if (pair->slack > 0.0f && !of[0]->was_placed && !of[1]->was_placed) {
    for (const PastContact& old : t.ContactsOf(before)) Keep(*pair, old);
  } else {
    SearchContacts(size, t.ContactsOf(before), pair);
    pair->slack = kRestDepth * size;
  }
  pair->end = t.num_contacts;
  const auto velocity = [](const BodyContact::Side& side) { return side.point.Of(side.of->v); };
  for (uint32_t k = pair->begin; k < pair->end; ++k) {
    const BodyContact& contact = t.contacts[k];
    pair->approach_speed =
        std::fmax(pair->approach_speed, -Dot(contact.row.plane.normal, contact.Way(velocity)));
  }
}

void World::Impl::Keep(const TouchingPair& pair, const PastContact& old) {
  BodyContact* contact = AddBodyContact(pair, old.triangles, old.u, old.v, old.normal);
  if (contact != nullptr) contact->force = old.force;
}

// Intersects the surfaces of a pair. `past`: its contacts of the step before; `size`: of the
// smaller body [m].
void World::Impl::SearchContacts(float size, std::span<const PastContact> past,
                                 TouchingPair* pair) {
  constexpr float kSpacing = 0.5f;                                          // [median edges]
  constexpr float kReach = 0.05f, kMostGap = 2.0e-3f, kMostSlip = 5.0e-3f;  // [sizes]
  TouchingBodies& t = touching_bodies;
  Body* const of[2] = {bodies[pair->first], bodies[pair->second]};
  for (Body* body : of) {
    if (is_refitted[body->slot] != 0) continue;
    is_refitted[body->slot] = 1;
    body->moved = true;  // queries need another refit
    Refit(body->surface, body->y.span().first(body->x.size()), &body->collision);
  }
  const Meeting meeting = {*of[0], *of[1]};
  const CollisionBody views[2] = {ViewOf(*of[0]), ViewOf(*of[1])};
  const auto placed = [&](int k) -> PlacedBody {
    return {views[k], {of[k]->origin[0], of[k]->origin[1], of[k]->origin[2]}};
  };
  const PairContactCount count = FindPairContacts(placed(0), placed(1), &t.scratch, t.found.span());
  t.has_dropped = t.has_dropped || !count.complete;
  const float edge = std::fmin(of[0]->simulation.median_edge * of[0]->scale,
                               of[1]->simulation.median_edge * of[1]->scale);
  uint64_t taken = 0;
  PairContact kept[TouchingBodies::kMostContacts];
  const size_t num_kept =
      Spread(kSpacing * edge, meeting, t.found.span().first(count.contacts), past, kept);
  for (const PairContact& found : std::span(kept).first(num_kept)) {
    BodyContact* contact = AddBodyContact(*pair, found.triangles, found.u, found.v, found.normal);
    if (contact == nullptr) continue;
    const PastContact* old = NearestPast(past, meeting, *contact, kReach * size, &taken);
    if (old != nullptr) contact->force = old->force;
  }
  // Contacts whose region has vanished stay while their gap is small: it opens without jitter.
  for (size_t i = 0; i < past.size(); ++i) {
    const PastContact& old = past[i];
    const bool has_room = t.num_contacts - pair->begin < TouchingBodies::kMostContacts;
    if ((taken >> i & 1u) != 0 || IsZero(old.force) || !has_room) continue;
    const Vec3 way = meeting.Way(PointAt(*of[0], old.triangles[0], old.u[0], old.v[0]),
                                 PointAt(*of[1], old.triangles[1], old.u[1], old.v[1]));
    const float gap = Dot(old.normal, way);
    if (std::fabs(gap) <= kMostGap * size && Length(way - old.normal * gap) <= kMostSlip * size) {
      Keep(*pair, old);
    }
  }
}

// Finds contacts, islands, and who wakes.
void World::Impl::FindBodyContacts() {
  TouchingBodies& t = touching_bodies;
  t.num_contacts = 0;
  t.has_dropped = false;
  t.find_time = 0.0f;
  if (t.pairs.size() == 0 || !SolvesContact(settings)) return;
  const auto start = std::chrono::steady_clock::now();
  for (Body* body : live_bodies()) {
    ContactState& state = body->contacts;
    state.is_static = IsStatic(*body);
    state.scale = body->scale;
    state.between = {};
    state.v = body->v.span();
    state.x = state.y = body->x.span();
    std::copy(body->origin, body->origin + 3, state.origin);
  }
  FindNearPairs();
  for (bool is_settled = false; !is_settled;) {
    for (uint32_t i = 0; i < t.num_pairs; ++i) {
      TouchingPair& pair = t.pairs[i];
      const auto acts = [&](uint32_t slot) {
        return bodies[slot]->Steps() && !IsStatic(*bodies[slot]);
      };
      if (t.is_done[i] != 0 || (!acts(pair.first) && !acts(pair.second))) continue;
      t.is_done[i] = 1;
      FindContacts(&pair);
    }
    LinkIslands();
    is_settled = !WakeIslands();
    if (!is_settled) PlaceAttachments();  // those of bodies that have just woken act, too
  }
  ListSides();
  t.find_time = std::chrono::duration<float>(std::chrono::steady_clock::now() - start).count();
}

// Gives each body its sides of contacts.
void World::Impl::ListSides() {
  TouchingBodies& t = touching_bodies;
  const std::span<BodyContact> all = t.contacts.span().first(t.num_contacts);
  const auto for_sides = [&](const auto& visit) {
    for (uint32_t i = 0; i < t.num_pairs; ++i) {
      for (uint32_t c = t.pairs[i].begin; c < t.pairs[i].end; ++c) {
        visit(bodies[t.pairs[i].first], BodyContactSide{&all[c], 0});
        visit(bodies[t.pairs[i].second], BodyContactSide{&all[c], 1});
      }
    }
  };
  for (Body* body : live_bodies()) body->num_sides = 0;
  for_sides([](Body* body, const BodyContactSide&) { ++body->num_sides; });
  size_t begin = 0;
  for (Body* body : live_bodies()) {
    body->contacts.between = t.sides.span().subspan(begin, body->num_sides);
    begin += body->num_sides;
    body->num_sides = 0;
  }
  for_sides([&](Body* body, const BodyContactSide& side) {
    const size_t at = static_cast<size_t>(body->contacts.between.data() - t.sides.data());
    t.sides[at + body->num_sides++] = side;
  });
}

// Bodies learn whether they touched others.
void World::Impl::NoteTouching() {
  for (Body* body : live_bodies()) body->touches_body = false;
  for (const TouchingPair& pair : touching_bodies.Past()) {
    if (!pair.presses) continue;
    bodies[pair.first]->touches_body = bodies[pair.second]->touches_body = true;
  }
}

void World::Impl::ForgetPairs(uint32_t slot) {
  for (TouchingPair& pair :
       touching_bodies.past_pairs.span().first(touching_bodies.num_past_pairs)) {
    if (pair.first != slot && pair.second != slot) continue;
    if (pair.presses) WakeUp(bodies[pair.first == slot ? pair.second : pair.first]);
    pair.end = pair.begin;
    pair.is_reported = pair.presses = false;
    pair.slack = 0.0f;
  }
}

// Reports what has changed since the step before, of pairs of which one body reports.
void World::Impl::ReportPairs(std::span<TouchingPair> pairs) {
  const auto event_of = [&](const TouchingPair& pair, ContactEventType type) {
    ContactEvent event;
    event.type = type;
    event.body = {bodies[pair.first]->id};
    event.other_body = {bodies[pair.second]->id};
    return event;
  };
  const auto end_one = [&](const TouchingPair& old) {
    if (old.is_reported && old.end > old.begin)
      RecordEvent(event_of(old, ContactEventType::kEnded));
  };
  const std::span<const TouchingPair> before = touching_bodies.Past();
  auto old = before.begin();
  for (TouchingPair& pair : pairs) {
    for (; old != before.end() && old->Key() < pair.Key(); ++old) end_one(*old);
    const bool was_known = old != before.end() && old->Key() == pair.Key() && (old++)->is_reported;
    const Body &a = *bodies[pair.first], &b = *bodies[pair.second];
    pair.is_reported = pair.presses && (a.report_contacts || b.report_contacts);
    if (was_known && !pair.is_reported) {
      RecordEvent(event_of(pair, ContactEventType::kEnded));
    }
    if (!pair.is_reported || (was_known && !a.Steps() && !b.Steps())) continue;
    RecordEvent(PairEvent(
        pair, event_of(pair, was_known ? ContactEventType::kStayed : ContactEventType::kBegan)));
  }
  for (; old != before.end(); ++old) end_one(*old);
}

// Fills in what contacts of the current step tell.
ContactEvent World::Impl::PairEvent(const TouchingPair& pair, ContactEvent event) const {
  const std::span<const TouchingPair> all = touching_bodies.Current();
  const auto at = std::ranges::lower_bound(all, pair.Key(), {}, &TouchingPair::Key);
  double point[3] = {};
  Vec3 normal;
  float strongest = 0.0f;
  for (const BodyContact& contact :
       touching_bodies.contacts.span().subspan(at->begin, at->end - at->begin)) {
    const float pressed = contact.pressed;
    if (!(pressed > 0.0f)) continue;
    const Body& body = *bodies[pair.first];
    const Vec3 place = contact.sides[0].point.Of(body.x.span());
    for (int k = 0; k < 3; ++k) {
      point[k] += double(pressed) * (body.origin[k] + double(body.scale) * double((&place.x)[k]));
    }
    normal += contact.row.plane.normal * pressed;
    event.impulse += pressed;
    if (!(pressed > strongest)) continue;
    strongest = pressed;
    event.triangle = contact.sides[0].triangle;
    event.other_triangle = contact.sides[1].triangle;
  }
  const double share = event.impulse > 0.0f ? 1.0 / double(event.impulse) : 0.0;
  event.point = {static_cast<float>(point[0] * share), static_cast<float>(point[1] * share),
                 static_cast<float>(point[2] * share)};
  const float length = Length(normal);
  event.normal = length > 0.0f ? normal * (1.0f / length) : Vec3{0.0f, 1.0f, 0.0f};
  if (event.type == ContactEventType::kBegan) event.approach_speed = pair.approach_speed;
  return event;
}

BodyContactPoint World::Impl::PlaceOfContact(const TouchingPair& pair,
                                             const PastContact& contact) const {
  const Body* of[2] = {bodies[pair.first], bodies[pair.second]};
  Vec3 at[2];
  for (int k = 0; k < 2; ++k) {
    const EmbeddedPoint point = PointAt(*of[k], contact.triangles[k], contact.u[k], contact.v[k]);
    at[k] = WorldPosition(*of[k], point.Of(of[k]->x.span()));
  }
  return {{{of[0]->id}, {of[1]->id}},
          {contact.triangles[0], contact.triangles[1]},
          (at[0] + at[1]) * 0.5f,
          contact.normal,
          Dot(contact.normal, at[0] - at[1]),
          contact.force};
}

Status World::BodyContacts(std::span<BodyContactPoint> points, uint32_t* out_count) const {
  if (out_count == nullptr) return kNoOutput;
  *out_count = 0;
  if (impl_ == nullptr) return kNoWorld;
  const TouchingBodies& t = impl_->touching_bodies;
  for (const TouchingPair& pair : t.Past()) {
    for (uint32_t k = pair.begin; k < pair.end; ++k) {
      if (IsZero(t.past[k].force)) continue;
      if (*out_count < points.size()) points[*out_count] = impl_->PlaceOfContact(pair, t.past[k]);
      ++*out_count;
    }
  }
  return {};
}

// Keeps what the contacts leave for the next step, those of pairs that sleep too.
void World::Impl::EndBodyContacts() {
  TouchingBodies& t = touching_bodies;
  if (t.pairs.size() == 0) return;
  uint32_t num_pairs = 0, count = 0;
  const auto is_free = [&](size_t more) {
    return num_pairs < t.next_pairs.size() && count + more <= t.next_past.size();
  };
  const auto end_pair = [&](const TouchingPair& pair, uint32_t begin) {
    t.next_pairs[num_pairs] = pair;
    t.next_pairs[num_pairs].begin = begin;
    t.next_pairs[num_pairs++].end = count;
  };
  for (uint32_t i = 0; i < t.num_pairs; ++i) {
    TouchingPair& pair = t.pairs[i];
    const uint32_t begin = count;
    if (t.is_done[i] == 0) {  // both sleep
      const TouchingPair* before = t.PastOf(pair);
      const std::span<const PastContact> old = t.ContactsOf(before);
      if (before == nullptr || !is_free(old.size())) continue;
      for (const PastContact& contact : old) t.next_past[count++] = contact;
      end_pair(*before, begin);
      continue;
    }
    if (!is_free(pair.end - pair.begin)) continue;
    for (const BodyContact& contact :
         t.contacts.span().subspan(pair.begin, pair.end - pair.begin)) {
      const bool presses = NormalImpulse(contact.row) > 0.0f;
      pair.presses = pair.presses || presses;
      const BodyContact::Side &a = contact.sides[0], &b = contact.sides[1];
      t.next_past[count++] = {{a.triangle, b.triangle},
                              {a.u, b.u},
                              {a.v, b.v},
                              contact.row.plane.normal,
                              presses ? contact.force : Vec3{}};
    }
    end_pair(pair, begin);
  }
  ReportPairs(t.next_pairs.span().first(num_pairs));
  std::swap(t.past, t.next_past);
  std::swap(t.past_pairs, t.next_pairs);
  t.num_past_pairs = num_pairs;
  t.num_pairs = 0;
  islands_changed = true;
  NoteTouching();
  for (Body* body : live_bodies()) {
    ContactState& state = body->contacts;
    body->was_placed = false;
    if (state.between.empty()) continue;
    state.between = {};
    if (!state.is_static) state.KeepTouching();
  }
}

}  // namespace plush

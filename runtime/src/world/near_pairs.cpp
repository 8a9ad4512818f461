// SPDX-License-Identifier: MIT
// Which bodies may meet within a step, by their boxes.
//
// A box bounds a body at the end of the step, if it moves on as it does.
#include "body/island.h"
#include "body/pin_motion.h"
#include "world/choose_contacts.h"
#include "world/world_impl.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace plush {
namespace {

// Predicts the nodes' positions at the end of the step, as if nothing held them: body->y, from the
// body's origin [m]. Measures their way since the body was last searched. Beyond kMostCoordinate,
// floats are too coarse to intersect surfaces.
void PredictInWorld(const StepSettings& settings, Body* body, PredictedBody* predicted) {
  const bool moves = body->Steps() && (Moves(*body) || body->contacts.is_carried);
  const PinMotion& pins = body->pins;
  // A body that touches something mostly does not fall.
  const bool falls = moves && !body->touches_body && body->contacts.num_contacts == 0 &&
                     body->system->num_pinned == 0;
  const float dt = moves ? settings.dt : 0.0f, s = body->scale;
  const Vec3 fallen = falls ? GravityOf(settings, *body) * (dt * dt) : Vec3{};
  constexpr float kMost = std::numeric_limits<float>::max();
  Vec3 low = {kMost, kMost, kMost}, high = -low;
  SearchedShape& searched = body->searched;
  const Vec3 to_search = {static_cast<float>(body->origin[0] - searched.origin[0]),
                          static_cast<float>(body->origin[1] - searched.origin[1]),
                          static_cast<float>(body->origin[2] - searched.origin[2])};
  Vec3 sum_v, sum_shift;
  predicted->is_near = true;
  for (size_t i = 0; i < body->x.size(); ++i) {
    Vec3 at = body->x[i];
    sum_v += body->v[i];
    const bool has_target = moves && pins.moves && pins.regions[i] != PinMotion::kStays;
    if (body->x[i].w > 0.0f || has_target) {
      at += has_target ? pins.targets[i] - at : body->v[i] * dt + fallen;
    }
    at *= s;
    if (searched.is_known) sum_shift += at + to_search - searched.y[i];
    predicted->is_near = predicted->is_near && std::fabs(at.x) < kMostCoordinate &&
                         std::fabs(at.y) < kMostCoordinate && std::fabs(at.z) < kMostCoordinate;
    body->y[i] = at;
    low = {std::fmin(low.x, at.x), std::fmin(low.y, at.y), std::fmin(low.z, at.z)};
    high = {std::fmax(high.x, at.x), std::fmax(high.y, at.y), std::fmax(high.z, at.z)};
  }
  const double lows[3] = {low.x, low.y, low.z}, highs[3] = {high.x, high.y, high.z};
  for (int k = 0; k < 3; ++k) {
    predicted->box.low[k] = body->origin[k] + lows[k];
    predicted->box.high[k] = body->origin[k] + highs[k];
  }
  const bool stays = body->contacts.is_static && !body->contacts.is_carried;
  const auto num_nodes = static_cast<float>(body->x.size());
  float farthest2 = 0.0f;
  searched.shift = sum_shift * (1.0f / num_nodes);
  for (size_t i = 0; searched.is_known && i < body->x.size(); ++i) {
    const Vec3 beside = body->y[i] + to_search - searched.y[i] - searched.shift;
    farthest2 = std::fmax(farthest2, Dot(beside, beside));
  }
  searched.away = std::sqrt(farthest2);
  predicted->way = stays ? Vec3{} : sum_v * (s * settings.dt / num_nodes);
}

// Extends a fast body's box to where the body starts.
void AddStart(const Body& body, PredictedBody* predicted) {
  WorldBox& box = predicted->box;
  if (IsZero(predicted->way)) return;
  double least = box.high[0] - box.low[0];
  for (int k = 1; k < 3; ++k) least = std::min(least, box.high[k] - box.low[k]);
  const double thickness = double(body.surface.thickness) * double(body.scale);
  if (thickness > 0.0) least = std::min(least, thickness);  // a tilted plate has a thick box
  if (double(Length(predicted->way)) < 0.5 * least) return;
  for (const NodeVec& x : body.x) {
    const double at[3] = {x.x, x.y, x.z};
    for (int k = 0; k < 3; ++k) {
      const double coordinate = body.origin[k] + double(body.scale) * at[k];
      box.low[k] = std::min(box.low[k], coordinate);
      box.high[k] = std::max(box.high[k], coordinate);
    }
  }
}

// Half the gap at which contacts persist, for each of two bodies: one that lies on another one and
// has been pushed up a little is still beside it.
WorldBox WithRoom(const WorldBox& box, const Body& body) {
  const double room = 0.5 * double(kMostGap) * double(body.size) * double(body.scale);
  WorldBox wide = box;
  for (int k = 0; k < 3; ++k) wide.low[k] -= room, wide.high[k] += room;
  return wide;
}

bool TakesPart(const Body& body) { return body.enabled && !body.surface.tets.empty(); }

}  // namespace

// Bodies that may meet within the step, in touching_bodies.pairs, by ascending slots. If there are
// too many, those that pressed on each other in the step before go first.
void World::Impl::FindNearPairs() {
  TouchingBodies& t = touching_bodies;
  t.num_pairs = 0;
  near_boxes.Clear();
  RunJobs(slots.num_live(), [](void* context, uint32_t index) {
    Impl& world = *static_cast<Impl*>(context);
    Body* body = world.live[index];
    if (!TakesPart(*body)) return;
    PredictedBody& its = world.predicted[body->slot];
    PredictInWorld(world.settings, body, &its);
    if (its.is_near) AddStart(*body, &its);
  });
  for (const Body* body : live_bodies()) {
    if (!TakesPart(*body)) continue;
    is_refitted[body->slot] = 0;
    if (predicted[body->slot].is_near) {
      near_boxes.Add(WithRoom(predicted[body->slot].box, *body), body->slot);
    } else {
      t.has_dropped = true;
    }
  }
  // Returns false if there is too little room.
  const auto find = [&](const auto& wants) {
    bool has_room = true;
    near_boxes.ForPairs([&](uint32_t first, uint32_t second) {
      const Body &a = *bodies[first], &b = *bodies[second];
      if (!MayTouch(a.filter, b.filter) || (!Moves(a) && !Moves(b))) return true;
      const TouchingPair pair = {std::min(first, second), std::max(first, second), 0, 0};
      if (!wants(pair)) return true;
      has_room = t.num_pairs < t.pairs.size();
      if (!has_room) return false;
      t.is_done[t.num_pairs] = 0;
      t.pairs[t.num_pairs++] = pair;
      return true;
    });
    return has_room;
  };
  const auto pressed = [&t](const TouchingPair& pair) {
    const TouchingPair* const past = t.PastOf(pair);
    return past != nullptr && past->presses;
  };
  if (!find([](const TouchingPair&) { return true; })) {
    t.has_dropped = true;
    t.num_pairs = 0;
    if (find(pressed)) find([&](const TouchingPair& pair) { return !pressed(pair); });
  }
  std::ranges::sort(t.pairs.span().first(t.num_pairs), {}, &TouchingPair::Key);
}

}  // namespace plush

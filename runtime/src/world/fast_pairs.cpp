// SPDX-License-Identifier: MIT
// Bodies that fly at each other so fast that they would be deep inside each other, or past, at the
// end of the step. Their surfaces are intersected at several times within it: what touches first is
// found before it is deep, with the right normals.
#include "body/body_colliders.h"
#include "intersection/enclosed_pieces.h"
#include "world/world_impl.h"

#include <algorithm>
#include <cmath>

namespace plush {
namespace {

// Moves body->y to a share of the way from the start of the step to where RefitSearched saw it, and
// refits the tree.
void PlaceWithin(float share, Body* body) {
  const size_t num_nodes = body->x.size();
  const float s = body->scale;
  for (size_t i = 0; i < num_nodes; ++i) {
    const Vec3 end = body->searched.y[i], start = body->x[i] * s;
    body->y[i] = share < 1.0f ? start + (end - start) * share : end;
  }
  RefitVolumes(body->surface, body->y.span().first(num_nodes), &body->collision);
}

// How far a node's way within the step is from the mean way of all, at most [m].
float FarthestFromMean(const Vec3& mean, const Body& body) {
  float farthest2 = 0.0f;
  for (size_t i = 0; i < body.x.size(); ++i) {
    const Vec3 beside = body.searched.y[i] - body.x[i] * body.scale - mean;
    farthest2 = std::fmax(farthest2, Dot(beside, beside));
  }
  return std::sqrt(farthest2);
}

// Whether two bodies that RefitSearched placed may meet within the step. `ways`: their mean ways.
bool MayMeetWithin(const Body& a, const Body& b, const Vec3 (&ways)[2]) {
  const float way =
      Length(ways[0] - ways[1]) + FarthestFromMean(ways[0], a) + FarthestFromMean(ways[1], b);
  const CollisionBody views[2] = {ViewOf(a), ViewOf(b)};
  const PlacedBody placed[2] = {PlacedAt(views[0], a), PlacedAt(views[1], b)};
  return MayMeet(placed[0], placed[1], way) || HasEnclosedPiece(placed[0], placed[1]);
}

}  // namespace

bool World::Impl::MayEnclose(const Body& a, const Body& b) const {
  if (a.simulation.components > 1 || b.simulation.components > 1) return true;
  const auto holds = [](const WorldBox& outer, const WorldBox& inner) {
    for (int k = 0; k < 3; ++k) {
      if (outer.low[k] > inner.low[k] || outer.high[k] < inner.high[k]) return false;
    }
    return true;
  };
  const WorldBox &of_a = predicted[a.slot].box, &of_b = predicted[b.slot].box;
  return holds(of_a, of_b) || holds(of_b, of_a);
}

uint32_t World::Impl::SearchTimes(const Body& a, const Body& b) const {
  const float thinner = ThinnerOf(a.contacts, b.contacts);
  const float way = Length(predicted[a.slot].way - predicted[b.slot].way);
  if (!(thinner > 0.0f) || !(way > thinner)) return 1;
  return static_cast<uint32_t>(
      std::fmin(std::ceil(way / (0.5f * thinner)), float{WantedPair::kMostTimes}));
}

PairContactCount World::Impl::FindWithin(uint32_t times, Body* const (&of)[2],
                                         const LastNormal& last, SearchMemory* memory) {
  const Vec3 ways[2] = {predicted[of[0]->slot].way, predicted[of[1]->slot].way};
  // What is deeper was found earlier.
  const float deepest = 1.5f * Length(ways[0] - ways[1]) / static_cast<float>(times);
  PairContactCount all;
  all.complete = true;
  if (!MayMeetWithin(*of[0], *of[1], ways)) return all;
  for (uint32_t k = 1; k <= times; ++k) {
    for (Body* body : of) PlaceWithin(static_cast<float>(k) / static_cast<float>(times), body);
    const CollisionBody a = ViewOf(*of[0]), b = ViewOf(*of[1]);
    const PlacedBody moved = PlacedAt(a, *of[0]), fixed = PlacedAt(b, *of[1]);
    if (!MayMeet(moved, fixed, 0.0f) && !HasEnclosedPiece(moved, fixed)) continue;
    const std::span<PairContact> room = memory->found.span().subspan(all.contacts);
    const PairContactCount found = FindPairContacts(moved, fixed, &memory->scratch, room, last);
    all.complete = all.complete && found.complete;
    all.open = all.open || found.open;
    all.pairs += found.pairs;
    const auto is_late = [&](const PairContact& c) { return k > 1 && -c.gap > deepest; };
    const auto end = std::remove_if(room.begin(), room.begin() + found.contacts, is_late);
    all.contacts += static_cast<uint32_t>(end - room.begin());
  }
  // Gaps as at the end of the step, where contacts are chosen.
  const Vec3 base = {static_cast<float>(of[0]->origin[0] - of[1]->origin[0]),
                     static_cast<float>(of[0]->origin[1] - of[1]->origin[1]),
                     static_cast<float>(of[0]->origin[2] - of[1]->origin[2])};
  for (PairContact& c : memory->found.span().first(all.contacts)) {
    const auto at = [&](int k) {
      return TouchingPointAt(*of[k], c.triangles[k], c.u[k], c.v[k]).Of(of[k]->y.span());
    };
    c.gap = Dot(c.normal, at(0) - at(1) + base);
  }
  return all;
}

}  // namespace plush

// SPDX-License-Identifier: MIT
// World::FindIntersection and the curves and regions that World::Draw draws: where the surfaces of
// two bodies intersect as they are now. Steps look where bodies are at their end
// (touching_bodies.cpp).
#include "base/vector_math.h"
#include "world/world_impl.h"

#include <algorithm>
#include <utility>

namespace plush {
namespace {

// Refits the body's tree to where its nodes are in the world, from its origin.
CollisionBody PlaceNow(Body* body) {
  const size_t num_nodes = body->x.size();
  for (size_t i = 0; i < num_nodes; ++i) body->y[i] = body->x[i] * body->scale;
  const std::span<const NodeVec> y = body->y.span().first(num_nodes);
  Refit(body->surface, y, &body->collision);
  body->moved = true;  // queries need another refit
  return ViewOf(*body);
}

Vec3 InWorld(const Body& body, const Vec3& from_origin) {
  return {ToFloat(body.origin[0] + double(from_origin.x)),
          ToFloat(body.origin[1] + double(from_origin.y)),
          ToFloat(body.origin[2] + double(from_origin.z))};
}

}  // namespace

// `first` has the smaller slot. Positions that remain in the first search's memory are from
// its origin.
PairContactCount World::Impl::Intersect(Body* first, Body* second) {
  SearchMemory& memory = touching_bodies.searches[0];
  PairContactCount none;
  none.complete = true;
  if (first->surface.tets.empty() || second->surface.tets.empty()) return none;
  const CollisionBody views[2] = {PlaceNow(first), PlaceNow(second)};
  const PlacedBody moved = PlacedAt(views[0], *first), fixed = PlacedAt(views[1], *second);
  return FindPairContacts(moved, fixed, &memory.scratch, memory.found.span());
}

Status World::FindIntersection(BodyId a, BodyId b, std::span<IntersectionSegment> segments,
                               std::span<IntersectionRegion> regions, Intersection* out) const {
  if (out == nullptr) return kNoOutput;
  *out = {};
  Body* of[2] = {};
  Status status = Impl::FindBody(impl_, a, &of[0]);
  if (status.ok()) status = Impl::FindBody(impl_, b, &of[1]);
  if (!status.ok()) return status;
  if (of[0] == of[1]) return {StatusCode::kInvalidArgument, "b", "is the same body", 0};
  if (impl_->touching_bodies.pairs.size() == 0) {
    return {StatusCode::kInvalidArgument, "max_pairs", "bodies do not touch each other", 0};
  }
  const bool swaps = of[0]->slot > of[1]->slot;
  if (swaps) std::swap(of[0], of[1]);
  const PairContactCount count = impl_->Intersect(of[0], of[1]);
  const PairScratch& s = impl_->touching_bodies.searches[0].scratch;
  out->is_complete = count.complete;
  out->is_open = count.open;
  out->num_curves = count.curves;
  out->num_volumes = count.volumes;
  for (uint32_t c = 0; c < count.curves; ++c) {
    for (uint32_t i = 0; i < s.curves[c].count; ++i) {
      const TrianglePair& pair = s.pairs[s.order[s.curves[c].first + i]];
      const uint32_t at = out->num_segments++;
      if (at >= segments.size()) continue;
      const uint32_t triangles[2] = {pair.moved, pair.fixed};
      segments[at] = {InWorld(*of[0], pair.from),
                      InWorld(*of[0], pair.to),
                      {triangles[swaps ? 1 : 0], triangles[swaps ? 0 : 1]},
                      c,
                      s.parents[c]};
    }
  }
  uint32_t node = count.curves;
  for (uint32_t side = 0; side < 2; ++side) {
    for (uint32_t r = 0; r < s.floods[side].num_regions && count.regions > 0; ++r, ++node) {
      const uint32_t at = out->num_regions++;
      if (at >= regions.size()) continue;
      const Region& region = s.floods[side].regions[r];
      regions[at] = {{of[side]->id}, region.patch,       InWorld(*of[0], region.centroid),
                     region.area,    region.vector_area, s.parents[node]};
    }
  }
  return {};
}

// Calls back with the segments of the curves, and the triangles that are wholly inside the other
// body, of all pairs that touched in the last step.
void World::Impl::ForIntersections(void* user, const IntersectionVisitor& visit) {
  for (const TouchingPair& pair : touching_bodies.Past()) {
    Body *const a = bodies[pair.first], *const b = bodies[pair.second];
    if (pair.begin == pair.end || !a->enabled || !b->enabled) continue;
    const PairContactCount count = Intersect(a, b);
    const PairScratch& s = touching_bodies.searches[0].scratch;
    for (uint32_t i = 0; i < count.pairs && count.complete; ++i) {
      visit.segment(user, InWorld(*a, s.pairs[i].from), InWorld(*a, s.pairs[i].to));
    }
    const Vec3 to_b = {ToFloat(b->origin[0] - a->origin[0]), ToFloat(b->origin[1] - a->origin[1]),
                       ToFloat(b->origin[2] - a->origin[2])};
    for (uint32_t side = 0; side < 2 && count.regions > 0; ++side) {
      Body* const body = side == 0 ? a : b;
      const CollisionBody view = ViewOf(*body);
      const PlacedSurface surface = {view, side == 0 ? Vec3{} : to_b, Surface::kMoved};
      const auto show = [&](uint32_t triangle) {
        const Corners c = surface.CornersAt(triangle);
        visit.triangle(user, InWorld(*a, c[0]), InWorld(*a, c[1]), InWorld(*a, c[2]));
      };
      const FloodScratch& flood = s.floods[side];
      for (uint32_t r = 0; r < flood.num_regions; ++r) {
        const Region& region = flood.regions[r];
        for (uint32_t i = 0; i < region.num_items; ++i) {
          const RegionItem& item = flood.items[region.first_item + i];
          if (item.cut == kNoPair) show(item.triangle);
        }
        if (region.num_items > 0) continue;
        const uint32_t end = TrianglesEnd(body->surface, region.patch);
        for (uint32_t k = body->surface.patches[region.patch].first_triangle; k < end; ++k) show(k);
      }
    }
  }
}

}  // namespace plush

// SPDX-License-Identifier: MIT
// Source: sunk_points.h.
#include "touching/sunk_points.h"

#include "base/float4.h"
#include "collision/surface_records.h"
#include "collision/tree_walks.h"
#include "touching/triangle_code.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

namespace plush {

TetNumbers MovableOf(const TouchingSurface& surface, const CdgTet& tet) {
  const auto of = [&](uint32_t node) { return surface.pinned[node] != 0 ? 0.0f : 1.0f; };
  return {of(tet.nodes[0]), of(tet.nodes[1]), of(tet.nodes[2]), of(tet.nodes[3])};
}

namespace {

// Refers to a lambda. What takes one has one instance for all lambdas.
template <class Result, class... Arguments>
class LambdaRef {
 public:
  template <class Lambda>
  LambdaRef(const Lambda& lambda)
      : call_([](const void* user, Arguments... arguments) -> Result {
          return (*static_cast<const Lambda*>(user))(arguments...);
        }),
        user_(&lambda) {}
  Result operator()(Arguments... arguments) const { return call_(user_, arguments...); }

 private:
  Result (*call_)(const void*, Arguments...);
  const void* user_;
};
using VisitVertex = LambdaRef<void, uint32_t, float>;
using IsLeftOut = LambdaRef<bool, uint32_t>;

// Calls visit(vertex, gap) for the vertices of a CdgTet that have a gap below `least`, which may
// change.
void ForLowVertices(const CollisionView& surface, uint32_t tet, const float* gaps,
                    const float& least, const VisitVertex& visit) {
  const auto limit = [&least] { return least; };
  constexpr uint32_t kVisitedAtOnce = 8;
  const Float4 of_nodes = Load4(gaps);
  uint32_t first = 0;
  const size_t count = VerticesOf(surface, tet, &first).size();
  for (uint32_t p = surface.tets[tet].first_patch; p < PatchesEnd(surface, tet); ++p) {
    WithTriangles(surface, [&](const auto& triangles) {
      const auto bound = [&](uint32_t i) {
        const BarycentricBox box = UnpackBounds(BoundsOf(triangles[i]));
        return LowestIn(of_nodes, box.low, box.high);
      };
      WalkPatchTree(surface.patches[p].first_triangle, TrianglesEnd(surface, p), kVisitedAtOnce,
                    bound, limit, [&](uint32_t i) {
                      for (int corner = 0; corner < 3; ++corner) {
                        const uint32_t v = VertexOf(triangles[i], corner);
                        if (v - first >= count) continue;  // of another tet: a wrong file
                        const float gap = MeanOf(gaps, surface.vertices[v]);
                        if (gap < limit()) visit(v, gap);
                      }
                    });
    });
  }
}

// The lowest of these vertices that is not left out, if its gap is below `limit`. Otherwise any of
// them, with a gap that is not.
LowVertex LowestVertexBut(std::span<const Vec4> vertices, uint32_t first, const float* gaps,
                          float limit, const IsLeftOut& is_left_out) {
  LowVertex lowest = LowestVertex(vertices, gaps);
  const uint32_t at = lowest.index;
  lowest.index += first;
  if (!(lowest.gap < limit) || !is_left_out(lowest.index)) return lowest;
  const LowVertex before = LowestVertexBut(vertices.first(at), first, gaps, limit, is_left_out);
  const LowVertex after =
      LowestVertexBut(vertices.subspan(at + 1), lowest.index + 1, gaps, limit, is_left_out);
  return after.gap < before.gap ? after : before;
}

// Below this number of vertices in a tet, reading all of them is faster than the patches' trees.
constexpr size_t kFewVertices = 512;

bool HasManyVertices(const CollisionView& surface, uint32_t tet) {
  uint32_t first = 0;
  return VerticesOf(surface, tet, &first).size() > kFewVertices;
}

// The same for a CdgTet.
LowVertex LowestBut(const CollisionView& surface, uint32_t tet, const float* gaps, float limit,
                    const IsLeftOut& is_left_out) {
  uint32_t first = 0;
  const std::span<const Vec4> vertices = VerticesOf(surface, tet, &first);
  if (vertices.size() <= kFewVertices) {
    return LowestVertexBut(vertices, first, gaps, limit, is_left_out);
  }
  LowVertex lowest = {0, limit};
  ForLowVertices(surface, tet, gaps, lowest.gap, [&](uint32_t vertex, float gap) {
    if (!is_left_out(vertex)) lowest = {vertex, gap};
  });
  return lowest;
}

LowVertex LowestOf(const CollisionView& surface, uint32_t tet, const float* gaps) {
  return LowestBut(surface, tet, gaps, std::numeric_limits<float>::infinity(),
                   [](uint32_t) { return false; });
}

// As `gaps_`.
TetNumbers StartGapsOf(const ContactProblem& problem, const LocalCollider& plane,
                       const CdgTet& tet) {
  const auto of = [&](uint32_t node) {
    const float gap = StartGap(plane, problem.x[node]);
    const bool is_pinned = problem.surface.pinned[node] != 0;
    return is_pinned && gap < -problem.most_pinned ? -problem.most_pinned : gap;
  };
  return {of(tet.nodes[0]), of(tet.nodes[1]), of(tet.nodes[2]), of(tet.nodes[3])};
}

// Of NearTets.
size_t NumBlocks(size_t num_tets) { return (num_tets + NearTets::kCount - 1) / NearTets::kCount; }

}  // namespace

bool SunkPoints::Allocate(const Allocator& allocator, size_t num_tets, size_t num_nodes,
                          size_t num_planes, size_t most) {
  const size_t num_lists = NumLists(num_planes);
  num_tets_ = num_tets;
  return gaps_.Allocate(allocator, num_nodes) && lists_.Allocate(allocator, num_lists) &&
         near_.Allocate(allocator, num_tets > 0 ? num_lists * num_nodes : 0, uint8_t{0}) &&
         last_gaps_.Allocate(allocator, num_tets > 0 ? num_lists * num_nodes : 0, 0.0f) &&
         near_tets_.Allocate(allocator, num_lists * NumBlocks(num_tets)) &&
         starts_.Allocate(allocator, num_nodes) && ends_.Allocate(allocator, num_nodes) &&
         sides_.Allocate(allocator, num_nodes) && found_.Allocate(allocator, 2 * most) &&
         taken_.Allocate(allocator, num_nodes, uint8_t{0});
}

void SunkPoints::FindGaps(const ContactProblem& problem, const LocalCollider& plane,
                          std::span<const NodeVec> moved) {
  const std::span<const NodeVec> x = problem.y;
  const auto at = [&](size_t i) {
    return moved.empty() ? Load4(&x[i].x) : Load4(&x[i].x) + Load4(&moved[i].x);
  };
  const Vec3& n = plane.normal;
  size_t i = 0;
  for (; i + 4 <= gaps_.size(); i += 4) {
    Float4 a = at(i), b = at(i + 1), c = at(i + 2), e = at(i + 3);
    Transpose4(&a, &b, &c, &e);
    Store4(a * Broadcast(n.x) + b * Broadcast(n.y) + c * Broadcast(n.z) - Broadcast(plane.offset),
           &gaps_[i]);
  }
  for (; i < gaps_.size(); ++i) {
    gaps_[i] = Gap(plane, moved.empty() ? Vec3(x[i]) : x[i] + moved[i]);
  }
  for (i = 0; i < gaps_.size(); ++i) {
    const float least = problem.surface.pinned[i] != 0 ? -problem.most_pinned : gaps_[i];
    gaps_[i] = gaps_[i] < least ? least : gaps_[i];
  }
}

SunkPoints::LeastGaps SunkPoints::NearPlane::Note(std::span<const float> now) {
  constexpr float kRoundedUp = 1.0f + 4.0f * std::numeric_limits<float>::epsilon();
  constexpr float kNone = std::numeric_limits<float>::infinity(), kFar = 1.0e30f;
  Float4 least = Broadcast(kNone), least_of_far = least;
  Float4 fall = Broadcast(0.0f), largest = fall, not_finite = fall;
  const auto note = [&](Float4 gap, Float4 before, Float4 is_near) {
    const Float4 by = before - gap;
    least = Min(gap, least);
    least_of_far = Min(gap + is_near * Broadcast(kFar), least_of_far);
    fall = Max(by, fall);
    largest = Max(Max(gap, -gap), largest);
    not_finite = not_finite + by * Broadcast(0.0f);
  };
  size_t i = 0;
  for (; i + 4 <= now.size(); i += 4) {
    uint32_t bytes;
    std::memcpy(&bytes, &near[i], 4);
    note(Load4(&now[i]), Load4(&gaps[i]), BytesToFloats(bytes));
  }
  for (; i < now.size(); ++i) {
    note(Broadcast(now[i]), Broadcast(gaps[i]), Broadcast(static_cast<float>(near[i])));
  }
  std::copy(now.begin(), now.end(), gaps.begin());
  bool all_finite = true;
  for (int k = 0; k < 4; ++k) all_finite = all_finite && not_finite[k] == 0.0f;
  fallen = all_finite ? (fallen + GreatestOf(fall)) * kRoundedUp : kNone;
  size = all_finite ? GreatestOf(largest) : kNone;
  return {-GreatestOf(-least), -GreatestOf(-least_of_far)};
}

void SunkPoints::NearPlane::LowerFloors() {
  constexpr float kRounding = 2.0f * std::numeric_limits<float>::epsilon();
  for (NearTets& block : tets.first(NumBlocks(num_tets))) {
    block.floor -= fallen + kRounding * std::fabs(block.floor);
  }
  fallen = 0.0f;
}

// The tets near a plane, from the nodes' gaps: all that have a node lower than -`depth`. Null if
// there are none.
SunkPoints::NearPlane* SunkPoints::FindNearTets(const ContactProblem& problem, uint32_t plane,
                                                float depth) {
  size_t index = 0;
  while (index < lists_.size() && lists_[index].plane != plane) ++index;
  if (index < lists_.size()) {
    const LeastGaps least = lists_[index].Note(gaps_.span());
    if (!(least.of_all < -depth)) return nullptr;
    if (!(least.of_far < -depth)) return &lists_[index];
  } else {
    bool any = false;
    for (const float gap : gaps_) any |= gap < -depth;
    if (!any) return nullptr;
    index = next_list_++ % lists_.size();
  }
  NearPlane& list = lists_[index];
  const size_t num_nodes = gaps_.size();
  const std::span<uint8_t> near = near_.span().subspan(num_nodes * index, num_nodes);
  for (size_t i = 0; i < num_nodes; ++i) near[i] = gaps_[i] < problem.reach ? 1 : 0;
  const size_t num_blocks = NumBlocks(num_tets_);
  list = {plane, 0, near_tets_.span().subspan(num_blocks * index, num_blocks), near,
          last_gaps_.span().subspan(num_nodes * index, num_nodes)};
  std::copy(gaps_.begin(), gaps_.end(), list.gaps.begin());
  const std::span<const CdgTet> all = problem.surface.collision->tets;
  const std::span<const uint8_t> pinned = problem.surface.pinned;
  for (uint32_t t = 0; t < all.size(); ++t) {
    const uint32_t* n = all[t].nodes;
    const bool is_near = near[n[0]] + near[n[1]] + near[n[2]] + near[n[3]] > 0;
    const bool moves = (pinned[n[0]] & pinned[n[1]] & pinned[n[2]] & pinned[n[3]]) == 0;
    if (!is_near || !moves) continue;
    const uint32_t at = list.num_tets++;
    NearTets& block = list.tets[at / NearTets::kCount];
    block.tets[at % NearTets::kCount] = t;
    block.lowest[at % NearTets::kCount] = block.floor = NearTets::kBeforeSearch;
  }
  list.Note(gaps_.span());
  return &list;
}

// Adds the point of near.tets[at] that Find promises.
void SunkPoints::FindBelow(const ContactProblem& problem, const LocalCollider& plane, float depth,
                           IsKnown is_known, const void* user, int at, NearTets* near) {
  const TouchingSurface& surface = problem.surface;
  const uint32_t t = near->tets[at];
  const CdgTet& tet = surface.collision->tets[t];
  TetNumbers gaps;
  for (size_t k = 0; k < 4; ++k) near->gaps[k][at] = gaps[k] = gaps_[tet.nodes[k]];
  float& bound = near->lowest[at];
  if (HasManyVertices(*surface.collision, t)) {
    bound = LowestIn(Load4(gaps.data()), &tet.low.x, &tet.high.x);
    if (bound >= -depth) return;
  }
  const LowVertex lowest = LowestOf(*surface.collision, t, gaps.data());
  // Infinite if a node's position is not finite: no bound of later ones.
  bound = std::isfinite(lowest.gap) ? lowest.gap : NearTets::kBeforeSearch;
  if (!(lowest.gap < -depth)) return;
  const TetNumbers starts = StartGapsOf(problem, plane, tet);
  // A deep vertex may stay as deep as it was. Whether one has come down takes no look at it.
  const Float4 moved = Load4(gaps.data()) - Load4(starts.data());
  if (LowestIn(moved, &tet.low.x, &tet.high.x) - problem.rise >= -depth) return;
  const TetNumbers movable = MovableOf(surface, tet);
  SunkPoint deepest = {0, t, 0, plane.slot, -depth};
  const auto is_known_here = [&](uint32_t vertex) {
    return is_known(user, {vertex, t, 0, plane.slot, 0.0f});
  };
  const auto consider = [&](uint32_t vertex, float gap, bool is_unknown) {
    const Vec4& weights = surface.collision->vertices[vertex];
    gap += AllowedDepth(MeanOf(starts.data(), weights), problem.rise);
    if (!(gap < deepest.gap) || MeanOf(movable.data(), weights) < kLeastMovable) return;
    if (!is_unknown && is_known_here(vertex)) return;
    deepest.id = vertex;
    deepest.gap = gap;
  };
  const LowVertex unknown =
      is_known_here(lowest.index)
          ? LowestBut(*surface.collision, t, gaps.data(), -depth, is_known_here)
          : lowest;
  if (!(unknown.gap < -depth)) return;
  consider(unknown.index, unknown.gap, true);
  // If the lowest one may be as deep as it is, or if pinned nodes carry it, look at the others.
  if (unknown.gap < deepest.gap) {
    ForLowVertices(*surface.collision, t, gaps.data(), deepest.gap,
                   [&](uint32_t vertex, float gap) { consider(vertex, gap, false); });
  }
  if (!(deepest.gap < -depth)) return;
  const Vec4& w = surface.collision->vertices[deepest.id];
  const TetNumbers weights = {w.x, w.y, w.z, w.w};
  deepest.node = tet.nodes[std::ranges::max_element(weights) - weights.begin()];
  Add(deepest);
}

std::span<SunkPoint> SunkPoints::Find(const ContactProblem& problem, std::span<const NodeVec> moved,
                                      float depth, IsKnown is_known, const void* user) {
  const TouchingSurface& surface = problem.surface;
  num_found_ = 0;
  for (const LocalCollider& plane : problem.colliders) {
    if (plane.is_mesh()) {
      plane.mesh.source->code->find_sunk(problem, plane, moved, depth, is_known, user, this);
      continue;
    }
    if (plane.is_solid) {
      FindInSolid(problem, plane, moved, depth, is_known, user);
      continue;
    }
    const uint32_t p = plane.slot;
    FindGaps(problem, plane, moved);
    if (!surface.has_vertices()) {
      for (uint32_t i = 0; i < gaps_.size(); ++i) {
        if (!(gaps_[i] < -depth) || surface.pinned[i] != 0) continue;
        const float gap = gaps_[i] + AllowedDepth(StartGap(plane, problem.x[i]), problem.rise);
        const SunkPoint point = {i, SunkPoint::kNoTet, i, p, gap};
        if (gap < -depth && !is_known(user, point)) Add(point);
      }
      continue;
    }
    NearPlane* near = FindNearTets(problem, p, depth);
    if (near != nullptr) FindInTets(problem, plane, depth, is_known, user, near);
  }
  return KeepDeepest(*surface.collision);
}

// Searches the tets of a list. Most blocks have none that may have come down.
void SunkPoints::FindInTets(const ContactProblem& problem, const LocalCollider& plane, float depth,
                            IsKnown is_known, const void* user, NearPlane* near) {
  near->LowerFloors();
  const float rounding = 0.5f * kRoundingOfSums * near->size;  // of gaps then, and of those now
  for (uint32_t first = 0; first < near->num_tets; first += NearTets::kCount) {
    NearTets& tets = near->tets[first / NearTets::kCount];
    if (tets.floor - rounding >= -depth) continue;
    const uint32_t count = std::min(near->num_tets - first, NearTets::kCount);
    uint32_t low = LowTets(count, problem.surface.collision->tets, gaps_.data(), depth, &tets);
    float floor = tets.floor;
    for (; low != 0; low &= low - 1) {
      const int at = std::countr_zero(low);
      FindBelow(problem, plane, depth, is_known, user, at, &tets);
      floor = std::fmin(floor, tets.lowest[at]);
    }
    tets.floor = floor - rounding;
  }
}

}  // namespace plush

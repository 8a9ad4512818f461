// SPDX-License-Identifier: MIT
// SunkPoints::FindInSolid: tets near a convex solid, then their vertices and triangles one by one.
// Source: sunk_points.h.
#include "base/vector_math.h"
#include "colliders/swept_triangle.h"
#include "collision/surface_records.h"
#include "collision/tree_walks.h"
#include "touching/lowest_vertex.h"
#include "touching/sunk_points.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace plush {
namespace {

// The sides of the box [-reach, reach] that a way lies beyond, a bit each.
uint8_t SidesOf(const Vec3& from, const Vec3& to, const Vec3& reach) {
  const auto axis = [](float a, float b, float most) {
    return static_cast<unsigned>(std::fmax(a, b) < -most) |
           static_cast<unsigned>(std::fmin(a, b) > most) << 1u;
  };
  return static_cast<uint8_t>(axis(from.x, to.x, reach.x) | axis(from.y, to.y, reach.y) << 2u |
                              axis(from.z, to.z, reach.z) << 4u);
}

Vec3 MeanOf(const Vec3 (&of_nodes)[4], const Vec4& weights) {
  return of_nodes[0] * weights.x + of_nodes[1] * weights.y + of_nodes[2] * weights.z +
         of_nodes[3] * weights.w;
}

// A tet's nodes in the coordinates of a solid.
struct TetWay {
  Vec3 from[4], to[4];
  bool may_pass = false;  // through the whole solid
};

// The gaps of a tet's nodes from a tangent plane, at the end of their way: lower bounds of their
// distances, and so for every point between them. Of pinned nodes at least -most_pinned.
struct TetGaps {
  Float4 gaps{};
  Float4 pinned_from{}, pinned_to{};  // PinnedDepth of each node at the start and the end
  bool is_outside = false;  // whether the plane keeps all vertices out, on their whole way
};

TetGaps GapsOf(const Solid& solid, const TetWay& way, const CdgTet& tet, const TetNumbers& movable,
               float most_pinned, float depth) {
  Vec3 middle;  // of free nodes
  for (size_t k = 0; k < 4; ++k) middle += way.to[k] * movable[k];
  middle *= 1.0f / (movable[0] + movable[1] + movable[2] + movable[3]);
  const Tangent tangent = TangentAt(solid, middle);
  const auto gaps_of = [&](const Vec3(&nodes)[4], Float4* pinned) {
    Float4 gaps{};
    for (int k = 0; k < 4; ++k) {
      gaps[k] = tangent.gap + Dot(tangent.normal, nodes[k] - middle);
      if (movable[static_cast<size_t>(k)] != 0.0f || !(gaps[k] < -most_pinned)) continue;
      (*pinned)[k] = -gaps[k] - most_pinned;
      gaps[k] = -most_pinned;
    }
    return gaps;
  };
  const auto is_above = [&](const Float4& gaps) {
    return LowestIn(gaps, &tet.low.x, &tet.high.x) >= -depth;
  };
  TetGaps result;
  result.gaps = gaps_of(way.to, &result.pinned_to);
  result.is_outside = is_above(result.gaps);
  const bool has_pinned = std::ranges::count(movable, 1.0f) < 4;
  if (!way.may_pass && !has_pinned) return result;
  const Float4 starts = gaps_of(way.from, &result.pinned_from);
  result.is_outside = result.is_outside && (!way.may_pass || is_above(starts));
  return result;
}

// Whether a point enters and leaves the solid on its way.
bool Passes(const Solid& solid, const Vec3& from, const Vec3& to) {
  Tangent entered;
  return TangentAt(solid, from).gap >= 0.0f && FindEntry(solid, from, to, &entered);
}

// Finds the deepest point of a triangle if it has a gap below `limit` and is deeper in the solid
// than the corners (3 x 1), which have these gaps, by more than `depth`. Corners that are all
// deeper than `slop` hold the triangle.
bool FindDeepInside(const Solid& solid, const Vec3* corners, const float (&gaps)[3], float limit,
                    float depth, float slop, TrianglePoint* inside) {
  limit = std::min({limit, gaps[0] - depth, gaps[1] - depth, gaps[2] - depth});
  if (std::max({gaps[0], gaps[1], gaps[2]}) <= -slop) return false;
  const Vec3 middle = (corners[0] + corners[1] + corners[2]) * (1.0f / 3.0f);
  const Tangent tangent = TangentAt(solid, middle);
  float bound = tangent.gap;  // of the whole triangle
  for (int k = 0; k < 3; ++k) {
    bound = std::fmin(bound, tangent.gap + Dot(tangent.normal, corners[k] - middle));
  }
  if (!(bound < limit)) return false;
  *inside = FindDeepest(solid, corners, limit);
  if (!(inside->gap < limit)) return false;
  // A plane presses on a triangle against the triangle's normal. One along it comes from inside the
  // body. Of an edge that a triangle crosses, which of the two faces presses is chance.
  const Vec3 normal = PlaneBetween(solid, corners, *inside).normal;
  const Vec3 outward = Cross(corners[1] - corners[0], corners[2] - corners[0]);
  const float least_cosine = solid.is_round() ? 0.0f : 0.1f;
  if (-Dot(normal, outward) < least_cosine * Length(outward)) return false;
  // A triangle that sticks out behind a plate would have to pass through it.
  const float behind = FarSideOf(solid, normal);
  return std::none_of(corners, corners + 3,
                      [&](const Vec3& corner) { return Dot(normal, corner) < behind; });
}

}  // namespace

void SunkPoints::FindInSolid(const ContactProblem& problem, const LocalCollider& solid,
                             std::span<const NodeVec> moved, float depth, IsKnown is_known,
                             const void* user) {
  const TouchingSurface& surface = problem.surface;
  const Solid& shape = solid.shape;
  const Vec3 reach = shape.Reach();
  const float thinnest = shape.Thinness();
  for (size_t i = 0; i < starts_.size(); ++i) {
    const Vec3 y = problem.y[i];
    starts_[i] = solid.start.ToLocal(problem.x[i]);
    ends_[i] = solid.end.ToLocal(moved.empty() ? y : y + moved[i]);
    sides_[i] = SidesOf(starts_[i], ends_[i], reach);
  }
  const auto gap_of = [&](const EmbeddedPoint& point) {
    const Vec3 y = point.Of(problem.y), end = moved.empty() ? y : y + point.Of(moved);
    const HoldingPlane plane = problem.PlaneFor(solid, point, moved);
    return Dot(plane.normal, end) - plane.offset + plane.allowed;
  };
  if (!surface.has_vertices()) {
    for (uint32_t i = 0; i < starts_.size(); ++i) {
      if (sides_[i] != 0 || surface.pinned[i] != 0) continue;
      if (TangentAt(shape, ends_[i]).gap >= -depth && !Passes(shape, starts_[i], ends_[i])) {
        continue;
      }
      const SunkPoint point = {i, SunkPoint::kNoTet, i, solid.slot, gap_of(surface.Node(i))};
      if (point.gap < -depth && !is_known(user, point)) Add(point);
    }
    return;
  }
  const CollisionView& collision = *surface.collision;
  for (uint32_t t = 0; t < collision.tets.size(); ++t) {
    const CdgTet& tet = collision.tets[t];
    const uint32_t* n = tet.nodes;
    if ((sides_[n[0]] & sides_[n[1]] & sides_[n[2]] & sides_[n[3]]) != 0) continue;
    const TetNumbers movable = MovableOf(surface, tet);
    if (std::ranges::count(movable, 0.0f) == 4) continue;
    TetWay way;
    float farthest = 0.0f;
    for (int k = 0; k < 4; ++k) {
      way.from[k] = starts_[n[k]];
      way.to[k] = ends_[n[k]];
      farthest = std::fmax(farthest, Length(way.to[k] - way.from[k]));
    }
    way.may_pass = farthest > thinnest;
    const TetGaps bounds = GapsOf(shape, way, tet, movable, problem.most_pinned, depth);
    if (bounds.is_outside) continue;
    float of_nodes[4];
    Store4(bounds.gaps, of_nodes);
    uint32_t first = 0;
    const std::span<const Vec4> vertices = VerticesOf(collision, t, &first);
    constexpr size_t kFewVertices = 512;  // reading all of them is faster than the patches' trees
    if (!way.may_pass && vertices.size() <= kFewVertices &&
        LowestVertex(vertices, of_nodes).gap >= -depth) {
      continue;
    }
    SunkPoint deepest = {0, t, 0, solid.slot, -depth};
    Vec4 weights;
    // `gap`: the distance, which is the gap from the holding plane but for edges and corners.
    const auto consider = [&](float gap, const Vec4& of_point, SunkPoint point) {
      const auto pinned = [&](const Float4& depths) {
        return depths[0] * of_point.x + depths[1] * of_point.y + depths[2] * of_point.z +
               depths[3] * of_point.w;
      };
      const float start = TangentAt(shape, MeanOf(way.from, of_point)).gap;
      point.gap = gap + pinned(bounds.pinned_to) +
                  AllowedDepth(start + pinned(bounds.pinned_from), problem.rise);
      if (!(point.gap < deepest.gap) || plush::MeanOf(movable.data(), of_point) < kLeastMovable ||
          is_known(user, point)) {
        return;
      }
      deepest = point;
      weights = of_point;
    };
    const auto look_at = [&](const auto& triangle, uint32_t i) {
      Vec4 of_corners[3];
      float lowest = 0.0f;
      for (int k = 0; k < 3; ++k) {
        const uint32_t v = VertexOf(triangle, k);
        if (v - first >= vertices.size()) return;  // of another tet: a wrong file
        of_corners[k] = vertices[v - first];
        lowest = std::min(lowest, plush::MeanOf(of_nodes, of_corners[k]));
      }
      if (!way.may_pass && lowest >= deepest.gap) return;
      SweptTriangle swept;
      Vec3(&corners)[3] = swept.to;
      float gaps[3];
      bool passes = false;
      for (int k = 0; k < 3; ++k) {
        const uint32_t v = VertexOf(triangle, k);
        corners[k] = MeanOf(way.to, of_corners[k]);
        gaps[k] = TangentAt(shape, corners[k]).gap;
        const SunkPoint point = {v, t, 0, solid.slot};
        swept.from[k] = way.may_pass ? MeanOf(way.from, of_corners[k]) : corners[k];
        if (way.may_pass && Passes(shape, swept.from[k], corners[k])) {
          passes = true;
          consider(gap_of(surface.Vertex(t, v)), of_corners[k], point);
        } else if (gaps[k] < deepest.gap) {
          consider(gaps[k], of_corners[k], point);
        }
      }
      TrianglePoint inside;
      Tangent plane;
      if (!passes && MayPass(shape, swept) && FindEntry(shape, swept, &inside, &plane)) {
        inside.gap = plane.gap;
      } else if (!FindDeepInside(shape, corners, gaps, deepest.gap, depth, problem.slop, &inside)) {
        return;
      }
      const auto mean = [&](float Vec4::*w) {
        return of_corners[0].*w * (1.0f - inside.u - inside.v) + of_corners[1].*w * inside.u +
               of_corners[2].*w * inside.v;
      };
      const uint32_t id = surface.num_points() + TouchingSurface::kPointsPerTriangle * i;
      consider(inside.gap, {mean(&Vec4::x), mean(&Vec4::y), mean(&Vec4::z), mean(&Vec4::w)},
               {id, t, 0, solid.slot, 0.0f, inside.u, inside.v});
    };
    WithTriangles(collision, [&](const auto& triangles) {
      constexpr uint32_t kVisitedAtOnce = 8;
      for (uint32_t p = tet.first_patch; p < PatchesEnd(collision, t); ++p) {
        const auto bound = [&](uint32_t i) {
          const BarycentricBox box = UnpackBounds(BoundsOf(triangles[i]));
          return way.may_pass ? -std::numeric_limits<float>::max()
                              : LowestIn(bounds.gaps, box.low, box.high);
        };
        WalkPatchTree(
            collision.patches[p].first_triangle, TrianglesEnd(collision, p), kVisitedAtOnce, bound,
            [&] { return deepest.gap; }, [&](uint32_t i) { look_at(triangles[i], i); });
      }
    });
    if (!(deepest.gap < -depth)) continue;
    const float shares[4] = {weights.x, weights.y, weights.z, weights.w};
    deepest.node = n[std::ranges::max_element(shares) - shares];
    Add(deepest);
  }
}

}  // namespace plush

// SPDX-License-Identifier: MIT
#include "intersection/body_pairs.h"

#include "collision/double_vector.h"
#include "collision/surface_records.h"
#include "collision/vertex_positions.h"
#include "intersection/pierce_points.h"
#include "intersection/rounded_signs.h"
#include "intersection/surface_edges.h"

#include <algorithm>

namespace plush {
namespace {

// At least |x| + |y| + |z| of any point in the box.
float ReachOf(const LaneBox& box) {
  const Float4 reach = Max(Broadcast(0.0f) - box.low, box.high);
  return (reach[0] + reach[1] + reach[2]) * 1.000001f;
}

// One of the two bodies, in common coordinates, with its last tet and triangle.
struct Side {
  const CollisionBody& body;
  Vec3 offset;  // to the common coordinates [m]
  uint32_t tet = kNoTriangle;
  uint32_t triangle = kNoTriangle;
  TetLanes nodes = {};
  std::array<Float4, 3> lanes = {};  // corners
  Float4 low = {}, high = {};        // bounding box

  void Place(uint32_t index, uint32_t its_tet) {
    if (index == triangle) return;
    triangle = index;
    if (its_tet != tet) {
      tet = its_tet;
      std::array<Vec3, 4> moved = NodesOf(body.surface.tets[tet], body.x);
      for (Vec3& node : moved) node += offset;
      nodes = LanesOf(moved);
    }
    lanes = WithTriangles(body.surface, [&](const auto& triangles) {
      return CornersOf(nodes, body.surface.vertices, triangles[index]);
    });
    low = Min(Min(lanes[0], lanes[1]), lanes[2]);
    high = Max(Max(lanes[0], lanes[1]), lanes[2]);
  }

  Corners CornerPositions() const {
    Corners corners;
    for (size_t k = 0; k < 3; ++k) corners[k] = {lanes[k][0], lanes[k][1], lanes[k][2]};
    return corners;
  }
};

struct Search {
  const PlacedBody &placed_moved, &placed_fixed;
  Side moved, fixed;
  std::span<TrianglePair> pairs;
  std::span<PlacedPatches> placed;  // of both, or none
  NearPairs near;                   // not tested yet
  BodyPairCount count;
  CornerColumns corners;
  // Ends of segments whose points are not set yet: edges of the moved body, of the fixed one.
  PiercingColumns piercings[2];
  Vec3* points[2][PiercingColumns::kMost];
  size_t num_piercings[2] = {};

  // Tests all triangles of two patches whose boxes meet. Most pairs of patches are far smaller than
  // a search in their trees would pay for.
  bool TestPatches(const PatchPair& pair) {
    constexpr uint32_t kMostTriangles = PlacedPatches::kMostPicked;
    const uint32_t begin[2] = {moved.body.surface.patches[pair.patches[0]].first_triangle,
                               fixed.body.surface.patches[pair.patches[1]].first_triangle};
    const uint32_t end[2] = {TrianglesEnd(moved.body.surface, pair.patches[0]),
                             TrianglesEnd(fixed.body.surface, pair.patches[1])};
    PlacedPatches &a = placed[0], &b = placed[1];
    // A triangle may meet all of the other patch, rounded up to whole chunks.
    const size_t room = std::min(a.near.size(), b.near.size());
    if (end[0] - begin[0] > kMostTriangles || end[1] - begin[1] > kMostTriangles ||
        size_t{end[1] - begin[1]} + kLanePadding > room) {
      return TestNear() && TestTrees(pair);  // in this order
    }
    const LaneBox box_a = a.Place(moved.body, moved.offset, pair.tets[0], pair.patches[0]);
    const LaneBox box_b = b.Place(fixed.body, fixed.offset, pair.tets[1], pair.patches[1]);
    // The shift that breaks ties does not reach across a gap.
    if (GreatestOf(Max(box_a.low - box_b.high, box_b.low - box_a.high)) > 0.0f) return true;
    uint32_t *const of_a = a.picked.data(), *const of_b = b.picked.data();
    LaneBox around_a;
    const uint32_t count_a = a.Meeting(box_b, pair.patches[0], begin[0], end[0], of_a, &around_a);
    if (count_a == 0) return true;
    const uint32_t count_b = b.Meeting(around_a, pair.patches[1], begin[1], end[1], of_b);
    if (count_b == 0) return true;
    const float reach = std::max(ReachOf(around_a), ReachOf(box_b));
    const TriangleBlocks picked_a = a.Pick(moved.body.surface, {of_a, count_a}, reach);
    const TriangleBlocks picked_b = b.Pick(fixed.body.surface, {of_b, count_b}, reach);
    for (uint32_t i = 0; i < count_a;) {
      i = PairNear(picked_a, i, picked_b, &near);
      const bool is_full = i < count_a || near.count >= CornerColumns::kMost;
      if (is_full && !TestNear()) return false;
    }
    return true;
  }

  // Tests triangles of placed patches.
  bool TestNear() {
    count.candidates += near.count;
    for (uint32_t i = 0; i < near.count; i += CornerColumns::kMost) {
      const size_t most = std::min(size_t{near.count - i}, CornerColumns::kMost);
      if (!TestSome(near.first.subspan(i, most), near.second.subspan(i, most))) return false;
    }
    near.count = 0;
    return true;
  }

  bool TestSome(std::span<const uint32_t> of_moved, std::span<const uint32_t> of_fixed) {
    const float* const vertices[2] = {placed[0].vertices.data(), placed[1].vertices.data()};
    const auto list = [](const Side& side, std::span<const uint32_t> of,
                         uint32_t(&columns)[3][CornerColumns::kMost]) {
      WithTriangles(side.body.surface, [&](const auto& triangles) {
        for (size_t i = 0; i < of.size(); ++i)
          for (int k = 0; k < 3; ++k) columns[k][i] = 4 * VertexOf(triangles[of[i]], k);
      });
    };
    list(moved, of_moved, corners.moved);
    list(fixed, of_fixed, corners.fixed);
    uint32_t bits[CornerColumns::kMost];
    RoundedSigns(vertices[0], vertices[1], corners, of_moved.size(), bits);
    const auto corners_of = [&](size_t body, const uint32_t(&columns)[3][CornerColumns::kMost],
                                size_t i) {
      Corners all;
      for (size_t k = 0; k < 3; ++k) {
        const float* const at = vertices[body] + columns[k][i];
        all[k] = {at[0], at[1], at[2]};
      }
      return all;
    };
    // Listed without branches: which ones intersect cannot be guessed.
    uint32_t left[CornerColumns::kMost];
    size_t num_left = 0;
    for (uint32_t i = 0; i < of_moved.size(); ++i) {
      left[num_left] = i;
      num_left += (bits[i] & kTrianglesApart) == 0 ? 1 : 0;
    }
    constexpr size_t kAtOnce = PiercingColumns::kMost / 2;
    bool has_room = true;
    for (size_t begin = 0; begin < num_left && has_room; begin += kAtOnce) {
      for (const uint32_t i : std::span(left + begin, std::min(num_left - begin, kAtOnce))) {
        const bool is_known = (bits[i] & kSignsKnown) != 0;
        Segment segment;
        const bool intersect = is_known ? SegmentOf(bits[i], &segment)
                                        : Intersect(corners_of(0, corners.moved, i),
                                                    corners_of(1, corners.fixed, i), &segment);
        has_room = has_room && (!intersect || AddListed(i, of_moved[i], of_fixed[i], segment));
      }
      SetPoints(vertices);
    }
    return has_room;
  }

  // Sets the listed points.
  void SetPoints(const float* const (&vertices)[2]) {
    for (size_t k = 0; k < 2; ++k) {
      PiercingColumns& all = piercings[k];
      PiercePoints(vertices[k], vertices[1 - k], num_piercings[k], &all);
      for (size_t i = 0; i < num_piercings[k]; ++i)
        *points[k][i] = {all.points[0][i], all.points[1][i], all.points[2][i]};
      num_piercings[k] = 0;
    }
  }

  // Adds the pair in place `i` of the lists, and lists the points of its ends. Returns false if
  // there is no room.
  bool AddListed(size_t i, uint32_t of_moved, uint32_t of_fixed, const Segment& segment) {
    if (count.pairs == pairs.size()) return false;
    TrianglePair& pair = pairs[count.pairs++];
    pair.moved = of_moved, pair.fixed = of_fixed;
    pair.start_corner = segment.start.corner, pair.end_corner = segment.end.corner;
    const uint32_t triangles[2] = {of_moved, of_fixed};
    const CollisionView* const surfaces[2] = {&moved.body.surface, &fixed.body.surface};
    const uint32_t(*const columns[2])[CornerColumns::kMost] = {corners.moved, corners.fixed};
    const auto add = [&](const SegmentEnd& end, Piercing* key, Vec3* point) {
      const auto k = static_cast<size_t>(end.edge_of);
      *key = {end.edge_of, EdgeOf(*surfaces[k], triangles[k], end.corner), triangles[1 - k]};
      const bool is_turned = key->edge != 3 * triangles[k] + end.corner;
      const size_t corner = end.corner, next = (corner + 1) % 3, n = num_piercings[k]++;
      points[k][n] = point;
      piercings[k].edges[0][n] = columns[k][is_turned ? next : corner][i];
      piercings[k].edges[1][n] = columns[k][is_turned ? corner : next][i];
      for (size_t c = 0; c < 3; ++c) piercings[k].triangles[c][n] = columns[1 - k][c][i];
    };
    add(segment.start, &pair.start, &pair.from);
    add(segment.end, &pair.end, &pair.to);
    return true;
  }

  // Adds the pair of triangles that intersect. Returns false if there is no room.
  bool Add(PlacedTriangle* of_moved, PlacedTriangle* of_fixed, const Segment& segment) {
    if (count.pairs == pairs.size()) return false;
    for (const SegmentEnd& end : {segment.start, segment.end}) {
      const bool is_moved = end.edge_of == Surface::kMoved;
      PlacedTriangle& at = is_moved ? *of_moved : *of_fixed;
      at.edges[end.corner] = EdgeOf((is_moved ? moved : fixed).body.surface, at.index, end.corner);
    }
    pairs[count.pairs++] = MakePair(*of_moved, *of_fixed, segment);
    return true;
  }

  bool TestTrees(const PatchPair& pair) {
    return ForCandidatePairs(placed_moved, placed_fixed, pair, kPairedAtOnce, this, &TestCandidate);
  }

  static bool TestCandidate(void* user, const CandidatePair& candidate) {
    return static_cast<Search*>(user)->Test(candidate);
  }

  bool Test(const CandidatePair& candidate) {
    ++count.candidates;
    moved.Place(candidate.triangles[0], candidate.tets[0]);
    fixed.Place(candidate.triangles[1], candidate.tets[1]);
    // The shift that breaks ties does not reach across a gap.
    if (GreatestOf(Max(moved.low - fixed.high, fixed.low - moved.high)) > 0.0f) return true;
    PlacedTriangle a = {moved.triangle, moved.CornerPositions(), {}};
    PlacedTriangle b = {fixed.triangle, fixed.CornerPositions(), {}};
    Segment segment;
    return !Intersect(a.corners, b.corners, &segment) || Add(&a, &b, segment);
  }
};

}  // namespace

BodyPairCount FindBodyPairs(const PlacedBody& moved, const PlacedBody& fixed,
                            std::span<PlacedPatches> placed, std::span<TrianglePair> pairs) {
  const Vec3 offset = {ToFloat(fixed.origin[0] - moved.origin[0]),
                       ToFloat(fixed.origin[1] - moved.origin[1]),
                       ToFloat(fixed.origin[2] - moved.origin[2])};
  Search search = {moved, fixed, {moved.body, {}}, {fixed.body, offset}, pairs, placed, {}, {}, {}};
  if (!placed.empty()) search.near = {placed[0].near.span(), placed[1].near.span()};
  for (PlacedPatches& of_body : placed) of_body.Begin();
  const bool by_trees = placed.empty() || !moved.body.state.bounded || !fixed.body.state.bounded ||
                        !placed[0].Holds(moved.body.surface) ||
                        !placed[1].Holds(fixed.body.surface);
  if (by_trees) {
    search.count.complete =
        ForCandidatePairs(moved, fixed, kPairedAtOnce, &search, &Search::TestCandidate);
  } else {
    search.count.complete = ForPatchPairs(moved, fixed, &search,
                                          [](void* user, const PatchPair& pair) {
                                            return static_cast<Search*>(user)->TestPatches(pair);
                                          }) &&
                            search.TestNear();
  }
  return search.count;
}

}  // namespace plush

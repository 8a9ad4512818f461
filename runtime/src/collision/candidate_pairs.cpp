// SPDX-License-Identifier: MIT
// ForCandidatePairs: descends two trees at once, always into the larger of two nodes [Civ 5.4.3.2,
// 5.4.4]. Stored boxes are bounded along x, y, z, three diagonals and both patches' vector areas
// (barycentric_bounds.h). The vector areas separate sheets that lie side by side.
#include "collision/candidate_pairs.h"

#include "plush/format/cdg_records.h"

#include "base/vector_math.h"
#include "collision/barycentric_bounds.h"
#include "collision/deformed_patch.h"
#include "collision/double_vector.h"
#include "collision/surface_records.h"
#include "collision/tet_pairs.h"
#include "collision/vertex_positions.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace plush {
namespace {

// Extents in eight directions.
struct Extents {
  LaneBounds first, second;
};

bool Apart(const LaneBounds& a, const LaneBounds& b, Float4 margin) {
  return GreatestOf(Max(a.low - b.high, b.low - a.high) - margin) > 0.0f;
}

float SizeOf(const LaneBounds& b) {
  const Float4 size = b.high - b.low;
  return size[0] + size[1] + size[2];
}

// A part of a patch's tree, or a single triangle of it.
struct Range {
  uint32_t begin, end;
  Extents extents;

  uint32_t size() const { return end - begin; }
};

// One of the two bodies, with the tet and patch being tested.
template <class Record>
struct Side {
  const CollisionBody& body;
  std::span<const Record> triangles;
  Vec3 offset;  // from the body's coordinates to the common ones [m]
  uint32_t tet = 0, patch = 0;
  std::array<Vec3, 4> nodes = {};        // of the tet, in common coordinates [m]
  Float4 first[4] = {}, second[4] = {};  // projections of the nodes

  // Of the sub-tree whose root is triangle i.
  BarycentricBox SubTreeBox(uint32_t i) const { return UnpackBounds(BoundsOf(triangles[i])); }

  BarycentricBox TriangleBox(uint32_t i) const {
    BarycentricBox box;
    const auto weights = [&](int k) {
      return Load4(&body.surface.vertices[VertexOf(triangles[i], k)].x);
    };
    Store4(Min(Min(weights(0), weights(1)), weights(2)), box.low);
    Store4(Max(Max(weights(0), weights(1)), weights(2)), box.high);
    return box;
  }

  void EnterTet(uint32_t t) {
    tet = t;
    nodes = NodesOf(body.surface.tets[t], body.x);
    for (Vec3& node : nodes) node += offset;
  }

  // Direction of the patch's vector area, scaled to a largest component of 1; up if it is zero.
  Vec3 Facing() const {
    const std::array<Vec3, 4> rest = NodesOf(body.surface.tets[tet], body.rest);
    const Vec3 area = DeformPatch(body.surface.patches[patch], rest, nodes).vector_area;
    const float largest = std::max({std::fabs(area.x), std::fabs(area.y), std::fabs(area.z)});
    if (!(largest > 1.0e-30f)) return {0.0f, 1.0f, 0.0f};
    return area * (1.0f / largest);
  }

  void ProjectNodes(const Vec3& n, const Vec3& m) {
    for (int i = 0; i < 4; ++i) {
      const Vec3& p = nodes[i];
      first[i] = Float4{p.x, p.y, p.z, Dot(n, p)};
      second[i] = Float4{Dot(m, p), p.x + p.y + p.z, p.x + p.y - p.z, p.x - p.y + p.z};
    }
  }
};

template <class Record>
Side<Record> MakeSide(const CollisionBody& body, std::span<const Record> triangles,
                      const Vec3& offset) {
  return {body, triangles, offset};
}

template <class RecordA, class RecordB>
class PairSearch {
 public:
  PairSearch(const Side<RecordA>& a, const Side<RecordB>& b, uint32_t paired_at_once, void* user,
             CandidateCallback callback)
      : a_(a), b_(b), paired_at_once_(paired_at_once), user_(user), callback_(callback) {
    margin_ = Broadcast(MarginOf({a.body, b.body, b.offset}));
    bounded_ = AreBounded({a.body, b.body, b.offset});
  }

  bool Run() {
    TetPairs tets({a_.body, b_.body, b_.offset}, 0.0f);
    return tets.For([&](uint32_t tet_a, uint32_t tet_b) { return PairTets(tet_a, tet_b); });
  }

  bool RunOn(const PatchPair& pair) {
    a_.EnterTet(pair.tets[0]);
    b_.EnterTet(pair.tets[1]);
    return PairPatches(pair.patches[0], pair.patches[1]);
  }

 private:
  bool PairTets(uint32_t tet_a, uint32_t tet_b) {
    a_.EnterTet(tet_a);
    b_.EnterTet(tet_b);
    const CollisionView& surface_a = a_.body.surface;
    const CollisionView& surface_b = b_.body.surface;
    for (uint32_t i = surface_a.tets[tet_a].first_patch; i < PatchesEnd(surface_a, tet_a); ++i) {
      for (uint32_t j = surface_b.tets[tet_b].first_patch; j < PatchesEnd(surface_b, tet_b); ++j) {
        if (!PairPatches(i, j)) return false;
      }
    }
    return true;
  }

  bool PairPatches(uint32_t patch_a, uint32_t patch_b) {
    a_.patch = patch_a;
    b_.patch = patch_b;
    const uint32_t begin_a = a_.body.surface.patches[patch_a].first_triangle;
    const uint32_t begin_b = b_.body.surface.patches[patch_b].first_triangle;
    const uint32_t end_a = TrianglesEnd(a_.body.surface, patch_a);
    const uint32_t end_b = TrianglesEnd(b_.body.surface, patch_b);
    if (!bounded_) return PairAll(begin_a, end_a, begin_b, end_b);
    const Vec3 n = a_.Facing(), m = b_.Facing();
    a_.ProjectNodes(n, m);
    b_.ProjectNodes(n, m);
    const BarycentricBox box = a_.SubTreeBox(begin_a);
    const Range whole = {
        begin_a,
        end_a,
        {BoundBox(a_.first, box.low, box.high), BoundBox(a_.second, box.low, box.high)}};
    Range part = {begin_b, end_b, {}};
    return !Meets(b_, b_.SubTreeBox(begin_b), whole, &part) || PairRanges(whole, part);
  }

  // Whether a part with this box may meet `other`; if so, sets its extents.
  template <class AnySide>
  bool Meets(const AnySide& side, const BarycentricBox& box, const Range& other,
             Range* part) const {
    part->extents.first = BoundBox(side.first, box.low, box.high);
    if (Apart(part->extents.first, other.extents.first, margin_)) return false;
    part->extents.second = BoundBox(side.second, box.low, box.high);
    return !Apart(part->extents.second, other.extents.second, margin_);
  }

  // Pairs two ranges that may meet. Recursion is at most as deep as both trees together: 66.
  bool PairRanges(const Range& a, const Range& b) {
    if (uint64_t{a.size()} * b.size() <= paired_at_once_)
      return PairAll(a.begin, a.end, b.begin, b.end);
    const bool descend_a =
        b.size() == 1 || (a.size() > 1 && SizeOf(a.extents.first) >= SizeOf(b.extents.first));
    if (descend_a) {
      return ForParts(a_, a, b, [&](const Range& part) { return PairRanges(part, b); });
    }
    return ForParts(b_, b, a, [&](const Range& part) { return PairRanges(a, part); });
  }

  // Visits the root triangle of a sub-tree, and the sub-trees below it, as far as they may meet
  // `other`.
  template <class AnySide, class Pair>
  bool ForParts(const AnySide& side, const Range& range, const Range& other, Pair pair) const {
    const auto visit = [&](uint32_t begin, uint32_t end, const BarycentricBox& box) {
      Range part = {begin, end, {}};
      return !Meets(side, box, other, &part) || pair(part);
    };
    const uint32_t first = range.begin + 1, middle = PatchTreeMiddle(range.begin, range.end);
    if (!visit(range.begin, first, side.TriangleBox(range.begin))) return false;
    if (first < middle && !visit(first, middle, side.SubTreeBox(first))) return false;
    return middle >= range.end || visit(middle, range.end, side.SubTreeBox(middle));
  }

  bool PairAll(uint32_t begin_a, uint32_t end_a, uint32_t begin_b, uint32_t end_b) {
    for (uint32_t i = begin_a; i < end_a; ++i) {
      for (uint32_t j = begin_b; j < end_b; ++j) {
        if (!callback_(user_, {{i, j}, {a_.patch, b_.patch}, {a_.tet, b_.tet}})) return false;
      }
    }
    return true;
  }

  Side<RecordA> a_;
  Side<RecordB> b_;
  uint64_t paired_at_once_;
  void* user_;
  CandidateCallback callback_;
  Float4 margin_;
  bool bounded_;
};

Vec3 OffsetBetween(const PlacedBody& a, const PlacedBody& b) {
  return {ToFloat(b.origin[0] - a.origin[0]), ToFloat(b.origin[1] - a.origin[1]),
          ToFloat(b.origin[2] - a.origin[2])};
}

// Calls run(search) with a PairSearch of the two bodies.
template <class Run>
bool Search(const PlacedBody& a, const PlacedBody& b, uint32_t paired_at_once, void* user,
            CandidateCallback callback, const Run& run) {
  const uint32_t at_once = std::max(paired_at_once, 1u);
  return WithTriangles(a.body.surface, [&](const auto& triangles_a) {
    return WithTriangles(b.body.surface, [&](const auto& triangles_b) {
      PairSearch search(MakeSide(a.body, triangles_a, {}),
                        MakeSide(b.body, triangles_b, OffsetBetween(a, b)), at_once, user,
                        callback);
      return run(&search);
    });
  });
}

}  // namespace

bool ForCandidatePairs(const PlacedBody& a, const PlacedBody& b, uint32_t paired_at_once,
                       void* user, CandidateCallback callback) {
  return Search(a, b, paired_at_once, user, callback, [](auto* search) { return search->Run(); });
}

bool ForCandidatePairs(const PlacedBody& a, const PlacedBody& b, const PatchPair& of,
                       uint32_t paired_at_once, void* user, CandidateCallback callback) {
  return Search(a, b, paired_at_once, user, callback,
                [&](auto* search) { return search->RunOn(of); });
}

bool ForPatchPairs(const PlacedBody& a, const PlacedBody& b, void* user,
                   PatchPairCallback callback) {
  const CollisionView &of_a = a.body.surface, &of_b = b.body.surface;
  TetPairs tets({a.body, b.body, OffsetBetween(a, b)}, 0.0f);
  return tets.For([&](uint32_t s, uint32_t t) {
    for (uint32_t i = of_a.tets[s].first_patch; i < PatchesEnd(of_a, s); ++i) {
      for (uint32_t j = of_b.tets[t].first_patch; j < PatchesEnd(of_b, t); ++j) {
        if (!callback(user, {{i, j}, {s, t}})) return false;
      }
    }
    return true;
  });
}

bool MayMeet(const PlacedBody& a, const PlacedBody& b, float distance) {
  TetPairs tets({a.body, b.body, OffsetBetween(a, b)}, distance);
  return !tets.For([](uint32_t, uint32_t) { return false; });
}

}  // namespace plush

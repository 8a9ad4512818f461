// SPDX-License-Identifier: MIT
#include "mesh/self_intersection.h"

#include "mesh/exact_predicates.h"
#include "mesh/triangle_bvh.h"

#include <algorithm>
#include <iterator>

namespace plush::tools {
namespace {

// A sound mesh has about 7 box overlaps per triangle. Beyond these bounds, an exact count is of no
// use.
constexpr size_t kMaxPairs = 100'000;
constexpr uint64_t kMaxOverlapsPerTriangle = 64;
constexpr uint64_t kMaxOverlapsBase = 5'000'000;

using Triangle = std::array<uint32_t, 3>;

// Triangles of a run share one search of the tree. It ends where its box gets that many times
// longer than its first triangle.
constexpr uint32_t kLongestRun = 8;
constexpr double kMaxGrowth = 4.0;

double LongestSide(const Box3& box) {
  const Vec3d extent = box.Extent();
  return std::max({extent.x, extent.y, extent.z});
}

// The end of the run that begins at triangle `first`. Adds its boxes to *box.
uint32_t EndOfRun(const TriangleBvh& bvh, uint32_t first, uint32_t num_triangles, Box3* box) {
  const double longest = kMaxGrowth * LongestSide(bvh.box(first));
  uint32_t end = first;
  for (; end < num_triangles && end - first < kLongestRun; ++end) {
    Box3 wider = *box;
    wider.Add(bvh.box(end));
    if (end > first && !(LongestSide(wider) <= longest)) break;
    *box = wider;
  }
  return end;
}

// The corners of two triangles. The shared ones come first, in the same order.
struct AlignedPair {
  Triangle a;
  Triangle b;
  size_t num_shared = 0;
};

AlignedPair Align(const Triangle& a, const Triangle& b) {
  AlignedPair pair = {a, b};
  for (size_t i = 0; i < 3; ++i) {
    for (size_t j = pair.num_shared; j < 3; ++j) {
      if (pair.a[i] != pair.b[j]) continue;
      std::swap(pair.a[i], pair.a[pair.num_shared]);
      std::swap(pair.b[j], pair.b[pair.num_shared]);
      ++pair.num_shared;
      break;
    }
  }
  return pair;
}

}  // namespace

bool MeetBeyondShared(std::span<const Vec3d> points, const Triangle& a, const Triangle& b) {
  const AlignedPair pair = Align(a, b);
  const Triangle3 s = {points[pair.a[0]], points[pair.a[1]], points[pair.a[2]]};
  const Triangle3 t = {points[pair.b[0]], points[pair.b[1]], points[pair.b[2]]};
  switch (pair.num_shared) {
    case 0:
      return TrianglesIntersect(s, t);
    case 1:
      return TrianglesIntersectBeyondVertex(s[0], s[1], s[2], t[1], t[2]);
    case 2:
      return TrianglesIntersectBeyondEdge(s[0], s[1], s[2], t[2]);
    default:
      return false;
  }
}

SelfIntersections FindSelfIntersections(std::span<const Vec3d> points,
                                        std::span<const Triangle> triangles) {
  const TriangleBvh bvh(points, triangles);
  SelfIntersections result;
  std::vector<uint32_t> others;
  std::vector<uint32_t> of_run;
  uint32_t end_of_run = 0;
  const auto num_triangles = static_cast<uint32_t>(triangles.size());
  uint64_t overlaps_left = kMaxOverlapsPerTriangle * triangles.size() + kMaxOverlapsBase;
  for (uint32_t t = 0; t < num_triangles; ++t) {
    if (t == end_of_run) {
      Box3 box;
      end_of_run = EndOfRun(bvh, t, num_triangles, &box);
      bvh.FindOverlaps(box, t + 1, &of_run);
    }
    const auto is_other = [&](uint32_t u) { return u > t && bvh.box(u).Overlaps(bvh.box(t)); };
    others.clear();
    std::copy_if(of_run.begin(), of_run.end(), std::back_inserter(others), is_other);
    if (others.size() > overlaps_left) {
      result.complete = false;
      break;
    }
    overlaps_left -= others.size();
    for (const uint32_t other : others) {
      if (!MeetBeyondShared(points, triangles[t], triangles[other])) continue;
      if (result.pairs.size() == kMaxPairs) {
        result.complete = false;
        return result;
      }
      const Box3& a = bvh.box(t);
      const Box3& b = bvh.box(other);
      result.pairs.push_back({t, other, Box3{Max(a.low, b.low), Min(a.high, b.high)}.Centre()});
    }
  }
  return result;
}

}  // namespace plush::tools

// SPDX-License-Identifier: MIT
#include "intersection/curves.h"

#include "base/vector_math.h"

#include <algorithm>
#include <cmath>
#include <tuple>

namespace plush {
namespace {

bool Before(const CurveEnd& a, const CurveEnd& b) {
  return std::tie(a.key, a.is_start, a.pair) < std::tie(b.key, b.is_start, b.pair);
}

// Sets each pair's successor: the pair that starts where it ends.
void Join(std::span<const TrianglePair> pairs, const CurveScratch& scratch) {
  const std::span<CurveEnd> ends = scratch.ends.first(2 * pairs.size());
  for (uint32_t i = 0; i < pairs.size(); ++i) {
    ends[2 * i] = {pairs[i].start, i, true};
    ends[2 * i + 1] = {pairs[i].end, i, false};
    scratch.next[i] = kNoPair;
    scratch.has_previous[i] = 0;
  }
  std::sort(ends.begin(), ends.end(), Before);
  for (size_t i = 0; i + 1 < ends.size(); ++i) {
    const CurveEnd &end = ends[i], &start = ends[i + 1];
    if (end.key != start.key || end.is_start || !start.is_start) continue;
    scratch.next[end.pair] = start.pair;
    scratch.has_previous[start.pair] = 1;
  }
}

void Measure(std::span<const TrianglePair> pairs, std::span<const uint32_t> order, Curve* curve) {
  const Vec3 origin = pairs[order[curve->first]].from;
  for (uint32_t i = 0; i < curve->count; ++i) {
    const TrianglePair& pair = pairs[order[curve->first + i]];
    curve->length += double(Length(pair.to - pair.from));
    const Vec3 area = 0.5f * Cross(pair.from - origin, pair.to - origin);
    curve->area[0] += double(area.x);
    curve->area[1] += double(area.y);
    curve->area[2] += double(area.z);
  }
}

}  // namespace

uint32_t FindCurves(std::span<const TrianglePair> pairs, const CurveScratch& scratch,
                    std::span<Curve> curves) {
  const size_t n = pairs.size();
  if (scratch.ends.size() < 2 * n || scratch.next.size() < n || scratch.order.size() < n ||
      scratch.has_previous.size() < n)
    return kNoPair;
  Join(pairs, scratch);
  uint32_t count = 0, used = 0;
  // Follows the curve from `pair` and marks the pairs that it passes.
  const auto follow = [&](uint32_t pair, bool closed) {
    if (count == curves.size()) return false;
    Curve& curve = curves[count++] = {};
    curve.first = used;
    curve.closed = closed;
    const uint32_t begin = pair;
    do {
      scratch.order[used++] = pair;
      scratch.has_previous[pair] = 0;
      pair = scratch.next[pair];
    } while (pair != kNoPair && pair != begin);
    curve.count = used - curve.first;
    Measure(pairs, scratch.order, &curve);
    return true;
  };
  // Arcs start at pairs without a predecessor. What no arc reaches is part of a loop.
  for (uint32_t i = 0; i < n; ++i)
    if (!scratch.has_previous[i]) scratch.has_previous[i] = 2;
  for (uint32_t i = 0; i < n; ++i)
    if (scratch.has_previous[i] == 2 && !follow(i, false)) return kNoPair;
  for (uint32_t i = 0; i < n; ++i)
    if (scratch.has_previous[i] == 1 && !follow(i, true)) return kNoPair;
  return count;
}

}  // namespace plush

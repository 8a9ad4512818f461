// SPDX-License-Identifier: MIT
#include "runtime/intersection/closed_curves.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>

namespace plush::test {

Curves CurvesOf(const std::vector<TrianglePair>& pairs) {
  const size_t n = pairs.size();
  std::vector<Joint> joints(MostJoints(n));
  std::vector<uint32_t> next(n);
  std::vector<uint8_t> has_previous(n);
  Curves result{std::vector<Curve>(n), std::vector<uint32_t>(n)};
  const uint32_t count =
      FindCurves(pairs, {joints, next, result.order, has_previous}, result.curves);
  REQUIRE(count != kNoPair);
  result.curves.resize(count);
  return result;
}

void RequireClosed(const std::vector<TrianglePair>& pairs, const Curves& found) {
  std::vector<Piercing> starts, ends;
  for (const TrianglePair& pair : pairs) starts.push_back(pair.start), ends.push_back(pair.end);
  std::sort(starts.begin(), starts.end());
  std::sort(ends.begin(), ends.end());
  REQUIRE(starts == ends);
  REQUIRE(std::adjacent_find(starts.begin(), starts.end()) == starts.end());
  size_t count = 0;
  for (const Curve& curve : found.curves) {
    REQUIRE(curve.closed);
    REQUIRE(std::isfinite(curve.length + curve.area[0] + curve.area[1] + curve.area[2]));
    for (uint32_t i = 0; i < curve.count; ++i) {
      const TrianglePair& pair = pairs[found.order[curve.first + i]];
      const TrianglePair& next = pairs[found.order[curve.first + (i + 1) % curve.count]];
      REQUIRE(pair.end == next.start);
      REQUIRE((pair.to.x == next.from.x && pair.to.y == next.from.y && pair.to.z == next.from.z));
    }
    count += curve.count;
  }
  REQUIRE(count == pairs.size());
  std::vector<uint32_t> order = found.order;
  std::sort(order.begin(), order.end());
  for (uint32_t i = 0; i < order.size(); ++i) REQUIRE(order[i] == i);
}

}  // namespace plush::test

// SPDX-License-Identifier: MIT
#include "intersection/curves.h"

#include "base/vector_math.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace plush {
namespace {

// The joint with this key in a table of 2^k, or the free one that it would take.
Joint& JointAt(std::span<Joint> joints, const Piercing& key) {
  const uint64_t name = uint64_t{key.edge} << 32 | key.triangle;
  const uint64_t mixed = (name ^ static_cast<uint64_t>(key.edge_of)) * 0x9e3779b97f4a7c15u;
  const size_t mask = joints.size() - 1;
  for (size_t i = static_cast<size_t>(mixed >> 32) & mask;; i = (i + 1) & mask) {
    Joint& joint = joints[i];
    if ((joint.end == kNoPair && joint.start == kNoPair) || joint.key == key) return joint;
  }
}

// Sets each pair's successor: the pair that starts where it ends.
void Join(std::span<const TrianglePair> pairs, const CurveScratch& scratch) {
  const std::span<Joint> joints = scratch.joints.first(MostJoints(pairs.size()));
  std::fill(joints.begin(), joints.end(), Joint{});
  for (uint32_t i = 0; i < pairs.size(); ++i) {
    Joint& start = JointAt(joints, pairs[i].start);
    start.key = pairs[i].start;
    start.start = std::min(start.start, i);
    Joint& end = JointAt(joints, pairs[i].end);
    end.key = pairs[i].end;
    end.end = i;
    scratch.next[i] = static_cast<uint32_t>(&end - joints.data());
  }
  std::fill_n(scratch.has_previous.begin(), pairs.size(), uint8_t{0});
  for (uint32_t i = 0; i < pairs.size(); ++i) {
    const Joint& joint = joints[scratch.next[i]];
    scratch.next[i] = joint.end == i ? joint.start : kNoPair;
    if (scratch.next[i] != kNoPair) scratch.has_previous[joint.start] = 1;
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
  if (scratch.joints.size() < MostJoints(n) || scratch.next.size() < n ||
      scratch.order.size() < n || scratch.has_previous.size() < n)
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

// SPDX-License-Identifier: MIT
// Which of the points that a search finds it keeps: the deepest ones that share no nodes.
// Source: sunk_points.h.
#include "touching/lowest_vertex.h"
#include "touching/sunk_points.h"

#include <algorithm>
#include <limits>
#include <tuple>

namespace plush {
namespace {

// One type of comparison, so that there is one sort.
using Before = bool (*)(const SunkPoint& a, const SunkPoint& b);

bool IsDeeper(const SunkPoint& a, const SunkPoint& b) {
  return std::tie(a.gap, a.id, a.collider) < std::tie(b.gap, b.id, b.collider);
}

// The deepest in front.
void MoveDeepest(std::span<SunkPoint> points, size_t most) {
  const Before before = IsDeeper;
  std::nth_element(points.begin(), points.begin() + static_cast<std::ptrdiff_t>(most), points.end(),
                   before);
}

void Sort(std::span<SunkPoint> points, Before before) {
  std::sort(points.begin(), points.end(), before);
}

// At most as many points are chosen from in vectors.
constexpr size_t kMostInVectors = 1024;

// Whether points are on one collider, in the order of their ids, and on no face of a mesh.
bool AreInOrder(std::span<const SunkPoint> found) {
  if (found.size() > kMostInVectors) return false;
  for (size_t i = 0; i < found.size(); ++i) {
    if (found[i].face != kNoTriangle) return false;
    if (i > 0 && !(found[i].id > found[i - 1].id && found[i].collider == found[i - 1].collider)) {
      return false;
    }
  }
  return true;
}

// Keeps those of points in order whose nodes no deeper one has taken. Returns their number.
size_t KeepUntaken(const CollisionView& surface, std::span<SunkPoint> found) {
  constexpr size_t kMost = kMostInVectors, kMostLanes = 16;
  constexpr uint32_t kNone[4] = {UINT32_MAX, UINT32_MAX, UINT32_MAX, UINT32_MAX};
  uint32_t nodes[kMost];
  float gaps[kMost];
  bool keeps[kMost] = {};
  for (size_t i = 0; i < found.size(); ++i) nodes[i] = found[i].node, gaps[i] = found[i].gap;
  const size_t end = (found.size() + kMostLanes - 1) / kMostLanes * kMostLanes;
  std::fill(nodes + found.size(), nodes + end, 0u);
  std::fill(gaps + found.size(), gaps + end, std::numeric_limits<float>::infinity());
  const uint32_t* taken = kNone;
  while (true) {
    const LowVertex lowest = LowestBeside(taken, nodes, end, gaps);
    if (!(lowest.gap < std::numeric_limits<float>::infinity())) break;
    keeps[lowest.index] = true;
    gaps[lowest.index] = std::numeric_limits<float>::infinity();
    taken = surface.tets[found[lowest.index].tet].nodes;
  }
  size_t kept = 0;
  for (size_t i = 0; i < found.size(); ++i) {
    if (keeps[i]) found[kept++] = found[i];
  }
  return kept;
}

}  // namespace

// If memory is full, keeps the deeper half.
void SunkPoints::Add(const SunkPoint& point) {
  if (num_found_ == found_.size()) {
    num_found_ /= 2;
    MoveDeepest(found_.span(), num_found_);
  }
  found_[num_found_++] = point;
}

// The same for points in any order, which it sorts.
size_t SunkPoints::KeepUntakenOfAll(const CollisionView& surface, std::span<SunkPoint> found) {
  Sort(found, [](const SunkPoint& a, const SunkPoint& b) {
    return std::tie(a.collider, a.gap, a.id) < std::tie(b.collider, b.gap, b.id);
  });
  if (surface.tets.empty()) return found.size();
  size_t kept = 0;
  const auto mark = [&](const SunkPoint& point, uint8_t taken) {
    for (const uint32_t node : surface.tets[point.tet].nodes) taken_[node] = taken;
  };
  const size_t num_vertices = surface.vertices.size();
  for (size_t i = 0, first = 0; i < found.size(); ++i) {
    const bool is_new_plane = i > 0 && found[i - 1].collider != found[i].collider;
    for (; is_new_plane && first < kept; ++first) mark(found[first], 0);
    // A ridge is no reason to leave out a vertex, nor the other way round.
    const bool is_on_ridge = found[i].face != kNoTriangle && found[i].id >= num_vertices;
    if (!is_on_ridge && taken_[found[i].node] != 0) continue;
    if (!is_on_ridge) mark(found[i], 1);
    found[kept++] = found[i];
  }
  for (const SunkPoint& point : found.first(kept)) mark(point, 0);
  return kept;
}

// What Find returns of all that was found.
std::span<SunkPoint> SunkPoints::KeepDeepest(const CollisionView& surface) {
  std::span<SunkPoint> found = found_.span().first(num_found_);
  if (found.empty()) return found;
  const size_t most = found_.size() / 2;
  if (!surface.tets.empty() && AreInOrder(found)) {
    found = found.first(KeepUntaken(surface, found));
    if (found.size() <= most) return found;
  } else {
    found = found.first(KeepUntakenOfAll(surface, found));
  }
  if (found.size() > most) {
    MoveDeepest(found, most);
    found = found.first(most);
  }
  Sort(found, [](const SunkPoint& a, const SunkPoint& b) {
    return std::tie(a.id, a.collider) < std::tie(b.id, b.collider);
  });
  return found;
}

}  // namespace plush

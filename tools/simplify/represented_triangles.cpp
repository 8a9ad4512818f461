// SPDX-License-Identifier: MIT
// A triangle is covered by one candidate if its corners are near enough to it, because the distance
// from a convex set is a convex function. Otherwise it is quartered.
#include "simplify/represented_triangles.h"

#include <algorithm>
#include <bit>

namespace plush::tools {

RepresentedTriangles::RepresentedTriangles(std::span<const Vec3d> points,
                                           std::span<const std::array<uint32_t, 3>> triangles,
                                           double limit)
    : points_(points),
      triangles_(triangles),
      limit_(limit),
      stands_for_(triangles.size()),
      round_of_point_(points.size(), 0),
      mask_of_point_(points.size(), 0) {
  for (uint32_t t = 0; t < triangles.size(); ++t) stands_for_[t] = {t};
}

// The moved triangles first, then those around them, as they will be.
void RepresentedTriangles::ListCandidates(const CollapsingSurface& surface, uint32_t from,
                                          uint32_t to) {
  candidates_.clear();
  const auto add = [&](uint32_t t) {
    Candidate candidate = {t, {}, {}};
    for (size_t k = 0; k < 3; ++k) {
      const uint32_t point = surface.corners(t)[k];
      candidate.corners[k] = points_[point == from ? to : point];
      candidate.reach.Add(candidate.corners[k]);
    }
    candidate.reach.low = candidate.reach.low - Vec3d{limit_, limit_, limit_};
    candidate.reach.high = candidate.reach.high + Vec3d{limit_, limit_, limit_};
    candidates_.push_back(candidate);
  };
  const auto has = [&](uint32_t t, uint32_t point) {
    const auto& corners = surface.corners(t);
    return std::find(corners.begin(), corners.end(), point) != corners.end();
  };
  for (const uint32_t t : surface.Around(from)) {
    if (!has(t, to)) add(t);
  }
  for (const auto& neighbour : surface.NeighboursOf(from)) {
    for (const uint32_t t : surface.Around(neighbour.point)) {
      if (candidates_.size() >= kMaxCandidates) return;
      if (has(t, from)) continue;
      const bool is_new = std::none_of(candidates_.begin(), candidates_.end(),
                                       [t](const auto& c) { return c.triangle == t; });
      if (is_new) add(t);
    }
  }
}

void RepresentedTriangles::ListOriginals(const CollapsingSurface& surface, uint32_t from) {
  originals_.clear();
  for (const uint32_t t : surface.Around(from)) {
    originals_.insert(originals_.end(), stands_for_[t].begin(), stands_for_[t].end());
  }
  std::sort(originals_.begin(), originals_.end());
  originals_.erase(std::unique(originals_.begin(), originals_.end()), originals_.end());
}

// The candidates within the limit of a point.
RepresentedTriangles::Mask RepresentedTriangles::MaskOf(const Vec3d& p) const {
  Mask mask = 0;
  for (size_t i = 0; i < candidates_.size(); ++i) {
    const auto& [low, high] = candidates_[i].reach;
    if (p.x < low.x || p.y < low.y || p.z < low.z) continue;
    if (p.x > high.x || p.y > high.y || p.z > high.z) continue;
    if (DistanceFrom(candidates_[i].corners, p) <= limit_) mask |= Mask{1} << i;
  }
  return mask;
}

RepresentedTriangles::Mask RepresentedTriangles::MaskOfPoint(uint32_t point) {
  if (round_of_point_[point] != round_) {
    round_of_point_[point] = round_;
    mask_of_point_[point] = MaskOf(points_[point]);
  }
  return mask_of_point_[point];
}

// Adds to `*used` candidates that cover the triangle, if there are any.
bool RepresentedTriangles::Cover(const Triangle3& triangle, const std::array<Mask, 3>& masks,
                                 Mask* used) const {
  if (const Mask all = masks[0] & masks[1] & masks[2]; all != 0) {
    *used |= all & (~all + 1);  // the first of them
    return true;
  }
  if (masks[0] == 0 || masks[1] == 0 || masks[2] == 0) return false;
  if (BallOf(triangle).radius < kDistanceShare * limit_) return false;
  const auto quarters = Quartered(triangle);
  const Mask ab = MaskOf(quarters[3][0]);
  const Mask bc = MaskOf(quarters[3][1]);
  const Mask ca = MaskOf(quarters[3][2]);
  return Cover(quarters[0], {masks[0], ab, ca}, used) &&
         Cover(quarters[1], {ab, masks[1], bc}, used) &&
         Cover(quarters[2], {ca, bc, masks[2]}, used) && Cover(quarters[3], {ab, bc, ca}, used);
}

bool RepresentedTriangles::CanCollapse(const CollapsingSurface& surface, uint32_t from,
                                       uint32_t to) {
  ++round_;
  ListCandidates(surface, from, to);
  ListOriginals(surface, from);
  used_.assign(originals_.size(), 0);
  for (size_t i = 0; i < originals_.size(); ++i) {
    const auto& [a, b, c] = triangles_[originals_[i]];
    if (!Cover({points_[a], points_[b], points_[c]},
               {MaskOfPoint(a), MaskOfPoint(b), MaskOfPoint(c)}, &used_[i])) {
      return false;
    }
  }
  return true;
}

void RepresentedTriangles::Commit(const CollapsingSurface& surface, uint32_t from) {
  for (const uint32_t t : surface.Around(from)) stands_for_[t].clear();
  for (size_t i = 0; i < originals_.size(); ++i) {
    for (Mask left = used_[i]; left != 0; left &= left - 1) {
      std::vector<uint32_t>& list =
          stands_for_[candidates_[static_cast<size_t>(std::countr_zero(left))].triangle];
      const auto at = std::lower_bound(list.begin(), list.end(), originals_[i]);
      if (at == list.end() || *at != originals_[i]) list.insert(at, originals_[i]);
    }
  }
}

}  // namespace plush::tools

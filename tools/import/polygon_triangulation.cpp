// SPDX-License-Identifier: MIT
// Fans and ear clipping. Triangles that all turn as a simple polygon does cover its inside once,
// since their borders sum to the polygon's. So the signs of the triangles suffice for the result.
#include "import/polygon_triangulation.h"

#include "mesh/exact_predicates.h"

#include <algorithm>
#include <cmath>

namespace plush::tools {

// 1 if the corners turn as the polygon does, 0 if they are on a line, seen along the axis.
int PolygonCutter::Turn(uint32_t a, uint32_t b, uint32_t c) const {
  return turn_ * Orient2dSign(points_[a], points_[b], points_[c], axis_);
}

void PolygonCutter::ChooseAxis() {
  Vec3d area;
  for (size_t i = 1; i + 1 < points_.size(); ++i) {
    area += Cross(points_[i] - points_[0], points_[i + 1] - points_[0]);
  }
  axis_ = std::abs(area.y) > std::abs(area.x) ? 1 : 0;
  if (std::abs(area.z) > std::abs(area[axis_])) axis_ = 2;
  turn_ = area[axis_] < 0.0 ? -1 : 1;
}

bool PolygonCutter::FitsFan(uint32_t first) const {
  const auto n = static_cast<uint32_t>(points_.size());
  for (uint32_t i = 1; i + 1 < n; ++i) {
    if (Turn(first, (first + i) % n, (first + i + 1) % n) <= 0) return false;
  }
  return true;
}

void PolygonCutter::Fan(uint32_t first) {
  const auto n = static_cast<uint32_t>(points_.size());
  for (uint32_t i = 1; i + 1 < n; ++i) {
    triangles_.push_back({first, (first + i) % n, (first + i + 1) % n});
  }
}

// Whether no other corner lies in the closed ear. If one does, so does one that is not convex.
// Corners at the same point as one of the ear's do not count, as at the bridge to a hole.
bool PolygonCutter::IsFree(uint32_t ear) const {
  const uint32_t a = previous_[ear], c = next_[ear];
  return std::none_of(not_convex_.begin(), not_convex_.end(), [&](uint32_t v) {
    const Vec3d& p = points_[v];
    const bool is_left = next_[v] != v;
    return is_left && p != points_[a] && p != points_[ear] && p != points_[c] &&
           Turn(c, a, v) >= 0 && Turn(a, ear, v) >= 0 && Turn(ear, c, v) >= 0;
  });
}

bool PolygonCutter::May(uint32_t corner, Choice choice) const {
  if (choice == Choice::kAny) return true;
  const int turn = Turn(previous_[corner], corner, next_[corner]);
  if (choice == Choice::kFlat) return turn >= 0;
  return turn > 0 && (choice == Choice::kEar || IsFree(corner));
}

// Cuts off corners until a triangle is left. After each it passes over the next one, so that the
// triangles do not all meet at one corner.
void PolygonCutter::ClipEars() {
  auto left = static_cast<uint32_t>(points_.size());
  previous_.resize(left);
  next_.resize(left);
  for (uint32_t i = 0; i < left; ++i) {
    previous_[i] = (i + left - 1) % left;
    next_[i] = (i + 1) % left;
  }
  not_convex_.clear();
  for (uint32_t i = 0; i < left; ++i) {
    if (Turn(previous_[i], i, next_[i]) <= 0) not_convex_.push_back(i);
  }
  uint32_t at = 0, tried = 0;
  Choice choice = Choice::kFree;
  while (left > 3) {
    if (!May(at, choice)) {
      at = next_[at];
      if (++tried < left) continue;
      choice = static_cast<Choice>(static_cast<int>(choice) + 1);
      tried = 0;
      continue;
    }
    const uint32_t a = previous_[at], c = next_[at];
    triangles_.push_back({a, at, c});
    next_[a] = c;
    previous_[c] = a;
    next_[at] = at;
    at = next_[c];
    tried = 0;
    --left;
    choice = Choice::kFree;
  }
  triangles_.push_back({previous_[at], at, next_[at]});
}

std::span<const std::array<uint32_t, 3>> PolygonCutter::Cut(std::span<const Vec3> corners) {
  triangles_.clear();
  if (corners.size() < 3) return {};
  points_.clear();
  for (const Vec3& corner : corners) points_.push_back(ToDouble(corner));
  ChooseAxis();
  const bool is_finite =
      std::all_of(points_.begin(), points_.end(), [](const Vec3d& p) { return IsFinite(p); });
  const bool is_quad = points_.size() == 4;
  if (points_.size() == 3 || !is_finite || (is_quad && FitsFan(0))) {
    Fan(0);
  } else if (is_quad && FitsFan(1)) {
    Fan(1);
  } else {
    ClipEars();
  }
  return triangles_;
}

}  // namespace plush::tools

// SPDX-License-Identifier: MIT
// Walks through the material in a tet: straight, then along a face, then along an edge.
// The winding number at the middle of each leg decides whether the leg runs through material.
#include "lattice/material_walk.h"

#include "mesh/tet_mesh.h"

#include <algorithm>
#include <cmath>
#include <optional>

namespace plush::tools {
namespace {

// Inward normal of a face; its length is twice the face's area.
Vec3d InwardNormal(const std::array<Vec3d, 4>& tet, size_t face) {
  const auto& [a, b, c] = kTetFaces[face];
  return Cross(tet[c] - tet[a], tet[b] - tet[a]);
}

// The centre of the part of the triangle inside the tet; nullopt if they do not meet.
std::optional<Vec3d> PointOfTriangleInTet(const std::array<Vec3d, 3>& triangle,
                                          const std::array<Vec3d, 4>& tet) {
  std::vector<Vec3d> polygon(triangle.begin(), triangle.end());
  std::vector<Vec3d> clipped;
  for (size_t face = 0; face < 4; ++face) {
    const Vec3d normal = InwardNormal(tet, face);
    const Vec3d& on_face = tet[kTetFaces[face][0]];
    clipped.clear();
    for (size_t i = 0; i < polygon.size(); ++i) {
      const Vec3d& p = polygon[i];
      const Vec3d& q = polygon[(i + 1) % polygon.size()];
      const double side_p = Dot(p - on_face, normal);
      const double side_q = Dot(q - on_face, normal);
      if (side_p >= 0.0) clipped.push_back(p);
      if ((side_p > 0.0 && side_q < 0.0) || (side_p < 0.0 && side_q > 0.0)) {
        clipped.push_back(p + (q - p) * (side_p / (side_p - side_q)));
      }
    }
    polygon.swap(clipped);
    if (polygon.size() < 3) return std::nullopt;
  }
  Vec3d sum;
  for (const Vec3d& p : polygon) sum += p;
  return sum / static_cast<double>(polygon.size());
}

// Where a ray that starts in the tet leaves it (a multiple of its direction), and through which
// face (by its opposite corner).
struct Exit {
  double at = HUGE_VAL;
  size_t face = 0;
};
Exit LeaveTet(const std::array<Vec3d, 4>& tet, const Vec3d& from, const Vec3d& direction) {
  Exit exit;
  for (size_t face = 0; face < 4; ++face) {
    const Vec3d normal = InwardNormal(tet, face);
    const double speed = Dot(direction, normal);
    if (!(speed < 0.0)) continue;
    const double at = std::max(0.0, -Dot(from - tet[kTetFaces[face][0]], normal) / speed);
    if (at < exit.at) exit = {at, face};
  }
  return exit;
}

// The same for a ray within face `face`: where it leaves the face, and through which edge (by its
// opposite corner).
Exit LeaveFace(const std::array<Vec3d, 4>& tet, size_t face, const Vec3d& from,
               const Vec3d& direction) {
  const auto& corners = kTetFaces[face];
  const Vec3d normal = InwardNormal(tet, face);
  Exit exit;
  for (size_t i = 0; i < 3; ++i) {
    const Vec3d& a = tet[corners[(i + 2) % 3]];
    const Vec3d inwards = Cross(normal, tet[corners[(i + 1) % 3]] - a);
    const double speed = Dot(direction, inwards);
    if (!(speed < 0.0)) continue;
    const double at = std::max(0.0, -Dot(from - a, inwards) / speed);
    if (at < exit.at) exit = {at, corners[i]};
  }
  return exit;
}

Vec3d WithoutPart(const Vec3d& v, const Vec3d& along) {
  const double squared = LengthSquared(along);
  return squared > 0.0 ? v - along * (Dot(v, along) / squared) : v;
}

}  // namespace

std::optional<double> MaterialWalk::CrossingWith(uint32_t triangle, const Vec3d& from,
                                                 const Vec3d& to) const {
  const auto& [a, b, c] = triangles_[triangle];
  const double side_from = SixVolume(a, b, c, from);
  const double side_to = SixVolume(a, b, c, to);
  if ((side_from > 0.0) == (side_to > 0.0)) return std::nullopt;
  const double ab = SixVolume(from, to, a, b);
  const double bc = SixVolume(from, to, b, c);
  const double ca = SixVolume(from, to, c, a);
  const bool through =
      (ab >= 0.0 && bc >= 0.0 && ca >= 0.0) || (ab <= 0.0 && bc <= 0.0 && ca <= 0.0);
  if (!through) return std::nullopt;
  return side_from / (side_from - side_to);
}

std::vector<MaterialWalk::Crossing> MaterialWalk::CrossingsOf(const Vec3d& from,
                                                              const Vec3d& to) const {
  std::vector<Crossing> crossings;
  for (uint32_t i = 0; i < triangles_.size(); ++i) {
    if (const auto at = CrossingWith(i, from, to)) crossings.push_back({*at, i});
  }
  std::sort(crossings.begin(), crossings.end(), [](const Crossing& x, const Crossing& y) {
    return x.at != y.at ? x.at < y.at : x.triangle < y.triangle;
  });
  return crossings;
}

std::optional<MaterialWalk::Crossing> MaterialWalk::FirstCrossing(const Vec3d& from,
                                                                  const Vec3d& to,
                                                                  uint32_t without) const {
  std::optional<Crossing> first;
  for (uint32_t i = 0; i < triangles_.size(); ++i) {
    if (i == without) continue;
    const auto at = CrossingWith(i, from, to);
    if (at && (!first || *at < first->at)) first = Crossing{*at, i};
  }
  return first;
}

MaterialWalk::Leg MaterialWalk::WalkTo(const Vec3d& from, const Vec3d& to, uint32_t without) const {
  const std::optional<Crossing> first = FirstCrossing(from, to, without);
  if (!first) return {from, to, kNothing};
  return {from, from + (to - from) * first->at, first->triangle};
}

WalkEnd MaterialWalk::From(uint32_t start, double side,
                           const std::function<bool(const WalkEnd&)>& matters) const {
  const auto& triangle = triangles_[start];
  const std::optional<Vec3d> point = PointOfTriangleInTet(triangle, tet_);
  if (!point) return {};
  std::array<Leg, 3> legs;
  // The end of a walk of `count` legs. The middle of a leg decides whether it runs through
  // material.
  const auto end_at = [&](std::ptrdiff_t count, WalkEnd end) {
    const auto is_inside = [this](const Leg& leg) {
      return inside_.IsInside((leg.begin + leg.end) * 0.5);
    };
    const bool counts = matters(end) && std::all_of(legs.begin(), legs.begin() + count, is_inside);
    return counts ? end : WalkEnd{};
  };
  const Vec3d inwards = Cross(triangle[1] - triangle[0], triangle[2] - triangle[0]) * side;
  const Exit out_of_tet = LeaveTet(tet_, *point, inwards);
  if (!(out_of_tet.at < HUGE_VAL)) return {};
  legs[0] = WalkTo(*point, *point + inwards * out_of_tet.at, start);
  if (legs[0].hit != kNothing) return end_at(1, {WalkEnd::Kind::kTriangle, legs[0].hit});

  const auto& face = kTetFaces[out_of_tet.face];
  const Vec3d normal = InwardNormal(tet_, out_of_tet.face);
  const Vec3d in_face = WithoutPart(inwards, normal);
  const Exit out_of_face = LeaveFace(tet_, out_of_tet.face, legs[0].end, in_face);
  if (!(out_of_face.at < HUGE_VAL)) return {};
  legs[1] = WalkTo(legs[0].end, legs[0].end + in_face * out_of_face.at, kNothing);
  if (legs[1].hit != kNothing) return end_at(2, {WalkEnd::Kind::kTriangle, legs[1].hit});

  std::array<size_t, 2> ends = {};
  size_t count = 0;
  for (const size_t corner : face) {
    if (corner != out_of_face.face) ends[count++] = corner;
  }
  const Vec3d along = tet_[ends[1]] - tet_[ends[0]];
  const size_t corner = Dot(along, in_face) >= 0.0 ? ends[1] : ends[0];
  legs[2] = WalkTo(legs[1].end, tet_[corner], kNothing);
  if (legs[2].hit != kNothing) return end_at(3, {WalkEnd::Kind::kTriangle, legs[2].hit});
  return end_at(3, {WalkEnd::Kind::kCorner, static_cast<uint32_t>(corner)});
}

}  // namespace plush::tools

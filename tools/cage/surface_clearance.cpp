// SPDX-License-Identifier: MIT
#include "cage/surface_clearance.h"

#include "cage/triangle_tet_overlap.h"

#include <algorithm>
#include <cmath>

namespace plush::tools {
namespace {

// A plane with the swept tet on its outer side.
struct Guard {
  Vec3d normal;
  double offset = 0.0;
  double slack = 0.0;  // clearance, times the normal's length

  // Whether the whole box lies inside, farther away than the clearance.
  bool ParksInside(const Box3& box) const {
    const double reach = 0.5 * (std::abs(normal.x) * (box.high.x - box.low.x) +
                                std::abs(normal.y) * (box.high.y - box.low.y) +
                                std::abs(normal.z) * (box.high.z - box.low.z));
    return Dot(normal, box.Centre()) + reach < offset - slack;
  }
};

// The face after an inward move, before an outward one.
Guard MakeGuard(const Vec3d& from, const Vec3d& to, const Vec3d& a, const Vec3d& b,
                double clearance) {
  Vec3d normal = Cross(a - to, b - to);
  const Vec3d* corner = &to;
  if (Dot(normal, from - to) < 0.0) {
    normal = Cross(a - from, b - from);
    corner = &from;
  }
  // A little more than the clearance: rounding of the products.
  return {normal, Dot(normal, *corner), 1.001 * clearance * Length(normal)};
}

}  // namespace

SurfaceClearance::SurfaceClearance(const SolidSurface& surface, const TriangleBvh& bvh,
                                   const SplitCage& cage, const CageFaces& faces, double clearance)
    : surface_(surface),
      clearance_(clearance),
      bvh_(bvh),
      owner_starts_(surface.triangles.size() + 1, 0),
      owners_(cage.triangles.size()),
      near_(cage, faces) {
  for (const uint32_t triangle : cage.triangles) ++owner_starts_[triangle + 1];
  for (size_t t = 0; t < surface.triangles.size(); ++t) owner_starts_[t + 1] += owner_starts_[t];
  std::vector<uint32_t> next(owner_starts_.begin(), owner_starts_.end() - 1);
  for (uint32_t t = 0; t < cage.mesh.tets.size(); ++t) {
    for (const uint32_t triangle : cage.TrianglesOf(t)) owners_[next[triangle]++] = t;
  }
}

bool SurfaceClearance::IsOwnedNear(uint32_t triangle) const {
  bool near = false;
  for (uint32_t i = owner_starts_[triangle]; i < owner_starts_[triangle + 1]; ++i) {
    // Surface that enters another strand is that strand's, also where the stem has a part of it.
    if (near_.IsOtherStrand(owners_[i])) return false;
    near = near || IsNear(owners_[i]);
  }
  return near;
}

bool SurfaceClearance::IsFree(const Vec3d& from, const Vec3d& to, const Vec3d& a, const Vec3d& b,
                              uint32_t* last_hit) const {
  ++num_queries_;
  const auto is_hit = [&](uint32_t t) {
    const auto& [p, q, r] = surface_.triangles[t];
    return IsOwnedNear(t) &&
           TriangleMayTouchTet({surface_.points[p], surface_.points[q], surface_.points[r]},
                               {from, to, a, b}, clearance_);
  };
  if (*last_hit != kNoTriangle && is_hit(*last_hit)) return false;
  Box3 box;
  for (const Vec3d& corner : {from, to, a, b}) box.Add(corner);
  const Vec3d margin = Vec3d{1.0, 1.0, 1.0} * clearance_;
  box.low -= margin;
  box.high += margin;
  const Guard guard = MakeGuard(from, to, a, b, clearance_);
  const auto may_hit = [&](const Box3& other) {
    return box.Overlaps(other) && !guard.ParksInside(other);
  };
  return !bvh_.AnyOf(may_hit, [&](uint32_t t) {
    if (!is_hit(t)) return false;
    *last_hit = t;
    return true;
  });
}

}  // namespace plush::tools

// SPDX-License-Identifier: MIT
#include "cage/surface_clearance.h"

#include "cage/triangle_tet_overlap.h"

#include <algorithm>
#include <cmath>

namespace plush::tools {
namespace {

// A plane with the swept tet on its inner side or in it.
struct Plane {
  Vec3d normal;  // outwards, not unit
  double offset = 0.0;

  // Whether the whole box lies outside.
  bool Excludes(const Box3& box) const {
    const double reach = 0.5 * (std::abs(normal.x) * (box.high.x - box.low.x) +
                                std::abs(normal.y) * (box.high.y - box.low.y) +
                                std::abs(normal.z) * (box.high.z - box.low.z));
    return Dot(normal, box.Centre()) - reach > offset;
  }
};

// What lies outside any of them is farther from the tet than the clearance.
class SweptPlanes {
 public:
  SweptPlanes(const std::array<Vec3d, 4>& tet, double clearance) {
    constexpr std::array<std::array<size_t, 4>, 4> kFaces = {
        {{1, 2, 3, 0}, {0, 2, 3, 1}, {0, 1, 2, 3}, {0, 1, 3, 2}}};  // the last lies opposite
    for (size_t i = 0; i < 4; ++i) {
      const auto& [a, b, c, opposite] = kFaces[i];
      Vec3d normal = Cross(tet[b] - tet[a], tet[c] - tet[a]);
      const double side = Dot(normal, tet[opposite] - tet[a]);
      if (side > 0.0) normal = -normal;
      // A little more than the clearance: rounding of the products. In a flat tet, whose corners
      // may lie on either side by rounding, that covers the height.
      const double slack =
          1.001 * clearance * Length(normal) + (side == 0.0 ? 0.0 : 1e-12 * std::abs(side));
      planes_[i] = {normal, Dot(normal, tet[a]) + slack};
    }
  }
  bool Exclude(const Box3& box) const {
    return planes_[0].Excludes(box) || planes_[1].Excludes(box) || planes_[2].Excludes(box) ||
           planes_[3].Excludes(box);
  }

 private:
  std::array<Plane, 4> planes_;
};

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
  const SweptPlanes planes({to, a, b, from}, clearance_);
  const auto may_hit = [&](const Box3& other) {
    return box.Overlaps(other) && !planes.Exclude(other);
  };
  return !bvh_.AnyOf(may_hit, [&](uint32_t t) {
    if (!is_hit(t)) return false;
    *last_hit = t;
    return true;
  });
}

}  // namespace plush::tools

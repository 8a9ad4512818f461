// SPDX-License-Identifier: MIT
// Tests the tet that a moving face sweeps over against the surface, with the surface's bvh.
// Planes around the swept tet reject most boxes and triangles in single precision.
#include "fit/surface_clearance.h"

#include "solid/triangle_tet_overlap.h"

#include <Eigen/Core>

#include <algorithm>
#include <cmath>

namespace plush::tools {
namespace {

// Twice the bound of the relative rounding error of a dot product in single precision.
constexpr double kFloatRounding = 1e-6;

// The planes of a swept tet's faces, moved outwards by the clearance: what lies outside one of them
// is farther from the tet than that. Computes all four at once, in single precision.
class SweptPlanes {
 public:
  // `bounds` encloses all boxes and triangles that will be tested.
  SweptPlanes(const std::array<Vec3d, 4>& tet, double clearance,
              const TriangleBvh::FloatBox& bounds) {
    Box3 box = bounds.ToBox();
    for (const Vec3d& corner : tet) box.Add(corner);
    const Vec3d largest = Max(-box.low, box.high);  // of the coordinates, without sign
    for (size_t i = 0; i < 4; ++i) {
      const auto& [a, b, c] = kTetFaces[i];
      Vec3d normal = Cross(tet[b] - tet[a], tet[c] - tet[a]);
      const double length = Length(normal);
      // The tet may be turned inside out.
      const double side = Dot(normal, tet[i] - tet[a]);
      normal = length > 0.0 ? normal * ((side > 0.0 ? -1.0 : 1.0) / length) : Vec3d{};
      const double size = std::abs(normal.x) * largest.x + std::abs(normal.y) * largest.y +
                          std::abs(normal.z) * largest.z;
      const auto lane = static_cast<Eigen::Index>(i);
      for (int axis = 0; axis < 3; ++axis) {
        normals_[static_cast<size_t>(axis)][lane] = static_cast<float>(normal[axis]);
      }
      offsets_[lane] =
          static_cast<float>(Dot(normal, tet[a]) + 1.001 * clearance + kFloatRounding * size);
    }
  }
  // Whether the whole box or triangle lies outside one of the planes.
  bool Exclude(const TriangleBvh::FloatBox& box) const {
    const Eigen::Array4f lowest = (normals_[0] * box.low[0]).min(normals_[0] * box.high[0]) +
                                  (normals_[1] * box.low[1]).min(normals_[1] * box.high[1]) +
                                  (normals_[2] * box.low[2]).min(normals_[2] * box.high[2]);
    return (lowest - offsets_).maxCoeff() > 0.0f;
  }
  bool Exclude(const std::array<Vec3d, 3>& triangle) const {
    const Eigen::Array4f lowest =
        HeightsOf(triangle[0]).min(HeightsOf(triangle[1])).min(HeightsOf(triangle[2]));
    return (lowest - offsets_).maxCoeff() > 0.0f;
  }

 private:
  Eigen::Array4f HeightsOf(const Vec3d& point) const {
    return normals_[0] * static_cast<float>(point.x) + normals_[1] * static_cast<float>(point.y) +
           normals_[2] * static_cast<float>(point.z);
  }

  std::array<Eigen::Array4f, 3> normals_;  // outwards, by axis
  Eigen::Array4f offsets_;                 // [m]
};

}  // namespace

SurfaceClearance::SurfaceClearance(const SolidSurface& surface, const TriangleBvh& bvh,
                                   const SplitCage& cage, const CageFaces& faces, double clearance)
    : surface_(surface),
      clearance_(clearance),
      bvh_(bvh),
      owner_starts_(surface.triangles.size() + 1, 0),
      near_(cage, faces) {
  for (const auto& triangles : cage.triangles) {
    for (const uint32_t triangle : triangles) ++owner_starts_[triangle + 1];
  }
  for (size_t t = 0; t < surface.triangles.size(); ++t) owner_starts_[t + 1] += owner_starts_[t];
  owners_.resize(owner_starts_.back());
  std::vector<uint32_t> next(owner_starts_.begin(), owner_starts_.end() - 1);
  for (uint32_t t = 0; t < cage.mesh.tets.size(); ++t) {
    for (const uint32_t triangle : cage.triangles[t]) owners_[next[triangle]++] = t;
  }
}

bool SurfaceClearance::IsOwnedNear(uint32_t triangle) const {
  bool near = false;
  for (uint32_t i = owner_starts_[triangle]; i < owner_starts_[triangle + 1]; ++i) {
    // A triangle that enters another strand belongs to that strand, even if the stem owns it too.
    if (near_.IsOtherStrand(owners_[i])) return false;
    near = near || IsNear(owners_[i]);
  }
  return near;
}

bool SurfaceClearance::IsFree(const Vec3d& from, const Vec3d& to, const Vec3d& a, const Vec3d& b,
                              uint32_t* last_hit) const {
  const SweptPlanes planes({to, a, b, from}, clearance_, bvh_.bounds());
  const auto is_hit = [&](uint32_t t) {
    const std::array<Vec3d, 3> corners = surface_.CornersOf(t);
    return !planes.Exclude(corners) && IsOwnedNear(t) &&
           TriangleMayTouchTet(corners, {from, to, a, b}, clearance_);
  };
  if (*last_hit != kNoTriangle && is_hit(*last_hit)) return false;
  Box3 box;
  for (const Vec3d& corner : {from, to, a, b}) box.Add(corner);
  const Vec3d margin = Vec3d{1.0, 1.0, 1.0} * clearance_;
  box.low -= margin;
  box.high += margin;
  const TriangleBvh::FloatBox reach = TriangleBvh::RoundOutwards(box);
  const auto may_hit = [&](const TriangleBvh::FloatBox& other) {
    return reach.Overlaps(other) && !planes.Exclude(other);
  };
  return !bvh_.AnyOf(may_hit, [&](uint32_t t) {
    if (!is_hit(t)) return false;
    *last_hit = t;
    return true;
  });
}

}  // namespace plush::tools

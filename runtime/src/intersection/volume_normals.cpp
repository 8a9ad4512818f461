// SPDX-License-Identifier: MIT
#include "intersection/volume_normals.h"

#include "base/vector_math.h"
#include "collision/double_vector.h"

#include <algorithm>
#include <cmath>

namespace plush {
namespace {

constexpr double kAgree = 0.3, kCancel = 0.1;  // |sum| / sum of lengths
constexpr double kNothing = 1.0e-6;            // |vector area| / perimeter^2

// The unit vector along v, or `otherwise` if v has no direction.
Vec3 UnitOr(double x, double y, double z, const Vec3& otherwise) {
  const double largest = std::max({std::fabs(x), std::fabs(y), std::fabs(z)});
  if (!(largest > 0.0) || !std::isfinite(largest)) return otherwise;
  x /= largest, y /= largest, z /= largest;
  const double length = std::sqrt(x * x + y * y + z * z);
  return {ToFloat(x / length), ToFloat(y / length), ToFloat(z / length)};
}

double LengthOf(const double (&v)[3]) { return std::sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]); }

// Adds area times centroid, and the area, of a volume's regions.
void AddCentroids(std::span<const Region> regions, std::span<const uint32_t> volume_of,
                  uint32_t volume, double moment[3], double* area) {
  for (size_t i = 0; i < regions.size(); ++i) {
    if (volume_of[i] != volume) continue;
    const Region& region = regions[i];
    *area += double(region.area);
    moment[0] += double(region.area) * double(region.centroid.x);
    moment[1] += double(region.area) * double(region.centroid.y);
    moment[2] += double(region.area) * double(region.centroid.z);
  }
}

// The normal of a volume whose curves tell none.
Vec3 NormalWithoutArea(uint32_t volume, std::span<const uint32_t> volume_of, size_t num_curves,
                       std::span<const Region> of_moved, std::span<const Region> of_fixed,
                       const LastNormal& last) {
  double moved[3] = {}, fixed[3] = {}, moved_area = 0.0, fixed_area = 0.0;
  AddCentroids(of_moved, volume_of.subspan(num_curves), volume, moved, &moved_area);
  AddCentroids(of_fixed, volume_of.subspan(num_curves + of_moved.size()), volume, fixed,
               &fixed_area);
  const double area = moved_area + fixed_area;
  Vec3 kept;
  if (area > 0.0 && last.find != nullptr &&
      last.find(last.user,
                {ToFloat((moved[0] + fixed[0]) / area), ToFloat((moved[1] + fixed[1]) / area),
                 ToFloat((moved[2] + fixed[2]) / area)},
                &kept)) {
    return kept;
  }
  const Vec3 up = {0.0f, 1.0f, 0.0f};
  if (!(moved_area > 0.0) || !(fixed_area > 0.0)) return up;
  return UnitOr(fixed[0] / fixed_area - moved[0] / moved_area,
                fixed[1] / fixed_area - moved[1] / moved_area,
                fixed[2] / fixed_area - moved[2] / moved_area, up);
}

}  // namespace

void VolumeNormals(std::span<const Curve> curves, std::span<const uint32_t> volume_of,
                   uint32_t num_volumes, std::span<const Region> of_moved,
                   std::span<const Region> of_fixed, const LastNormal& last,
                   std::span<VolumeSums> sums, std::span<Vec3> normals) {
  for (uint32_t v = 0; v < num_volumes; ++v) sums[v] = {};
  for (size_t c = 0; c < curves.size(); ++c) {
    VolumeSums& sum = sums[volume_of[c]];
    // Counterclockwise on the moved surface: the area points out of the moved body.
    for (int i = 0; i < 3; ++i) sum.area[i] -= curves[c].area[i];
    sum.lengths += LengthOf(curves[c].area);
    sum.perimeter += curves[c].length;
  }
  for (uint32_t v = 0; v < num_volumes; ++v) {
    VolumeSums& sum = sums[v];
    const bool nothing = LengthOf(sum.area) <= kNothing * sum.perimeter * sum.perimeter;
    sum.normal = nothing ? NormalWithoutArea(v, volume_of, curves.size(), of_moved, of_fixed, last)
                         : UnitOr(sum.area[0], sum.area[1], sum.area[2], {0.0f, 1.0f, 0.0f});
  }
  for (size_t c = 0; c < curves.size(); ++c) {
    const Curve& curve = curves[c];
    const VolumeSums& sum = sums[volume_of[c]];
    const double share = sum.lengths > 0.0 ? LengthOf(sum.area) / sum.lengths : 1.0;
    const double common = std::clamp((share - kCancel) / (kAgree - kCancel), 0.0, 1.0);
    normals[c] = sum.normal;
    if (common == 1.0 || LengthOf(curve.area) <= kNothing * curve.length * curve.length) continue;
    const Vec3 own = UnitOr(-curve.area[0], -curve.area[1], -curve.area[2], sum.normal);
    const Vec3 blend = own + ToFloat(common) * (sum.normal - own);
    normals[c] = UnitOr(double(blend.x), double(blend.y), double(blend.z), own);
  }
}

}  // namespace plush

// SPDX-License-Identifier: MIT
// Sums over a deformed patch in constant time, against sums over its triangles.
#include "collision/deformed_patch.h"

#include "collision/surface_records.h"
#include "collision/vertex_positions.h"
#include "runtime/collision/surface_fixtures.h"

#include <catch2/catch.hpp>

#include <cmath>
#include <cstdio>

using namespace plush;
using namespace plush::test;

namespace deformed_patch_test {

// Sums over the triangles of a patch in double.
struct TriangleSums {
  Eigen::Vector3d vector_area = Eigen::Vector3d::Zero();
  Eigen::Vector3d centroid = Eigen::Vector3d::Zero();       // weighted by current areas
  Eigen::Vector3d rest_weighted = Eigen::Vector3d::Zero();  // weighted by rest areas
  double area = 0.0, rest_area = 0.0;
};

double AreaOf(const std::array<Eigen::Vector3d, 3>& x, Eigen::Vector3d* vector_area) {
  *vector_area = 0.5 * (x[1] - x[0]).cross(x[2] - x[0]);
  return vector_area->norm();
}

// Corners without the rounding of positions, as the transforms should give them.
std::array<Eigen::Vector3d, 3> CornersOf(const SurfaceBody& body, uint32_t triangle,
                                         std::span<const Vec3> x) {
  std::array<Eigen::Vector3d, 3> corners;
  const CdgTet& tet = body.surface().tets[body.TetOf(triangle)];
  for (int k = 0; k < 3; ++k) {
    const Vec4& w = body.surface().vertices[body.Corner(triangle, k)];
    const double weights[4] = {w.x, w.y, w.z, w.w};
    const double sum = weights[0] + weights[1] + weights[2] + weights[3];
    corners[static_cast<size_t>(k)].setZero();
    for (size_t i = 0; i < 4; ++i) {
      corners[static_cast<size_t>(k)] += weights[i] / sum * ToEigen(x[tet.nodes[i]]);
    }
  }
  return corners;
}

TriangleSums Sum(const SurfaceBody& body, uint32_t patch) {
  TriangleSums sums;
  const std::vector<Vec3> rest = body.shape().rest();
  for (uint32_t i = body.surface().patches[patch].first_triangle;
       i < TrianglesEnd(body.surface(), patch); ++i) {
    Eigen::Vector3d vector_area;
    const double rest_area = AreaOf(CornersOf(body, i, rest), &vector_area);
    const auto x = CornersOf(body, i, body.x());
    const double area = AreaOf(x, &vector_area);
    const Eigen::Vector3d middle = (x[0] + x[1] + x[2]) / 3.0;
    sums.vector_area += vector_area;
    sums.centroid += area * middle;
    sums.rest_weighted += rest_area * middle;
    sums.area += area;
    sums.rest_area += rest_area;
  }
  sums.centroid /= sums.area;
  sums.rest_weighted /= sums.rest_area;
  return sums;
}

DeformedPatch PatchOf(const SurfaceBody& body, uint32_t patch) {
  const CdgTet& tet = body.surface().tets[body.surface().patches[patch].tet];
  return DeformPatch(body.surface().patches[patch], NodesOf(tet, body.shape().simulation().nodes),
                     NodesOf(tet, body.x()));
}

double DiameterOf(const SurfaceBody& body, uint32_t patch) {
  const std::array<Vec3, 4> x =
      NodesOf(body.surface().tets[body.surface().patches[patch].tet], body.x());
  double size = 0.0;
  for (const Vec3& a : x) size = std::max(size, (ToEigen(a) - ToEigen(x[0])).norm());
  return size;
}

TEST_CASE("Vector area and centroid of a deformed patch are the sums over its triangles") {
  SurfaceBody body(TetBox(2, 2, 1, 0.1, 0.08, 6), {.parts = 6, .num_shells = 3});
  Random random(12);
  double worst_area = 0.0, worst_centroid = 0.0, centroid_error = 0.0, area_error = 0.0;
  int measured = 0;
  for (int i = 0; i < 60; ++i) {
    const Deformation kinds[] = {Deformation::kGentle, Deformation::kAffine, Deformation::kRandom,
                                 Deformation::kFlat};
    body.Move(Deform(body.shape().rest(), kinds[i % 4], &random));
    for (uint32_t p = 0; p < body.surface().patches.size(); ++p) {
      const TriangleSums sums = Sum(body, p);
      const DeformedPatch patch = PatchOf(body, p);
      const double size = DiameterOf(body, p);
      // Seams split shells into halves with non-zero vector areas.
      worst_area = std::max(worst_area, (ToEigen(patch.vector_area) - sums.vector_area).norm() /
                                            std::max(sums.area, 1e-6 * size * size));
      worst_centroid =
          std::max(worst_centroid, (ToEigen(patch.centroid) - sums.rest_weighted).norm() / size);
      if (kinds[i % 4] != Deformation::kGentle) continue;
      centroid_error += (ToEigen(patch.centroid) - sums.centroid).norm() / size;
      area_error += std::fabs(double(patch.area) / sums.area - 1.0);
      ++measured;
    }
  }
  std::printf(
      "Gentle deformations: the centroid of a patch is off by %.2g of its tet, its area by "
      "%.2g of itself on average\n",
      centroid_error / measured, area_error / measured);
  CHECK(worst_area < 1e-5);
  CHECK(worst_centroid < 1e-5);
}

TEST_CASE("A similarity leaves the error of centroid and area at zero") {
  SurfaceBody body(TetBox(2, 1, 1, 0.1, 0.08, 6), {.parts = 6, .num_shells = 3});
  Random random(13);
  for (int i = 0; i < 20; ++i) {
    const bool scaled = i % 2 == 1;
    const double scale = scaled ? random.Uniform(0.2, 3.0) : 1.0;
    const Points x = ToEigen(body.shape().rest());
    body.Move(ToVec3s((scale * random.Rotation() * x).colwise() + random.Vector(0.1)));
    for (uint32_t p = 0; p < body.surface().patches.size(); ++p) {
      const TriangleSums sums = Sum(body, p);
      const DeformedPatch patch = PatchOf(body, p);
      REQUIRE((ToEigen(patch.centroid) - sums.centroid).norm() < 1e-5 * DiameterOf(body, p));
      REQUIRE(double(patch.area) * scale * scale == Approx(sums.area).epsilon(1e-5));
    }
  }
}

TEST_CASE("Patches of flat, inverted and distant tets have finite sums") {
  SurfaceBody body(TetBox(1, 1, 1, 0.1), {.parts = 3});
  Random random(14);
  for (int i = 0; i < 200; ++i) {
    const auto kind = static_cast<Deformation>(i % static_cast<int>(Deformation::kCount));
    body.Move(Deform(body.shape().rest(), kind, &random));
    for (uint32_t p = 0; p < body.surface().patches.size(); ++p) {
      const DeformedPatch patch = PatchOf(body, p);
      REQUIRE(IsFinite(patch.vector_area));
      REQUIRE(IsFinite(patch.centroid));
    }
  }
  const Vec3 same = {1.0f, 2.0f, 3.0f};
  const DeformedPatch none =
      DeformPatch(body.surface().patches[0], {same, same, same, same}, {same, same, same, same});
  CHECK(none.area == 0.0f);
}

}  // namespace deformed_patch_test

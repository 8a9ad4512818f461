// SPDX-License-Identifier: MIT
// Areas and centroids of regions are those of the surface's triangles, clipped one by one by the
// six planes of a solid.
#include "base/vector_math.h"
#include "intersection/placed_surface.h"
#include "runtime/intersection/found_contacts.h"
#include "sweep.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

using namespace plush;
using namespace plush::test;

namespace region_centroids_test {

constexpr double kEdge = 0.2;  // of the solid at rest [m]

// A cube that is turned and sheared, but stays convex.
struct Solid {
  Eigen::Matrix3d shape;
  Eigen::Vector3d origin = Eigen::Vector3d::Zero();  // of its first corner

  explicit Solid(double size, Random* random)
      : shape(random->Rotation() * size * (Eigen::Matrix3d::Identity() + random->Matrix(0.25))) {}
};

// Of flat pieces.
struct Sums {
  double area = 0.0;
  Eigen::Vector3d moment = Eigen::Vector3d::Zero(), vector_area = Eigen::Vector3d::Zero();

  Sums& operator+=(const Sums& other) {
    area += other.area;
    moment += other.moment;
    vector_area += other.vector_area;
    return *this;
  }
};

// The part of a triangle inside the solid.
Sums Clipped(const Corners& corners, const Solid& solid) {
  const Eigen::Matrix3d inverse = solid.shape.inverse();
  std::vector<Eigen::Vector3d> polygon;
  for (const Vec3& corner : corners) polygon.push_back(ToEigen(corner));
  for (int plane = 0; plane < 6; ++plane) {
    const auto inside = [&](const Eigen::Vector3d& p) {
      const double along = inverse.row(plane / 2).dot(p - solid.origin);
      return plane % 2 == 0 ? along : kEdge - along;
    };
    std::vector<Eigen::Vector3d> left;
    for (size_t i = 0; i < polygon.size(); ++i) {
      const Eigen::Vector3d &p = polygon[i], &q = polygon[(i + 1) % polygon.size()];
      const double at_p = inside(p), at_q = inside(q);
      if (at_p >= 0.0) left.push_back(p);
      if ((at_p >= 0.0) != (at_q >= 0.0)) left.push_back(p + (q - p) * (at_p / (at_p - at_q)));
    }
    polygon = left;
  }
  Sums sums;
  for (size_t i = 2; i < polygon.size(); ++i) {
    const Eigen::Vector3d &a = polygon[0], &b = polygon[i - 1], &c = polygon[i];
    const Eigen::Vector3d vector_area = 0.5 * (b - a).cross(c - a);
    const double area = vector_area.norm();
    sums += {area, area * (a + b + c) / 3.0, vector_area};
  }
  return sums;
}

double LongestEdge(const Corners& c) {
  return double(std::max({Length(c[1] - c[0]), Length(c[2] - c[1]), Length(c[0] - c[2])}));
}

// How many times as far as corners are rounded a cut may move: far, if a plane of the solid is
// nearly that of the triangle.
double Slide(const Corners& corners, const Solid& solid) {
  const Eigen::Matrix3d inverse = solid.shape.inverse();
  const Eigen::Vector3d n = (ToEigen(corners[1]) - ToEigen(corners[0]))
                                .cross(ToEigen(corners[2]) - ToEigen(corners[0]))
                                .normalized();
  double least = 1.0;
  for (int k = 0; k < 3; ++k) {
    const Eigen::Vector3d of_plane = inverse.row(k).transpose().normalized();
    least = std::min(least, n.cross(of_plane).norm());
  }
  return 1.0 / least;
}

struct Compared {
  size_t cut = 0, whole = 0, whole_patches = 0, alone = 0;
};

// Compares a flood with clipped triangles. Corners and places where edges pierce are rounded to
// floats, by up to 1e-8 m or so: areas are off by that times an edge, moments by that times its
// square, and more by the factor of Slide.
void RequireClipped(const PlacedSurface& surface, const FloodScratch& flood, const Solid& solid,
                    Compared* compared) {
  constexpr double kRounding = 1.0e-7;  // [m]
  const CollisionView& view = surface.body.surface;
  const auto require_near = [&](double area, const Vec3& centroid, const Sums& expected,
                                double size, double slide) {
    CAPTURE(area, expected.area, size, slide);
    REQUIRE(std::fabs(area - expected.area) <= kRounding * slide * size);
    const Eigen::Vector3d moment = expected.moment - expected.area * ToEigen(centroid);
    REQUIRE(moment.norm() <= kRounding * slide * size * size);
  };
  double area = 0.0, sum = 0.0, edges = 0.0;
  for (uint32_t r = 0; r < flood.num_regions; ++r) {
    const Region& region = flood.regions[r];
    Sums of_region;
    double size = 0.0, slide = 0.0;
    const auto add = [&](uint32_t triangle) {
      const Corners corners = surface.CornersAt(triangle);
      const Sums clipped = Clipped(corners, solid);
      of_region += clipped;
      size += LongestEdge(corners);
      slide = std::max(slide, Slide(corners, solid));
      return clipped;
    };
    const uint32_t end = region.num_items == 0 ? TrianglesEnd(view, region.patch) : 0;
    for (uint32_t t = view.patches[region.patch].first_triangle; t < end; ++t) add(t);
    for (uint32_t i = 0; i < region.num_items; ++i) {
      const RegionItem& item = flood.items[region.first_item + i];
      const Sums clipped = add(item.triangle);
      const Corners corners = surface.CornersAt(item.triangle);
      require_near(double(item.area), item.centroid, clipped, LongestEdge(corners),
                   Slide(corners, solid));
      const bool is_large = clipped.area > 1.0e-5;
      compared->cut += is_large && item.cut != kNoPair;
      compared->whole += is_large && item.cut == kNoPair;
    }
    if (region.num_items > 0) {
      require_near(double(region.area), region.centroid, of_region, size, slide);
      area += double(region.area);
    } else {
      // The sums of a whole patch follow from those at rest: its centroid exactly if it is flat.
      area += of_region.area;
      const bool is_flat = of_region.vector_area.norm() > (1.0 - 1.0e-6) * of_region.area;
      if (is_flat) require_near(of_region.area, region.centroid, of_region, size, slide);
      compared->whole_patches += is_flat;
    }
    compared->alone += region.only_curve != kNoPair && of_region.area > 1.0e-5;
  }
  for (uint32_t t = 0; t < view.num_triangles(); ++t) {
    const Corners corners = surface.CornersAt(t);
    sum += Clipped(corners, solid).area;
    edges += LongestEdge(corners) * Slide(corners, solid);
  }
  REQUIRE(std::fabs(area - sum) <= kRounding * edges);
}

TEST_CASE("Centroids and areas of regions are those of triangles clipped by a solid's planes") {
  const uint32_t seed = 84;
  CAPTURE(seed);
  Random random(seed);
  SurfaceBody fine(TetBox(3, 2, 2, 0.1, 0.08, 2), {.parts = 3, .depth = 0.0, .num_shells = 0});
  SurfaceBody coarse(TetBox(2, 1, 1, 0.2, 0.08, 2), {.parts = 1, .depth = 0.0, .num_shells = 0});
  SurfaceBody solid = Box(1, 1, 1, kEdge);
  PairScratch scratch = ScratchFor(fine, solid);
  Compared compared;
  const uint32_t scenes = tests::SweepCount(300u, 5000u);
  for (uint32_t scene = 0; scene < scenes; ++scene) {
    CAPTURE(scene);
    const bool is_coarse = scene % 3 == 0, swapped = scene % 2 == 1;
    SurfaceBody& body = is_coarse ? coarse : fine;
    body.Move(Deform(body.shape().rest(), Deformation::kGentle, &random));
    // Small ones dip into one large triangle.
    Solid shape(is_coarse ? 0.3 : 1.0, &random);
    std::vector<Vec3> x;
    for (const Vec3& p : solid.shape().rest()) x.push_back(ToVec3(shape.shape * ToEigen(p)));
    solid.Move(x);
    const uint32_t near = random.Below(body.surface().num_triangles());
    Eigen::Vector3d at = Eigen::Vector3d::Zero();
    for (int k = 0; k < 3; ++k) at += ToEigen(body.CornerPosition(near, k)) / 3.0;
    const Eigen::Vector3d middle = shape.shape * Eigen::Vector3d::Constant(0.5 * kEdge);
    const Vec3 offset = ToVec3(at - middle + random.Vector(is_coarse ? 0.03 : 0.1));
    if (swapped) {
      static_cast<void>(Find(solid, body, -offset, &scratch));
    } else {
      static_cast<void>(Find(body, solid, offset, &scratch));
      shape.origin = ToEigen(offset);
    }
    const CollisionBody view = body.view();
    const PlacedSurface placed = {view, swapped ? -offset : Vec3{},
                                  swapped ? Surface::kFixed : Surface::kMoved};
    RequireClipped(placed, scratch.floods[swapped ? 1 : 0], shape, &compared);
  }
  CAPTURE(compared.cut, compared.whole, compared.whole_patches, compared.alone);
  CHECK(compared.cut > 16 * scenes);
  CHECK(compared.whole > 13 * scenes);
  CHECK(compared.whole_patches > scenes / 6);
  CHECK(compared.alone > scenes / 10);
}

}  // namespace region_centroids_test

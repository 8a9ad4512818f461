// SPDX-License-Identifier: MIT
#include "import/polygon_triangulation.h"

#include "base/vec3.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

namespace polygon_triangulation_test {

using plush::Vec3;
using plush::tools::Cross;
using plush::tools::Length;
using plush::tools::PolygonCutter;
using plush::tools::ToDouble;
using plush::tools::Vec3d;

// Areas of the polygon by its corners, and of its triangles.
struct Areas {
  double polygon = 0.0, sum = 0.0;
  size_t triangles = 0, flat = 0;
};

Areas Cut(const std::vector<Vec3>& corners) {
  PolygonCutter cutter;
  Areas areas;
  Vec3d area;
  const auto at = [&](size_t i) { return ToDouble(corners[i]); };
  for (size_t i = 1; i + 1 < corners.size(); ++i) area += Cross(at(i) - at(0), at(i + 1) - at(0));
  areas.polygon = Length(area);
  for (const auto& t : cutter.Cut(corners)) {
    const double size = Length(Cross(at(t[1]) - at(t[0]), at(t[2]) - at(t[0])));
    areas.sum += size;
    areas.flat += size < 1e-12 ? 1 : 0;
    ++areas.triangles;
  }
  return areas;
}

void CheckCut(const std::vector<Vec3>& corners) {
  const Areas areas = Cut(corners);
  CHECK(areas.triangles == corners.size() - 2);
  CHECK(areas.sum == Approx(areas.polygon).epsilon(1e-6));
}

// The star-shaped polygon of these radii, turned in space.
std::vector<Vec3> Star(const std::vector<double>& radii, int axis) {
  std::vector<Vec3> corners;
  for (size_t i = 0; i < radii.size(); ++i) {
    const double angle = 2.0 * M_PI * static_cast<double>(i) / static_cast<double>(radii.size());
    Vec3d p;
    p[axis] = 0.25;
    p[(axis + 1) % 3] = radii[i] * std::cos(angle) + 3.0;
    p[(axis + 2) % 3] = radii[i] * std::sin(angle);
    corners.push_back(plush::tools::ToFloat(p));
  }
  return corners;
}

TEST_CASE("The triangles of concave polygons have the area of the polygon") {
  CheckCut({{0, 0, 0}, {2, 1, 0}, {0, 2, 0}, {0.5f, 1, 0}});  // a dart
  CheckCut({{2, 1, 0}, {0, 2, 0}, {0.5f, 1, 0}, {0, 0, 0}});  // from another corner
  CheckCut({{0, 0, 0}, {0, 0, 3}, {1, 0, 3}, {1, 0, 1}, {3, 0, 1}, {3, 0, 0}});  // an L
  for (uint32_t seed = 1; seed <= 300; ++seed) {
    INFO("seed " << seed);
    std::mt19937 random(seed);
    std::vector<double> radii(3 + random() % 40);
    for (double& r : radii) r = 0.1 + static_cast<double>(random()) * 0x1p-32;
    std::vector<Vec3> corners = Star(radii, static_cast<int>(seed % 3));
    CheckCut(corners);
    std::reverse(corners.begin(), corners.end());
    CheckCut(corners);
  }
}

TEST_CASE("Corners on edges and bridges to holes need no flat triangles") {
  const std::vector<Vec3> on_edges = {{0, 0, 0}, {1, 0, 0}, {2, 0, 0}, {2, 1, 0},
                                      {2, 2, 0}, {1, 2, 0}, {0, 2, 0}, {0, 1, 0}};
  CheckCut(on_edges);
  CHECK(Cut(on_edges).flat == 0);
  const std::vector<Vec3> hole = {{0, 0, 0}, {4, 0, 0}, {4, 4, 0}, {0, 4, 0}, {0, 0, 0},
                                  {1, 1, 0}, {1, 3, 0}, {3, 3, 0}, {3, 1, 0}, {1, 1, 0}};
  CheckCut(hole);
  CHECK(Cut(hole).flat == 0);
}

TEST_CASE("Spikes, points, crossings and numbers that are not finite give as many triangles") {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  CHECK(Cut({{0, 0, 0}, {1, 0, 0}, {2, 0, 0}, {1, 0, 0}}).triangles == 2);
  CHECK(Cut({{1, 1, 1}, {1, 1, 1}, {1, 1, 1}, {1, 1, 1}, {1, 1, 1}}).triangles == 3);
  CHECK(Cut({{0, 0, 0}, {1, 1, 0}, {1, 0, 0}, {0, 1, 0}}).triangles == 2);
  CHECK(Cut({{0, 0, 0}, {1, 1, 0}, {nan, 0, 0}, {0, 1, 0}, {0, 2, 0}}).triangles == 3);
  CHECK(PolygonCutter().Cut(std::vector<Vec3>(2)).empty());
}

TEST_CASE("Round polygons become triangles that do not all meet at one corner") {
  const std::vector<Vec3> circle = Star(std::vector<double>(3000, 0.5), 2);
  CheckCut(circle);
  PolygonCutter cutter;
  std::vector<int> uses(circle.size());
  for (const auto& t : cutter.Cut(circle)) {
    for (const uint32_t v : t) ++uses[v];
  }
  CHECK(*std::max_element(uses.begin(), uses.end()) < 30);
}

TEST_CASE("A spiral of 3000 corners is cut in time") {
  std::vector<Vec3> corners;
  for (int side = 0; side < 2; ++side) {
    for (int i = 0; i < 1500; ++i) {
      const int step = side == 0 ? i : 1499 - i;
      const double angle = 0.02 * step, radius = 0.1 + 0.01 * angle + 0.02 * side;
      corners.push_back({static_cast<float>(radius * std::cos(angle)),
                         static_cast<float>(radius * std::sin(angle)), 0.0f});
    }
  }
  CheckCut(corners);
}

}  // namespace polygon_triangulation_test

// SPDX-License-Identifier: MIT
// Hulls of points: their surface, distances, entries and deepest points against brute force.
#include "colliders/solid.h"
#include "runtime/colliders/hull_distance.h"
#include "runtime/colliders/solid_scene.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

using namespace plush;
using namespace plush::test;

namespace hull_test {

HullPointer HullOf(const std::vector<Vec3>& points) {
  Hull* hull = nullptr;
  const Status status = MakeHull(DefaultAllocator(), points, &hull);
  INFO(status.reason);
  CHECK(status.ok());
  return HullPointer(hull);
}

// Points of many kinds: in and on balls, on grids, prisms and cones, with copies, turned, far away.
std::vector<Vec3> RandomPoints(Random* random, uint32_t most = 256) {
  const int kind = static_cast<int>(random->Below(6));
  const uint32_t count = (kind == 4 ? 5 : 4) + random->Below(most - 4);
  const Eigen::Matrix3d turn =
      random->Below(2) == 0 ? Eigen::Matrix3d::Identity().eval() : random->Rotation();
  const double size = std::exp(random->Uniform(-3.0, 3.0));
  const Eigen::Vector3d scale(1.0, std::exp(random->Uniform(-2.0, 0.0)), 1.0);
  const double far = random->Below(3) == 0 ? 1000.0 * size : 0.0;
  const Eigen::Vector3d offset = random->Vector(far);
  std::vector<Vec3> points;
  for (uint32_t i = 0; i < count; ++i) {
    Eigen::Vector3d p = random->Vector(1.0);
    if (kind == 1) p.normalize();
    if (kind == 2) p = (3.0 * p).array().round() / 3.0;
    if (kind == 3) p.y() = p.y() < 0.0 ? -1.0 : 1.0;  // a prism
    if (kind == 4) {                                  // a cone with a fine rim
      const double angle = 6.283185307 * i / count;
      p = i == 0 ? Eigen::Vector3d(0, 1, 0) : Eigen::Vector3d(std::cos(angle), 0, std::sin(angle));
    }
    if (kind != 1 && kind != 4 && i < 4) {  // few others may be flat
      p = Eigen::Vector3d(i % 2 == 0 ? 1 : -1, i < 2 ? 1 : -1, i % 3 == 0 ? 1 : -1);
    }
    if (kind == 5 && i > 3 && random->Below(2) == 0) {
      points.push_back(points[random->Below(i)]);
      continue;
    }
    points.push_back(ToVec3(turn * (size * scale.cwiseProduct(p)) + offset));
  }
  return points;
}

// Of the coordinates as floats and on the grid [m].
double RoundingOf(const Hull& hull) {
  double largest = 0.0;
  for (const Vec3& p : hull.given) largest = std::max(largest, ToEigen(p).cwiseAbs().maxCoeff());
  return 2.4e-7 * largest + 2e-6 * ToEigen(hull.reach).norm();  // a cell of the grid
}

Vec3 RandomPoint(const Hull& hull, Random* random) {
  return ToVec3(random->Vector(1.5 * ToEigen(hull.reach).norm()));
}

TEST_CASE("The surface of a hull is closed and convex and holds all points") {
  uint32_t most_triangles = 0;
  for (uint32_t seed = 1; seed <= 400; ++seed) {
    CAPTURE(seed);
    Random random(seed);
    const HullPointer hull = HullOf(RandomPoints(&random));
    if (hull == nullptr) continue;
    const double rounding = RoundingOf(*hull);
    std::vector<uint32_t> used(hull->points.size());
    for (uint32_t t = 0; t < hull->triangles.size(); ++t) {
      const HullTriangle& triangle = hull->triangles[t];
      for (int k = 0; k < 3; ++k) {
        used[triangle.corners[k]] = 1;
        const HullTriangle& other = hull->triangles[triangle.neighbours[k]];
        int matches = 0;
        for (int m = 0; m < 3; ++m) {
          matches += other.corners[m] == triangle.corners[(k + 1) % 3] &&
                     other.corners[(m + 1) % 3] == triangle.corners[k] && other.neighbours[m] == t;
        }
        CHECK(matches == 1);
        // Its plane goes through its corners.
        const double height =
            ToEigen(hull->points[triangle.corners[k]]).dot(ToEigen(hull->Normal(triangle.plane))) -
            double(hull->Offset(triangle.plane));
        CHECK(std::fabs(height) < 20.0 * rounding);
      }
    }
    const auto num_corners = std::count(used.begin(), used.end(), 1u);
    CHECK(hull->triangles.size() == 2 * static_cast<size_t>(num_corners) - 4);  // Euler
    CHECK(hull->num_planes >= 4);
    for (uint32_t i = 0; i < hull->num_planes; ++i) {
      CHECK(ToEigen(hull->Normal(i)).norm() == Approx(1.0));
      double highest = -1e30;
      for (const Vec3& p : hull->points) {
        highest = std::max(highest, ToEigen(p).dot(ToEigen(hull->Normal(i))));
      }
      CHECK(std::fabs(highest - double(hull->Offset(i))) < rounding);
    }
    most_triangles = std::max(most_triangles, static_cast<uint32_t>(hull->triangles.size()));
  }
  CHECK(most_triangles > 450);
}

TEST_CASE("A hull is that of all planes through three points which hold the others") {
  for (uint32_t seed = 1; seed <= 60; ++seed) {
    CAPTURE(seed);
    Random random(seed);
    std::vector<Vec3> points;
    const uint32_t count = 4 + random.Below(12);
    for (uint32_t i = 0; i < count; ++i) points.push_back(ToVec3(random.Vector(1.0)));
    const HullPointer hull = HullOf(points);
    REQUIRE(hull != nullptr);
    size_t supporting = 0;
    for (uint32_t i = 0; i < count; ++i) {
      for (uint32_t j = 0; j < count; ++j) {
        for (uint32_t k = 0; k < count; ++k) {
          if (j == i || k == i || k == j) continue;
          const Eigen::Vector3d a = ToEigen(points[i]);
          const Eigen::Vector3d n = (ToEigen(points[j]) - a).cross(ToEigen(points[k]) - a);
          supporting += std::ranges::all_of(
              points, [&](const Vec3& p) { return n.dot(ToEigen(p) - a) <= 1e-12; });
        }
      }
    }
    CHECK(supporting == 3 * hull->triangles.size());
  }
}

TEST_CASE("A box of eight or more points has six planes, and its edges have the box's distances") {
  for (uint32_t seed = 1; seed <= 200; ++seed) {
    CAPTURE(seed);
    Random random(seed);
    const auto length = [&] { return static_cast<float>(std::exp(random.Uniform(-2.0, 1.0))); };
    const RoundedBox box = {{length(), length(), length()}, 0.0f};
    std::vector<Vec3> points = BoxCorners(box.half_extents);
    for (uint32_t i = random.Below(40); i > 0; --i) {  // on its faces and edges, and inside
      const Vec3 share = {random.Below(5) * 0.5f - 1.0f, random.Below(5) * 0.5f - 1.0f,
                          random.Below(5) * 0.5f - 1.0f};
      const auto at = [](float s, float half) { return std::clamp(s * half, -half, half); };
      points.push_back({at(share.x, box.half_extents.x), at(share.y, box.half_extents.y),
                        at(share.z, box.half_extents.z)});
      std::swap(points.back(), points[random.Below(static_cast<uint32_t>(points.size()))]);
    }
    const HullPointer hull = HullOf(points);
    REQUIRE(hull != nullptr);
    CHECK(hull->num_planes == 6);
    const double size = ToEigen(hull->reach).norm();
    for (int k = 0; k < 30; ++k) {
      const Vec3 p = RandomPoint(*hull, &random), q = RandomPoint(*hull, &random);
      const Tangent of_hull = kHullCode.tangent_at(*hull, p), of_box = TangentAt(box, p);
      CHECK(double(of_hull.gap) == Approx(double(of_box.gap)).margin(5e-6 * size));
      const double rounding = 1e-4 + 1e-5 * size / std::fabs(double(of_box.gap));  // at edges
      CHECK((ToEigen(of_hull.normal) - ToEigen(of_box.normal)).norm() < rounding);
      if (of_box.gap < 0.0f) continue;
      Tangent in_hull, in_box;
      const bool enters = kHullCode.find_entry(*hull, p, q, &in_hull);
      REQUIRE(enters == FindEntry(box, p, q, &in_box));
      if (enters) CHECK(double(in_hull.gap) == Approx(double(in_box.gap)).margin(1e-4 * size));
      const EasiestPlane easiest({{p, p, p}, {q, q, q}}, {in_box.normal, 1.0e9f}, p, q, 0.0f);
      const SolidFace on_hull = kHullCode.find_easier_face(*hull, easiest);
      const SolidFace on_box = FindEasierFace(box, easiest);
      CHECK((ToEigen(on_hull.normal) - ToEigen(on_box.normal)).norm() < 1e-5);
      CHECK(double(on_hull.offset) == Approx(double(on_box.offset)).margin(5e-6 * size));
    }
    for (int k = 0; k < 10; ++k) {
      std::array<Vec3, 3> corners;
      for (Vec3& corner : corners) corner = RandomPoint(*hull, &random);
      const TrianglePoint in_box = FindDeepest(box, corners.data());
      const TrianglePoint in_hull = kHullCode.find_deepest(*hull, corners.data(), 1.0e9f);
      if (in_box.gap > 0.0f) continue;
      CHECK(double(in_hull.gap) == Approx(double(in_box.gap)).margin(1e-4 * size));
      const Vec3& half = box.half_extents;
      if (in_box.gap < -0.3f * std::min({half.x, half.y, half.z})) continue;  // several are right
      const Tangent of_box = PlaneBetween(box, corners.data(), in_box);
      const Tangent of_hull = kHullCode.plane_between(*hull, corners.data(), in_box);
      // As parallel to the triangle, or more so where several faces are near.
      const Eigen::Vector3d inward = -(ToEigen(corners[1]) - ToEigen(corners[0]))
                                          .cross(ToEigen(corners[2]) - ToEigen(corners[0]))
                                          .normalized();
      if (inward.dot(ToEigen(of_box.normal)) <= 0.0) continue;  // any face near
      CHECK(inward.dot(ToEigen(of_hull.normal)) > inward.dot(ToEigen(of_box.normal)) - 1e-3);
    }
  }
}

TEST_CASE("The distance from a hull is that of its nearest triangle, or inside of its planes") {
  int outside = 0, inside = 0;
  for (uint32_t seed = 1; seed <= 300; ++seed) {
    CAPTURE(seed);
    Random random(seed);
    const HullPointer hull = HullOf(RandomPoints(&random));
    if (hull == nullptr) continue;
    const double size = ToEigen(hull->reach).norm(), rounding = RoundingOf(*hull);
    for (int k = 0; k < 20; ++k) {
      // Also near the surface, where edges and corners matter most.
      Vec3 p = RandomPoint(*hull, &random);
      if (k % 2 == 0) {
        const HullTriangle& t =
            hull->triangles[random.Below(static_cast<uint32_t>(hull->triangles.size()))];
        const double u = random.Uniform(0.0, 0.5), v = random.Uniform(0.0, 0.5);
        p = ToVec3((1.0 - u - v) * ToEigen(hull->points[t.corners[0]]) +
                   u * ToEigen(hull->points[t.corners[1]]) +
                   v * ToEigen(hull->points[t.corners[2]]) + random.Vector(0.1 * size));
      }
      const Vec3 q = RandomPoint(*hull, &random);
      const Tangent tangent = kHullCode.tangent_at(*hull, p);
      const double wanted = DistanceFrom(*hull, ToEigen(p)), margin = 1e-5 * size + 20.0 * rounding;
      (wanted > 0.0 ? outside : inside)++;
      CHECK(double(tangent.gap) == Approx(wanted).margin(margin));
      const Eigen::Vector3d n = ToEigen(tangent.normal);
      CHECK(n.norm() == Approx(1.0));
      CHECK(DistanceFrom(*hull, ToEigen(q)) >
            double(tangent.gap) + n.dot(ToEigen(q) - ToEigen(p)) - 3.0 * margin);
    }
  }
  CHECK(outside > 1000);
  CHECK(inside > 300);
}

TEST_CASE("A way enters a hull where it first gets inside, and the deepest point is a grid's",
          "[long]") {
  int entered = 0, deep = 0;
  for (uint32_t seed = 1; seed <= 600; ++seed) {
    CAPTURE(seed);
    Random random(seed);
    const HullPointer hull = HullOf(RandomPoints(&random, 60));
    if (hull == nullptr) continue;
    const double size = ToEigen(hull->reach).norm(), margin = 1e-5 * size + 20 * RoundingOf(*hull);
    const Vec3 from = RandomPoint(*hull, &random), to = ToVec3(random.Vector(0.5 * size));
    if (kHullCode.tangent_at(*hull, from).gap >= 0.0f) {
      const Eigen::Vector3d a = ToEigen(from), way = ToEigen(to) - a;
      double first = 2.0, least = size;
      for (int k = 0; k <= 200; ++k) {
        const double gap = DistanceFrom(*hull, a + 0.005 * k * way);
        least = std::min(least, gap);
        if (gap < 0.0) first = std::min(first, 0.005 * k);
      }
      Tangent hit;
      const bool enters = kHullCode.find_entry(*hull, from, to, &hit);
      if (least < -margin) CHECK(enters);
      if (least > 0.02 * size) CHECK_FALSE(enters);
      if (enters) {
        ++entered;
        const Eigen::Vector3d n = ToEigen(hit.normal);
        const double at = 1.0 + double(hit.gap) / -n.dot(way);
        CHECK(std::fabs(DistanceFrom(*hull, a + at * way)) < 10 * margin);
        if (first < 2.0) CHECK(at < first + 1e-3);
      }
    }
    std::array<Vec3, 3> corners;
    for (Vec3& corner : corners) corner = RandomPoint(*hull, &random);
    const auto at = [&](double u, double v) {
      return Eigen::Vector3d(ToEigen(corners[0]) * (1.0 - u - v) + ToEigen(corners[1]) * u +
                             ToEigen(corners[2]) * v);
    };
    double least = 1e30;
    constexpr int kGrid = 40;
    for (int i = 0; i <= kGrid; ++i) {
      for (int j = 0; i + j <= kGrid; ++j) {
        least = std::min(least, DistanceFrom(*hull, at(double(i) / kGrid, double(j) / kGrid)));
      }
    }
    const TrianglePoint deepest = kHullCode.find_deepest(*hull, corners.data(), 1.0e9f);
    CHECK(double(deepest.gap) ==
          Approx(DistanceFrom(*hull, at(double(deepest.u), double(deepest.v)))).margin(margin));
    if (deepest.gap < 0.0f) {
      CHECK(double(deepest.gap) < least + 1e-3 * size);
      ++deep;
    } else {
      CHECK(least > -1e-3 * size);
    }
    // The plane between both holds the hull, and the triangle is not deeper behind it.
    const Tangent between = kHullCode.plane_between(*hull, corners.data(), deepest);
    const Eigen::Vector3d n = ToEigen(between.normal);
    const double offset = n.dot(at(double(deepest.u), double(deepest.v))) - double(between.gap);
    for (const Vec3& p : hull->points) CHECK(n.dot(ToEigen(p)) < offset + margin);
    CHECK(double(between.gap) < double(deepest.gap) + 10 * margin);
  }
  CHECK(entered > 200);
  CHECK(deep > 200);
}

TEST_CASE("Flat hulls and wrong points are refused by name") {
  std::vector<Vec3> points = BoxCorners({1.0f, 1.0f, 1.0f});
  const auto reason = [&] {
    Hull* hull = nullptr;
    const Status status = MakeHull(DefaultAllocator(), points, &hull);
    CHECK(hull == nullptr);
    CHECK(status.code == StatusCode::kInvalidArgument);
    CHECK(std::string(status.section) == "hull.points");
    return std::string(status.reason);
  };
  SECTION("few") {
    points.resize(3);
    CHECK(reason() == "must be 4 to 256");
  }
  SECTION("many") {
    points.resize(257);
    CHECK(reason() == "must be 4 to 256");
  }
  SECTION("a wrong number") {
    const float wrong = GENERATE(1.1e6f, std::numeric_limits<float>::infinity(),
                                 std::numeric_limits<float>::quiet_NaN());
    points[5].y = wrong;
    CHECK(reason() == "must be finite and at most 1e6");
  }
  SECTION("one point") {
    for (Vec3& p : points) p = {1.0f, 2.0f, 3.0f};
    CHECK(reason() == "are flat");
  }
  SECTION("on a line") {
    for (size_t i = 0; i < points.size(); ++i) points[i] = Vec3{0.1f, 0.2f, 0.3f} * float(i);
    CHECK(reason() == "are flat");
  }
  SECTION("in a plane") {
    Random random(1);
    const Eigen::Matrix3d turn = random.Rotation();
    for (Vec3& p : points) {
      p = ToVec3(turn * Eigen::Vector3d(random.Uniform(-1, 1), 0.0, random.Uniform(-1, 1)));
    }
    CHECK(reason() == "are flat");
  }
}

}  // namespace hull_test

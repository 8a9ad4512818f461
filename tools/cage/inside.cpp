// SPDX-License-Identifier: MIT
#include "cage/inside.h"

#include "cage/solid_angle.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <vector>

namespace plush::tools {
namespace {

constexpr double kFourPi = 4.0 * 3.14159265358979323846;

constexpr uint32_t kLeafTriangles = 8;

// A branch counts as one expansion from this many radii away, as in [Barill 2018]. The error stays
// below 0.07 on the test bodies (largest at the centre of a sphere, where all branches err the same
// way) and is 0.006 on average: far less than what separates inside from outside off the surface.
constexpr double kFarRadii = 2.0;

// Symmetric 3x3 matrix.
struct Symmetric {
  double xx = 0.0, yy = 0.0, zz = 0.0, xy = 0.0, yz = 0.0, zx = 0.0;

  // Adds the symmetric part of u v^T.
  void AddProduct(const Vec3d& u, const Vec3d& v) {
    xx += u.x * v.x;
    yy += u.y * v.y;
    zz += u.z * v.z;
    xy += 0.5 * (u.x * v.y + u.y * v.x);
    yz += 0.5 * (u.y * v.z + u.z * v.y);
    zx += 0.5 * (u.z * v.x + u.x * v.z);
  }
  double Trace() const { return xx + yy + zz; }
  double Quadratic(const Vec3d& r) const {
    return xx * r.x * r.x + yy * r.y * r.y + zz * r.z * r.z +
           2.0 * (xy * r.x * r.y + yz * r.y * r.z + zx * r.z * r.x);
  }
};

struct Node {
  Vec3d centre;                // area-weighted centroid [m]
  Vec3d vector_area;           // sum of the triangles' vector areas [m^2]
  Symmetric moment;            // sum of (centroid - centre) (vector area)^T [m^3]
  double far_squared = 0.0;    // squared distance from which the dipole serves [m^2]
  uint32_t first = 0;          // leaf: first triangle; inner: second child (the first one follows)
  uint32_t num_triangles = 0;  // 0 for an inner node
};

// Winding number of a whole branch from far away: the first two terms of the Taylor expansion of
// the solid angle about its centre [Barill 2018, Eq. 14 and 15].
double FarWinding(const Node& node, const Vec3d& to_centre, double squared) {
  const double cubed = squared * std::sqrt(squared);
  const double dipole = Dot(node.vector_area, to_centre);
  const double quadrupole = node.moment.Trace() - 3.0 * node.moment.Quadratic(to_centre) / squared;
  return (dipole + quadrupole) / (kFourPi * cubed);
}

}  // namespace

struct InsideTest::Tree {
  std::vector<Node> nodes;                      // depth first
  std::vector<std::array<Vec3d, 3>> triangles;  // corners in leaf order

  void Build(uint32_t first, uint32_t last);
  Node MakeNode(uint32_t first, uint32_t last) const;
};

// Splits at the median along the longest axis of the centroids' box: the depth is logarithmic
// whatever the soup.
void InsideTest::Tree::Build(uint32_t first, uint32_t last) {
  const size_t index = nodes.size();
  nodes.push_back(MakeNode(first, last));
  if (last - first <= kLeafTriangles) {
    nodes[index].first = first;
    nodes[index].num_triangles = last - first;
    return;
  }
  const auto centre = [](const std::array<Vec3d, 3>& t) { return t[0] + t[1] + t[2]; };
  Vec3d lower = centre(triangles[first]);
  Vec3d upper = lower;
  for (uint32_t i = first; i < last; ++i) {
    lower = Min(lower, centre(triangles[i]));
    upper = Max(upper, centre(triangles[i]));
  }
  const Vec3d size = upper - lower;
  const int axis = size.x >= size.y && size.x >= size.z ? 0 : (size.y >= size.z ? 1 : 2);
  const uint32_t middle = first + (last - first) / 2;
  std::nth_element(triangles.begin() + first, triangles.begin() + middle, triangles.begin() + last,
                   [&](const auto& a, const auto& b) {
                     return a[0][axis] + a[1][axis] + a[2][axis] <
                            b[0][axis] + b[1][axis] + b[2][axis];
                   });
  Build(first, middle);
  nodes[index].first = static_cast<uint32_t>(nodes.size());
  Build(middle, last);
}

Node InsideTest::Tree::MakeNode(uint32_t first, uint32_t last) const {
  Node node;
  double area = 0.0;
  for (uint32_t i = first; i < last; ++i) {
    const auto& [a, b, c] = triangles[i];
    const Vec3d vector_area = Cross(b - a, c - a) * 0.5;
    const double weight = Length(vector_area);
    node.vector_area += vector_area;
    node.centre += (a + b + c) * (weight / 3.0);
    area += weight;
  }
  node.centre = area > 0.0 ? node.centre / area : triangles[first][0];
  double radius_squared = 0.0;
  for (uint32_t i = first; i < last; ++i) {
    const auto& [a, b, c] = triangles[i];
    node.moment.AddProduct((a + b + c) / 3.0 - node.centre, Cross(b - a, c - a) * 0.5);
    for (const Vec3d& corner : triangles[i]) {
      radius_squared = std::max(radius_squared, LengthSquared(corner - node.centre));
    }
  }
  node.far_squared = kFarRadii * kFarRadii * radius_squared;
  return node;
}

InsideTest::InsideTest(const SolidSurface& surface) : tree_(std::make_unique<Tree>()) {
  tree_->triangles.reserve(surface.triangles.size());
  for (const auto& [a, b, c] : surface.triangles) {
    tree_->triangles.push_back({surface.points[a], surface.points[b], surface.points[c]});
  }
  if (!tree_->triangles.empty()) {
    tree_->Build(0, static_cast<uint32_t>(tree_->triangles.size()));
  }
}

InsideTest::~InsideTest() = default;
InsideTest::InsideTest(InsideTest&&) noexcept = default;

double InsideTest::WindingNumber(const Vec3d& point) const {
  if (tree_->nodes.empty()) return 0.0;
  double winding = 0.0;
  std::array<uint32_t, 64> stack = {0};  // one entry per level at most: 2^32 triangles need 32
  size_t depth = 1;
  while (depth > 0) {
    const uint32_t index = stack[--depth];
    const Node& node = tree_->nodes[index];
    const Vec3d to_centre = node.centre - point;
    const double squared = LengthSquared(to_centre);
    if (squared > node.far_squared) {
      winding += FarWinding(node, to_centre, squared);
    } else if (node.num_triangles == 0) {
      stack[depth++] = node.first;
      stack[depth++] = index + 1;
    } else {
      for (uint32_t i = node.first; i < node.first + node.num_triangles; ++i) {
        const auto& [a, b, c] = tree_->triangles[i];
        winding += WindingOfTriangle(point, a, b, c);
      }
    }
  }
  return winding;
}

bool InsideTest::IsInside(const Vec3d& point) const { return std::abs(WindingNumber(point)) > 0.5; }

}  // namespace plush::tools

// SPDX-License-Identifier: MIT
#include "cage/tet_sides.h"

#include "cage/cage_boundary.h"
#include "mesh/exact_predicates.h"

#include <cmath>

namespace plush::tools {
namespace {

// A product of three differences carries fewer than ten relative rounding errors of 2^-53, and so
// does their sum: this is four times as much.
constexpr double kRelative = 5e-15;

// More than what products lose to underflow: of two differences, and of the result.
constexpr double kUnderflow = 1e-280;
constexpr double kUnderflowOfResult = 1e-300;

// Bound of the error of each component of Cross(u, v), relative to one.
Vec3d ErrorOfCross(const Vec3d& u, const Vec3d& v) {
  const Vec3d a = {std::abs(u.x), std::abs(u.y), std::abs(u.z)};
  const Vec3d b = {std::abs(v.x), std::abs(v.y), std::abs(v.z)};
  const Vec3d size = {a.y * b.z + a.z * b.y, a.z * b.x + a.x * b.z, a.x * b.y + a.y * b.x};
  return (size + Vec3d{kUnderflow, kUnderflow, kUnderflow}) * kRelative;
}

}  // namespace

TetSides::TetSides(const TetMesh& mesh) : mesh_(mesh), planes_(mesh.tets.size()) {
  for (size_t t = 0; t < planes_.size(); ++t) {
    for (size_t corner = 0; corner < 4; ++corner) {
      const auto [a, b, c] = FaceOf(mesh.tets[t], corner);
      const Vec3d u = mesh.nodes[b] - mesh.nodes[a];
      const Vec3d v = mesh.nodes[c] - mesh.nodes[a];
      planes_[t][corner] = {mesh.nodes[a], Cross(u, v), ErrorOfCross(u, v)};
    }
  }
}

int TetSides::SideOf(uint32_t tet, size_t corner, const Vec3d& point) const {
  const Plane& plane = planes_[tet][corner];
  const Vec3d to = point - plane.corner;
  const double height = Dot(plane.normal, to);
  const double error = plane.error.x * std::abs(to.x) + plane.error.y * std::abs(to.y) +
                       plane.error.z * std::abs(to.z) + kUnderflowOfResult;
  if (std::abs(height) > error) return height > 0.0 ? 1 : -1;
  const auto [a, b, c] = FaceOf(mesh_.tets[tet], corner);
  return Orient3dSign(mesh_.nodes[a], mesh_.nodes[b], mesh_.nodes[c], point);
}

bool TetSides::Contains(uint32_t tet, const Vec3d& point) const {
  if (tet >= planes_.size()) return false;
  for (size_t corner = 0; corner < 4; ++corner) {
    if (SideOf(tet, corner, point) > 0) return false;
  }
  return true;
}

}  // namespace plush::tools

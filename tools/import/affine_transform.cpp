// SPDX-License-Identifier: MIT
// Based on: Nicholas Higham. Computing the Polar Decomposition with Applications. 1986
#include "import/affine_transform.h"

#include <Eigen/Geometry>

#include <algorithm>
#include <cmath>

namespace plush::tools {
namespace {

// Each step halves the logarithm of the condition number; later, it doubles the correct digits.
constexpr int kMaxPolarSteps = 100;

// The unit quaternion of the rotation matrix with these rows.
Quat ToQuaternion(const std::array<Vec3d, 3>& r) {
  Eigen::Matrix3d matrix;
  matrix << r[0].x, r[0].y, r[0].z, r[1].x, r[1].y, r[1].z, r[2].x, r[2].y, r[2].z;
  const Eigen::Vector4d q = Eigen::Quaterniond(matrix).normalized().coeffs();
  const Eigen::Vector4f rounded = (q[3] < 0.0 ? -q : q).cast<float>();
  return {rounded[0], rounded[1], rounded[2], rounded[3]};
}

}  // namespace

std::optional<Quat> NearestRotation(const AffineTransform& transform) {
  AffineTransform q = transform;
  const double size = std::sqrt(
      (LengthSquared(q.rows[0]) + LengthSquared(q.rows[1]) + LengthSquared(q.rows[2])) / 3.0);
  const double sign = transform.Determinant() < 0.0 ? -1.0 : 1.0;
  for (Vec3d& row : q.rows) row = row / (sign * size);
  for (int step = 0; step < kMaxPolarSteps; ++step) {
    // The mean with the inverse transpose.
    const std::array<Vec3d, 3> cofactors = q.Cofactors();
    const double determinant = q.Determinant();
    double change = 0.0;
    for (size_t i = 0; i < 3; ++i) {
      const Vec3d next = 0.5 * (q.rows[i] + cofactors[i] / determinant);
      if (!IsFinite(next)) return std::nullopt;
      change = std::max(change, Length(next - q.rows[i]));
      q.rows[i] = next;
    }
    if (change < 1e-14) return ToQuaternion(q.rows);
  }
  return std::nullopt;
}

}  // namespace plush::tools

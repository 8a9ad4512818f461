// SPDX-License-Identifier: MIT
#include "runtime/intersection/solid_winding.h"

#include <cmath>

namespace plush::test {

double SolidWinding(const SurfaceBody& body, const Eigen::Vector3d& offset,
                    const Eigen::Vector3d& point) {
  double sum = 0.0;
  for (uint32_t t = 0; t < body.surface().num_triangles(); ++t) {
    Eigen::Vector3d r[3];
    for (int k = 0; k < 3; ++k) r[k] = ToEigen(body.CornerPosition(t, k)) + offset - point;
    const double a = r[0].norm(), b = r[1].norm(), c = r[2].norm();
    sum +=
        2.0 * std::atan2(r[0].dot(r[1].cross(r[2])),
                         a * b * c + r[0].dot(r[1]) * c + r[1].dot(r[2]) * a + r[2].dot(r[0]) * b);
  }
  return sum / (4.0 * std::acos(-1.0));
}

}  // namespace plush::test

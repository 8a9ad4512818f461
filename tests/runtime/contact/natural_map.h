// SPDX-License-Identifier: MIT
// How far a contact is from Signorini's condition and Coulomb's law.
#pragma once

#include "runtime/tet_fixtures.h"

#include <algorithm>

namespace plush::test {

/// The residual of the natural map [m]: how far the impulse is from the one that the condition and
/// the law take from it once the contact has moved, as the motion that the difference causes. 0: it
/// meets both. `moved`: gap along the normal, plus slip [m]. `response`: motion per impulse [1/kg].
inline double NaturalResidual(const Eigen::Vector3d& impulse, const Eigen::Vector3d& moved,
                              const Eigen::Vector3d& normal, double friction, double response) {
  const Eigen::Vector3d wanted = impulse - moved / response;
  const double along_normal = normal.dot(wanted), pressing = std::max(along_normal, 0.0);
  Eigen::Vector3d along = wanted - normal * along_normal;
  const double most = friction * pressing;
  if (along.norm() > most) along *= most / along.norm();
  return response * (normal * pressing + along - impulse).norm();
}

}  // namespace plush::test

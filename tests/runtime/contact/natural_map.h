// SPDX-License-Identifier: MIT
// How far a contact is from Signorini's condition and Coulomb's law.
#pragma once

#include "runtime/tet_fixtures.h"

#include <algorithm>
#include <cmath>

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

/// What the contacts of solved problems do, and how far they are from the condition and the law.
struct ContactLaws {
  int pressing = 0, sliding = 0, sticking = 0, open = 0;
  /// The worst contact since it was last set to 0: lengths as shares of the size, impulses beyond
  /// their cones as shares of the largest; 1 if friction does not oppose the slip.
  double worst = 0.0;

  struct Contact {
    Eigen::Vector3d normal, impulse;  ///< impulse [kg m]
    double friction, response;        ///< Coulomb coefficient; motion per impulse [1/kg]
    double gap;                       ///< above what is allowed, once solved [m]
    Eigen::Vector3d slip;             ///< over the whole substep [m]
  };
  /// `largest`: impulse of the problem [kg m]; `size` [m].
  void Check(const Contact& contact, double largest, double size) {
    const Eigen::Vector3d &n = contact.normal, &slip = contact.slip;
    const double f = n.dot(contact.impulse), gap = contact.gap;
    const Eigen::Vector3d along = contact.impulse - n * f;
    const double cone = contact.friction * f;
    worst = std::max(worst, (along.norm() - cone) / largest);
    worst = std::max(worst, NaturalResidual(contact.impulse, n * gap + slip, n, contact.friction,
                                            contact.response) /
                                size);
    if (f == 0.0) {
      ++open;
      worst = std::max(worst, -gap / size);
      return;
    }
    ++pressing;
    worst = std::max(worst, std::fabs(gap) / size);
    if (contact.friction > 0.0 && along.norm() < 0.99 * cone) {
      ++sticking;
      worst = std::max(worst, slip.norm() / size);
    } else if (contact.friction > 0.0 && slip.norm() > 1e-4 * size) {
      ++sliding;
      if (!(slip.normalized().dot(along.normalized()) < -0.99)) worst = 1.0;
    }
  }
};

}  // namespace plush::test

// SPDX-License-Identifier: MIT
// How far contacts are from Signorini's condition and Coulomb's law.
#pragma once

#include "contact/body_contacts.h"
#include "runtime/tet_fixtures.h"

#include <algorithm>
#include <cmath>
#include <span>

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
class ContactLaws {
 public:
  static constexpr double kSolved = 1.0e-4;

  struct Contact {
    Eigen::Vector3d normal, impulse;  ///< impulse [kg m]
    double friction, response;        ///< Coulomb coefficient; motion per impulse [1/kg]
    double gap;                       ///< above what is allowed, once solved [m]
    Eigen::Vector3d slip;             ///< over the whole substep [m]
  };
  /// Looks at a contact of the current problem. `largest`: impulse of it [kg m]; `size` [m].
  void Check(const Contact& contact, double largest, double size) {
    const Eigen::Vector3d &n = contact.normal, &slip = contact.slip;
    const double f = n.dot(contact.impulse), gap = contact.gap;
    const Eigen::Vector3d along = contact.impulse - n * f;
    const double cone = contact.friction * f;
    Note((along.norm() - cone) / largest);
    Note(NaturalResidual(contact.impulse, n * gap + slip, n, contact.friction, contact.response) /
         size);
    if (f == 0.0) {
      ++open;
      Note(-gap / size);
      return;
    }
    ++pressing;
    Note(std::fabs(gap) / size);
    if (contact.friction > 0.0 && along.norm() < 0.99 * cone) {
      ++sticking;
      Note(slip.norm() / size);
    } else if (contact.friction > 0.0 && slip.norm() > kSolved * size) {
      ++sliding;
      if (!(slip.normalized().dot(along.normalized()) < -0.99)) Note(1.0);
    }
  }

  /// Counts the problem whose contacts have been looked at.
  void EndProblem(bool has_friction) {
    if (worst_ < kSolved) {
      furthest = std::max(furthest, worst_);
    } else {
      ++(has_friction ? unsolved : unsolved_smooth);
    }
    worst_ = 0.0;
  }

  int pressing = 0, sliding = 0, sticking = 0, open = 0;  // contacts
  int unsolved = 0, unsolved_smooth = 0;                  // problems with friction, and without
  double furthest = 0.0;                                  // of the solved ones

 private:
  // Not a number counts as 1.
  void Note(double off) { worst_ = std::max(worst_, std::isfinite(off) ? off : 1.0); }

  // Of the current problem: lengths as shares of the size, impulses beyond their cones as shares of
  // the largest; 1 if friction does not oppose the slip.
  double worst_ = 0.0;
};

/// The largest impulse of contacts between bodies, at least a tiny one [kg m].
inline double LargestImpulse(std::span<const BodyContact> contacts) {
  double largest = 1e-30;
  for (const BodyContact& contact : contacts) {
    largest = std::max(largest, ToEigen(contact.row.impulse).norm());
  }
  return largest;
}

}  // namespace plush::test

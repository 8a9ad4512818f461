// SPDX-License-Identifier: MIT
// How far contacts are from Signorini's condition and Coulomb's law.
#pragma once

#include "contact/body_contacts.h"
#include "reference/dense_algebra.h"
#include "runtime/tet_fixtures.h"

#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

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

/// The points that touch a body's colliders.
inline std::vector<EmbeddedPoint> PointsOnColliders(const ContactState& state) {
  std::vector<EmbeddedPoint> points;
  for (const PlaneContact& contact : state.Current()) points.push_back(state.PointOf(contact));
  return points;
}

/// How far unit impulses on the contacts of two bodies, also those with colliders, move each other
/// [1/kg]. Each contact has as many rows and columns as a point has in CouplingsOf of a body.
template <class DenseBody>
Eigen::MatrixXd PairCouplings(const DenseBody (&bodies)[2], std::span<const BodyContact> contacts) {
  const size_t on_colliders[2] = {bodies[0].state.num_contacts, bodies[1].state.num_contacts};
  const size_t count = on_colliders[0] + on_colliders[1] + contacts.size();
  Eigen::MatrixXd couplings;
  for (size_t k = 0; k < 2; ++k) {
    std::vector<EmbeddedPoint> points = PointsOnColliders(bodies[k].state);
    for (const BodyContact& contact : contacts) points.push_back(contact.sides[k].point);
    const Eigen::MatrixXd own = bodies[k].CouplingsOf(points);
    const auto axes = own.rows() / static_cast<Eigen::Index>(points.size());
    Eigen::MatrixXd place =
        Eigen::MatrixXd::Zero(axes * static_cast<Eigen::Index>(count), own.rows());
    for (size_t i = 0; i < points.size(); ++i) {
      const bool is_between = i >= on_colliders[k];
      const size_t at = i + (is_between ? on_colliders[1 - k] : k * on_colliders[0]);
      place.block(axes * static_cast<Eigen::Index>(at), axes * static_cast<Eigen::Index>(i), axes,
                  axes) =
          (is_between && k == 1 ? -1.0 : 1.0) * Eigen::MatrixXd::Identity(axes, axes);
    }
    const double s = double(bodies[k].state.scale);
    if (k == 0) couplings.setZero(place.rows(), place.rows());
    couplings += reference::Congruent(place, own) / (s * s * s);
  }
  return couplings;
}

/// The least eigenvalue of couplings, scaled to ones on the diagonal; 1 if there are none. Near 0,
/// one contact's motion follows from those of others. Then sweeps converge slowly, and with
/// friction there may be no solution.
inline double Independence(const Eigen::MatrixXd& couplings) {
  if (couplings.size() == 0) return 1.0;
  const Eigen::VectorXd scales = couplings.diagonal().cwiseSqrt().cwiseInverse();
  const Eigen::MatrixXd scaled = scales.asDiagonal() * couplings * scales.asDiagonal();
  return reference::EigenpairsOf(scaled).values[0];
}

/// Problems with at least this independence must be solved. The most independent one that was not
/// had 1.9e-3, of 5,000.
inline constexpr double kIndependent = 3.0e-3;

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

  /// Counts the problem whose contacts have been looked at. Returns whether it is solved.
  bool EndProblem(bool has_friction) {
    const bool is_solved = worst_ < kSolved;
    if (is_solved) {
      furthest = std::max(furthest, worst_);
    } else {
      ++(has_friction ? unsolved : unsolved_smooth);
    }
    worst_ = 0.0;
    return is_solved;
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

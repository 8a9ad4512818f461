// SPDX-License-Identifier: MIT
// Rigid motions of components in double precision, and how their mass lies.
#pragma once

#include "base/vector_math.h"
#include "solver/coarse_level.h"

#include <cstddef>
#include <span>

namespace plush::rigid {

using Matrix = double[3][3];

struct Point {
  double at[3];
};

/// x - origin.
Point From(const Vec3& x, const Vec3& origin);
Point From(const Hinge& hinge, const Vec3& origin);
inline Point ToPoint(const Vec3& v) { return {{v.x, v.y, v.z}}; }
inline Vec3 ToVec3(const double* v) {
  return {static_cast<float>(v[0]), static_cast<float>(v[1]), static_cast<float>(v[2])};
}
void ToMatrix(const Mat3& a, Matrix* out);
Mat3 ToMat3(const Matrix& a);

/// sum += a x b.
void AddCross(const Point& a, const Point& b, Point* sum);
/// sum += a b; b may be sum.
void AddProduct(const Matrix& a, const Matrix& b, Matrix* sum);

/// The turn by about `angle` (3 x 1) [rad], see TurnBy in coarse_step.cpp, minus the identity.
void CayleyChange(const double* angle, Matrix* out);
/// Solves A x = b. Unknowns that those before them determine, up to pivots of `least`, are zero.
/// Overwrites A and b.
template <size_t N>
void SolveIndependent(double (&A)[N][N], double (&b)[N], const double (&least)[N], double* x) {
  for (size_t k = 0; k < N; ++k) {
    const double inverse = A[k][k] > least[k] ? 1.0 / A[k][k] : 0.0;
    for (size_t i = k + 1; i < N; ++i) {
      const double share = A[i][k] * inverse;
      for (size_t j = k + 1; j < N; ++j) A[i][j] -= share * A[k][j];
      b[i] -= share * b[k];
    }
    A[k][k] = inverse;
  }
  for (size_t k = N; k-- > 0;) {
    for (size_t j = k + 1; j < N; ++j) b[k] -= A[k][j] * x[j];
    x[k] = b[k] * A[k][k];
  }
}

/// H = tr(Y) I - sym(Y) and the moment g of a turn's Newton step at Y = R sum m r q^T.
void TurnEquations(const Matrix& Y, Matrix* H, double (&g)[3]);

/// The Newton step's `turn` (3 x 1) [rad] at Y = R sum m r q^T: H^-1 g, g the moment and H = tr(Y)
/// I
/// - sym(Y). Zero about axes that H does not resist turns about, such as that on which all mass
/// lies. About a hinge's line if it has one.
void NewtonTurn(const Matrix& Y, const Hinge& hinge, double* turn);

/// Momentum and angular momentum about a centre, or impulse and moment.
struct Momenta {
  Point linear = {}, angular = {};
};

/// A motion to first order: that of a point at arm r from the centre is shift + turn x r.
struct Screw {
  Point shift = {}, turn = {};
};

/// How the mass of a component lies about its centre: that of mass, or its hinge.
class ComponentMass {
 public:
  /// `sums`: CoarseLevel::Sum (num_clusters x 1).
  ComponentMass(const CoarseLevel& level, size_t c, const Hinge& hinge,
                std::span<const ClusterSums> sums);

  /// Sum of m r r^T, r from the centre [kg m^2].
  const Matrix& square() const { return square_; }
  /// That of mass, or the hinge.
  Vec3 Centre() const { return origin_ + ToVec3(centre_.at); }
  /// From the centre.
  Point ArmOf(const Vec3& x) const;

  /// Adds a cluster's momenta, angular ones about its own centre.
  void Add(const ClusterSums& sums, const Momenta& of_cluster, Momenta* sum) const;
  /// The rigid motion that has these momenta. About a hinge, the one that goes its way with it and
  /// has the angular momentum.
  Screw MotionOf(const Momenta& momenta) const;

  /// A cluster's momenta in a motion of its own centre and a turn about it.
  static Momenta Of(double mass, const ClusterSums& sums, const Screw& own);

 private:
  Hinge hinge_;
  Vec3 origin_;
  double mass_ = 0.0;
  Point centre_ = {};   // from the origin
  Point of_mass_ = {};  // from the hinge
  Matrix square_ = {};
};

/// How a component comes from where motions take it nearest to its prediction: the sum of m |y -
/// predicted|^2 is least if `moved` comes to `predicted`, and everything turns by the R for which
/// tr(R Y) is greatest.
struct ComponentMatch {
  Vec3 origin;               ///< [m]
  double mass = 0.0;         ///< with that of springs [kg]
  double moved[3] = {};      ///< the centre or hinge after motions, from `origin` [m]
  double predicted[3] = {};  ///< its prediction [m]
  Matrix Y = {};             ///< sum of m r q^T, r and q from these [kg m^2]

  /// See CoarseLevel::KeepMomenta.
  ComponentMatch(const CoarseLevel& level, size_t c, const Hinge& hinge,
                 std::span<const ClusterSums> sums, const ComponentHold& hold,
                 std::span<const RigidMotion> motions);

  /// Adds the motion by which `moved` comes to `to` (3 x 1) [m], and everything turns by `change`.
  void AddTo(const CoarseLevel& level, size_t c, std::span<const ClusterSums> sums,
             const double* to, const Matrix& change, std::span<RigidMotion> motions) const;
};

}  // namespace plush::rigid

// SPDX-License-Identifier: MIT
// The rotation of a tet by any of the known methods, and its differential.
// Based on:
// Civit. Interactive simulation of detailed deformable solids (thesis), 3.3 and chapter 4: [Civ].
#pragma once

#include "plush/implicit_settings.h"

#include "elasticity/polar_decomposition.h"
#include "materials/degeneration_aware.h"

#include <cstdint>

namespace plush {

/// Below this det F, kPolarQr uses QR [Parker and O'Brien 2009].
inline constexpr double kPolarQrSwitch = 0.06;

/// Settings of all tets of a body.
template <class T>
struct RotationSettings {
  RotationMethod method = RotationMethod::kAnalytic;
  T alpha = T(0.1);  ///< tets with det F below are degenerate, in (0, 1)
  T beta = T(3);     ///< of kDegenerationAware, at least 1
};

/// What a tet remembers.
template <class T>
struct RotationState {
  Matrix3<T> rotation = IdentityMatrix<T>();  ///< the last one
  Vector3<T> reflected{};                     ///< of kCoherentSvd: material direction, or zero
  Witness witness = kNoWitness;               ///< of the displacing methods; see UpdateWitness
};

/// Whether the method displaces degenerate tets, so that each step must end with UpdateWitness.
constexpr bool NeedsWitness(RotationMethod method) {
  return method == RotationMethod::kProject || method == RotationMethod::kReflect ||
         method == RotationMethod::kDegenerationAware;
}

/// The displacement of a method that needs a witness. Project and Reflect move a tet to det F' =
/// alpha and 2 alpha - det F.
template <class T>
constexpr Displacement<T> DisplacementOf(const RotationSettings<T>& settings) {
  if (settings.method == RotationMethod::kProject) return {settings.alpha, T(1), false};
  if (settings.method == RotationMethod::kReflect) return {settings.alpha, T(2), false};
  return {settings.alpha, settings.beta, true};
}

/// The matrix of a unit quaternion, normalised in T.
template <class T>
Matrix3<T> RotationMatrixOf(const Quat& q) {
  T x = T(q.x), y = T(q.y), z = T(q.z), w = T(q.w);
  const T unit = T(1) / std::sqrt(x * x + y * y + z * z + w * w);
  x *= unit, y *= unit, z *= unit, w *= unit;
  return {{T(1) - T(2) * (y * y + z * z), T(2) * (x * y + w * z), T(2) * (x * z - w * y)},
          {T(2) * (x * y - w * z), T(1) - T(2) * (x * x + z * z), T(2) * (y * z + w * x)},
          {T(2) * (x * z + w * y), T(2) * (y * z - w * x), T(1) - T(2) * (x * x + y * y)}};
}

/// The unit quaternion of a rotation matrix; divides by its largest component.
template <class T>
Quat QuaternionOf(const Matrix3<T>& R) {
  const T squares[4] = {T(1) + R.c0.x - R.c1.y - R.c2.z, T(1) - R.c0.x + R.c1.y - R.c2.z,
                        T(1) - R.c0.x - R.c1.y + R.c2.z, T(1) + R.c0.x + R.c1.y + R.c2.z};
  int k = 0;
  for (int i = 1; i < 4; ++i) {
    if (squares[i] > squares[k]) k = i;
  }
  const T sums[3] = {R.c1.z + R.c2.y, R.c2.x + R.c0.z, R.c0.y + R.c1.x};
  const Vector3<T> turn = TwiceAxial(R);
  T q[4] = {sums[2], sums[0], sums[1], T(0)};
  if (k == 0) q[0] = squares[0], q[1] = sums[2], q[2] = sums[1], q[3] = turn.x;
  if (k == 1) q[0] = sums[2], q[1] = squares[1], q[2] = sums[0], q[3] = turn.y;
  if (k == 2) q[0] = sums[1], q[1] = sums[0], q[2] = squares[2], q[3] = turn.z;
  if (k == 3) q[0] = turn.x, q[1] = turn.y, q[2] = turn.z, q[3] = squares[3];
  const T unit = T(1) / std::sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
  return {float(q[0] * unit), float(q[1] * unit), float(q[2] * unit), float(q[3] * unit)};
}

/// APD from the last rotation, then a Newton step in T: APD works in float. The last rotation if
/// F = 0.
template <class T>
Matrix3<T> AnalyticRotation(const Matrix3<T>& F, const Matrix3<T>& last) {
  const T size = LargestEntry(F);
  if (!(size > T(0))) return last;
  constexpr int kIterations = 64;
  const Matrix3<T> unit = Divided(F, size);  // has the same rotation, and fits into floats
  const auto column = [](const Vector3<T>& v) { return Vec3{float(v.x), float(v.y), float(v.z)}; };
  const Matrix3<T> R = RotationMatrixOf<T>(AnalyticPolarDecomposition(
      {column(unit.c0), column(unit.c1), column(unit.c2)}, QuaternionOf(last), kIterations));
  const Matrix3<T> S = TransposeTimes(R, unit);
  const Vector3<T> half = SolveTurn(S, TwiceAxial(S)) * (T(1) / T(2));
  if (!(Dot(half, half) < T(1.0e-8))) return R;  // not converged: flat or not unique
  // Cayley's map of 2 half, as the unit quaternion (half, 1).
  const T scale = T(2) / (T(1) + Dot(half, half));
  const Matrix3<T> cross = CrossMatrix(half);
  return R * (IdentityMatrix<T>() + (cross + cross * cross) * scale);
}

/// Whether the rotation at F is that of the displaced tet.
template <class T>
bool IsDisplaced(const RotationSettings<T>& settings, const RotationState<T>& state,
                 const Matrix3<T>& F) {
  return NeedsWitness(settings.method) && state.witness != kNoWitness &&
         Determinant(F) < settings.alpha;
}

/// The rotation R at F (3x3). `dm_inv` is Dm^-1 [1/m]. Updates state->rotation and reflected.
/// - Methods that displace tets use state->witness. A degenerate tet without one gets the rotation
/// of
///   kInvertibleSvd.
/// - The last rotation is kept if F has non-finite entries, or if a displaced tet has no direction
///   (HasDirection) [Civ, 4.4.4].
/// - R is orthogonal to rounding for every finite F, flat ones included. det R = 1, but for
/// inverted
///   tets with kPolar and kSvd.
/// Does not allocate.
template <class T>
Matrix3<T> ExtractRotation(const RotationSettings<T>& settings, const Matrix3<T>& F,
                           const Matrix3<T>& dm_inv, RotationState<T>* state) {
  if (!IsFinite(F)) return state->rotation;
  Matrix3<T>& R = state->rotation;
  switch (settings.method) {
    case RotationMethod::kPolar:
      return R = PolarRotation(F);
    case RotationMethod::kSvd:
      return R = PolarRotationBySvd(F);
    case RotationMethod::kInvertibleSvd:
      return R = InvertibleRotation(F);
    case RotationMethod::kCoherentSvd:
      return R = CoherentRotation(F, &state->reflected);
    case RotationMethod::kQr:
      return R = QrRotation(F);
    case RotationMethod::kPolarQr:
      return R = Determinant(F) < T(kPolarQrSwitch) ? QrRotation(F) : PolarRotation(F);
    case RotationMethod::kAnalytic:
      return R = AnalyticRotation(F, R);
    case RotationMethod::kProject:
    case RotationMethod::kReflect:
    case RotationMethod::kDegenerationAware:
      break;
  }
  if (!IsDisplaced(settings, *state, F)) return R = InvertibleRotation(F);
  const Vector3<T> b = WitnessGradient(dm_inv, state->witness);
  if (!HasDirection(F, b)) return R;
  return R = InvertibleRotation(DisplacedGradient(DisplacementOf(settings), F, b));
}

/// dR for a change `dF` of F, at the rotation state.rotation that ExtractRotation found at F with
/// this state. Zero where the rotation is kept or not unique. One-sided at thresholds. Does not
/// allocate.
template <class T>
Matrix3<T> RotationDifferential(const RotationSettings<T>& settings, const Matrix3<T>& F,
                                const Matrix3<T>& dm_inv, const RotationState<T>& state,
                                const Matrix3<T>& dF) {
  if (!IsFinite(F)) return {};
  const Matrix3<T>& R = state.rotation;
  const bool is_qr =
      settings.method == RotationMethod::kQr ||
      (settings.method == RotationMethod::kPolarQr && Determinant(F) < T(kPolarQrSwitch));
  if (is_qr) return QrRotationDifferential(F, R, dF);
  if (!IsDisplaced(settings, state, F)) return PolarRotationDifferential(F, R, dF);
  const Vector3<T> b = WitnessGradient(dm_inv, state.witness);
  if (!HasDirection(F, b)) return {};
  const Displacement<T> displacement = DisplacementOf(settings);
  return PolarRotationDifferential(DisplacedGradient(displacement, F, b), R,
                                   DisplacedGradientDifferential(displacement, F, b, dF));
}

}  // namespace plush

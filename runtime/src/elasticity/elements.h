// SPDX-License-Identifier: MIT
// All tets of one body: elastic forces and energies of the corotated material.
// Based on:
// Tassilo Kugelstadt, Dan Koschier, Jan Bender. Fast Corotated FEM using Operator Splitting. 2018
//
// Energy: sum_t mu V |F - R|^2 + lambda/2 V (det F - 1)^2 [Kug, Eq. 7 and 13].
#pragma once

#include "plush/types.h"

#include <cstdint>
#include <span>

namespace plush {

/// Lame parameters by tet.
struct LameView {
  std::span<const float> mu;      ///< [Pa] (num_tets x 1)
  std::span<const float> lambda;  ///< [Pa] (num_tets x 1)

  float Mu(size_t tet) const { return mu[tet]; }
  float Lambda(size_t tet) const { return lambda[tet]; }
};

/// Lame parameters of one material.
struct LamePair {
  float mu = 0.0f;      ///< E / (2 (1 + nu)) [Pa]
  float lambda = 0.0f;  ///< E nu / ((1 + nu)(1 - 2 nu)) [Pa]
};

/// From Young's modulus [Pa] and Poisson's ratio, below 0.5. Infinite where float cannot hold them.
inline LamePair LameParameters(double young, double poisson) {
  return {static_cast<float>(young / (2.0 * (1.0 + poisson))),
          static_cast<float>(young * poisson / ((1.0 + poisson) * (1.0 - 2.0 * poisson)))};
}

/// The constant data of a body's tets.
struct ElementView {
  std::span<const Tet> tets;       ///< (num_tets x 1)
  std::span<const Mat3> dm_inv;    ///< Dm^-1 [1/m] (num_tets x 1)
  std::span<const float> volumes;  ///< V [m^3] (num_tets x 1)
  LameView lame;
  float damping = 0.0f;  ///< Kelvin-Voigt relaxation time beta of the stretch term [s]
};

/// S = R^T F of every tet at positions `x`: the stretch from which damping measures the change in a
/// step. The rotations R come from APD, warm-started from and stored to `rotations`: those that the
/// last solve used lag behind its result, and an S with the lag in it would drive the tet to turn
/// on by as much, whatever holds it. Does not allocate.
void ComputeStretches(const ElementView& elements, std::span<const Vec3> x, int polar_iterations,
                      std::span<Quat> rotations, std::span<Mat3> stretches);

/// Adds dt^2 times the forces of the tets at positions `x` [m] to `rhs` [kg m]: of the stretch term
/// with rotations from APD, warm-started from and stored to `rotations`; of the volume term by its
/// multipliers, kappa_t grad C_t [Kug, Eq. 12 and 16]; and, unless `stretches` is empty, of the
/// viscous potential (beta / dt) mu V |F - R S|^2 with S the `stretches` at the start of the step
/// (num_tets x 1): zero for a rigid motion. Does not allocate.
void AddElasticImpulses(const ElementView& elements, std::span<const Vec3> x, float dt,
                        int polar_iterations, std::span<const Mat3> stretches,
                        std::span<const float> kappa, std::span<Quat> rotations,
                        std::span<Vec3> rhs);

/// Rotations of the tets at positions `x`, converged from those given (num_tets x 1). Does not
/// allocate.
void MatchRotations(const ElementView& elements, std::span<const Vec3> x,
                    std::span<Quat> rotations);

/// Shape of all tets at one moment.
struct ElementSummary {
  double elastic_j = 0.0;  ///< elastic energy [J]
  double volume = 0.0;     ///< of the deformed cage [m^3]
  float min_det_f = 1.0f;
  uint32_t inverted = 0;   ///< det F <= 0
  uint32_t collapsed = 0;  ///< det F < kCollapsedDetF, inverted ones included
};

/// Tets below this det F count as collapsed.
inline constexpr float kCollapsedDetF = 0.1f;

/// Energy, volume and degeneracy at positions `x`, with rotations converged from `rotations`.
ElementSummary SummariseElements(const ElementView& elements, std::span<const Vec3> x,
                                 std::span<const Quat> rotations);

/// Elastic forces [N] at positions `x`: minus the gradient of ElementSummary::elastic_j.
void ElasticForces(const ElementView& elements, std::span<const Vec3> x,
                   std::span<const Quat> rotations, std::span<Vec3> forces);

}  // namespace plush

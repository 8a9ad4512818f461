// SPDX-License-Identifier: MIT
// Settings of the implicit solver: backward Euler by Newton's method and conjugate gradients
// [Civ 3.3].
#pragma once

#include <cstdint>

namespace plush {

/// Which derivative of the tets' stress Newton's method takes.
enum class StressDifferential : uint8_t {
  kTruncated,  ///< rotations do not change: dP(2) of [Civ, Eq. 3.21], positive semidefinite
  kHybrid,     ///< positive semidefinite [Civ, Eq. 3.23]
  kExact,  ///< [Civ, Eq. 3.16]; costs more. Where it is not positive, the hybrid one replaces it
};

/// What makes the linear solves converge faster.
enum class Preconditioner : uint8_t {
  kFactor,  ///< the factor of splitting's matrix
  kJacobi,  ///< the diagonal blocks of the matrix, 3 x 3
};

/// How exactly a step of the implicit solver is solved. The body's velocities at the start of the
/// step give the first positions.
struct ImplicitSettings {
  int newton_iterations = 1;         ///< most per substep, 1..64
  int linear_iterations = 8;         ///< most conjugate gradients' of each, 1..10000
  float newton_tolerance = 1.0e-4f;  ///< ends once the norm of the nodes' unbalanced forces is at
                                     ///< most this share of that at the start, in [0, 1)
  float linear_tolerance = 1.0e-4f;  ///< the same within a Newton iteration, in [0, 1)
  StressDifferential differential = StressDifferential::kTruncated;
  Preconditioner preconditioner = Preconditioner::kFactor;
  bool line_search = true;    ///< shortens Newton steps that overshoot
  float mass_damping = 0.0f;  ///< Rayleigh's alpha, a drag by mass [1/s], in [0, 1000]

  bool operator==(const ImplicitSettings&) const = default;
};

}  // namespace plush

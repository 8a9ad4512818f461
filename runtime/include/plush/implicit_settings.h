// SPDX-License-Identifier: MIT
// Settings of the implicit solver: backward Euler by Newton's method and conjugate gradients
// [Civ 3.3].
#pragma once

#include <cstdint>

namespace plush {

/// An elastic material. F is the deformation gradient (3x3), J = det F, R its rotation and
/// e = sym(R^T F) - I the corotated strain.
enum class MaterialModel : uint8_t {
  /// mu |e|^2 + lambda/2 tr(e)^2 with R = I [Civ, Eq. 2.23]: for small turns only.
  kLinear,
  /// mu |e|^2 + lambda/2 tr(e)^2 [Civ, Eq. 2.25].
  kCorotated,
  /// mu |e|^2 + lambda/2 (J - 1)^2 [Civ, Eq. 2.27]. The default: if R^T F is symmetric, as with
  /// polar decomposition, it is splitting's mu |F - R|^2 + lambda/2 (det F - 1)^2.
  kCorrectedCorotated,
  /// mu |E|^2 + lambda/2 tr(E)^2, E = (F^T F - I)/2 [Civ, Eq. 2.29]. Gets weaker when pressed below
  /// about 0.6 of its length, and does not tell a reflected tet from a regular one.
  kStVenantKirchhoff,
  /// mu/2 (|F|^2 - 3) - mu L + lambda/2 L^2 [Civ, Eq. 2.31]. L is log J as far as J >= 0.1, below
  /// it log's second-order Taylor polynomial there: the energy has two continuous derivatives, is
  /// finite for every F, and pushes flat and inverted tets outwards.
  kNeoHookean,
};

/// How the rotation R of a tet with gradient F is found. Where det F > 0, all but kQr agree, apart
/// from the thresholds named.
enum class RotationMethod : uint8_t {
  kPolar,              ///< polar decomposition by Newton's method: inverted tets get a reflection
  kSvd,                ///< the same by singular value decomposition
  kInvertibleSvd,      ///< inverted tets leave the reflection to the smallest stretch
  kCoherentSvd,        ///< to the stretch along the direction of the last step
  kQr,                 ///< Gram-Schmidt: depends on the order of the nodes, not conservative
  kPolarQr,            ///< polar decomposition, QR if det F < 0.06: discontinuous there
  kProject,            ///< degenerate tets are displaced to det F = alpha: not differentiable there
  kReflect,            ///< degenerate tets are reflected at det F = alpha
  kDegenerationAware,  ///< degenerate tets are displaced smoothly [Civ, Algorithm 1]
  kAnalytic,           ///< analytic polar decomposition [Kug]: the rotation near the last one
};

/// Which derivative of the tets' stress Newton's method takes. Approximations change the way of
/// Newton's method, not its goal, and are symmetric and positive semidefinite. They differ from the
/// exact one where tets are strained and turn.
enum class StressDifferential : uint8_t {
  kExact,  ///< dP [Civ, Eq. 3.16]; costs more. Where it is not positive, the hybrid one replaces it
  kConstantRotation,  ///< dP(1) [Civ, Eq. 3.19]: R is constant in 2 mu (F - R), so turns are
                      ///< resisted as if they were stretch: slow where stiff bodies turn
  kWarped,            ///< dP(2) [Civ, Eq. 3.21]: R is constant in 2 mu R e, warped stiffness
  kHybrid,            ///< dP(H) [Civ, Eq. 3.23]: from dP(2) at rest to dP(1) at large strain
};

/// What makes the linear solves converge faster.
enum class Preconditioner : uint8_t {
  kFactor,  ///< the factor of splitting's matrix; with clusters of nodes in solves of more than
            ///< eight iterations, and beside constraints, a drag or another model
  kJacobi,  ///< the diagonal blocks of the matrix, 3 x 3
  kNone,
};

/// How linear systems are solved.
enum class LinearMethod : uint8_t {
  kConjugateGradients,
  kMinimumResiduals,  ///< MINRES: also where the exact differential is not positive
};

/// How exactly a step of the implicit solver is solved. The body's velocities at the start of the
/// step give the first positions.
///
/// These settings mean less while colliders or other bodies touch a body, or attachments hold it:
/// - newton_iterations and newton_tolerance: iterations go on while one moves a node by more than
///   3e-5 median edges (CageView), up to the larger of newton_iterations and
///   ContactSettings::iterations, and one more takes out points that then lie deep. Bodies that
///   touch or that springs join make as many as any of them wants, and up to 8 if their clusters
///   cannot move.
/// - linear_method and preconditioner: solves are always conjugate steps of the contact solve with
///   the factor.
/// - linear_iterations and linear_tolerance: steps that take sunk points out do not count, but four
///   times linear_iterations is the end. The tolerance is that of a step's length, relative to the
///   first one's. Bodies that touch each other take the most iterations and the least tolerance.
/// Constraints alone change none of this.
struct ImplicitSettings {
  int newton_iterations = 0;         ///< most per substep, 1..64; 0: as tuned, else 1
  int linear_iterations = 0;         ///< most conjugate gradients' of each, 1..10000; 0: as tuned
                                     ///< (Asset::tuning), else 8
  float newton_tolerance = 1.0e-4f;  ///< ends once the norm of the nodes' unbalanced forces is at
                                     ///< most this share of that at the start, in [0, 1)
  float linear_tolerance = 1.0e-4f;  ///< the same within a Newton iteration, in [0, 1)
  StressDifferential differential = StressDifferential::kWarped;
  Preconditioner preconditioner = Preconditioner::kFactor;
  bool line_search = true;    ///< shortens Newton steps that overshoot
  bool assembled = false;     ///< each Newton iteration makes the matrix, in 3x3 blocks, and its
                              ///< products read that instead of tets. Pays with many linear
                              ///< iterations, or a model. AddBody and SetSolver take its memory
  float mass_damping = 0.0f;  ///< Rayleigh's alpha, a drag by mass [1/s], in [0, 1000]. Bodies
                              ///< with another one have factors of their own
  LinearMethod linear_method = LinearMethod::kConjugateGradients;
  bool quasistatic = false;  ///< steps go to where forces balance, without inertia and damping.
                             ///< Pins must stop every rigid motion, or constraints that the
                             ///< body has before World::SetSolver; else that and AddBody refuse
  // What tets are made of. All but the default pair, which is splitting's energy, cost several
  // times as much, and have clusters in the preconditioner only.
  MaterialModel model = MaterialModel::kCorrectedCorotated;
  RotationMethod rotation = RotationMethod::kAnalytic;
  float alpha = 0.1f;  ///< tets with det F below are degenerate, in (0, 1)
  float beta = 3.0f;   ///< of kDegenerationAware: how far they are displaced, in [1, 100]
  bool exact_degenerate_stress = false;  ///< the stress of degenerate tets is the whole derivative
                                         ///< of their energy [Civ, Eq. 4.25]. Of the corotated
                                         ///< models, with kProject, kReflect, kDegenerationAware

  bool operator==(const ImplicitSettings&) const = default;
};

}  // namespace plush

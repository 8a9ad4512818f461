// SPDX-License-Identifier: MIT
// Settings of the default solver, which splits elasticity from motion [Kug].
#pragma once

namespace plush {

/// How exactly a body's steps are solved [Kug, Alg. 2].
struct SplittingSettings {
  int outer_iterations = 0;  ///< element pass, solve and coarse correction per substep, 1..64; 0:
                             ///< as tuned (Asset::tuning), else 1 for soft bodies, 3 for the
                             ///< stiffest ones with pins, else 2 (runtime/README.md), and up to 8
                             ///< while a stiff body in the air, or one that
                             ///< others act on, would gain energy
  int volume_sweeps = 0;     ///< 0: the two-level step; Poisson's ratios above 0.47 act as 0.47.
                             ///< 1..16: the step of [Kug, Alg. 2], with Gauss-Seidel sweeps over
                             ///< the tets and no clusters; it swings too slowly. 0.47 is the most
                             ///< while the body touches something
  int polar_iterations = 4;  ///< most Newton steps per tet and rotation, 1..64

  bool operator==(const SplittingSettings&) const = default;
};

}  // namespace plush

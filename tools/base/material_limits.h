// SPDX-License-Identifier: MIT
// The ranges of physical settings: the same in options, material maps, pins and scenes.
//
// The runtime's MaterialOverride accepts more: ratios below 0.5, and positive moduli and densities
// whose Lame parameters and masses fit into a float. At a ratio of 0.499 the bulk modulus is
// already 500 times the shear modulus.
#pragma once

#include "base/number_range.h"

namespace plush::tools {

inline constexpr NumberRange kYoungRange = {1.0e-3, 1.0e13};   ///< Young's modulus [Pa]
inline constexpr NumberRange kPoissonRange = {0.0, 0.499};     ///< Poisson's ratio
inline constexpr NumberRange kDensityRange = {1.0e-6, 1.0e6};  ///< [kg/m^3]
inline constexpr NumberRange kDampingRange = {0.0, 10.0};      ///< relaxation time [s]
inline constexpr NumberRange kFrictionRange = {0.0, 1000.0};   ///< Coulomb coefficient
inline constexpr NumberRange kRestitutionRange = {0.0, 1.0};
inline constexpr NumberRange kTimeStepRange = {1.0e-4, 1.0};     ///< [s]
inline constexpr NumberRange kRadiusRange = {0.0, 1.0e9, true};  ///< of spheres that pin [m]

}  // namespace plush::tools

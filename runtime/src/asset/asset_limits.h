// SPDX-License-Identifier: MIT
// Ranges of the numbers in a .plush file. Wide enough for anything that can be modelled, and narrow
// enough that products of a few of them stay far from the ends of a double, and that a division by
// a checked positive float is finite. schemas/README.md lists them for users.
#pragma once

#include <limits>

namespace plush {

/// Smallest positive number [any unit]: a smaller one could be flushed to zero by a game's
/// floating-point mode.
inline constexpr float kMinPositive = std::numeric_limits<float>::min();

/// Masses [kg], volumes [m^3], moduli [Pa], moduli times volumes [J]: their products with squares
/// of kMaxInverse and of kMaxCoordinate stay below 1e100.
inline constexpr float kMaxQuantity = 1.0e30f;

/// Coordinates and lengths [m]: cubes are finite in float.
inline constexpr float kMaxCoordinate = 1.0e9f;

/// Entries of Dm^-1 [1/m]: squares are finite in float.
inline constexpr float kMaxInverse = 1.0e18f;
inline constexpr float kMaxDamping = 10.0f;  ///< [s]

/// Entries of the factor [1] and of its diagonal blocks' inverses [1/kg]: squares are finite in
/// float.
inline constexpr float kMaxFactor = 1.0e18f;

/// Barycentric weights: 1 in magnitude inside a tet; outside it grows with distance over height.
inline constexpr float kMaxWeight = 1.0e6f;

/// Components of a unit normal, with room for rounding.
inline constexpr float kMaxNormal = 1.01f;

/// Baked time step [s].
inline constexpr float kMinTimeStep = 1.0e-6f;
inline constexpr float kMaxTimeStep = 1.0f;

}  // namespace plush

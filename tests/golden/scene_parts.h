// SPDX-License-Identifier: MIT
// What many scenes have in common. Nothing here calls libm: its results differ between machines.
#pragma once

#include "golden/stage.h"

#include <span>

namespace plush::golden {

/// Scenes by theme: what games use.
std::span<const Scene> ColliderScenes();
std::span<const Scene> HeldScenes();
std::span<const Scene> CrowdScenes();
std::span<const Scene> TouchingScenes();
/// What only comparisons with papers use.
std::span<const Scene> PaperScenes();

/// The half-space y < 0.
inline ColliderDesc Floor() { return {}; }

/// A turn of 20 degrees about z, for bodies on a ramp of that slope.
inline constexpr Quat kUphill = {0.0f, 0.0f, 0.1736482f, 0.9848078f};

/// A number in [-1, 1), another one for each seed.
inline float Random(uint32_t seed) {
  seed = (seed ^ 61u ^ (seed >> 16)) * 9u;
  seed = (seed ^ (seed >> 4)) * 0x27d4eb2du;
  seed ^= seed >> 15;
  return static_cast<float>(seed >> 8) / 8388608.0f - 1.0f;
}
inline Vec3 RandomVector(uint32_t seed) {
  return {Random(3 * seed), Random(3 * seed + 1), Random(3 * seed + 2)};
}
inline Quat RandomTurn(uint32_t seed) {
  return {Random(4 * seed + 7), Random(4 * seed + 8), Random(4 * seed + 9), 1.0f};
}

}  // namespace plush::golden

// SPDX-License-Identifier: MIT
// The state of a run as a file: `plush simulate --save-state` and `--load-state`.
//
// A state file is a StateHeader (little-endian) and the bytes of World::SaveState.
#pragma once

#include "base/result.h"
#include "simulate/scene_world.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace plush::tools {

/// The start of a state file.
struct StateHeader {
  char magic[7] = {'P', 'L', 'S', 'H', 'R', 'U', 'N'};
  uint8_t version = 1;
  uint64_t steps = 0;  ///< SceneClock
  double start = 0.0;  ///< SceneClock [s]
  double dt = 0.0;     ///< of the steps [s]
};
static_assert(sizeof(StateHeader) == 32);

/// Bytes of the present state, after steps of `dt` seconds. Errors: kLimit (memory).
Result<std::vector<std::byte>> SaveSceneState(const SceneWorld& scene_world, double dt);

/// Sets a world that was built from the state's scene, with other steps or forces perhaps, to the
/// state. Its clock goes on. Gravity, materials, filters, colliders and pins are those of the
/// state. `scene_world` is of no use after a failure. Errors: kInvalidInput (no state, damaged, of
/// another scene, of other assets), kUnsupported (another version), kLimit (memory).
Result<Done> LoadSceneState(std::span<const std::byte> state, double dt, SceneWorld* scene_world);

}  // namespace plush::tools

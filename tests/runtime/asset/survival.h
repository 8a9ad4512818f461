// SPDX-License-Identifier: MIT
// Opens hostile bytes and uses what opens.
#pragma once

#include <cstddef>
#include <span>

namespace plush::test {

enum class Survival {
  kRefused,  ///< Open gave an error
  kStepped,  ///< Open succeeded, every view was read and the body simulated,
             ///< or the static mesh queried
};

/// Opens `bytes` (aligned to kAssetAlignment). If that succeeds, reads every element of every view,
/// adds a body to a world and makes 10 steps, or queries the static mesh. Fails the test if
/// CheckAsset and Open disagree, or if FindFlaw reports a flaw.
Survival Survive(std::span<const std::byte> bytes);

/// Whether the runtime is sanitized in this program.
bool IsSanitized();

}  // namespace plush::test

// SPDX-License-Identifier: MIT
// A folder with baked samples, for tests of their scenes.
#pragma once

#include "bake/bake.h"
#include "tools/procedural_meshes.h"

#include <string>

namespace plush::tests {

/// Bakes samples/`source` as `folder`/NAME.plush, NAME as that of the source. The test fails if
/// that fails.
void BakeSample(const TemporaryFolder& folder, const std::string& source,
                const tools::BakeSettings& settings);

/// Bakes the static mesh `folder`/NAME.plush of samples/`source`; otherwise the same.
void BakeStaticSample(const TemporaryFolder& folder, const std::string& source);

}  // namespace plush::tests

// SPDX-License-Identifier: MIT
// Baked models of one size.
#pragma once

#include <string>

namespace plush::tests {

/// Bakes the model at `path`, scaled so that its longest side is 1 m, into `asset_path`: Young's
/// modulus 1e5 Pa, Poisson's ratio 0.4, 1000 kg/m^3. The test fails if that fails.
void BakeScaled(const std::string& path, const std::string& asset_path);

}  // namespace plush::tests

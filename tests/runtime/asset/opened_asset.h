// SPDX-License-Identifier: MIT
// What must hold for every asset that Asset::Open lets in, whatever bytes it was made from.
#pragma once

#include "plush/asset.h"

#include <string>

namespace plush::test {

/// Looks at every index and float of an opened asset, and at what the factor must have an entry
/// for. Written from the meaning of the fields in schemas/plush.fbs; calls none of the product's
/// checks and none of its helpers for packed data. Returns the first thing that is wrong, or an
/// empty string. O(num_nodes^3): for small assets.
std::string FindFlaw(const Asset& asset);

}  // namespace plush::test

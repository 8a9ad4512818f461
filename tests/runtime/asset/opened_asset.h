// SPDX-License-Identifier: MIT
// Properties of every asset that Asset::Open accepts, whatever bytes it was made from.
#pragma once

#include "plush/asset.h"

#include <string>

namespace plush::test {

/// Checks every index and float of an opened asset, and that the factor has all entries it needs.
/// Written from the meaning of the fields in schemas/plush.fbs: calls none of the product's checks
/// and none of its helpers for packed data. Returns the first flaw, or an empty string.
/// O(num_nodes^3), for small assets.
std::string FindFlaw(const Asset& asset);

}  // namespace plush::test

// SPDX-License-Identifier: MIT
// ZIP archives for tests.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace plush::tests {

/// A ZIP archive of these names and contents, not compressed.
std::string ZipOf(const std::vector<std::pair<std::string, std::string>>& files);

}  // namespace plush::tests

// SPDX-License-Identifier: MIT
// Depfiles for Make and Ninja.
#pragma once

#include <string>
#include <vector>

namespace plush::tools {

/// "TARGET: PREREQUISITE ..." with spaces, '#', '$' and backslashes escaped as Make and Ninja read
/// them; one prerequisite per line. Names with line ends, which no depfile can hold, are left out.
std::string DepfileText(const std::string& target, const std::vector<std::string>& prerequisites);

}  // namespace plush::tools

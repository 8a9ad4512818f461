// SPDX-License-Identifier: MIT
// What a file's name says about its format.
#pragma once

#include <string>
#include <string_view>

namespace plush::tools {

/// Whether `path` ends in `ending`, which is in lower case, with letters in any case.
bool HasEnding(std::string_view path, std::string_view ending);

}  // namespace plush::tools

// SPDX-License-Identifier: MIT
#include "import/file_ending.h"

#include <algorithm>

namespace plush::tools {

bool HasEnding(std::string_view path, std::string_view ending) {
  if (path.size() < ending.size()) return false;
  const auto lowered = [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  };
  return std::equal(ending.begin(), ending.end(),
                    path.end() - static_cast<std::ptrdiff_t>(ending.size()),
                    [&](char wanted, char c) { return lowered(c) == wanted; });
}

}  // namespace plush::tools

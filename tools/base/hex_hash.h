// SPDX-License-Identifier: MIT
// Hashes as people read them.
#pragma once

#include <cstdint>
#include <cstdio>
#include <string>

namespace plush::tools {

/// Sixteen hexadecimal digits in lower case.
inline std::string HexHash(uint64_t hash) {
  char text[17];
  std::snprintf(text, sizeof(text), "%016llx", static_cast<unsigned long long>(hash));
  return text;
}

}  // namespace plush::tools

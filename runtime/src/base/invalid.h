// SPDX-License-Identifier: MIT
#pragma once

#include "plush/status.h"

#include <cstdint>

namespace plush {

/// Refuses an argument, or a field of one. Both texts are static.
inline Status Invalid(const char* section, const char* reason, uint64_t index = 0) {
  return {StatusCode::kInvalidArgument, section, reason, index};
}

}  // namespace plush

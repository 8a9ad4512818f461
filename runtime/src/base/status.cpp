// SPDX-License-Identifier: MIT
#include "plush/status.h"

#include <cstddef>
#include <iterator>

namespace plush {
namespace {

// In the order of StatusCode.
constexpr const char* kNames[] = {"Ok",       "InvalidArgument", "CannotRead",     "Truncated",
                                  "BadMagic", "ForeignVersion",  "LayoutMismatch", "Misaligned",
                                  "Corrupt",  "OutOfMemory",     "NullId",         "ForeignId",
                                  "StaleId",  "Mismatch",        "Unsupported"};
static_assert(std::size(kNames) == static_cast<size_t>(StatusCode::kUnsupported) + 1);

}  // namespace

const char* StatusCodeName(StatusCode code) {
  const auto index = static_cast<size_t>(code);
  return index < std::size(kNames) ? kNames[index] : "Unknown";
}

}  // namespace plush

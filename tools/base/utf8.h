// SPDX-License-Identifier: MIT
// Names from foreign files, made fit for JSON and terminals.
#pragma once

#include <string>
#include <string_view>

namespace plush::tools {

/// Longest name that is kept [bytes].
inline constexpr size_t kMaxNameBytes = 1024;

/// `text` as valid UTF-8 without control characters: each byte that belongs to no valid sequence
/// and each control character becomes U+FFFD; what is beyond kMaxNameBytes is cut off.
std::string PrintableUtf8(std::string_view text);

}  // namespace plush::tools

// SPDX-License-Identifier: MIT
// Base64 (RFC 4648), as data URIs carry it.
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

namespace plush::tools {

/// The bytes `text` stands for; nothing where a character is not of the alphabet or the length is
/// impossible. Padding at the end is optional.
std::optional<std::vector<std::byte>> DecodeBase64(std::string_view text);

}  // namespace plush::tools

// SPDX-License-Identifier: MIT
// Bytes as text in base64 [RFC 4648, 4].
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace plush::tools {

/// `bytes` in base64, padded.
std::string Base64Of(std::span<const unsigned char> bytes);

/// The bytes of text in base64, up to the first sign that is no digit, such as the padding.
std::vector<std::byte> BytesOfBase64(std::string_view text);

}  // namespace plush::tools

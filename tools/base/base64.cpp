// SPDX-License-Identifier: MIT
#include "base/base64.h"

#include <algorithm>
#include <array>
#include <cstdint>

namespace plush::tools {
namespace {

constexpr std::string_view kDigits =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

}  // namespace

std::string Base64Of(std::span<const unsigned char> bytes) {
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (size_t i = 0; i < bytes.size(); i += 3) {
    const size_t given = std::min<size_t>(3, bytes.size() - i);
    uint32_t bits = 0;
    for (size_t k = 0; k < 3; ++k) bits = bits << 8 | (k < given ? bytes[i + k] : 0u);
    for (size_t k = 0; k < 4; ++k) {
      text += k <= given ? kDigits[bits >> (18 - 6 * k) & 63u] : '=';
    }
  }
  return text;
}

std::vector<std::byte> BytesOfBase64(std::string_view text) {
  std::array<uint8_t, 256> value_of;  // 64 for what is no digit
  value_of.fill(64);
  for (uint8_t i = 0; i < 64; ++i) value_of[static_cast<unsigned char>(kDigits[i])] = i;
  std::vector<std::byte> bytes;
  bytes.reserve(text.size() / 4 * 3 + 2);
  uint32_t bits = 0, num_bits = 0;
  for (const char c : text) {
    const uint8_t value = value_of[static_cast<unsigned char>(c)];
    if (value == 64) break;
    bits = (bits << 6 | value) & 0xffffu;
    num_bits += 6;
    if (num_bits < 8) continue;
    num_bits -= 8;
    bytes.push_back(static_cast<std::byte>(bits >> num_bits & 255u));
  }
  return bytes;
}

}  // namespace plush::tools

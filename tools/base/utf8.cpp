// SPDX-License-Identifier: MIT
#include "base/utf8.h"

#include <cstdint>

namespace plush::tools {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";

bool IsContinuation(char c) { return (static_cast<uint8_t>(c) & 0xC0) == 0x80; }

// Length of the well-formed sequence at the start of `text` (Unicode 15, table 3-7); 0 if there is
// none: overlong forms, surrogates and values beyond U+10FFFF are not well-formed.
size_t SequenceLength(std::string_view text) {
  const auto lead = static_cast<uint8_t>(text[0]);
  if (lead < 0x80) return 1;
  const size_t length = lead >= 0xF0 ? 4 : (lead >= 0xE0 ? 3 : 2);
  if (lead < 0xC2 || lead > 0xF4 || text.size() < length) return 0;
  for (size_t i = 1; i < length; ++i) {
    if (!IsContinuation(text[i])) return 0;
  }
  const auto second = static_cast<uint8_t>(text[1]);
  if (lead == 0xE0 && second < 0xA0) return 0;
  if (lead == 0xED && second > 0x9F) return 0;
  if (lead == 0xF0 && second < 0x90) return 0;
  if (lead == 0xF4 && second > 0x8F) return 0;
  return length;
}

bool IsControl(std::string_view sequence) {
  const auto lead = static_cast<uint8_t>(sequence[0]);
  if (sequence.size() == 1) return lead < 0x20 || lead == 0x7F;
  return lead == 0xC2 && static_cast<uint8_t>(sequence[1]) < 0xA0;  // U+0080 to U+009F
}

}  // namespace

std::string PrintableUtf8(std::string_view text) {
  std::string result;
  while (!text.empty()) {
    const size_t length = SequenceLength(text);
    const std::string_view sequence = text.substr(0, length == 0 ? 1 : length);
    const std::string_view kept = length == 0 || IsControl(sequence) ? kReplacement : sequence;
    if (result.size() + kept.size() > kMaxNameBytes) break;
    result += kept;
    text.remove_prefix(sequence.size());
  }
  return result;
}

}  // namespace plush::tools

// SPDX-License-Identifier: MIT
// Lines of words and numbers, for text formats.
#pragma once

#include <array>
#include <charconv>
#include <string>
#include <string_view>
#include <type_traits>

namespace plush::tools {

/// Appends the shortest text that reads back as the same number, whatever the locale.
template <class Number>
requires std::is_arithmetic_v<Number>
void AppendWord(std::string* text, Number number) {
  std::array<char, 32> digits;
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), number).ptr;
  text->append(digits.data(), end);
}

inline void AppendWord(std::string* text, std::string_view word) { text->append(word); }

/// Appends `words` with blanks between them, and a line end.
template <class First, class... Others>
void AppendLine(std::string* text, const First& first, const Others&... others) {
  AppendWord(text, first);
  ((*text += ' ', AppendWord(text, others)), ...);
  *text += '\n';
}

}  // namespace plush::tools

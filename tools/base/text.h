// SPDX-License-Identifier: MIT
// Text for people and for other programs: numbers, foreign names, suggestions, depfiles.
#pragma once

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace plush::tools {

/// `number` in up to `digits` significant digits. Nine are enough to identify a float.
std::string NumberText(double number, int digits = 9);

/// `number` in up to six significant digits, for people.
inline std::string RoundedText(double number) { return NumberText(number, 6); }

/// Sixteen hexadecimal digits in lower case.
std::string HexHash(uint64_t hash);

/// PrintableUtf8 keeps this many bytes of a name.
inline constexpr size_t kMaxNameBytes = 1024;

/// Makes a name from a foreign file fit for JSON and terminals: valid UTF-8 without control
/// characters. Each control character, and each byte outside a valid sequence, becomes U+FFFD. Cuts
/// the result at kMaxNameBytes.
std::string PrintableUtf8(std::string_view text);

/// A word of a POSIX shell: in single quotes.
std::string ShellWord(std::string_view word);

/// The least number of edits that turn `a` into `b`, ignoring case. An edit inserts, deletes or
/// replaces a letter, or swaps two neighbours (optimal string alignment). O(|a| |b|).
size_t EditDistance(std::string_view a, std::string_view b);

/// The first candidate with the least edit distance to `name`; empty without candidates.
std::string_view NearestName(std::string_view name, std::span<const std::string_view> candidates);

/// "unknown KIND 'NAME'; did you mean 'NEAREST'?". Without candidates, the question is left out.
/// Names are cut at 64 letters.
std::string UnknownNameMessage(std::string_view kind, std::string_view name,
                               std::span<const std::string_view> candidates);

/// A word that users choose from a list, and what it means.
template <class T>
struct NamedValue {
  const char* name;
  T value;
};

/// The name of `value`, or "" if the list lacks it.
template <class T>
std::string NameOf(std::span<const NamedValue<T>> words, T value) {
  for (const NamedValue<T>& word : words) {
    if (word.value == value) return word.name;
  }
  return "";
}

/// The number that begins `text`, which from_chars finds out of range: infinite, zero or subnormal.
double ExtremeNumber(std::string_view text);

/// Removes the number at the beginning of `*text`, with an optional plus, from the text. A number
/// too large for T becomes infinity or T's largest integer. False if the text does not begin with a
/// number.
template <class T>
bool TakeNumber(std::string_view* text, T* value) {
  if (!text->empty() && text->front() == '+') text->remove_prefix(1);
  const auto parsed = std::from_chars(text->data(), text->data() + text->size(), *value);
  if (parsed.ec == std::errc::result_out_of_range) {
    if constexpr (std::numeric_limits<T>::has_infinity) {
      *value = static_cast<T>(
          ExtremeNumber(text->substr(0, static_cast<size_t>(parsed.ptr - text->data()))));
    } else {
      *value = std::numeric_limits<T>::max();
    }
  } else if (parsed.ec != std::errc()) {
    return false;
  }
  text->remove_prefix(static_cast<size_t>(parsed.ptr - text->data()));
  return true;
}

/// Whether a name holds a line end, which no depfile can.
bool HasLineEnd(std::string_view name);

/// A depfile for Make and Ninja: "TARGET: PREREQUISITE ...", one prerequisite per line. Escapes
/// spaces, '#', '$' and backslashes. Leaves out prerequisites with line ends in their names; empty
/// if the target has one.
std::string DepfileText(const std::string& target, const std::vector<std::string>& prerequisites);

/// Begins a line on stdout that names a file which was read: Ninja's `msvc_deps_prefix`. Unlike a
/// depfile, such a line holds any name without a line end.
inline constexpr char kSourceLine[] = "plush reads:";

}  // namespace plush::tools

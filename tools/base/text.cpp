// SPDX-License-Identifier: MIT
// UTF-8 after Unicode 15, table 3-7; edit distance by dynamic programming over three rows
// (optimal string alignment).
#include "base/text.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>

namespace plush::tools {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";

// Length of the well-formed sequence at the start of `text`, or 0. Overlong forms, surrogates and
// values beyond U+10FFFF are not well-formed.
size_t SequenceLength(std::string_view text) {
  const auto lead = static_cast<uint8_t>(text[0]);
  if (lead < 0x80) return 1;
  const size_t length = lead >= 0xF0 ? 4 : (lead >= 0xE0 ? 3 : 2);
  if (lead < 0xC2 || lead > 0xF4 || text.size() < length) return 0;
  for (size_t i = 1; i < length; ++i) {
    if ((static_cast<uint8_t>(text[i]) & 0xC0) != 0x80) return 0;
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

// Names come from foreign files: longer ones are compared and shown up to here.
constexpr size_t kLongestName = 64;

char Lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

// Make halves backslashes only before a character that they escape; it takes '$$' as '$'.
std::string Escaped(const std::string& path) {
  std::string out;
  size_t backslashes = 0;
  for (const char c : path) {
    if (c == ' ' || c == '\t' || c == '#') out.append(backslashes + 1, '\\');
    if (c == '$') out += '$';
    backslashes = c == '\\' ? backslashes + 1 : 0;
    out += c;
  }
  return out;
}

}  // namespace

std::string NumberText(double number, int digits) {
  char text[32];
  std::snprintf(text, sizeof(text), "%.*g", digits, number);
  return text;
}

double ExtremeNumber(std::string_view text) {
  return std::strtod(std::string(text).c_str(), nullptr);
}

std::string HexHash(uint64_t hash) {
  char text[17];
  std::snprintf(text, sizeof(text), "%016llx", static_cast<unsigned long long>(hash));
  return text;
}

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

std::string ShellWord(std::string_view word) {
  std::string quoted = "'";
  for (const char c : word) {
    if (c == '\'') quoted += "'\\'";
    quoted += c;
  }
  return quoted + "'";
}

size_t EditDistance(std::string_view a, std::string_view b) {
  std::vector<size_t> before(b.size() + 1);
  std::vector<size_t> previous(b.size() + 1);
  std::vector<size_t> current(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) current[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    std::swap(before, previous);
    std::swap(previous, current);
    current[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const char p = Lower(a[i - 1]);
      const char q = Lower(b[j - 1]);
      current[j] = std::min({previous[j] + 1, current[j - 1] + 1, previous[j - 1] + (p != q)});
      if (i > 1 && j > 1 && p == Lower(b[j - 2]) && Lower(a[i - 2]) == q) {
        current[j] = std::min(current[j], before[j - 2] + 1);
      }
    }
  }
  return current[b.size()];
}

std::string_view NearestName(std::string_view name, std::span<const std::string_view> candidates) {
  const auto nearest = std::ranges::min_element(candidates, {}, [name](std::string_view candidate) {
    return EditDistance(name.substr(0, kLongestName), candidate.substr(0, kLongestName));
  });
  return nearest == candidates.end() ? std::string_view() : *nearest;
}

std::string UnknownNameMessage(std::string_view kind, std::string_view name,
                               std::span<const std::string_view> candidates) {
  std::string shown(name.substr(0, kLongestName));
  if (name.size() > kLongestName) shown += "...";
  std::string message = "unknown " + std::string(kind) + " '" + shown + "'";
  if (!candidates.empty()) {
    message += "; did you mean '" + std::string(NearestName(name, candidates)) + "'?";
  }
  return message;
}

bool HasLineEnd(std::string_view name) { return name.find_first_of("\r\n") != name.npos; }

std::string DepfileText(const std::string& target, const std::vector<std::string>& prerequisites) {
  if (HasLineEnd(target)) return "";
  std::string text = Escaped(target) + ":";
  for (const std::string& prerequisite : prerequisites) {
    if (HasLineEnd(prerequisite)) continue;
    text += " \\\n  " + Escaped(prerequisite);
  }
  return text + "\n";
}

}  // namespace plush::tools

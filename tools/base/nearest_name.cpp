// SPDX-License-Identifier: MIT
#include "base/nearest_name.h"

#include <algorithm>
#include <vector>

namespace plush::tools {
namespace {

// Names longer than this are compared and shown by their beginning: they come from foreign files.
constexpr size_t kLongestName = 64;

char Lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

}  // namespace

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
  std::string_view nearest;
  size_t least = SIZE_MAX;
  for (const std::string_view candidate : candidates) {
    const size_t distance =
        EditDistance(name.substr(0, kLongestName), candidate.substr(0, kLongestName));
    if (distance < least) {
      least = distance;
      nearest = candidate;
    }
  }
  return nearest;
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

}  // namespace plush::tools

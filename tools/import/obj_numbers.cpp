// SPDX-License-Identifier: MIT
// One pass over the lines, which end where Assimp ends them. A backslash before a line end joins
// the next line.
#include "import/obj_numbers.h"

#include <algorithm>
#include <span>

namespace plush::tools {
namespace {

bool IsBlank(char c) { return c == ' ' || c == '\t'; }

bool IsLineEnd(char c) { return c == '\n' || c == '\r' || c == '\f' || c == '\0'; }

// Whether the text begins a line of coordinates.
bool IsVertexLine(std::string_view text) {
  if (!text.starts_with('v')) return false;
  text.remove_prefix(text.starts_with("vt") || text.starts_with("vn") ? 2 : 1);
  return !text.empty() && IsBlank(text.front());
}

}  // namespace

std::vector<std::byte> WithLeadingZeros(std::string_view obj) {
  std::vector<std::byte> result;
  size_t copied = 0;
  const auto copy_until = [&](size_t end) {
    const auto bytes = std::as_bytes(std::span(obj.substr(copied, end - copied)));
    result.insert(result.end(), bytes.begin(), bytes.end());
    copied = end;
  };
  bool is_line_start = true;
  bool is_vertex = false;
  bool is_after_blank = false;
  for (size_t i = 0; i < obj.size(); ++i) {
    const char c = obj[i];
    const char next = i + 1 < obj.size() ? obj[i + 1] : '\0';
    if (c == '\\' && IsLineEnd(next)) {
      i = std::min(obj.find('\n', i), obj.size());
      continue;
    }
    if (is_line_start) is_vertex = IsVertexLine(obj.substr(i));
    if (c == '#') is_vertex = false;  // a comment until the line's end
    if (is_vertex && is_after_blank && c == '.' && next >= '0' && next <= '9') {
      copy_until(i);
      result.push_back(std::byte{'0'});
    }
    is_line_start = IsLineEnd(c);
    is_after_blank = IsBlank(c);
  }
  if (!result.empty()) copy_until(obj.size());
  return result;
}

}  // namespace plush::tools

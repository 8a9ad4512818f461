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

// Whether the text begins a line of coordinates, of vertices only or of any kind.
bool IsVertexLine(std::string_view text) {
  return text.size() > 1 && text[0] == 'v' && IsBlank(text[1]);
}
bool IsCoordinateLine(std::string_view text) {
  if (!text.starts_with("vt") && !text.starts_with("vn")) return IsVertexLine(text);
  return text.size() > 2 && IsBlank(text[2]);
}

// The end of a backslash and the line end that it joins, or `at` if there is none.
size_t SkipJoint(std::string_view obj, size_t at) {
  const char next = at + 1 < obj.size() ? obj[at + 1] : '\0';
  if (obj[at] != '\\' || !IsLineEnd(next)) return at;
  return std::min(obj.find('\n', at), obj.size() - 1) + 1;
}

// Where a line of a vertex stops making sense to Assimp, which counts all words: at a comment, or
// at numbers behind a position, with a fourth coordinate or a colour. `end`: of the line.
size_t EndOfNumbers(std::string_view obj, size_t begin, size_t* end) {
  constexpr size_t kPosition = 3, kWithColour = 6;  // numbers
  size_t count = 0, end_of_position = 0, end_of_colour = 0;
  size_t comment = std::string_view::npos;
  size_t i = begin + 1;
  bool is_after_blank = false;
  while (i < obj.size()) {
    const size_t joined = SkipJoint(obj, i);
    if (joined == i && IsLineEnd(obj[i])) break;
    const bool is_blank = joined > i || IsBlank(obj[i]);
    if (obj[i] == '#') comment = std::min(comment, i);
    if (comment == std::string_view::npos && !is_blank) {
      count += is_after_blank ? 1 : 0;
      if (count == kPosition) end_of_position = i + 1;
      if (count == kWithColour) end_of_colour = i + 1;
    }
    is_after_blank = is_blank;
    i = std::max(joined, i + 1);
  }
  *end = std::min(i, obj.size());
  if (count == kPosition + 2) return end_of_position;
  if (count > kWithColour) return end_of_colour;
  return std::min(comment, *end);
}

}  // namespace

std::vector<std::byte> ObjForAssimp(std::string_view obj) {
  std::vector<std::byte> result;
  size_t copied = 0;
  const auto copy_until = [&](size_t end) {
    const auto bytes = std::as_bytes(std::span(obj.substr(copied, end - copied)));
    result.insert(result.end(), bytes.begin(), bytes.end());
    copied = end;
  };
  bool is_line_start = true;
  bool has_numbers = false;
  bool is_after_blank = false;
  size_t numbers_end = obj.size(), line_end = obj.size();
  for (size_t i = 0; i < obj.size(); ++i) {
    const char c = obj[i];
    const char next = i + 1 < obj.size() ? obj[i + 1] : '\0';
    if (is_line_start) {
      has_numbers = IsCoordinateLine(obj.substr(i));
      numbers_end = obj.size();
      if (IsVertexLine(obj.substr(i))) numbers_end = EndOfNumbers(obj, i, &line_end);
    }
    if (i == numbers_end && numbers_end < line_end) {
      copy_until(i);
      copied = line_end;
      i = line_end - 1;
      is_line_start = false;
      continue;
    }
    if (const size_t joined = SkipJoint(obj, i); joined > i) {
      i = joined - 1;
      is_line_start = false;
      continue;
    }
    if (c == '#') has_numbers = false;  // a comment until the line's end
    if (has_numbers && is_after_blank && c == '.' && next >= '0' && next <= '9') {
      copy_until(i);
      result.push_back(std::byte{'0'});
    }
    is_line_start = IsLineEnd(c);
    is_after_blank = IsBlank(c);
  }
  if (copied > 0) copy_until(obj.size());
  return result;
}

}  // namespace plush::tools

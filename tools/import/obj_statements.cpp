// SPDX-License-Identifier: MIT
#include "import/obj_statements.h"

#include "base/text.h"

#include <algorithm>
#include <cctype>
#include <limits>

namespace plush::tools {
namespace {

bool IsLineEnd(char c) { return c == '\n' || c == '\r'; }

// Of odd files, form feeds and NULs too.
bool IsBlank(char c) { return c == ' ' || c == '\t' || c == '\f' || c == '\v' || c == '\0'; }

// Bytes of the backslash and the line end that begin `text`; 0 if there are none.
size_t JointSize(std::string_view text) {
  if (text.size() < 2 || text[0] != '\\' || !IsLineEnd(text[1])) return 0;
  return text.substr(1).starts_with("\r\n") ? 3 : 2;
}

bool IsWordEnd(std::string_view text) {
  return text.empty() || IsBlank(text[0]) || IsLineEnd(text[0]) || text[0] == '#' ||
         JointSize(text) > 0;
}

}  // namespace

ObjStatements::ObjStatements(std::string_view text) : text_(text), rest_(text) {
  if (rest_.starts_with("\xEF\xBB\xBF")) rest_.remove_prefix(3);
}

void ObjStatements::SkipBlanks() {
  while (!rest_.empty()) {
    const size_t size = IsBlank(rest_[0]) ? 1 : JointSize(rest_);
    if (size == 0) return;
    rest_.remove_prefix(size);
  }
}

bool ObjStatements::Next() {
  bool is_line_start = begin_ == 0 && keyword_.empty();
  while (!rest_.empty()) {
    if (!is_line_start) {
      rest_.remove_prefix(std::min(rest_.find_first_of("\r\n"), rest_.size()));
    }
    while (!rest_.empty() && (IsBlank(rest_[0]) || IsLineEnd(rest_[0]))) rest_.remove_prefix(1);
    if (rest_.empty()) break;
    is_line_start = false;
    if (rest_[0] == '#') continue;
    begin_ = text_.size() - rest_.size();
    keyword_.clear();
    while (!IsWordEnd(rest_)) {
      keyword_ += static_cast<char>(std::tolower(static_cast<unsigned char>(rest_[0])));
      rest_.remove_prefix(1);
    }
    if (!keyword_.empty()) return true;
  }
  return false;
}

bool ObjStatements::Number(double* value) {
  SkipBlanks();
  std::string_view rest = rest_;
  if (!TakeNumber(&rest, value)) return false;
  if (rest.size() > 1 && rest[0] == ',' && std::isdigit(static_cast<unsigned char>(rest[1]))) {
    std::string word(rest_.substr(0, rest_.find_first_of(" \t\r\n#\\")));
    std::replace(word.begin(), word.end(), ',', '.');
    std::string_view digits = word;
    TakeNumber(&digits, value);
    rest = rest_.substr(word.size() - digits.size());
  } else if (rest.size() > 1 && rest[0] == '#' && rest.data()[-1] == '.' &&
             std::isupper(static_cast<unsigned char>(rest[1]))) {  // as in 1.#QNAN
    *value = std::numeric_limits<double>::quiet_NaN();
    while (!rest.empty() && !IsBlank(rest[0]) && !IsLineEnd(rest[0])) rest.remove_prefix(1);
  }
  if (!IsWordEnd(rest)) return false;
  rest_ = rest;
  return true;
}

bool ObjStatements::Integer(int64_t* value) {
  SkipBlanks();
  return TakeNumber(&rest_, value);
}

bool ObjStatements::Character(char c) {
  if (!rest_.starts_with(c)) return false;
  rest_.remove_prefix(1);
  return true;
}

bool ObjStatements::AtWordEnd() const { return IsWordEnd(rest_); }

bool ObjStatements::AtEnd() {
  SkipBlanks();
  return rest_.empty() || IsLineEnd(rest_[0]) || rest_[0] == '#';
}

std::string_view ObjStatements::Name() {
  std::string_view name = rest_.substr(0, rest_.find_first_of("\r\n"));
  rest_.remove_prefix(name.size());
  for (size_t hash = name.find('#'); hash != name.npos; hash = name.find('#', hash + 1)) {
    const bool ends = hash + 1 == name.size() || IsBlank(name[hash + 1]);
    if (hash > 0 && IsBlank(name[hash - 1]) && ends) name = name.substr(0, hash);
  }
  while (!name.empty() && IsBlank(name.front())) name.remove_prefix(1);
  while (!name.empty() && IsBlank(name.back())) name.remove_suffix(1);
  return name;
}

size_t ObjStatements::LineOf(size_t place) const {
  size_t line = 1;
  for (size_t i = 0; i < place; ++i) {
    if (text_[i] == '\n' || (text_[i] == '\r' && text_.substr(i + 1, 1) != "\n")) ++line;
  }
  return line;
}

}  // namespace plush::tools

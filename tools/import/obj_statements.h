// SPDX-License-Identifier: MIT
// The statements of .obj and .mtl files: a keyword, and words up to the end of the line.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace plush::tools {

/// Goes through the statements of a text, which must outlive it. Lines end with LF, CRLF or CR;
/// they may be indented, end with a comment, and go on after a backslash at their end.
class ObjStatements {
 public:
  explicit ObjStatements(std::string_view text);

  /// Moves to the next statement; false at the end of the text.
  bool Next();
  /// Its first word, in lower case.
  std::string_view keyword() const { return keyword_; }

  /// Takes the next word as a number. The decimal point may be a comma. False, without a change, if
  /// there is no word or if it is no number.
  bool Number(double* value);
  /// Takes the next whole number; further characters of its word may follow. Likewise.
  bool Integer(int64_t* value);
  /// Takes character `c`, if it comes next, without blanks before it.
  bool Character(char c);
  /// Whether a word ends here: a blank, the end of the statement or of its line comes next.
  bool AtWordEnd() const;
  /// Skips blanks. Whether the statement ends there.
  bool AtEnd();
  /// Takes the rest of the line as a name, without blanks at both ends. A backslash is a part of
  /// it. A comment in it begins with a blank, '#' and a blank.
  std::string_view Name();

  /// Where the statement begins in the text [bytes].
  size_t place() const { return begin_; }
  /// Number of the line at a place, from 1. O(place).
  size_t LineOf(size_t place) const;

 private:
  void SkipBlanks();

  std::string_view text_, rest_;
  std::string keyword_;
  size_t begin_ = 0;  // of the statement
};

}  // namespace plush::tools

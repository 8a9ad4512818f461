// SPDX-License-Identifier: MIT
// Reads files that mix lines of text with numbers in text or binary form, such as Gmsh's and VTK's.
#pragma once

#include "base/result.h"
#include "base/text.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace plush::tools {

/// A read position in a file's bytes, which must outlive the reader. A call returns false if the
/// file ends too early or holds something else. No call reads beyond the end.
class MixedReader {
 public:
  /// How numbers are stored in the file.
  enum class Numbers { kText, kNative, kSwapped };

  /// `path` is for messages only.
  MixedReader(std::string path, std::span<const std::byte> bytes)
      : path_(std::move(path)),
        all_(reinterpret_cast<const char*>(bytes.data()), bytes.size()),
        rest_(all_) {}

  void SetNumbers(Numbers numbers) { numbers_ = numbers; }
  bool is_text() const { return numbers_ == Numbers::kText; }

  /// Reads the rest of the current line, without its line end.
  bool Line(std::string_view* line);
  /// Reads the next word, which ends at a blank or line end.
  bool Word(std::string_view* word);
  /// Skips to the line after the next one that begins with `text`.
  bool PassLine(std::string_view text);
  /// Skips `count` numbers of type T.
  template <class T>
  bool Pass(uint64_t count);
  /// Reads the next number.
  template <class T>
  bool Number(T* value);

  /// A piece of the file for a message: in quotes, at most 40 bytes.
  static std::string Quoted(std::string_view words);
  /// The error kInvalidInput with IMPORT_FAILED: path, line (in binary files, byte) and `what`,
  /// made printable.
  Error Complain(const std::string& what) const;
  /// The error kUnsupported with IMPORT_UNSUPPORTED.
  Error Refuse(const std::string& what) const;

 private:
  bool TextNumberEnds() const;

  std::string path_;
  std::string_view all_;
  std::string_view rest_;
  Numbers numbers_ = Numbers::kText;
};

template <class T>
bool MixedReader::Number(T* value) {
  if (is_text()) {
    rest_.remove_prefix(std::min(rest_.find_first_not_of(" \t\r\n"), rest_.size()));
    return TakeNumber(&rest_, value) && TextNumberEnds();
  }
  std::array<char, sizeof(T)> bytes;
  if (rest_.size() < bytes.size()) return false;
  std::copy_n(rest_.begin(), bytes.size(), bytes.begin());
  rest_.remove_prefix(bytes.size());
  if (numbers_ == Numbers::kSwapped) std::reverse(bytes.begin(), bytes.end());
  *value = std::bit_cast<T>(bytes);
  return true;
}

template <class T>
bool MixedReader::Pass(uint64_t count) {
  if (!is_text()) {
    if (count > rest_.size() / sizeof(T)) return false;
    rest_.remove_prefix(count * sizeof(T));
    return true;
  }
  T ignored = {};
  for (uint64_t i = 0; i < count; ++i) {
    if (!Number(&ignored)) return false;
  }
  return true;
}

}  // namespace plush::tools

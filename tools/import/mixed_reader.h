// SPDX-License-Identifier: MIT
// Reads files that mix lines of text with numbers as text or in binary, such as Gmsh's and VTK's.
#pragma once

#include "base/result.h"
#include "base/text.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace plush::tools {

/// A read position in a file's bytes, which must outlive the reader. No call reads beyond the end.
/// Keeps the first error; after it, every number reads as 0.
class MixedReader {
 public:
  /// How numbers are stored in the file.
  enum class Numbers { kText, kNative, kSwapped };

  /// `path` is for messages only; empty if another process adds it.
  MixedReader(std::string path, std::span<const std::byte> bytes)
      : path_(std::move(path)),
        all_(reinterpret_cast<const char*>(bytes.data()), bytes.size()),
        rest_(all_) {}

  void SetNumbers(Numbers numbers) { numbers_ = numbers; }
  bool is_text() const { return numbers_ == Numbers::kText; }

  /// Reads the rest of the current line, without its line end; false at the end of the file.
  bool Line(std::string_view* line);
  /// Reads the next word, which ends at a blank or line end; empty at the end of the file.
  std::string_view Word();
  /// Skips to the line after the next one that begins with `text`; false if there is none.
  bool PassLine(std::string_view text);
  /// Reads the next number. Complains with `expected` if there is none.
  template <class T>
  T Number(const char* expected);
  /// Skips `count` numbers of type T. Complains with `expected` if there are fewer.
  template <class T>
  void Pass(uint64_t count, const char* expected);

  /// At most 40 bytes of `words` in quotes, for a message.
  static std::string Quoted(std::string_view words);
  /// Notes the error kInvalidInput with IMPORT_FAILED: path, line (in binary files, byte) and
  /// `what`, made printable.
  void Complain(const std::string& what);
  /// Notes the error kUnsupported with IMPORT_UNSUPPORTED.
  void Refuse(const std::string& what);
  bool ok() const { return !error_; }
  /// The first error; call only if !ok().
  const Error& error() const { return *error_; }

 private:
  template <class T>
  bool Take(T* value);
  bool TextNumberEnds() const;

  std::string path_;
  std::string_view all_;
  std::string_view rest_;
  Numbers numbers_ = Numbers::kText;
  std::optional<Error> error_;
};

template <class T>
bool MixedReader::Take(T* value) {
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
T MixedReader::Number(const char* expected) {
  T value = {};
  if (ok() && Take(&value)) return value;
  Complain(expected);
  return {};
}

template <class T>
void MixedReader::Pass(uint64_t count, const char* expected) {
  if (is_text()) {
    for (uint64_t i = 0; i < count && ok(); ++i) Number<T>(expected);
  } else if (count <= rest_.size() / sizeof(T)) {
    rest_.remove_prefix(count * sizeof(T));
  } else {
    Complain(expected);
  }
}

}  // namespace plush::tools

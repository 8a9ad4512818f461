// SPDX-License-Identifier: MIT
// Patterns of relative paths, and the files of a folder.
#pragma once

#include "base/result.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace plush::tools {

/// A pattern of relative paths with '/' between names. In a name, `*` stands for any letters and
/// `?` for one; `**` as a whole name stands for any number of folders, also none. Wildcards do not
/// stand for a dot that begins a name: hidden files need to be named.
class FilePattern {
 public:
  explicit FilePattern(std::string text);

  /// O(pattern length times path length).
  bool Matches(std::string_view path) const;
  const std::string& text() const { return text_; }

 private:
  std::string text_;
  bool is_literal_ = false;
};

/// Why `text` cannot be a pattern, or "": it is empty, absolute, or has a name "." or "..".
std::string PatternMistake(std::string_view text);

struct ListedFile {
  std::string path;  ///< relative to the folder
  uint64_t num_bytes = 0;
};

/// All regular files below `folder` but those below `skipped` (a path; may be empty), sorted by
/// path. Follows symbolic links to files, not to folders. Errors: kIo.
Result<std::vector<ListedFile>> ListFiles(const std::string& folder, const std::string& skipped);

}  // namespace plush::tools

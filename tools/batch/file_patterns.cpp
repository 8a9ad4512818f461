// SPDX-License-Identifier: MIT
// Wildcards are matched greedily: after a mismatch only the last star takes one more.
#include "batch/file_patterns.h"

#include <algorithm>
#include <filesystem>
#include <utility>

namespace plush::tools {
namespace {

namespace fs = std::filesystem;

// Matches `pattern` with `text`, both sequences; `star` says which elements of the pattern stand
// for any number of elements of the text, `match` which stand for one.
template <class Sequence, class IsStar, class IsMatch>
bool MatchesGreedily(const Sequence& pattern, const Sequence& text, const IsStar& is_star,
                     const IsMatch& is_match) {
  size_t p = 0;
  size_t t = 0;
  size_t last_star = pattern.size();  // none
  size_t star_end = 0;                // where the last star's elements end in the text
  while (t < text.size()) {
    if (p < pattern.size() && is_star(pattern[p])) {
      last_star = p++;
      star_end = t;
    } else if (p < pattern.size() && is_match(pattern[p], text[t])) {
      ++p;
      ++t;
    } else if (last_star < pattern.size() && is_match(pattern[last_star], text[star_end])) {
      p = last_star + 1;
      t = ++star_end;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && is_star(pattern[p])) ++p;
  return p == pattern.size();
}

bool NameMatches(std::string_view pattern, std::string_view name) {
  if (name.starts_with('.') && !pattern.starts_with('.')) return false;
  return MatchesGreedily(
      pattern, name, [](char c) { return c == '*'; },
      [](char p, char c) { return p == '*' || p == '?' || p == c; });
}

std::vector<std::string_view> NamesOf(std::string_view path) {
  std::vector<std::string_view> names;
  while (true) {
    const size_t slash = std::min(path.find('/'), path.size());
    names.push_back(path.substr(0, slash));
    if (slash == path.size()) return names;
    path.remove_prefix(slash + 1);
  }
}

}  // namespace

FilePattern::FilePattern(std::string text)
    : text_(std::move(text)), is_literal_(text_.find_first_of("*?") == std::string::npos) {}

bool FilePattern::Matches(std::string_view path) const {
  if (is_literal_) return text_ == path;
  return MatchesGreedily(
      NamesOf(text_), NamesOf(path), [](std::string_view name) { return name == "**"; },
      [](std::string_view pattern, std::string_view name) {
        return pattern == "**" ? !name.starts_with('.') : NameMatches(pattern, name);
      });
}

std::string PatternMistake(std::string_view text) {
  if (text.empty()) return "a pattern must not be empty";
  for (const std::string_view name : NamesOf(text)) {
    if (!name.empty() && name != "." && name != "..") continue;
    return "'" + std::string(text) +
           "' must be relative to the root, with a name between slashes and without '.' and '..'";
  }
  return "";
}

Result<std::vector<ListedFile>> ListFiles(const std::string& folder, const std::string& skipped) {
  std::vector<ListedFile> files;
  std::error_code error;
  fs::recursive_directory_iterator it(folder, error);
  const std::string prefix = (fs::path(folder) / "").string();
  for (; !error && it != fs::recursive_directory_iterator(); it.increment(error)) {
    const std::string& path = it->path().native();
    if (path == skipped) it.disable_recursion_pending();
    std::error_code gone;  // a file may vanish while we look, and a link may lead nowhere
    if (!it->is_regular_file(gone)) continue;
    const uint64_t size = it->file_size(gone);
    if (!gone) files.push_back({path.substr(prefix.size()), size});
  }
  if (error) return Error{ExitCode::kIo, "cannot list '" + folder + "': " + error.message()};
  std::ranges::sort(files, {}, &ListedFile::path);
  return files;
}

}  // namespace plush::tools

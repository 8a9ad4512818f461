// SPDX-License-Identifier: MIT
#include "import/mixed_reader.h"

#include "base/text.h"

namespace plush::tools {
namespace {

constexpr std::string_view kBlanks = " \t\r\n";

}  // namespace

bool MixedReader::Line(std::string_view* line) {
  if (rest_.empty()) return false;
  const size_t end = std::min(rest_.find('\n'), rest_.size());
  *line = rest_.substr(0, end);
  rest_.remove_prefix(std::min(end + 1, rest_.size()));
  while (!line->empty() && kBlanks.find(line->back()) != kBlanks.npos) line->remove_suffix(1);
  return true;
}

std::string_view MixedReader::Word() {
  rest_.remove_prefix(std::min(rest_.find_first_not_of(kBlanks), rest_.size()));
  const std::string_view word = rest_.substr(0, rest_.find_first_of(kBlanks));
  rest_.remove_prefix(word.size());
  return word;
}

bool MixedReader::PassLine(std::string_view text) {
  while (!rest_.empty()) {
    const bool found = rest_.starts_with(text);
    std::string_view line;
    Line(&line);
    if (found) return true;
  }
  return false;
}

std::string MixedReader::Quoted(std::string_view words) {
  constexpr size_t kMaxBytes = 40;
  const std::string shown(words.substr(0, kMaxBytes));
  return "'" + shown + (words.size() > kMaxBytes ? "...'" : "'");
}

bool MixedReader::TextNumberEnds() const {
  return rest_.empty() || kBlanks.find(rest_.front()) != kBlanks.npos;
}

void MixedReader::Complain(const std::string& what) {
  if (!ok()) return;
  const std::string_view passed = all_.substr(0, all_.size() - rest_.size());
  const auto line_ends = std::count(passed.begin(), passed.end(), '\n');
  const std::string place =
      is_text() ? "line " + std::to_string(line_ends + (passed.ends_with('\n') ? 0 : 1))
                : "byte " + std::to_string(passed.size());
  const std::string file = path_.empty() ? "" : "'" + path_ + "', ";
  error_ = {ExitCode::kInvalidInput, file + place + ": " + PrintableUtf8(what), "IMPORT_FAILED"};
}

void MixedReader::Refuse(const std::string& what) {
  if (!ok()) return;
  error_ = {ExitCode::kUnsupported, "'" + path_ + "': " + PrintableUtf8(what),
            "IMPORT_UNSUPPORTED"};
}

}  // namespace plush::tools

// SPDX-License-Identifier: MIT
#include "bake/depfile.h"

namespace plush::tools {
namespace {

// Make halves backslashes only before a character that they escape; '$' is doubled, not escaped.
std::string Escaped(const std::string& path) {
  std::string out;
  size_t backslashes = 0;
  for (const char c : path) {
    if (c == ' ' || c == '\t' || c == '#') out.append(backslashes + 1, '\\');
    if (c == '$') out += '$';
    backslashes = c == '\\' ? backslashes + 1 : 0;
    out += c;
  }
  return out;
}

}  // namespace

std::string DepfileText(const std::string& target, const std::vector<std::string>& prerequisites) {
  std::string text = Escaped(target) + ":";
  for (const std::string& prerequisite : prerequisites) {
    if (prerequisite.find_first_of("\r\n") != std::string::npos) continue;
    text += " \\\n  " + Escaped(prerequisite);
  }
  return text + "\n";
}

}  // namespace plush::tools

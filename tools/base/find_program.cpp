// SPDX-License-Identifier: MIT
#include "base/find_program.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <string_view>

namespace plush::tools {
namespace {

bool IsExecutable(const std::string& path) {
  struct stat info = {};
  return ::stat(path.c_str(), &info) == 0 && S_ISREG(info.st_mode) &&
         ::access(path.c_str(), X_OK) == 0;
}

}  // namespace

std::string FindProgram(const std::string& name) {
  if (name.empty()) return "";
  if (name.find('/') != std::string::npos) return IsExecutable(name) ? name : "";
  const char* variable = std::getenv("PATH");
  std::string_view folders = variable == nullptr ? "/usr/bin:/bin" : variable;
  while (true) {
    const size_t end = std::min(folders.find(':'), folders.size());
    const std::string folder(end == 0 ? "." : folders.substr(0, end));
    std::string path = folder + "/" + name;
    if (IsExecutable(path)) return path;
    if (end == folders.size()) return "";
    folders.remove_prefix(end + 1);
  }
}

}  // namespace plush::tools

// SPDX-License-Identifier: MIT
#include "import/side_files.h"

#include <algorithm>
#include <filesystem>

namespace plush::tools {
namespace {

bool IsFile(const std::filesystem::path& path) {
  std::error_code error;
  return std::filesystem::is_regular_file(path, error);
}

}  // namespace

std::string SideFile(const std::string& source, std::string_view name) {
  const std::filesystem::path folder = std::filesystem::path(source).parent_path();
  const auto as_written = (folder / name).lexically_normal();
  if (IsFile(as_written)) return as_written.string();
  std::string with_slashes(name);
  std::ranges::replace(with_slashes, '\\', '/');
  const auto path = (folder / with_slashes).lexically_normal();
  const auto beside = (folder / path.filename()).lexically_normal();
  return (!IsFile(path) && IsFile(beside) ? beside : path).string();
}

bool HasSideFile(const std::string& source, std::string_view name) {
  return IsFile(SideFile(source, name));
}

void AddMissingFiles(const std::set<std::string>& paths, RawScene* scene) {
  constexpr size_t kMaxShown = 5;
  if (paths.empty()) return;
  std::string message = "not found: ";
  size_t num_shown = 0;
  for (const std::string& path : paths) {
    scene->missing.push_back(path);
    if (num_shown++ < kMaxShown) message += (num_shown > 1 ? ", '" : "'") + path + "'";
  }
  if (paths.size() > kMaxShown) {
    message += " and " + std::to_string(paths.size() - kMaxShown) + " others";
  }
  scene->findings.push_back({"IMPORT_FILE_MISSING", paths.size(), message});
}

}  // namespace plush::tools

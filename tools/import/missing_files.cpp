// SPDX-License-Identifier: MIT
#include "import/missing_files.h"

namespace plush::tools {

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

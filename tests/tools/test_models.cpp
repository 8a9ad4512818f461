// SPDX-License-Identifier: MIT
#include "tools/test_models.h"

#include <filesystem>
#include <set>

namespace plush::tests {

std::vector<std::string> MeshesBelow(const std::string& folder) {
  std::set<std::string> paths;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    const std::string extension = entry.path().extension().string();
    if (extension == ".obj" || extension == ".off") paths.insert(entry.path().string());
  }
  return {paths.begin(), paths.end()};
}

}  // namespace plush::tests

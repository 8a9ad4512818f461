// SPDX-License-Identifier: MIT
#include "tools/test_models.h"

#include "tools/paths.h"

#include <catch2/catch.hpp>

#include <filesystem>
#include <set>
#include <utility>

namespace plush::tests {

std::vector<std::string> MeshesBelow(const std::string& folder) {
  std::set<std::string> paths;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    const std::string extension = entry.path().extension().string();
    if (extension == ".obj" || extension == ".off") paths.insert(entry.path().string());
  }
  return {paths.begin(), paths.end()};
}

tools::ImportedModel ImportOrFail(const std::string& path, tools::ImportSettings settings) {
  settings.helper = plush::tests::kImportProgram;
  tools::FindingList findings;
  auto model = tools::ImportModel(path, settings, &findings);
  if (!model.ok()) FAIL(model.error().message);
  return std::move(model.value());
}

}  // namespace plush::tests

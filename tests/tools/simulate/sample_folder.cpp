// SPDX-License-Identifier: MIT
#include "tools/simulate/sample_folder.h"

#include "bake/static_bake.h"
#include "base/files.h"
#include "tools/paths.h"
#include "tools/test_models.h"

#include <catch2/catch.hpp>

#include <filesystem>

namespace plush::tests {
namespace {

tools::ImportedModel Import(const std::string& source) {
  return ImportOrFail(std::string(plush::tests::kSamplesFolder) + "/" + source);
}

std::string PathOf(const TemporaryFolder& folder, const std::string& source) {
  return folder / (std::filesystem::path(source).stem().string() + ".plush");
}

}  // namespace

void BakeSample(const TemporaryFolder& folder, const std::string& source,
                const tools::BakeSettings& settings) {
  tools::FindingList findings;
  const auto baked = tools::Bake(Import(source), settings, &findings);
  if (!baked.ok()) FAIL(baked.error().message);
  REQUIRE(tools::WriteFileAtomically(PathOf(folder, source), baked.value().bytes).ok());
}

void BakeStaticSample(const TemporaryFolder& folder, const std::string& source) {
  tools::FindingList findings;
  const auto baked = tools::BakeStatic(Import(source), {}, &findings);
  if (!baked.ok()) FAIL(baked.error().message);
  REQUIRE(tools::WriteFileAtomically(PathOf(folder, source), baked.value().bytes).ok());
}

}  // namespace plush::tests

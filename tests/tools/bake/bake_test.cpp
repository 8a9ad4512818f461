// SPDX-License-Identifier: MIT
#include "bake/bake.h"

#include "bake/asset_writer.h"
#include "shapes/tet_shapes.h"

#include <catch2/catch.hpp>

#include <cstring>

using namespace plush::tools;

namespace {

std::vector<std::byte> BakeBytes(const ImportedModel& model, const BakeSettings& settings) {
  FindingList findings;
  const auto result = Bake(model, settings, &findings);
  INFO((result.ok() ? "" : result.error().message));
  REQUIRE(result.ok());
  CHECK_FALSE(findings.HasSeverity(Severity::kError));
  return result.value().bytes;
}

}  // namespace

TEST_CASE("A model with tets of its own bakes, with the same bytes on one and two threads") {
  const ImportedModel model = ModelFromTets(plush::test::TetBox(6, 3, 3, 0.1, 0.05));
  BakeSettings settings;
  settings.threads = 1;
  const auto one = BakeBytes(model, settings);
  settings.threads = 2;
  CHECK(one == BakeBytes(model, settings));
  settings.dt = 0.02;
  CHECK_FALSE(one == BakeBytes(model, settings));
}

TEST_CASE("The import mesher needs tets") {
  ImportedModel model = ModelFromTets(plush::test::TetBox(2, 2, 2, 0.1));
  model.tets = {};
  BakeSettings settings;
  settings.mesher = Mesher::kImport;
  FindingList findings;
  const auto result = Bake(model, settings, &findings);
  REQUIRE_FALSE(result.ok());
  CHECK(result.error().exit_code == ExitCode::kUsage);
}

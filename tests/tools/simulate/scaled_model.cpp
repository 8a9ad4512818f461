// SPDX-License-Identifier: MIT
#include "tools/simulate/scaled_model.h"

#include "bake/bake.h"
#include "base/files.h"
#include "import/import.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <utility>

namespace plush::tests {
namespace {

tools::ImportedModel ImportOrFail(const std::string& path, double scale) {
  tools::FindingList findings;
  tools::ImportSettings settings;
  settings.scale = scale;
  settings.helper = PLUSH_IMPORT_EXECUTABLE;
  auto model = tools::ImportModel(path, settings, &findings);
  if (!model.ok()) FAIL(model.error().message);
  return std::move(model.value());
}

double LongestSide(const tools::SurfaceMesh& mesh) {
  REQUIRE_FALSE(mesh.positions.empty());
  tools::Vec3d low = mesh.positions[0];
  tools::Vec3d high = low;
  for (const tools::Vec3d& p : mesh.positions) {
    low = Min(low, p);
    high = Max(high, p);
  }
  const tools::Vec3d extent = high - low;
  return std::max({extent.x, extent.y, extent.z});
}

}  // namespace

void BakeScaled(const std::string& path, const std::string& asset_path) {
  const double scale = 1.0 / LongestSide(ImportOrFail(path, 1.0).surface);
  tools::FindingList findings;
  tools::BakeSettings settings;
  settings.material = {1.0e5, 0.4, 1000.0};
  const auto baked = tools::Bake(ImportOrFail(path, scale), settings, &findings);
  if (!baked.ok()) FAIL(baked.error().message);
  REQUIRE(tools::WriteFileAtomically(asset_path, baked.value().bytes).ok());
}

}  // namespace plush::tests

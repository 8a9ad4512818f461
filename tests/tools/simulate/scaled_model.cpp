// SPDX-License-Identifier: MIT
#include "tools/simulate/scaled_model.h"

#include "bake/bake.h"
#include "base/files.h"
#include "tools/test_models.h"

#include <catch2/catch.hpp>

#include <algorithm>

namespace plush::tests {
namespace {

double LongestSide(const tools::SurfaceMesh& mesh) {
  REQUIRE_FALSE(mesh.positions.empty());
  tools::Vec3d low = mesh.positions[0], high = low;
  for (const tools::Vec3d& p : mesh.positions) {
    low = Min(low, p);
    high = Max(high, p);
  }
  const tools::Vec3d extent = high - low;
  return std::max({extent.x, extent.y, extent.z});
}

}  // namespace

void BakeScaled(const std::string& path, const std::string& asset_path) {
  const double scale = 1.0 / LongestSide(ImportOrFail(path).surface);
  tools::FindingList findings;
  tools::BakeSettings settings = {.material = {1.0e5, 0.4, 1000.0}};
  const auto baked = tools::Bake(ImportOrFail(path, {.scale = scale}), settings, &findings);
  if (!baked.ok()) FAIL(baked.error().message);
  REQUIRE(tools::WriteFileAtomically(asset_path, baked.value().bytes).ok());
}

}  // namespace plush::tests

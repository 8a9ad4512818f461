// SPDX-License-Identifier: MIT
#include "simulate/skin_weights.h"

#include "plush/format/tet_block.h"

#include "tools/simulate/ball_asset.h"

#include <catch2/catch.hpp>

#include <cmath>

TEST_CASE("Skin weights are the baked ones within rounding, never negative, of sum one") {
  const plush::tests::TemporaryFolder folder;
  const plush::Asset asset = plush::tests::OpenOrFail(plush::tests::WriteBall(folder));
  const auto skin = plush::tools::MakeSkinWeights(asset);
  REQUIRE(skin.weights.size() == asset.visual().positions.size());
  CHECK(skin.largest_change < 1.0e-6f);
  for (size_t v = 0; v < skin.weights.size(); ++v) {
    const plush::Vec4& w = skin.weights[v];
    const plush::Vec4& baked = asset.visual().weights[v];
    const plush::Tet& tet = asset.simulation().tets[asset.visual().tet_ids[v]];
    CHECK(std::min({w.x, w.y, w.z, w.w}) >= 0.0f);
    const double sum = static_cast<double>(w.x) + w.y + w.z + w.w;
    CHECK(std::fabs(sum - 1.0) < 1.0e-7);
    CHECK(std::fabs(w.x - baked.x) < 1.0e-6f);
    CHECK(std::fabs(w.w - baked.w) < 1.0e-6f);
    CHECK(skin.joints[v][0] == (w.x > 0.0f ? tet.a : 0));
    CHECK(skin.joints[v][3] == (w.w > 0.0f ? tet.d : 0));
  }
}

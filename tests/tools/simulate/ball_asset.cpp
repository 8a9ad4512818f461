// SPDX-License-Identifier: MIT
#include "tools/simulate/ball_asset.h"

#include "bake/asset_writer.h"
#include "bake/bake_content.h"
#include "base/files.h"
#include "base/float_rounding.h"
#include "embed/embedding.h"
#include "shapes/shape_asset.h"
#include "shapes/tet_shapes.h"
#include "simulate/open_asset.h"

#include <catch2/catch.hpp>

namespace plush::tests {

std::string WriteBall(const TemporaryFolder& folder, const std::string& name) {
  const tools::TetMesh cage = test::TetBox(4, 4, 4, 0.25);
  tools::AssetContent content = test::ContentOf(cage, {.young = 2.0e4});
  tools::SurfaceMesh ball = MakeSphere(0.4, 10, 16, {0.5, 0.5, 0.5});
  for (Vec3d& position : ball.positions) position = tools::RoundToFloat(position);
  for (const Vec3d& p : ball.positions) {
    ball.uvs.push_back({static_cast<float>(p.x), static_cast<float>(0.25 * p.y)});
  }
  content.positions.clear();  // FillVisual appends
  content.normals.clear();
  content.indices.clear();
  tools::FillVisual(ball, tools::EmbedPoints(ball.positions, cage), &content);
  const auto num_indices = static_cast<uint32_t>(content.indices.size());
  content.parts = {{"cap", "blue felt", "root", 0, 48},
                   {"rest", "fur", "root", 48, num_indices - 48}};
  const auto bytes = tools::WriteAsset(content);
  if (!bytes.ok()) FAIL(bytes.error().message);
  const std::string path = folder / name;
  const auto written = tools::WriteFileAtomically(path, bytes.value());
  if (!written.ok()) FAIL(written.error().message);
  return path;
}

Asset OpenOrFail(const std::string& path) {
  auto asset = tools::OpenAsset(path);
  if (!asset.ok()) FAIL(asset.error().message);
  return std::move(asset.value());
}

}  // namespace plush::tests

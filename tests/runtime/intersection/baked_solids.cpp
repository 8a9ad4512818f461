// SPDX-License-Identifier: MIT
#include "runtime/intersection/baked_solids.h"

#include "bake/bake.h"
#include "import/import.h"
#include "tools/procedural_meshes.h"

#include <catch2/catch.hpp>

#include <utility>

namespace plush::test {

BakedSolid BakeSolid(const tools::SurfaceMesh& mesh, uint32_t tets) {
  tools::ImportedModel model = {.surface = mesh};
  model.surface.parts = {
      {"solid", "", "", 0, static_cast<uint32_t>(model.surface.triangles.size())}};
  model.format = "solid";
  tools::BakeSettings settings = {.cage = {.target_tets = tets}, .threads = 1};
  tools::FindingList findings;
  auto baked = tools::Bake(model, settings, &findings);
  if (!baked.ok()) FAIL(baked.error().message);
  return {SurfaceBody(std::move(baked.value().bytes)), baked.value().summary.split_tets};
}

tools::SurfaceMesh MakeU(double width) {
  const double outline[8][2] = {{0.0, 0.0},         {1.0, 0.0},   {1.0, 1.3},   {1.0 - width, 1.3},
                                {1.0 - width, 0.3}, {width, 0.3}, {width, 1.3}, {0.0, 1.3}};
  tools::SurfaceMesh mesh;
  for (const double z : {0.0, 0.4})
    for (const auto& p : outline) mesh.positions.push_back({p[0], p[1], z});
  const uint32_t front[6][3] = {{2, 3, 4}, {1, 2, 4}, {0, 1, 4}, {0, 4, 5}, {0, 5, 6}, {0, 6, 7}};
  for (const auto& t : front) {
    mesh.triangles.push_back({t[0] + 8, t[1] + 8, t[2] + 8});
    mesh.triangles.push_back({t[0], t[2], t[1]});
  }
  for (uint32_t i = 0; i < 8; ++i) {
    const uint32_t j = (i + 1) % 8;
    mesh.triangles.push_back({i, j, j + 8});
    mesh.triangles.push_back({i, j + 8, i + 8});
  }
  tests::CompleteMesh(&mesh);
  return mesh;
}

}  // namespace plush::test

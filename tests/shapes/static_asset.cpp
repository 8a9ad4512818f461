// SPDX-License-Identifier: MIT
#include "shapes/static_asset.h"

#include "bake/materials.h"
#include "bake/static_bake.h"

#include <catch2/catch.hpp>

namespace plush::test {

tools::StaticContent StaticContentOf(const tools::SurfaceMesh& surface,
                                     std::optional<MeshSides> sides) {
  tools::StaticContent content = {.mesh = tools::MakeStaticMesh(surface)};
  content.sides = sides.value_or(content.mesh.is_closed ? MeshSides::kSolid : MeshSides::kFront);
  tools::FindingList findings;
  content.materials = tools::MaterialsOf(surface, {}, {}, &findings);
  const auto of_source = tools::TriangleMaterials(surface, content.materials);
  for (const uint32_t t : content.mesh.source_triangles) {
    content.triangle_materials.push_back(of_source[t]);
  }
  content.settings_json = "{}";
  return content;
}

std::vector<std::byte> StaticBytesOf(const tools::SurfaceMesh& surface,
                                     std::optional<MeshSides> sides) {
  auto bytes = tools::WriteStaticAsset(StaticContentOf(surface, sides));
  if (!bytes.ok()) FAIL(bytes.error().message);
  return std::move(bytes.value());
}

}  // namespace plush::test

// SPDX-License-Identifier: MIT
// From an imported model to the bytes of a .plush file with a static mesh.
#pragma once

#include "bake/bake.h"
#include "bake/materials.h"
#include "static_mesh/static_mesh.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace plush::tools {

/// The words of --sides. Nothing: as the mesh is.
inline constexpr NamedValue<std::optional<MeshSides>> kSides[] = {{"auto", std::nullopt},
                                                                  {"solid", MeshSides::kSolid},
                                                                  {"front", MeshSides::kFront},
                                                                  {"both", MeshSides::kBoth}};

/// The settings of `plush bake --static`.
struct StaticSettings {
  std::optional<MeshSides> sides;  ///< nullopt: kSolid if the mesh bounds a volume, else kFront
  Material material;               ///< friction and restitution of materials that the map lacks
  std::string materials_json;      ///< text of the material map, or empty
  ImportSettings import;           ///< the file records scale, up and unit_m
  int threads = 0;                 ///< 0: all cores; the bytes do not depend on it
};

struct StaticSummary {
  size_t vertices = 0;
  size_t triangles = 0;
  size_t source_triangles = 0;  ///< of the model
  uint64_t open_edges = 0;
  size_t materials = 0;
  MeshSides sides = MeshSides::kFront;
};

struct StaticBakeResult {
  std::vector<std::byte> bytes;  ///< the .plush file
  StaticSummary summary;
};

/// Index of the material of every triangle of `surface` in MaterialsOf(surface) (num_triangles x
/// 1).
std::vector<uint16_t> TriangleMaterials(const SurfaceMesh& surface,
                                        const std::vector<NamedMaterial>& materials);

/// Bakes the surface of `model`. Adds MESH_..., STATIC_... and MATERIAL_... findings; open borders
/// are reported by STATIC_... alone. Same model and settings, same bytes. Errors: kInvalidInput (no
/// triangle of positive area, coordinates beyond the format's range), kUsage (the side-car is
/// wrong), kLimit. Times its stages if there is a clock.
Result<StaticBakeResult> BakeStatic(const ImportedModel& model, const StaticSettings& settings,
                                    FindingList* findings, StageClock* clock = nullptr);

}  // namespace plush::tools

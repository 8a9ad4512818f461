// SPDX-License-Identifier: MIT
// Checks a surface, makes its static mesh, chooses its sides and lays out the file.
#include "bake/static_bake.h"

#include "bake/asset_writer.h"
#include "bake/materials.h"
#include "base/float_rounding.h"
#include "base/text.h"
#include "mesh/surface_checks.h"

#include <nlohmann/json.hpp>
#include <tbb/global_control.h>
#include <tbb/parallel_invoke.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string_view>
#include <utility>

namespace plush::tools {
namespace {

constexpr char kOpenBoundary[] = "MESH_OPEN_BOUNDARY";

// Looks for defects of the mesh. Terrain is open by nature: that is no defect.
void CheckMesh(const SurfaceMesh& surface, FindingList* findings) {
  SurfaceMesh rounded = surface;
  for (Vec3d& position : rounded.positions) position = RoundToFloat(position);
  FindingList found;
  CheckSurface(rounded, {.self_intersections = false}, &found);
  for (const Finding& finding : found.all()) {
    if (finding.code == kOpenBoundary) continue;
    findings->Add(finding.code, finding.count, finding.message, finding.places);
  }
}

Result<std::vector<NamedMaterial>> ReadMaterials(const SurfaceMesh& surface,
                                                 const StaticSettings& settings,
                                                 FindingList* findings) {
  std::vector<NamedMaterial> map;
  if (!settings.materials_json.empty()) {
    auto parsed = ParseMaterialMap(settings.materials_json, settings.material);
    if (!parsed.ok()) return parsed.error().WithContext("material map");
    map = std::move(parsed.value());
  }
  auto materials = MaterialsOf(surface, map, settings.material, findings);
  if (materials.size() <= kMaxMaterials) return materials;
  return Error{ExitCode::kLimit,
               "the source has " + std::to_string(materials.size()) +
                   " materials, more than the limit of " + std::to_string(kMaxMaterials),
               ""};
}

MeshSides ChooseSides(const StaticMeshData& mesh, std::optional<MeshSides> wanted,
                      FindingList* findings) {
  const MeshSides sides = wanted.value_or(mesh.is_closed ? MeshSides::kSolid : MeshSides::kFront);
  if (mesh.is_closed) return sides;
  const std::string open = std::to_string(mesh.open_edges) +
                           " sides of triangles have no neighbour that faces the same way";
  if (!wanted) {
    findings->Add("STATIC_FRONT", mesh.open_edges, open + ", so the sides are 'front'");
  } else if (sides == MeshSides::kSolid) {
    findings->Add("STATIC_NOT_CLOSED", mesh.open_edges, open + ", but the sides are 'solid'");
  }
  return sides;
}

std::string SettingsJson(const ImportedModel& model, const StaticSettings& settings,
                         MeshSides sides) {
  nlohmann::json json = {
      {"scale", settings.import.scale},
      {"sides", NameOf<std::optional<MeshSides>>(kSides, sides)},
      {"static", true},
      {"unit_m", model.unit_m},
      {"up", std::string(1, model.up)},
      {"up_option", NameOf<UpAxis>(kUpAxes, settings.import.up)},
  };
  if (settings.material.friction) json["friction"] = *settings.material.friction;
  if (settings.material.restitution) json["restitution"] = *settings.material.restitution;
  if (!settings.materials_json.empty()) {
    json["material_map"] = nlohmann::json::parse(settings.materials_json, nullptr, false);
  }
  return json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace

std::vector<uint16_t> TriangleMaterials(const SurfaceMesh& surface,
                                        const std::vector<NamedMaterial>& materials) {
  std::map<std::string_view, uint16_t> numbers;
  for (const NamedMaterial& material : materials) {
    numbers.emplace(material.name, static_cast<uint16_t>(numbers.size()));
  }
  std::vector<uint16_t> of_triangles(surface.triangles.size(), 0);
  for (const SurfacePart& part : surface.parts) {
    const auto begin = of_triangles.begin() + part.first_triangle;
    std::fill(begin, begin + part.num_triangles, numbers.at(part.material));
  }
  return of_triangles;
}

Result<StaticBakeResult> BakeStatic(const ImportedModel& model, const StaticSettings& settings,
                                    FindingList* findings, StageClock* clock) {
  StageClock own_clock;
  if (clock == nullptr) clock = &own_clock;
  std::optional<tbb::global_control> threads;
  if (settings.threads > 0) {
    threads.emplace(tbb::global_control::max_allowed_parallelism,
                    static_cast<size_t>(settings.threads));
  }
  clock->Begin("mesh");
  StaticContent content;
  Result<std::vector<NamedMaterial>> materials = ReadMaterials(model.surface, settings, findings);
  if (!materials.ok()) return materials.error();
  content.materials = std::move(materials.value());
  tbb::parallel_invoke([&] { CheckMesh(model.surface, findings); },
                       [&] { content.mesh = MakeStaticMesh(model.surface); });
  clock->Begin("encode");
  if (content.mesh.triangles.empty()) {
    return Error{ExitCode::kInvalidInput, "no triangle has a positive area", "MESH_EMPTY"};
  }
  content.sides = ChooseSides(content.mesh, settings.sides, findings);
  const std::vector<uint16_t> of_source = TriangleMaterials(model.surface, content.materials);
  for (const uint32_t t : content.mesh.source_triangles) {
    content.triangle_materials.push_back(of_source[t]);
  }
  content.settings_json = SettingsJson(model, settings, content.sides);
  content.source_hash = model.source_hash;
  Result<std::vector<std::byte>> bytes = WriteStaticAsset(content);
  if (!bytes.ok()) return bytes.error();
  clock->End();
  const StaticSummary summary = {content.mesh.positions.size(),  content.mesh.triangles.size(),
                                 model.surface.triangles.size(), content.mesh.open_edges,
                                 content.materials.size(),       content.sides};
  return StaticBakeResult{std::move(bytes.value()), summary};
}

}  // namespace plush::tools

// SPDX-License-Identifier: MIT
// Reads the material map, and gives each tet the material of the triangles in it; tets without
// triangles get theirs by a breadth-first search over faces.
#include "bake/materials.h"

#include "base/json_object.h"
#include "base/material_limits.h"
#include "base/text.h"
#include "mesh/tet_faces.h"

#include <nlohmann/json.hpp>

#include <map>
#include <set>
#include <utility>

namespace plush::tools {
namespace {

constexpr size_t kMaxEntries = 65536;

NamedMaterial ReadEntry(const nlohmann::json& value, const std::string& path,
                        const Material& defaults, std::string* mistake) {
  const JsonObject entry(
      value, path, {"name", "young", "poisson", "density", "friction", "restitution"}, mistake);
  NamedMaterial read = {"", defaults};
  if (!entry.String("name", &read.name)) entry.Mistake("name", "is missing");
  entry.Number("young", kYoungRange, &read.material.young);
  entry.Number("poisson", kPoissonRange, &read.material.poisson);
  entry.Number("density", kDensityRange, &read.material.density);
  double coefficient = 0.0;
  if (entry.Number("friction", kFrictionRange, &coefficient)) read.material.friction = coefficient;
  if (entry.Number("restitution", kRestitutionRange, &coefficient)) {
    read.material.restitution = coefficient;
  }
  return read;
}

std::vector<std::string> NamesOf(const SurfaceMesh& surface) {
  std::vector<std::string> names;
  std::set<std::string_view> known;
  for (const SurfacePart& part : surface.parts) {
    if (known.insert(part.material).second) names.push_back(part.material);
  }
  if (names.empty()) names.emplace_back();
  return names;
}

constexpr uint32_t kNone = UINT32_MAX;

// The material with the largest area in each tet, else kNone. Of each triangle, a third counts for
// the tet of each corner.
std::vector<uint32_t> CarriedMaterials(const SurfaceMesh& surface,
                                       const std::vector<NamedMaterial>& materials,
                                       std::span<const uint32_t> vertex_tets, size_t num_tets) {
  std::map<std::string_view, uint16_t> index_of_name;
  for (size_t i = 0; i < materials.size(); ++i) {
    index_of_name.emplace(materials[i].name, static_cast<uint16_t>(i));
  }
  std::map<std::pair<uint32_t, uint16_t>, double> areas;  // by tet and material [m^2]
  for (const SurfacePart& part : surface.parts) {
    const uint16_t material = index_of_name.at(part.material);
    for (uint32_t i = part.first_triangle; i < part.first_triangle + part.num_triangles; ++i) {
      const auto& [a, b, c] = surface.triangles[i];
      const Vec3d& x = surface.positions[a];
      const double doubled = Length(Cross(surface.positions[b] - x, surface.positions[c] - x));
      for (const uint32_t v : {a, b, c}) areas[{vertex_tets[v], material}] += doubled / 6.0;
    }
  }
  std::vector<uint32_t> carried(num_tets, kNone);
  std::vector<double> largest(num_tets, 0.0);
  for (const auto& [key, area] : areas) {
    const auto& [tet, material] = key;
    if (carried[tet] != kNone && !(area > largest[tet])) continue;
    carried[tet] = material;
    largest[tet] = area;
  }
  return carried;
}

// Breadth-first search over faces from the tets that have a source (themselves). The queue is in
// ascending order of source within each level, so each tet takes the lowest of its nearest sources.
void SpreadSources(const TetFaces& faces, std::vector<uint32_t>* sources) {
  std::vector<uint32_t> queue;
  for (uint32_t t = 0; t < sources->size(); ++t) {
    if ((*sources)[t] != kNone) queue.push_back(t);
  }
  std::vector<bool> passed(faces.num_faces(), false);
  for (size_t i = 0; i < queue.size(); ++i) {
    const uint32_t tet = queue[i];
    for (const uint32_t face : faces.of_tet[tet]) {
      if (passed[face]) continue;
      passed[face] = true;
      for (const uint32_t other : faces.TetsAt(face)) {
        if ((*sources)[other] != kNone) continue;
        (*sources)[other] = (*sources)[tet];
        queue.push_back(other);
      }
    }
  }
}

}  // namespace

Result<std::vector<NamedMaterial>> ParseMaterialMap(std::string_view json,
                                                    const Material& defaults) {
  const auto broken = [](const std::string& what) {
    return Error{ExitCode::kUsage, what, "MATERIAL_INVALID"};
  };
  const Result<nlohmann::json> document = ParseJson(json);
  if (!document.ok()) return broken(document.error().message);
  std::string mistake;
  const JsonObject reader(document.value(), "", {"materials"}, &mistake);
  if (!reader.Has("materials")) reader.Mistake("materials", "is missing");
  std::vector<NamedMaterial> map;
  std::set<std::string> names;
  for (const nlohmann::json& value : reader.Array("materials", kMaxEntries)) {
    const std::string path = "materials[" + std::to_string(map.size()) + "]";
    map.push_back(ReadEntry(value, path, defaults, &mistake));
    if (!names.insert(map.back().name).second && mistake.empty()) {
      mistake = path + ".name: material '" + map.back().name + "' is given twice";
    }
  }
  if (!mistake.empty()) return broken(mistake);
  return map;
}

std::vector<NamedMaterial> MaterialsOf(const SurfaceMesh& surface,
                                       const std::vector<NamedMaterial>& map,
                                       const Material& defaults, FindingList* findings) {
  std::map<std::string_view, const Material*> entries;
  for (const NamedMaterial& entry : map) entries.emplace(entry.name, &entry.material);
  const std::vector<std::string> names = NamesOf(surface);
  std::vector<NamedMaterial> materials;
  for (const std::string& name : names) {
    const auto entry = entries.find(name);
    materials.push_back({name, entry == entries.end() ? defaults : *entry->second});
    if (entry != entries.end()) entries.erase(entry);
  }
  const std::vector<std::string_view> candidates(names.begin(), names.end());
  for (const auto& [name, unused] : entries) {
    findings->Add("MATERIAL_UNMATCHED", 1, UnknownNameMessage("material", name, candidates));
  }
  return materials;
}

std::vector<uint16_t> ChooseTetMaterials(const SurfaceMesh& surface,
                                         const std::vector<NamedMaterial>& materials,
                                         std::span<const uint32_t> vertex_tets,
                                         const TetMesh& cage) {
  std::vector<uint16_t> result(cage.tets.size(), 0);
  if (materials.size() == 1) return result;
  const std::vector<uint32_t> carried =
      CarriedMaterials(surface, materials, vertex_tets, cage.tets.size());
  std::vector<uint32_t> sources(cage.tets.size(), kNone);
  for (uint32_t t = 0; t < sources.size(); ++t) {
    if (carried[t] != kNone) sources[t] = t;
  }
  SpreadSources(BuildTetFaces(cage.tets), &sources);
  for (size_t t = 0; t < result.size(); ++t) {
    if (sources[t] != kNone) result[t] = static_cast<uint16_t>(carried[sources[t]]);
  }
  return result;
}

}  // namespace plush::tools

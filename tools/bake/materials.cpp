// SPDX-License-Identifier: MIT
// Reads the material map, and gives each tet the material of the triangles in it; tets without
// triangles get theirs by a breadth-first search over faces.
#include "bake/materials.h"

#include "base/json_object.h"
#include "base/material_limits.h"
#include "base/text.h"
#include "mesh/tet_faces.h"

#include <algorithm>
#include <map>
#include <set>

namespace plush::tools {
namespace {

constexpr size_t kMaxEntries = 65536;

NamedMaterial ReadEntry(const nlohmann::json& value, const std::string& path,
                        const Material& defaults, std::string* mistake) {
  const JsonObject entry(value, path, {"name", "young", "poisson", "density"}, mistake);
  NamedMaterial read = {"", defaults};
  if (!entry.String("name", &read.name)) entry.Mistake("name", "is missing");
  entry.Number("young", kYoungRange, &read.material.young);
  entry.Number("poisson", kPoissonRange, &read.material.poisson);
  entry.Number("density", kDensityRange, &read.material.density);
  return read;
}

// The names of the source's materials, without repeats, in the order of their first use.
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

// Area of one material in one tet.
struct CarriedArea {
  uint32_t tet;
  uint16_t material;
  double area;  // [m^2]
};

// A third of each triangle for the tet of each corner, in the order of the triangles.
std::vector<CarriedArea> CornerAreas(const SurfaceMesh& surface,
                                     const std::vector<NamedMaterial>& materials,
                                     std::span<const uint32_t> vertex_tets) {
  std::map<std::string_view, uint16_t> index_of_name;
  for (size_t i = 0; i < materials.size(); ++i) {
    index_of_name.emplace(materials[i].name, static_cast<uint16_t>(i));
  }
  std::vector<CarriedArea> areas;
  areas.reserve(3 * surface.triangles.size());
  for (const SurfacePart& part : surface.parts) {
    const uint16_t material = index_of_name.at(part.material);
    for (uint32_t i = part.first_triangle; i < part.first_triangle + part.num_triangles; ++i) {
      const auto& [a, b, c] = surface.triangles[i];
      const Vec3d& x = surface.positions[a];
      const double doubled = Length(Cross(surface.positions[b] - x, surface.positions[c] - x));
      for (const uint32_t v : {a, b, c}) areas.push_back({vertex_tets[v], material, doubled / 6.0});
    }
  }
  return areas;
}

// The material of each tet with triangles, else kNone.
std::vector<uint32_t> CarriedMaterials(std::vector<CarriedArea> areas, size_t num_tets) {
  // Stable, to keep the order of the triangles within a tet and a material.
  std::stable_sort(areas.begin(), areas.end(), [](const CarriedArea& a, const CarriedArea& b) {
    return a.tet != b.tet ? a.tet < b.tet : a.material < b.material;
  });
  std::vector<uint32_t> materials(num_tets, kNone);
  std::vector<double> largest(num_tets, 0.0);
  for (size_t i = 0; i < areas.size();) {
    const auto [tet, material, first_area] = areas[i];
    double sum = 0.0;
    for (; i < areas.size() && areas[i].tet == tet && areas[i].material == material; ++i) {
      sum += areas[i].area;
    }
    if (materials[tet] != kNone && !(sum > largest[tet])) continue;
    materials[tet] = material;
    largest[tet] = sum;
  }
  return materials;
}

// The tets at `reached` faces that have no source yet, ascending.
std::vector<uint32_t> TetsBehind(const TetFaces& faces, std::span<const uint32_t> reached,
                                 const std::vector<uint32_t>& sources) {
  std::vector<uint32_t> tets;
  for (const uint32_t face : reached) {
    for (const uint32_t tet : faces.TetsAt(face)) {
      if (sources[tet] == kNone) tets.push_back(tet);
    }
  }
  std::sort(tets.begin(), tets.end());
  tets.erase(std::unique(tets.begin(), tets.end()), tets.end());
  return tets;
}

// Spreads over faces from the tets that have a source (themselves), level by level. Each tet takes
// the lowest source of its neighbours in the level before, which is the lowest of all nearest.
void SpreadSources(const TetFaces& faces, std::vector<uint32_t>* sources) {
  std::vector<uint32_t> level;
  for (uint32_t t = 0; t < sources->size(); ++t) {
    if ((*sources)[t] != kNone) level.push_back(t);
  }
  std::vector<uint32_t> source_of_face(faces.num_faces(), kNone);
  std::vector<uint32_t> reached;  // faces
  while (!level.empty()) {
    reached.clear();
    for (const uint32_t tet : level) {
      for (const uint32_t face : faces.of_tet[tet]) {
        if (source_of_face[face] == kNone) reached.push_back(face);
        source_of_face[face] = std::min(source_of_face[face], (*sources)[tet]);
      }
    }
    level = TetsBehind(faces, reached, *sources);
    for (const uint32_t tet : level) {
      for (const uint32_t face : faces.of_tet[tet]) {
        (*sources)[tet] = std::min((*sources)[tet], source_of_face[face]);
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
      CarriedMaterials(CornerAreas(surface, materials, vertex_tets), cage.tets.size());
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

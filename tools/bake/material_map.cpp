// SPDX-License-Identifier: MIT
#include "bake/material_map.h"

#include "base/json_object.h"
#include "base/nearest_name.h"

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
  entry.Number("young", {1.0e-3, 1.0e13}, &read.material.young);
  entry.Number("poisson", {0.0, 0.499}, &read.material.poisson);
  entry.Number("density", {1.0e-6, 1.0e6}, &read.material.density);
  return read;
}

// The names of the source's materials, each once, in the order of their first use.
std::vector<std::string> NamesOf(const SurfaceMesh& surface) {
  std::vector<std::string> names;
  std::set<std::string_view> known;
  for (const SurfacePart& part : surface.parts) {
    if (known.insert(part.material).second) names.push_back(part.material);
  }
  if (names.empty()) names.emplace_back();
  return names;
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

}  // namespace plush::tools

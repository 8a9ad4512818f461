// SPDX-License-Identifier: MIT
// Reads what Assimp drops from glTF files, and merges it into the scene that Assimp read.
// Source: Khronos Group. glTF 2.0 Specification. 2021
#include "import/gltf_document.h"
#include "import/gltf_skins.h"
#include "import/raw_scene.h"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <string_view>
#include <utility>
#include <vector>

namespace plush::tools {
namespace {

using nlohmann::json;

// Data that a primitive adds to its mesh.
struct SidePrimitive {
  std::string mesh_name;    // as in the file, may be empty
  std::string assimp_name;  // Assimp's name for its mesh
  std::vector<Vec3> positions;
  std::vector<Vec2> uvs;
  std::vector<VertexAttribute> attributes;
  GltfPrimitive source;
  bool used = false;
};

// Assimp's name for an object without one, such as "meshes[3]".
std::string ElementName(const char* array, size_t index) {
  return std::string(array).append("[").append(std::to_string(index)).append("]");
}

const json& Member(const json& object, const std::string& key) {
  static const json kNone;
  const auto it = object.find(key);
  return it != object.end() ? *it : kNone;
}

std::string NameOf(const json& object) {
  const json& name = Member(object, "name");
  return name.is_string() ? name.get<std::string>() : std::string();
}

void AddExtras(const json& object, const std::string& owner, RawScene* scene) {
  const json& extras = Member(object, "extras");
  if (extras.is_null()) return;
  scene->extras.push_back({owner, extras.dump(-1, ' ', false, json::error_handler_t::replace)});
}

void AddAllExtras(const GltfDocument& document, RawScene* scene) {
  const auto shown = GltfDocument::Number(document.root(), "scene", 0);
  const json& scenes = document.Top("scenes");
  if (shown && *shown < scenes.size() && scenes[*shown].is_object()) {
    AddExtras(scenes[*shown], "scene", scene);
  }
  for (const auto& [array, kind] : {std::pair("nodes", "node:"), std::pair("meshes", "mesh:"),
                                    std::pair("materials", "material:")}) {
    const json& objects = document.Top(array);
    for (size_t i = 0; i < objects.size(); ++i) {
      if (!objects[i].is_object()) continue;
      const std::string name = NameOf(objects[i]);
      const std::string place = ElementName(array, i);
      AddExtras(objects[i], std::string(kind).append(name.empty() ? place : name), scene);
    }
  }
}

// The elements as vectors; empty if they have another number of components.
template <class Vector>
std::vector<Vector> ToVectors(const std::optional<AccessorValues>& accessor) {
  if (!accessor || accessor->num_components * sizeof(float) != sizeof(Vector)) return {};
  std::vector<Vector> result(accessor->count);
  const size_t num_bytes = result.size() * sizeof(Vector);
  if (num_bytes > 0) {
    std::memcpy(static_cast<void*>(result.data()), accessor->values.data(), num_bytes);
  }
  return result;
}

// A vector attribute becomes one channel per component.
void AddChannels(const std::string& name, const AccessorValues& accessor,
                 std::vector<VertexAttribute>* attributes) {
  const size_t n = accessor.num_components;
  for (size_t k = 0; k < n; ++k) {
    VertexAttribute& attribute = attributes->emplace_back();
    attribute.name = n == 1 ? name : name + "." + "xyzw"[k];
    for (size_t i = 0; i < accessor.count; ++i) {
      attribute.values.push_back(accessor.values[i * n + k]);
    }
  }
}

SidePrimitive ReadPrimitive(const json& primitive, GltfDocument* document) {
  SidePrimitive side;
  const json& attributes = Member(primitive, "attributes");
  if (!attributes.is_object()) return side;
  side.positions = ToVectors<Vec3>(document->ReadAccessor(Member(attributes, "POSITION")));
  if (side.positions.empty()) return side;
  side.uvs = ToVectors<Vec2>(document->ReadAccessor(Member(attributes, "TEXCOORD_0")));
  for (const auto& [name, index] : attributes.items()) {
    if (!name.starts_with('_')) continue;
    const auto accessor = document->ReadAccessor(index);
    if (accessor && accessor->count == side.positions.size() && accessor->num_components <= 4) {
      AddChannels(name, *accessor, &side.attributes);
    }
  }
  return side;
}

std::vector<SidePrimitive> ReadPrimitives(GltfDocument* document) {
  std::vector<SidePrimitive> sides;
  const json& meshes = document->Top("meshes");
  for (size_t m = 0; m < meshes.size(); ++m) {
    const json& primitives = Member(meshes[m], "primitives");
    if (!meshes[m].is_object() || !primitives.is_array()) continue;
    const std::string name = NameOf(meshes[m]);
    for (size_t p = 0; p < primitives.size(); ++p) {
      if (!primitives[p].is_object()) continue;
      SidePrimitive side = ReadPrimitive(primitives[p], document);
      side.mesh_name = name;
      side.source = {static_cast<uint32_t>(m), static_cast<uint32_t>(p)};
      side.assimp_name = name.empty() ? ElementName("meshes", m) : name;
      if (primitives.size() > 1) side.assimp_name.append("-").append(std::to_string(p));
      sides.push_back(std::move(side));
    }
  }
  return sides;
}

bool SamePositions(const SidePrimitive& side, const RawMesh& mesh) {
  return std::memcmp(side.positions.data(), mesh.positions.data(),
                     mesh.positions.size() * sizeof(Vec3)) == 0;
}

// The best unused primitive: the same positions and name, else the same positions, else the same
// name. Null if there is none.
SidePrimitive* FindPrimitive(const RawMesh& mesh, std::vector<SidePrimitive>* sides) {
  SidePrimitive* best = nullptr;
  int best_score = 0;
  for (SidePrimitive& side : *sides) {
    if (side.used || side.positions.size() != mesh.positions.size()) continue;
    const bool same_name = side.assimp_name == mesh.name;
    if (!same_name && best_score >= 2) continue;
    const int score = (SamePositions(side, mesh) ? 2 : 0) + (same_name ? 1 : 0);
    if (score <= best_score) continue;
    best = &side;
    best_score = score;
    if (score == 3) break;
  }
  return best;
}

void Merge(SidePrimitive* side, RawMesh* mesh) {
  side->used = true;
  if (!side->mesh_name.empty()) mesh->name = side->mesh_name;
  if (side->uvs.size() == mesh->positions.size()) mesh->uvs = std::move(side->uvs);
  std::move(side->attributes.begin(), side->attributes.end(), std::back_inserter(mesh->attributes));
}

}  // namespace

void AddGltfSideData(const std::string& path, RawScene* scene) {
  Result<GltfDocument> document = GltfDocument::Open(path);
  if (!document.ok()) return;
  AddAllExtras(document.value(), scene);
  std::vector<SidePrimitive> sides = ReadPrimitives(&document.value());
  std::vector<GltfPrimitive> sources(scene->meshes.size());
  for (size_t i = 0; i < sources.size(); ++i) {
    RawMesh& mesh = scene->meshes[i];
    if (mesh.positions.empty()) continue;
    SidePrimitive* side = FindPrimitive(mesh, &sides);
    if (side == nullptr) continue;
    sources[i] = side->source;
    Merge(side, &mesh);
  }
  AddGltfSkins(sources, &document.value(), scene);
}

}  // namespace plush::tools

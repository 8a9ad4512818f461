// SPDX-License-Identifier: MIT
// Writes a sample model as binary glTF 2.0: one mesh, one primitive per material.
// Source: the glTF 2.0 specification, through tools/export/gltf_writer.h.

#include "export/gltf_writer.h"
#include "model.h"

#include <cstdint>

namespace plush::samples {
namespace {

using nlohmann::json;
using tools::GltfComponent;
using tools::GltfTarget;
using tools::GltfWriter;

constexpr uint32_t kNone = UINT32_MAX;

/// Triangles of one material and the vertices that they use.
struct Primitive {
  std::vector<uint32_t> vertices;  // indices into the model's mesh
  std::vector<uint32_t> corners;   // indices into `vertices`
};

Primitive CollectPrimitive(const ModelMesh& mesh, size_t material) {
  Primitive primitive;
  std::vector<uint32_t> new_index(mesh.surface.positions.size(), kNone);
  for (size_t t = 0; t < mesh.surface.triangles.size(); ++t) {
    if (mesh.material_of_triangle[t] != material) continue;
    for (const uint32_t vertex : mesh.surface.triangles[t]) {
      if (new_index[vertex] == kNone) {
        new_index[vertex] = static_cast<uint32_t>(primitive.vertices.size());
        primitive.vertices.push_back(vertex);
      }
      primitive.corners.push_back(new_index[vertex]);
    }
  }
  return primitive;
}

template <class T>
uint32_t AddVertices(const std::vector<T>& values, const char* type, GltfWriter* writer) {
  return writer->AddArray(std::span<const T>(values), GltfTarget::kVertices, GltfComponent::kFloat,
                          type);
}

uint32_t AddIndices(const Primitive& primitive, GltfWriter* writer) {
  const std::vector<uint32_t>& corners = primitive.corners;
  if (primitive.vertices.size() >= 65535) {  // index 65535 is reserved (primitive restart)
    return writer->AddArray(std::span<const uint32_t>(corners), GltfTarget::kIndices,
                            GltfComponent::kUint32, "SCALAR");
  }
  const std::vector<uint16_t> shorts(corners.begin(), corners.end());
  return writer->AddArray(std::span<const uint16_t>(shorts), GltfTarget::kIndices,
                          GltfComponent::kUint16, "SCALAR");
}

json AddPrimitive(const ModelMesh& mesh, const Primitive& primitive, size_t material,
                  GltfWriter* writer) {
  std::vector<Vec3> positions;
  std::vector<Vec3> normals;
  std::vector<float> pins;
  for (const uint32_t vertex : primitive.vertices) {
    positions.push_back(ToFloat(mesh.surface.positions[vertex]));
    normals.push_back(ToFloat(mesh.normals[vertex]));
    pins.push_back(static_cast<float>(mesh.pin[vertex]));
  }
  json attributes;
  attributes["POSITION"] = writer->AddPositions(positions);
  attributes["NORMAL"] = AddVertices(normals, "VEC3", writer);
  attributes["_pin"] = AddVertices(pins, "SCALAR", writer);
  return {{"attributes", attributes},
          {"indices", AddIndices(primitive, writer)},
          {"material", material}};
}

}  // namespace

std::vector<std::byte> WriteGlb(const Model& model, const ModelMesh& mesh) {
  GltfWriter writer("Plush sample models");
  json primitives = json::array();
  for (size_t material = 0; material < model.materials.size(); ++material) {
    const Primitive primitive = CollectPrimitive(mesh, material);
    if (primitive.corners.empty()) continue;
    primitives.push_back(AddPrimitive(mesh, primitive, material, &writer));
  }
  for (const Material& material : model.materials) {
    const auto& colour = material.base_colour;
    writer.Add("materials", {{"name", material.name},
                             {"pbrMetallicRoughness",
                              {{"baseColorFactor", {colour[0], colour[1], colour[2], 1.0}},
                               {"metallicFactor", 0.0},
                               {"roughnessFactor", material.roughness}}}});
  }
  writer.Add("meshes", {{"name", model.name}, {"primitives", primitives}});
  writer.Add("nodes", {{"name", model.name}, {"mesh", 0}});
  writer.Add("scenes", {{"nodes", {0}}});
  writer.document()["scene"] = 0;
  return writer.Finish().value();  // never fails: a model is far below 4 GiB
}

}  // namespace plush::samples

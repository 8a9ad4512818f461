// SPDX-License-Identifier: MIT
// Writes a sample model as binary glTF 2.0: one mesh, one primitive per material, one skin.
// Source: the glTF 2.0 specification, through tools/export/gltf_writer.h.

#include "export/gltf_writer.h"
#include "model.h"

#include <array>
#include <cmath>
#include <cstdint>
#include <span>
#include <utility>

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
  std::vector<std::array<uint16_t, 4>> joints;
  std::vector<std::array<float, 4>> weights;
  for (const uint32_t vertex : primitive.vertices) {
    positions.push_back(ToFloat(mesh.surface.positions[vertex]));
    normals.push_back(ToFloat(mesh.normals[vertex]));
    pins.push_back(static_cast<float>(mesh.pin[vertex]));
    if (mesh.weights.empty()) continue;
    joints.push_back(mesh.weights[vertex].joints);
    weights.push_back(mesh.weights[vertex].weights);
  }
  json attributes;
  attributes["POSITION"] = writer->AddPositions(positions);
  attributes["NORMAL"] = AddVertices(normals, "VEC3", writer);
  attributes["_pin"] = AddVertices(pins, "SCALAR", writer);
  if (!joints.empty()) {
    attributes["JOINTS_0"] =
        writer->AddArray(std::span<const std::array<uint16_t, 4>>(joints), GltfTarget::kVertices,
                         GltfComponent::kUint16, "VEC4");
    attributes["WEIGHTS_0"] = AddVertices(weights, "VEC4", writer);
  }
  return {{"attributes", attributes},
          {"indices", AddIndices(primitive, writer)},
          {"material", material}};
}

/// The least rotation that turns +y to the unit vector `along`: x, y, z, w.
std::array<double, 4> RotationFromUp(const Vec3d& along) {
  const double w = 1.0 + along.y;
  const double length = std::sqrt(along.z * along.z + along.x * along.x + w * w);
  return {along.z / length, 0.0, -along.x / length, w / length};
}

/// From the model's coordinates to those of a joint at `position`, by columns.
std::array<float, 16> InverseBind(const Vec3d& position, const std::array<double, 4>& q) {
  // The axes of the joint.
  const Vec3d axes[3] = {
      {1.0 - 2.0 * (q[1] * q[1] + q[2] * q[2]), 2.0 * (q[0] * q[1] + q[2] * q[3]),
       2.0 * (q[0] * q[2] - q[1] * q[3])},
      {2.0 * (q[0] * q[1] - q[2] * q[3]), 1.0 - 2.0 * (q[0] * q[0] + q[2] * q[2]),
       2.0 * (q[1] * q[2] + q[0] * q[3])},
      {2.0 * (q[0] * q[2] + q[1] * q[3]), 2.0 * (q[1] * q[2] - q[0] * q[3]),
       1.0 - 2.0 * (q[0] * q[0] + q[1] * q[1])}};
  std::array<float, 16> matrix = {};
  for (int row = 0; row < 3; ++row) {
    for (int column = 0; column < 3; ++column) {
      matrix[static_cast<size_t>(4 * column + row)] = static_cast<float>(axes[row][column]);
    }
    matrix[static_cast<size_t>(12 + row)] = static_cast<float>(-Dot(axes[row], position));
  }
  matrix[15] = 1.0f;
  return matrix;
}

/// Adds nodes for the joints, from `first_node` on, and the skin.
void AddSkin(const Model& model, double lowered, uint32_t first_node, GltfWriter* writer) {
  std::vector<std::array<float, 16>> inverse_binds;
  json numbers = json::array();
  std::vector<json> nodes;
  for (size_t i = 0; i < model.joints.size(); ++i) {
    const Joint& joint = model.joints[i];
    const Vec3d position = joint.position - Vec3d{0.0, lowered, 0.0};
    const Vec3d local = i == 0 ? position : joint.position - model.joints[joint.parent].position;
    const std::array<double, 4> rotation = RotationFromUp(joint.along);
    inverse_binds.push_back(InverseBind(position, rotation));
    numbers.push_back(first_node + i);
    nodes.push_back({{"name", joint.name},
                     {"translation", {local.x, local.y, local.z}},
                     {"rotation", rotation}});
    if (i > 0) nodes[joint.parent]["children"].push_back(first_node + i);
  }
  for (json& node : nodes) writer->Add("nodes", std::move(node));
  const uint32_t matrices = writer->AddArray(std::span<const std::array<float, 16>>(inverse_binds),
                                             GltfTarget::kNone, GltfComponent::kFloat, "MAT4");
  writer->Add("skins", {{"joints", numbers}, {"inverseBindMatrices", matrices}});
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
  json node = {{"name", model.name}, {"mesh", 0}};
  json roots = {0};
  if (!model.joints.empty()) {
    node["skin"] = 0;
    roots.push_back(1);
  }
  writer.Add("nodes", std::move(node));
  if (!model.joints.empty()) AddSkin(model, mesh.lowered, 1, &writer);
  writer.Add("scenes", {{"nodes", roots}});
  writer.document()["scene"] = 0;
  return writer.Finish().value();  // never fails: a model is far below 4 GiB
}

}  // namespace plush::samples

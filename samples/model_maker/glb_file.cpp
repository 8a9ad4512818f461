// SPDX-License-Identifier: MIT
// Writes binary glTF 2.0.
// Based on:
// Khronos Group. glTF 2.0 Specification. 2021

#include "glb_file.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>
#include <string>

namespace plush::samples {
namespace {

using nlohmann::json;

constexpr uint32_t kMagic = 0x46546C67;      // "glTF"
constexpr uint32_t kJsonChunk = 0x4E4F534A;  // "JSON"
constexpr uint32_t kBinChunk = 0x004E4942;   // "BIN"
constexpr int kFloat = 5126;
constexpr int kUnsignedShort = 5123;
constexpr int kUnsignedInt = 5125;
constexpr int kArrayBuffer = 34962;
constexpr int kElementArrayBuffer = 34963;
constexpr uint32_t kNone = UINT32_MAX;

void Append(uint32_t value, int bytes, std::vector<std::byte>* out) {
  for (int i = 0; i < bytes; ++i) out->push_back(static_cast<std::byte>(value >> (8 * i) & 0xFF));
}

void AppendFloat(double value, std::vector<std::byte>* out) {
  Append(std::bit_cast<uint32_t>(static_cast<float>(value)), 4, out);
}

void PadTo4(std::byte filler, std::vector<std::byte>* out) {
  while (out->size() % 4 != 0) out->push_back(filler);
}

/// Triangles of one material with vertices of their own.
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

class GlbBuilder {
 public:
  explicit GlbBuilder(const Model& model) {
    document_["asset"] = {{"version", "2.0"}, {"generator", "Plush sample models"}};
    document_["scene"] = 0;
    document_["scenes"] = json::array({{{"nodes", {0}}}});
    document_["nodes"] = json::array({{{"name", model.name}, {"mesh", 0}}});
    document_["meshes"] = json::array({{{"name", model.name}, {"primitives", json::array()}}});
    for (const Material& material : model.materials) AddMaterial(material);
  }

  void AddPrimitive(const ModelMesh& mesh, const Primitive& primitive, size_t material) {
    json attributes;
    attributes["POSITION"] = AddPositions(mesh, primitive);
    std::vector<double> normals;
    std::vector<double> pins;
    for (const uint32_t vertex : primitive.vertices) {
      const Vec3d& n = mesh.normals[vertex];
      normals.insert(normals.end(), {n.x, n.y, n.z});
      pins.push_back(mesh.pin[vertex]);
    }
    attributes["NORMAL"] = AddFloats(normals, "VEC3", 3);
    attributes["_pin"] = AddFloats(pins, "SCALAR", 1);
    document_["meshes"][0]["primitives"].push_back(
        {{"attributes", attributes}, {"indices", AddIndices(primitive)}, {"material", material}});
  }

  std::vector<std::byte> Finish() {
    PadTo4(std::byte{0}, &binary_);
    document_["buffers"] = json::array({{{"byteLength", binary_.size()}}});
    std::vector<std::byte> text;
    for (const char c : document_.dump()) text.push_back(static_cast<std::byte>(c));
    PadTo4(std::byte{' '}, &text);
    std::vector<std::byte> file;
    Append(kMagic, 4, &file);
    Append(2, 4, &file);
    Append(static_cast<uint32_t>(12 + 8 + text.size() + 8 + binary_.size()), 4, &file);
    AppendChunk(kJsonChunk, text, &file);
    AppendChunk(kBinChunk, binary_, &file);
    return file;
  }

 private:
  static void AppendChunk(uint32_t type, const std::vector<std::byte>& bytes,
                          std::vector<std::byte>* file) {
    Append(static_cast<uint32_t>(bytes.size()), 4, file);
    Append(type, 4, file);
    file->insert(file->end(), bytes.begin(), bytes.end());
  }

  void AddMaterial(const Material& material) {
    const auto& colour = material.base_colour;
    document_["materials"].push_back({{"name", material.name},
                                      {"pbrMetallicRoughness",
                                       {{"baseColorFactor", {colour[0], colour[1], colour[2], 1.0}},
                                        {"metallicFactor", 0.0},
                                        {"roughnessFactor", material.roughness}}}});
  }

  size_t AddAccessor(const json& accessor, size_t first_byte, int target) {
    document_["bufferViews"].push_back({{"buffer", 0},
                                        {"byteOffset", first_byte},
                                        {"byteLength", binary_.size() - first_byte},
                                        {"target", target}});
    document_["accessors"].push_back(accessor);
    document_["accessors"].back()["bufferView"] = document_["bufferViews"].size() - 1;
    return document_["accessors"].size() - 1;
  }

  size_t AddFloats(const std::vector<double>& values, const char* type, size_t components) {
    const size_t first_byte = binary_.size();
    for (const double value : values) AppendFloat(value, &binary_);
    const json accessor = {
        {"componentType", kFloat}, {"count", values.size() / components}, {"type", type}};
    return AddAccessor(accessor, first_byte, kArrayBuffer);
  }

  size_t AddPositions(const ModelMesh& mesh, const Primitive& primitive) {
    std::vector<double> values;
    float low[3], high[3];
    std::fill_n(low, 3, std::numeric_limits<float>::max());
    std::fill_n(high, 3, std::numeric_limits<float>::lowest());
    for (const uint32_t vertex : primitive.vertices) {
      for (int axis = 0; axis < 3; ++axis) {
        values.push_back(mesh.surface.positions[vertex][axis]);
        low[axis] = std::min(low[axis], static_cast<float>(values.back()));
        high[axis] = std::max(high[axis], static_cast<float>(values.back()));
      }
    }
    const size_t index = AddFloats(values, "VEC3", 3);
    document_["accessors"][index]["min"] = low;
    document_["accessors"][index]["max"] = high;
    return index;
  }

  size_t AddIndices(const Primitive& primitive) {
    const bool is_short = primitive.vertices.size() < 65535;  // the last value restarts strips
    const size_t first_byte = binary_.size();
    for (const uint32_t corner : primitive.corners) Append(corner, is_short ? 2 : 4, &binary_);
    const json accessor = {{"componentType", is_short ? kUnsignedShort : kUnsignedInt},
                           {"count", primitive.corners.size()},
                           {"type", "SCALAR"}};
    const size_t index = AddAccessor(accessor, first_byte, kElementArrayBuffer);
    PadTo4(std::byte{0}, &binary_);
    return index;
  }

  json document_;
  std::vector<std::byte> binary_;
};

}  // namespace

std::vector<std::byte> WriteGlb(const Model& model, const ModelMesh& mesh) {
  GlbBuilder builder(model);
  for (size_t material = 0; material < model.materials.size(); ++material) {
    const Primitive primitive = CollectPrimitive(mesh, material);
    if (!primitive.corners.empty()) builder.AddPrimitive(mesh, primitive, material);
  }
  return builder.Finish();
}

}  // namespace plush::samples

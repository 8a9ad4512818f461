// SPDX-License-Identifier: MIT
// Collects views and accessors in one buffer and writes it in glTF's three ways.
#include "tools/gltf_builder.h"

#include "tools/procedural_meshes.h"

namespace plush::tests {
namespace {

using nlohmann::json;

std::string Base64(const std::string& bytes) {
  const char* const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  for (size_t i = 0; i < bytes.size(); i += 3) {
    uint32_t bits = 0;
    for (size_t k = 0; k < 3; ++k) {
      bits = bits << 8 | (i + k < bytes.size() ? static_cast<uint8_t>(bytes[i + k]) : 0);
    }
    for (int k = 3; k >= 0; --k) text += alphabet[bits >> (6 * k) & 63];
  }
  for (size_t i = 0; i < (3 - bytes.size() % 3) % 3; ++i) text[text.size() - 1 - i] = '=';
  return text;
}

std::string U32(size_t value) {
  const auto v = static_cast<uint32_t>(value);
  std::string bytes;
  for (int k = 0; k < 4; ++k) bytes += static_cast<char>(v >> (8 * k));
  return bytes;
}

std::string Padded(std::string bytes, char fill) {
  while (bytes.size() % 4 != 0) bytes += fill;
  return bytes;
}

}  // namespace

GltfBuilder::GltfBuilder() {
  json = {{"asset", {{"version", "2.0"}}}, {"scene", 0}};
  json["scenes"] = {{{"nodes", json::array()}}};
  for (const char* key : {"nodes", "meshes", "accessors", "bufferViews"}) json[key] = json::array();
}

size_t GltfBuilder::AddView(const void* bytes, size_t size) {
  buffer_ = Padded(std::move(buffer_), '\0');
  json["bufferViews"].push_back(
      {{"buffer", 0}, {"byteOffset", buffer_.size()}, {"byteLength", size}});
  buffer_.append(static_cast<const char*>(bytes), size);
  return json["bufferViews"].size() - 1;
}

size_t GltfBuilder::Components(const std::string& type) {
  if (type == "MAT4") return 16;
  return type == "SCALAR" ? 1 : static_cast<size_t>(type.back() - '0');
}

size_t GltfBuilder::AddAccessorOfView(size_t view, size_t count, int component_type,
                                      const std::string& type, bool normalized) {
  json["accessors"].push_back(
      {{"bufferView", view}, {"count", count}, {"componentType", component_type}, {"type", type}});
  if (normalized) json["accessors"].back()["normalized"] = true;
  return json["accessors"].size() - 1;
}

size_t GltfBuilder::AddMesh(const tools::SurfaceMesh& surface, const std::string& name) {
  std::vector<float> positions;
  std::vector<float> normals;
  std::vector<uint32_t> indices;
  for (size_t v = 0; v < surface.positions.size(); ++v) {
    for (int k = 0; k < 3; ++k) positions.push_back(static_cast<float>(surface.positions[v][k]));
    normals.insert(normals.end(),
                   {surface.normals[v].x, surface.normals[v].y, surface.normals[v].z});
  }
  for (const auto& t : surface.triangles) indices.insert(indices.end(), t.begin(), t.end());
  const size_t position = AddAccessor(positions, "VEC3");
  json["accessors"][position]["min"] = {-1e6, -1e6, -1e6};
  json["accessors"][position]["max"] = {1e6, 1e6, 1e6};
  json["meshes"].push_back(
      {{"name", name},
       {"primitives",
        {{{"attributes", {{"POSITION", position}, {"NORMAL", AddAccessor(normals, "VEC3")}}},
          {"indices", AddAccessor(indices, "SCALAR")}}}}});
  return json["meshes"].size() - 1;
}

size_t GltfBuilder::AddNode(const std::string& name, size_t mesh) {
  json["nodes"].push_back({{"name", name}, {"mesh", mesh}});
  json["scenes"][0]["nodes"].push_back(json["nodes"].size() - 1);
  return json["nodes"].size() - 1;
}

void GltfBuilder::AddAttribute(size_t mesh, const std::string& name,
                               const std::vector<float>& values) {
  const size_t accessor = AddAccessor(values, "SCALAR");
  json["meshes"][mesh]["primitives"][0]["attributes"][name] = accessor;
}

void GltfBuilder::WriteEmbedded(const std::string& path) const {
  nlohmann::json document = json;
  document["buffers"] = {{{"byteLength", buffer_.size()},
                          {"uri", "data:application/octet-stream;base64," + Base64(buffer_)}}};
  WriteText(path, document.dump());
}

void GltfBuilder::WriteSeparate(const std::string& path, const std::string& bin_name) const {
  nlohmann::json document = json;
  document["buffers"] = {{{"byteLength", buffer_.size()}, {"uri", bin_name}}};
  WriteText(path, document.dump());
  const size_t slash = path.rfind('/');
  WriteText(path.substr(0, slash + 1) + bin_name, buffer_);
}

void GltfBuilder::WriteGlb(const std::string& path) const { WriteText(path, Glb()); }

std::string GltfBuilder::Glb() const {
  nlohmann::json document = json;
  document["buffers"] = {{{"byteLength", buffer_.size()}}};
  const std::string text = Padded(document.dump(), ' '), binary = Padded(buffer_, '\0');
  const size_t total = 12 + 8 + text.size() + 8 + binary.size();
  return "glTF" + U32(2) + U32(total) + U32(text.size()) + "JSON" + text + U32(binary.size()) +
         std::string("BIN\0", 4) + binary;
}

}  // namespace plush::tests

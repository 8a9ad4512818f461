// SPDX-License-Identifier: MIT
#include "glb_reader.h"

#include "base/files.h"

#include <catch2/catch.hpp>

#include <cstring>
#include <utility>

namespace plush::tests {
namespace {

using nlohmann::json;

constexpr int kFloat = 5126;
constexpr int kUnsignedShort = 5123;
constexpr size_t kHeaderBytes = 12;
constexpr size_t kChunkHeaderBytes = 8;

uint32_t WordAt(const std::vector<std::byte>& bytes, size_t place) {
  REQUIRE(place + 4 <= bytes.size());
  uint32_t word = 0;
  std::memcpy(&word, bytes.data() + place, 4);
  return word;
}

/// A parsed file and the place of its binary chunk.
struct Glb {
  json document;
  std::vector<std::byte> bytes;
  size_t binary = 0;
};

Glb Parse(const std::string& path) {
  auto read = tools::ReadFile(path);
  REQUIRE(read.ok());
  Glb glb;
  glb.bytes = std::move(read.value());
  REQUIRE(WordAt(glb.bytes, 0) == 0x46546C67);  // "glTF"
  REQUIRE(WordAt(glb.bytes, 8) == glb.bytes.size());
  const size_t json_bytes = WordAt(glb.bytes, kHeaderBytes);
  glb.binary = kHeaderBytes + kChunkHeaderBytes + json_bytes + kChunkHeaderBytes;
  REQUIRE(glb.binary < glb.bytes.size());
  const char* text = reinterpret_cast<const char*>(glb.bytes.data()) + kHeaderBytes;
  text += kChunkHeaderBytes;
  glb.document = json::parse(text, text + json_bytes);
  return glb;
}

/// The values of an accessor, `components` to an element, as T of the given component type.
template <class T>
std::vector<T> Values(const Glb& glb, const json& index, size_t components, int component_type) {
  const json& accessor = glb.document["accessors"].at(index.get<size_t>());
  REQUIRE(accessor["componentType"] == component_type);
  REQUIRE(accessor["type"] == (components == 3 ? "VEC3" : "SCALAR"));
  std::vector<T> values(accessor["count"].get<size_t>() * components);
  const json& view = glb.document["bufferViews"].at(accessor["bufferView"].get<size_t>());
  const size_t bytes = values.size() * sizeof(T);
  REQUIRE(view["byteLength"].get<size_t>() >= bytes);
  const size_t place = glb.binary + view["byteOffset"].get<size_t>();
  REQUIRE(place + bytes <= glb.bytes.size());
  std::memcpy(values.data(), glb.bytes.data() + place, bytes);
  return values;
}

void AppendPrimitive(const Glb& glb, const json& primitive, tools::SurfaceMesh* surface) {
  const uint32_t first_vertex = static_cast<uint32_t>(surface->positions.size());
  const json& attributes = primitive["attributes"];
  const auto positions = Values<float>(glb, attributes["POSITION"], 3, kFloat);
  const auto normals = Values<float>(glb, attributes["NORMAL"], 3, kFloat);
  REQUIRE(normals.size() == positions.size());
  for (size_t i = 0; i < positions.size(); i += 3) {
    surface->positions.push_back({positions[i], positions[i + 1], positions[i + 2]});
    surface->normals.push_back({normals[i], normals[i + 1], normals[i + 2]});
  }
  const auto pin = Values<float>(glb, attributes["_pin"], 1, kFloat);
  REQUIRE(3 * pin.size() == positions.size());
  auto& all_pins = surface->attributes.front().values;
  all_pins.insert(all_pins.end(), pin.begin(), pin.end());

  const auto corners = Values<uint16_t>(glb, primitive["indices"], 1, kUnsignedShort);
  tools::SurfacePart part;
  part.name = glb.document["meshes"][0]["name"];
  part.material = glb.document["materials"].at(primitive["material"].get<size_t>())["name"];
  part.first_triangle = static_cast<uint32_t>(surface->triangles.size());
  part.num_triangles = static_cast<uint32_t>(corners.size() / 3);
  surface->parts.push_back(part);
  for (size_t i = 0; i + 2 < corners.size(); i += 3) {
    surface->triangles.push_back(
        {first_vertex + corners[i], first_vertex + corners[i + 1], first_vertex + corners[i + 2]});
  }
  for (const uint16_t corner : corners) REQUIRE(3u * corner < positions.size());
}

}  // namespace

GlbModel ReadSampleGlb(const std::string& path) {
  const Glb glb = Parse(path);
  GlbModel model;
  model.surface.attributes.push_back({"_pin", {}});
  for (const json& primitive : glb.document["meshes"][0]["primitives"]) {
    AppendPrimitive(glb, primitive, &model.surface);
  }
  model.document = glb.document;
  return model;
}

}  // namespace plush::tests

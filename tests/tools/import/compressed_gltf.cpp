// SPDX-License-Identifier: MIT
#include "compressed_gltf.h"

#include <draco/compression/encode.h>
#include <draco/mesh/mesh.h>
#include <meshoptimizer.h>

#include <cstring>
#include <map>

namespace plush::tests {
namespace {

using nlohmann::json;
using Bytes = std::vector<unsigned char>;

size_t SizeOf(int type) { return type <= 5121 ? 1 : type <= 5123 ? 2 : 4; }

size_t ComponentsOf(const json& accessor) {
  const std::string type = accessor["type"];
  return type == "SCALAR" ? 1 : type == "MAT4" ? 16 : static_cast<size_t>(type.back() - '0');
}

const unsigned char* DataOf(const json& accessor, const GltfBuilder& builder) {
  const json& view = builder.json["bufferViews"][accessor["bufferView"].get<size_t>()];
  return reinterpret_cast<const unsigned char*>(builder.buffer().data()) +
         view["byteOffset"].get<size_t>();
}

Bytes EncodedIndices(const unsigned char* from, size_t count, bool is_triangles) {
  std::vector<unsigned> indices(count);
  std::memcpy(indices.data(), from, count * sizeof(unsigned));
  const size_t bound = is_triangles ? meshopt_encodeIndexBufferBound(count, 1 << 20)
                                    : meshopt_encodeIndexSequenceBound(count, 1 << 20);
  Bytes bytes(bound);
  bytes.resize(is_triangles
                   ? meshopt_encodeIndexBuffer(bytes.data(), bound, indices.data(), count)
                   : meshopt_encodeIndexSequence(bytes.data(), bound, indices.data(), count));
  return bytes;
}

draco::DataType DracoTypeOf(int type) {
  static const std::map<int, draco::DataType> kTypes = {
      {5120, draco::DT_INT8},   {5121, draco::DT_UINT8},  {5122, draco::DT_INT16},
      {5123, draco::DT_UINT16}, {5125, draco::DT_UINT32}, {5126, draco::DT_FLOAT32}};
  return kTypes.at(type);
}

}  // namespace

void CompressByMeshopt(GltfBuilder* builder) {
  const GltfBuilder plain = *builder;
  json& views = builder->json["bufferViews"];
  const size_t num_views = views.size();
  for (const json& accessor : plain.json["accessors"]) {
    if (!accessor.contains("bufferView")) continue;
    const size_t count = accessor["count"];
    const size_t stride = SizeOf(accessor["componentType"]) * ComponentsOf(accessor);
    const unsigned char* from = DataOf(accessor, plain);
    const bool is_index = accessor["componentType"] == 5125 && stride == 4;
    Bytes bytes;
    std::string mode = "ATTRIBUTES";
    if (is_index) {
      mode = count % 3 == 0 && count % 2 == 0 ? "TRIANGLES" : "INDICES";
      bytes = EncodedIndices(from, count, mode == "TRIANGLES");
    } else {
      bytes.resize(meshopt_encodeVertexBufferBound(count, stride));
      bytes.resize(meshopt_encodeVertexBuffer(bytes.data(), bytes.size(), from, count, stride));
    }
    const size_t compressed = builder->AddView(bytes.data(), bytes.size());
    json extension = views[compressed];
    extension["byteStride"] = stride;
    extension["count"] = count;
    extension["mode"] = mode;
    json& view = views[accessor["bufferView"].get<size_t>()];
    view = {{"buffer", 1},
            {"byteLength", count * stride},
            {"extensions", {{"EXT_meshopt_compression", extension}}}};
  }
  views.erase(views.begin() + static_cast<ptrdiff_t>(num_views), views.end());
  builder->json["extensionsRequired"] = {"EXT_meshopt_compression"};
}

void CompressByDraco(size_t mesh_index, GltfBuilder* builder) {
  json& primitive = builder->json["meshes"][mesh_index]["primitives"][0];
  draco::Mesh mesh;
  json ids;
  for (const auto& [name, index] : primitive["attributes"].items()) {
    json& accessor = builder->json["accessors"][index.get<size_t>()];
    const size_t count = accessor["count"];
    const size_t n = ComponentsOf(accessor);
    const int type = accessor["componentType"];
    const auto kind = name == "POSITION" ? draco::GeometryAttribute::POSITION
                      : name == "NORMAL" ? draco::GeometryAttribute::NORMAL
                                         : draco::GeometryAttribute::GENERIC;
    draco::GeometryAttribute attribute;
    attribute.Init(kind, nullptr, static_cast<int8_t>(n), DracoTypeOf(type), false,
                   static_cast<int64_t>(n * SizeOf(type)), 0);
    mesh.set_num_points(static_cast<uint32_t>(count));
    const int id = mesh.AddAttribute(attribute, true, static_cast<uint32_t>(count));
    const unsigned char* from = DataOf(accessor, *builder);
    for (uint32_t i = 0; i < count; ++i) {
      mesh.attribute(id)->SetAttributeValue(draco::AttributeValueIndex(i),
                                            from + i * n * SizeOf(type));
    }
    ids[name] = mesh.attribute(id)->unique_id();
    accessor.erase("bufferView");
  }
  json& indices = builder->json["accessors"][primitive["indices"].get<size_t>()];
  std::vector<uint32_t> corners(indices["count"].get<size_t>());
  std::memcpy(corners.data(), DataOf(indices, *builder), corners.size() * sizeof(uint32_t));
  indices.erase("bufferView");
  for (size_t t = 0; t + 2 < corners.size(); t += 3) {
    mesh.AddFace({draco::PointIndex(corners[t]), draco::PointIndex(corners[t + 1]),
                  draco::PointIndex(corners[t + 2])});
  }
  draco::Encoder encoder;
  encoder.SetEncodingMethod(draco::MESH_SEQUENTIAL_ENCODING);
  encoder.SetAttributeQuantization(draco::GeometryAttribute::POSITION, 14);
  encoder.SetAttributeQuantization(draco::GeometryAttribute::NORMAL, 10);
  draco::EncoderBuffer encoded;
  if (!encoder.EncodeMeshToBuffer(mesh, &encoded).ok()) throw std::runtime_error("Draco");
  const size_t view = builder->AddView(encoded.data(), encoded.size());
  primitive["extensions"]["KHR_draco_mesh_compression"] = {{"bufferView", view},
                                                           {"attributes", ids}};
  builder->json["extensionsRequired"] = {"KHR_draco_mesh_compression"};
}

}  // namespace plush::tests

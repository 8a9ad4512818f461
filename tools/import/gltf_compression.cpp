// SPDX-License-Identifier: MIT
// Decompresses by meshoptimizer's codecs of version 0, its filters, and Draco.
// Sources: Khronos Group. EXT_meshopt_compression. 2022; KHR_draco_mesh_compression. 2018
#include "import/gltf_document.h"

#include <draco/compression/decode.h>
#include <meshoptimizer.h>

#include <algorithm>
#include <cstring>
#include <iterator>
#include <utility>

namespace plush::tools {

using nlohmann::json;

namespace {

// The componentTypes of Draco's types.
constexpr std::pair<draco::DataType, uint64_t> kDracoTypes[] = {
    {draco::DT_INT8, 5120},   {draco::DT_UINT8, 5121},  {draco::DT_INT16, 5122},
    {draco::DT_UINT16, 5123}, {draco::DT_UINT32, 5125}, {draco::DT_FLOAT32, 5126}};

// The values of all points one after another.
std::vector<std::byte> ValuesOf(const draco::PointAttribute& attribute, uint32_t num_points) {
  const auto size = static_cast<size_t>(draco::DataTypeLength(attribute.data_type())) *
                    static_cast<size_t>(attribute.num_components());
  if (!attribute.is_mapping_identity() && attribute.indices_map_size() < num_points) return {};
  std::vector<std::byte> bytes(size * num_points);
  for (uint32_t i = 0; i < num_points; ++i) {
    const draco::AttributeValueIndex value = attribute.mapped_index(draco::PointIndex(i));
    if (value.value() >= attribute.size()) return {};
    std::memcpy(bytes.data() + i * size, attribute.GetAddress(value), size);
  }
  return bytes;
}

// Adds the attribute of the number that the file gives it; false if it is invalid.
bool AddAttribute(const std::string& name, const json& number, const draco::Mesh& mesh,
                  DracoPrimitive* primitive) {
  const auto id = GltfIndex(number, size_t{UINT32_MAX} + 1);
  const auto* attribute = id ? mesh.GetAttributeByUniqueId(static_cast<uint32_t>(*id)) : nullptr;
  if (attribute == nullptr || attribute->num_components() < 1) return false;
  const auto* type = std::ranges::find(kDracoTypes, attribute->data_type(),
                                       &std::pair<draco::DataType, uint64_t>::first);
  std::vector<std::byte> bytes = ValuesOf(*attribute, mesh.num_points());
  if (type == std::end(kDracoTypes) || bytes.empty()) return false;
  primitive->attributes[name] = {bytes, mesh.num_points(), bytes.size() / mesh.num_points(),
                                 static_cast<size_t>(attribute->num_components()), type->second};
  primitive->storage.push_back(std::move(bytes));  // does not move the bytes themselves
  return true;
}

}  // namespace

bool DecodeMeshopt(const json& extension, std::span<const std::byte> compressed, uint64_t size,
                   std::vector<std::byte>* bytes) {
  const uint64_t count = GltfNumber(extension, "count").value_or(0);
  const uint64_t stride = GltfNumber(extension, "byteStride").value_or(0);
  const std::string mode = GltfText(extension, "mode");
  const std::string filter = GltfText(extension, "filter");
  if (count == 0 || stride == 0 || size % stride != 0 || size / stride != count) return false;
  bytes->resize(size);
  const auto* from = reinterpret_cast<const unsigned char*>(compressed.data());
  const size_t length = compressed.size();
  if (mode == "TRIANGLES" && count % 3 == 0 && (stride == 2 || stride == 4)) {
    return meshopt_decodeIndexBuffer(bytes->data(), count, stride, from, length) == 0;
  }
  if (mode == "INDICES" && (stride == 2 || stride == 4)) {
    return meshopt_decodeIndexSequence(bytes->data(), count, stride, from, length) == 0;
  }
  if (mode != "ATTRIBUTES" || stride > 256 || stride % 4 != 0 ||
      meshopt_decodeVertexBuffer(bytes->data(), count, stride, from, length) != 0) {
    return false;
  }
  const auto apply = [&](auto* decode_filter) {
    decode_filter(bytes->data(), count, stride);
    return true;
  };
  if (filter == "OCTAHEDRAL" && stride <= 8) return apply(meshopt_decodeFilterOct);
  if (filter == "QUATERNION" && stride == 8) return apply(meshopt_decodeFilterQuat);
  if (filter == "EXPONENTIAL") return apply(meshopt_decodeFilterExp);
  return filter.empty() || filter == "NONE";
}

DracoPrimitive DecodeDraco(const json& extension, GltfDocument* document) {
  const std::span<const std::byte> compressed = document->View(GltfMember(extension, "bufferView"));
  draco::DecoderBuffer buffer;
  buffer.Init(reinterpret_cast<const char*>(compressed.data()), compressed.size());
  auto decoded = draco::Decoder().DecodeMeshFromBuffer(&buffer);
  const draco::Mesh* mesh = decoded.ok() ? decoded.value().get() : nullptr;
  if (mesh == nullptr || mesh->num_points() == 0) {
    RefuseGltf("KHR_draco_mesh_compression is damaged");
  }
  DracoPrimitive primitive;
  for (const auto& [name, number] : GltfMember(extension, "attributes").items()) {
    if (AddAttribute(name, number, *mesh, &primitive)) continue;
    RefuseGltf("KHR_draco_mesh_compression lacks attribute " + name);
  }
  primitive.triangles.reserve(mesh->num_faces());
  for (uint32_t f = 0; f < mesh->num_faces(); ++f) {
    const auto& face = mesh->face(draco::FaceIndex(f));
    primitive.triangles.push_back({face[0].value(), face[1].value(), face[2].value()});
  }
  return primitive;
}

}  // namespace plush::tools

// SPDX-License-Identifier: MIT
// Decompresses by meshoptimizer's codecs of version 0, its filters, and Draco.
// Sources: Khronos Group. EXT_meshopt_compression. 2022; KHR_draco_mesh_compression. 2018
#include "import/gltf_compression.h"

#include <draco/compression/decode.h>
#include <meshoptimizer.h>

#include <cstring>

namespace plush::tools {

using nlohmann::json;

namespace {

// The componentType of Draco's type; 0 if there is none.
uint64_t DracoType(draco::DataType type) {
  switch (type) {
    case draco::DT_INT8:
      return 5120;
    case draco::DT_UINT8:
      return 5121;
    case draco::DT_INT16:
      return 5122;
    case draco::DT_UINT16:
      return 5123;
    case draco::DT_UINT32:
      return 5125;
    case draco::DT_FLOAT32:
      return 5126;
    default:
      return 0;
  }
}

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
  if (!number.is_number_unsigned() || number.get<uint64_t>() > UINT32_MAX) return false;
  const auto* attribute = mesh.GetAttributeByUniqueId(number.get<uint32_t>());
  if (attribute == nullptr || attribute->num_components() < 1) return false;
  std::vector<std::byte>& bytes =
      primitive->storage.emplace_back(ValuesOf(*attribute, mesh.num_points()));
  if (bytes.empty()) return false;
  NumberArray& numbers = primitive->attributes[name];
  numbers.bytes = bytes;
  numbers.count = mesh.num_points();
  numbers.stride = bytes.size() / mesh.num_points();
  numbers.num_components = static_cast<size_t>(attribute->num_components());
  numbers.type = DracoType(attribute->data_type());
  return numbers.type != 0;
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
  if (filter == "OCTAHEDRAL" && stride <= 8) {
    meshopt_decodeFilterOct(bytes->data(), count, stride);
  } else if (filter == "QUATERNION" && stride == 8) {
    meshopt_decodeFilterQuat(bytes->data(), count, stride);
  } else if (filter == "EXPONENTIAL") {
    meshopt_decodeFilterExp(bytes->data(), count, stride);
  } else {
    return filter.empty() || filter == "NONE";
  }
  return true;
}

std::unique_ptr<DracoPrimitive> DecodeDraco(const json& extension, GltfDocument* document) {
  const auto compressed = document->View(GltfMember(extension, "bufferView"));
  if (!compressed) return nullptr;
  draco::DecoderBuffer buffer;
  buffer.Init(reinterpret_cast<const char*>(compressed->data()), compressed->size());
  auto decoded = draco::Decoder().DecodeMeshFromBuffer(&buffer);
  const draco::Mesh* mesh = decoded.ok() ? decoded.value().get() : nullptr;
  if (mesh == nullptr || mesh->num_points() == 0) {
    document->Problem("KHR_draco_mesh_compression is damaged");
    return nullptr;
  }
  auto primitive = std::make_unique<DracoPrimitive>();
  for (const auto& [name, number] : GltfMember(extension, "attributes").items()) {
    if (AddAttribute(name, number, *mesh, primitive.get())) continue;
    document->Problem("KHR_draco_mesh_compression lacks attribute " + name);
    return nullptr;
  }
  primitive->triangles.reserve(mesh->num_faces());
  for (uint32_t f = 0; f < mesh->num_faces(); ++f) {
    const auto& face = mesh->face(draco::FaceIndex(f));
    primitive->triangles.push_back({face[0].value(), face[1].value(), face[2].value()});
  }
  return primitive;
}

}  // namespace plush::tools

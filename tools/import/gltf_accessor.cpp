// SPDX-License-Identifier: MIT
// Accessors of GltfDocument: typed, strided, normalised, sparse views of buffers.
#include "import/gltf_document.h"

#include <algorithm>
#include <cstring>
#include <limits>

namespace plush::tools {

using nlohmann::json;

// `count` elements in `bytes`, `stride` apart, each `num_components` numbers of one type. All of it
// lies inside the buffer.
struct GltfDocument::Layout {
  std::span<const std::byte> bytes;
  uint64_t count = 0;
  uint64_t stride = 0;
  uint64_t component_type = 0;
  size_t num_components = 1;
};

namespace {

enum ComponentType : uint64_t {
  kInt8 = 5120,
  kUint8 = 5121,
  kInt16 = 5122,
  kUint16 = 5123,
  kUint32 = 5125,
  kFloat = 5126,
};

uint64_t BytesOf(uint64_t component_type) {
  switch (component_type) {
    case kInt8:
    case kUint8:
      return 1;
    case kInt16:
    case kUint16:
      return 2;
    case kUint32:
    case kFloat:
      return 4;
    default:
      return 0;
  }
}

size_t ComponentsOf(const json& accessor) {
  const auto type = accessor.find("type");
  if (type == accessor.end()) return 0;
  if (*type == "SCALAR") return 1;
  if (*type == "VEC2") return 2;
  if (*type == "VEC3") return 3;
  return *type == "VEC4" ? 4 : 0;
}

template <class T>
double ReadAs(const std::byte* bytes) {
  T value = {};
  std::memcpy(&value, bytes, sizeof(T));
  return static_cast<double>(value);
}

double ReadNumber(const std::byte* bytes, uint64_t component_type) {
  switch (component_type) {
    case kInt8:
      return ReadAs<int8_t>(bytes);
    case kUint8:
      return ReadAs<uint8_t>(bytes);
    case kInt16:
      return ReadAs<int16_t>(bytes);
    case kUint16:
      return ReadAs<uint16_t>(bytes);
    case kUint32:
      return ReadAs<uint32_t>(bytes);
    default:
      return ReadAs<float>(bytes);
  }
}

// glTF 2.0 specification 3.11: what 1.0 is written as.
double NormalisedOne(uint64_t component_type) {
  switch (component_type) {
    case kInt8:
      return 127.0;
    case kUint8:
      return 255.0;
    case kInt16:
      return 32767.0;
    case kUint16:
      return 65535.0;
    default:
      return 1.0;
  }
}

const json* Element(const json& array, uint64_t index) {
  return index < array.size() && array[index].is_object() ? &array[index] : nullptr;
}

}  // namespace

std::optional<GltfDocument::Layout> GltfDocument::LayoutOf(const json& view_index,
                                                           uint64_t byte_offset, uint64_t count,
                                                           uint64_t component_type,
                                                           size_t num_components) const {
  if (!view_index.is_number_unsigned()) return std::nullopt;
  const json* view = Element(Top("bufferViews"), view_index.get<uint64_t>());
  const uint64_t element = BytesOf(component_type) * num_components;
  if (view == nullptr || element == 0) return std::nullopt;
  const auto buffer = Number(*view, "buffer");
  const auto offset = Number(*view, "byteOffset", 0);
  const auto length = Number(*view, "byteLength");
  const auto stride = Number(*view, "byteStride", element);
  if (!buffer || !offset || !length || !stride || *buffer >= buffers_.size()) return std::nullopt;
  const std::span<const std::byte> bytes = buffers_[*buffer];
  if (*offset > bytes.size() || *length > bytes.size() - *offset) return std::nullopt;
  // All sizes are below 2^53, or below the size of a file that was read: nothing overflows.
  if (*stride < element || *stride > 65536 || byte_offset > *length) return std::nullopt;
  const uint64_t room = *length - byte_offset;
  if (count > 0 && (room < element || count - 1 > (room - element) / *stride)) return std::nullopt;
  return Layout{bytes.subspan(*offset + byte_offset, room), count, *stride, component_type,
                num_components};
}

std::optional<AccessorValues> GltfDocument::ReadAccessor(const json& index) {
  if (!index.is_number_unsigned()) return std::nullopt;
  const json* accessor = Element(Top("accessors"), index.get<uint64_t>());
  if (accessor == nullptr) return std::nullopt;
  const auto count = Number(*accessor, "count");
  const auto component_type = Number(*accessor, "componentType");
  const auto byte_offset = Number(*accessor, "byteOffset", 0);
  AccessorValues result;
  result.num_components = ComponentsOf(*accessor);
  if (!count || !component_type || !byte_offset || result.num_components == 0) return std::nullopt;
  if (*count > numbers_left_ / result.num_components) return std::nullopt;
  numbers_left_ -= *count * result.num_components;
  result.count = *count;
  result.values.resize(*count * result.num_components);

  if (accessor->contains("bufferView")) {
    const auto layout = LayoutOf((*accessor)["bufferView"], *byte_offset, *count, *component_type,
                                 result.num_components);
    if (!layout) return std::nullopt;
    for (uint64_t i = 0; i < *count; ++i) {
      for (size_t k = 0; k < result.num_components; ++k) {
        const std::byte* bytes =
            layout->bytes.data() + i * layout->stride + k * BytesOf(*component_type);
        result.values[i * result.num_components + k] =
            static_cast<float>(ReadNumber(bytes, *component_type));
      }
    }
  }
  if (accessor->contains("sparse") && !ApplySparse((*accessor)["sparse"], *accessor, &result)) {
    return std::nullopt;
  }
  if (accessor->value("normalized", json(false)) == json(true)) {
    const double one = NormalisedOne(*component_type);
    for (float& value : result.values) {
      value = static_cast<float>(std::max(static_cast<double>(value) / one, -1.0));
    }
  }
  return result;
}

bool GltfDocument::ApplySparse(const json& sparse, const json& accessor,
                               AccessorValues* values) const {
  const auto count = Number(sparse, "count");
  if (!count || *count > values->count || !sparse.contains("indices") ||
      !sparse.contains("values")) {
    return false;
  }
  const json& indices = sparse["indices"];
  const json& numbers = sparse["values"];
  const auto index_type = Number(indices, "componentType");
  const auto index_offset = Number(indices, "byteOffset", 0);
  const auto number_offset = Number(numbers, "byteOffset", 0);
  const auto number_type = Number(accessor, "componentType");
  if (!index_type || !index_offset || !number_offset || !number_type || *index_type == kFloat) {
    return false;
  }
  const auto from =
      LayoutOf(indices.value("bufferView", json()), *index_offset, *count, *index_type, 1);
  const auto to = LayoutOf(numbers.value("bufferView", json()), *number_offset, *count,
                           *number_type, values->num_components);
  if (!from || !to) return false;
  for (uint64_t i = 0; i < *count; ++i) {
    const double index = ReadNumber(from->bytes.data() + i * from->stride, *index_type);
    if (index < 0.0 || index >= static_cast<double>(values->count)) return false;
    for (size_t k = 0; k < values->num_components; ++k) {
      values->values[static_cast<size_t>(index) * values->num_components + k] = static_cast<float>(
          ReadNumber(to->bytes.data() + i * to->stride + k * BytesOf(*number_type), *number_type));
    }
  }
  return true;
}

}  // namespace plush::tools

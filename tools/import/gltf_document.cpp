// SPDX-License-Identifier: MIT
// Reads glTF 2.0: the .glb container, buffers (base64 by RFC 4648), and accessors, which are typed,
// strided, normalised, sparse views of buffers.
// Source: Khronos Group. glTF 2.0 Specification. 2021
#include "import/gltf_document.h"

#include "base/files.h"

#include <algorithm>
#include <cctype>
#include <cstring>
#include <filesystem>

namespace plush::tools {

using nlohmann::json;

// `count` elements in `bytes`, `stride` bytes apart, each of `num_components` numbers of one type.
// All lie inside the buffer.
struct GltfDocument::Layout {
  std::span<const std::byte> bytes;
  uint64_t count = 0;
  uint64_t stride = 0;
  uint64_t component_type = 0;
  size_t num_components = 1;
};

namespace {

constexpr uint64_t kMaxFileBytes = 2ull << 30;
constexpr uint64_t kMaxWholeNumber = 1ull << 53;
constexpr int kMaxNesting = 100;
constexpr uint32_t kGlbMagic = 0x46546C67;     // "glTF"
constexpr uint32_t kJsonChunk = 0x4E4F534A;    // "JSON"
constexpr uint32_t kBinaryChunk = 0x004E4942;  // "BIN"

uint32_t ReadU32(std::span<const std::byte> bytes, size_t offset) {
  uint32_t value = 0;
  std::memcpy(&value, bytes.data() + offset, sizeof(value));
  return value;
}

bool IsGlb(std::span<const std::byte> bytes) {
  return bytes.size() >= 12 && ReadU32(bytes, 0) == kGlbMagic;
}

// The content of the first chunk of a type; empty if the file has none.
std::span<const std::byte> GlbChunk(std::span<const std::byte> bytes, uint32_t type) {
  size_t offset = 12;
  while (bytes.size() - offset >= 8) {
    const uint64_t size = ReadU32(bytes, offset);
    if (size > bytes.size() - offset - 8) return {};
    if (ReadU32(bytes, offset + 4) == type) return bytes.subspan(offset + 8, size);
    offset += 8 + size;
  }
  return {};
}

// Decodes "%20" and the like.
std::string DecodePercent(const std::string& uri) {
  std::string path;
  for (size_t i = 0; i < uri.size(); ++i) {
    const bool escaped = uri[i] == '%' && i + 2 < uri.size() &&
                         std::isxdigit(static_cast<unsigned char>(uri[i + 1])) != 0 &&
                         std::isxdigit(static_cast<unsigned char>(uri[i + 2])) != 0;
    path += escaped ? static_cast<char>(std::stoi(uri.substr(i + 1, 2), nullptr, 16)) : uri[i];
    if (escaped) i += 2;
  }
  return path;
}

// The six bits of a base64 character, or -1.
int BitsOf(char c) {
  if (c >= 'A' && c <= 'Z') return c - 'A';
  if (c >= 'a' && c <= 'z') return c - 'a' + 26;
  if (c >= '0' && c <= '9') return c - '0' + 52;
  if (c == '+') return 62;
  return c == '/' ? 63 : -1;
}

// Returns nothing if a character is not in the alphabet or the length is impossible. Padding is
// optional.
std::optional<std::vector<std::byte>> DecodeBase64(std::string_view text) {
  while (!text.empty() && text.back() == '=') text.remove_suffix(1);
  if (text.size() % 4 == 1) return std::nullopt;
  std::vector<std::byte> bytes;
  bytes.reserve(text.size() / 4 * 3 + 2);
  uint32_t bits = 0;
  int num_bits = 0;
  for (const char c : text) {
    const int six = BitsOf(c);
    if (six < 0) return std::nullopt;
    bits = (bits << 6 | static_cast<uint32_t>(six)) & 0xFFFFFF;
    num_bits += 6;
    if (num_bits < 8) continue;
    num_bits -= 8;
    bytes.push_back(static_cast<std::byte>(bits >> num_bits));
  }
  return bytes;
}

std::vector<std::byte> LoadUri(const std::string& uri, const std::string& gltf_path) {
  if (uri.starts_with("data:")) {
    const size_t comma = uri.find(";base64,");
    if (comma == std::string::npos) return {};
    return DecodeBase64(std::string_view(uri).substr(comma + 8)).value_or(std::vector<std::byte>{});
  }
  const auto folder = std::filesystem::path(gltf_path).parent_path();
  auto bytes = ReadFile((folder / DecodePercent(uri)).string(), kMaxFileBytes);
  return bytes.ok() ? std::move(bytes.value()) : std::vector<std::byte>{};
}

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
  if (*type == "VEC4") return 4;
  // Columns of other matrices are padded; no attribute that is read needs them.
  const bool is_float = accessor.value("componentType", json()) == json(uint64_t{kFloat});
  return *type == "MAT4" && is_float ? 16 : 0;
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

// The integer that represents 1.0 (specification, 3.11).
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

Result<GltfDocument> GltfDocument::Open(const std::string& path) {
  const auto bytes = ReadFile(path, kMaxFileBytes);
  if (!bytes.ok()) return bytes.error();
  return Parse(bytes.value(), path);
}

Result<GltfDocument> GltfDocument::Parse(std::span<const std::byte> bytes,
                                         const std::string& path) {
  const bool is_glb = IsGlb(bytes);
  GltfDocument document;
  if (!document.ParseJson(is_glb ? GlbChunk(bytes, kJsonChunk) : bytes)) {
    return Error{ExitCode::kInvalidInput, "'" + path + "' holds no glTF 2.0 document",
                 "IMPORT_FAILED"};
  }
  document.LoadBuffers(path, is_glb ? GlbChunk(bytes, kBinaryChunk) : bytes.first(0));
  return document;
}

bool GltfDocument::ParseJson(std::span<const std::byte> bytes) {
  bool too_deep = false;
  const auto bound_depth = [&too_deep](int depth, json::parse_event_t, json&) {
    too_deep = too_deep || depth > kMaxNesting;
    return !too_deep;
  };
  const char* text = reinterpret_cast<const char*>(bytes.data());
  json_ = json::parse(text, text + bytes.size(), bound_depth, false);
  if (too_deep || !json_.is_object()) return false;
  const json& asset = json_.contains("asset") ? json_["asset"] : json_;
  if (!asset.is_object() || !asset.contains("version") || !asset["version"].is_string()) {
    return false;
  }
  return asset["version"].get_ref<const std::string&>().starts_with("2.");
}

void GltfDocument::LoadBuffers(const std::string& path, std::span<const std::byte> glb_chunk) {
  for (const json& buffer : Top("buffers")) {
    std::vector<std::byte>& bytes = buffers_.emplace_back();
    if (!buffer.is_object()) continue;
    if (buffer.contains("uri") && buffer["uri"].is_string()) {
      bytes = LoadUri(buffer["uri"].get_ref<const std::string&>(), path);
    } else if (buffers_.size() == 1) {
      bytes.assign(glb_chunk.begin(), glb_chunk.end());
    }
  }
}

const json& GltfDocument::Top(const std::string& key) const {
  static const json kNone = json::array();
  const auto it = json_.find(key);
  return it != json_.end() && it->is_array() ? *it : kNone;
}

std::optional<uint64_t> GltfDocument::Number(const json& object, const std::string& key,
                                             std::optional<uint64_t> fallback) {
  if (!object.is_object()) return std::nullopt;
  const auto it = object.find(key);
  if (it == object.end()) return fallback;
  if (!it->is_number_unsigned()) return std::nullopt;
  const auto value = it->get<uint64_t>();
  return value <= kMaxWholeNumber ? std::optional(value) : std::nullopt;
}

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
  // Nothing overflows: all sizes are below 2^53 or below the size of a file that was read.
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

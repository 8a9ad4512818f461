// SPDX-License-Identifier: MIT
// Reads glTF 2.0: the .glb container, buffers (base64 by RFC 4648), and accessors, which may be
// strided, normalised and sparse.
// Source: Khronos Group. glTF 2.0 Specification. 2021
#include "import/gltf_document.h"

#include "base/files.h"

#include <algorithm>
#include <cctype>
#include <cstring>
#include <filesystem>

namespace plush::tools {

using nlohmann::json;

// A type of numbers in buffers.
struct ComponentType {
  uint64_t number;
  size_t num_bytes;
  double one;  // the normalised integer that means 1.0 (specification, 3.11)
  double (*read)(const std::byte* bytes);
};

// Elements `stride` bytes apart inside a buffer, each of numbers of one type.
struct GltfDocument::Layout {
  const std::byte* bytes = nullptr;
  uint64_t stride = 0;
  const ComponentType* type = nullptr;

  // Number `k` of element `i`.
  double At(uint64_t i, size_t k) const {
    return type->read(bytes + i * stride + k * type->num_bytes);
  }
};

namespace {

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

// Returns nothing if a character or the length is impossible. Padding is optional.
std::vector<std::byte> DecodeBase64(std::string_view text) {
  constexpr std::string_view kAlphabet =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  while (!text.empty() && text.back() == '=') text.remove_suffix(1);
  if (text.size() % 4 == 1) return {};
  std::vector<std::byte> bytes;
  bytes.reserve(text.size() / 4 * 3 + 2);
  uint32_t bits = 0;
  int num_bits = 0;
  for (const char c : text) {
    const size_t six = kAlphabet.find(c);
    if (six == kAlphabet.npos) return {};
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
    return DecodeBase64(std::string_view(uri).substr(comma + 8));
  }
  const auto folder = std::filesystem::path(gltf_path).parent_path();
  auto bytes = ReadFile((folder / DecodePercent(uri)).string(), kMaxGltfBytes);
  return bytes.ok() ? std::move(bytes.value()) : std::vector<std::byte>{};
}

// Returns whether the bytes are the JSON of a glTF 2.0 file.
bool ParseJson(std::span<const std::byte> bytes, json* out_json) {
  bool too_deep = false;
  const auto bound_depth = [&too_deep](int depth, json::parse_event_t, json&) {
    too_deep = too_deep || depth > kMaxNesting;
    return !too_deep;
  };
  const char* text = reinterpret_cast<const char*>(bytes.data());
  json& root = *out_json = json::parse(text, text + bytes.size(), bound_depth, false);
  if (too_deep || !root.is_object()) return false;
  const json& asset = root.contains("asset") ? root["asset"] : root;
  if (!asset.is_object() || !asset.contains("version") || !asset["version"].is_string()) {
    return false;
  }
  return asset["version"].get_ref<const std::string&>().starts_with("2.");
}

void Append(const void* from, size_t num_bytes, std::vector<std::byte>* to) {
  const auto* bytes = static_cast<const std::byte*>(from);
  to->insert(to->end(), bytes, bytes + num_bytes);
}

void AppendChunk(uint32_t type, std::span<const std::byte> content, std::vector<std::byte>* glb) {
  const auto size = static_cast<uint32_t>(content.size());
  Append(&size, sizeof(size), glb);
  Append(&type, sizeof(type), glb);
  Append(content.data(), content.size(), glb);
}

template <class T>
double ReadAs(const std::byte* bytes) {
  T value = {};
  std::memcpy(&value, bytes, sizeof(T));
  return static_cast<double>(value);
}

constexpr uint64_t kFloat = 5126;
constexpr auto kComponentTypes = std::to_array<ComponentType>({{5120, 1, 127.0, ReadAs<int8_t>},
                                                               {5121, 1, 255.0, ReadAs<uint8_t>},
                                                               {5122, 2, 32767.0, ReadAs<int16_t>},
                                                               {5123, 2, 65535.0, ReadAs<uint16_t>},
                                                               {5125, 4, 1.0, ReadAs<uint32_t>},
                                                               {kFloat, 4, 1.0, ReadAs<float>}});

// The componentType of `object`, or null.
const ComponentType* TypeOf(const json& object) {
  const auto number = GltfDocument::Number(object, "componentType");
  const auto* it = std::find_if(kComponentTypes.begin(), kComponentTypes.end(),
                                [&](const ComponentType& type) { return type.number == number; });
  return it == kComponentTypes.end() ? nullptr : it;
}

size_t ComponentsOf(const json& accessor, const ComponentType& component_type) {
  const json type = accessor.value("type", json());
  if (type == "SCALAR") return 1;
  if (type == "VEC2") return 2;
  if (type == "VEC3") return 3;
  if (type == "VEC4") return 4;
  // Other matrices have padded columns, and no attribute needs them.
  return type == "MAT4" && component_type.number == kFloat ? 16 : 0;
}

// The object at an index, or null.
const json* Element(const json& array, const json& index) {
  if (!index.is_number_unsigned() || index.get<uint64_t>() >= array.size()) return nullptr;
  const json& element = array[index.get<uint64_t>()];
  return element.is_object() ? &element : nullptr;
}

}  // namespace

std::vector<std::byte> WithoutSkins(std::span<const std::byte> bytes) {
  const bool is_glb = IsGlb(bytes);
  json root;
  if (!ParseJson(is_glb ? GlbChunk(bytes, kJsonChunk) : bytes, &root) || root.erase("skins") == 0) {
    return {};
  }
  if (root.contains("nodes") && root["nodes"].is_array()) {
    for (json& node : root["nodes"]) {
      if (node.is_object()) node.erase("skin");
    }
  }
  std::string text = root.dump(-1, ' ', false, json::error_handler_t::replace);
  if (is_glb) text.resize((text.size() + 3) / 4 * 4, ' ');
  const auto content = std::as_bytes(std::span(text));
  std::vector<std::byte> result;
  if (is_glb) {
    const std::span<const std::byte> binary = GlbChunk(bytes, kBinaryChunk);
    const size_t size = 12 + 8 + content.size() + (binary.empty() ? 0 : 8 + binary.size());
    const uint32_t header[3] = {kGlbMagic, ReadU32(bytes, 4), static_cast<uint32_t>(size)};
    result.reserve(size);
    Append(header, sizeof(header), &result);
    AppendChunk(kJsonChunk, content, &result);
    if (!binary.empty()) AppendChunk(kBinaryChunk, binary, &result);
  } else {
    Append(content.data(), content.size(), &result);
  }
  return result;
}

Result<GltfDocument> GltfDocument::Open(const std::string& path) {
  const auto bytes = ReadFile(path, kMaxGltfBytes);
  if (!bytes.ok()) return bytes.error();
  return Parse(bytes.value(), path);
}

Result<GltfDocument> GltfDocument::Parse(std::span<const std::byte> bytes,
                                         const std::string& path) {
  const bool is_glb = IsGlb(bytes);
  GltfDocument document;
  if (!ParseJson(is_glb ? GlbChunk(bytes, kJsonChunk) : bytes, &document.json_)) {
    return Error{ExitCode::kInvalidInput, "'" + path + "' holds no glTF 2.0 document",
                 "IMPORT_FAILED"};
  }
  document.LoadBuffers(path, is_glb ? GlbChunk(bytes, kBinaryChunk) : bytes.first(0));
  return document;
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

std::optional<GltfDocument::Layout> GltfDocument::LayoutOf(const json& place,
                                                           const ComponentType* type,
                                                           size_t num_components,
                                                           uint64_t count) const {
  const auto byte_offset = Number(place, "byteOffset", 0);
  if (!byte_offset || type == nullptr) return std::nullopt;
  const json* view = Element(Top("bufferViews"), place.value("bufferView", json()));
  if (view == nullptr) return std::nullopt;
  const uint64_t element = type->num_bytes * num_components;
  const auto buffer = Number(*view, "buffer");
  const auto offset = Number(*view, "byteOffset", 0);
  const auto length = Number(*view, "byteLength");
  const auto stride = Number(*view, "byteStride", element);
  if (!buffer || !offset || !length || !stride || *buffer >= buffers_.size()) return std::nullopt;
  const std::span<const std::byte> bytes = buffers_[*buffer];
  if (*offset > bytes.size() || *length > bytes.size() - *offset) return std::nullopt;
  // Nothing overflows: all sizes are below 2^53 or below the size of a file that was read.
  if (*stride < element || *stride > 65536 || *byte_offset > *length) return std::nullopt;
  const uint64_t room = *length - *byte_offset;
  if (count > 0 && (room < element || count - 1 > (room - element) / *stride)) return std::nullopt;
  return Layout{bytes.data() + *offset + *byte_offset, *stride, type};
}

std::optional<AccessorValues> GltfDocument::ReadAccessor(const json& index) {
  const json* accessor = Element(Top("accessors"), index);
  if (accessor == nullptr) return std::nullopt;
  const ComponentType* type = TypeOf(*accessor);
  const auto count = Number(*accessor, "count");
  if (type == nullptr || !count || !Number(*accessor, "byteOffset", 0)) return std::nullopt;
  const size_t n = ComponentsOf(*accessor, *type);
  if (n == 0 || *count > numbers_left_ / n) return std::nullopt;
  numbers_left_ -= *count * n;
  AccessorValues result = {static_cast<size_t>(*count), n, std::vector<float>(*count * n)};

  if (accessor->contains("bufferView")) {
    const auto layout = LayoutOf(*accessor, type, n, *count);
    if (!layout) return std::nullopt;
    for (size_t i = 0; i < result.count; ++i) {
      for (size_t k = 0; k < n; ++k) {
        result.values[i * n + k] = static_cast<float>(layout->At(i, k));
      }
    }
  }
  if (accessor->contains("sparse") && !ApplySparse((*accessor)["sparse"], type, &result)) {
    return std::nullopt;
  }
  if (accessor->value("normalized", json(false)) == json(true)) {
    for (float& value : result.values) {
      value = static_cast<float>(std::max(static_cast<double>(value) / type->one, -1.0));
    }
  }
  return result;
}

bool GltfDocument::ApplySparse(const json& sparse, const ComponentType* type,
                               AccessorValues* values) const {
  const auto count = Number(sparse, "count");
  if (!count || *count > values->count) return false;
  const json indices = sparse.value("indices", json());
  const auto from = LayoutOf(indices, TypeOf(indices), 1, *count);
  const size_t n = values->num_components;
  const auto to = LayoutOf(sparse.value("values", json()), type, n, *count);
  if (!from || !to || from->type->number == kFloat) return false;
  for (uint64_t i = 0; i < *count; ++i) {
    const double index = from->At(i, 0);
    if (index < 0.0 || index >= static_cast<double>(values->count)) return false;
    for (size_t k = 0; k < n; ++k) {
      values->values[static_cast<size_t>(index) * n + k] = static_cast<float>(to->At(i, k));
    }
  }
  return true;
}

}  // namespace plush::tools

// SPDX-License-Identifier: MIT
// Reads glTF 2.0: the .glb container, buffers, views, and accessors, which may be strided,
// normalised and sparse.
// Source: Khronos Group. glTF 2.0 Specification. 2021
#include "import/gltf_document.h"

#include "base/text.h"
#include "import/gltf_compression.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <type_traits>

namespace plush::tools {

using nlohmann::json;

namespace {

constexpr uint64_t kMaxWholeNumber = 1ull << 53;
constexpr uint64_t kMaxStride = 65536;
constexpr int kMaxNesting = 100;
// Zeros take no bytes of a file, so that small ones could ask for many.
constexpr uint64_t kZeroCost = 7;
constexpr uint32_t kGlbMagic = 0x46546C67;     // "glTF"
constexpr uint32_t kJsonChunk = 0x4E4F534A;    // "JSON"
constexpr uint32_t kBinaryChunk = 0x004E4942;  // "BIN"

uint32_t ReadU32(std::span<const std::byte> bytes, size_t offset) {
  uint32_t value = 0;
  std::memcpy(&value, bytes.data() + offset, sizeof(value));
  return value;
}

Error Refusal(const std::string& what) { return {ExitCode::kInvalidInput, what, "IMPORT_FAILED"}; }

Error IsGltf1() {
  return {ExitCode::kUnsupported, "glTF 1 is not read; save the model as glTF 2.0",
          "IMPORT_UNSUPPORTED"};
}

struct GlbChunks {
  std::span<const std::byte> text;
  std::span<const std::byte> binary;
};

// The first chunk of each type.
Result<GlbChunks> ReadGlb(std::span<const std::byte> bytes) {
  if (bytes.size() >= 8 && ReadU32(bytes, 4) == 1) return IsGltf1();
  const uint32_t size = bytes.size() < 12 ? 12 : ReadU32(bytes, 8);
  if (size > bytes.size()) {
    return Refusal("the file is cut short: its header says " + std::to_string(size) +
                   " bytes, but it has " + std::to_string(bytes.size()));
  }
  GlbChunks chunks;
  for (size_t offset = 12; bytes.size() - offset >= 8;) {
    const uint64_t length = ReadU32(bytes, offset);
    const uint32_t type = ReadU32(bytes, offset + 4);
    if (length > bytes.size() - offset - 8) {
      return Refusal("the chunk at byte " + std::to_string(offset) + " says " +
                     std::to_string(length) + " bytes, but the file ends before");
    }
    const std::span<const std::byte> content = bytes.subspan(offset + 8, length);
    if (type == kJsonChunk && chunks.text.empty()) chunks.text = content;
    if (type == kBinaryChunk && chunks.binary.empty()) chunks.binary = content;
    offset += 8 + length;
    if (offset >= size) break;  // what follows is no part of the document
  }
  return chunks;
}

Result<json> ParseDocument(std::span<const std::byte> bytes) {
  bool too_deep = false;
  const auto bound_depth = [&too_deep](int depth, json::parse_event_t, json&) {
    too_deep = too_deep || depth > kMaxNesting;
    return !too_deep;
  };
  const char* text = reinterpret_cast<const char*>(bytes.data());
  json root = json::parse(text, text + bytes.size(), bound_depth, false);
  if (too_deep || !root.is_object()) return Refusal("no glTF: its JSON is broken");
  const std::string version = GltfText(GltfMember(root, "asset"), "version");
  if (version.starts_with("2.")) return root;
  if (version.starts_with("1.") || GltfMember(root, "meshes").is_object()) {
    return IsGltf1();
  }
  return Refusal("no glTF 2.0: its version is '" + PrintableUtf8(version) + "'");
}

// The element at an index, or null.
const json* Element(const json& array, const json& index) {
  if (!index.is_number_unsigned() || index.get<uint64_t>() >= array.size()) return nullptr;
  return &array[index.get<uint64_t>()];
}

std::string NameOf(const char* kind, const json& index) {
  return std::string(kind) + " " + (index.is_number_unsigned() ? index.dump() : "?");
}

// 0 for types other than those of NumberArray.
size_t ComponentsOf(const json& accessor) {
  const std::string type = GltfText(accessor, "type");
  if (type == "SCALAR") return 1;
  if (type == "VEC2") return 2;
  if (type == "VEC3") return 3;
  if (type == "VEC4") return 4;
  // Other matrices have padded columns, and no attribute needs them.
  return type == "MAT4" && GltfNumber(accessor, "componentType") == 5126u ? 16 : 0;
}

// Calls `use` with a zero of a componentType; false if there is no such type.
template <class Use>
bool WithType(uint64_t type, const Use& use) {
  switch (type) {
    case 5120:
      return use(int8_t{}), true;
    case 5121:
      return use(uint8_t{}), true;
    case 5122:
      return use(int16_t{}), true;
    case 5123:
      return use(uint16_t{}), true;
    case 5125:
      return use(uint32_t{}), true;
    case 5126:
      return use(float{}), true;
    default:
      return false;
  }
}

size_t SizeOf(uint64_t type) {
  size_t size = 0;
  WithType(type, [&size](auto zero) { size = sizeof(zero); });
  return size;
}

bool IsIndexType(uint64_t type) { return type == 5121 || type == 5123 || type == 5125; }

// A stored number as it is meant. Normalised integers: specification, 3.11.
template <class Number, class Stored>
Number Meaning(Stored stored, bool is_normalized) {
  if constexpr (std::is_integral_v<Stored> && std::is_floating_point_v<Number>) {
    const auto one = static_cast<double>(std::numeric_limits<Stored>::max());
    if (is_normalized) return static_cast<Number>(std::max(stored / one, -1.0));
  }
  return static_cast<Number>(stored);
}

// Writes all numbers one after another. Floats are not for whole numbers.
template <class Number>
void Convert(const NumberArray& from, Number* to) {
  if (from.bytes.empty() || from.count == 0) return;
  WithType(from.type, [&]<class Stored>(Stored) {
    const size_t n = from.num_components;
    if constexpr (std::is_same_v<Stored, Number>) {
      if (from.stride == n * sizeof(Stored)) {
        std::memcpy(to, from.bytes.data(), from.count * from.stride);
        return;
      }
    }
    if constexpr (std::is_integral_v<Stored> || std::is_floating_point_v<Number>) {
      for (uint64_t i = 0; i < from.count; ++i) {
        for (size_t k = 0; k < n; ++k) {
          Stored stored;
          std::memcpy(&stored, &from.bytes[i * from.stride + k * sizeof(Stored)], sizeof(Stored));
          *to++ = Meaning<Number>(stored, from.is_normalized);
        }
      }
    }
  });
}

}  // namespace

Result<GltfDocument> GltfDocument::Parse(std::span<const std::byte> bytes,
                                         const std::string& path) {
  GltfDocument document(path);
  std::span<const std::byte> text = bytes;
  if (bytes.size() >= 4 && ReadU32(bytes, 0) == kGlbMagic) {
    const Result<GlbChunks> chunks = ReadGlb(bytes);
    if (!chunks.ok()) return chunks.error();
    text = chunks.value().text;
    document.glb_chunk_ = chunks.value().binary;
  }
  Result<json> root = ParseDocument(text);
  if (!root.ok()) return root.error();
  document.json_ = std::move(root.value());
  document.buffers_.resize(document.Top("buffers").size());
  document.views_.resize(document.Top("bufferViews").size());
  return document;
}

const json& GltfMember(const json& object, std::string_view key) {
  static const json kNull;
  if (!object.is_object()) return kNull;
  const auto it = object.find(key);
  return it != object.end() ? *it : kNull;
}

const json& GltfExtension(const json& object, std::string_view name) {
  return GltfMember(GltfMember(object, "extensions"), name);
}

std::string GltfText(const json& object, std::string_view key) {
  const json& text = GltfMember(object, key);
  return text.is_string() ? text.get<std::string>() : std::string();
}

std::optional<uint64_t> GltfNumber(const json& object, std::string_view key,
                                   std::optional<uint64_t> fallback) {
  const json& number = GltfMember(object, key);
  if (number.is_null() && object.is_object()) return fallback;
  if (!number.is_number_unsigned()) return std::nullopt;
  const auto value = number.get<uint64_t>();
  return value <= kMaxWholeNumber ? std::optional(value) : std::nullopt;
}

std::string GltfPlace(std::string_view array, size_t index) {
  return std::string(array).append("[").append(std::to_string(index)).append("]");
}

const json& GltfDocument::Top(std::string_view key) const {
  static const json kNone = json::array();
  const json& member = GltfMember(json_, key);
  return member.is_array() ? member : kNone;
}

std::nullopt_t GltfDocument::Problem(std::string what) {
  problem_ = std::move(what);
  return std::nullopt;
}

bool GltfDocument::Spend(uint64_t num_numbers) {
  if (num_numbers > numbers_left_) {
    Problem("the file asks for more than 2^28 numbers, or 2^25 without a view");
    return false;
  }
  numbers_left_ -= num_numbers;
  return true;
}

std::optional<std::span<const std::byte>> GltfDocument::Buffer(const json& index) {
  const json* buffer = Element(Top("buffers"), index);
  if (buffer == nullptr) return Problem("there is no " + NameOf("buffer", index));
  const auto number = index.get<size_t>();
  if (buffers_[number]) return buffers_[number]->content;
  Bytes bytes;
  const std::string uri = GltfText(*buffer, "uri");
  if (!uri.empty()) {
    const bool is_data = uri.starts_with("data:");
    auto content = is_data ? DecodeDataUri(uri) : files_.Read(uri);
    if (!content && is_data) return Problem(GltfPlace("buffers", number) + " is no base64");
    if (!content) return Problem("cannot read its buffer '" + PrintableUtf8(uri) + "'");
    bytes.owned = std::move(*content);
    bytes.content = bytes.owned;
  } else if (number == 0) {
    bytes.content = glb_chunk_;
  } else {
    return Problem(GltfPlace("buffers", number) + " has no data");
  }
  return buffers_[number].emplace(std::move(bytes)).content;
}

// The bytes that a buffer view, or the object of its compression, names.
std::optional<std::span<const std::byte>> GltfDocument::Piece(const json& place) {
  const auto offset = GltfNumber(place, "byteOffset", 0);
  const auto length = GltfNumber(place, "byteLength");
  const auto bytes = Buffer(GltfMember(place, "buffer"));
  if (!bytes) return std::nullopt;
  if (!offset || !length || *offset > bytes->size() || *length > bytes->size() - *offset) {
    return Problem("impossible place in a buffer of " + std::to_string(bytes->size()) + " bytes");
  }
  return bytes->subspan(*offset, *length);
}

std::optional<std::span<const std::byte>> GltfDocument::View(const json& index) {
  const json* view = Element(Top("bufferViews"), index);
  if (view == nullptr) return Problem("there is no " + NameOf("bufferView", index));
  const auto number = index.get<size_t>();
  if (views_[number]) return views_[number]->content;
  Bytes bytes;
  const json& compression = GltfExtension(*view, "EXT_meshopt_compression");
  const auto piece = Piece(compression.is_object() ? compression : *view);
  if (!piece) return Problem(GltfPlace("bufferViews", number) + ": " + problem_);
  bytes.content = *piece;
  if (compression.is_object()) {
    const uint64_t size = GltfNumber(*view, "byteLength").value_or(0);
    if (!Spend(size / sizeof(float))) return std::nullopt;
    if (!DecodeMeshopt(compression, *piece, size, &bytes.owned)) {
      return Problem(GltfPlace("bufferViews", number) + ": EXT_meshopt_compression is damaged");
    }
    bytes.content = bytes.owned;
  }
  return views_[number].emplace(std::move(bytes)).content;
}

// Finds `numbers`, whose count, type and components are known, in the view that `place` names.
bool GltfDocument::Locate(const json& place, NumberArray* numbers) {
  const auto bytes = View(GltfMember(place, "bufferView"));
  if (!bytes) return false;
  const auto offset = GltfNumber(place, "byteOffset", 0);
  const json& view = Top("bufferViews")[GltfMember(place, "bufferView").get<size_t>()];
  const uint64_t element = SizeOf(numbers->type) * numbers->num_components;
  const uint64_t stride = GltfNumber(view, "byteStride", 0).value_or(UINT64_MAX);
  const uint64_t count = numbers->count;
  numbers->stride = stride == 0 ? element : stride;
  if (!offset || *offset > bytes->size() || numbers->stride < element ||
      numbers->stride > kMaxStride) {
    Problem("impossible offset or stride");
    return false;
  }
  // Nothing overflows: strides are small, and the view's bytes exist.
  const uint64_t room = bytes->size() - *offset;
  if (count > 0 && (room < element || count - 1 > (room - element) / numbers->stride)) {
    Problem(std::to_string(count) + " elements do not fit into its view of " +
            std::to_string(bytes->size()) + " bytes");
    return false;
  }
  numbers->bytes = bytes->subspan(*offset);
  return true;
}

std::optional<NumberArray> GltfDocument::FindAccessor(const json& index,
                                                      const NumberArray* decoded) {
  const json* accessor = Element(Top("accessors"), index);
  if (accessor == nullptr) return Problem("it does not exist");
  NumberArray numbers = decoded != nullptr ? *decoded : NumberArray();
  const auto count = GltfNumber(*accessor, "count");
  const size_t n = ComponentsOf(*accessor);
  if (decoded == nullptr) numbers.type = GltfNumber(*accessor, "componentType").value_or(0);
  if (!count || n == 0 || SizeOf(numbers.type) == 0) return Problem("impossible count or type");
  if (decoded != nullptr && (*count != decoded->count || n != decoded->num_components)) {
    return Problem(std::to_string(*count) + " elements, but " + std::to_string(decoded->count) +
                   " were decoded");
  }
  if (!Spend(*count) || !Spend(*count * (n - 1))) return std::nullopt;
  numbers.count = *count;
  numbers.num_components = n;
  numbers.is_normalized = GltfMember(*accessor, "normalized") == json(true);
  if (decoded != nullptr) return numbers;
  const bool has_view = accessor->contains("bufferView");
  if (has_view ? !Locate(*accessor, &numbers) : !Spend(*count * n * kZeroCost)) return std::nullopt;
  return numbers;
}

template <class Number>
std::optional<std::vector<Number>> GltfDocument::Load(const json& index,
                                                      const NumberArray& numbers) {
  std::vector<Number> values(numbers.count * numbers.num_components);
  Convert(numbers, values.data());
  const json& sparse = GltfMember(Top("accessors")[index.get<size_t>()], "sparse");
  if (!sparse.is_null() && !ApplySparse(sparse, numbers, &values)) return std::nullopt;
  return values;
}

template <class Number>
bool GltfDocument::ApplySparse(const json& sparse, NumberArray numbers,
                               std::vector<Number>* values) {
  const uint64_t limit = numbers.count;
  const json& indices = GltfMember(sparse, "indices");
  numbers.count = GltfNumber(sparse, "count").value_or(UINT64_MAX);
  NumberArray places = {{}, numbers.count, 0, 1, GltfNumber(indices, "componentType").value_or(0)};
  if (numbers.count > limit || !IsIndexType(places.type)) {
    Problem("impossible count or type of sparse values");
    return false;
  }
  if (!Locate(indices, &places) || !Locate(GltfMember(sparse, "values"), &numbers)) return false;
  const size_t n = numbers.num_components;
  std::vector<uint32_t> to(places.count);
  std::vector<Number> from(places.count * n);
  Convert(places, to.data());
  Convert(numbers, from.data());
  for (size_t i = 0; i < to.size(); ++i) {
    if (to[i] >= limit) {
      Problem("a sparse value has the index " + std::to_string(to[i]));
      return false;
    }
    std::copy_n(from.data() + i * n, n, values->data() + to[i] * n);
  }
  return true;
}

std::optional<AccessorValues> GltfDocument::ReadAccessor(const json& index,
                                                         const NumberArray* decoded) {
  const auto numbers = FindAccessor(index, decoded);
  auto values = numbers ? Load<float>(index, *numbers) : std::nullopt;
  if (!values) return Problem(NameOf("accessor", index) + ": " + problem_);
  return AccessorValues{numbers->count, numbers->num_components, std::move(*values)};
}

std::optional<std::vector<uint32_t>> GltfDocument::ReadIndices(const json& index) {
  const auto numbers = FindAccessor(index, nullptr);
  if (numbers && (!IsIndexType(numbers->type) || numbers->num_components != 1)) {
    return Problem(NameOf("accessor", index) + " does not hold unsigned whole numbers");
  }
  auto values = numbers ? Load<uint32_t>(index, *numbers) : std::nullopt;
  if (!values) return Problem(NameOf("accessor", index) + ": " + problem_);
  return values;
}

void GltfDocument::LookForOtherFiles() {
  const auto look_for = [this](const json& object) {
    const std::string uri = GltfText(object, "uri");
    if (!uri.empty() && !uri.starts_with("data:")) files_.LookFor(uri);
  };
  for (const json& image : Top("images")) look_for(image);
  for (size_t i = 0; i < buffers_.size(); ++i) {
    const json& buffer = Top("buffers")[i];
    const bool is_fallback = GltfExtension(buffer, "EXT_meshopt_compression").is_object();
    if (!buffers_[i] && !is_fallback) look_for(buffer);
  }
}

}  // namespace plush::tools

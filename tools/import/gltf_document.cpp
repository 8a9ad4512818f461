// SPDX-License-Identifier: MIT
// Reads glTF 2.0: the .glb container, JSON, buffers and views. Resolves URIs: separate files by
// percent-decoded relative paths (RFC 3986), and data in base64 (RFC 4648; padding is optional).
// Sources: Khronos Group. glTF 2.0 Specification. 2021; glTF 2.0 Extension Registry. 2026
#include "import/gltf_document.h"

#include "base/base64.h"
#include "base/files.h"
#include "base/text.h"
#include "import/side_files.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <sstream>
#include <tuple>
#include <utility>

namespace plush::tools {

using nlohmann::json;

namespace {

constexpr uint64_t kMaxFileBytes = 2ull << 30;  // of each file that a document refers to
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

[[noreturn]] void RefuseGltf1() {
  throw Error{ExitCode::kUnsupported, "glTF 1 is not read; save the model as glTF 2.0",
              "IMPORT_UNSUPPORTED"};
}

// The JSON and the binary data: the first chunk of each type.
std::pair<std::span<const std::byte>, std::span<const std::byte>> ReadGlb(
    std::span<const std::byte> bytes) {
  if (bytes.size() >= 8 && ReadU32(bytes, 4) == 1) RefuseGltf1();
  const uint32_t size = bytes.size() < 12 ? 12 : ReadU32(bytes, 8);
  if (size > bytes.size()) {
    RefuseGltf("the file is cut short: its header says " + std::to_string(size) +
               " bytes, but it has " + std::to_string(bytes.size()));
  }
  std::span<const std::byte> text, binary;
  for (size_t offset = 12; bytes.size() - offset >= 8;) {
    const uint64_t length = ReadU32(bytes, offset);
    const uint32_t type = ReadU32(bytes, offset + 4);
    if (length > bytes.size() - offset - 8) {
      RefuseGltf("the chunk at byte " + std::to_string(offset) + " says " + std::to_string(length) +
                 " bytes, but the file ends before");
    }
    const std::span<const std::byte> content = bytes.subspan(offset + 8, length);
    if (type == kJsonChunk && text.empty()) text = content;
    if (type == kBinaryChunk && binary.empty()) binary = content;
    offset += 8 + length;
    if (offset >= size) break;  // what follows is no part of the document
  }
  return {text, binary};
}

json ParseDocument(std::span<const std::byte> bytes) {
  bool too_deep = false;
  const auto bound_depth = [&too_deep](int depth, json::parse_event_t, json&) {
    too_deep = too_deep || depth > kMaxNesting;
    return !too_deep;
  };
  const char* text = reinterpret_cast<const char*>(bytes.data());
  json root = json::parse(text, text + bytes.size(), bound_depth, false);
  if (too_deep || !root.is_object()) RefuseGltf("no glTF: its JSON is broken");
  const std::string version = GltfText(GltfMember(root, "asset"), "version");
  if (version.starts_with("2.")) return root;
  if (version.starts_with("1.") || GltfMember(root, "meshes").is_object()) RefuseGltf1();
  RefuseGltf("no glTF 2.0: its version is '" + PrintableUtf8(version) + "'");
}

// Decodes "%20" and the like.
std::string DecodePercent(const std::string& uri) {
  std::string path;
  for (size_t i = 0; i < uri.size(); ++i) {
    uint8_t code = 0;
    const char* digits = uri.data() + i + 1;
    const bool escaped = uri[i] == '%' && i + 2 < uri.size() &&
                         std::from_chars(digits, digits + 2, code, 16).ptr == digits + 2;
    path += escaped ? static_cast<char>(code) : uri[i];
    if (escaped) i += 2;
  }
  return path;
}

std::string NormalPath(const std::string& folder, const std::string& name) {
  return (std::filesystem::path(folder) / name).lexically_normal().string();
}

// The content of a "data:" URI; nothing if it is not in base64.
std::optional<std::vector<std::byte>> DecodeDataUri(std::string_view uri) {
  const size_t begin = uri.find(";base64,");
  if (begin == uri.npos) return std::nullopt;
  std::string_view text = uri.substr(begin + 8);
  while (text.ends_with('=')) text.remove_suffix(1);
  std::vector<std::byte> bytes = BytesOfBase64(text);
  const bool is_whole =
      text.size() % 4 != 1 && bytes.size() == text.size() / 4 * 3 + text.size() % 4 * 3 / 4;
  return is_whole ? std::optional(std::move(bytes)) : std::nullopt;
}

// Beginnings of names. Extensions that are read, or that change no geometry: materials, pictures,
// lights, sounds, metadata, animation, physics.
constexpr char kHarmless[] =
    "KHR_mesh_quantization EXT_meshopt_compression KHR_draco_mesh_compression "
    "EXT_mesh_gpu_instancing KHR_texture_ EXT_texture_ MSFT_texture_ MSFT_packing_ KHR_materials_ "
    "EXT_materials_ ADOBE_materials_ NV_materials_ KHR_technique KHR_lights_ EXT_lights_ KHR_audio "
    "MSFT_audio_ KHR_xmp EXT_structural_metadata EXT_mesh_features EXT_instance_features "
    "EXT_mesh_manifold FB_ngon_encoding FB_geometry_metadata CESIUM_primitive_outline AGI_ OMI_ "
    "VRM KHR_animation_pointer KHR_interactivity KHR_node_hoverability KHR_node_selectability "
    "KHR_physics_ KHR_implicit_shapes MSFT_lod GODOT_single_root";

// Without these, what is read is placed otherwise, or has other triangles.
constexpr char kGeometry[] =
    "KHR_node_visibility CESIUM_RTC EXT_mesh_primitive_restart KHR_mesh_primitive_restart "
    "KHR_gaussian_splatting";

bool IsListed(const char* beginnings, const std::string& name) {
  std::istringstream words(beginnings);
  const std::istream_iterator<std::string> first(words);
  return std::any_of(first, {}, [&](const std::string& word) { return name.starts_with(word); });
}

// The names in a list of extensions that are neither read nor harmless.
std::set<std::string> OtherExtensions(const json& list) {
  std::set<std::string> names;
  for (size_t i = 0; list.is_array() && i < list.size(); ++i) {
    if (!list[i].is_string()) continue;
    const std::string name = PrintableUtf8(list[i].get_ref<const std::string&>());
    if (!IsListed(kHarmless, name)) names.insert(name);
  }
  return names;
}

}  // namespace

void CheckGltfExtensions(const json& root, std::vector<RawFinding>* findings) {
  for (const auto& name : OtherExtensions(GltfMember(root, "extensionsRequired"))) {
    throw Error{ExitCode::kUnsupported,
                "the file requires the extension " + name +
                    ", which is not read; save it without that extension",
                "IMPORT_UNSUPPORTED"};
  }
  for (const auto& name : OtherExtensions(GltfMember(root, "extensionsUsed"))) {
    if (IsListed(kGeometry, name)) {
      findings->push_back({"IMPORT_EXTENSION", 1, "the extension " + name + " is not applied"});
    } else {
      findings->push_back({"IMPORT_LEFT_OUT", 1, "the extension " + name + " is unknown"});
    }
  }
}

void RefuseGltf(const std::string& what) {
  throw Error{ExitCode::kInvalidInput, what, "IMPORT_FAILED"};
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
  return GltfIndex(number, kMaxWholeNumber + 1);
}

std::optional<size_t> GltfIndex(const json& index, size_t size) {
  const bool is_valid = index.is_number_unsigned() && index.get<uint64_t>() < size;
  return is_valid ? std::optional(index.get<size_t>()) : std::nullopt;
}

bool GltfNumbers(const json& array, std::span<double> numbers) {
  if (array.is_null()) return true;
  if (!array.is_array() || array.size() != numbers.size()) return false;
  for (size_t i = 0; i < numbers.size(); ++i) {
    if (!array[i].is_number()) return false;
    numbers[i] = array[i].get<double>();
  }
  return true;
}

std::string GltfPlace(std::string_view array, size_t index) {
  return std::string(array).append("[").append(std::to_string(index)).append("]");
}

Result<GltfDocument> GltfDocument::Parse(std::span<const std::byte> bytes,
                                         const std::string& path) {
  GltfDocument document;
  document.folder_ = std::filesystem::path(path).parent_path().string();
  try {
    std::span<const std::byte> text = bytes;
    const bool is_glb = bytes.size() >= 4 && ReadU32(bytes, 0) == kGlbMagic;
    if (is_glb) std::tie(text, document.glb_chunk_) = ReadGlb(bytes);
    document.json_ = ParseDocument(text);
  } catch (const Error& error) {
    return error;
  }
  document.buffers_.resize(document.Top("buffers").size());
  document.views_.resize(document.Top("bufferViews").size());
  return document;
}

const json& GltfDocument::Top(std::string_view key) const {
  static const json kNone = json::array();
  const json& member = GltfMember(json_, key);
  return member.is_array() ? member : kNone;
}

// The path of a regular file. Notes that it is missing and returns "" if there is none.
std::string GltfDocument::FindFile(const std::string& uri) {
  const std::string decoded = DecodePercent(uri);
  std::string slashes = decoded;
  std::replace(slashes.begin(), slashes.end(), '\\', '/');
  for (const std::string& name : {decoded, uri, slashes}) {
    std::error_code error;
    const std::string path = NormalPath(folder_, name);
    if (std::filesystem::is_regular_file(path, error)) return path;
  }
  files_missing_.insert(NormalPath(folder_, decoded));
  return "";
}

// The content of a buffer's URI; `place` names the buffer.
std::vector<std::byte> GltfDocument::ReadUri(const std::string& uri, const std::string& place) {
  if (uri.starts_with("data:")) {
    auto decoded = DecodeDataUri(uri);
    if (decoded) return std::move(*decoded);
    RefuseGltf(place + " is no base64");
  }
  const std::string path = FindFile(uri);
  if (!path.empty()) {
    auto bytes = ReadFile(path, kMaxFileBytes);
    if (bytes.ok()) {
      files_read_.insert(path);
      return std::move(bytes.value());
    }
    files_missing_.insert(NormalPath(folder_, DecodePercent(uri)));
  }
  RefuseGltf("cannot read its buffer '" + PrintableUtf8(uri) + "'");
}

void GltfDocument::AddFiles(RawScene* scene) {
  const auto look_for = [this](const json& object) {
    const std::string uri = GltfText(object, "uri");
    if (!uri.empty() && !uri.starts_with("data:")) FindFile(uri);
  };
  for (const json& image : Top("images")) look_for(image);
  for (size_t i = 0; i < buffers_.size(); ++i) {
    const json& buffer = Top("buffers")[i];
    const bool is_fallback = GltfExtension(buffer, "EXT_meshopt_compression").is_object();
    if (!buffers_[i] && !is_fallback) look_for(buffer);
  }
  scene->dependencies.assign(files_read_.begin(), files_read_.end());
  AddMissingFiles(files_missing_, scene);
}

// Element `index` of the top-level `array`, whose name ends with "s".
const json& GltfDocument::Find(const std::string& array, const json& index) {
  const auto number = GltfIndex(index, Top(array).size());
  if (number) return Top(array)[*number];
  RefuseGltf("there is no " + array.substr(0, array.size() - 1) + " " +
             (index.is_number_unsigned() ? index.dump() : "?"));
}

std::span<const std::byte> GltfDocument::Buffer(const json& index) {
  const json& buffer = Find("buffers", index);
  const auto number = index.get<size_t>();
  if (buffers_[number]) return buffers_[number]->content;
  const std::string uri = GltfText(buffer, "uri");
  const std::string place = GltfPlace("buffers", number);
  if (uri.empty() && number > 0) RefuseGltf(place + " has no data");
  Bytes bytes = {{}, glb_chunk_};
  if (!uri.empty()) {
    bytes.owned = ReadUri(uri, place);
    bytes.content = bytes.owned;
  }
  return buffers_[number].emplace(std::move(bytes)).content;
}

// The bytes that a buffer view, or the object of its compression, names.
std::span<const std::byte> GltfDocument::Piece(const json& place) {
  const auto offset = GltfNumber(place, "byteOffset", 0);
  const auto length = GltfNumber(place, "byteLength");
  const std::span<const std::byte> bytes = Buffer(GltfMember(place, "buffer"));
  if (!offset || !length || *offset > bytes.size() || *length > bytes.size() - *offset) {
    RefuseGltf("impossible place in a buffer of " + std::to_string(bytes.size()) + " bytes");
  }
  return bytes.subspan(*offset, *length);
}

std::span<const std::byte> GltfDocument::View(const json& index) {
  const json& view = Find("bufferViews", index);
  const auto number = index.get<size_t>();
  if (views_[number]) return views_[number]->content;
  try {
    const json& compression = GltfExtension(view, "EXT_meshopt_compression");
    Bytes bytes = {{}, Piece(compression.is_object() ? compression : view)};
    if (compression.is_object()) {
      const uint64_t size = GltfNumber(view, "byteLength").value_or(0);
      Spend(size / sizeof(float));
      if (!DecodeMeshopt(compression, bytes.content, size, &bytes.owned)) {
        RefuseGltf("EXT_meshopt_compression is damaged");
      }
      bytes.content = bytes.owned;
    }
    return views_[number].emplace(std::move(bytes)).content;
  } catch (const Error& error) {
    throw error.WithContext(GltfPlace("bufferViews", number));
  }
}

}  // namespace plush::tools

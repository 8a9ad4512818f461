// SPDX-License-Identifier: MIT
#include "import/gltf_document.h"

#include "base/files.h"
#include "import/base64.h"

#include <algorithm>
#include <cctype>
#include <cstring>
#include <filesystem>

namespace plush::tools {
namespace {

using nlohmann::json;

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

// The content of the first chunk of a type; empty where there is none.
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

// "%20" and the like.
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

}  // namespace

Result<GltfDocument> GltfDocument::Open(const std::string& path) {
  const auto bytes = ReadFile(path, kMaxFileBytes);
  if (!bytes.ok()) return bytes.error();
  const std::span<const std::byte> all = bytes.value();
  GltfDocument document;
  if (!document.Parse(IsGlb(all) ? GlbChunk(all, kJsonChunk) : all)) {
    return Error{ExitCode::kInvalidInput, "'" + path + "' holds no glTF 2.0 document",
                 "IMPORT_FAILED"};
  }
  document.LoadBuffers(path, IsGlb(all) ? GlbChunk(all, kBinaryChunk) : all.first(0));
  return document;
}

bool GltfDocument::Parse(std::span<const std::byte> bytes) {
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

}  // namespace plush::tools

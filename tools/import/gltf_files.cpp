// SPDX-License-Identifier: MIT
// Resolves the URIs of glTF documents: separate files by percent-decoded relative paths (RFC 3986),
// and data in base64 (RFC 4648).
#include "import/gltf_files.h"

#include "base/files.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <filesystem>
#include <utility>

namespace plush::tools {
namespace {

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

std::string NormalPath(const std::string& folder, const std::string& name) {
  return (std::filesystem::path(folder) / name).lexically_normal().string();
}

// The number of each character of the alphabet; 64 for all others.
constexpr auto kSixBits = [] {
  std::array<uint8_t, 256> numbers = {};
  numbers.fill(64);
  uint8_t next = 0;
  for (const char c : std::string_view("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
                                       "0123456789+/")) {
    numbers[static_cast<unsigned char>(c)] = next++;
  }
  return numbers;
}();

}  // namespace

std::optional<std::vector<std::byte>> DecodeDataUri(std::string_view uri) {
  const size_t begin = uri.find(";base64,");
  if (begin == uri.npos) return std::nullopt;
  std::string_view text = uri.substr(begin + 8);
  while (!text.empty() && text.back() == '=') text.remove_suffix(1);
  if (text.size() % 4 == 1) return std::nullopt;
  std::vector<std::byte> bytes;
  bytes.reserve(text.size() / 4 * 3 + 2);
  uint32_t bits = 0;
  int num_bits = 0;
  for (const char c : text) {
    const uint8_t six = kSixBits[static_cast<unsigned char>(c)];
    if (six == 64) return std::nullopt;
    bits = (bits << 6 | six) & 0xFFFFFF;
    num_bits += 6;
    if (num_bits < 8) continue;
    num_bits -= 8;
    bytes.push_back(static_cast<std::byte>(bits >> num_bits));
  }
  return bytes;
}

GltfFiles::GltfFiles(const std::string& gltf_path)
    : folder_(std::filesystem::path(gltf_path).parent_path().string()) {}

// The path of a regular file, or "".
std::string GltfFiles::Find(const std::string& uri) const {
  std::string slashes = DecodePercent(uri);
  std::replace(slashes.begin(), slashes.end(), '\\', '/');
  for (const std::string& name : {DecodePercent(uri), uri, slashes}) {
    std::error_code error;
    const std::string path = NormalPath(folder_, name);
    if (std::filesystem::is_regular_file(path, error)) return path;
  }
  return "";
}

void GltfFiles::AddMissing(const std::string& uri) {
  missing_.insert(NormalPath(folder_, DecodePercent(uri)));
}

std::optional<std::vector<std::byte>> GltfFiles::Read(const std::string& uri) {
  const std::string path = Find(uri);
  if (!path.empty()) {
    auto bytes = ReadFile(path, kMaxGltfBytes);
    if (bytes.ok()) {
      read_.insert(path);
      return std::move(bytes.value());
    }
  }
  AddMissing(uri);
  return std::nullopt;
}

void GltfFiles::LookFor(const std::string& uri) {
  if (Find(uri).empty()) AddMissing(uri);
}

}  // namespace plush::tools

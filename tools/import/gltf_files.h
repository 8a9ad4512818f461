// SPDX-License-Identifier: MIT
// The separate files of a glTF document, and data inside its URIs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace plush::tools {

/// Largest glTF file, and largest file that one refers to [bytes].
inline constexpr uint64_t kMaxGltfBytes = 2ull << 30;

/// The content of a "data:" URI; nothing if it is not in base64 (RFC 4648; padding is optional).
std::optional<std::vector<std::byte>> DecodeDataUri(std::string_view uri);

/// Finds files by their URIs, and records which it found.
/// - Decodes "%20" and the like; takes "\" for "/" if there is no such file otherwise.
/// - Finds regular files only.
class GltfFiles {
 public:
  /// `gltf_path` is the document; URIs are relative to its folder.
  explicit GltfFiles(const std::string& gltf_path);

  /// The content of a file; nothing if it is missing, unreadable or larger than kMaxGltfBytes.
  std::optional<std::vector<std::byte>> Read(const std::string& uri);

  /// Looks whether a file exists, without reading it.
  void LookFor(const std::string& uri);

  /// Normal forms of the paths that were read.
  const std::set<std::string>& read() const { return read_; }
  /// Normal forms of the paths that name no readable file.
  const std::set<std::string>& missing() const { return missing_; }

 private:
  std::string Find(const std::string& uri) const;
  void AddMissing(const std::string& uri);

  std::string folder_;
  std::set<std::string> read_;
  std::set<std::string> missing_;
};

}  // namespace plush::tools

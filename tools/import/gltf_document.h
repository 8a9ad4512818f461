// SPDX-License-Identifier: MIT
// Reads glTF 2.0 documents with their buffers. Checks every offset and count before use.
#pragma once

#include "base/result.h"

#include <nlohmann/json.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace plush::tools {

struct ComponentType;
struct RawScene;

/// The numbers of an accessor, element by element.
struct AccessorValues {
  size_t count = 0;           ///< elements
  size_t num_components = 1;  ///< 1 for SCALAR, 2 to 4 for vectors, 16 for MAT4
  std::vector<float> values;  ///< (count x num_components)
};

/// The JSON of a .gltf or .glb file, and its buffers: the binary chunk, data URIs, separate files.
class GltfDocument {
 public:
  /// Reads a file. A buffer that cannot be read stays empty, so accessors that use it are invalid.
  /// Errors: kIo, kLimit, kInvalidInput (no glTF 2.0 JSON, or nested beyond 100 levels).
  static Result<GltfDocument> Open(const std::string& path);

  /// Reads the bytes of file `path`, whose folder holds the separate files. Errors: kInvalidInput.
  static Result<GltfDocument> Parse(std::span<const std::byte> bytes, const std::string& path);

  const nlohmann::json& root() const { return json_; }

  /// Top-level array `key`; empty if it is missing or not an array.
  const nlohmann::json& Top(const std::string& key) const;

  /// Values of accessor `index` as floats, from any component type. Maps normalised integers, and
  /// applies sparse substitutions. Nothing if
  /// - any part of the accessor is invalid,
  /// - it is a matrix other than a MAT4 of floats, or
  /// - this document would return more than 2^28 numbers in total.
  std::optional<AccessorValues> ReadAccessor(const nlohmann::json& index);

  /// Member `key` of `object`; `fallback` if it is missing; nothing if it is no whole number from 0
  /// to 2^53.
  static std::optional<uint64_t> Number(const nlohmann::json& object, const std::string& key,
                                        std::optional<uint64_t> fallback = std::nullopt);

 private:
  struct Layout;  // a run of elements in a buffer

  void LoadBuffers(const std::string& path, std::span<const std::byte> glb_chunk);
  std::optional<Layout> LayoutOf(const nlohmann::json& place, const ComponentType* type,
                                 size_t num_components, uint64_t count) const;
  bool ApplySparse(const nlohmann::json& sparse, const ComponentType* type,
                   AccessorValues* values) const;

  nlohmann::json json_;
  std::vector<std::vector<std::byte>> buffers_;
  uint64_t numbers_left_ = 1ull << 28;
};

/// Largest glTF file, and largest file that one refers to [bytes].
inline constexpr uint64_t kMaxGltfBytes = 2ull << 30;

/// The bytes of a glTF 2.0 file without its skins, for Assimp, which crashes on some legal ones
/// (5.2 on those without inverse bind matrices). AddGltfSkins reads skins. Empty if the file has
/// none or is no glTF 2.0.
std::vector<std::byte> WithoutSkins(std::span<const std::byte> bytes);

/// Adds the data that Assimp dropped when it read `scene` from the glTF 2.0 file `path`:
/// - attributes named "_..." of each primitive (vectors as "_name.x" to "_name.w");
/// - texture coordinates bit for bit (Assimp flips them), and the mesh's own name;
/// - extras, with owners "scene", "node:NAME", "mesh:NAME", "material:NAME"; for an owner without a
///   name, its place, as in "node:nodes[3]";
/// - skins (AddGltfSkins).
///
/// Matches primitives to meshes by vertex count and bit-equal positions, else by vertex count and
/// name. A mesh without a match stays unchanged. A file that cannot be read adds nothing.
void AddGltfSideData(const std::string& path, RawScene* scene);

}  // namespace plush::tools

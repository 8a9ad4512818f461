// SPDX-License-Identifier: MIT
// A glTF 2.0 document with its buffers. Every offset and count is checked before it is used.
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

struct RawScene;

/// Numbers of an accessor, element after element.
struct AccessorValues {
  size_t count = 0;           ///< elements
  size_t num_components = 1;  ///< 1 for SCALAR, 2 to 4 for vectors, 16 for MAT4
  std::vector<float> values;  ///< (count x num_components)
};

/// The JSON of a .gltf or .glb file and its buffers: the GLB's own chunk, data URIs, files beside.
class GltfDocument {
 public:
  /// Reads a file. A buffer that cannot be read is left empty; accessors that use it are invalid.
  /// Errors: kIo, kLimit, kInvalidInput (no glTF 2.0 JSON, or nested beyond 100 levels).
  static Result<GltfDocument> Open(const std::string& path);

  /// Reads the bytes of a file; `path` names it in errors and locates the files beside it.
  /// Errors: kInvalidInput.
  static Result<GltfDocument> Parse(std::span<const std::byte> bytes, const std::string& path);

  const nlohmann::json& root() const { return json_; }

  /// Array `key` of the document's top level; empty if it is missing or no array.
  const nlohmann::json& Top(const std::string& key) const;

  /// Values of accessor `index` as floats: every component type, normalised integers mapped as the
  /// specification says, sparse substitutions applied. Nothing if
  /// - any part of the accessor is invalid,
  /// - it is a matrix other than a MAT4 of floats, or
  /// - this document has returned more than 2^28 numbers in total (a file may name an accessor any
  ///   number of times).
  std::optional<AccessorValues> ReadAccessor(const nlohmann::json& index);

  /// Member `key` of `object` as a whole number; `fallback` if it is missing, nothing if it is not
  /// a whole number of 0 to 2^53.
  static std::optional<uint64_t> Number(const nlohmann::json& object, const std::string& key,
                                        std::optional<uint64_t> fallback = std::nullopt);

 private:
  struct Layout;  // of one run of elements in a buffer

  bool ParseJson(std::span<const std::byte> bytes);
  void LoadBuffers(const std::string& path, std::span<const std::byte> glb_chunk);
  std::optional<Layout> LayoutOf(const nlohmann::json& view, uint64_t byte_offset, uint64_t count,
                                 uint64_t component_type, size_t num_components) const;
  bool ApplySparse(const nlohmann::json& sparse, const nlohmann::json& accessor,
                   AccessorValues* values) const;

  nlohmann::json json_;
  std::vector<std::vector<std::byte>> buffers_;
  uint64_t numbers_left_ = 1ull << 28;
};

/// Adds to `scene`, which Assimp read from the glTF 2.0 file `path`, what Assimp drops:
/// - attributes named "_..." of each primitive (vectors as "_name.x" to "_name.w");
/// - texture coordinates bit for bit (Assimp flips them), and the mesh's own name;
/// - extras, with owners "scene", "node:NAME", "mesh:NAME", "material:NAME"; unnamed owners go by
///   their place, as in "node:nodes[3]".
/// Primitives are matched to meshes by vertex count and bit-equal positions, else by name and
/// count; a mesh without a match stays as it is. A file that cannot be read adds nothing.
void AddGltfSideData(const std::string& path, RawScene* scene);

}  // namespace plush::tools

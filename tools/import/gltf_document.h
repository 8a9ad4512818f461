// SPDX-License-Identifier: MIT
// A glTF 2.0 document with its buffers, read with every offset and count checked.
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

/// Numbers of an accessor, element after element.
struct AccessorValues {
  size_t count = 0;           ///< elements
  size_t num_components = 1;  ///< 1 for SCALAR, 2 to 4 for vectors
  std::vector<float> values;  ///< (count x num_components)
};

/// The JSON of a .gltf or .glb file and its buffers: the GLB's own chunk, data URIs, files beside.
class GltfDocument {
 public:
  /// Reads a file. Buffers that cannot be had are left empty; what points into them is not
  /// readable. Errors: kIo, kLimit, kInvalidInput (no glTF 2.0 JSON, or nested beyond 100 levels).
  static Result<GltfDocument> Open(const std::string& path);

  const nlohmann::json& root() const { return json_; }

  /// Array `key` of the document's top level; empty where it is missing or no array.
  const nlohmann::json& Top(const std::string& key) const;

  /// Values of accessor `index` as floats: every component type, normalised integers mapped as the
  /// specification says, sparse substitutions applied. Nothing where any part of it is invalid, it
  /// is a matrix, or this document has given out more than 2^28 numbers altogether (accessors may
  /// be referred to any number of times).
  std::optional<AccessorValues> ReadAccessor(const nlohmann::json& index);

  /// Member `key` of `object` as a whole number; `fallback` where it is missing, nothing where it
  /// is no number of 0 to 2^53.
  static std::optional<uint64_t> Number(const nlohmann::json& object, const std::string& key,
                                        std::optional<uint64_t> fallback = std::nullopt);

 private:
  struct Layout;  // of one run of elements in a buffer

  bool Parse(std::span<const std::byte> bytes);
  void LoadBuffers(const std::string& path, std::span<const std::byte> glb_chunk);
  std::optional<Layout> LayoutOf(const nlohmann::json& view, uint64_t byte_offset, uint64_t count,
                                 uint64_t component_type, size_t num_components) const;
  bool ApplySparse(const nlohmann::json& sparse, const nlohmann::json& accessor,
                   AccessorValues* values) const;

  nlohmann::json json_;
  std::vector<std::vector<std::byte>> buffers_;
  uint64_t numbers_left_ = 1ull << 28;
};

}  // namespace plush::tools

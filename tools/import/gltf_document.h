// SPDX-License-Identifier: MIT
// Reads glTF 2.0 documents with their buffers. Checks every offset and count before use.
#pragma once

#include "base/result.h"
#include "import/gltf_files.h"

#include <nlohmann/json.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace plush::tools {

/// Numbers in memory, element by element.
struct NumberArray {
  std::span<const std::byte> bytes;  ///< from the first element on
  uint64_t count = 0;                ///< elements
  uint64_t stride = 0;               ///< from an element to the next [bytes]
  size_t num_components = 1;         ///< 1 for SCALAR, 2 to 4 for vectors, 16 for MAT4
  uint64_t type = 0;                 ///< a componentType
  bool is_normalized = false;        ///< integers: the largest one means 1
};

/// The numbers of an accessor, element by element.
struct AccessorValues {
  size_t count = 0;           ///< elements
  size_t num_components = 1;  ///< as in NumberArray
  std::vector<float> values;  ///< (count x num_components)
};

/// Member `key` of `object`; null if it is missing.
const nlohmann::json& GltfMember(const nlohmann::json& object, std::string_view key);
/// Extension `name` of `object`; null if it is missing.
const nlohmann::json& GltfExtension(const nlohmann::json& object, std::string_view name);
/// Member `key` of `object`; empty if it is no text.
std::string GltfText(const nlohmann::json& object, std::string_view key);
/// Member `key` of `object`; `fallback` if it is missing; nothing if it is no whole number from 0
/// to 2^53.
std::optional<uint64_t> GltfNumber(const nlohmann::json& object, std::string_view key,
                                   std::optional<uint64_t> fallback = std::nullopt);
/// The place of an element, such as "meshes[3]".
std::string GltfPlace(std::string_view array, size_t index);

/// The JSON of a .gltf or .glb file, and its buffers: the binary chunk, data URIs, separate files.
/// Reads buffers, and decompresses views (EXT_meshopt_compression), when they are first used.
class GltfDocument {
 public:
  /// Reads the bytes of file `path`, whose folder holds the separate files. The bytes must outlive
  /// the document. Errors: kInvalidInput (cut short, no glTF 2.0, or nested beyond 100 levels),
  /// kUnsupported (glTF 1).
  static Result<GltfDocument> Parse(std::span<const std::byte> bytes, const std::string& path);

  GltfDocument(GltfDocument&&) = default;
  GltfDocument& operator=(GltfDocument&&) = default;

  const nlohmann::json& root() const { return json_; }
  GltfFiles& files() { return files_; }

  /// Top-level array `key`; empty if it is missing or not an array.
  const nlohmann::json& Top(std::string_view key) const;

  /// Values of accessor `index` as floats, from any component type. Maps normalised integers, and
  /// applies sparse substitutions. `decoded`: numbers instead of the accessor's view, or null.
  /// Nothing, with a problem(), if
  /// - any part of the accessor is invalid,
  /// - it is a matrix other than a MAT4 of floats, or
  /// - this document would return more than 2^28 numbers in total, or 2^25 without a view.
  std::optional<AccessorValues> ReadAccessor(const nlohmann::json& index,
                                             const NumberArray* decoded = nullptr);

  /// Values of accessor `index`, which must be unsigned integers, likewise.
  std::optional<std::vector<uint32_t>> ReadIndices(const nlohmann::json& index);

  /// The bytes of a buffer view. Nothing, with a problem(), if it is invalid.
  std::optional<std::span<const std::byte>> View(const nlohmann::json& index);

  /// Why the last call returned nothing.
  const std::string& problem() const { return problem_; }
  /// Sets it.
  std::nullopt_t Problem(std::string what);

  /// Looks for the files of images, and of buffers that were not used.
  void LookForOtherFiles();

 private:
  struct Bytes {  // of a buffer or view that was used
    std::vector<std::byte> owned;
    std::span<const std::byte> content;
  };

  explicit GltfDocument(const std::string& path) : files_(path) {}

  bool Spend(uint64_t num_numbers);
  std::optional<std::span<const std::byte>> Buffer(const nlohmann::json& index);
  std::optional<std::span<const std::byte>> Piece(const nlohmann::json& place);
  bool Locate(const nlohmann::json& place, NumberArray* numbers);
  std::optional<NumberArray> FindAccessor(const nlohmann::json& index, const NumberArray* decoded);
  template <class Number>
  std::optional<std::vector<Number>> Load(const nlohmann::json& index, const NumberArray& numbers);
  template <class Number>
  bool ApplySparse(const nlohmann::json& sparse, NumberArray numbers, std::vector<Number>* values);

  nlohmann::json json_;
  GltfFiles files_;
  std::span<const std::byte> glb_chunk_;
  std::vector<std::optional<Bytes>> buffers_;
  std::vector<std::optional<Bytes>> views_;
  uint64_t numbers_left_ = 1ull << 28;
  std::string problem_;
};

}  // namespace plush::tools

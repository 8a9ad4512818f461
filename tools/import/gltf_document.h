// SPDX-License-Identifier: MIT
// The parts of the reader of glTF 2.0: documents with their buffers and accessors, compression,
// primitives.
//
// Trusts no count, index or offset. A part that is invalid throws an Error: the caller adds the
// place, and the file is refused; or it leaves out an attribute with a finding.
#pragma once

#include "base/result.h"
#include "import/raw_scene.h"

#include <nlohmann/json.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace plush::tools {

/// Throws the Error kInvalidInput with IMPORT_FAILED.
[[noreturn]] void RefuseGltf(const std::string& what);

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
/// `index` as a number below `size`; nothing if it is none.
std::optional<size_t> GltfIndex(const nlohmann::json& index, size_t size);
/// Reads an array of numbers into `numbers`, which keep their values if there is none. False if the
/// array is invalid.
bool GltfNumbers(const nlohmann::json& array, std::span<double> numbers);
/// The place of an element, such as "meshes[3]".
std::string GltfPlace(std::string_view array, size_t index);

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
template <class Number>
struct GltfValues {
  size_t count = 0;            ///< elements
  size_t num_components = 1;   ///< as in NumberArray
  std::vector<Number> values;  ///< (count x num_components)
};

/// The JSON of a .gltf or .glb file, and its buffers: the binary chunk, data URIs, separate files.
/// Reads buffers, and decompresses views (EXT_meshopt_compression), when they are first used.
class GltfDocument {
 public:
  /// Reads the bytes of file `path`, whose folder holds the separate files. The bytes must outlive
  /// the document. Errors: kInvalidInput (cut short, no glTF 2.0, or nested beyond 100 levels),
  /// kUnsupported (glTF 1).
  static Result<GltfDocument> Parse(std::span<const std::byte> bytes, const std::string& path);

  GltfDocument(GltfDocument&&) = default;  // views refer to buffers
  GltfDocument& operator=(GltfDocument&&) = default;

  const nlohmann::json& root() const { return json_; }
  /// Top-level array `key`; empty if it is missing or not an array.
  const nlohmann::json& Top(std::string_view key) const;

  /// Values of accessor `index` as floats, from any component type. Maps normalised integers, and
  /// applies sparse substitutions. `decoded`: numbers instead of the accessor's view, or null.
  /// Throws if
  /// - any part of the accessor is invalid,
  /// - it is a matrix other than a MAT4 of floats, or
  /// - this document would return more than 2^28 numbers in total, or 2^25 without a view.
  GltfValues<float> ReadAccessor(const nlohmann::json& index, const NumberArray* decoded = nullptr);
  /// Values of accessor `index`, which must be unsigned integers, likewise.
  std::vector<uint32_t> ReadIndices(const nlohmann::json& index);
  /// The bytes of a buffer view. Throws if it is invalid.
  std::span<const std::byte> View(const nlohmann::json& index);

  /// Adds to `scene` the separate files: those that were read, and those that are missing, also of
  /// images and of buffers that were not used. Finds regular files by URIs, which are relative to
  /// the document: decodes "%20" and the like, and takes "\" for "/" if there is no such file
  /// otherwise.
  void AddFiles(RawScene* scene);

 private:
  GltfDocument() = default;

  struct Bytes {  // of a buffer or view that was used
    std::vector<std::byte> owned;
    std::span<const std::byte> content;
  };

  std::string FindFile(const std::string& uri);
  std::vector<std::byte> ReadUri(const std::string& uri, const std::string& place);
  const nlohmann::json& Find(const std::string& array, const nlohmann::json& index);
  std::span<const std::byte> Buffer(const nlohmann::json& index);
  std::span<const std::byte> Piece(const nlohmann::json& place);
  void Spend(uint64_t num_numbers);
  void Locate(const nlohmann::json& place, NumberArray* numbers);
  NumberArray FindNumbers(const nlohmann::json& accessor, const NumberArray* decoded);
  template <class Number>
  GltfValues<Number> Load(const nlohmann::json& index, const NumberArray* decoded);
  template <class Number>
  void ApplySparse(const nlohmann::json& sparse, NumberArray numbers, std::vector<Number>* values);

  nlohmann::json json_;
  std::string folder_;
  std::set<std::string> files_read_;     // normal forms of their paths
  std::set<std::string> files_missing_;  // likewise
  std::span<const std::byte> glb_chunk_;
  std::vector<std::optional<Bytes>> buffers_;
  std::vector<std::optional<Bytes>> views_;
  uint64_t numbers_left_ = 1ull << 28;
};

/// Checks what a document says it uses. Throws kUnsupported for a required extension that is
/// neither read nor harmless. Adds IMPORT_EXTENSION for each optional one that changes geometry and
/// is not read, and IMPORT_LEFT_OUT for unknown ones.
void CheckGltfExtensions(const nlohmann::json& root, std::vector<RawFinding>* findings);

/// Decodes a buffer view of `size` bytes. `extension` is its object EXT_meshopt_compression. False
/// if that is invalid, or the data are damaged or of a later version.
bool DecodeMeshopt(const nlohmann::json& extension, std::span<const std::byte> compressed,
                   uint64_t size, std::vector<std::byte>* bytes);

/// What KHR_draco_mesh_compression holds of a primitive. Move it only.
struct DracoPrimitive {
  std::vector<std::array<uint32_t, 3>> triangles;
  std::map<std::string, NumberArray> attributes;  ///< by name, in `storage`
  std::vector<std::vector<std::byte>> storage;
};

/// Decodes a primitive. `extension` is its object KHR_draco_mesh_compression. Throws if that or the
/// data are invalid.
DracoPrimitive DecodeDraco(const nlohmann::json& extension, GltfDocument* document);

/// What primitives lack.
struct GltfNotes {
  uint64_t num_without_surface = 0;  ///< primitives of points or lines, or without positions
  uint64_t num_lost_attributes = 0;  ///< those that could not be read
  std::string first_lost;            ///< which one, and why
};

/// Reads a primitive as it is with `weights` of its morph targets. `place` names it.
/// - Makes triangles of strips and fans.
/// - Takes the texture coordinates of the material's first texture, with its
///   KHR_texture_transform.
/// - Attributes: colours ("COLOR_0.r" to "COLOR_0.a"), and those named "_..." (vectors as "_name.x"
///   to "_name.w").
/// - Joints of weights are numbers in the list of whatever skin a node gives the mesh.
///
/// Nothing if the primitive is no surface. Throws if its triangles are invalid.
std::optional<RawMesh> ReadGltfPrimitive(const nlohmann::json& primitive, const std::string& place,
                                         std::span<const double> weights, GltfDocument* document,
                                         GltfNotes* notes);

}  // namespace plush::tools

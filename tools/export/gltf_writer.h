// SPDX-License-Identifier: MIT
// Writes binary glTF 2.0 (.glb): a JSON document and one buffer, without extensions.
// Source: Khronos Group. glTF 2.0 Specification. 2021
#pragma once

#include "plush/types.h"

#include "base/result.h"

#include <nlohmann/json.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace plush::tools {

/// The use of a view (bufferView.target).
enum class GltfTarget : int { kNone = 0, kVertices = 34962, kIndices = 34963 };

/// accessor.componentType.
enum class GltfComponent : int { kUint16 = 5123, kUint32 = 5125, kFloat = 5126 };

/// Builds one .glb in memory. The same calls give the same bytes.
class GltfWriter {
 public:
  /// Starts a document with "asset" only; `generator` names the tool.
  explicit GltfWriter(const std::string& generator);

  /// The JSON document, for everything that is not bulk data.
  nlohmann::json& document() { return document_; }

  /// Appends `object` to a top-level array ("nodes", "meshes", ...). Returns its index.
  uint32_t Add(const char* array, nlohmann::json object);

  /// Appends bytes to the buffer, aligned to 4, as a bufferView. Returns its index.
  uint32_t AddView(std::span<const std::byte> bytes, GltfTarget target);

  /// Adds an accessor over `count` elements of `type` ("SCALAR", "VEC3", "MAT4", ...), from
  /// `byte_offset` of a view on. Returns its index.
  uint32_t AddAccessor(uint32_t view, size_t byte_offset, GltfComponent component, size_t count,
                       const char* type);

  /// A view with one accessor over all of it.
  template <class T>
  uint32_t AddArray(std::span<const T> elements, GltfTarget target, GltfComponent component,
                    const char* type) {
    return AddAccessor(AddView(std::as_bytes(elements), target), 0, component, elements.size(),
                       type);
  }

  /// AddArray for positions, with the "min" and "max" that glTF demands.
  uint32_t AddPositions(std::span<const Vec3> positions);

  /// AddArray for key times [s], with "min" and "max". `times` must not be empty.
  uint32_t AddTimes(std::span<const float> times);

  /// The file's bytes. Invalid UTF-8 in names is replaced. Errors: kLimit (4 GiB or more, which a
  /// .glb cannot hold).
  Result<std::vector<std::byte>> Finish();

 private:
  nlohmann::json document_;
  std::vector<std::byte> buffer_;
};

}  // namespace plush::tools

// SPDX-License-Identifier: MIT
// Arrays for a web page: compressed by meshoptimizer, whose decoder three.js ships, and in base64.
// Source: Arseny Kapoulkine. meshoptimizer 0.18, and the glTF extension EXT_meshopt_compression.
#pragma once

#include "plush/types.h"

#include <nlohmann/json.hpp>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace plush::tools {

/// The arrays of one model, one after the other in `bytes`. Each Add returns what the page needs to
/// read the array: {"at", "size"} [bytes], "count", "stride" [bytes], "mode" of the decoder.
class PackedArrays {
 public:
  /// `count` rows of `stride` bytes, a multiple of 4 up to 256. Rows that resemble their
  /// predecessors become small.
  nlohmann::json AddRows(const void* rows, size_t count, size_t stride);

  template <class T>
  nlohmann::json AddRows(const std::vector<T>& rows) {
    return AddRows(rows.data(), rows.size(), sizeof(T));
  }

  /// Triangles (3 num_triangles x 1) in their order; corners may be rotated.
  nlohmann::json AddTriangles(std::span<const uint32_t> corners, size_t num_vertices);

  /// Positions, each coordinate rounded to one of 65536 steps of the box around them: AddRows of
  /// four 16-bit numbers, the last 0; "low" [m] and "step" [m] (3 x 1).
  nlohmann::json AddPositions(std::span<const Vec3> positions);

  /// All arrays so far in base64.
  std::string Base64() const;

  size_t num_bytes() const { return bytes_.size(); }

 private:
  nlohmann::json Add(const std::vector<unsigned char>& packed, size_t count, size_t stride,
                     const char* mode);

  std::vector<unsigned char> bytes_;
};

}  // namespace plush::tools

// SPDX-License-Identifier: MIT
// The header of a PLY file: what its data are.
#pragma once

#include "base/result.h"
#include "import/mixed_reader.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace plush::tools {

enum class PlyType { kInt8, kUint8, kInt16, kUint16, kInt32, kUint32, kFloat, kDouble };

/// A number, or a list of numbers with a count before it.
struct PlyProperty {
  std::string name;
  PlyType type = PlyType::kFloat;
  bool is_list = false;
  PlyType count_type = PlyType::kUint8;
};

/// `count` rows of the same properties.
struct PlyElement {
  std::string name;
  uint64_t count = 0;
  std::vector<PlyProperty> properties;
};

struct PlyHeader {
  MixedReader::Numbers numbers = MixedReader::Numbers::kText;
  std::vector<PlyElement> elements;
  std::vector<std::string> textures;  ///< files that comments "TextureFile" name
  size_t data_begin = 0;              ///< [bytes]
};

/// Errors: kInvalidInput, with the line.
Result<PlyHeader> ReadPlyHeader(std::span<const std::byte> bytes);

}  // namespace plush::tools

// SPDX-License-Identifier: MIT
// Decompresses views and primitives of glTF files.
#pragma once

#include "import/gltf_document.h"

#include <nlohmann/json.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace plush::tools {

/// Decodes a buffer view of `size` bytes. `extension` is its object EXT_meshopt_compression. False
/// if that is invalid, or the data are damaged or of a later version.
bool DecodeMeshopt(const nlohmann::json& extension, std::span<const std::byte> compressed,
                   uint64_t size, std::vector<std::byte>* bytes);

/// What KHR_draco_mesh_compression holds of a primitive.
struct DracoPrimitive {
  std::vector<std::array<uint32_t, 3>> triangles;
  std::map<std::string, NumberArray> attributes;  ///< by name, in `storage`
  std::vector<std::vector<std::byte>> storage;
};

/// Decodes a primitive. `extension` is its object KHR_draco_mesh_compression. Nothing, with the
/// document's problem(), if that or the data are invalid.
std::unique_ptr<DracoPrimitive> DecodeDraco(const nlohmann::json& extension,
                                            GltfDocument* document);

}  // namespace plush::tools

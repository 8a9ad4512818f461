// SPDX-License-Identifier: MIT
// Chooses one of our own readers by a file's first bytes or its name.
#pragma once

#include "base/result.h"
#include "import/raw_scene.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace plush::tools {

using SceneReader = Result<RawScene> (*)(const std::string& path, std::span<const std::byte> bytes);

/// The reader for a file of `size` bytes with the beginning `head`; nullptr if there is none of our
/// own. `is_known_name`: whether the extension is one of another reader's format.
/// - glTF, PLY, and 3MF that begins with its model, by the first bytes.
/// - .obj, .ply, .stl and .3mf by the name.
/// - STL and OBJ by the first bytes, unless the name is one of another format that is no glTF.
SceneReader OwnReader(const std::string& path, std::span<const std::byte> head, uint64_t size,
                      bool is_known_name);

/// What else the first bytes say that the file is, as in "a PNG image"; empty if they say nothing.
std::string ContentName(std::span<const std::byte> head);

}  // namespace plush::tools

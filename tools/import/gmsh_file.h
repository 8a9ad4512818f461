// SPDX-License-Identifier: MIT
// Gmsh's format for meshes: NAME.msh, versions 2.0 to 2.2 and 4.1, text and binary.
#pragma once

#include "base/result.h"
#include "mesh/tet_source.h"

#include <cstddef>
#include <span>
#include <string>

namespace plush::tools {

/// Reads the tets of a file's content; `path` is for messages. Of tets of higher order the four
/// corners are taken; other elements are counted; tags are physical groups, 0 where there is none
/// (of several the first). Errors: kUnsupported with IMPORT_UNSUPPORTED (no .msh of Gmsh, or
/// another version), kInvalidInput with IMPORT_FAILED (line or byte and what is wrong there).
Result<TetSource> ParseGmsh(const std::string& path, std::span<const std::byte> bytes);

}  // namespace plush::tools

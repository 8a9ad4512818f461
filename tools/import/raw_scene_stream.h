// SPDX-License-Identifier: MIT
// The bytes that the importing child writes and its parent reads: every list and array preceded by
// its length, everything little-endian.
#pragma once

#include "base/result.h"
#include "import/raw_scene.h"

#include <cstddef>
#include <cstdio>
#include <span>

namespace plush::tools {

/// Exit codes of `plush-import`. Any other end counts as a crash.
enum class HelperExit : int {
  kOk = 0,
  kRefused = 10,      ///< the importer does not accept the content; stderr says why
  kUnsupported = 11,  ///< no importer for this type of file
  kUnreadable = 12,   ///< the file cannot be opened
  kOutOfMemory = 13,  ///< an allocation failed: the memory limit
};

/// Writes `scene`; false where the file does not take it all.
bool WriteRawScene(const RawScene& scene, std::FILE* file);

/// Reads a scene, trusting nothing: lengths are checked against what is left before anything is
/// allocated, names are made printable, arrays per vertex must agree in length, materials, meshes
/// and parents must exist, extras must be JSON (others are left out). Triangles may still point
/// anywhere and numbers be non-finite. Errors: kHelperDied with IMPORT_CRASHED, since a sound
/// helper writes no such bytes.
Result<RawScene> ParseRawScene(std::span<const std::byte> bytes);

}  // namespace plush::tools

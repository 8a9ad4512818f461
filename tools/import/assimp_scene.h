// SPDX-License-Identifier: MIT
// Any of Assimp's formats as a RawScene. Called by `plush-import` only: Assimp crashes on hostile
// files and takes whatever time and memory they make it take.
#pragma once

#include "base/result.h"
#include "import/raw_scene.h"

#include <string>

namespace plush::tools {

/// Reads `path`: polygons triangulated, points and lines left out, vertices as they came, animation
/// and skinning ignored. `keep_axes` asks importers that turn to Y up by themselves (COLLADA) not
/// to. Errors: kInvalidInput with IMPORT_FAILED (refused), kUnsupported with IMPORT_UNSUPPORTED.
Result<RawScene> ReadWithAssimp(const std::string& path, bool keep_axes);

}  // namespace plush::tools

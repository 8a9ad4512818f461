// SPDX-License-Identifier: MIT
// Reads 3MF files (3D manufacturing format).
#pragma once

#include "base/result.h"
#include "import/raw_scene.h"

#include <cstddef>
#include <span>
#include <string>

namespace plush::tools {

/// Reads the 3MF file `path`, whose bytes are given, in the unit that it names; Z is up.
/// - Places the items of its build with their components, also those of other parts of the archive
///   (production extension). The rest of the objects is left out.
/// - A mesh per object and base material; triangles take the material of their first corner.
///   Colours and textures of triangles are not read.
/// - Objects of type support or solidsupport: IMPORT_LEFT_OUT.
///
/// Errors: kInvalidInput (no ZIP archive, broken or missing parts, XML or numbers; an unknown unit;
/// objects that are missing; components nested beyond 32 levels or placed 2^18 times), kUnsupported
/// (a required extension other than those for materials and production), kLimit (ThreeMfPackage).
Result<RawScene> Read3mf(const std::string& path, std::span<const std::byte> bytes);

/// Whether a file with this beginning is a ZIP archive that begins with a model of 3MF.
bool LooksLike3mf(std::span<const std::byte> head);

}  // namespace plush::tools

// SPDX-License-Identifier: MIT
// What a source mesh is, as text for people and JSON for machines.
#pragma once

#include "import/import.h"
#include "mesh/surface_checks.h"

#include <nlohmann/json.hpp>

#include <string>

namespace plush::tools {

/// The object "source" of `plush check --json`: file, format, unit_m, up, hash, parts, vertices,
/// triangles, points, components, tets, bounding_box {low, high} [m], has_uvs, attributes, extras,
/// dependencies.
nlohmann::json SourceJson(const std::string& file, const ImportedModel& model,
                          const SurfaceFacts& facts);

/// Two lines: what is in the file, and how large it is.
std::string SourceText(const std::string& file, const ImportedModel& model,
                       const SurfaceFacts& facts);

}  // namespace plush::tools

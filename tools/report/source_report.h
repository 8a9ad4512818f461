// SPDX-License-Identifier: MIT
// Reports about a source mesh, its findings and its box, as text for people and JSON for machines.
#pragma once

#include "base/finding.h"
#include "import/import.h"
#include "mesh/box3.h"
#include "mesh/surface_checks.h"

#include <nlohmann/json_fwd.hpp>

#include <cstdio>
#include <string>

namespace plush::tools {

/// The text that std::printf would print, cut at 299 bytes.
std::string Formatted(const char* format, auto... values) {
  char text[300];
  std::snprintf(text, sizeof(text), format, values...);
  return text;
}

/// "1 part", "2 parts".
std::string Counted(uint64_t count, const char* one, const char* many);

/// One object per finding: code, severity, count, message, places, remedy.
nlohmann::json FindingsJson(const FindingList& findings);

/// Adds the findings of an array that FindingsJson made. False if `array` is no such array; some
/// findings may have been added.
bool ReadFindings(const nlohmann::json& array, FindingList* findings);

/// Lines for stderr or a terminal. With `verbosity` below 0 errors only; above 0 with all places.
std::string FindingsText(const std::string& verb, const std::string& file,
                         const FindingList& findings, int verbosity);

/// {"low": [x, y, z], "high": [x, y, z]} [m]; zeros for an empty box.
nlohmann::json BoxJson(const Box3& box);

/// "1 x 2 x 3 m, from (0, 0, 0) to (1, 2, 3)".
std::string BoxText(const Box3& box);

/// The object "source" of `plush check --json`: file, format, unit_m, up, hash, parts, vertices,
/// triangles, points, components, tets, bounding_box {low, high} [m], area_m2, has_uvs, attributes,
/// joints, extras, dependencies.
nlohmann::json SourceJson(const std::string& file, const ImportedModel& model,
                          const SurfaceFacts& facts);

/// Two lines: the counts, then box, unit and up axis.
std::string SourceText(const std::string& file, const ImportedModel& model,
                       const SurfaceFacts& facts);

}  // namespace plush::tools

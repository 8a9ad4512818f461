// SPDX-License-Identifier: MIT
// What the page of `plush report` holds of one .plush file.
#pragma once

#include "plush/asset.h"

#include "base/finding.h"
#include "base/result.h"
#include "import/import.h"
#include "mesh/surface_mesh.h"
#include "page/packed_arrays.h"

#include <nlohmann/json.hpp>

#include <optional>
#include <string>
#include <vector>

namespace plush::tools {

/// Findings about a file, and which verb found them.
struct PageFindings {
  std::string verb;  ///< "validate", "check" or "bake"
  FindingList findings;
};

/// What is known of one file.
struct PageModel {
  std::string file;              ///< path as given
  const Asset* asset = nullptr;  ///< null: it does not open; outlives the call
  std::optional<Error> error;    ///< why it does not open
  std::vector<PageFindings> findings;
  nlohmann::json bake;                    ///< the document of `bake --report`, or null
  std::vector<SourceMaterial> materials;  ///< of the source, if that is known
  SurfaceMesh source;                     ///< shown if the file does not open
};

/// Most triangles of a source that is shown.
inline constexpr size_t kMaxSourceTriangles = size_t{1} << 20;

/// Findings as FindingsJson gives them, each with "verb" and "explanation": why, blender, maya, as
/// `plush explain` has them; absent for a code that it lacks.
nlohmann::json ExplainedFindings(const PageFindings& from);

/// The model as the page reads it, its arrays added to *arrays. Keys:
/// - name, file, error (text or null), static, info (the document of `plush info`), bake;
/// - findings: ExplainedFindings of all; failures: number of errors;
/// - materials, parts, regions, components of the cage (mass_kg, centre [m], tets);
/// - arrays: see ModelArrays; of a file that does not open, positions and indices of its source;
/// - thumbnail, if wanted: "width", "height", "pixels" (array of 4 bytes by pixel).
nlohmann::json ModelPage(const PageModel& model, bool has_thumbnail, PackedArrays* arrays);

/// The arrays of an open asset by name, each described as PackedArrays does. Of a body:
/// nodes [m], tets, quality, dihedral [degrees], tet_material, tet_component, pieces (pieces of
/// surface that a tet holds and moves together), volume [m^3], cage (triangles of the cage's
/// boundary), cage_tets (their tets), distance (of each node from the render surface [m]).
/// Of all: positions, normals (signed bytes), tet_ids, indices. With a collision surface:
/// patch_positions, patch_indices, patch_starts (first triangle, first vertex, tet, unused).
nlohmann::json ModelArrays(const Asset& asset, PackedArrays* arrays);

/// The component of each tet: tets that share a node belong together (num_tets x 1), and their
/// number.
struct CageComponents {
  std::vector<uint32_t> of_tet;
  uint32_t number = 0;
};
CageComponents FindComponents(const Asset& asset);

}  // namespace plush::tools

// SPDX-License-Identifier: MIT
// Tets read from a file, their clean-up, and TetGen's text format (NAME.node and NAME.ele).
#pragma once

#include "base/finding.h"
#include "base/result.h"
#include "mesh/tet_mesh.h"

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace plush::tools {

/// Largest tet mesh file that is read [bytes].
inline constexpr uint64_t kMaxTetFileBytes = 1ull << 30;

/// A corner whose node is missing.
inline constexpr uint32_t kNoNode = UINT32_MAX;

/// The content of a file, unchecked except that corners are below positions.size() or kNoNode.
struct RawTets {
  std::vector<Vec3d> positions;               ///< [source units] (num_nodes x 1)
  std::vector<std::array<uint32_t, 4>> tets;  ///< (num_tets x 4)
  std::vector<int32_t> tags;                  ///< (num_tets x 1, or empty)
  bool has_midpoints = false;                 ///< some nodes are midpoints of edges, not corners
  uint64_t num_surface_cells = 0;             ///< points, lines and faces that were skipped
  uint64_t num_solid_cells = 0;  ///< cells with a volume, other than tets, that were skipped
};

/// A clean tet mesh, and counts of what the clean-up changed.
struct TetSource {
  TetMesh mesh;                    ///< [source units], every node used, positively oriented
  std::vector<int32_t> tags;       ///< Gmsh's physical group of each tet, 0 for none
                                   ///< (num_tets x 1, or empty if the format has no groups)
  uint64_t num_oriented = 0;       ///< tets whose orientation was reversed
  uint64_t num_dropped = 0;        ///< tets that were flat or repeated, or had a missing node
  uint64_t num_unused = 0;         ///< nodes of no kept tet that were dropped; 0 if has_midpoints
  uint64_t num_surface_cells = 0;  ///< points, lines and faces that were skipped
  uint64_t num_solid_cells = 0;    ///< cells with a volume, other than tets, that were skipped
  std::string other_path;          ///< a second file that was read, or empty
};

/// Cleans the tets of a file. Keeps their order. O(t log t).
/// - Drops tets that are flat (in exact or in double arithmetic), that repeat the corners of an
///   earlier one, or that have a corner that is missing or not finite.
/// - Turns the others to positive orientation.
/// - Drops unused nodes.
TetSource CleanTets(const RawTets& raw);

/// Drops tets that become flat or inverted once the bake rounds their nodes to single precision,
/// and the nodes that only they use. Does not round the nodes itself.
void DropTetsFlatInFloat(TetSource* source);

/// Adds those that apply of MESH_TET_INVALID, MESH_TET_ORIENTED, MESH_UNREFERENCED_VERTEX,
/// MESH_CELL_DROPPED and MESH_CELL_SKIPPED.
void AddTetFindings(const TetSource& source, FindingList* findings);

/// The content of a file, and its name for messages.
struct NamedText {
  std::string name;
  std::string_view text;
};

/// Reads a mesh from the content of its two files.
/// - Node numbers ascend one by one from 0 or 1.
/// - Skips comments (#), attributes and boundary markers.
/// - Keeps the four corners of tets with ten nodes.
///
/// Errors: kInvalidInput with IMPORT_FAILED (file, line and what is wrong).
Result<TetSource> ParseTetGenText(const NamedText& node_file, const NamedText& ele_file);

}  // namespace plush::tools

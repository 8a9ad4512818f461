// SPDX-License-Identifier: MIT
// Tets as read from a file, and the clean-up that every reader of tet meshes ends with.
//
// TetGen's text format for tet meshes: NAME.node holds the nodes, NAME.ele the tets.
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

/// Largest file of a tet mesh that is read [bytes].
inline constexpr uint64_t kMaxTetFileBytes = 1ull << 30;

/// A corner whose node does not exist.
inline constexpr uint32_t kNoNode = UINT32_MAX;

/// The unchecked content of a file, but every corner is below positions.size() or kNoNode.
struct RawTets {
  std::vector<Vec3d> positions;               ///< [source units] (num_nodes x 1)
  std::vector<std::array<uint32_t, 4>> tets;  ///< (num_tets x 4)
  std::vector<int32_t> tags;                  ///< (num_tets x 1, or empty)
  bool has_midpoints = false;      ///< some nodes are midpoints of edges and no tet's corner
  uint64_t num_surface_cells = 0;  ///< points, lines and faces that were skipped
  uint64_t num_solid_cells = 0;    ///< cells with a volume, other than tets, that were skipped
};

/// A clean tet mesh and the counts of what the clean-up changed.
struct TetSource {
  TetMesh mesh;                    ///< [source units], every node used, tets positively oriented
  std::vector<int32_t> tags;       ///< Gmsh's physical group of each tet, 0 for none
                                   ///< (num_tets x 1, or empty if the format has no groups)
  uint64_t num_oriented = 0;       ///< tets whose orientation was reversed
  uint64_t num_dropped = 0;        ///< tets that were flat or repeated, or lacked a node
  uint64_t num_unused = 0;         ///< nodes of no kept tet, left out; not counted with midpoints
  uint64_t num_surface_cells = 0;  ///< points, lines and faces that were skipped
  uint64_t num_solid_cells = 0;    ///< cells with a volume, other than tets, that were skipped
  std::string other_path;          ///< a file beside the given one that was read too, or empty
};

/// - Drops tets that are flat (exactly, or too flat for doubles), repeat the corners of an earlier
///   one, or have a corner that does not exist or is not finite.
/// - Turns the others to positive orientation.
/// - Leaves out nodes of no tet.
/// Keeps the order. O(t log t).
TetSource CleanTets(const RawTets& raw);

/// Drops tets that become flat or inverted if their nodes are rounded to single precision, as the
/// bake does; then leaves out nodes of no tet. The nodes themselves are not rounded.
void DropTetsFlatInFloat(TetSource* source);

/// Adds MESH_TET_INVALID, MESH_TET_ORIENTED, MESH_UNREFERENCED_VERTEX, MESH_CELL_DROPPED and
/// MESH_CELL_SKIPPED as they apply.
void AddTetFindings(const TetSource& source, FindingList* findings);

/// The content of a file and its name in messages.
struct NamedText {
  std::string name;
  std::string_view text;
};

/// Reads the content of both files.
/// - Node numbers ascend one by one from 0 or 1.
/// - Comments start with #; attributes and boundary markers are skipped.
/// - Tets with ten nodes keep their four corners.
/// Errors: kInvalidInput with IMPORT_FAILED (file, line and what is wrong there).
Result<TetSource> ParseTetGenText(const NamedText& node_file, const NamedText& ele_file);

}  // namespace plush::tools

// SPDX-License-Identifier: MIT
// TetGen's text format for tet meshes: NAME.node and NAME.ele.
#pragma once

#include "base/result.h"
#include "mesh/tet_mesh.h"

#include <cstdint>
#include <string>

namespace plush::tools {

/// A tet mesh and what had to be done to it.
struct TetFiles {
  TetMesh mesh;               ///< [source units], every node used, tets positively oriented
  uint64_t num_oriented = 0;  ///< tets that were turned
  uint64_t num_dropped = 0;   ///< tets that were flat, repeated or pointed at no node
  std::string other_path;     ///< the file beside the given one that was read too
};

/// Whether the file name ends in .node or .ele, in any case.
bool IsTetGenPath(const std::string& path);

/// Reads both files, whichever is given; the other has the same name beside it. Numbers count from
/// 0 or 1 (by the first node's), comments start with #, attributes and boundary markers are
/// skipped, of tets with ten nodes the four corners are taken. Errors: kIo (one of them is
/// missing), kLimit (over 2^30 bytes), kInvalidInput with IMPORT_FAILED (file, line and what is
/// wrong there).
Result<TetFiles> ReadTetGenFiles(const std::string& path);

}  // namespace plush::tools

// SPDX-License-Identifier: MIT
// TetGen's text format for tet meshes: NAME.node and NAME.ele.
#pragma once

#include "base/result.h"
#include "import/tet_source.h"

#include <string>
#include <string_view>

namespace plush::tools {

/// Whether the file name ends in .node or .ele, in any case.
bool IsTetGenPath(const std::string& path);

/// The content of a file and what messages call it.
struct NamedText {
  std::string name;
  std::string_view text;
};

/// Reads the content of both files. Numbers count from 0 or 1 (by the first node's), comments start
/// with #, attributes and boundary markers are skipped, of tets with ten nodes the four corners are
/// taken. Errors: kInvalidInput with IMPORT_FAILED (file, line and what is wrong there).
Result<TetSource> ParseTetGenText(const NamedText& node_file, const NamedText& ele_file);

/// Reads both files, whichever is given; the other has the same name beside it. Errors: those of
/// ParseTetGenText, kIo (one of them is missing), kLimit (over kMaxTetFileBytes).
Result<TetSource> ReadTetGenFiles(const std::string& path);

}  // namespace plush::tools

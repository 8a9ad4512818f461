// SPDX-License-Identifier: MIT
// TetGen's text format for tet meshes: NAME.node holds the nodes, NAME.ele the tets.
#pragma once

#include "base/result.h"
#include "mesh/tet_source.h"

#include <string>
#include <string_view>

namespace plush::tools {

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

// SPDX-License-Identifier: MIT
// The options of --mesher tetgen.
#pragma once

#include "tetgen/tetgen_process.h"

#include <CLI/CLI.hpp>

namespace plush::tools {

/// Adds --ratio, --max-volume, --split-surface, --tetgen, --tetgen-time and --tetgen-memory to a
/// verb, in the help group "TetGen". What the user gives lands in *settings, which must outlive the
/// parsing.
void AddTetGenOptions(CLI::App* verb, TetGenSettings* settings);

}  // namespace plush::tools

// SPDX-License-Identifier: MIT
// Runs the program `tetgen` in a separate process, because it aborts on bad input and may hang. It
// is never linked, because its licence is the AGPL.
#pragma once

#include "base/result.h"
#include "mesh/tet_source.h"
#include "solid/solid_surface.h"

#include <cstdint>
#include <string>

namespace plush::tools {

/// The tets that TetGen makes, and its limits.
struct TetGenSettings {
  std::string program = "tetgen";  ///< a name to look for in PATH, or a path with a slash
  double ratio = 2.0;              ///< most circumradius over shortest edge of a tet; 0: no limit
  double max_volume_m3 = 0.0;      ///< most volume of a tet [m^3]; 0: no limit
  bool split_surface = false;      ///< whether TetGen may add nodes on the surface
  double time_limit_s = 120.0;     ///< wall-clock time [s]
  uint64_t memory_limit_bytes = 4ull << 30;  ///< resident memory
};

/// Runs TetGen to fill the surface, including its cavities. Leaves out points that no triangle
/// uses. Exchanges files in a temporary folder that is removed afterwards. Errors:
/// - kHelperDied, CAGE_TETGEN_MISSING: no such program;
/// - kHelperDied, CAGE_TETGEN_FAILED: it crashed, refused, or wrote no tets that can be read;
/// - kLimit, CAGE_TETGEN_LIMIT: time, memory or size of its files;
/// - kIo: temporary files.
Result<TetSource> RunTetGen(const SolidSurface& surface, const TetGenSettings& settings);

}  // namespace plush::tools

// SPDX-License-Identifier: MIT
// The program `tetgen` in a process of its own: it aborts on bad input and may hang. It is never
// linked: its licence is the AGPL.
#pragma once

#include "base/result.h"
#include "mesh/tet_source.h"
#include "solid/solid_surface.h"

#include <cstdint>
#include <string>

namespace plush::tools {

/// What TetGen is asked for, and what it may use.
struct TetGenSettings {
  std::string program = "tetgen";  ///< looked for in PATH, or a path with a slash
  double ratio = 2.0;  ///< most that a tet's circumradius may be of its shortest edge; 0: any
  double max_volume_m3 = 0.0;                ///< largest tet [m^3]; 0: any
  bool split_surface = false;                ///< whether nodes may be added on the surface
  double time_limit_s = 120.0;               ///< wall-clock time
  uint64_t memory_limit_bytes = 4ull << 30;  ///< resident
};

/// Lets TetGen fill the surface, all its cavities included, through files in a folder of their own
/// that is gone afterwards. Points that no triangle uses are left out. Errors: kHelperDied with
/// CAGE_TETGEN_MISSING (no such program) or CAGE_TETGEN_FAILED (it crashed, refused, or left no
/// tets that can be read); kLimit with CAGE_TETGEN_LIMIT (time or memory); kIo (temporary files).
Result<TetSource> RunTetGen(const SolidSurface& surface, const TetGenSettings& settings);

}  // namespace plush::tools

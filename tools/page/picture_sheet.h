// SPDX-License-Identifier: MIT
// A sheet of pictures of models, drawn on the CPU.
#pragma once

#include "page/model_page.h"
#include "page/picture.h"

#include <span>

namespace plush::tools {

/// A row for each of the first kMostSheetRows models that open: surface from two sides, cage by tet
/// quality and by smallest dihedral angle; of a static mesh, its surface. Each picture has a
/// caption and, if it has one, its ramp of colours.
Picture DrawSheet(std::span<const PageModel* const> models);

inline constexpr size_t kMostSheetRows = 12;

}  // namespace plush::tools

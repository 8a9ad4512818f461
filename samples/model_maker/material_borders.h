// SPDX-License-Identifier: MIT
// Borders between materials as edges of the mesh.
#pragma once

#include "model.h"
#include "surface_editor.h"

#include <vector>

namespace plush::samples {

/// The material of each triangle, and the vertices on borders.
struct MaterialLayout {
  std::vector<size_t> material_of_triangle;  ///< by index in the editor
  std::vector<bool> locked;                  ///< by vertex: on a border, must not move
};

/// Cuts the borders of all paints into `mesh`. Moves vertices next to a border onto it, then splits
/// edges that still cross it.
MaterialLayout CutMaterialBorders(const Model& model, SurfaceEditor* mesh);

/// Removes the thin triangles that cutting left. Merges short edges along borders and into them,
/// and flips edges inside a material if that widens the smallest angle.
void ImproveTrianglesAtBorders(const Model& model, const MaterialLayout& layout,
                               SurfaceEditor* mesh);

}  // namespace plush::samples

// SPDX-License-Identifier: MIT
// Pictures of a model, drawn on the CPU.
#pragma once

#include "plush/asset.h"

#include "import/import.h"
#include "page/picture.h"

#include <cstdint>
#include <span>

namespace plush::tools {

enum class ModelColours {
  kMaterial,  ///< the surface in its materials' colours; without a surface, the cage in grey
  kQuality,   ///< the cage by tet quality, from 0 to 1
  kDihedral,  ///< the cage by smallest dihedral angle, from 0 to kMostDihedral
};

/// The end of the ramp of dihedral angles [degrees].
inline constexpr float kMostDihedral = 60.0f;

/// How a model is seen. A static mesh is always grey.
struct ModelView {
  double turn_deg = 30.0;  ///< of the eye to the right of the front (+Z)
  double tilt_deg = 20.0;  ///< of the eye above the horizon
  ModelColours colours = ModelColours::kMaterial;
  std::span<const SourceMaterial> source = {};  ///< colours of materials that differ from Palette's
};

/// The model at rest without perspective, filling the picture. The background is transparent.
/// O(pixels + triangles + pixels of the triangles' boxes).
Picture DrawModel(const Asset& asset, const ModelView& view, uint32_t width, uint32_t height);

/// The colour of a share from 0 to 1, linear RGB.
Vec3 RampColour(double share);

/// A linear colour under `light` from 0 to 1, opaque.
Picture::Pixel PixelOf(const Vec3& linear, double light = 1.0);

}  // namespace plush::tools

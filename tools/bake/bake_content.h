// SPDX-License-Identifier: MIT
// The parts of a baked file that are copied, rounded or described rather than computed.
#pragma once

#include "bake/asset_writer.h"
#include "bake/bake.h"
#include "embed/embedding.h"

#include <string>

namespace plush::tools {

/// Copies the render surface and its embedding into `content`.
void FillVisual(const SurfaceMesh& surface, Embedding embedding, AssetContent* content);

/// The settings that the bytes depend on, as JSON with sorted keys.
std::string SettingsJson(const ImportedModel& model, const BakeSettings& settings, Mesher mesher);

/// "snug", "odt" or "none", as the option --fit takes it.
const char* FitMethodName(FitMethod fit);

/// "auto", "y" or "z", as the option --up takes it.
const char* UpAxisName(UpAxis up);

/// "auto", "lattice" or "import".
const char* MesherName(Mesher mesher);

}  // namespace plush::tools

// SPDX-License-Identifier: MIT
// Reads one primitive of a glTF mesh.
#pragma once

#include "import/gltf_document.h"
#include "import/raw_scene.h"

#include <nlohmann/json.hpp>

#include <cstdint>
#include <optional>
#include <span>
#include <string>

namespace plush::tools {

/// What primitives lack.
struct GltfNotes {
  std::string refusal;               ///< why the file cannot be read; empty if it can
  uint64_t num_without_surface = 0;  ///< primitives of points or lines, or without positions
  uint64_t num_lost_attributes = 0;  ///< those that could not be read
  std::string first_lost;            ///< which one, and why
};

/// Reads a primitive as it is with `weights` of its morph targets. `place` names it.
/// - Makes triangles of strips and fans.
/// - Takes the texture coordinates of the material's first texture, with its
///   KHR_texture_transform.
/// - Attributes: colours ("COLOR_0.r" to "COLOR_0.a"), and those named "_..." (vectors as "_name.x"
///   to "_name.w").
/// - Joints of weights are numbers in the list of whatever skin a node gives the mesh.
///
/// Nothing if the primitive is no surface, or the file is refused.
std::optional<RawMesh> ReadGltfPrimitive(const nlohmann::json& primitive, const std::string& place,
                                         std::span<const double> weights, GltfDocument* document,
                                         GltfNotes* notes);

}  // namespace plush::tools

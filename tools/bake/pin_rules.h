// SPDX-License-Identifier: MIT
// Which pin regions a bake makes: from the source's attributes and from the pins side-car.
#pragma once

#include "base/result.h"
#include "base/vec3.h"
#include "mesh/surface_mesh.h"

#include <string>
#include <string_view>
#include <vector>

namespace plush::tools {

/// What a pin region is made of.
enum class PinSource {
  kAttribute,  ///< vertices where an attribute reaches the threshold
  kColor,      ///< vertices where a channel of a vertex colour does
  kMaterial,   ///< vertices of parts with this material
  kNode,       ///< vertices of parts of this scene node
  kBox,        ///< vertices and cage nodes in a box
  kSphere,     ///< vertices and cage nodes in a sphere
};

/// One region.
struct PinRule {
  std::string name;  ///< of the region, unique
  PinSource source = PinSource::kAttribute;
  std::string key;         ///< attribute, channel ("COLOR_0.r"), material or node name
  double threshold = 0.5;  ///< attributes and colours: the least value that counts
  Vec3d low;               ///< box, rest coordinates [m]
  Vec3d high;
  Vec3d centre;         ///< sphere, rest coordinates [m]
  double radius = 0.0;  ///< [m]
};

/// Reads a pins side-car:
///   {"regions": [{"name": "feet", "box": [[x, y, z], [x, y, z]]}, ...]}
/// with exactly one of "attribute", "color", "material", "node" (names), "box" (lower and upper
/// corner) and "sphere" ({"centre": [x, y, z], "radius": r}) per region, and "threshold" beside an
/// attribute or a colour. "color" takes "r", "g", "b" or "a" of the first set, or "COLOR_1.r".
/// Errors: kUsage, with the key's place.
Result<std::vector<PinRule>> ParsePinRules(std::string_view json);

/// A rule for each attribute of the mesh whose name starts with "_pin": the region has that name
/// without the underscore. Added behind `rules` where these have no region of the name.
std::vector<PinRule> WithAttributeRules(std::vector<PinRule> rules, const SurfaceMesh& mesh);

}  // namespace plush::tools

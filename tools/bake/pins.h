// SPDX-License-Identifier: MIT
// Rules for pin regions, from the source's attributes and the pins side-car.
#pragma once

#include "base/json_object.h"
#include "base/result.h"
#include "base/text.h"
#include "base/vec3.h"
#include "mesh/surface_mesh.h"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace plush::tools {

/// What selects the nodes of a region.
enum class PinSource {
  kAttribute,  ///< surface with a large enough attribute
  kColor,      ///< surface with a large enough channel of a vertex colour
  kMaterial,   ///< parts with this material
  kNode,       ///< parts of this scene node
  kBox,        ///< what lies in a box
  kSphere,     ///< what lies in a sphere
  kJoint,      ///< vertices that a joint moves, or cage nodes near its bone
};

/// The keys of a region, of which it has one.
inline constexpr NamedValue<PinSource> kPinSources[] = {{"attribute", PinSource::kAttribute},
                                                        {"color", PinSource::kColor},
                                                        {"material", PinSource::kMaterial},
                                                        {"node", PinSource::kNode},
                                                        {"box", PinSource::kBox},
                                                        {"sphere", PinSource::kSphere},
                                                        {"joint", PinSource::kJoint}};

/// One region before the cage exists.
struct PinRule {
  std::string name;  ///< of the region, unique; empty: that of the joint
  PinSource source = PinSource::kAttribute;
  std::string key;         ///< attribute, channel ("COLOR_0.r"), material, node or joint name; '*'
                           ///< in a joint's name matches any letters
  double threshold = 0.5;  ///< attributes, colours and joints: the least value that counts
  Vec3d low;               ///< box, rest coordinates [m]
  Vec3d high;
  Vec3d centre;         ///< sphere, rest coordinates [m]
  double radius = 0.0;  ///< of the sphere, or around the bone (0: none) [m]
  int32_t joint = -1;   ///< into SurfaceMesh::joints, see WithJointRules
  bool last = true;     ///< whether the nodes go last in the elimination order
};

/// Reads a pins side-car:
///   {"regions": [{"name": "feet", "box": [[x, y, z], [x, y, z]]}, ...]}
/// Each region has a name and exactly one of
/// - "attribute", "material", "node": a name;
/// - "color": "r", "g", "b" or "a" of the first colour set, or a channel such as "COLOR_1.r";
/// - "box": lower and upper corner;
/// - "sphere": {"centre": [x, y, z], "radius": r};
/// - "joint": a name or a pattern with '*'. Then "radius" and "last" (false) may be given, and the
///   name of the region may be left out.
/// "threshold" goes with an attribute, a colour or a joint (0.9). Errors: kUsage, with the key's
/// place and PIN_INVALID.
Result<std::vector<PinRule>> ParsePinRules(std::string_view json);

/// Reads the key "box" of `object`, two corners, the lower one first. Wrong ones are mistakes.
void ReadBox(const JsonObject& object, Vec3d* out_low, Vec3d* out_high);

/// Reads the key "sphere" of `object`, which has it. Wrong ones are mistakes, noted in `*mistake`.
void ReadSphere(const JsonObject& object, std::string* mistake, Vec3d* out_centre,
                double* out_radius);

/// Whether there are fewer than three points, or all lie on a line: nodes there let a body turn.
bool AreOnLine(std::span<const Vec3d> points);

/// Adds a rule for each attribute of the mesh whose name starts with "_pin". The region's name is
/// that of the attribute without the underscore; an equal name in `rules` comes first.
std::vector<PinRule> WithAttributeRules(std::vector<PinRule> rules, const SurfaceMesh& mesh);

}  // namespace plush::tools

// SPDX-License-Identifier: MIT
// Pin regions: named sets of cage nodes, from the source's attributes and the pins side-car.
#pragma once

#include "bake/asset_writer.h"
#include "base/finding.h"
#include "base/json_object.h"
#include "base/result.h"
#include "base/vec3.h"
#include "mesh/surface_mesh.h"
#include "mesh/tet_mesh.h"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace plush::tools {

/// What selects the nodes of a region.
enum class PinSource {
  kAttribute,  ///< vertices with a large enough attribute
  kColor,      ///< vertices with a large enough channel of a vertex colour
  kMaterial,   ///< vertices of parts with this material
  kNode,       ///< vertices of parts of this scene node
  kBox,        ///< vertices and cage nodes in a box
  kSphere,     ///< vertices and cage nodes in a sphere
  kJoint,      ///< vertices that a joint moves, or cage nodes near its bone
};

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

/// Adds a rule for each attribute of the mesh whose name starts with "_pin". The region's name is
/// that of the attribute without the underscore; an equal name in `rules` comes first.
std::vector<PinRule> WithAttributeRules(std::vector<PinRule> rules, const SurfaceMesh& mesh);

/// A vertex pins those nodes of its tet that have at least this weight. The others together have
/// less than 3%.
inline constexpr float kPinWeight = 0.01f;

/// The regions of `rules`, in ascending order of name, with the node numbers of `cage`. Each vertex
/// that matches a rule pins nodes of its tet (kPinWeight). Boxes and spheres also pin the cage
/// nodes inside. `content` must hold the embedding. A region without nodes is left out with the
/// finding PIN_UNMATCHED.
///
/// Vertices match a joint if its weight reaches the threshold. If the rule has a radius, the nodes
/// are instead those within that distance of the bone (Bone) whose nearest vertex (NearestVertices)
/// matches.
std::vector<RegionContent> MakePinRegions(const std::vector<PinRule>& rules,
                                          const SurfaceMesh& surface, const TetMesh& cage,
                                          const AssetContent& content, FindingList* findings);

/// The nodes of all regions that go last in the elimination order, ascending.
std::vector<uint32_t> LastNodes(const std::vector<RegionContent>& regions);

/// Gives the regions' nodes their new numbers. node_order[new] = old (num_nodes x 1).
void RenumberRegions(std::span<const uint32_t> node_order, std::vector<RegionContent>* regions);

}  // namespace plush::tools

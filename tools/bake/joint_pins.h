// SPDX-License-Identifier: MIT
// Pin regions of joints: which joints a rule means, and which cage nodes lie along their bones.
#pragma once

#include "bake/asset_writer.h"
#include "bake/pins.h"
#include "base/result.h"
#include "mesh/surface_mesh.h"
#include "mesh/tet_mesh.h"

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace plush::tools {

/// Whether `name` matches `pattern`. Each '*' of the pattern matches any letters, or none.
/// O(|pattern| |name|).
bool MatchesPattern(std::string_view pattern, std::string_view name);

/// Replaces each rule of joints by one rule for each joint that its key matches, in their order.
/// - The region has the rule's name, or without one the joint's; if there are several joints, the
///   rule's name, a dot and the joint's name. Joints with one name get ".2", ".3" and so on.
/// - A rule that matches no joint stays: MakePinRegions reports it.
///
/// Errors: kUsage with PIN_INVALID if two regions would have one name.
Result<std::vector<PinRule>> WithJointRules(const std::vector<PinRule>& rules,
                                            const SurfaceMesh& mesh);

/// Distances from the bone of a joint: the segments from the joint to those of its children, or the
/// joint alone if it has none.
class Bone {
 public:
  /// `joint` is below joints.size().
  Bone(std::span<const SurfaceJoint> joints, uint32_t joint);

  double Distance(const Vec3d& point) const;  ///< [m]

 private:
  Vec3d start_;
  std::vector<Vec3d> ends_;
};

/// For each cage node the nearest render vertex, measured along the edges of the cage: what lies in
/// another limb is far away. UINT32_MAX for nodes of components without vertices. `content` must
/// hold the embedding. O((vertices + tets) log nodes).
std::vector<uint32_t> NearestVertices(const SurfaceMesh& surface, const TetMesh& cage,
                                      const AssetContent& content);

}  // namespace plush::tools

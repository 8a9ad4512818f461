// SPDX-License-Identifier: MIT
// Places skinned meshes in bind pose, and collects their joints.
#pragma once

#include "import/affine_transform.h"
#include "import/raw_scene.h"
#include "mesh/surface_mesh.h"

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace plush::tools {

/// The joints of all skins of a scene. A joint is a node: skins that name the same node share it.
///
/// Let W be the transform of a joint's node to the world, and B its inverse bind matrix. If the
/// nodes are in bind pose, W B is the same for all joints of a mesh: it places the mesh, and the
/// transform of the mesh's own node does not count. If the nodes are in another pose, the mesh
/// keeps the shape that it has in bind pose. In glTF, W B of the highest joint then places it; in
/// other formats, its own node does, as their matrices B are relative to it.
class SkinPlacement {
 public:
  /// `to_world` has the transform of each node of the scene to metres, Y up; `root` is that of the
  /// scene itself. All must outlive this object.
  SkinPlacement(const RawScene& scene, std::span<const AffineTransform> to_world,
                const AffineTransform& root);

  /// The transform of the mesh's coordinates to the world. For a mesh without a skin, and for one
  /// whose joints have no finite, invertible matrices, it is `node`, the transform of its node. So
  /// it is, and `root` likewise, if they are within 1e-4 of the mesh's size: they have fewer
  /// rounding errors. Remembers the mesh's joints.
  AffineTransform Place(const RawMesh& mesh, const AffineTransform& node);

  /// Adds the weights of a placed mesh. new_index[v] is the surface's vertex of the mesh's vertex
  /// v, or UINT32_MAX if it was left out. The weights of a vertex are made to sum to one.
  void AddWeights(const RawMesh& mesh, std::span<const uint32_t> new_index);

  /// The joints in the order of their nodes. Call once, at the end.
  std::vector<SurfaceJoint> Finish();

 private:
  void AddJoint(uint32_t node, const AffineTransform& bind);

  const RawScene& scene_;
  std::span<const AffineTransform> to_world_;
  const AffineTransform& root_;
  std::vector<int32_t> joint_of_node_;  // into joints_, -1: no joint
  std::vector<SurfaceJoint> joints_;
};

/// The rotation nearest to the linear part of `transform`, or to its negative if that mirrors. The
/// last component is not negative. Nothing if the linear part has no inverse.
std::optional<Quat> NearestRotation(const AffineTransform& transform);

}  // namespace plush::tools

// SPDX-License-Identifier: MIT
// Moves single nodes of a cage and keeps its boundary sound.
#pragma once

#include "fit/cage_fit.h"
#include "fit/surface_clearance.h"
#include "lattice/cage_boundary.h"
#include "lattice/split_cage.h"
#include "mesh/triangle_bvh.h"
#include "solid/inside.h"

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

namespace plush::tools {

/// A cage whose nodes move one at a time. The caller of Move checks the shape of the tets around
/// the node (LeastAngle); this class checks everything else.
class NodeMoves {
 public:
  /// Keeps references.
  NodeMoves(const SolidSurface& surface, const TriangleBvh& bvh, const InsideTest& inside,
            const FitSettings& settings, SplitCage* cage);

  const TetMesh& mesh() const { return cage_.mesh; }
  uint32_t num_nodes() const { return static_cast<uint32_t>(cage_.mesh.nodes.size()); }
  double max_step() const { return max_step_; }  ///< longest move to ask of Move [m]

  const std::vector<uint32_t>& TetsOf(uint32_t node) const { return tets_of_node_[node]; }
  bool IsOnBoundary(uint32_t node) const { return !faces_of_node_[node].empty(); }
  /// Corners of tet `t`, with node `node` moved to `at` [m].
  std::array<Vec3d, 4> CornersWith(uint32_t t, uint32_t node, const Vec3d& at) const;
  /// The smallest dihedral angle that tet `t` may have after a move [degrees].
  double LeastAngle(uint32_t t) const { return least_angles_[t]; }
  /// Twice the sum of the vector areas of the boundary faces at `node`, inwards [m^2]; zero if the
  /// node is not on the boundary.
  Vec3d InwardNormal(uint32_t node) const;

  /// Call before each pass. Within a pass each node may move at most once.
  void BeginPass();
  /// Moves `node` to `to`, at most max_step() away and representable in single precision. Returns
  /// false and leaves the node if
  /// - it is frozen,
  /// - a boundary face at it would come too near the surface on the way, or enter the solid, or
  /// - such a face would run into the rest of the boundary.
  ///
  /// If a face would come too near the surface, sets *blocked to its vector area, otherwise to
  /// zero: a move within the plane of that face may still be free.
  bool Move(uint32_t node, const Vec3d& to, Vec3d* blocked);

 private:
  static constexpr uint32_t kNoFace = UINT32_MAX;

  bool IsFree(uint32_t f, uint32_t node, const Vec3d& to, Vec3d* blocked);
  bool EntersSolid(uint32_t node, const Vec3d& to) const;
  bool FoldsAt(uint32_t node, uint32_t other) const;
  bool RunsIntoBoundary(uint32_t node);

  SplitCage& cage_;
  const double cell_;
  const double max_step_;
  CageFaces faces_;
  SurfaceClearance clearance_;
  const InsideTest* inside_;  // null if the surface is closed
  std::vector<std::vector<uint32_t>> tets_of_node_;
  std::vector<std::vector<uint32_t>> faces_of_node_;  // boundary faces
  std::vector<double> least_angles_;                  // per tet [degrees]
  std::vector<bool> frozen_;                          // per node
  std::vector<uint32_t> stopped_by_;     // per node: the boundary face that stopped it, or kNoFace
  std::vector<uint32_t> last_hits_;      // per boundary face: the triangle that stopped it
  std::optional<TriangleBvh> boundary_;  // the boundary when the pass began
};

}  // namespace plush::tools

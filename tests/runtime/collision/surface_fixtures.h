// SPDX-License-Identifier: MIT
// Collision surfaces with many triangles per tet, and deformations of their bodies.
#pragma once

#include "plush/format/cdg_records.h"
#include "plush/format/tet_block.h"

#include "collision/collision_state.h"
#include "partition/collision_layout.h"
#include "runtime/tet_fixtures.h"

#include <cstdint>
#include <vector>

namespace plush::test {

/// The kind of surface that a body has.
struct SurfaceShape {
  uint32_t parts = 6;       ///< edges of the cage's boundary are cut into this many, >= 1
  double depth = 0.3;       ///< points inside faces are lowered by up to this weight
  uint32_t num_shells = 4;  ///< tets that also contain a closed shell
  uint32_t seed = 1;
  tools::TriangleRecord record = tools::TriangleRecord::kSmallest;
  uint32_t holes = 0;  ///< triangles left out of the skin
};

/// Gives a body a bumpy skin over its cage's boundary, and closed shells inside tets.
void AddSurface(const SurfaceShape& shape, tools::AssetContent* content);

/// A file of a body with such a surface.
std::vector<std::byte> SurfaceBytes(const tools::TetMesh& mesh, const SurfaceShape& shape);

/// An asset with such a surface, and the state of its queries.
class SurfaceBody {
 public:
  explicit SurfaceBody(const tools::TetMesh& mesh, const SurfaceShape& shape = {});
  /// Of a baked file.
  explicit SurfaceBody(std::vector<std::byte> bytes);

  const ShapeAsset& shape() const { return shape_; }
  const CollisionView& surface() const { return shape_.asset().collision(); }
  std::span<const Vec3> x() const { return x_; }
  const CollisionState& state() const { return state_; }
  CollisionBody view() const { return {surface(), shape_.simulation().nodes, x_, state_}; }

  /// Moves the nodes and refits.
  void Move(std::vector<Vec3> x);

  /// CdgTet and patch of a triangle.
  uint32_t TetOf(uint32_t triangle) const;
  uint32_t PatchOf(uint32_t triangle) const;
  uint32_t Corner(uint32_t triangle, int corner) const;
  uint64_t Bounds(uint32_t triangle) const;
  /// Position of a triangle's corner by VertexPosition.
  Vec3 CornerPosition(uint32_t triangle, int corner) const;

 private:
  ShapeAsset shape_;
  std::vector<Vec3> x_;
  CollisionState state_;
  std::vector<uint32_t> patch_of_;
};

/// The middle of a surface's open borders [m]. The test fails if there is none.
Eigen::Vector3d MiddleOfHoles(const SurfaceBody& body);

/// Deformations of a body, from gentle to hopeless.
enum class Deformation {
  kGentle,    ///< nodes moved by a tenth of the cell
  kAffine,    ///< any matrix, inverted in half of all cases
  kRandom,    ///< nodes anywhere
  kFlat,      ///< all in one plane, or nearly
  kLine,      ///< all on one line, or nearly
  kPoint,     ///< all in one point, or nearly
  kTiny,      ///< scaled by 1e-12, moved
  kFar,       ///< far from the origin, relative to its size
  kLarge,     ///< scaled by 1e12
  kSomeFlat,  ///< some nodes moved onto others
  kCount
};

/// Node positions of `rest` after the deformation.
std::vector<Vec3> Deform(const std::vector<Vec3>& rest, Deformation kind, Random* random);

}  // namespace plush::test

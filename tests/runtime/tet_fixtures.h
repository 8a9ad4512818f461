// SPDX-License-Identifier: MIT
// Shared by the runtime's physics tests: random numbers, baked procedural bodies, and conversions
// between the runtime's types and Eigen's.
#pragma once

#include "plush/format/tet_block.h"
#include "plush/world.h"

#include "bake/bake.h"
#include "base/node_vec.h"
#include "elasticity/elements.h"
#include "mesh/tet_mesh.h"
#include "shapes/shape_asset.h"
#include "shapes/tet_shapes.h"

#include <Eigen/Dense>

#include <cstdint>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <vector>

namespace plush::test {

/// Points or vectors of nodes, one per column.
using Points = Eigen::Matrix<double, 3, Eigen::Dynamic>;

inline Eigen::Vector3d ToEigen(const Vec3& v) { return {v.x, v.y, v.z}; }
Eigen::Matrix3d ToEigen(const Mat3& m);
Points ToEigen(const std::vector<Vec3>& v);
/// Drops the spare element at the end.
Points ToEigen(const std::vector<NodeVec>& v);
/// Rotation matrix of q / |q|.
Eigen::Matrix3d RotationOf(const Quat& q);

Vec3 ToVec3(const Eigen::Vector3d& v);
Mat3 ToMat3(const Eigen::Matrix3d& m);
Quat ToQuat(const Eigen::Matrix3d& rotation);
std::vector<Vec3> ToVec3s(const Points& points);
/// Adds a spare element at the end; w = 0.
std::vector<NodeVec> ToNodeVecs(const Points& points);
std::vector<NodeVec> ToNodeVecs(const std::vector<Vec3>& v);

/// Angle of a^T b [rad]; exact for small angles too.
double AngleBetween(const Eigen::Matrix3d& a, const Eigen::Matrix3d& b);

/// Reproducible random numbers.
class Random {
 public:
  explicit Random(uint32_t seed) : random_(seed) {}

  double Uniform(double low, double high);
  uint32_t Below(uint32_t n);
  /// A vector with each component in [-size, size].
  Eigen::Vector3d Vector(double size);
  Eigen::Vector3d Direction();
  Eigen::Matrix3d Matrix(double size);
  /// A rotation, uniform over all rotations.
  Eigen::Matrix3d Rotation();
  /// A rotation by an angle in [0, max_angle] [rad] about a random axis.
  Eigen::Matrix3d Rotation(double max_angle);
  Points Vectors(size_t count, double size);
  /// Picks each of `count` nodes with probability `share`.
  std::vector<uint32_t> Nodes(size_t count, double share);

 private:
  std::mt19937 random_;
};

/// An opened asset of a procedural mesh, and the bytes that it views.
class ShapeAsset {
 public:
  /// With as many clusters of nodes as a bake makes.
  explicit ShapeAsset(const tools::TetMesh& mesh, const tools::Material& material = {},
                      double dt = 0.01);
  /// With `clusters` clusters, 0: none; if not given, as many as a bake makes.
  ShapeAsset(const tools::TetMesh& mesh, const tools::Material& material, double dt,
             std::optional<uint32_t> clusters);
  /// Opens the bytes of a file.
  explicit ShapeAsset(std::span<const std::byte> bytes);
  /// Bakes by tools::Bake, with the mesh's own tets and the cage's mass. `pins_json` is a pins
  /// side-car, or empty.
  static ShapeAsset Baked(const tools::TetMesh& mesh, const tools::Material& material, double dt,
                          const std::string& pins_json = {});

  const Asset& asset() const { return asset_; }
  const SimulationView& simulation() const { return asset_.simulation(); }
  size_t num_nodes() const { return simulation().nodes.size(); }
  size_t num_blocks() const { return simulation().blocks.size(); }
  size_t num_places() const { return kBlockTets * num_blocks(); }
  ElementView elements() const;
  std::vector<Vec3> rest() const;

 private:
  ExactBuffer buffer_;
  Asset asset_;
};

/// Diagonal of the rest bounding box [m].
double SizeOf(const ShapeAsset& shape);

/// Rotations of all tets, by block.
class RotationArray {
 public:
  explicit RotationArray(size_t num_blocks, const Quat& rotation = {});

  RotationView view() { return RotationView(numbers); }
  Quat Get(uint32_t slot) { return view().Get(slot); }

  std::vector<float> numbers;  ///< (4 x 16 num_blocks)
};

// Calls that must succeed: they fail the test otherwise. They allocate nothing themselves.
BodyId AddBody(World* world, const Asset& asset, const BodyDesc& desc = {});
ColliderId AddPlane(World* world, const PlaneShape& shape, float friction = 0.5f);
/// Returns the StepFlags of the step.
uint32_t StepWorld(World* world, float dt);
WorldMeasures MeasuresOf(const World& world);
std::vector<Vec3> PositionsOf(const World& world, BodyId id, size_t num_nodes);
std::vector<Vec3> VelocitiesOf(const World& world, BodyId id, size_t num_nodes);
BodyMoments MomentsOf(const World& world, BodyId id);

/// Where World::Skin writes positions and normals; empty `normals` are skipped.
SkinTarget TargetOf(std::span<Vec3> positions, std::span<Vec3> normals = {});

/// What World::Skin writes. The test fails if it fails.
struct Skinned {
  std::vector<Vec3> positions, normals;
};
Skinned SkinOf(const World& world, BodyId id, const ShapeAsset& shape, float alpha = 1.0f);

/// Steps a world of one body. Stops the body whenever it loses kinetic energy, because it has then
/// passed its equilibrium. It comes to rest there whatever its damping.
void StepToRest(World* world, BodyId id, size_t num_nodes, float dt, int steps);

}  // namespace plush::test

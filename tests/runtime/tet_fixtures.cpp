// SPDX-License-Identifier: MIT
#include "runtime/tet_fixtures.h"

#include "plush/format/tet_block.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <utility>

namespace plush::test {

Eigen::Matrix3d ToEigen(const Mat3& m) {
  Eigen::Matrix3d out;
  out << ToEigen(m.c0), ToEigen(m.c1), ToEigen(m.c2);
  return out;
}

Points ToEigen(const std::vector<Vec3>& v) {
  Points out(3, static_cast<Eigen::Index>(v.size()));
  for (size_t i = 0; i < v.size(); ++i) out.col(static_cast<Eigen::Index>(i)) = ToEigen(v[i]);
  return out;
}

Points ToEigen(const std::vector<NodeVec>& v) {
  return ToEigen(std::vector<Vec3>(v.begin(), v.end() - 1));
}

Eigen::Matrix3d RotationOf(const Quat& q) {
  return Eigen::Quaterniond(q.w, q.x, q.y, q.z).normalized().toRotationMatrix();
}

Vec3 ToVec3(const Eigen::Vector3d& v) {
  return {static_cast<float>(v.x()), static_cast<float>(v.y()), static_cast<float>(v.z())};
}

Mat3 ToMat3(const Eigen::Matrix3d& m) {
  return {ToVec3(m.col(0)), ToVec3(m.col(1)), ToVec3(m.col(2))};
}

Quat ToQuat(const Eigen::Matrix3d& rotation) {
  const Eigen::Quaterniond q(rotation);
  return {static_cast<float>(q.x()), static_cast<float>(q.y()), static_cast<float>(q.z()),
          static_cast<float>(q.w())};
}

std::vector<Vec3> ToVec3s(const Points& points) {
  std::vector<Vec3> out;
  for (Eigen::Index i = 0; i < points.cols(); ++i) out.push_back(ToVec3(points.col(i)));
  return out;
}

std::vector<NodeVec> ToNodeVecs(const Points& points) { return ToNodeVecs(ToVec3s(points)); }

std::vector<NodeVec> ToNodeVecs(const std::vector<Vec3>& v) {
  std::vector<NodeVec> out;
  for (const Vec3& node : v) out.emplace_back(node, 0.0f);
  out.emplace_back();
  return out;
}

double AngleBetween(const Eigen::Matrix3d& a, const Eigen::Matrix3d& b) {
  // |a - b| = 2 sqrt(2) sin(angle / 2).
  return 2.0 * std::asin(std::min(1.0, (a - b).norm() / (2.0 * std::sqrt(2.0))));
}

double Random::Uniform(double low, double high) {
  return low + (high - low) * (random_() / 4294967296.0);
}

uint32_t Random::Below(uint32_t n) { return static_cast<uint32_t>(random_() % n); }

Eigen::Vector3d Random::Vector(double size) {
  const double x = Uniform(-size, size), y = Uniform(-size, size);
  return {x, y, Uniform(-size, size)};
}

Eigen::Vector3d Random::Direction() {
  for (;;) {
    const Eigen::Vector3d v = Vector(1.0);
    if (v.norm() > 0.1 && v.norm() < 1.0) return v.normalized();
  }
}

Eigen::Matrix3d Random::Matrix(double size) {
  Eigen::Matrix3d m;
  for (int c = 0; c < 3; ++c) m.col(c) = Vector(size);
  return m;
}

Eigen::Matrix3d Random::Rotation() {
  for (;;) {
    const Eigen::Vector3d v = Vector(1.0);
    const double w = Uniform(-1.0, 1.0);
    const Eigen::Quaterniond q(w, v.x(), v.y(), v.z());
    if (q.norm() > 0.1 && q.norm() < 1.0) return q.normalized().toRotationMatrix();
  }
}

Eigen::Matrix3d Random::Rotation(double max_angle) {
  const double angle = Uniform(0.0, max_angle);
  return Eigen::AngleAxisd(angle, Direction()).toRotationMatrix();
}

Points Random::Vectors(size_t count, double size) {
  Points out(3, static_cast<Eigen::Index>(count));
  for (Eigen::Index i = 0; i < out.cols(); ++i) out.col(i) = Vector(size);
  return out;
}

std::vector<uint32_t> Random::Nodes(size_t count, double share) {
  std::vector<uint32_t> out;
  for (uint32_t i = 0; i < count; ++i) {
    if (Uniform(0.0, 1.0) < share) out.push_back(i);
  }
  return out;
}

namespace {

std::vector<std::byte> BytesWithClusters(const tools::TetMesh& mesh,
                                         const tools::Material& material, double dt,
                                         std::optional<uint32_t> clusters) {
  tools::AssetContent content = ContentOf(mesh, material, dt);
  AddClusters(clusters, &content);
  auto bytes = tools::WriteAsset(content);
  if (!bytes.ok()) FAIL(bytes.error().message);
  return std::move(bytes.value());
}

}  // namespace

ShapeAsset::ShapeAsset(const tools::TetMesh& mesh, const tools::Material& material, double dt)
    : ShapeAsset(AssetBytesOf(mesh, material, dt)) {}

ShapeAsset::ShapeAsset(const tools::TetMesh& mesh, const tools::Material& material, double dt,
                       std::optional<uint32_t> clusters)
    : ShapeAsset(BytesWithClusters(mesh, material, dt, clusters)) {}

ShapeAsset::ShapeAsset(std::span<const std::byte> bytes) : buffer_(bytes) {
  const Status status = asset_.Open(std::as_const(buffer_).bytes());
  if (!status.ok()) FAIL(status.section << ": " << status.reason);
}

ShapeAsset ShapeAsset::Baked(const tools::TetMesh& mesh, const tools::Material& material, double dt,
                             const std::string& pins_json) {
  tools::BakeSettings settings = {
      .material = material, .dt = dt, .mass = tools::MassSource::kCage, .pins_json = pins_json};
  settings.threads = 1;  // TBB is built without the thread sanitizer
  tools::FindingList findings;
  const auto baked = tools::Bake(tools::ModelFromTets(mesh), settings, &findings);
  if (!baked.ok()) FAIL(baked.error().message);
  return ShapeAsset(baked.value().bytes);
}

ElementView ShapeAsset::elements() const {
  const SimulationView& s = simulation();
  return {s.tets, s.tet_slots, s.blocks, {}, {}, s.damping};
}

std::vector<Vec3> ShapeAsset::rest() const {
  return {simulation().nodes.begin(), simulation().nodes.end()};
}

RotationArray::RotationArray(size_t num_blocks, const Quat& rotation)
    : numbers(4 * kBlockTets * num_blocks) {
  for (uint32_t slot = 0; slot < kBlockTets * num_blocks; ++slot) view().Set(slot, rotation);
}

namespace {

void RequireOk(const Status& status) {
  if (status.ok()) return;
  FAIL(StatusCodeName(status.code) << ": " << status.section << " " << status.reason);
}

}  // namespace

BodyId AddBody(World* world, const Asset& asset, const BodyDesc& desc) {
  BodyId id;
  RequireOk(world->AddBody(asset, desc, &id));
  return id;
}

ColliderId AddPlane(World* world, const PlaneShape& shape, float friction) {
  ColliderId id;
  RequireOk(world->AddCollider({.plane = shape, .friction = friction}, &id));
  return id;
}

uint32_t StepWorld(World* world, float dt) {
  RequireOk(world->Step(dt));
  return world->stats().flags;
}

WorldMeasures MeasuresOf(const World& world) {
  WorldMeasures measures;
  RequireOk(world.Measure(&measures));
  return measures;
}

std::vector<Vec3> PositionsOf(const World& world, BodyId id, size_t num_nodes) {
  std::vector<Vec3> out(num_nodes);
  REQUIRE(world.NodePositions(id, 1.0f, out).ok());
  return out;
}

std::vector<Vec3> VelocitiesOf(const World& world, BodyId id, size_t num_nodes) {
  std::vector<Vec3> out(num_nodes);
  REQUIRE(world.NodeVelocities(id, out).ok());
  return out;
}

BodyMoments MomentsOf(const World& world, BodyId id) {
  BodyMoments moments;
  REQUIRE(world.Moments(id, &moments).ok());
  return moments;
}

SkinTarget TargetOf(std::span<Vec3> positions, std::span<Vec3> normals) {
  SkinTarget target = {.positions = positions.data()};
  if (!normals.empty()) target.normals = normals.data();
  target.num_vertices = static_cast<uint32_t>(positions.size());
  return target;
}

Skinned SkinOf(const World& world, BodyId id, const ShapeAsset& shape, float alpha) {
  Skinned out;
  out.positions.resize(shape.asset().visual().positions.size());
  out.normals.resize(out.positions.size());
  REQUIRE(world.Skin(id, alpha, TargetOf(out.positions, out.normals)).ok());
  return out;
}

void StepToRest(World* world, BodyId id, size_t num_nodes, float dt, int steps) {
  const std::vector<Vec3> still(num_nodes);
  double kinetic = 0.0;
  for (int step = 0; step < steps; ++step) {
    REQUIRE(StepWorld(world, dt) == kStepOk);
    const double now = MeasuresOf(*world).kinetic_j;
    const bool slower = now < kinetic;
    if (slower) REQUIRE(world->SetNodeVelocities(id, still).ok());
    kinetic = slower ? 0.0 : now;
  }
}

double SizeOf(const ShapeAsset& shape) {
  const Points rest = ToEigen(shape.rest());
  return (rest.rowwise().maxCoeff() - rest.rowwise().minCoeff()).norm();
}

}  // namespace plush::test

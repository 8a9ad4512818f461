// SPDX-License-Identifier: MIT
#include "runtime/energy/grid_ground.h"

#include "runtime/colliders/plane_scene.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

namespace plush::test {
namespace {

constexpr double kReach = 8.0;  // of hills and boxes from the origin [sizes]

}  // namespace

GridGround::GridGround(const RandomScene& scene, double size, Random* random, Points* x)
    : size_(size), friction_(static_cast<float>(random->Uniform(0.0, 2.0))) {
  using Ground = RandomScene::Ground;
  const bool has_hills = scene.ground == Ground::kHeightField || scene.ground == Ground::kMesh;
  if (has_hills) {
    MakeHills(scene.ground == Ground::kMesh, random, x);
  } else {
    MakeBoxes(scene.ground == Ground::kWalls, random, x);
  }
  for (ColliderDesc& desc : descs_) desc.friction = friction_;
}

// A bowl as deep as it is wide keeps bodies on it.
double GridGround::HillAt(double x, double z) const {
  const double bowl = (x * x + z * z) / (kReach * size_);
  return bowl + height_ * std::sin(x / width_ + phase_) * std::cos(z / width_);
}

void GridGround::MakeHills(bool is_mesh, Random* random, Points* x) {
  spacing_ = size_ * random->Uniform(0.15, 1.0);
  width_ = size_ * random->Uniform(0.1, 1.0);
  height_ = width_ * random->Uniform(0.1, 1.0);
  phase_ = random->Uniform(0.0, 2.0 * std::numbers::pi);
  columns_ = static_cast<uint32_t>(2.0 * kReach * size_ / spacing_) + 2;
  const double first = -0.5 * spacing_ * (columns_ - 1);
  for (uint32_t row = 0; row < columns_; ++row) {
    for (uint32_t column = 0; column < columns_; ++column) {
      heights_.push_back(
          static_cast<float>(HillAt(first + spacing_ * column, first + spacing_ * row)));
    }
  }
  ColliderDesc desc;
  if (is_mesh) {
    SurfaceMesh surface;
    for (uint32_t row = 0; row < columns_; ++row) {
      for (uint32_t column = 0; column < columns_; ++column) {
        surface.positions.push_back(
            {spacing_ * column, double(heights_[row * columns_ + column]), spacing_ * row});
        if (row + 1 == columns_ || column + 1 == columns_) continue;
        const uint32_t a = row * columns_ + column, b = a + columns_;
        surface.triangles.push_back({a, b, b + 1});
        surface.triangles.push_back({a, b + 1, a + 1});
      }
    }
    plush::tests::CompleteMesh(&surface);
    mesh_ = std::make_unique<StaticSubject>(surface, MeshSides::kFront);
    desc.type = ShapeType::kMesh;
    desc.mesh = {&mesh_->asset()};
  } else {
    desc.type = ShapeType::kHeightField;
    desc.height_field = {heights_, columns_, columns_, static_cast<float>(spacing_)};
  }
  desc.pose.position = {static_cast<float>(first), 0.0f, static_cast<float>(first)};
  descs_.push_back(desc);
  const double highest = height_ + (size_ + spacing_) * (size_ + spacing_) / (kReach * size_);
  x->row(1).array() += highest - x->row(1).minCoeff() + random->Uniform(0.0, 1.0) * size_;
}

void GridGround::MakeBoxes(bool has_walls, Random* random, Points* x) {
  x->row(1).array() += -x->row(1).minCoeff() + random->Uniform(0.0, 0.3) * size_;
  thickness_ = size_ * random->Uniform(0.05, 1.0);
  way_ = random->Vector(size_);
  const double closed = random->Uniform(0.6, 1.0);
  const Eigen::Vector3d zero = Eigen::Vector3d::Zero();
  boxes_.push_back({Eigen::Vector3d::UnitY(), zero, zero, zero});
  const auto add = [&](const Eigen::Vector3d& normal, double extent, double reach) {
    boxes_.push_back({normal, -normal * reach, -normal * extent * closed, -normal * reach});
  };
  const double room = 0.1 * size_;
  if (has_walls) {
    const double half = x->row(0).cwiseAbs().maxCoeff();
    add(Eigen::Vector3d::UnitX(), half, half + room);
    add(-Eigen::Vector3d::UnitX(), half, half + room);
  } else {
    const double top = x->row(1).maxCoeff();
    add(-Eigen::Vector3d::UnitY(), top - x->row(1).minCoeff(), top + room);
  }
  for (const Box& box : boxes_) {
    ColliderDesc desc = {.type = ShapeType::kBox};
    Eigen::Vector3d half = Eigen::Vector3d::Constant(kReach * size_);
    for (int k = 0; k < 3; ++k) {
      if (box.normal[k] != 0.0) half[k] = thickness_;
    }
    desc.box.half_extents = ToVec3(half);
    desc.pose.position = ToVec3(box.open - box.normal * thickness_);
    descs_.push_back(desc);
  }
}

void GridGround::AddTo(World* world) {
  for (const ColliderDesc& desc : descs_) ids_.push_back(AddCollider(world, desc));
  moved_.assign(ids_.size(), Eigen::Vector3d::Zero());
}

void GridGround::Move(int step, int count, World* world) {
  for (size_t i = 0; i < boxes_.size(); ++i) {
    Box& box = boxes_[i];
    // Closes in the second third, opens in the last one.
    const double share = 3.0 * step / count - 1.0;
    const double closed = std::clamp(share < 1.0 ? share : 2.0 - share, 0.0, 1.0);
    const Eigen::Vector3d before = ToEigen(descs_[i].pose.position);
    const double along = std::sin(2.0 * std::numbers::pi * step / count);
    box.now = box.open + (box.closed - box.open) * closed + way_ * along;
    descs_[i].pose.position = ToVec3(box.now - box.normal * thickness_);
    REQUIRE(world->MoveCollider(ids_[i], descs_[i].pose).ok());
    moved_[i] = ToEigen(descs_[i].pose.position) - before;
  }
}

void GridGround::AddWork(const World& world, const Points& pinned) {
  for (size_t i = 0; i < boxes_.size(); ++i) {
    Box& box = boxes_[i];
    const bool was_over_pins = box.is_over_pins;
    box.is_over_pins = false;
    for (Eigen::Index pin = 0; pin < pinned.cols(); ++pin) {
      const double depth = DepthIn(i, pinned.col(pin));
      box.is_over_pins = box.is_over_pins || (depth > 0.0 && depth < 2.0 * thickness_);
    }
    Reaction reaction;
    REQUIRE(world.ColliderReaction(ids_[i], &reaction).ok());
    const double work = -ToEigen(reaction.force).dot(moved_[i]);
    work_ += was_over_pins || box.is_over_pins ? std::max(work, 0.0) : work;
  }
}

double GridGround::DepthIn(size_t box, const Eigen::Vector3d& x) const {
  const Eigen::Vector3d& normal = boxes_[box].normal;
  const Eigen::Vector3d from = x - ToEigen(descs_[box].pose.position);
  const Eigen::Vector3d along = from - normal * normal.dot(from);
  constexpr double kNone = -std::numeric_limits<double>::infinity();
  return along.cwiseAbs().maxCoeff() > kReach * size_ ? kNone : normal.dot(boxes_[box].now - x);
}

double GridGround::DepthOf(const Points& x) const {
  double deepest = -std::numeric_limits<double>::infinity();
  for (Eigen::Index i = 0; i < x.cols(); ++i) {
    for (size_t k = 0; k < boxes_.size(); ++k) deepest = std::max(deepest, DepthIn(k, x.col(i)));
    if (columns_ == 0) continue;
    const Eigen::Vector3d p = (x.col(i) - ToEigen(descs_[0].pose.position)) / spacing_;
    const double last = columns_ - 1;
    if (!(p.x() >= 0.0 && p.z() >= 0.0 && p.x() < last && p.z() < last)) continue;
    const auto column = static_cast<uint32_t>(p.x()), row = static_cast<uint32_t>(p.z());
    const double u = p.x() - column, v = p.z() - row;
    const auto h = [&](uint32_t right, uint32_t down) {
      return double(heights_[size_t{row + down} * columns_ + column + right]);
    };
    const double slope_u = u > v ? h(1, 0) - h(0, 0) : h(1, 1) - h(0, 1);
    const double slope_v = u > v ? h(1, 1) - h(1, 0) : h(0, 1) - h(0, 0);
    const double above = x(1, i) - (h(0, 0) + slope_u * u + slope_v * v);
    // Distance from the triangle's plane.
    deepest = std::max(deepest, -above / std::hypot(1.0, slope_u / spacing_, slope_v / spacing_));
  }
  return deepest;
}

}  // namespace plush::test

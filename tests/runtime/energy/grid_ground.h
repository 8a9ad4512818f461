// SPDX-License-Identifier: MIT
// What the random bodies of the stability grid fall on: hills, and boxes that close on them.
#pragma once

#include "runtime/collision/static_meshes.h"
#include "runtime/energy/random_scenes.h"

#include <memory>
#include <vector>

namespace plush::test {

/// Hills in a bowl, or two or three kinematic boxes, with the work that they do.
class GridGround {
 public:
  /// For a body of this `size` [m] that starts at `x`, about the origin. Moves `x` above it. Draws
  /// from `random`.
  GridGround(const RandomScene& scene, double size, Random* random, Points* x);
  GridGround(const GridGround&) = delete;
  GridGround& operator=(const GridGround&) = delete;

  void AddTo(World* world);
  /// Says where boxes are after step `step` of `count`.
  void Move(int step, int count, World* world);
  /// Adds the work of the last step. `pinned`: where pinned nodes are. A point that these hold
  /// inside a box moves less than the box. So the body gets a share of this box's work, and need
  /// not give all of it back.
  void AddWork(const World& world, const Points& pinned);
  double work() const { return work_; }  ///< [J]
  /// Depth of the deepest of these points on the wrong side [m]. Those beside hills or beside a
  /// box's face have none.
  double DepthOf(const Points& x) const;

 private:
  double HillAt(double x, double z) const;
  double DepthIn(size_t box, const Eigen::Vector3d& x) const;  // [m], or far below 0 beside it
  void MakeHills(bool is_mesh, Random* random, Points* x);
  void MakeBoxes(bool has_walls, Random* random, Points* x);

  double size_ = 0.0;
  float friction_ = 0.0f;
  // Hills.
  double spacing_ = 0.0, height_ = 0.0, width_ = 0.0, phase_ = 0.0;
  uint32_t columns_ = 0;  // and rows
  std::vector<float> heights_;
  std::unique_ptr<StaticSubject> mesh_;
  // Boxes: the normal of the face that the body is on, and a point of the face at the start and
  // when closed.
  struct Box {
    Eigen::Vector3d normal, open, closed, now;
    bool is_over_pins = false;
  };
  std::vector<Box> boxes_;
  double thickness_ = 0.0;
  Eigen::Vector3d way_ = Eigen::Vector3d::Zero();  // of all boxes
  std::vector<Eigen::Vector3d> moved_;             // by the last Move
  std::vector<ColliderDesc> descs_;
  std::vector<ColliderId> ids_;
  double work_ = 0.0;
};

}  // namespace plush::test

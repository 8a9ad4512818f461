// SPDX-License-Identifier: MIT
// The tree's boxes are made anew along the way from a leaf to the root.
#include "simplify/moving_triangles.h"

#include "mesh/triangle_bvh.h"

namespace plush::tools {
namespace {

Box3 Union(Box3 a, const Box3& b) {
  a.Add(b);
  return a;
}

}  // namespace

MovingTriangles::MovingTriangles(std::span<const Vec3d> points,
                                 std::span<const std::array<uint32_t, 3>> triangles) {
  std::vector<Vec3d> centres;
  std::vector<Box3> boxes(triangles.size());
  for (size_t t = 0; t < triangles.size(); ++t) {
    for (const uint32_t corner : triangles[t]) boxes[t].Add(points[corner]);
    centres.push_back(boxes[t].Centre());
  }
  while (num_leaves_ < triangles.size()) num_leaves_ *= 2;
  triangle_of_leaf_ = OrderByHalves(centres);
  leaf_of_triangle_.resize(triangles.size());
  boxes_.resize(2 * num_leaves_);
  for (uint32_t i = 0; i < triangles.size(); ++i) {
    leaf_of_triangle_[triangle_of_leaf_[i]] = i;
    boxes_[num_leaves_ + i] = boxes[triangle_of_leaf_[i]];
  }
  for (size_t node = num_leaves_ - 1; node > 0; --node) {
    boxes_[node] = Union(boxes_[2 * node], boxes_[2 * node + 1]);
  }
}

void MovingTriangles::Set(uint32_t triangle, const Box3& box) {
  size_t node = num_leaves_ + leaf_of_triangle_[triangle];
  boxes_[node] = box;
  for (node /= 2; node > 0; node /= 2) {
    boxes_[node] = Union(boxes_[2 * node], boxes_[2 * node + 1]);
  }
}

}  // namespace plush::tools

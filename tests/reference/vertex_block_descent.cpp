// SPDX-License-Identifier: MIT
// Gauss-Seidel over nodes by colours, each with a Newton step of its own 3 x 3 block.
// Source: Anka Chen, Ziheng Liu, Yin Yang, Cem Yuksel. Vertex Block Descent. 2024
#include "reference/vertex_block_descent.h"

#include <algorithm>
#include <cmath>

namespace plush::reference {
namespace {

// One Newton step towards the rotation of F = R U from the last one, as a rotation by Cayley's map.
void Follow(const Eigen::Matrix3f& F, Eigen::Matrix3f* R) {
  const Eigen::Matrix3f S = R->transpose() * F;
  const Eigen::Vector3f axial(S(2, 1) - S(1, 2), S(0, 2) - S(2, 0), S(1, 0) - S(0, 1));
  const Eigen::Matrix3f slope =
      S.trace() * Eigen::Matrix3f::Identity() - 0.5f * (S + S.transpose());
  const Eigen::Vector3f w = 0.5f * (slope.inverse() * axial);
  const Eigen::Quaternionf turn = Eigen::Quaternionf(1.0f, w.x(), w.y(), w.z()).normalized();
  if (std::isfinite(turn.w())) *R = *R * turn.toRotationMatrix();
}

Eigen::Matrix3f Cofactor(const Eigen::Matrix3f& F) {
  Eigen::Matrix3f out;
  out << F.col(1).cross(F.col(2)), F.col(2).cross(F.col(0)), F.col(0).cross(F.col(1));
  return out;
}

}  // namespace

VertexBlockDescent::VertexBlockDescent(const ElasticBody& body, const DescentSettings& settings)
    : settings_(settings),
      rotations_(body.tets.size(), Eigen::Matrix3f::Identity()),
      inertias_((body.masses / (settings.dt_s * settings.dt_s)).cast<float>()),
      x_(body.rest.cast<float>()),
      v_(FloatPoints::Zero(3, body.num_nodes())),
      last_v_(v_) {
  std::vector<std::vector<Corner>> corners(static_cast<size_t>(body.num_nodes()));
  for (const ElasticTet& tet : body.tets) {
    FloatTet out;
    for (uint32_t k = 0; k < 4; ++k) {
      out.nodes[k] = tet.nodes[k];
      corners[tet.nodes[k]].push_back({static_cast<uint32_t>(tets_.size()), k});
    }
    out.gradients = tet.gradients.cast<float>();
    out.stiffness = static_cast<float>(tet.stiffness);
    out.bulk = static_cast<float>(tet.bulk);
    tets_.push_back(out);
  }
  for (const std::vector<Corner>& of_node : corners) {
    corner_starts_.push_back(static_cast<uint32_t>(corners_.size()));
    corners_.insert(corners_.end(), of_node.begin(), of_node.end());
  }
  corner_starts_.push_back(static_cast<uint32_t>(corners_.size()));
  Colour();
}

// Greedy colours: no two nodes of a colour share a tet.
void VertexBlockDescent::Colour() {
  const size_t num_nodes = corner_starts_.size() - 1;
  std::vector<int> colours(num_nodes, -1);
  int num_colours = 0;
  for (size_t i = 0; i < num_nodes; ++i) {
    std::vector<bool> taken(static_cast<size_t>(num_colours) + 1, false);
    for (uint32_t k = corner_starts_[i]; k < corner_starts_[i + 1]; ++k) {
      for (const uint32_t node : tets_[corners_[k].tet].nodes) {
        if (colours[node] >= 0) taken[static_cast<size_t>(colours[node])] = true;
      }
    }
    const auto first = std::find(taken.begin(), taken.end(), false);
    colours[i] = static_cast<int>(first - taken.begin());
    num_colours = std::max(num_colours, colours[i] + 1);
  }
  std::vector<bool> is_pinned(num_nodes, false);
  for (const uint32_t node : settings_.pinned) is_pinned[node] = true;
  for (uint32_t i = 0; i < num_nodes; ++i) {
    if (!is_pinned[i]) order_.push_back(i);
  }
  std::stable_sort(order_.begin(), order_.end(),
                   [&](uint32_t a, uint32_t b) { return colours[a] < colours[b]; });
}

void VertexBlockDescent::MoveNode(uint32_t node) {
  Eigen::Vector3f force = inertias_[node] * (inertial_.col(node) - y_.col(node));
  Eigen::Matrix3f block = inertias_[node] * Eigen::Matrix3f::Identity();
  for (uint32_t k = corner_starts_[node]; k < corner_starts_[node + 1]; ++k) {
    const FloatTet& tet = tets_[corners_[k].tet];
    Eigen::Matrix3f& R = rotations_[corners_[k].tet];
    Eigen::Matrix3f F = y_.col(tet.nodes[0]) * tet.gradients.row(0);
    for (int c = 1; c < 4; ++c) F += y_.col(tet.nodes[c]) * tet.gradients.row(c);
    Follow(F, &R);
    const Eigen::Matrix3f C = Cofactor(F);
    const float change = F.col(0).dot(C.col(0)) - 1.0f;
    const Eigen::Vector3f g = tet.gradients.row(corners_[k].place).transpose();
    const Eigen::Vector3f turned = R * g, normal = C * g;
    force -= tet.stiffness * (F * g - turned) + tet.bulk * change * normal;
    const float weight = 0.5f * tet.stiffness;
    block += turned * (weight * turned).transpose() + normal * (tet.bulk * normal).transpose();
    block.diagonal().array() += weight * g.squaredNorm();
  }
  y_.col(node) += block.inverse() * force;
}

// The paper's adaptive start: gravity as far as the last step's acceleration followed it.
VertexBlockDescent::FloatPoints VertexBlockDescent::FirstIterate() const {
  const float dt = static_cast<float>(settings_.dt_s);
  const Eigen::Vector3f gravity = settings_.gravity.cast<float>();
  const float squared = gravity.squaredNorm();
  FloatPoints out = x_;
  for (const uint32_t i : order_) {
    const float along = (v_.col(i) - last_v_.col(i)).dot(gravity) / dt;
    const float share = squared > 0.0f ? std::clamp(along / squared, 0.0f, 1.0f) : 0.0f;
    out.col(i) += dt * v_.col(i) + dt * dt * share * gravity;
  }
  return out;
}

void VertexBlockDescent::Step() {
  const float dt = static_cast<float>(settings_.dt_s);
  inertial_ = (x_ + dt * v_).colwise() + dt * dt * settings_.gravity.cast<float>();
  y_ = FirstIterate();
  FloatPoints before = y_, last = y_;
  float omega = 1.0f;
  const float squared = settings_.radius * settings_.radius;
  for (int k = 0; k < settings_.iterations; ++k) {
    for (const uint32_t node : order_) MoveNode(node);
    if (k > 0) {
      omega = k == 1 ? 2.0f / (2.0f - squared) : 4.0f / (4.0f - squared * omega);
      y_ = omega * (y_ - before) + before;
    }
    before = last;
    last = y_;
  }
  last_v_ = v_;
  v_ = (y_ - x_) / dt;
  x_ = y_;
}

}  // namespace plush::reference

// SPDX-License-Identifier: MIT
#include "runtime/solver_fixtures.h"

#include "plush/format/factor_panels.h"

#include "reference/dense_algebra.h"

#include <catch2/catch.hpp>

#include <limits>

namespace plush::test {

SystemView SystemOf(const ShapeAsset& shape, float dt) {
  return {shape.elements(), shape.simulation().masses, 1.0f, {}, dt};
}

SystemTerms TermsOf(const SystemView& system) {
  return {system.elements.blocks, system.elements.stiffness,
          system.masses,          system.mass_scale,
          system.pinned,          system.dt,
          system.elements.damping};
}

size_t NumValues(const FactorView& factor) {
  size_t count = 0;
  for (const Supernode& s : factor.supernodes) count += PanelValues(s);
  return count;
}

SystemFactor::SystemFactor(const ShapeAsset& shape)
    : values(NumValues(shape.asset().factor()), std::numeric_limits<float>::quiet_NaN()),
      workspace(PanelWorkspaceSize(shape.asset().factor().supernodes,
                                   static_cast<uint32_t>(shape.num_nodes()))),
      view_(shape.asset().factor()),
      num_nodes_(static_cast<uint32_t>(shape.num_nodes())) {}

void SystemFactor::Factorise(const SystemView& system, bool with_roots) {
  roots.assign(with_roots ? view_.supernodes.size() : 0, std::numeric_limits<float>::quiet_NaN());
  const Status status =
      FactoriseSystem(TermsOf(system), {view_.supernodes, view_.supernode_of, view_.rows},
                      DefaultAllocator(), values, roots);
  if (!status.ok()) FAIL(status.section << ": " << status.reason);
}

PanelFactor SystemFactor::panels() const {
  return {view_.supernodes, view_.supernode_of, view_.rows, values,
          num_nodes_,       num_nodes_,         nullptr,    roots};
}

RandomSystem::RandomSystem(uint32_t seed, double pin_share, float dt)
    : random(seed),
      shape(TetBox(2 + seed % 3, 1 + seed % 4, 2, 0.1, 0.09, seed), {2.0e5, 0.4, 1000.0},
            double(dt)),
      model(shape.asset()),
      pinned(shape.num_nodes(), 0),
      system(SystemOf(shape, dt)),
      factor(shape) {
  for (const uint32_t node : random.Nodes(shape.num_nodes(), pin_share)) {
    pinned[node] = 1;
    model.pinned[node] = true;
  }
  system.pinned = pinned;
}

Eigen::MatrixXd MultiplyOut(const PanelFactor& factor) {
  const Eigen::Index n = factor.num_nodes;
  Eigen::MatrixXd L = Eigen::MatrixXd::Identity(n, n), D = Eigen::MatrixXd::Zero(n, n);
  for (const Supernode& s : factor.supernodes) {
    const uint32_t w = s.num_columns;
    const float* below = &factor.values[s.first_value];
    const float* diagonal = below + BlockValues(s.num_rows, w);
    Eigen::MatrixXd inverse(w, w);
    for (uint32_t j = 0; j < w; ++j) {
      for (uint32_t i = 0; i < w; ++i) inverse(i, j) = diagonal[BlockIndex(w, w, i, j)];
      for (uint32_t i = 0; i < s.num_rows; ++i) {
        L(factor.rows[s.first_row + i], s.first_column + j) =
            -double(below[BlockIndex(s.num_rows, w, i, j)]);
      }
    }
    D.block(s.first_column, s.first_column, w, w) = reference::InverseOf(inverse);
  }
  return reference::Congruent(L, D);
}

bool SpareIsZero(const std::vector<NodeVec>& v) {
  return v.back().x == 0.0f && v.back().y == 0.0f && v.back().z == 0.0f;
}

}  // namespace plush::test

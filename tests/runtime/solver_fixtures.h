// SPDX-License-Identifier: MIT
// The matrix of a body and its factor, as the runtime makes them: what tests of solves share.
#pragma once

#include "plush/format/factor_panels.h"
#include "plush/format/system_factor.h"

#include "runtime/dense_reference.h"
#include "solver/panel_solve.h"
#include "solver/system_matrix.h"

#include <cstdint>
#include <span>
#include <vector>

namespace plush::test {

/// A matrix at the time step `dt` [s], to which products need pins, or zeros for them. Views into
/// `shape`.
SystemView SystemOf(const ShapeAsset& shape, float dt);

/// The same matrix in the terms of a factorisation. Views into `system`.
SystemTerms TermsOf(const SystemView& system);

/// Numbers of all panels of a factor.
size_t NumValues(const FactorView& factor);

/// The factor of a matrix on the structure of an asset, with the memory that solves need.
class SystemFactor {
 public:
  /// Empty until Factorise.
  explicit SystemFactor(const ShapeAsset& shape);

  /// The test fails if the matrix has no factor.
  void Factorise(const SystemView& system);
  void Solve(std::vector<NodeVec>* x) { SolvePanels(panels(), workspace, *x); }
  /// All columns are active.
  PanelFactor panels() const;

  std::vector<float> values;
  std::vector<float> workspace;

 private:
  FactorView view_;
  uint32_t num_nodes_;
};

/// A random body with random pins, its matrix, and a factor that is still empty.
struct RandomSystem {
  RandomSystem(uint32_t seed, double pin_share, float dt);

  Random random;
  ShapeAsset shape;
  DenseModel model;
  std::vector<uint8_t> pinned;
  SystemView system;
  SystemFactor factor;
};

/// The stored dense blocks of a factor, multiplied out in double: L D L^T.
Eigen::MatrixXd MultiplyOut(const PanelFactor& factor);

/// Whether the spare element at the end is zero.
bool SpareIsZero(const std::vector<NodeVec>& v);

}  // namespace plush::test

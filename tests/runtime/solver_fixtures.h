// SPDX-License-Identifier: MIT
// The matrix of a body and its factor, as the runtime makes them. Shared by the tests of solves.
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

/// The matrix for time step `dt` [s]. Products need pins, or zeros in their place. Views into
/// `shape`.
SystemView SystemOf(const ShapeAsset& shape, float dt);

/// The same matrix as the input of a factorisation. Views into `system`.
SystemTerms TermsOf(const SystemView& system);

/// Number of values in all panels of a factor.
size_t NumValues(const FactorView& factor);

/// The factor of a matrix on the structure of an asset, with the memory for solves.
class SystemFactor {
 public:
  /// Empty until Factorise.
  explicit SystemFactor(const ShapeAsset& shape);

  /// Factorises. Fails the test if the matrix has no factor.
  void Factorise(const SystemView& system, bool with_roots = false);
  void Solve(std::vector<NodeVec>* x) { SolvePanels(panels(), workspace, *x); }
  /// Panels with all columns active.
  PanelFactor panels() const;

  std::vector<float> values;
  std::vector<float> roots;  // or empty
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

/// L D L^T, multiplied out in double from the stored dense blocks of a factor.
Eigen::MatrixXd MultiplyOut(const PanelFactor& factor);

/// Whether the spare element at the end is zero.
bool SpareIsZero(const std::vector<NodeVec>& v);

}  // namespace plush::test

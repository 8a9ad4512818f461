// SPDX-License-Identifier: MIT
// Sparse Cholesky factor of a matrix over nodes that is the same for all three axes.
#pragma once

#include "reference/elastic_body.h"

#include <Eigen/SparseCore>

#include <vector>

namespace plush::reference {

class AxisFactor {
 public:
  AxisFactor() = default;
  /// Factors M / dt^2 + sum_t (tet's weight) g g^T [N/m], `weights` (num_tets x 1) [J]. Rows and
  /// columns of pinned nodes are those of the identity.
  AxisFactor(const ElasticBody& body, double dt_s, const std::vector<double>& weights,
             const std::vector<bool>& pinned);

  /// Solves for all three axes.
  void Solve(const Points& b, Points* out) const;

 private:
  Eigen::SparseMatrix<double> lower_;
  Eigen::VectorXi places_;  // of the nodes, in the order of elimination
  mutable Points work_;
};

}  // namespace plush::reference

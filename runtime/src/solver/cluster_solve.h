// SPDX-License-Identifier: MIT
// The coarse level as part of a preconditioner: A0^-1 + Z C^-1 Z^T, Z the rigid motions of clusters
// (coarse_level.h). A0 resists turns as if they were stretch, so A0^-1 A has small eigenvalues, and
// conjugate gradients take long to find the turns. C does not resist them.
#pragma once

#include "base/node_vec.h"
#include "solver/coarse_level.h"
#include "solver/coarse_matrix.h"

#include <span>

namespace plush {

/// Z C^-1 Z^T at positions that do not change meanwhile. Functions do not allocate.
struct ClusterSolve {
  const CoarseLevel& level;
  const CoarseMatrix& matrix;         ///< C, from CoarseMatrix::Make
  std::span<const ClusterSums> sums;  ///< at `y` (num_clusters x 1)
  std::span<const NodeVec> y;         ///< positions [m] (num_nodes x 1 or more)
  double weight = 1.0;                ///< factor on C^-1

  /// q = C^-1 Z^T r: shift and turn about its centre of each cluster, and two spare numbers
  /// (8 num_clusters x 1). `r`: (num_nodes x 1 or more).
  void FindMotions(std::span<const NodeVec> r, std::span<double> q) const;

  /// z += Z q. Pinned nodes stay.
  void AddMotions(std::span<const double> q, std::span<NodeVec> z) const;
};

}  // namespace plush

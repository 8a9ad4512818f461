// SPDX-License-Identifier: MIT
// Source: see dense_algebra.h.
#include "reference/dense_algebra.h"

#include <cmath>

namespace plush::reference {

Eigen::MatrixXd Product(const Eigen::MatrixXd& a, const Eigen::MatrixXd& b) { return a * b; }

Eigen::MatrixXd Congruent(const Eigen::MatrixXd& a, const Eigen::MatrixXd& b) {
  return Product(Product(a, b), a.transpose());
}

Eigen::MatrixXd InverseOf(const Eigen::MatrixXd& a) { return a.inverse(); }

Eigen::MatrixXd SolveSymmetric(const Eigen::MatrixXd& a, const Eigen::MatrixXd& b) {
  return a.ldlt().solve(b);
}

Eigen::MatrixXd SolveAny(const Eigen::MatrixXd& a, const Eigen::MatrixXd& b) {
  return a.fullPivLu().solve(b);
}

Eigenpairs EigenpairsOf(const Eigen::MatrixXd& symmetric) {
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> solver(symmetric);
  const double scale = solver.info() == Eigen::Success ? 1.0 : std::nan("");
  return {scale * solver.eigenvalues(), solver.eigenvectors()};
}

}  // namespace plush::reference

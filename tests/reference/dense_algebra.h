// SPDX-License-Identifier: MIT
// What costs a source file seconds to compile, compiled once: operations on dense matrices of any
// size.
#pragma once

#include <Eigen/Dense>

namespace plush::reference {

Eigen::MatrixXd Product(const Eigen::MatrixXd& a, const Eigen::MatrixXd& b);

/// a b a^T.
Eigen::MatrixXd Congruent(const Eigen::MatrixXd& a, const Eigen::MatrixXd& b);

Eigen::MatrixXd InverseOf(const Eigen::MatrixXd& a);

/// x with a x = b, by L D L^T of a semidefinite matrix.
Eigen::MatrixXd SolveSymmetric(const Eigen::MatrixXd& a, const Eigen::MatrixXd& b);

/// An x with a x = b for any matrix. Singular ones have a solution if equations agree.
Eigen::MatrixXd SolveAny(const Eigen::MatrixXd& a, const Eigen::MatrixXd& b);

/// Of a symmetric matrix, by ascending values. These are not numbers if they cannot be found.
struct Eigenpairs {
  Eigen::VectorXd values;
  Eigen::MatrixXd vectors;  ///< one per column
};
Eigenpairs EigenpairsOf(const Eigen::MatrixXd& symmetric);

}  // namespace plush::reference

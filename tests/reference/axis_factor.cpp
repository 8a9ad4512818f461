// SPDX-License-Identifier: MIT
#include "reference/axis_factor.h"

#include <Eigen/SparseCholesky>

#include <cstdlib>

namespace plush::reference {

AxisFactor::AxisFactor(const ElasticBody& body, double dt_s, const std::vector<double>& weights,
                       const std::vector<bool>& pinned) {
  std::vector<Eigen::Triplet<double>> entries;
  for (size_t t = 0; t < body.tets.size(); ++t) {
    const ElasticTet& tet = body.tets[t];
    for (size_t i = 0; i < 4; ++i) {
      for (size_t j = 0; j < 4; ++j) {
        if (pinned[tet.nodes[i]] || pinned[tet.nodes[j]]) continue;
        const double dot = tet.gradients.row(static_cast<Eigen::Index>(i))
                               .dot(tet.gradients.row(static_cast<Eigen::Index>(j)));
        entries.emplace_back(tet.nodes[i], tet.nodes[j], weights[t] * dot);
      }
    }
  }
  for (Eigen::Index i = 0; i < body.num_nodes(); ++i) {
    const bool is_pinned = pinned[static_cast<size_t>(i)];
    entries.emplace_back(i, i, is_pinned ? 1.0 : body.masses[i] / (dt_s * dt_s));
  }
  Eigen::SparseMatrix<double> A(body.num_nodes(), body.num_nodes());
  A.setFromTriplets(entries.begin(), entries.end());
  const Eigen::SimplicialLLT<Eigen::SparseMatrix<double>> factor(A);
  if (factor.info() != Eigen::Success) std::abort();  // sums of squares and positive masses
  lower_ = factor.matrixL();
  places_ = factor.permutationP().indices();
}

void AxisFactor::Solve(const Points& b, Points* out) const {
  work_.resize(3, b.cols());
  for (Eigen::Index i = 0; i < b.cols(); ++i) work_.col(places_[i]) = b.col(i);
  const int* starts = lower_.outerIndexPtr();
  const int* rows = lower_.innerIndexPtr();  // the diagonal comes first
  const double* values = lower_.valuePtr();
  for (Eigen::Index j = 0; j < b.cols(); ++j) {
    const Eigen::Vector3d z = work_.col(j) / values[starts[j]];
    work_.col(j) = z;
    for (int k = starts[j] + 1; k < starts[j + 1]; ++k) work_.col(rows[k]) -= values[k] * z;
  }
  for (Eigen::Index j = b.cols() - 1; j >= 0; --j) {
    Eigen::Vector3d z = work_.col(j);
    for (int k = starts[j] + 1; k < starts[j + 1]; ++k) z -= values[k] * work_.col(rows[k]);
    work_.col(j) = z / values[starts[j]];
  }
  out->resize(3, b.cols());
  for (Eigen::Index i = 0; i < b.cols(); ++i) out->col(i) = work_.col(places_[i]);
}

}  // namespace plush::reference

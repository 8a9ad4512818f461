// SPDX-License-Identifier: MIT
#include "rest/cholesky_factor.h"

#include "base/vec3.h"

#include <Eigen/SparseCholesky>
#include <Eigen/SparseCore>

#include <array>

namespace plush::tools {
namespace {

using SparseMatrix = Eigen::SparseMatrix<double>;
using Factorisation = Eigen::SimplicialLLT<SparseMatrix, Eigen::Lower, Eigen::NaturalOrdering<int>>;

// Gradients of the four shape functions [1/m].
std::array<Vec3d, 4> ShapeGradients(const Mat3& dm_inv) {
  const Vec3d b = {dm_inv.c0.x, dm_inv.c1.x, dm_inv.c2.x};
  const Vec3d c = {dm_inv.c0.y, dm_inv.c1.y, dm_inv.c2.y};
  const Vec3d d = {dm_inv.c0.z, dm_inv.c1.z, dm_inv.c2.z};
  return {-(b + c + d), b, c, d};
}

LowerMatrix FromEigen(const SparseMatrix& matrix) {
  LowerMatrix out;
  const auto n = static_cast<size_t>(matrix.cols());
  const auto nonzeros = static_cast<size_t>(matrix.nonZeros());
  out.column_starts.assign(matrix.outerIndexPtr(), matrix.outerIndexPtr() + n + 1);
  out.rows.assign(matrix.innerIndexPtr(), matrix.innerIndexPtr() + nonzeros);
  out.values.assign(matrix.valuePtr(), matrix.valuePtr() + nonzeros);
  return out;
}

SparseMatrix ToEigen(const LowerMatrix& matrix) {
  const auto n = static_cast<Eigen::Index>(matrix.column_starts.size() - 1);
  SparseMatrix out(n, n);
  out.resizeNonZeros(static_cast<Eigen::Index>(matrix.rows.size()));
  std::copy(matrix.column_starts.begin(), matrix.column_starts.end(), out.outerIndexPtr());
  std::copy(matrix.rows.begin(), matrix.rows.end(), out.innerIndexPtr());
  std::copy(matrix.values.begin(), matrix.values.end(), out.valuePtr());
  return out;
}

}  // namespace

LowerMatrix AssembleSystemMatrix(const SystemTerms& terms) {
  const auto n = static_cast<Eigen::Index>(terms.masses.size());
  std::vector<Eigen::Triplet<double>> triplets;
  triplets.reserve(terms.masses.size() + 10 * terms.tets.size());
  for (size_t i = 0; i < terms.masses.size(); ++i) {
    triplets.emplace_back(static_cast<int>(i), static_cast<int>(i), terms.masses[i]);
  }
  const double time_squared =
      static_cast<double>(terms.dt) * (static_cast<double>(terms.dt) + terms.damping);
  for (size_t t = 0; t < terms.tets.size(); ++t) {
    const std::array<uint32_t, 4> ids = {terms.tets[t].a, terms.tets[t].b, terms.tets[t].c,
                                         terms.tets[t].d};
    const std::array<Vec3d, 4> gradients = ShapeGradients(terms.dm_inv[t]);
    const double stiffness = time_squared * 2.0 * terms.mu[t] * terms.volumes[t];
    for (size_t i = 0; i < 4; ++i) {
      for (size_t j = 0; j < 4; ++j) {
        if (ids[i] < ids[j]) continue;
        triplets.emplace_back(static_cast<int>(ids[i]), static_cast<int>(ids[j]),
                              stiffness * Dot(gradients[i], gradients[j]));
      }
    }
  }
  SparseMatrix matrix(n, n);
  matrix.setFromTriplets(triplets.begin(), triplets.end());
  return FromEigen(matrix);
}

Result<LowerMatrix> FactorSystemMatrix(const LowerMatrix& matrix) {
  Factorisation factorisation;
  factorisation.compute(ToEigen(matrix));
  if (factorisation.info() != Eigen::Success) {
    return Error{ExitCode::kInvalidInput,
                 "the system matrix is not positive definite: the cage has nearly flat tets or the "
                 "material is out of proportion; choose larger cells or a softer material",
                 ""};
  }
  // Eigen's simplicial factor is structural: it keeps entries that are zero in value, and writes
  // each column in ascending row order behind its diagonal.
  return FromEigen(factorisation.matrixL().nestedExpression());
}

}  // namespace plush::tools

// SPDX-License-Identifier: MIT
#include "rest/cholesky_factor.h"

#include "rest/rest_data.h"
#include "shapes/tet_shapes.h"

#include <Eigen/Cholesky>
#include <Eigen/Dense>
#include <catch2/catch.hpp>

using namespace plush::tools;

namespace {

constexpr float kDt = 0.01f;

RestData RestOf(const TetMesh& mesh) {
  auto rest = ComputeRestData(mesh, {}, 1000.0 * plush::test::Volume(mesh), kDt);
  REQUIRE(rest.ok());
  return rest.value();
}

SystemTerms TermsOf(const RestData& rest, float dt) {
  return {rest.masses, rest.tets, rest.dm_inv, rest.volumes, rest.mu, dt};
}

Eigen::MatrixXd Dense(const LowerMatrix& matrix) {
  const auto n = static_cast<Eigen::Index>(matrix.column_starts.size() - 1);
  Eigen::MatrixXd dense = Eigen::MatrixXd::Zero(n, n);
  for (Eigen::Index column = 0; column < n; ++column) {
    const auto c = static_cast<size_t>(column);
    for (uint32_t k = matrix.column_starts[c]; k < matrix.column_starts[c + 1]; ++k) {
      dense(matrix.rows[k], column) = matrix.values[k];
    }
  }
  return dense;
}

Eigen::MatrixXd Symmetric(const LowerMatrix& matrix) {
  return Dense(matrix).selfadjointView<Eigen::Lower>();
}

// The matrix assembled densely from shape gradients by finite differences of linear functions:
// independent of Dm^-1 and of the sparse code.
Eigen::MatrixXd DenseSystem(const RestData& rest, double dt) {
  const auto n = static_cast<Eigen::Index>(rest.nodes.size());
  Eigen::MatrixXd system = Eigen::MatrixXd::Zero(n, n);
  for (Eigen::Index i = 0; i < n; ++i) system(i, i) = rest.masses[static_cast<size_t>(i)];
  for (size_t t = 0; t < rest.tets.size(); ++t) {
    const uint32_t ids[4] = {rest.tets[t].a, rest.tets[t].b, rest.tets[t].c, rest.tets[t].d};
    Eigen::Matrix4d corners;  // rows (1, x, y, z): shape functions are its inverse's columns
    for (int i = 0; i < 4; ++i) {
      const auto& x = rest.nodes[ids[i]];
      corners.row(i) << 1.0, x.x, x.y, x.z;
    }
    const Eigen::Matrix4d shapes = corners.inverse();
    const double volume = corners.determinant() / 6.0;
    for (int i = 0; i < 4; ++i) {
      for (int j = 0; j < 4; ++j) {
        system(ids[i], ids[j]) += dt * dt * 2.0 * rest.mu[t] * volume *
                                  shapes.col(i).tail<3>().dot(shapes.col(j).tail<3>());
      }
    }
  }
  return system;
}

}  // namespace

TEST_CASE("The system matrix is the one assembled densely from shape functions") {
  const RestData rest = RestOf(plush::test::TetBox(3, 2, 2, 0.1, 0.08));
  const Eigen::MatrixXd sparse = Symmetric(AssembleSystemMatrix(TermsOf(rest, kDt)));
  const Eigen::MatrixXd dense = DenseSystem(rest, kDt);
  CHECK((sparse - dense).norm() < 1e-6 * dense.norm());
}

TEST_CASE("The stiffness part has no resistance to translation and resists all else") {
  const RestData rest = RestOf(plush::test::TetBox(2, 2, 2, 0.1, 0.08));
  const Eigen::Index n = static_cast<Eigen::Index>(rest.nodes.size());
  Eigen::MatrixXd stiffness = Symmetric(AssembleSystemMatrix(TermsOf(rest, kDt)));
  for (Eigen::Index i = 0; i < n; ++i) stiffness(i, i) -= rest.masses[static_cast<size_t>(i)];
  const Eigen::VectorXd eigenvalues =
      Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd>(stiffness).eigenvalues();
  CHECK(std::abs(eigenvalues[0]) < 1e-6 * eigenvalues[n - 1]);
  CHECK(eigenvalues[1] > 1e-3 * eigenvalues[n - 1]);
}

TEST_CASE("A linear field passes the patch test: inner nodes feel no force") {
  const RestData rest = RestOf(plush::test::TetBox(4, 4, 4, 0.1, 0.08));
  const Eigen::Index n = static_cast<Eigen::Index>(rest.nodes.size());
  Eigen::MatrixXd stiffness = Symmetric(AssembleSystemMatrix(TermsOf(rest, kDt)));
  for (Eigen::Index i = 0; i < n; ++i) stiffness(i, i) -= rest.masses[static_cast<size_t>(i)];
  Eigen::VectorXd field(n);
  std::vector<bool> inner(rest.nodes.size());
  for (size_t i = 0; i < rest.nodes.size(); ++i) {
    const auto& x = rest.nodes[i];
    field[static_cast<Eigen::Index>(i)] = 0.3 * x.x - 0.7 * x.y + 0.2 * x.z + 1.0;
    const auto is_inner = [](float v) { return v > 0.05f && v < 0.35f; };
    inner[i] = is_inner(x.x) && is_inner(x.y) && is_inner(x.z);
  }
  const Eigen::VectorXd force = stiffness * field;
  int num_inner = 0;
  for (size_t i = 0; i < rest.nodes.size(); ++i) {
    if (!inner[i]) continue;
    ++num_inner;
    CHECK(std::abs(force[static_cast<Eigen::Index>(i)]) < 1e-5 * force.cwiseAbs().maxCoeff());
  }
  CHECK(num_inner == 27);
}

TEST_CASE("The factor is dense Cholesky's, and its product is the matrix") {
  const RestData rest = RestOf(plush::test::TetBox(4, 3, 3, 0.1, 0.08));
  for (const float dt : {1e-4f, 0.01f, 1.0f}) {
    const LowerMatrix matrix = AssembleSystemMatrix(TermsOf(rest, dt));
    const auto factor = FactorSystemMatrix(matrix);
    REQUIRE(factor.ok());
    const Eigen::MatrixXd l = Dense(factor.value());
    const Eigen::MatrixXd a = Symmetric(matrix);
    CHECK((l * l.transpose() - a).norm() < 1e-13 * a.norm());
    CHECK((l - Eigen::MatrixXd(a.llt().matrixL())).norm() < 1e-10 * l.norm());
  }
}

TEST_CASE("The factor keeps its structure where values are zero") {
  // In a regular lattice many pairs of gradients are orthogonal.
  const RestData regular = RestOf(plush::test::TetBox(4, 3, 3, 0.1));
  const RestData moved = RestOf(plush::test::TetBox(4, 3, 3, 0.1, 0.08));
  CHECK(regular.column_starts == moved.column_starts);
  CHECK(regular.rows == moved.rows);
  for (size_t column = 0; column + 1 < regular.column_starts.size(); ++column) {
    const uint32_t first = regular.column_starts[column];
    const uint32_t end = regular.column_starts[column + 1];
    REQUIRE(first < end);
    CHECK(regular.rows[first] == column);
    for (uint32_t k = first + 1; k < end; ++k) CHECK(regular.rows[k - 1] < regular.rows[k]);
  }
}

TEST_CASE("A matrix that is not positive definite is refused") {
  LowerMatrix matrix = {{0, 2, 3}, {0, 1, 1}, {1.0, 2.0, 1.0}};
  const auto factor = FactorSystemMatrix(matrix);
  REQUIRE_FALSE(factor.ok());
  CHECK(factor.error().exit_code == ExitCode::kInvalidInput);
}

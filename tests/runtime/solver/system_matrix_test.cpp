// SPDX-License-Identifier: MIT
#include "solver/system_matrix.h"

#include "runtime/dense_reference.h"

#include <catch2/catch.hpp>

#include <vector>

using namespace plush;
using namespace plush::test;

namespace {

constexpr double kDt = 0.008;

// A random body with random pins, as the runtime and as the reference see it.
struct Case {
  explicit Case(uint32_t seed)
      : random(seed),
        shape(TetBox(1 + seed % 3, 2, 1, 0.1, 0.09, seed), {3.0e5, 0.3, 700.0}, kDt),
        model(shape.asset()),
        pinned(shape.num_nodes(), 0) {
    for (const uint32_t node : random.Nodes(shape.num_nodes(), 0.2)) {
      pinned[node] = 1;
      model.pinned[node] = true;
    }
    const SimulationView& s = shape.simulation();
    system = {shape.elements(), s.masses, 1.0f, pinned, static_cast<float>(kDt)};
    pattern = {shape.asset().factor().column_starts, shape.asset().factor().rows};
  }

  Random random;
  ShapeAsset shape;
  DenseModel model;
  std::vector<uint8_t> pinned;
  SystemView system;
  CholeskyPattern pattern;
};

// Both triangles of a matrix given by the lower one's columns.
Eigen::MatrixXd ToDense(const CholeskyPattern& pattern, const std::vector<double>& values) {
  Eigen::MatrixXd out = Eigen::MatrixXd::Zero(pattern.size(), pattern.size());
  for (uint32_t column = 0; column < pattern.size(); ++column) {
    for (uint32_t p = pattern.column_starts[column]; p < pattern.column_starts[column + 1]; ++p) {
      out(pattern.rows[p], column) = values[p];
      out(column, pattern.rows[p]) = values[p];
    }
  }
  return out;
}

}  // namespace

TEST_CASE("The assembled matrix is M + D^T K D of the paper, the same for each axis") {
  const uint32_t seed = GENERATE(1u, 2u, 3u, 4u);
  CAPTURE(seed);
  const Case c(seed);
  std::vector<double> values(c.pattern.rows.size(), 99.0);
  AssembleSystem(c.system, c.pattern, values);
  const Eigen::MatrixXd A = ToDense(c.pattern, values);
  const Eigen::MatrixXd expected = DenseSystem(c.model, static_cast<float>(kDt));
  for (int row = 0; row < 3; ++row) {
    for (int column = 0; column < 3; ++column) {
      Eigen::MatrixXd block(A.rows(), A.cols());
      for (Eigen::Index i = 0; i < A.rows(); ++i) {
        for (Eigen::Index j = 0; j < A.cols(); ++j) {
          block(i, j) = expected(3 * i + row, 3 * j + column);
        }
      }
      const Eigen::MatrixXd wanted = row == column ? A : Eigen::MatrixXd::Zero(A.rows(), A.cols());
      CHECK((block - wanted).norm() < 1e-13 * A.norm());
    }
  }
}

TEST_CASE("Masses scale and other Lame parameters replace the baked ones") {
  Case c(5);
  c.system.mass_scale = 2.5f;
  const std::vector<float> uniform(c.system.elements.tets.size(), 4.0e4f);
  c.system.elements.lame.mu = uniform;
  c.model.masses *= 2.5;
  for (double& mu : c.model.mu) mu = 4.0e4;
  std::vector<double> values(c.pattern.rows.size());
  AssembleSystem(c.system, c.pattern, values);
  const Eigen::MatrixXd A = ToDense(c.pattern, values);
  const Eigen::MatrixXd expected = DenseSystem(c.model, static_cast<float>(kDt));
  for (Eigen::Index i = 0; i < A.rows(); ++i) {
    for (Eigen::Index j = 0; j < A.cols(); ++j) {
      REQUIRE(A(i, j) == Approx(expected(3 * i, 3 * j)).margin(1e-13 * A.norm()));
    }
  }
}

TEST_CASE("The matrix-free product is that of the assembled matrix") {
  const uint32_t seed = GENERATE(6u, 7u, 8u);
  CAPTURE(seed);
  Case c(seed);
  std::vector<double> values(c.pattern.rows.size());
  AssembleSystem(c.system, c.pattern, values);
  const Eigen::MatrixXd A = ToDense(c.pattern, values);
  for (int repeat = 0; repeat < 5; ++repeat) {
    Points x = c.random.Vectors(c.shape.num_nodes(), 1.0);
    for (Eigen::Index i = 0; i < x.cols(); ++i) {
      if (c.pinned[static_cast<size_t>(i)] != 0) x.col(i).setZero();
    }
    const std::vector<Vec3> rounded = ToVec3s(x);
    std::vector<Vec3> product(rounded.size(), Vec3{5.0f, 5.0f, 5.0f});
    MultiplySystem(c.system, rounded, product);
    const Points expected = ToEigen(rounded) * A;  // A is symmetric
    CHECK((ToEigen(product) - expected).norm() < 2e-6 * A.norm() * x.norm());
    for (size_t i = 0; i < product.size(); ++i) {
      if (c.pinned[i] != 0) CHECK((product[i].x == 0 && product[i].y == 0 && product[i].z == 0));
    }
  }
}

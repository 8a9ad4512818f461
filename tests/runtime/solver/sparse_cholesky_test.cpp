// SPDX-License-Identifier: MIT
#include "solver/sparse_cholesky.h"

#include "runtime/dense_reference.h"
#include "solver/system_matrix.h"

#include <catch2/catch.hpp>

#include <limits>
#include <vector>

using namespace plush;
using namespace plush::test;

namespace {

constexpr float kDt = 0.01f;

struct Case {
  explicit Case(uint32_t seed, double pin_share = 0.15)
      : random(seed),
        shape(TetBox(2, 1 + seed % 4, 2, 0.1, 0.09, seed), {2.0e5, 0.4, 1000.0}, double(kDt)),
        pinned(shape.num_nodes(), 0) {
    for (const uint32_t node : random.Nodes(shape.num_nodes(), pin_share)) pinned[node] = 1;
    pattern = {shape.asset().factor().column_starts, shape.asset().factor().rows};
    system = {shape.elements(), shape.simulation().masses, 1.0f, pinned, kDt};
    matrix.resize(pattern.rows.size());
    AssembleSystem(system, pattern, matrix);
    REQUIRE(workspace.Allocate(DefaultAllocator(), pattern.size()));
  }

  std::vector<float> Factor() {
    std::vector<double> values = matrix;
    REQUIRE(Factorise(pattern, &workspace, values));
    return {values.begin(), values.end()};
  }

  Random random;
  ShapeAsset shape;
  std::vector<uint8_t> pinned;
  SystemView system;
  CholeskyPattern pattern;
  CholeskyWorkspace workspace;
  std::vector<double> matrix;
};

template <class T>
Eigen::MatrixXd LowerTriangle(const CholeskyPattern& pattern, const std::vector<T>& values) {
  Eigen::MatrixXd out = Eigen::MatrixXd::Zero(pattern.size(), pattern.size());
  for (uint32_t column = 0; column < pattern.size(); ++column) {
    for (uint32_t p = pattern.column_starts[column]; p < pattern.column_starts[column + 1]; ++p) {
      out(pattern.rows[p], column) = double(values[p]);
    }
  }
  return out;
}

Eigen::MatrixXd Symmetric(const Eigen::MatrixXd& lower) {
  Eigen::MatrixXd out = lower + lower.transpose();
  out.diagonal() = lower.diagonal();
  return out;
}

}  // namespace

TEST_CASE("The sparse factor is the dense Cholesky factor") {
  const uint32_t seed = GENERATE(1u, 2u, 3u, 4u, 5u);
  CAPTURE(seed);
  Case c(seed);
  std::vector<double> values = c.matrix;
  REQUIRE(Factorise(c.pattern, &c.workspace, values));
  const Eigen::MatrixXd A = Symmetric(LowerTriangle(c.pattern, c.matrix));
  const Eigen::MatrixXd L = A.llt().matrixL();
  CHECK((LowerTriangle(c.pattern, values) - L).norm() < 1e-13 * L.norm());
  // The workspace carries nothing from one factorisation to the next.
  std::vector<double> again = c.matrix;
  REQUIRE(Factorise(c.pattern, &c.workspace, again));
  CHECK(again == values);
}

TEST_CASE("Substitution solves for three right-hand sides and for one") {
  const uint32_t seed = GENERATE(6u, 7u, 8u);
  CAPTURE(seed);
  Case c(seed);
  const std::vector<float> values = c.Factor();
  const Eigen::MatrixXd A = Symmetric(LowerTriangle(c.pattern, c.matrix));
  const std::vector<Vec3> b = ToVec3s(c.random.Vectors(c.shape.num_nodes(), 1.0));
  std::vector<Vec3> x = b;
  Substitute(c.pattern, values, x);
  const Points residual = ToEigen(x) * A - ToEigen(b);
  CHECK(residual.norm() < 1e-5 * A.norm() * ToEigen(x).norm());
  const Points exact = A.ldlt().solve(ToEigen(b).transpose()).transpose();
  CHECK((ToEigen(x) - exact).norm() < 1e-5 * exact.norm());

  std::vector<float> one;
  for (const Vec3& v : b) one.push_back(v.y);
  Substitute(c.pattern, values, one);
  for (size_t i = 0; i < x.size(); ++i) REQUIRE(one[i] == x[i].y);
}

TEST_CASE("Pinned rows do not move and do not act") {
  Case c(9);
  const std::vector<float> values = c.Factor();
  std::vector<Vec3> b = ToVec3s(c.random.Vectors(c.shape.num_nodes(), 1.0));
  for (size_t i = 0; i < b.size(); ++i) {
    if (c.pinned[i] != 0) b[i] = {};
  }
  std::vector<Vec3> x = b;
  Substitute(c.pattern, values, x);
  size_t num_pinned = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    if (c.pinned[i] == 0) continue;
    ++num_pinned;
    CHECK((x[i].x == 0.0f && x[i].y == 0.0f && x[i].z == 0.0f));
  }
  CHECK(num_pinned > 0);
}

TEST_CASE("A matrix that is not positive definite has no factor") {
  Case c(10, 0.0);
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const double inf = std::numeric_limits<double>::infinity();
  for (const double wrong : {-1.0, 0.0, nan, inf, -inf}) {
    const uint32_t column = c.random.Below(c.pattern.size());
    std::vector<double> values = c.matrix;
    values[c.pattern.column_starts[column]] = wrong;
    CHECK_FALSE(Factorise(c.pattern, &c.workspace, values));
  }
  c.Factor();  // the failed ones left nothing behind
}

TEST_CASE("The baked factor is the one that the runtime makes") {
  const uint32_t seed = GENERATE(11u, 12u, 13u);
  CAPTURE(seed);
  Case c(seed, 0.0);
  const std::vector<float> values = c.Factor();
  const std::span<const float> baked = c.shape.asset().factor().values;
  REQUIRE(baked.size() == values.size());
  for (size_t i = 0; i < values.size(); ++i) {
    const uint32_t row = c.pattern.rows[i];
    const float scale = values[c.pattern.column_starts[row]];  // diagonal of the row
    REQUIRE(std::fabs(baked[i] - values[i]) < 2e-7f * scale);
  }
}

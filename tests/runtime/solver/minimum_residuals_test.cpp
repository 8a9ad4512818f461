// SPDX-License-Identifier: MIT
#include "solver/minimum_residuals.h"

#include "reference/dense_algebra.h"
#include "runtime/tet_fixtures.h"

#include <Eigen/Dense>
#include <catch2/catch.hpp>

#include <cmath>
#include <vector>

using namespace plush;
using namespace plush::test;

namespace minimum_residuals_test {

using Vectors = std::vector<NodeVec>;

Eigen::VectorXd ToColumn(const Vectors& v) {
  Eigen::VectorXd out(3 * static_cast<Eigen::Index>(v.size()));
  for (size_t i = 0; i < v.size(); ++i) {
    out.segment<3>(3 * static_cast<Eigen::Index>(i)) << double(v[i].x), double(v[i].y),
        double(v[i].z);
  }
  return out;
}

void FromColumn(const Eigen::VectorXd& column, std::span<NodeVec> out) {
  for (size_t i = 0; i < out.size(); ++i) {
    const Eigen::Vector3d v = column.segment<3>(3 * static_cast<Eigen::Index>(i));
    out[i] = NodeVec(ToVec3(v), 0.0f);
  }
}

// A symmetric matrix with eigenvalues in [0.5, 4], the first `num_negative` times -1.
Eigen::MatrixXd RandomMatrix(Random* random, Eigen::Index size, Eigen::Index num_negative) {
  Eigen::MatrixXd m(size, size);
  for (Eigen::Index i = 0; i < size; ++i) {
    for (Eigen::Index j = 0; j < size; ++j) m(i, j) = random->Uniform(-1.0, 1.0);
  }
  const Eigen::MatrixXd Q = m.householderQr().householderQ();
  Eigen::VectorXd values(size);
  for (Eigen::Index i = 0; i < size; ++i) {
    values[i] = random->Uniform(0.5, 4.0) * (i < num_negative ? -1.0 : 1.0);
  }
  return reference::Congruent(Q, values.asDiagonal());
}

TEST_CASE("MINRES solves definite and indefinite systems with any positive preconditioner") {
  const int num_negative = GENERATE(0, 1, 7);
  constexpr size_t kNodes = 8;
  constexpr Eigen::Index kSize = 3 * kNodes;
  Random random(static_cast<uint32_t>(41 + num_negative));
  const Eigen::MatrixXd A = RandomMatrix(&random, kSize, num_negative);
  const Eigen::MatrixXd inverse = RandomMatrix(&random, kSize, 0);
  const auto apply = [](const Eigen::MatrixXd& m, std::span<NodeVec> v) {
    FromColumn(m * ToColumn(Vectors(v.begin(), v.end())), v);
  };
  const auto multiply = [&](std::span<const NodeVec> p, std::span<NodeVec> q) {
    std::copy(p.begin(), p.end(), q.begin());
    apply(A, q);
  };
  const auto precondition = [&](std::span<NodeVec> z) { apply(inverse, z); };
  Eigen::VectorXd b(kSize);
  for (double& entry : b) entry = random.Uniform(-1.0, 1.0);
  Vectors r(kNodes), d(kNodes), scratch[5];
  for (Vectors& v : scratch) v.resize(kNodes);
  const MinresScratch memory = {scratch[0], scratch[1], scratch[2], scratch[3], scratch[4]};
  double before = 1.0;
  for (const int iterations : {1, 3, 8, 24, 40}) {
    FromColumn(b, r);
    const LinearResult result =
        MinimumResiduals(multiply, precondition, {iterations, 1e-6}, memory, r, d);
    const Eigen::VectorXd left = b - A * ToColumn(d);
    const double residual = std::sqrt(left.dot(inverse * left) / b.dot(inverse * b));
    CAPTURE(num_negative, iterations, residual);
    CHECK(result.residual == Approx(residual).margin(1e-4));
    CHECK(result.work == Approx(b.dot(ToColumn(d))).epsilon(1e-3).margin(1e-4));
    CHECK(residual <= before + 1e-5);
    before = residual;
  }
  CHECK(before < 1e-4);
  const Eigen::VectorXd right = reference::SolveAny(A, b);
  CHECK((ToColumn(d) - right).norm() < 1e-3 * right.norm());
  FromColumn(Eigen::VectorXd::Zero(kSize), r);
  CHECK(MinimumResiduals(multiply, precondition, {8, 0.0}, memory, r, d).iterations == 0);
  CHECK(ToColumn(d).norm() == 0.0);
}

}  // namespace minimum_residuals_test

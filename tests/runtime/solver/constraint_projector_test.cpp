// SPDX-License-Identifier: MIT
// The projector of constraints: S^2 = S = S^T for any rows, in double precision.
#include "solver/constraint_projector.h"

#include "runtime/tet_fixtures.h"

#include <Eigen/Dense>
#include <catch2/catch.hpp>

#include <algorithm>
#include <cstdio>
#include <vector>

using namespace plush;
using namespace plush::test;

namespace constraint_projector_test {

constexpr uint32_t kNumNodes = 12;

using Row = ConstraintRow;

Eigen::VectorXd Dense(const Row& row) {
  Eigen::VectorXd out = Eigen::VectorXd::Zero(3 * kNumNodes);
  for (int k = 0; k < 4; ++k) {
    out.segment<3>(3 * row.nodes[k]) += double(row.weights[k]) * ToEigen(row.direction);
  }
  return out;
}

// The rows, and those that the projector took.
struct Set {
  std::vector<Row> rows;
  std::vector<bool> kept;
  ConstraintProjector projector;

  explicit Set(const std::vector<Row>& all) : rows(all) {
    REQUIRE(projector.Reserve(DefaultAllocator(), rows.size(), kNumNodes, kNumNodes));
    for (const Row& row : rows) kept.push_back(projector.Add(row));
  }
  Eigen::MatrixXd Kept() const {
    Eigen::MatrixXd C(projector.num_rows(), 3 * kNumNodes);
    Eigen::Index next = 0;
    for (size_t i = 0; i < rows.size(); ++i) {
      if (kept[i]) C.row(next++) = Dense(rows[i]);
    }
    return C;
  }
  Eigen::MatrixXd Q() const {
    Eigen::MatrixXd Q = Eigen::MatrixXd::Zero(projector.num_rows(), 3 * kNumNodes);
    for (size_t i = 0; i < projector.num_rows(); ++i) {
      for (const auto& entry : projector.Row(i)) {
        for (int c = 0; c < 3; ++c) Q(i, 3 * entry.node + c) = entry.at[c];
      }
    }
    return Q;
  }
};

Row RandomRow(Random* random, uint32_t first) {
  Row row;
  double sum = 0.0, w[4];
  for (double& weight : w) sum += weight = random->Uniform(0.05, 1.0);
  for (int k = 0; k < 4; ++k) {
    row.nodes[k] = first + static_cast<uint32_t>(k);
    row.weights[k] = static_cast<float>(w[k] / sum);
  }
  row.direction = ToVec3(random->Direction());
  return row;
}

// A point that is held in `count` directions.
void AddPoint(const Row& at, int count, std::vector<Row>* rows) {
  Row row = at;
  const Vec3 axes[3] = {{1.0f, 0.0f, 0.0f}, {0.0f, 1.0f, 0.0f}, {0.0f, 0.0f, 1.0f}};
  for (int k = 0; k < count; ++k) {
    row.direction = axes[k];
    rows->push_back(row);
  }
}

TEST_CASE("The projector of constraints is one, whatever their rows share") {
  Random random(41);
  double worst = 0.0;
  for (int trial = 0; trial < 200; ++trial) {
    std::vector<Row> rows;
    // Three points, a line and planes in one tet, tets that share nodes, and rows twice.
    for (int k = 0; k < 3; ++k) AddPoint(RandomRow(&random, 0), 3, &rows);
    AddPoint(RandomRow(&random, 2), 2, &rows);
    for (uint32_t first : {3u, 4u, 6u, 8u}) rows.push_back(RandomRow(&random, first));
    const size_t count = rows.size();
    for (size_t i = 0; i < count; i += 3) rows.push_back(rows[i]);
    const Set set(rows);
    const Eigen::MatrixXd Q = set.Q(), C = set.Kept();
    const auto size = Q.cols();
    const Eigen::MatrixXd S = Eigen::MatrixXd::Identity(size, size) - Q.transpose() * Q;
    worst = std::max({worst, (S * S - S).cwiseAbs().maxCoeff(),
                      (S - S.transpose()).cwiseAbs().maxCoeff(), (C * S).cwiseAbs().maxCoeff()});
    for (size_t i = 0; i < rows.size(); ++i) {
      if (i >= count) CHECK(!set.kept[i]);
      const Eigen::VectorXd row = Dense(rows[i]);
      CHECK((row.transpose() * S).norm() <=
            (set.kept[i] ? 1e-12 : ConstraintProjector::kLeastShare * row.norm()));
    }
  }
  std::printf("projector of constraints: error %.1e\n", worst);
  CHECK(worst < 1e-12);
}

TEST_CASE("Points in a tet hold at most its twelve coordinates") {
  Random random(42);
  std::vector<Row> rows;
  for (int k = 0; k < 7; ++k) AddPoint(RandomRow(&random, 4), 3, &rows);
  CHECK(Set(rows).projector.num_rows() == 12);
  rows.resize(9);
  CHECK(Set(rows).projector.num_rows() == 9);
  Row pinned = rows[0];
  std::fill(pinned.weights, pinned.weights + 4, 0.0f);
  CHECK(Set({pinned}).projector.num_rows() == 0);
}

TEST_CASE("The projector moves points by their distances and finds multipliers") {
  Random random(43);
  std::vector<Row> rows;
  for (uint32_t first : {0u, 0u, 1u, 5u, 7u}) AddPoint(RandomRow(&random, first), 3, &rows);
  Set set(rows);
  const Eigen::MatrixXd Q = set.Q(), C = set.Kept();
  const auto num_rows = Q.rows();
  const Eigen::VectorXd v = Eigen::VectorXd::NullaryExpr(
      Q.cols(), [&] { return double(static_cast<float>(random.Uniform(-1.0, 1.0))); });
  std::vector<NodeVec> vectors(kNumNodes);
  for (uint32_t i = 0; i < kNumNodes; ++i) vectors[i] = NodeVec(ToVec3(v.segment<3>(3 * i)), 0.0f);
  std::vector<double> lengths(static_cast<size_t>(num_rows));
  const Eigen::Map<Eigen::VectorXd> numbers(lengths.data(), num_rows);
  set.projector.Project(vectors, lengths);
  CHECK((numbers - Q * v).norm() < 1e-12);
  for (uint32_t i = 0; i < kNumNodes; ++i) {
    const Eigen::VectorXd expected = v - Q.transpose() * Q * v;
    CHECK((ToEigen(vectors[i]) - expected.segment<3>(3 * i)).norm() < 1e-6);
  }
  const Eigen::VectorXd along = Q.transpose() * numbers;
  set.projector.FindMultipliers(lengths);
  CHECK((C.transpose() * numbers - along).norm() < 1e-10);
  for (double& length : lengths) length = random.Uniform(-1.0, 1.0);
  Eigen::VectorXd u = Eigen::VectorXd::Zero(Q.cols());
  set.projector.Move(lengths,
                     [&](uint32_t node, const Vec3& by) { u.segment<3>(3 * node) += ToEigen(by); });
  CHECK((C * u - numbers).norm() < 1e-5);
  CHECK((u - Q.transpose() * (Q * u)).norm() < 1e-5);
}

}  // namespace constraint_projector_test

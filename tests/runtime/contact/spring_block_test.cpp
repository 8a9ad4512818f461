// SPDX-License-Identifier: MIT
// Springs that are solved together, against a dense solve in double precision.
#include "contact/spring_block.h"

#include "reference/dense_algebra.h"

#include <Eigen/Dense>
#include <catch2/catch.hpp>

#include <cmath>
#include <random>
#include <vector>

using namespace plush;

namespace spring_block_test {

struct Problem {
  Eigen::MatrixXd couplings;  // of all points
  std::vector<uint32_t> points;
  Eigen::VectorXd gains;
  Eigen::MatrixXd e;  // num_springs x 3
};

// `near`: how much the couplings of two points are like each other, in [0, 1).
Problem Random(std::mt19937* random, double near, double least_gain, double most_gain) {
  std::uniform_real_distribution<double> unit(-1.0, 1.0), share(0.0, 1.0);
  const auto num_points = static_cast<Eigen::Index>(1 + (*random)() % 24);
  Eigen::MatrixXd roots(num_points, num_points);
  const Eigen::RowVectorXd common = Eigen::RowVectorXd::Ones(num_points);
  for (Eigen::Index i = 0; i < num_points; ++i) {
    for (Eigen::Index j = 0; j < num_points; ++j) roots(i, j) = unit(*random);
    roots.row(i) = near * common + (1.0 - near) * roots.row(i);
  }
  Problem problem;
  problem.couplings = reference::Product(roots, roots.transpose()).cast<float>().cast<double>();
  for (uint32_t i = 0; i < num_points; ++i) {
    if (share(*random) < 0.8) problem.points.push_back(i);
  }
  const auto count = static_cast<Eigen::Index>(problem.points.size());
  problem.gains.resize(count);
  for (double& gain : problem.gains) {
    gain =
        double(static_cast<float>(least_gain * std::pow(most_gain / least_gain, share(*random))));
  }
  problem.e = Eigen::MatrixXd::NullaryExpr(count, 3, [&] { return double(float(unit(*random))); });
  return problem;
}

// The block's solution (num_springs x 3).
Eigen::MatrixXd Solve(const Problem& problem, float to_world, SpringBlock* block) {
  const Eigen::MatrixXf couplings = problem.couplings.cast<float>();
  block->StartList();
  for (size_t k = 0; k < problem.points.size(); ++k) {
    REQUIRE(block->List(problem.points[k],
                        static_cast<float>(problem.gains[static_cast<Eigen::Index>(k)])));
  }
  block->EndList({couplings.data(), static_cast<size_t>(couplings.size())},
                 static_cast<size_t>(couplings.cols()), to_world);
  const size_t n = block->capacity();
  Eigen::MatrixXd p(problem.e.rows(), 3);
  for (Eigen::Index axis = 0; axis < 3; ++axis) {
    for (Eigen::Index k = 0; k < p.rows(); ++k) {
      block->numbers[n * static_cast<size_t>(axis) + static_cast<size_t>(k)] =
          static_cast<float>(problem.e(k, axis));
    }
  }
  block->Solve();
  for (Eigen::Index axis = 0; axis < 3; ++axis) {
    for (Eigen::Index k = 0; k < p.rows(); ++k) {
      p(k, axis) = double(block->numbers[n * static_cast<size_t>(axis) + static_cast<size_t>(k)]);
    }
  }
  return p;
}

// S + K^-1.
Eigen::MatrixXd MatrixOf(const Problem& problem, double to_world) {
  const Eigen::Index count = problem.e.rows();
  Eigen::MatrixXd matrix(count, count);
  for (Eigen::Index i = 0; i < count; ++i) {
    for (Eigen::Index j = 0; j < count; ++j) {
      matrix(i, j) = to_world * problem.couplings(problem.points[static_cast<size_t>(i)],
                                                  problem.points[static_cast<size_t>(j)]);
    }
    matrix(i, i) += 1.0 / problem.gains[i];
  }
  return matrix;
}

SpringBlock BlockOf(size_t count) {
  SpringBlock block;
  REQUIRE(block.Reserve(DefaultAllocator(), count));
  return block;
}

TEST_CASE("Springs that are solved together obey their law") {
  const uint32_t seed = GENERATE(range(1u, 301u));
  CAPTURE(seed);
  std::mt19937 random(seed);
  const Problem problem = Random(&random, seed % 2 == 0 ? 0.5 : 0.0, 1.0e-4, 1.0e3);
  const float to_world = seed % 3 == 0 ? 1.0f : 0.3f;
  SpringBlock block = BlockOf(24);
  const Eigen::MatrixXd p = Solve(problem, to_world, &block);
  if (p.rows() == 0) return;
  const Eigen::MatrixXd matrix = MatrixOf(problem, double(to_world));
  const Eigen::MatrixXd right = reference::SolveSymmetric(matrix, problem.e);
  CHECK((p - right).norm() < 1.0e-5 * right.norm());
}

TEST_CASE("Springs that are solved together turn the body, too") {
  const uint32_t seed = GENERATE(range(1u, 101u));
  CAPTURE(seed);
  std::mt19937 random(seed);
  std::uniform_real_distribution<float> unit(-1.0f, 1.0f);
  const Problem problem = Random(&random, seed % 2 == 0 ? 0.5 : 0.0, 1.0e-4, 1.0e2);
  if (problem.points.empty()) return;
  const float to_world = seed % 3 == 0 ? 1.0f : 0.3f;
  const auto vector = [&] { return Vec3{unit(random), unit(random), unit(random)}; };
  FreeTurn turn;
  const Vec3 a = vector(), b = vector();
  turn.yielding = {{1.5f, a.x, a.y}, {a.x, 2.0f, a.z}, {a.y, a.z, 2.5f}};
  turn.kept = {{0.5f, 0.1f * b.x, 0.1f * b.y},
               {0.1f * b.x, 0.4f, 0.1f * b.z},
               {0.1f * b.y, 0.1f * b.z, 0.3f}};
  const Eigen::Index count = problem.e.rows();
  std::vector<TurnedPoint> at(static_cast<size_t>(count));
  for (TurnedPoint& point : at) point.arm = vector(), point.z = vector() * 0.2f;
  SpringBlock block = BlockOf(24);
  Solve(problem, to_world, &block);  // makes the list
  block.Turn(turn, at, to_world);
  const Eigen::MatrixXd p = Solve(problem, to_world, &block);
  const Eigen::MatrixXd own = MatrixOf(problem, double(to_world));
  Eigen::MatrixXd whole(3 * count, 3 * count);
  Eigen::VectorXd right(3 * count), found(3 * count);
  for (Eigen::Index i = 0; i < count; ++i) {
    right.segment<3>(3 * i) = problem.e.row(i).transpose();
    found.segment<3>(3 * i) = p.row(i).transpose();
    for (Eigen::Index j = 0; j < count; ++j) {
      const TurnedPoint &of_i = at[static_cast<size_t>(i)], &of_j = at[static_cast<size_t>(j)];
      for (int c = 0; c < 3; ++c) {
        const Vec3 axis = {c == 0 ? 1.0f : 0.0f, c == 1 ? 1.0f : 0.0f, c == 2 ? 1.0f : 0.0f};
        const Vec3 moved =
            of_i.MovedBy(of_j.Answer(turn, axis)) * to_world + axis * float(own(i, j));
        whole.block<3, 1>(3 * i, 3 * j + c) = Eigen::Vector3d(moved.x, moved.y, moved.z);
      }
    }
  }
  const Eigen::VectorXd solved = reference::SolveAny(whole, right);
  CHECK((reference::Product(whole, found) - right).norm() < 1.0e-4 * right.norm());
  CHECK((found - solved).norm() < 1.0e-3 * solved.norm());
  // It stops.
  block.StopTurn();
  const Eigen::MatrixXd still = Solve(problem, to_world, &block);
  CHECK((reference::Product(own, still) - problem.e).norm() < 1.0e-4 * problem.e.norm());
}

TEST_CASE("Very stiff springs at one place share the load and stay finite") {
  const uint32_t seed = GENERATE(range(1u, 51u));
  CAPTURE(seed);
  std::mt19937 random(seed);
  Problem problem = Random(&random, 0.0, 1.0e7, 1.0e8);
  while (problem.points.size() < 3) problem = Random(&random, 0.0, 1.0e7, 1.0e8);
  // The second spring holds the first one's point.
  const auto a = problem.points[0], b = problem.points[1];
  problem.couplings.row(b) = problem.couplings.row(a);
  problem.couplings.col(b) = problem.couplings.col(a);
  problem.e.row(1) = problem.e.row(0);
  SpringBlock block = BlockOf(24);
  Eigen::MatrixXd p = Solve(problem, 1.0f, &block);
  REQUIRE(p.allFinite());
  // What one sweep leaves, the next one finds.
  const Eigen::MatrixXd matrix = MatrixOf(problem, 1.0), e = problem.e;
  problem.e -= reference::Product(matrix, p);
  CHECK(problem.e.norm() < 0.1 * e.norm());
  p += Solve(problem, 1.0f, &block);
  CHECK((reference::Product(matrix, p) - e).norm() < 1.0e-2 * e.norm());
  CHECK((p.row(0) - p.row(1)).norm() < 1.0e-2 * p.norm());
}

TEST_CASE("A block of springs knows when a spring or the couplings change") {
  std::mt19937 random(7);
  Problem problem = Random(&random, 0.2, 1.0e-2, 1.0e2);
  while (problem.points.size() < 4) problem = Random(&random, 0.2, 1.0e-2, 1.0e2);
  SpringBlock block = BlockOf(24);
  const auto is_right = [&] {
    const Eigen::MatrixXd p = Solve(problem, 1.0f, &block);
    const Eigen::MatrixXd right = reference::SolveSymmetric(MatrixOf(problem, 1.0), problem.e);
    return (p - right).norm() < 1.0e-5 * right.norm();
  };
  CHECK(is_right());
  problem.e *= 2.0;
  CHECK(is_right());
  problem.gains[1] = 5.0;
  CHECK(is_right());
  problem.points.pop_back();
  problem.gains.conservativeResize(problem.gains.size() - 1);
  problem.e.conservativeResize(problem.gains.size(), 3);
  CHECK(is_right());
  problem.couplings *= 0.5;
  block.Clear();
  CHECK(is_right());
}

TEST_CASE("A block of springs refuses more springs than it has room for") {
  SpringBlock block = BlockOf(1000);
  CHECK(block.capacity() == SpringBlock::kMost);
  block.StartList();
  for (uint32_t k = 0; k < SpringBlock::kMost; ++k) CHECK(block.List(k, 1.0f));
  CHECK_FALSE(block.List(SpringBlock::kMost, 1.0f));
}

}  // namespace spring_block_test

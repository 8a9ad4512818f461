// SPDX-License-Identifier: MIT
#include "solver/system_matrix.h"

#include "runtime/solver_fixtures.h"

#include <catch2/catch.hpp>

#include <vector>

using namespace plush;
using namespace plush::test;

namespace system_matrix_test {

constexpr double kDt = 0.008;

// A random body with random pins, for the runtime and for the reference.
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
    system = SystemOf(shape, static_cast<float>(kDt));
    system.pinned = pinned;
  }

  Random random;
  ShapeAsset shape;
  DenseModel model;
  std::vector<uint8_t> pinned;
  SystemView system;
};

TEST_CASE("The paper's matrix is the same for each axis, and has no entries between axes") {
  const uint32_t seed = GENERATE(1u, 2u, 3u, 4u);
  CAPTURE(seed);
  const Case c(seed);
  const Eigen::MatrixXd whole = DenseSystem(c.model, static_cast<float>(kDt));
  const Eigen::MatrixXd A = DenseSystemOfAxis(c.model, static_cast<float>(kDt));
  for (int row = 0; row < 3; ++row) {
    for (int column = 0; column < 3; ++column) {
      const Eigen::MatrixXd block =
          whole(Eigen::seq(row, Eigen::last, 3), Eigen::seq(column, Eigen::last, 3));
      const Eigen::MatrixXd wanted = row == column ? A : Eigen::MatrixXd::Zero(A.rows(), A.cols());
      CHECK((block - wanted).norm() < 1e-13 * A.norm());
    }
  }
}

}  // namespace system_matrix_test

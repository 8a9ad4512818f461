// SPDX-License-Identifier: MIT
#include "solver/system_matrix.h"

#include "runtime/solver_fixtures.h"

#include <catch2/catch.hpp>

#include <vector>

using namespace plush;
using namespace plush::test;

namespace {

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

}  // namespace

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

TEST_CASE("The matrix-free product is that of the assembled matrix") {
  const uint32_t seed = GENERATE(6u, 7u, 8u);
  CAPTURE(seed);
  Case c(seed);
  const bool scaled = GENERATE(false, true);
  const std::vector<float> uniform(c.shape.num_places(), 3.0f);
  if (scaled) {  // scale the masses, and replace the baked stiffnesses
    c.system.mass_scale = 2.5f;
    c.system.elements.stiffness = uniform;
    c.model.masses *= 2.5;
    for (size_t t = 0; t < c.model.mu.size(); ++t) c.model.mu[t] = 1.5 / c.model.volumes[t];
  }
  const Eigen::MatrixXd A = DenseSystemOfAxis(c.model, static_cast<float>(kDt));
  for (int repeat = 0; repeat < 5; ++repeat) {
    Points x = c.random.Vectors(c.shape.num_nodes(), 1.0);
    for (Eigen::Index i = 0; i < x.cols(); ++i) {
      if (c.pinned[static_cast<size_t>(i)] != 0) x.col(i).setZero();
    }
    const std::vector<NodeVec> rounded = ToNodeVecs(x);
    std::vector<NodeVec> product(rounded.size(), NodeVec({5.0f, 5.0f, 5.0f}, 5.0f));
    MultiplySystem(c.system, rounded, product);
    const Points expected = ToEigen(rounded) * A;  // A is symmetric
    CHECK((ToEigen(product) - expected).norm() < 2e-6 * A.norm() * x.norm());
    CHECK(SpareIsZero(product));
    for (size_t i = 0; i < c.pinned.size(); ++i) {
      if (c.pinned[i] != 0) CHECK((product[i].x == 0 && product[i].y == 0 && product[i].z == 0));
    }
  }
}

// SPDX-License-Identifier: MIT
// A few pinned nodes beyond those of a factor, against the matrix without their rows.
#include "solver/pin_schur.h"

#include "reference/dense_algebra.h"
#include "runtime/crowd_lanes.h"
#include "runtime/simd_targets.h"
#include "runtime/solver_fixtures.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cstdio>
#include <limits>
#include <vector>

using namespace plush;
using namespace plush::test;

namespace pin_schur_test {

constexpr float kDt = 0.01f;

// A factor with or without pins, and extra pins.
struct Case {
  Case(uint32_t seed, double pin_share, uint32_t num_extra, double young = 2.0e5)
      : random(seed),
        shape(TetBox(3 + seed % 2, 3, 2, 0.1, 0.09, seed), {young, 0.4, 1000.0}, double(kDt)),
        model(shape.asset()),
        pinned(shape.num_nodes(), 0),
        scratch(shape.num_nodes() + 1),
        factor(shape) {
    for (const uint32_t node : random.Nodes(shape.num_nodes(), pin_share)) {
      pinned[node] = 1;
      model.pinned[node] = true;
    }
    SystemView system = SystemOf(shape, kDt);
    system.pinned = pinned;
    factor.Factorise(system);
    while (extra.size() < num_extra) {
      const uint32_t node = random.Below(static_cast<uint32_t>(shape.num_nodes()));
      if (model.pinned[node]) continue;
      model.pinned[node] = true;
      extra.push_back(node);
    }
    std::sort(extra.begin(), extra.end());
    cholesky.resize(extra.size() * extra.size());
  }

  bool Factor() {
    return FactorPinSchur(factor.panels(), extra, factor.workspace, scratch, cholesky);
  }

  std::vector<NodeVec> Solve(std::vector<NodeVec> b) {
    const PinSchur pins = {extra, cholesky};
    PanelFactor panels = factor.panels();
    panels.pins = &pins;
    SolvePanels(panels, factor.workspace, b);
    return b;
  }

  Random random;
  ShapeAsset shape;
  DenseModel model;  // with all pins
  std::vector<uint8_t> pinned;
  std::vector<NodeVec> scratch;
  SystemFactor factor;
  std::vector<uint32_t> extra;
  std::vector<double> cholesky;
};

// A right-hand side that is zero at the factor's own pins, as in a step.
std::vector<NodeVec> SideOf(Case* c) {
  std::vector<NodeVec> b = ToNodeVecs(c->random.Vectors(c->shape.num_nodes(), 1.0));
  for (size_t i = 0; i < c->pinned.size(); ++i) {
    if (c->pinned[i] != 0) b[i] = Vec3{};
  }
  return b;
}

// Solves with the matrix without the rows of all pins.
Points SolveDense(const DenseModel& model, const std::vector<NodeVec>& b) {
  Points free = ToEigen(b);
  for (Eigen::Index i = 0; i < free.cols(); ++i) {
    if (model.pinned[static_cast<size_t>(i)]) free.col(i).setZero();
  }
  const Eigen::MatrixXd A = DenseSystemOfAxis(model, double(kDt));
  return reference::SolveSymmetric(A, free.transpose()).transpose();
}

TEST_CASE("A solve with extra pins is the dense one without their rows", "[long]") {
  const uint32_t seed = GENERATE(1u, 2u, 3u, 4u);
  const double pin_share = GENERATE(0.0, 0.1);
  const uint32_t num_extra = GENERATE(1u, 2u, 3u, 4u, 20u, 21u);
  CAPTURE(seed, pin_share, num_extra);
  Case c(seed, pin_share, num_extra);
  for (const int64_t target : SimdTargets()) {
    CAPTURE(NameOf(target));
    const SimdTargetScope scope(target);
    REQUIRE(c.Factor());
    const std::vector<NodeVec> b = SideOf(&c), x = c.Solve(b);
    const Points exact = SolveDense(c.model, b);
    REQUIRE((ToEigen(x) - exact).norm() < 1e-5 * exact.norm());
    REQUIRE(SpareIsZero(x));
    for (size_t i = 0; i + 1 < x.size(); ++i) {
      REQUIRE(x[i].w == 0.0f);
      if (c.model.pinned[i]) REQUIRE((x[i].x == 0.0f && x[i].y == 0.0f && x[i].z == 0.0f));
    }
  }
}

TEST_CASE("Forces on extra pins move nothing") {
  Case c(5, 0.0, 7);
  REQUIRE(c.Factor());
  std::vector<NodeVec> b(c.shape.num_nodes() + 1);
  for (const uint32_t node : c.extra) b[node] = ToVec3(c.random.Vector(1.0));
  const double without = ToEigen(c.Solve(b)).norm();
  PanelFactor plain = c.factor.panels();
  SolvePanels(plain, c.factor.workspace, b);
  CHECK(without < 1e-5 * ToEigen(b).norm());
}

TEST_CASE("Stiff bodies either solve well with extra pins, or their factor is refused") {
  const uint32_t seed = GENERATE(6u, 7u);
  CAPTURE(seed);
  bool refused = false;
  for (double young = 1.0e5; young < 1.0e17; young *= 10.0) {
    Case c(seed, 0.0, 21, young);
    const bool made = c.Factor();
    const std::vector<NodeVec> b = SideOf(&c);
    const Points exact = SolveDense(c.model, b);
    double error = -1.0;
    if (made) error = (ToEigen(c.Solve(b)) - exact).norm() / exact.norm();
    std::printf("extra pins, seed %u, %.0e Pa: %s, error %.1e\n", seed, young,
                made ? "made" : "refused", error);
    CAPTURE(young);
    if (made) CHECK(error < 3e-4);
    refused = refused || !made;
  }
  CHECK(refused);
}

TEST_CASE("Dependent pins and invalid factors are refused") {
  const uint32_t seed = GENERATE(8u, 9u, 10u);
  CAPTURE(seed);
  Case twice(seed, 0.0, 5);
  twice.extra[3] = twice.extra[2];
  CHECK(!twice.Factor());
  Case broken(seed, 0.0, 5);
  for (float& value : broken.factor.values) value = std::numeric_limits<float>::quiet_NaN();
  CHECK(!broken.Factor());
  Case negative(seed, 0.0, 5);
  for (const Supernode& s : negative.factor.panels().supernodes) {
    float* diagonal =
        &negative.factor.values[s.first_value] + BlockValues(s.num_rows, s.num_columns);
    for (size_t i = 0; i < BlockValues(s.num_columns, s.num_columns); ++i) diagonal[i] *= -1.0f;
  }
  CHECK(!negative.Factor());
  Case infinite(seed, 0.0, 5);
  for (float& value : infinite.factor.values) value *= 1.0e38f;
  CHECK(!infinite.Factor());
}

}  // namespace pin_schur_test

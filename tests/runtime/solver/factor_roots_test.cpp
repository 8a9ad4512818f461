// SPDX-License-Identifier: MIT
// Factors that store how forces move a component as a whole apart from the rest.
#include "plush/format/system_factor.h"
#include "plush/world.h"

#include "reference/dense_algebra.h"
#include "runtime/crowd_lanes.h"
#include "runtime/simd_targets.h"
#include "runtime/solver_fixtures.h"
#include "runtime/tet_fixtures.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cstdio>
#include <vector>

using namespace plush;
using namespace plush::test;

namespace factor_roots_test {

// Columns of A^-1 by each kind of solve.
Eigen::MatrixXd ByPanels(const PanelFactor& factor, std::span<float> workspace) {
  const Eigen::Index n = factor.num_nodes;
  Eigen::MatrixXd out(n, n);
  for (Eigen::Index j = 0; j < n; ++j) {
    std::vector<NodeVec> x(static_cast<size_t>(n) + 1);
    x[static_cast<size_t>(j)] = Vec3{1.0f, -2.0f, 0.5f};
    SolvePanels(factor, workspace, x);
    for (Eigen::Index i = 0; i < n; ++i) {
      const NodeVec& at = x[static_cast<size_t>(i)];
      REQUIRE((at.y == -2.0f * at.x && at.z == 0.5f * at.x));
      out(i, j) = double(at.x);
    }
  }
  return out;
}

Eigen::MatrixXd ByPoints(const PanelFactor& factor) {
  const Eigen::Index n = factor.num_nodes;
  const std::vector<uint8_t> marks(factor.supernodes.size(), 1);
  Eigen::MatrixXd out(n, n);
  for (Eigen::Index first = 0; first < n; first += kPointLanes) {
    const auto count = std::min<Eigen::Index>(n - first, kPointLanes);
    std::vector<float> x(kPointLanes * static_cast<size_t>(n));
    for (Eigen::Index k = 0; k < count; ++k) {
      x[static_cast<size_t>(kPointLanes * (first + k) + k)] = 1.0f;
    }
    SolvePoints(factor, marks, x.data());
    for (Eigen::Index i = 0; i < n; ++i) {
      for (Eigen::Index k = 0; k < count; ++k) {
        out(i, first + k) = double(x[static_cast<size_t>(kPointLanes * i + k)]);
      }
    }
  }
  return out;
}

Eigen::MatrixXd ByCrowd(const PanelFactor& factor) {
  const Eigen::Index n = factor.num_nodes;
  Eigen::MatrixXd out(n, n);
  for (Eigen::Index j = 0; j < n; ++j) {
    std::vector<float> x = CrowdNumbers(static_cast<size_t>(n), 3);
    std::fill(x.begin(), x.end(), 0.0f);
    float* at = &x[kCrowdVector * static_cast<size_t>(j)];
    at[5] = 1.0f;
    at[kCrowdLanes + 11] = -2.0f;
    SolveCrowd(factor, x.data());
    for (Eigen::Index i = 0; i < n; ++i) {
      const float* of = &x[kCrowdVector * static_cast<size_t>(i)];
      REQUIRE(of[kCrowdLanes + 11] == -2.0f * of[5]);
      out(i, j) = double(of[5]);
    }
  }
  return out;
}

// A tet of 1 m, `height` high.
tools::TetMesh ThinTet(double height, double x = 0.3, double y = 0.35) {
  return {{{0, 0, 0}, {1, 0, 0}, {0.1, 0.9, 0}, {x, y, height}}, {{0, 1, 2, 3}}};
}

TEST_CASE("Factors with roots invert the matrix in every kind of solve") {
  const uint32_t seed = GENERATE(1u, 2u, 3u);
  const double pin_share = GENERATE(0.0, 0.1);
  RandomSystem of(seed, pin_share, 0.01f);
  of.factor.Factorise(of.system, true);
  const PanelFactor factor = of.factor.panels();
  size_t num_roots = 0;
  for (size_t k = 0; k < factor.supernodes.size(); ++k) {
    CHECK((factor.roots[k] > 0.0f) == (factor.supernodes[k].num_rows == 0));
    num_roots += factor.roots[k] > 0.0f ? 1 : 0;
  }
  CHECK(num_roots >= 1);
  of.model.damping = 0.0;
  const Eigen::MatrixXd expected =
      reference::InverseOf(DenseSystemOfAxis(of.model, double(of.system.dt)));
  for (const int64_t target : SimdTargets()) {
    CAPTURE(seed, pin_share, NameOf(target));
    const SimdTargetScope scope(target);
    const double scale = expected.cwiseAbs().maxCoeff();
    CHECK((ByPanels(factor, of.factor.workspace) - expected).cwiseAbs().maxCoeff() < 1e-5 * scale);
    CHECK((ByPoints(factor) - expected).cwiseAbs().maxCoeff() < 1e-5 * scale);
    CHECK((ByCrowd(factor) - expected).cwiseAbs().maxCoeff() < 1e-5 * scale);
  }
}

TEST_CASE("With roots solves of stiff thin tets keep strains") {
  constexpr float kDt = 0.033f;
  constexpr double kStrain = 1.0e-6;
  const tools::Material material = {5.4e8, 0.13, 174.0};
  test::Random random(1);
  double worst = 0.0, worst_without = 0.0;
  for (int repeat = 0; repeat < 50; ++repeat) {
    const double height = 0.003 + 0.02 * random.Uniform(0.0, 1.0);
    const ShapeAsset shape(ThinTet(height, random.Uniform(0.1, 0.5), random.Uniform(0.1, 0.5)),
                           material, double(kDt), 0);
    const DenseModel model(shape.asset(), material);
    const SystemView system = SystemOf(shape, kDt);
    SystemFactor with(shape), without(shape);
    with.Factorise(system, true);
    without.Factorise(system);
    const Eigen::MatrixXd A = DenseSystemOfAxis(model, double(kDt));
    // What the tet's stiffness answers a strain across its height with.
    Points u = 0.0 * model.rest;
    u.col(3) = kStrain * height * random.Direction();
    const Points b = u * (A - Eigen::MatrixXd(model.masses.asDiagonal()));
    const std::vector<NodeVec> side = ToNodeVecs(b);
    const Points expected = reference::SolveSymmetric(A, ToEigen(side).transpose()).transpose();
    const auto miss = [&](SystemFactor* factor) {
      std::vector<NodeVec> x = side;
      factor->Solve(&x);
      const Points found = ToEigen(x);
      double most = 0.0;
      for (Eigen::Index i = 1; i < 4; ++i) {
        const Eigen::Vector3d relative = found.col(i) - found.col(0);
        most = std::max(most, (relative - (expected.col(i) - expected.col(0))).norm());
      }
      return most / (kStrain * height);
    };
    worst = std::max(worst, miss(&with));
    worst_without = std::max(worst_without, miss(&without));
  }
  std::printf("thin tets, seed 1: strains off by %.1e with roots, %.1e without\n", worst,
              worst_without);
  CHECK(worst < 0.01);
  CHECK(worst_without > 1.0);
}

TEST_CASE("A stiff thin tet that spins in flight keeps its energy") {
  const ShapeAsset shape(ThinTet(0.0015), {5.4e8, 0.13, 174.0}, 0.033, 0);
  for (const float dt : {0.033f, 0.01f}) {  // the one of the file and another one
    World world({.gravity = {}});
    AddBody(&world, shape.asset(), {.angular_velocity = {0.3f, 0.4f, -0.2f}});
    WorldMeasures start, now;
    REQUIRE(world.Measure(&start).ok());
    for (int step = 0; step < 100; ++step) {
      REQUIRE(world.Step(dt).ok());
      REQUIRE(world.Measure(&now).ok());
      CAPTURE(dt, step, now.elastic_j);
      REQUIRE(now.kinetic_j + now.elastic_j < 1.1 * start.kinetic_j);
    }
  }
}

}  // namespace factor_roots_test

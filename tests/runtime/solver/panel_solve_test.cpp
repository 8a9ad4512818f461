// SPDX-License-Identifier: MIT
#include "solver/panel_solve.h"

#include "plush/format/factor_panels.h"

#include "reference/dense_algebra.h"
#include "runtime/solver_fixtures.h"
#include "solver/fetch_ahead.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <vector>

using namespace plush;
using namespace plush::test;

namespace panel_solve_test {

constexpr float kDt = 0.01f;

struct Case : RandomSystem {
  Case(uint32_t seed, double pin_share) : RandomSystem(seed, pin_share, kDt) {
    factor.Factorise(system);
  }
};

// A factor of arbitrary structure: supernodes of given widths, the first with `num_rows` rows, the
// others with some. L and D^-1 are random and well conditioned; the solve needs no more.
struct RandomFactor {
  RandomFactor(uint32_t width, uint32_t num_rows, Random* random)
      : num_nodes(width + std::max(num_rows + random->Below(9), 1u)) {
    Add(0, width, num_rows, random);
    for (uint32_t column = width; column < num_nodes;) {
      const uint32_t w = std::min(1 + random->Below(kMaxSupernodeColumns), num_nodes - column);
      Add(column, w, random->Below(num_nodes - column - w + 1), random);
      column += w;
    }
    workspace.resize(PanelWorkspaceSize(supernodes, num_nodes));
  }

  void Add(uint32_t column, uint32_t w, uint32_t num_rows, Random* random) {
    const Supernode s = {column, w, static_cast<uint32_t>(rows.size()), num_rows,
                         static_cast<uint32_t>(values.size())};
    std::vector<uint32_t> later;
    for (uint32_t row = column + w; row < num_nodes; ++row) later.push_back(row);
    while (later.size() > num_rows) {
      later.erase(later.begin() + random->Below(static_cast<uint32_t>(later.size())));
    }
    rows.insert(rows.end(), later.begin(), later.end());
    rows.resize(s.first_row + PaddedRows(num_rows), num_nodes);
    values.resize(values.size() + PanelValues(s), 0.0f);
    float* below = &values[s.first_value];
    float* diagonal = below + BlockValues(num_rows, w);
    for (uint32_t j = 0; j < w; ++j) {
      for (uint32_t i = 0; i < num_rows; ++i) {
        below[BlockIndex(num_rows, w, i, j)] = Small(random, num_nodes);
      }
      for (uint32_t i = 0; i < j; ++i) {
        const float value = Small(random, w);
        diagonal[BlockIndex(w, w, i, j)] = diagonal[BlockIndex(w, w, j, i)] = value;
      }
      diagonal[BlockIndex(w, w, j, j)] = static_cast<float>(random->Uniform(1.0, 2.0));
    }
    supernodes.push_back(s);
  }

  // One of `count` entries that sum to less than one.
  static float Small(Random* random, uint32_t count) {
    return static_cast<float>(random->Uniform(-1.0, 1.0) / count);
  }

  PanelFactor panels() const { return {supernodes, {}, rows, values, num_nodes, num_nodes}; }

  uint32_t num_nodes;
  std::vector<Supernode> supernodes;
  std::vector<uint32_t> rows;
  std::vector<float> values, workspace;
};

// A right-hand side whose w are not zero; solves must ignore them.
std::vector<NodeVec> RandomSide(size_t num_nodes, Random* random) {
  std::vector<NodeVec> b = ToNodeVecs(random->Vectors(num_nodes, 1.0));
  for (size_t i = 0; i < num_nodes; ++i) b[i].w = 7.0f;
  return b;
}

// The same solve, number by number in double.
Points SolvePlainly(const PanelFactor& factor, const std::vector<NodeVec>& b) {
  Points x = ToEigen(b);
  const auto below = [&](const Supernode& s, uint32_t i, uint32_t j) {
    return double(factor.values[s.first_value + BlockIndex(s.num_rows, s.num_columns, i, j)]);
  };
  for (const Supernode& s : factor.supernodes) {
    if (s.first_column >= factor.num_active) break;
    for (uint32_t j = 0; j < s.num_columns; ++j) {
      for (uint32_t i = 0; i < s.num_rows; ++i) {
        x.col(factor.rows[s.first_row + i]) += below(s, i, j) * x.col(s.first_column + j);
      }
    }
  }
  x.rightCols(x.cols() - factor.num_active).setZero();
  for (size_t k = factor.supernodes.size(); k-- > 0;) {
    const Supernode& s = factor.supernodes[k];
    if (s.first_column >= factor.num_active) continue;
    const uint32_t w = s.num_columns;
    const Points side = x.middleCols(s.first_column, w);
    for (uint32_t j = 0; j < w; ++j) {
      Eigen::Vector3d sum = Eigen::Vector3d::Zero();
      for (uint32_t i = 0; i < w; ++i) {
        const size_t at = s.first_value + BlockValues(s.num_rows, w) + BlockIndex(w, w, i, j);
        sum += double(factor.values[at]) * side.col(i);
      }
      for (uint32_t i = 0; i < s.num_rows; ++i) {
        sum += below(s, i, j) * x.col(factor.rows[s.first_row + i]);
      }
      x.col(s.first_column + j) = sum;
    }
  }
  return x;
}

Points SolveDense(const Eigen::MatrixXd& A, const std::vector<NodeVec>& b) {
  return reference::SolveSymmetric(A, ToEigen(b).transpose()).transpose();
}

TEST_CASE("Solves are those of the dense matrix, for three right-hand sides at once") {
  const uint32_t seed = GENERATE(1u, 2u, 3u, 4u, 5u, 6u, 7u, 8u);
  const double pin_share = GENERATE(0.0, 0.15);
  CAPTURE(seed, pin_share);
  Case c(seed, pin_share);
  const Eigen::MatrixXd A = DenseSystemOfAxis(c.model, kDt);
  const std::vector<NodeVec> b = RandomSide(c.shape.num_nodes(), &c.random);
  std::vector<NodeVec> x = b;
  c.factor.Solve(&x);
  const Points residual = ToEigen(x) * A - ToEigen(b);
  CHECK(residual.norm() < 1e-5 * A.norm() * ToEigen(x).norm());
  const Points exact = SolveDense(A, b);
  CHECK((ToEigen(x) - exact).norm() < 1e-5 * exact.norm());
  CHECK(SpareIsZero(x));
  for (const NodeVec& node : x) REQUIRE(node.w == 0.0f);
  // Axes are independent: each alone gives the same bits.
  std::vector<NodeVec> y(b.size());
  for (size_t i = 0; i < b.size(); ++i) y[i].x = b[i].y;
  c.factor.Solve(&y);
  for (size_t i = 0; i < b.size(); ++i) {
    REQUIRE((y[i].x == x[i].y && y[i].y == 0.0f && y[i].z == 0.0f));
  }
}

TEST_CASE("A solve on the paths of a few nodes gives the bits of a whole one at these nodes") {
  const uint32_t seed = GENERATE(1u, 2u, 3u, 4u, 5u, 6u, 7u, 8u);
  CAPTURE(seed);
  Case c(seed, 0.0);
  const PanelFactor factor = c.factor.panels();
  constexpr size_t kFew = 3;
  std::vector<uint8_t> marks(factor.supernodes.size(), 0);
  std::vector<NodeVec> whole(c.shape.num_nodes() + 1);
  const std::vector<NodeVec> b = RandomSide(c.shape.num_nodes(), &c.random);
  uint32_t few[kFew];
  for (uint32_t& node : few) {
    node = c.random.Below(static_cast<uint32_t>(c.shape.num_nodes()));
    whole[node] = Vec3(b[node]);
    MarkPath(factor, node, marks);
  }
  std::vector<NodeVec> x = whole;
  c.factor.Solve(&whole);
  std::vector<float> workspace(PanelWorkspaceSize(factor.supernodes, factor.num_nodes));
  SolveMarked(factor, marks, workspace, x);
  for (const uint32_t node : few) {
    CAPTURE(node);
    REQUIRE(
        (x[node].x == whole[node].x && x[node].y == whole[node].y && x[node].z == whole[node].z));
  }
  CHECK(SpareIsZero(x));
  // Some paths leave something out.
  if (seed == 1) CHECK(std::ranges::count(marks, uint8_t{0}) > 0);
}

TEST_CASE("Pinned rows do not move and have no effect") {
  Case c(9, 0.15);
  std::vector<NodeVec> x = ToNodeVecs(c.random.Vectors(c.shape.num_nodes(), 1.0));
  for (size_t i = 0; i < c.pinned.size(); ++i) {
    if (c.pinned[i] != 0) x[i] = NodeVec();
  }
  c.factor.Solve(&x);
  size_t num_pinned = 0;
  for (size_t i = 0; i < c.pinned.size(); ++i) {
    if (c.pinned[i] == 0) continue;
    ++num_pinned;
    CHECK((x[i].x == 0.0f && x[i].y == 0.0f && x[i].z == 0.0f));
  }
  CHECK(num_pinned > 0);
}

TEST_CASE("Nodes of regions at the end can be left out of a solve") {
  const uint32_t seed = GENERATE(11u, 12u);
  CAPTURE(seed);
  Random random(seed);
  const ShapeAsset shape =
      ShapeAsset::Baked(TetBox(6, 3, 2, 0.1, 0.09, seed), {2.0e5, 0.4, 1000.0}, double(kDt),
                        R"({"regions": [{"name": "low", "box": [[-1, -1, -1], [1, 0.05, 1]]}]})");
  const FactorView& baked = shape.asset().factor();
  REQUIRE(baked.num_free < shape.num_nodes());
  REQUIRE(baked.num_free > 0);
  DenseModel model(shape.asset());
  for (size_t i = baked.num_free; i < shape.num_nodes(); ++i) model.pinned[i] = true;
  std::vector<NodeVec> b = RandomSide(shape.num_nodes(), &random), x = b;
  std::vector<float> workspace(
      PanelWorkspaceSize(baked.supernodes, static_cast<uint32_t>(shape.num_nodes())));
  SolvePanels({baked.supernodes, baked.supernode_of, baked.rows, baked.values,
               static_cast<uint32_t>(shape.num_nodes()), baked.num_free},
              workspace, x);
  for (size_t i = baked.num_free; i < shape.num_nodes(); ++i) {
    CHECK((x[i].x == 0.0f && x[i].y == 0.0f && x[i].z == 0.0f && x[i].w == 0.0f));
    b[i] = NodeVec();
  }
  CHECK(SpareIsZero(x));
  const Points exact = SolveDense(DenseSystemOfAxis(model, baked.dt), b);
  CHECK((ToEigen(x) - exact).norm() < 1e-5 * exact.norm());
}

TEST_CASE(
    "Factors too large for caches are solved like others, with and without the last columns") {
  const uint32_t seed = GENERATE(1u, 2u);
  CAPTURE(seed);
  Random random(seed);
  const RandomFactor large(kMaxSupernodeColumns, 2200, &random);
  PanelFactor factor = large.panels();
  REQUIRE(factor.values.size() > kMostNearValues);
  for (const size_t left_out : {0, 1, 3}) {
    CAPTURE(left_out);
    const std::vector<Supernode>& all = large.supernodes;
    if (left_out > 0) factor.num_active = all[all.size() - left_out].first_column;
    const std::vector<NodeVec> b = RandomSide(large.num_nodes, &random);
    std::vector<NodeVec> x = b;
    std::vector<float> workspace(PanelWorkspaceSize(factor.supernodes, factor.num_nodes));
    SolvePanels(factor, workspace, x);
    const Points expected = SolvePlainly(factor, b);
    CHECK((ToEigen(x) - expected).norm() < 2e-6 * expected.norm());
    CHECK(SpareIsZero(x));
  }
}

TEST_CASE("Supernodes of every width, with rows about the multiples of a chunk") {
  const uint32_t width = GENERATE(range(1u, kMaxSupernodeColumns + 1));
  Random random(width);
  for (const uint32_t num_rows : {0u,  1u,  2u,  7u,  8u,  9u,  15u, 16u, 17u, 23u, 24u,
                                  25u, 31u, 32u, 33u, 39u, 40u, 41u, 47u, 48u, 49u}) {
    CAPTURE(width, num_rows);
    RandomFactor factor(width, num_rows, &random);
    const std::vector<NodeVec> b = RandomSide(factor.num_nodes, &random);
    std::vector<NodeVec> x = b;
    SolvePanels(factor.panels(), factor.workspace, x);
    const Points exact = SolveDense(MultiplyOut(factor.panels()), b);
    REQUIRE((ToEigen(x) - exact).norm() < 2e-6 * exact.norm());
    REQUIRE(SpareIsZero(x));
  }
}

TEST_CASE("Sixteen right-hand sides of points are solved as each of them alone") {
  const uint32_t width = GENERATE(range(1u, kMaxSupernodeColumns + 1));
  Random random(width);
  for (const uint32_t num_rows : {0u, 1u, 7u, 8u, 9u, 15u, 16u, 17u, 24u, 33u, 48u}) {
    RandomFactor of(width, num_rows, &random);
    PanelFactor factor = of.panels();
    const size_t left_out = random.Below(2);  // the last supernode, or nothing
    if (left_out > 0) factor.num_active = of.supernodes.back().first_column;
    CAPTURE(width, num_rows, left_out);
    const std::vector<uint8_t> marks(of.supernodes.size(), 1);
    std::vector<float> all(kPointLanes * of.num_nodes);
    for (float& number : all) number = static_cast<float>(random.Uniform(-1.0, 1.0));
    std::vector<float> solved = all;
    SolvePoints(factor, marks, solved.data());
    for (size_t lane = 0; lane < kPointLanes; ++lane) {
      std::vector<NodeVec> x(of.num_nodes + 1);
      for (size_t i = 0; i < of.num_nodes; ++i) x[i].x = all[kPointLanes * i + lane];
      SolvePanels(factor, of.workspace, x);
      for (size_t i = 0; i < of.num_nodes; ++i) {
        REQUIRE(solved[kPointLanes * i + lane] == Approx(x[i].x).margin(2e-6));
      }
    }
  }
}

TEST_CASE("Right-hand sides of points are solved on the paths of a few nodes") {
  const uint32_t seed = GENERATE(1u, 2u, 3u, 4u);
  CAPTURE(seed);
  Case c(seed, 0.0);
  const PanelFactor factor = c.factor.panels();
  std::vector<uint8_t> marks(factor.supernodes.size(), 0);
  std::vector<float> x(kPointLanes * factor.num_nodes);
  std::vector<uint32_t> few;
  for (size_t lane = 0; lane < kPointLanes; lane += 4) {
    few.push_back(c.random.Below(factor.num_nodes));
    MarkPath(factor, few.back(), marks);
    x[kPointLanes * few.back() + lane] = 1.0f;
  }
  SolvePoints(factor, marks, x.data());
  for (size_t k = 0; k < few.size(); ++k) {
    std::vector<NodeVec> whole(factor.num_nodes + 1);
    whole[few[k]].x = 1.0f;
    c.factor.Solve(&whole);
    for (const uint32_t node : few) {
      const float most = std::fabs(whole[few[k]].x);
      CHECK(x[kPointLanes * node + 4 * k] == Approx(whole[node].x).margin(1e-5 * double(most)));
    }
  }
  if (seed == 1) CHECK(std::ranges::count(marks, uint8_t{0}) > 0);
}

}  // namespace panel_solve_test

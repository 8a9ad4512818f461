// SPDX-License-Identifier: MIT
#include "contact/held_solve.h"

#include "contact/plane_contacts.h"
#include "runtime/solver_fixtures.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <vector>

using namespace plush;
using namespace plush::test;

namespace {

constexpr float kDt = 0.01f;

struct Case {
  explicit Case(uint32_t seed, uint32_t cells = 3)
      : Case(seed, TetBox(cells, 2, 2, 0.1, 0.09, seed), 1.0e5, 0.1) {}

  Case(uint32_t seed, const tools::TetMesh& mesh, double young, double share_of_pins)
      : random(seed),
        shape(mesh, {young, 0.4, 1000.0}, double(kDt)),
        model(shape.asset()),
        pinned(shape.num_nodes(), 0),
        b(ToNodeVecs(random.Vectors(shape.num_nodes(), 1e-3))),
        factor(shape) {
    for (const uint32_t node : random.Nodes(shape.num_nodes(), share_of_pins)) {
      pinned[node] = 1;
      model.pinned[node] = true;
      b[node] = NodeVec();
    }
    system.system = SystemOf(shape, kDt);
    system.system.pinned = pinned;
    Refactor(1);
    REQUIRE(workspace.Allocate(DefaultAllocator(), static_cast<uint32_t>(shape.num_nodes())));
  }

  void Refactor(uint64_t id) {
    factor.Factorise(system.system);
    system.factor = factor.panels();
    system.workspace = factor.workspace;
    system.id = id;
  }

  std::vector<NodeVec> Free() {
    std::vector<NodeVec> d = b;
    factor.Solve(&d);
    return d;
  }

  // Up to `count` rows on free nodes. Rows of a node are consecutive: one, two or three per node.
  std::vector<HeldRow> RandomRows(size_t count, bool orthogonal) {
    std::vector<uint32_t> nodes;
    for (uint32_t i = 0; i < pinned.size(); ++i) {
      if (pinned[i] == 0) nodes.push_back(i);
    }
    std::vector<HeldRow> rows;
    while (rows.size() < count && !nodes.empty()) {
      const size_t pick = random.Below(static_cast<uint32_t>(nodes.size()));
      const uint32_t node = nodes[pick];
      nodes.erase(nodes.begin() + static_cast<std::ptrdiff_t>(pick));
      const Eigen::Matrix3d frame = random.Rotation();
      const uint32_t directions = 1 + random.Below(3);
      for (uint32_t k = 0; k < directions && rows.size() < count; ++k) {
        Eigen::Vector3d direction = frame.col(k);
        if (!orthogonal && k > 0) direction = (direction + 0.8 * frame.col(k - 1)).normalized();
        rows.push_back({node, ToVec3(direction), static_cast<float>(random.Uniform(-2e-3, 2e-3))});
      }
    }
    return rows;
  }

  Random random;
  ShapeAsset shape;
  DenseModel model;
  std::vector<uint8_t> pinned;
  std::vector<NodeVec> b;
  SystemFactor factor;
  FactoredSystem system;
  HeldSolveWorkspace workspace;
};

struct DenseSolution {
  Points d;
  Eigen::VectorXd multipliers;
};

// [A -E; E^T C] [d; lambda] = [b; target], C the rows' compliance, lambda the shortest if rows
// depend on each other.
DenseSolution SolveDense(const Case& c, std::span<const HeldRow> rows) {
  const Eigen::Index n = 3 * c.model.num_nodes(), m = static_cast<Eigen::Index>(rows.size());
  Eigen::MatrixXd E = Eigen::MatrixXd::Zero(n, m);
  Eigen::VectorXd target(m), compliance(m);
  for (Eigen::Index j = 0; j < m; ++j) {
    const HeldRow& row = rows[static_cast<size_t>(j)];
    compliance[j] = double(row.compliance);
    E.block(3 * row.node, j, 3, 1) = ToEigen(row.direction);
    target[j] = double(row.target);
  }
  const Eigen::LDLT<Eigen::MatrixXd> A(DenseSystem(c.model, double(c.system.system.dt)));
  const Points b = ToEigen(c.b);
  const Eigen::VectorXd free = A.solve(Eigen::Map<const Eigen::VectorXd>(b.data(), b.size()));
  const Eigen::MatrixXd Y = A.solve(E);
  Eigen::MatrixXd S = E.transpose() * Y;
  S.diagonal() += compliance;
  const Eigen::VectorXd lambda =
      S.completeOrthogonalDecomposition().solve(target - E.transpose() * free);
  const Eigen::VectorXd d = free + Y * lambda;
  return {Eigen::Map<const Points>(d.data(), 3, n / 3), lambda};
}

std::vector<NodeVec> SolveSchur(Case* c, std::vector<HeldRow>* rows) {
  std::vector<NodeVec> d = c->Free();
  SolveHeldSchur(c->system, c->b, *rows, &c->workspace, d);
  return d;
}

double LargestMiss(std::span<const HeldRow> rows, const std::vector<NodeVec>& d) {
  double miss = 0.0;
  for (const HeldRow& row : rows) {
    const double moved = ToEigen(d[row.node]).dot(ToEigen(row.direction));
    const double aim = double(row.target) - double(row.compliance) * row.multiplier;
    miss = std::max(miss, std::fabs(moved - aim));
  }
  return miss;
}

void CheckAgainstDense(const Case& c, std::span<const HeldRow> rows, const std::vector<NodeVec>& d,
                       bool independent, double tolerance) {
  const DenseSolution exact = SolveDense(c, rows);
  CHECK((ToEigen(d) - exact.d).norm() < tolerance * exact.d.norm());
  CHECK(LargestMiss(rows, d) < 1e-7 + 1e-5 * 2e-3);
  if (!independent) return;
  double miss = 0.0;
  for (size_t j = 0; j < rows.size(); ++j) {
    miss = std::max(
        miss, std::fabs(rows[j].multiplier - exact.multipliers[static_cast<Eigen::Index>(j)]));
  }
  CHECK(miss < 10.0 * tolerance * exact.multipliers.norm());
}

}  // namespace

TEST_CASE("The Schur complement holds rows like the dense equations") {
  const uint32_t seed = GENERATE(1u, 2u, 3u, 4u);
  const size_t count = GENERATE(size_t{1}, size_t{2}, size_t{7}, size_t{30}, size_t{96});
  const bool orthogonal = GENERATE(true, false);
  CAPTURE(seed, count, orthogonal);
  Case c(seed, 6);
  std::vector<HeldRow> rows = c.RandomRows(count, orthogonal);
  REQUIRE(rows.size() == count);
  const std::vector<NodeVec> d = SolveSchur(&c, &rows);
  CheckAgainstDense(c, rows, d, true, 1e-4);
}

TEST_CASE("Compliant rows yield by compliance times impulse") {
  const uint32_t seed = GENERATE(14u, 15u, 16u);
  const size_t count = GENERATE(size_t{1}, size_t{7}, size_t{60});
  CAPTURE(seed, count);
  Case c(seed, 6);
  std::vector<HeldRow> rows = c.RandomRows(count, true);
  // From far below to far above the matrix's own compliance.
  const double own = DenseSystem(c.model, double(kDt)).inverse().diagonal().mean();
  for (HeldRow& row : rows) {
    row.compliance = static_cast<float>(own * std::pow(10.0, c.random.Uniform(-2.0, 2.0)));
  }
  const std::vector<NodeVec> d = SolveSchur(&c, &rows);
  CheckAgainstDense(c, rows, d, true, 1e-4);
}

TEST_CASE("Rows that depend on others take no impulse") {
  const uint32_t seed = GENERATE(5u, 6u, 7u);
  CAPTURE(seed);
  Case c(seed);
  std::vector<HeldRow> rows;
  for (const HeldRow& row : c.RandomRows(12, true)) {
    rows.push_back(row);
    rows.push_back(row);  // the same row again, with the same target
  }
  const std::vector<NodeVec> d = SolveSchur(&c, &rows);
  for (size_t j = 1; j < rows.size(); j += 2) CHECK(rows[j].multiplier == 0.0);
  CheckAgainstDense(c, rows, d, false, 1e-4);

  // Four directions of one node; only three are independent.
  std::vector<HeldRow> four;
  const Eigen::Vector3d moved(1e-3, -2e-3, 1e-3);
  const auto node = static_cast<uint32_t>(std::find(c.pinned.begin(), c.pinned.end(), uint8_t{0}) -
                                          c.pinned.begin());
  for (int k = 0; k < 4; ++k) {
    const Eigen::Vector3d direction = c.random.Direction();
    four.push_back({node, ToVec3(direction), static_cast<float>(direction.dot(moved))});
  }
  const std::vector<NodeVec> held = SolveSchur(&c, &four);
  CHECK((ToEigen(held[node]) - moved).norm() < 1e-5 * moved.norm());
}

TEST_CASE("Conjugate gradients converge to the dense equations' solution") {
  const uint32_t seed = GENERATE(8u, 9u, 10u);
  const size_t count = GENERATE(size_t{3}, size_t{40}, size_t{70});
  const bool orthogonal = GENERATE(true, false);
  CAPTURE(seed, count, orthogonal);
  Case c(seed, 4);
  std::vector<HeldRow> rows = c.RandomRows(count, orthogonal);
  std::vector<NodeVec> d = c.Free();
  const float residual = SolveHeldIterative(c.system, c.b, rows, 256, &c.workspace, d);
  CHECK(residual < 1e-4f);
  CheckAgainstDense(c, rows, d, true, 1e-3);
  if (count > kMaxSchurRows) return;
  std::vector<HeldRow> schur_rows = rows;
  const std::vector<NodeVec> schur = SolveSchur(&c, &schur_rows);
  CHECK((ToEigen(d) - ToEigen(schur)).norm() < 1e-3 * ToEigen(schur).norm());
}

TEST_CASE("Few iterations hold the rows exactly and report their residual") {
  Case c(11, 4);
  std::vector<HeldRow> rows = c.RandomRows(70, true);
  float before = 0.0f;
  for (const int iterations : {1, 4, 16}) {
    std::vector<NodeVec> d = c.Free();
    const float residual = SolveHeldIterative(c.system, c.b, rows, iterations, &c.workspace, d);
    CAPTURE(iterations, residual);
    CHECK(LargestMiss(rows, d) < 2e-7);
    CHECK((iterations == 1 || residual < before));
    before = residual;
  }
}

TEST_CASE("Kept couplings serve changing sets and are dropped with their factor") {
  double worst = 0.0;
  Case c(12, 12);
  REQUIRE(c.shape.num_nodes() > kMaxSchurRows + 20);  // more than the cache keeps
  for (uint64_t round = 0; round < 60; ++round) {
    if (round % 7 == 6) {
      c.system.system.dt = kDt * static_cast<float>(c.random.Uniform(0.5, 2.0));
      c.Refactor(2 + round);
    }
    if (round % 20 == 19) {  // as when a plane is added
      REQUIRE(c.workspace.Allocate(DefaultAllocator(), static_cast<uint32_t>(c.shape.num_nodes())));
    }
    std::vector<HeldRow> rows = c.RandomRows(1 + c.random.Below(kMaxSchurRows), round % 2 == 0);
    const std::vector<NodeVec> d = SolveSchur(&c, &rows);
    HeldSolveWorkspace fresh;
    REQUIRE(fresh.Allocate(DefaultAllocator(), static_cast<uint32_t>(c.shape.num_nodes())));
    std::vector<HeldRow> fresh_rows = rows;
    std::vector<NodeVec> expected = c.Free();
    SolveHeldSchur(c.system, c.b, fresh_rows, &fresh, expected);
    // A pair's entry of A^-1 comes from the column of the node that was held last. Both columns
    // agree except for rounding.
    const Points difference = ToEigen(d) - ToEigen(expected);
    const double miss = difference.norm() / ToEigen(expected).norm();
    CHECK(miss < 1e-5);
    worst = std::max(worst, miss);
    if (round % 2 != 0) continue;  // rows in arbitrary directions may depend on each other
    double largest = 0.0;
    for (const HeldRow& row : fresh_rows) largest = std::max(largest, std::fabs(row.multiplier));
    for (size_t j = 0; j < rows.size(); ++j) {
      CHECK(std::fabs(rows[j].multiplier - fresh_rows[j].multiplier) < 1e-4 * largest);
    }
  }
  std::printf("held solves with kept couplings, 60 sets: %.1e off those with fresh ones\n", worst);
}

TEST_CASE("No rows leave the free solution") {
  Case c(13);
  std::vector<HeldRow> rows;
  const std::vector<NodeVec> d = SolveSchur(&c, &rows);
  const std::vector<NodeVec> free = c.Free();
  for (size_t i = 0; i < d.size(); ++i) CHECK((d[i].x == free[i].x && d[i].z == free[i].z));
}

TEST_CASE("Nodes that slip on a plane carry Coulomb's friction, each for itself") {
  constexpr float kFriction = 0.4f;
  size_t known = 0, resisted = 0;
  for (const uint32_t seed : {17u, 18u, 19u, 20u}) {
    for (const double young : {1.0e6, 1.0e7, 1.0e8}) {
      Case c(seed, TetBox(3, 1, 3, 0.1), young, 0.0);
      const std::vector<NodeVec> x = ToNodeVecs(c.shape.rest());
      // It sinks by its weight and wants to spread along the plane.
      const size_t n = c.shape.num_nodes();
      std::vector<NodeVec> spread(n + 1);
      const float strain = static_cast<float>(c.random.Uniform(1e-4, 1e-3));
      for (size_t i = 0; i < n; ++i) {
        spread[i] = {strain * (x[i].x - 0.15f), 0.0f, strain * (x[i].z - 0.15f)};
      }
      MultiplySystem(c.system.system, spread, c.b);
      for (size_t i = 0; i < n; ++i) {
        c.b[i] += Vec3{0.3f, -9.81f, 0.1f} * (c.shape.simulation().masses[i] * kDt * kDt);
      }
      ContactState state;
      REQUIRE(state.Reserve(DefaultAllocator(), static_cast<uint32_t>(n), 1));
      const LocalPlane plane = {{0.0f, 1.0f, 0.0f}, 0.0f, kFriction, {}, {}};
      const std::span<const NodeVec> y(x);  // with the spare node
      const ContactProblem problem = {{&plane, 1}, y.first(n), y, c.b, 1e-6f, 20};
      std::vector<NodeVec> d(n + 1), product(n + 1);
      for (int k = 0; k < 3; ++k) SolveWithContacts(c.system, problem, &state, d);
      MultiplySystem(c.system.system, d, product);
      for (uint32_t k = 0; k < state.num_contacts; ++k) {
        const PlaneContact& contact = state.contacts[k];
        if (!contact.sliding) continue;
        CAPTURE(seed, young, contact.node, contact.resisted, contact.slipped);
        Eigen::Vector3d friction = ToEigen(product[contact.node]) - ToEigen(c.b[contact.node]);
        const double cone = double(kFriction) * friction.y();
        friction.y() = 0.0;
        Eigen::Vector3d slip = ToEigen(d[contact.node]);
        slip.y() = 0.0;
        // The last round resists with cone / resisted; before, slips differ by a little.
        const double share = contact.resisted > 0.0f ? slip.norm() / double(contact.resisted) : 1.0;
        CHECK(friction.norm() == Approx(share * cone).epsilon(0.01));
        CHECK(friction.dot(slip) < -0.5 * friction.norm() * slip.norm());  // what the solve accepts
        CHECK(share > 0.7);
        CHECK(share < 1.01);
        ++(contact.resisted > 0.0f ? resisted : known);
      }
    }
  }
  CHECK(known > 80);
  CHECK(resisted > 30);
}

TEST_CASE("Sweeps may move frictionless nodes along their one plane, others not at all") {
  const float friction = GENERATE(0.0f, 0.3f);
  CAPTURE(friction);
  const LocalPlane planes[] = {{{1.0f, 0.0f, 0.0f}, 0.0f, friction, {}, {}},
                               {{0.0f, 0.6f, 0.8f}, 0.0f, friction, {}, {}}};
  ContactState state;
  REQUIRE(state.Reserve(DefaultAllocator(), 6, 2));
  state.contacts[0] = {.node = 1, .plane = 1};
  state.contacts[1] = {.node = 3, .plane = 0, .alone = false};
  state.contacts[2] = {.node = 3, .plane = 1, .alone = false};
  state.contacts[3] = {.node = 4, .plane = 0};
  state.num_contacts = 4;
  std::vector<NodeVec> y(7), normals(7);
  for (NodeVec& node : y) node.w = 2.0f;
  HoldNodes(state, planes, y, normals);
  const bool slides = friction == 0.0f;
  const float free[] = {2.0f, slides ? 2.0f : 0.0f, 2.0f, 0.0f, slides ? 2.0f : 0.0f, 2.0f};
  for (size_t i = 0; i < 6; ++i) {
    CAPTURE(i);
    CHECK(y[i].w == free[i]);
    const int plane = slides && i == 1 ? 1 : slides && i == 4 ? 0 : -1;
    const Vec3 normal = plane < 0 ? Vec3{} : planes[plane].normal;
    CHECK((ToEigen(normals[i]) - ToEigen(normal)).norm() == 0.0);
  }
}

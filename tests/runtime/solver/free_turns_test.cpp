// SPDX-License-Identifier: MIT
#include "solver/free_turns.h"

#include "elasticity/element_pass.h"
#include "runtime/solver_fixtures.h"

#include <catch2/catch.hpp>

#include <vector>

using namespace plush;
using namespace plush::test;

namespace {

constexpr float kDt = 0.01f;

// A body in some state, its factor and its turns.
struct Case {
  explicit Case(double young, bool with_pins, float damping = 0.0f)
      : random(7),
        shape(TetBox(2, 2, 2, 0.1, 0.09, 7), {young, 0.4, 1000.0}, double(kDt)),
        pinned(shape.num_nodes(), 0),
        factor(shape),
        rotations(shape.num_blocks()) {
    if (with_pins) {
      for (const uint32_t node : random.Nodes(shape.num_nodes(), 0.1)) pinned[node] = 1;
    }
    system = SystemOf(shape, kDt);
    system.pinned = pinned;
    system.elements.damping = damping;
    factor.Factorise(system);
    REQUIRE(turns.Allocate(DefaultAllocator(), shape.simulation().tets,
                           static_cast<uint32_t>(shape.num_nodes())));
  }

  // At the rest shape turned by R and strained by `strain`.
  void Prepare(const Eigen::Matrix3d& R, double strain) {
    const Points rest = ToEigen(shape.rest());
    const Points strained = R * (rest + random.Vectors(shape.num_nodes(), strain));
    x = ToVec3s(strained);
    rotations = RotationArray(shape.num_blocks(), ToQuat(R));
    stretches.resize(system.elements.damping > 0.0f ? 9 * shape.num_places() : 0);
    MatchRotations(system.elements, x, rotations.view());
    if (!stretches.empty()) {
      ComputeStretches(system.elements, ToNodeVecs(x), 64, rotations.view(), stretches);
    }
    turns.Prepare(system, factor.panels(), factor.workspace, rotations.view(), stretches);
  }

  void Substitute(std::vector<NodeVec>* v) {
    turns.Substitute(factor.panels(), factor.workspace, *v);
  }

  Random random;
  ShapeAsset shape;
  std::vector<uint8_t> pinned;
  SystemView system;
  SystemFactor factor;
  std::vector<Vec3> x;
  RotationArray rotations;
  std::vector<float> stretches;
  FreeTurns turns;
};

double Inner(const std::vector<NodeVec>& a, const std::vector<NodeVec>& b) {
  return ToEigen(a).cwiseProduct(ToEigen(b)).sum();
}

}  // namespace

TEST_CASE("With free turns the product undoes the solve") {
  const bool with_pins = GENERATE(false, true);
  const float damping = GENERATE(0.0f, 0.15f);
  const double young = GENERATE(1.0e4, 1.0e6);
  CAPTURE(with_pins, damping, young);
  Case c(young, with_pins, damping);
  c.Prepare(c.random.Rotation(), 0.01);
  std::vector<NodeVec> b = ToNodeVecs(c.random.Vectors(c.shape.num_nodes(), 1.0));
  for (size_t i = 0; i < c.pinned.size(); ++i) {
    if (c.pinned[i] != 0) b[i] = NodeVec();
  }
  std::vector<NodeVec> d = b, back(b.size());
  c.Substitute(&d);
  c.turns.Multiply(c.system, d, back);
  CHECK((ToEigen(back) - ToEigen(b)).norm() < 1e-2 * ToEigen(b).norm());
}

TEST_CASE("The coupling is what the turns add to the solve") {
  Case c(3.0e5, false);
  c.Prepare(c.random.Rotation(), 0.01);
  for (int k = 0; k < 20; ++k) {
    const uint32_t i = c.random.Below(static_cast<uint32_t>(c.shape.num_nodes()));
    const uint32_t j = c.random.Below(static_cast<uint32_t>(c.shape.num_nodes()));
    const Vec3 p = ToVec3(c.random.Rotation().col(0)), q = ToVec3(c.random.Rotation().col(1));
    std::vector<NodeVec> plain(c.shape.num_nodes() + 1);
    plain[j] = q;
    std::vector<NodeVec> turned = plain;
    c.factor.Solve(&plain);
    c.Substitute(&turned);
    const double added = ToEigen(p).dot(ToEigen(turned[i]) - ToEigen(plain[i]));
    CHECK(double(c.turns.Coupling(i, p, j, q)) ==
          Approx(added).margin(1e-4 * ToEigen(turned[j]).norm()));
    CHECK(double(c.turns.Coupling(j, q, i, p)) ==
          Approx(added).margin(1e-4 * ToEigen(turned[j]).norm()));
  }
}

TEST_CASE("Against a turn stands the inertia alone, against a strain the stiffness too") {
  Case c(1.0e6, false);
  c.Prepare(c.random.Rotation(), 0.0);
  const Points centred = ToEigen(c.x).colwise() - ToEigen(c.x).rowwise().mean();
  const Eigen::Vector3d omega(0.3, -0.5, 0.8);
  Points turn = centred;
  for (Eigen::Index i = 0; i < turn.cols(); ++i) turn.col(i) = omega.cross(centred.col(i));
  const auto resistances = [&c](const Points& motion) {
    const std::vector<NodeVec> d = ToNodeVecs(motion);
    std::vector<NodeVec> free(d.size()), full(d.size());
    c.turns.Multiply(c.system, d, free);
    MultiplySystem(c.system, d, full);
    double inertia = 0.0;
    for (size_t i = 0; i < c.system.masses.size(); ++i) {
      inertia += double(c.system.masses[i]) * ToEigen(d[i]).squaredNorm();
    }
    return Eigen::Vector3d(Inner(d, free), Inner(d, full), inertia);
  };
  const Eigen::Vector3d turned = resistances(turn);
  CHECK(turned[1] > 10.0 * turned[2]);
  CHECK(turned[0] == Approx(turned[2]).epsilon(0.2));
  const Eigen::Vector3d strained = resistances(0.1 * centred);
  CHECK(strained[0] == Approx(strained[1]).epsilon(1e-3));
}

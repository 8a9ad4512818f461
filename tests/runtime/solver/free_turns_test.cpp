// SPDX-License-Identifier: MIT
#include "solver/free_turns.h"

#include "runtime/dense_reference.h"

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
        pinned(shape.num_nodes(), 0) {
    if (with_pins) {
      for (const uint32_t node : random.Nodes(shape.num_nodes(), 0.1)) pinned[node] = 1;
    }
    system = {shape.elements(), shape.simulation().masses, 1.0f, pinned, kDt};
    system.elements.damping = damping;
    pattern = {shape.asset().factor().column_starts, shape.asset().factor().rows};
    std::vector<double> exact(pattern.rows.size());
    AssembleSystem(system, pattern, exact);
    CholeskyWorkspace cholesky;
    REQUIRE(cholesky.Allocate(DefaultAllocator(), pattern.size()));
    REQUIRE(Factorise(pattern, &cholesky, exact));
    values.assign(exact.begin(), exact.end());
    REQUIRE(turns.Allocate(DefaultAllocator(), shape.simulation().tets,
                           static_cast<uint32_t>(shape.num_nodes())));
  }

  // At the rest shape turned by R and strained by `strain`.
  void Prepare(const Eigen::Matrix3d& R, double strain) {
    const Points rest = ToEigen(shape.rest());
    const Points strained = R * (rest + random.Vectors(shape.num_nodes(), strain));
    x = ToVec3s(strained);
    rotations.assign(shape.simulation().tets.size(), ToQuat(R));
    stretches.resize(system.elements.damping > 0.0f ? rotations.size() : 0);
    MatchRotations(system.elements, x, rotations);
    if (!stretches.empty()) ComputeStretches(system.elements, x, 64, rotations, stretches);
    turns.Prepare(system, pattern, values, rotations, stretches);
  }

  Random random;
  ShapeAsset shape;
  std::vector<uint8_t> pinned;
  SystemView system;
  CholeskyPattern pattern;
  std::vector<float> values;
  std::vector<Vec3> x;
  std::vector<Quat> rotations;
  std::vector<Mat3> stretches;
  FreeTurns turns;
};

double Inner(const std::vector<Vec3>& a, const std::vector<Vec3>& b) {
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
  std::vector<Vec3> b = ToVec3s(c.random.Vectors(c.shape.num_nodes(), 1.0));
  for (size_t i = 0; i < b.size(); ++i) {
    if (c.pinned[i] != 0) b[i] = {};
  }
  std::vector<Vec3> d = b, back(b.size());
  c.turns.Substitute(c.pattern, c.values, d);
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
    std::vector<Vec3> plain(c.shape.num_nodes()), turned(c.shape.num_nodes());
    plain[j] = turned[j] = q;
    Substitute(c.pattern, c.values, plain);
    c.turns.Substitute(c.pattern, c.values, turned);
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
    const std::vector<Vec3> d = ToVec3s(motion);
    std::vector<Vec3> free(d.size()), full(d.size());
    c.turns.Multiply(c.system, d, free);
    MultiplySystem(c.system, d, full);
    double inertia = 0.0;
    for (size_t i = 0; i < d.size(); ++i) {
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

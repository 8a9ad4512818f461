// SPDX-License-Identifier: MIT
#include "plush/format/tet_block.h"

#include "elasticity/element_pass.h"
#include "runtime/solver_fixtures.h"
#include "solver/system_matrix.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

using namespace plush;
using namespace plush::test;

namespace {

constexpr float kDt = 0.01f;

// A body in some state, with its factor and its turns.
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

  // Prepares for the rest shape rotated by R and strained by `strain`.
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

TEST_CASE("Bodies hinged at a node turn together, separate ones alone, in any order of nodes") {
  // Two similar tets with one node in common (`apart` = 0) or none (`apart` = 1).
  const uint32_t apart = GENERATE(0u, 1u);
  tools::TetMesh mesh = SingleTet(0.1);
  const auto& first = mesh.nodes;
  const size_t last = mesh.nodes.size() - 1;  // the node in common
  for (size_t i = 0; i < 4; ++i) {
    if (apart == 0 && i == last) continue;
    auto mirrored = first[last] + (first[last] - first[i]) * 0.7;
    mirrored.x += 0.3 * apart;
    mesh.nodes.push_back(mirrored);
  }
  mesh.tets.push_back(apart == 0 ? std::array<uint32_t, 4>{4, 6, 5, 3}
                                 : std::array<uint32_t, 4>{4, 6, 5, 7});
  const ShapeAsset shape(mesh, {1.0e7, 0.4, 1000.0}, double(kDt));
  const auto num_nodes = static_cast<uint32_t>(shape.num_nodes());
  const std::vector<uint8_t> free(num_nodes, 0);
  SystemView system = SystemOf(shape, kDt);
  system.pinned = free;
  SystemFactor factor(shape);
  factor.Factorise(system);
  RotationArray rotations(shape.num_blocks());
  const auto baked = shape.simulation().tets;
  for (size_t k = 0; k < 16; ++k) {
    // The components must not depend on a node's place in a tet.
    std::vector<Tet> tets(baked.begin(), baked.end());
    for (size_t t = 0; t < 2; ++t) {
      for (size_t turn = 0; turn < (t == 0 ? k % 4 : k / 4); ++turn) {
        tets[t] = {tets[t].b, tets[t].c, tets[t].d, tets[t].a};
      }
    }
    FreeTurns turns;
    REQUIRE(turns.Allocate(DefaultAllocator(), tets, num_nodes));
    turns.Prepare(system, factor.panels(), factor.workspace, rotations.view(), {});
    // Two nodes are coupled if and only if they are in the same component.
    for (uint32_t i = 0; i < num_nodes; ++i) {
      for (uint32_t j = 0; j < num_nodes; ++j) {
        const auto has = [&](const Tet& t) {
          const auto holds = [&](uint32_t n) {
            return t.a == n || t.b == n || t.c == n || t.d == n;
          };
          return holds(i) && holds(j);
        };
        const bool together = apart == 0 || has(tets[0]) || has(tets[1]);
        float most = 0.0f;
        for (const Vec3& p : {Vec3{1, 0, 0}, Vec3{0, 1, 0}, Vec3{0, 0, 1}}) {
          for (const Vec3& q : {Vec3{1, 0, 0}, Vec3{0, 1, 0}, Vec3{0, 0, 1}}) {
            most = std::max(most, std::fabs(turns.Coupling(i, p, j, q)));
          }
        }
        CAPTURE(apart, k, i, j);
        CHECK((most > 0.0f) == together);
      }
    }
  }
}

TEST_CASE("Inertia alone resists a turn, stiffness and inertia a strain") {
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
  CHECK(turned[0] == Approx(turned[2]).epsilon(0.03));
  const Eigen::Vector3d strained = resistances(0.1 * centred);
  CHECK(strained[0] == Approx(strained[1]).epsilon(1e-3));
}

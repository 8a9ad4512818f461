// SPDX-License-Identifier: MIT
// The contact solve against the dense equations in double precision: a displacement that meets the
// conditions of Signorini and Coulomb is the solution.
#include "contact/plane_contacts.h"
#include "runtime/solver_fixtures.h"
#include "skip.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <vector>

using namespace plush;
using namespace plush::test;

namespace {

constexpr float kDt = 0.01f;
constexpr double kSize = 0.4;    // of the bodies [m]
constexpr float kNoSlop = 1.0f;  // contacts correct all depths

// A body at y with a right-hand side that presses it onto random planes.
struct Case {
  explicit Case(uint32_t seed)
      : random(seed),
        shape(TetBox(3, 2, 2, 0.1, 0.09, seed % 50),
              {std::exp(random.Uniform(std::log(1.0e4), std::log(1.0e7))), 0.4, 1000.0},
              double(kDt)),
        model(shape.asset()),
        pinned(shape.num_nodes(), 0),
        factor(shape) {
    for (const uint32_t node : random.Nodes(shape.num_nodes(), random.Uniform(0.0, 0.1))) {
      pinned[node] = 1;
      model.pinned[node] = true;
    }
    system.system = SystemOf(shape, kDt);
    system.system.pinned = pinned;
    Refactor(1);
    const Points rest = ToEigen(shape.rest());
    const Eigen::Index n = rest.cols();
    const Points at = rest + random.Vectors(shape.num_nodes(), 0.004);
    y = ToNodeVecs(at);
    x = ToNodeVecs(at - random.Vectors(shape.num_nodes(), 0.004));
    // A fall, a turn and a shake; all in the range of what a step changes.
    const Eigen::Vector3d fall = random.Direction() * 3.0e-3, turn = random.Direction() * 0.02;
    Points b = random.Vectors(shape.num_nodes(), 1.0e-3);
    for (Eigen::Index i = 0; i < n; ++i) {
      const Eigen::Vector3d moved = fall + turn.cross(rest.col(i)) + b.col(i);
      b.col(i) = pinned[static_cast<size_t>(i)] != 0 ? Eigen::Vector3d::Zero().eval()
                                                     : (model.masses[i] * moved).eval();
    }
    rhs = ToNodeVecs(b);
    A = DenseSystem(model, double(kDt));
  }

  void Refactor(uint64_t id) {
    factor.Factorise(system.system);
    system.factor = factor.panels();
    system.workspace = factor.workspace;
    system.id = id;
  }

  // A plane that some nodes of y lie below, and where its material moves.
  void AddPlane(float friction) {
    const Eigen::Vector3d normal = random.Direction();
    std::vector<double> heights;
    for (size_t i = 0; i < shape.num_nodes(); ++i) heights.push_back(normal.dot(ToEigen(y[i])));
    std::sort(heights.begin(), heights.end());
    LocalPlane plane;
    plane.normal = ToVec3(normal);
    plane.offset = static_cast<float>(heights[random.Below(6)] + random.Uniform(-1e-3, 1e-3));
    plane.friction = friction;
    plane.shift = ToVec3(random.Vector(1.0e-3));
    plane.turn = ToVec3(random.Vector(1.0e-3));
    plane.start_normal = plane.normal;
    plane.start_offset = plane.offset + static_cast<float>(random.Uniform(-1e-3, 1e-3));
    planes.push_back(plane);
    REQUIRE(state.Reserve(DefaultAllocator(), static_cast<uint32_t>(shape.num_nodes()),
                          static_cast<uint32_t>(planes.size())));
  }

  ContactSolveStats Solve(int sweeps) {
    const std::span<const NodeVec> at(y);
    d.resize(shape.num_nodes() + 1);
    const std::span<const NodeVec> start(x);
    return SolveWithContacts(
        system, {planes, start.first(shape.num_nodes()), at, rhs, 1.0e-7f, slop, 0.0f, sweeps},
        &state, d);
  }

  // What the contacts' nodes get beyond b, by the dense matrix.
  Points Impulses() const {
    const Points moved = ToEigen(d), b = ToEigen(rhs);
    const Eigen::VectorXd sums = A * Eigen::Map<const Eigen::VectorXd>(moved.data(), moved.size()) -
                                 Eigen::Map<const Eigen::VectorXd>(b.data(), b.size());
    return Eigen::Map<const Points>(sums.data(), 3, moved.cols());
  }

  double StartGap(const LocalPlane& plane, size_t node) const {
    return ToEigen(plane.start_normal).dot(ToEigen(x[node])) - double(plane.start_offset);
  }
  // From where the node may be.
  double GapOf(const LocalPlane& plane, size_t node) const {
    return ToEigen(plane.normal).dot(ToEigen(y[node]) + ToEigen(d[node])) - double(plane.offset) +
           std::max(-StartGap(plane, node) - double(slop), 0.0);
  }
  double LowestGap() const {
    double lowest = 1.0;
    for (const LocalPlane& plane : planes) {
      for (size_t i = 0; i < shape.num_nodes(); ++i) {
        if (pinned[i] == 0) lowest = std::min(lowest, GapOf(plane, i));
      }
    }
    return lowest;
  }
  // Displacement in the substep along the plane, relative to its material.
  Eigen::Vector3d SlipOf(const PlaneContact& contact) const {
    const LocalPlane& plane = planes[contact.plane];
    const size_t i = contact.node;
    const Eigen::Vector3d n = ToEigen(plane.normal), at = ToEigen(x[i]);
    const Eigen::Vector3d moved =
        ToEigen(y[i]) + ToEigen(d[i]) - at - ToEigen(plane.shift) - ToEigen(plane.turn).cross(at);
    return moved - n * n.dot(moved);
  }

  float slop = kNoSlop;
  Random random;
  ShapeAsset shape;
  DenseModel model;
  std::vector<uint8_t> pinned;
  std::vector<NodeVec> x, y, rhs, d;
  SystemFactor factor;
  FactoredSystem system;
  std::vector<LocalPlane> planes;
  ContactState state;
  Eigen::MatrixXd A;
};

// Checks that d answers b and the contacts' impulses, that no node lies below a plane, and that
// impulses push. Returns the largest normal impulse.
double CheckSolved(const Case& c) {
  Points missing = c.Impulses();
  double largest = 0.0;
  for (const PlaneContact& contact : c.state.Current()) {
    missing.col(contact.node) -= ToEigen(contact.impulse);
    const double normal = ToEigen(c.planes[contact.plane].normal).dot(ToEigen(contact.impulse));
    CHECK(normal > 0.0);
    largest = std::max(largest, normal);
  }
  for (size_t i = 0; i < c.pinned.size(); ++i) {
    if (c.pinned[i] != 0) missing.col(static_cast<Eigen::Index>(i)).setZero();
  }
  CHECK(missing.norm() < 1e-4 * (ToEigen(c.rhs).norm() + largest));
  CHECK(c.LowestGap() > -1e-5 * kSize);
  return largest;
}

}  // namespace

TEST_CASE("Without friction, contacts meet Signorini's condition in random problems") {
  const int count = tests::FullTests() ? 10000 : 400;
  size_t contacts = 0, most = 0;
  for (int k = 0; k < count; ++k) {
    Case c(static_cast<uint32_t>(k));
    CAPTURE(k);
    const uint32_t num_planes = 1 + c.random.Below(3);
    for (uint32_t p = 0; p < num_planes; ++p) c.AddPlane(0.0f);
    const ContactSolveStats stats = c.Solve(4096);
    CHECK(!stats.is_over_full);
    const double largest = CheckSolved(c);
    for (const PlaneContact& contact : c.state.Current()) {
      const LocalPlane& plane = c.planes[contact.plane];
      const Eigen::Vector3d impulse = ToEigen(contact.impulse), n = ToEigen(plane.normal);
      CHECK((impulse - n * n.dot(impulse)).norm() <= 1e-6 * largest);
      CHECK(std::fabs(c.GapOf(plane, contact.node)) < 1e-5 * kSize);
    }
    contacts += c.state.num_contacts;
    most = std::max<size_t>(most, c.state.num_contacts);
  }
  std::printf("%d problems without friction, seeds from 0: %zu contacts, at most %zu\n", count,
              contacts, most);
  CHECK(contacts > static_cast<size_t>(3 * count));
  CHECK(most > 10);
}

TEST_CASE("With friction, contacts stick inside the cone and slide against it in random problems") {
  const int count = tests::FullTests() ? 3000 : 300;
  size_t sticking = 0, sliding = 0;
  for (int k = 0; k < count; ++k) {
    Case c(static_cast<uint32_t>(100000 + k));
    CAPTURE(k);
    const uint32_t num_planes = 1 + c.random.Below(3);
    for (uint32_t p = 0; p < num_planes; ++p) {
      c.AddPlane(static_cast<float>(c.random.Uniform(0.0, 1.0)));
    }
    c.slop = 1.0e-6f;
    for (int solve = 0; solve < 2; ++solve) c.Solve(4096);
    const double largest = CheckSolved(c);
    for (const PlaneContact& contact : c.state.Current()) {
      const LocalPlane& plane = c.planes[contact.plane];
      const Eigen::Vector3d impulse = ToEigen(contact.impulse), n = ToEigen(plane.normal);
      const double normal = n.dot(impulse), cone = double(plane.friction) * normal;
      const Eigen::Vector3d friction = impulse - n * normal, slip = c.SlipOf(contact);
      CAPTURE(contact.node, contact.plane, cone, friction.norm(), slip.norm());
      CHECK(std::fabs(c.GapOf(plane, contact.node)) < 1e-4 * kSize);
      CHECK(friction.norm() <= 1.00001 * cone + 1e-6 * largest);
      if (friction.norm() < 0.999 * cone) {
        CHECK(slip.norm() < 1e-4 * kSize);
        ++sticking;
      } else if (slip.norm() > 1e-4 * kSize && cone > 1e-4 * largest) {
        CHECK(friction.dot(slip) < -0.99 * friction.norm() * slip.norm());
        ++sliding;
      }
    }
  }
  std::printf("%d problems with friction, seeds from 100000: %zu contacts stick, %zu slide\n",
              count, sticking, sliding);
  CHECK(sticking > static_cast<size_t>(count) / 10);
  CHECK(sliding > static_cast<size_t>(count));
}

TEST_CASE("With high friction and in wedges, bodies stay above planes and friction brakes") {
  const int sweeps = GENERATE(8, 512);
  double deepest = 0.0;
  for (int k = 0; k < 300; ++k) {
    Case c(static_cast<uint32_t>(200000 + k));
    CAPTURE(sweeps, k);
    const uint32_t num_planes = 1 + c.random.Below(4);
    for (uint32_t p = 0; p < num_planes; ++p) {
      c.AddPlane(static_cast<float>(c.random.Uniform(0.0, 5.0)));
      c.planes.back().shift = c.planes.back().turn = {};  // moving ones can jam
      c.planes.back().start_offset = c.planes.back().offset;
    }
    c.slop = 1.0e-6f;
    for (int solve = 0; solve < 3; ++solve) CHECK(c.Solve(sweeps).sweeps <= sweeps);
    double largest = 0.0;
    for (const PlaneContact& contact : c.state.Current()) {
      largest = std::max(largest, ToEigen(contact.impulse).norm());
    }
    for (const PlaneContact& contact : c.state.Current()) {
      const Eigen::Vector3d impulse = ToEigen(contact.impulse);
      const Eigen::Vector3d n = ToEigen(c.planes[contact.plane].normal);
      REQUIRE(impulse.allFinite());
      CHECK(n.dot(impulse) > 0.0);
      const Eigen::Vector3d friction = impulse - n * n.dot(impulse), slip = c.SlipOf(contact);
      CHECK(friction.dot(slip) < 1e-4 * kSize * largest);
    }
    REQUIRE(ToEigen(c.d).allFinite());
    deepest = std::max(deepest, -c.LowestGap());
  }
  std::printf("300 problems with friction up to 5, %d sweeps: %.1e of the size deep\n", sweeps,
              deepest / kSize);
  CHECK(deepest < (sweeps == 8 ? 2e-2 : 1e-4) * kSize);
}

TEST_CASE("Couplings of touching nodes are those of the dense inverse, whatever touched before") {
  Case c(7);
  const uint32_t n = static_cast<uint32_t>(c.shape.num_nodes());
  NodeCouplings couplings;
  REQUIRE(couplings.Allocate(DefaultAllocator(), n));
  Eigen::MatrixXd inverse = c.A.inverse();
  double worst = 0.0;
  size_t dropped = 0;
  for (uint32_t round = 0; round < 60; ++round) {
    if (round % 7 == 6) {
      c.system.system.dt = kDt * static_cast<float>(c.random.Uniform(0.5, 2.0));
      c.Refactor(2 + round);
      inverse = DenseSystem(c.model, double(c.system.system.dt)).inverse();
    }
    std::vector<uint32_t> nodes;
    const double share = c.random.Uniform(0.05, round % 3 == 0 ? 1.0 : 0.3);
    for (const uint32_t node : c.random.Nodes(n, share)) {
      if (c.pinned[node] == 0) nodes.push_back(node);
    }
    std::sort(nodes.begin(), nodes.end());
    if (round % 2 == 0 && !nodes.empty()) nodes.push_back(nodes.back());  // touches two planes
    const uint32_t before = couplings.num_slots;
    couplings.Find(c.system, nodes);
    if (couplings.num_slots < before) ++dropped;
    for (const uint32_t a : nodes) {
      REQUIRE(couplings.slot_of_node[a] < couplings.num_slots);
      REQUIRE(couplings.node_of_slot[couplings.slot_of_node[a]] == a);
      for (const uint32_t b : nodes) {
        const double exact = inverse(3 * a, 3 * b);
        const double found =
            double(couplings.Row(couplings.slot_of_node[a])[couplings.slot_of_node[b]]);
        worst = std::max(worst, std::fabs(found - exact) / inverse(3 * a, 3 * a));
      }
    }
  }
  std::printf("couplings, 60 sets: %.1e off the dense inverse, slots dropped %zu times\n", worst,
              dropped);
  CHECK(worst < 1e-4);
  CHECK(dropped > 3);
}

TEST_CASE("If more nodes touch than there is room for, the deepest ones do not sink") {
  const ShapeAsset shape(TetBox(20, 1, 20, 0.1), {1.0e5, 0.3, 1000.0}, double(kDt));
  const uint32_t n = static_cast<uint32_t>(shape.num_nodes());
  const size_t most = MostTouchingNodes(n);
  REQUIRE(most < 21 * 21);
  SystemFactor factor(shape);
  const std::vector<uint8_t> pinned(n, 0);
  FactoredSystem system;
  system.system = SystemOf(shape, kDt);
  system.system.pinned = pinned;
  factor.Factorise(system.system);
  system.factor = factor.panels();
  system.workspace = factor.workspace;
  system.id = 1;
  std::vector<NodeVec> y = ToNodeVecs(shape.rest()), rhs(n + 1), d(n + 1);
  for (uint32_t i = 0; i < n; ++i) rhs[i].y = -1.0e-3f * shape.simulation().masses[i];
  // Lower on one side.
  for (uint32_t i = 0; i < n; ++i) y[i].y += 1.0e-4f * y[i].x;
  const LocalPlane plane = {{0.0f, 1.0f, 0.0f}, 0.0f, 0.5f, {}, {}};
  ContactState state;
  REQUIRE(state.Reserve(DefaultAllocator(), n, 1));
  const std::span<const NodeVec> at(y);
  const ContactSolveStats stats = SolveWithContacts(
      system, {{&plane, 1}, at.first(n), at, rhs, 1.0e-6f, kNoSlop, 0.0f, 64}, &state, d);
  CHECK(stats.is_over_full);
  CHECK(state.num_contacts <= most);
  CHECK(state.num_contacts > most / 2);
  for (uint32_t i = 0; i < n; ++i) {
    if (at[i].x < 0.35f) CHECK(at[i].y + d[i].y > -1.0e-5f);
  }
}

TEST_CASE("Sweeps may move frictionless nodes along their one plane, others not at all") {
  const float friction = GENERATE(0.0f, 0.3f);
  CAPTURE(friction);
  const LocalPlane planes[] = {{{1.0f, 0.0f, 0.0f}, 0.0f, friction, {}, {}},
                               {{0.0f, 0.6f, 0.8f}, 0.0f, friction, {}, {}}};
  ContactState state;
  REQUIRE(state.Reserve(DefaultAllocator(), 6, 2));
  state.contacts[0] = {.node = 1, .plane = 1};
  state.contacts[1] = {.node = 3, .plane = 0};
  state.contacts[2] = {.node = 3, .plane = 1};
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

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
#include <utility>
#include <vector>

using namespace plush;
using namespace plush::test;

namespace {

constexpr float kDt = 0.01f;
constexpr double kSize = 0.4;    // of the bodies [m]
constexpr float kNoSlop = 1.0f;  // contacts correct all depths

// What of a body touches.
enum class Touching { kNodes, kVertices };

// A body at y with a right-hand side that presses it onto random planes.
struct Case {
  explicit Case(uint32_t seed, Touching kind = Touching::kNodes)
      : touching(kind),
        random(seed),
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
    if (touching == Touching::kVertices) AddVertices();
    for (uint32_t id = 0; id < surface().num_points(); ++id) {
      const EmbeddedPoint point = surface().Point(id);
      if (Movable(point) >= double(kLeastMovable)) points.push_back(point);
    }
  }

  // Gives half of all tets a patch of random vertices.
  void AddVertices() {
    for (uint32_t t = 0; t < shape.elements().tets.size(); t += 2) {
      const Tet& tet = shape.elements().tets[t];
      CdgTet record = {{tet.a, tet.b, tet.c, tet.d}, t, static_cast<uint32_t>(patches.size())};
      std::sort(std::begin(record.nodes), std::end(record.nodes));
      CdgPatch patch;
      patch.tet = static_cast<uint32_t>(tets.size());
      patch.first_vertex = static_cast<uint32_t>(vertices.size());
      patch.first_triangle = static_cast<uint32_t>(triangles.size());
      float low[4] = {1.0f, 1.0f, 1.0f, 1.0f}, high[4] = {};
      for (uint32_t k = 1 + random.Below(6); k > 0; --k) {
        double w[4], sum = 0.0;
        for (double& weight : w) sum += weight = random.Uniform(0.0, 1.0);
        // Some lie on a face.
        if (random.Below(3) == 0) sum -= std::exchange(w[random.Below(4)], 0.0);
        vertices.push_back(
            {float(w[0] / sum), float(w[1] / sum), float(w[2] / sum), float(w[3] / sum)});
        for (size_t i = 0; i < 4; ++i) {
          low[i] = std::min(low[i], float(w[i] / sum));
          high[i] = std::max(high[i], float(w[i] / sum));
        }
        const auto id = static_cast<uint32_t>(vertices.size()) - 1;
        const BarycentricBox all = {{}, {1.0f, 1.0f, 1.0f, 1.0f}};
        triangles.push_back(PackTriangle({{id, id, id}, {}, QuantiseBounds(all)}));
      }
      record.low = {low[0], low[1], low[2], low[3]};
      record.high = {high[0], high[1], high[2], high[3]};
      tets.push_back(record);
      patches.push_back(patch);
    }
    collision.tets = tets;
    collision.patches = patches;
    collision.vertices = vertices;
    collision.triangles = triangles;
  }

  TouchingSurface surface() const { return {&collision, pinned}; }
  static double Movable(const EmbeddedPoint& point) {
    return double(point.free[0]) + double(point.free[1]) + double(point.free[2]) +
           double(point.free[3]);
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
    for (const EmbeddedPoint& point : points) heights.push_back(normal.dot(ToEigen(point.Of(y))));
    std::sort(heights.begin(), heights.end());
    LocalPlane plane;
    plane.normal = ToVec3(normal);
    plane.offset = static_cast<float>(heights[random.Below(touching == Touching::kNodes ? 6 : 12)] +
                                      random.Uniform(-1e-3, 1e-3));
    plane.friction = friction;
    plane.shift = ToVec3(random.Vector(1.0e-3));
    plane.turn = ToVec3(random.Vector(1.0e-3));
    plane.start_normal = plane.normal;
    plane.start_offset = plane.offset + static_cast<float>(random.Uniform(-1e-3, 1e-3));
    planes.push_back(plane);
    REQUIRE(state.Reserve(DefaultAllocator(), tets.size(), static_cast<uint32_t>(shape.num_nodes()),
                          false, static_cast<uint32_t>(planes.size())));
  }

  ContactProblem Problem(int sweeps) const {
    const std::span<const NodeVec> start(x);
    return {.planes = planes,
            .surface = surface(),
            .x = start.first(shape.num_nodes()),
            .y = y,
            .b = rhs,
            .tolerance = 1.0e-7f,
            .slop = slop,
            .reach = 0.02f,
            .sweeps = sweeps};
  }
  ContactSolveStats Solve(int sweeps) {
    d.resize(shape.num_nodes() + 1);
    return SolveWithContacts(system, Problem(sweeps), &state, d);
  }

  // In as many solves as are needed to know all points that touch.
  ContactSolveStats SolveWell(int sweeps) {
    ContactSolveStats stats = Solve(sweeps);
    for (int k = 0; k < 20 && LowestGap() < -1e-6 * kSize; ++k) stats = Solve(sweeps);
    return stats;
  }

  // What the contacts' nodes get beyond b, by the dense matrix.
  Points Impulses() const {
    const Points moved = ToEigen(d), b = ToEigen(rhs);
    const Eigen::VectorXd sums = A * Eigen::Map<const Eigen::VectorXd>(moved.data(), moved.size()) -
                                 Eigen::Map<const Eigen::VectorXd>(b.data(), b.size());
    return Eigen::Map<const Points>(sums.data(), 3, moved.cols());
  }

  // From where the point may be.
  double GapOf(const LocalPlane& plane, const EmbeddedPoint& point) const {
    const double start =
        ToEigen(plane.start_normal).dot(ToEigen(point.Of(x))) - double(plane.start_offset);
    return ToEigen(plane.normal).dot(ToEigen(point.Of(y)) + ToEigen(point.Of(d))) -
           double(plane.offset) + std::max(-start - double(slop), 0.0);
  }
  double LowestGap() const {
    double lowest = 1.0;
    for (const LocalPlane& plane : planes) {
      for (const EmbeddedPoint& point : points) lowest = std::min(lowest, GapOf(plane, point));
    }
    return lowest;
  }
  // Displacement in the substep along the plane, relative to its material.
  Eigen::Vector3d SlipOf(const PlaneContact& contact) const {
    const LocalPlane& plane = planes[contact.plane];
    const EmbeddedPoint& point = state.PointOf(contact);
    const Eigen::Vector3d n = ToEigen(plane.normal), at = ToEigen(point.Of(x));
    const Eigen::Vector3d moved = ToEigen(point.Of(y)) + ToEigen(point.Of(d)) - at -
                                  ToEigen(plane.shift) - ToEigen(plane.turn).cross(at);
    return moved - n * n.dot(moved);
  }

  Touching touching;
  float slop = kNoSlop;
  Random random;
  ShapeAsset shape;
  DenseModel model;
  std::vector<uint8_t> pinned;
  std::vector<NodeVec> x, y, rhs, d;
  // The surface, if any.
  std::vector<CdgTet> tets;
  std::vector<CdgPatch> patches;
  std::vector<CdgTriangle> triangles;
  std::vector<Vec4> vertices;
  CollisionView collision;
  std::vector<EmbeddedPoint> points;  // that contacts can move
  SystemFactor factor;
  FactoredSystem system;
  std::vector<LocalPlane> planes;
  ContactState state;
  Eigen::MatrixXd A;
};

// Checks that d answers b and the contacts' impulses, that no point lies below a plane, and that
// impulses push. Returns the largest normal impulse.
double CheckSolved(const Case& c) {
  Points missing = c.Impulses();
  double largest = 0.0;
  for (const PlaneContact& contact : c.state.Current()) {
    const EmbeddedPoint& point = c.state.PointOf(contact);
    for (int k = 0; k < 4; ++k) {
      missing.col(point.nodes[k]) -= double(point.free[k]) * ToEigen(contact.impulse);
    }
    const double normal = ToEigen(c.planes[contact.plane].normal).dot(ToEigen(contact.impulse));
    CHECK(normal > 0.0);
    largest = std::max(largest, normal);
  }
  for (size_t i = 0; i < c.pinned.size(); ++i) {
    if (c.pinned[i] != 0) missing.col(static_cast<Eigen::Index>(i)).setZero();
  }
  CHECK(missing.norm() < 1e-4 * (ToEigen(c.rhs).norm() + largest));
  CHECK(c.LowestGap() > -2e-5 * kSize);
  return largest;
}

}  // namespace

TEST_CASE("Without friction, contacts meet Signorini's condition in random problems") {
  const int count = tests::FullTests() ? 10000 : 400;
  size_t contacts = 0, most = 0;
  const auto touching = GENERATE(Touching::kNodes, Touching::kVertices);
  for (int k = 0; k < count; ++k) {
    Case c(static_cast<uint32_t>(k), touching);
    CAPTURE(k);
    const uint32_t num_planes = 1 + c.random.Below(3);
    for (uint32_t p = 0; p < num_planes; ++p) c.AddPlane(0.0f);
    const ContactSolveStats stats = c.SolveWell(4096);
    CHECK(!stats.is_over_full);
    const double largest = CheckSolved(c);
    for (const PlaneContact& contact : c.state.Current()) {
      const LocalPlane& plane = c.planes[contact.plane];
      const Eigen::Vector3d impulse = ToEigen(contact.impulse), n = ToEigen(plane.normal);
      CHECK((impulse - n * n.dot(impulse)).norm() <= 1e-6 * largest);
      // Points of one tet depend on each other more than nodes, and float shows it.
      const double most_gap = (touching == Touching::kNodes ? 2e-5 : 5e-5) * kSize;
      CHECK(std::fabs(c.GapOf(plane, c.state.PointOf(contact))) < most_gap);
    }
    contacts += c.state.num_contacts;
    most = std::max<size_t>(most, c.state.num_contacts);
  }
  std::printf("%d problems without friction, seeds from 0: %zu contacts, at most %zu\n", count,
              contacts, most);
  CHECK(contacts > static_cast<size_t>(2 * count));
  CHECK(most > 5);
}

TEST_CASE("With friction, contacts stick inside the cone and slide against it in random problems") {
  const int count = tests::FullTests() ? 3000 : 300;
  size_t sticking = 0, sliding = 0;
  int unsolved = 0;
  const auto touching = GENERATE(Touching::kNodes, Touching::kVertices);
  for (int k = 0; k < count; ++k) {
    Case c(static_cast<uint32_t>(100000 + k), touching);
    CAPTURE(k);
    const uint32_t num_planes = 1 + c.random.Below(3);
    for (uint32_t p = 0; p < num_planes; ++p) {
      c.AddPlane(static_cast<float>(c.random.Uniform(0.0, 1.0)));
    }
    c.slop = 1.0e-6f;
    for (int solve = 0; solve < 2; ++solve) c.SolveWell(4096);
    const double largest = CheckSolved(c);
    bool is_solved = true;
    for (const PlaneContact& contact : c.state.Current()) {
      const LocalPlane& plane = c.planes[contact.plane];
      const Eigen::Vector3d impulse = ToEigen(contact.impulse), n = ToEigen(plane.normal);
      const double normal = n.dot(impulse), cone = double(plane.friction) * normal;
      const Eigen::Vector3d friction = impulse - n * normal, slip = c.SlipOf(contact);
      CAPTURE(contact.slot, contact.plane, cone, friction.norm(), slip.norm());
      CHECK(std::fabs(c.GapOf(plane, c.state.PointOf(contact))) < 1e-4 * kSize);
      is_solved = is_solved && friction.norm() <= 1.0001 * cone + 1e-6 * largest;
      if (friction.norm() < 0.999 * cone) {
        is_solved = is_solved && slip.norm() < 1e-4 * kSize;
        ++sticking;
      } else if (slip.norm() > 1e-4 * kSize && cone > 1e-4 * largest) {
        CHECK(friction.dot(slip) < -0.99 * friction.norm() * slip.norm());
        ++sliding;
      }
    }
    unsolved += is_solved ? 0 : 1;
  }
  std::printf(
      "%d problems with friction, seeds from 100000: %zu contacts stick, %zu slide, %d cases "
      "whose cones go in circles\n",
      count, sticking, sliding, unsolved);
  // Their impulses are those of cones that no longer follow.
  CHECK(unsolved <= count / 60);
  CHECK(sticking > static_cast<size_t>(count) / 10);
  CHECK(sliding > static_cast<size_t>(count));
}

TEST_CASE("With high friction and in wedges, bodies stay above planes and friction brakes") {
  const int sweeps = GENERATE(8, 512);
  const auto touching = GENERATE(Touching::kNodes, Touching::kVertices);
  double deepest = 0.0;
  for (int k = 0; k < 300; ++k) {
    Case c(static_cast<uint32_t>(200000 + k), touching);
    CAPTURE(sweeps, k);
    const uint32_t num_planes = 1 + c.random.Below(4);
    for (uint32_t p = 0; p < num_planes; ++p) {
      c.AddPlane(static_cast<float>(c.random.Uniform(0.0, 5.0)));
      c.planes.back().shift = c.planes.back().turn = {};  // moving ones can jam
      c.planes.back().start_offset = c.planes.back().offset;
    }
    c.slop = 1.0e-6f;
    for (int solve = 0; solve < 3; ++solve) CHECK(c.SolveWell(sweeps).sweeps <= sweeps);
    double largest = 0.0;
    for (const PlaneContact& contact : c.state.Current()) {
      largest = std::max(largest, ToEigen(contact.impulse).norm());
    }
    for (const PlaneContact& contact : c.state.Current()) {
      const Eigen::Vector3d impulse = ToEigen(contact.impulse);
      const Eigen::Vector3d n = ToEigen(c.planes[contact.plane].normal);
      REQUIRE(impulse.allFinite());
      CHECK(n.dot(impulse) >= -1e-6 * largest);
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

TEST_CASE("Couplings of points are those of the dense inverse, whatever touched before") {
  Case c(7, Touching::kVertices);
  PointCouplings couplings;
  REQUIRE(couplings.Allocate(DefaultAllocator(), static_cast<uint32_t>(c.shape.num_nodes())));
  Eigen::MatrixXd inverse = c.A.inverse();
  const auto exact = [&](const EmbeddedPoint& a, const EmbeddedPoint& b) {
    double sum = 0.0;
    for (int i = 0; i < 4; ++i) {
      for (int j = 0; j < 4; ++j) {
        const double value = inverse(3 * a.nodes[i], 3 * b.nodes[j]);
        sum += double(a.free[i]) * double(b.free[j]) * value;
      }
    }
    return sum;
  };
  double worst = 0.0;
  for (uint32_t round = 0; round < 60; ++round) {
    if (round % 7 == 6) {
      c.system.system.dt = kDt * static_cast<float>(c.random.Uniform(0.5, 2.0));
      c.Refactor(2 + round);
      inverse = DenseSystem(c.model, double(c.system.system.dt)).inverse();
    }
    for (uint32_t k = 0; k < couplings.num_slots; ++k) {
      couplings.new_slots[k] = c.random.Below(3) > 0 ? 0 : PointCouplings::kNoSlot;
    }
    couplings.Keep();
    for (uint32_t k = 1 + c.random.Below(12); k > 0; --k) {
      const EmbeddedPoint& point = c.points[c.random.Below(static_cast<uint32_t>(c.points.size()))];
      const uint32_t slot = couplings.SlotAt(point);
      if (slot != PointCouplings::kNoSlot) {
        CHECK(couplings.points[slot].id == point.id);
      } else if (couplings.num_slots < couplings.points.size()) {
        couplings.Add(point);
      }
    }
    couplings.Find(c.system);
    REQUIRE(couplings.num_known == couplings.num_slots);
    for (uint32_t i = 0; i < couplings.num_slots; ++i) {
      const EmbeddedPoint& a = couplings.points[i];
      for (uint32_t j = 0; j < couplings.num_slots; ++j) {
        const double found = double(couplings.Row(i)[j]);
        worst = std::max(worst, std::fabs(found - exact(a, couplings.points[j])) / exact(a, a));
      }
    }
  }
  std::printf("couplings, 60 sets: %.1e off the dense inverse\n", worst);
  CHECK(worst < 1e-4);
}

TEST_CASE("If more points touch than there is room for, the deepest ones do not sink") {
  const ShapeAsset shape(TetBox(20, 1, 20, 0.1), {1.0e5, 0.3, 1000.0}, double(kDt));
  const uint32_t n = static_cast<uint32_t>(shape.num_nodes());
  const size_t most = MostTouchingPoints(n);
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
  REQUIRE(state.Reserve(DefaultAllocator(), 0, n, false, 1));
  const std::span<const NodeVec> at(y);
  const CollisionView none;
  const ContactSolveStats stats = SolveWithContacts(system,
                                                    {.planes = {&plane, 1},
                                                     .surface = {&none, pinned},
                                                     .x = at.first(n),
                                                     .y = at,
                                                     .b = rhs,
                                                     .tolerance = 1.0e-6f,
                                                     .slop = kNoSlop,
                                                     .sweeps = 64},
                                                    &state, d);
  CHECK(stats.is_over_full);
  CHECK(state.num_contacts <= most);
  CHECK(state.num_contacts > most / 2);
  for (uint32_t i = 0; i < n; ++i) {
    if (at[i].x < 0.35f) CHECK(at[i].y + d[i].y > -1.0e-5f);
  }
}

TEST_CASE("Points that press come back to their places, without friction along the normal only") {
  for (uint32_t seed = 1; seed <= 40; ++seed) {
    CAPTURE(seed);
    Case c(seed, Touching::kVertices);
    const float friction = seed % 2 == 0 ? 0.5f : 0.0f;
    c.AddPlane(friction);
    const EmbeddedPoint& point = c.points[c.random.Below(static_cast<uint32_t>(c.points.size()))];
    c.state.contacts[0] = {.slot = c.state.couplings.Add(point), .plane = 0};
    c.state.num_contacts = 1;
    for (size_t i = 0; i < c.shape.num_nodes(); ++i) {
      c.y[i].w = c.pinned[i] != 0 ? 0.0f : 1.0f / c.shape.simulation().masses[i];
    }
    NotePlaces(c.y, &c.state);
    const Eigen::Vector3d place = ToEigen(point.Of(c.y));
    const Points shaken = ToEigen(c.y) + c.random.Vectors(c.shape.num_nodes(), 0.01);
    for (size_t i = 0; i < c.shape.num_nodes(); ++i) {
      if (c.pinned[i] == 0) c.y[i] = ToVec3(shaken.col(static_cast<Eigen::Index>(i)));
    }
    const std::vector<NodeVec> before = c.y;
    PutBack(c.planes, c.state, c.y);
    const Eigen::Vector3d away = ToEigen(point.Of(before)) - place;
    const Eigen::Vector3d left = ToEigen(point.Of(c.y)) - place, n = ToEigen(c.planes[0].normal);
    if (friction > 0.0f) {
      CHECK(left.norm() < 1e-6);
    } else {
      CHECK(n.dot(left) == Approx(std::max(n.dot(away), 0.0)).margin(1e-6));
      CHECK((left - away - n * n.dot(left - away)).norm() < 1e-6);
    }
    // Equal and opposite to an impulse on the point: what a node gets is in proportion to its
    // weight.
    for (size_t i = 0; i < c.shape.num_nodes(); ++i) {
      const bool carries = std::ranges::find(point.nodes, i) != std::end(point.nodes);
      if (!carries || c.pinned[i] != 0) CHECK((ToEigen(c.y[i]) - ToEigen(before[i])).norm() == 0.0);
    }
  }
}

// SPDX-License-Identifier: MIT
// Contact solves that turn a body that is free or on a hinge, against the dense equations in double
// precision.
#include "contact/attached_points.h"
#include "runtime/contact/random_contacts.h"
#include "runtime/tet_fixtures.h"
#include "sweep.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <vector>

using namespace plush;
using namespace plush::test;

namespace free_turn_test {

constexpr int kMostSweeps = 4096;

// A problem whose body is free but for pins, none to two, and how it turns.
struct FreeContacts : RandomContacts {
  explicit FreeContacts(uint32_t seed, bool is_large = false, uint32_t num_pins = 0)
      : RandomContacts(seed, Touching::kNodes, is_large) {
    std::fill(pinned.begin(), pinned.end(), uint8_t{0});
    std::fill(model.pinned.begin(), model.pinned.end(), false);
    masses = model.masses;
    while (pins.size() < num_pins) {
      const uint32_t node = random.Below(static_cast<uint32_t>(shape.num_nodes()));
      if (pinned[node] != 0) continue;
      pinned[node] = 1;
      model.pinned[node] = true;
      masses[static_cast<Eigen::Index>(node)] = 0.0;
      rhs[node] = NodeVec();
      pins.push_back(static_cast<Eigen::Index>(node));
    }
    Refactor(2);
    if (!is_large) inverse_of_A = reference::InverseOf(A = DenseSystem(model, double(kProblemDt)));
    for (size_t i = 0; i < pinned.size(); ++i) {
      const auto node = static_cast<Eigen::Index>(i);
      y[i].w = x[i].w = pinned[i] == 0 ? static_cast<float>(1.0 / model.masses[node]) : 0.0f;
    }
    if (!pins.empty()) {
      const Eigen::Vector3d at = ToEigen(y[static_cast<size_t>(pins[0])]);
      hinge.kind = num_pins == 1 ? Hinge::Kind::kPoint : Hinge::Kind::kLine;
      if (num_pins == 2) axis = (ToEigen(y[static_cast<size_t>(pins[1])]) - at).normalized();
      for (int k = 0; k < 3; ++k) hinge.at[k] = at[k], hinge.axis[k] = axis[k];
    }
    points.clear();
    for (uint32_t id = 0; id < surface().num_points(); ++id) points.push_back(surface().Point(id));
    for (uint32_t k = 1 + random.Below(3); k > 0; --k)
      AddPlane(k == 1 && seed % 2 == 0 ? 0.5f : 0.0f);
  }

  // Springs and constraints, at points that are a little off their targets.
  void Attach(uint32_t num_springs, uint32_t num_constraints) {
    const uint32_t count = num_springs + num_constraints;
    const size_t n = shape.num_nodes();
    rows.resize(count);
    REQUIRE(attached.Reserve(DefaultAllocator(), count, n));
    REQUIRE(attached.ReserveConstraints(DefaultAllocator(), num_constraints, n));
    REQUIRE(attached.springs.Reserve(DefaultAllocator(), count));
    for (uint32_t i = 0; i < count; ++i) {
      AttachedPoint& at = attached.points[i];
      at.row = i;
      at.point = points[random.Below(static_cast<uint32_t>(points.size()))];
      AttachmentRow& row = rows[i];
      row.sides[0] = {&attached, i};
      row.acts = true;
      row.most = std::numeric_limits<float>::infinity();
      row.base = ToVec3(random.Vector(1.0e-3)) - at.point.Of(y);
      row.start = ToVec3(random.Vector(1.0e-3));
      if (i < num_springs) {
        row.gain = static_cast<float>(std::exp(random.Uniform(std::log(0.1), std::log(1.0e4))));
        row.drag = 0.1f * row.gain;
      } else {
        const Eigen::Matrix3d axes = random.Rotation();
        row.num_directions = 1 + random.Below(3);
        for (uint32_t k = 0; k < 3; ++k) row.directions[k] = ToVec3(axes.col(k).eval());
      }
    }
    attached.num_points = count;
    attached.rows = rows;
    attached.x = std::span<const NodeVec>(x).first(n);
    attached.y = std::span<NodeVec>(y).first(n);
    attached.has_springs = num_springs > 0;
    attached.has_constraints = num_constraints > 0;
    attached.Find(system);
    attached.ListSprings();
    CHECK(attached.springs.num_springs == num_springs);
  }

  void SolveTurning(std::span<NodeVec> z) {
    d.resize(shape.num_nodes() + 1);
    turn = FindFreeTurn(system, std::span<const NodeVec>(y).first(shape.num_nodes()), z, hinge);
    REQUIRE(turn.acts);
    ContactSolve solve = {system, Problem(kMostSweeps), &state, d};
    if (attached.any()) solve.problem.attached = &attached;
    solve.turn = turn;
    SolveWithContacts(&solve);
    turn = solve.turn;
    sweeps = solve.stats.sweeps;
  }
  void SolveTurning() { SolveTurning(state.couplings.columns.span()); }

  Points Answer(const Points& f) const {
    Eigen::VectorXd of = Eigen::Map<const Eigen::VectorXd>(f.data(), f.size());
    for (const Eigen::Index pin : pins) of.segment<3>(3 * pin).setZero();
    return reference::Product(inverse_of_A, of).reshaped(3, f.cols());
  }

  // sum of r x f about the centre of mass or the hinge.
  Eigen::Vector3d Moment(const Points& f) const {
    Eigen::Vector3d sum = Eigen::Vector3d::Zero();
    const Points r = Arms();
    for (Eigen::Index i = 0; i < f.cols(); ++i) sum += r.col(i).cross(f.col(i));
    return sum;
  }
  Points Arms() const {
    Points at(3, static_cast<Eigen::Index>(shape.num_nodes()));
    for (Eigen::Index i = 0; i < at.cols(); ++i) at.col(i) = ToEigen(y[static_cast<size_t>(i)]);
    const Eigen::Vector3d centre =
        pins.empty() ? Eigen::Vector3d(at * masses / masses.sum()) : at.col(pins[0]).eval();
    return at.colwise() - centre;
  }
  // The velocity field of a turn, P of impulses of moment `moment`.
  Points Turned(const Eigen::Vector3d& moment) const {
    const Points r = Arms();
    Eigen::Matrix3d inertia = Eigen::Matrix3d::Zero();
    for (Eigen::Index i = 0; i < r.cols(); ++i) {
      inertia += masses[i] * (r.col(i).squaredNorm() * Eigen::Matrix3d::Identity() -
                              r.col(i) * r.col(i).transpose());
    }
    const Eigen::Vector3d turn_by =
        pins.size() == 2 ? (axis * (axis.dot(moment) / axis.dot(inertia * axis))).eval()
                         : Eigen::Vector3d(reference::SolveSymmetric(inertia, moment));
    Points out(3, r.cols());
    for (Eigen::Index i = 0; i < r.cols(); ++i) out.col(i) = turn_by.cross(r.col(i));
    return out;
  }
  Points TimesMass(const Points& v) const { return v * masses.asDiagonal(); }

  Eigen::VectorXd masses;  // 0 if pinned
  std::vector<Eigen::Index> pins;
  Hinge hinge = {};
  Eigen::Vector3d axis = Eigen::Vector3d::Zero();
  std::vector<AttachmentRow> rows;
  AttachedPoints attached;
  FreeTurn turn;
  int sweeps = 0;
};

// How far the displacements of a solve with the impulses of contacts and rows are from d = A^-1 b +
// P f + (I - P M) A^-1 (f - M P f), beside what impulses do that may be opposite to each other.
double ErrorOf(const FreeContacts& c) {
  const auto n = static_cast<Eigen::Index>(c.shape.num_nodes());
  Points f = Points::Zero(3, n), b(3, n), d(3, n), all = f;
  const auto push = [&](const EmbeddedPoint& point, const Vec3& impulse) {
    for (int k = 0; k < 4; ++k) {
      f.col(point.nodes[k]) += double(point.Free(k)) * ToEigen(impulse);
      all.col(point.nodes[k]) += double(point.Free(k)) * ToEigen(impulse).cwiseAbs();
    }
  };
  for (const PlaneContact& contact : c.state.Current()) {
    push(c.state.PointOf(contact), contact.impulse);
  }
  for (const AttachedPoint& at : c.attached.Current()) push(at.point, c.rows[at.row].impulse);
  for (Eigen::Index i = 0; i < n; ++i) {
    b.col(i) = ToEigen(c.rhs[static_cast<size_t>(i)]);
    d.col(i) = ToEigen(c.d[static_cast<size_t>(i)]);
  }
  const Points Pf = c.Turned(c.Moment(f)), rest = c.Answer(f - c.TimesMass(Pf));
  const Points wanted = c.Answer(b) + Pf + rest - c.Turned(c.Moment(c.TimesMass(rest)));
  // A rotation takes the place of the infinitesimal turn.
  const Vec3& angle = c.turn.turning.turn;
  const Mat3 change = TurnBy(angle);
  Points beyond = c.Arms();
  for (Eigen::Index i = 0; i < n; ++i) {
    const Vec3 r = ToVec3(Eigen::Vector3d(beyond.col(i)));
    beyond.col(i) = ToEigen(change * r) - ToEigen(Cross(angle, r));
  }
  return (d - wanted - beyond).norm() / (d.norm() + Pf.norm() + c.Answer(all).norm());
}

TEST_CASE("Solves answer impulses as A does, and turn a free body by their whole moment",
          "[long]") {
  const uint32_t num_pins = GENERATE(0u, 1u, 2u);
  CAPTURE(num_pins);
  const uint32_t count = num_pins == 0 ? 200 : 50;
  size_t contacts = 0, at_once = 0;
  double most_turn = 0.0;
  for (uint32_t seed = 0; seed < count; ++seed) {
    FreeContacts c(seed, false, num_pins);
    c.SolveTurning();
    const bool has_friction = seed % 2 == 0;
    if (!has_friction && c.planes.size() == 1 && c.state.num_contacts > 1 && c.sweeps <= 2) {
      ++at_once;
    }
    const double turned = double(Length(c.turn.turning.turn));
    CAPTURE(seed, turned, c.state.num_contacts);
    CHECK(ErrorOf(c) < 1e-4);
    // Thousands of sweeps between opposite planes add up rounding, so it looks once more.
    c.SolveTurning();
    for (const PlaneContact& contact : c.state.Current()) {
      const double gap = c.GapOf(c.planes[contact.collider], c.state.PointOf(contact));
      CHECK(gap > -2e-5 * kProblemSize - turned * turned * kProblemSize);
    }
    contacts += c.state.num_contacts;
    most_turn = std::max(most_turn, turned);
  }
  std::printf("%u bodies with %u pins, seeds from 0: %zu contacts, turns of at most %.3f rad\n",
              count, num_pins, contacts, most_turn);
  CHECK(contacts > 2 * count);
  CHECK(at_once >=
        (num_pins == 0 ? 5 : 1));  // 7 of 19; none if the system of normal impulses lacks the turn
  CHECK(most_turn > 0.01);
}

TEST_CASE("Springs and constraints of a body that touches turn it, too") {
  const uint32_t num_pins = GENERATE(0u, 1u), count = tests::SweepCount(100u);
  uint32_t possible = 0;
  size_t contacts = 0;
  double most_turn = 0.0;
  for (uint32_t seed = 0; seed < count; ++seed) {
    FreeContacts c(seed, false, num_pins);
    c.Attach(seed % 4, seed / 4 % 4);
    c.SolveTurning();
    const double turned = double(Length(c.turn.turning.turn));
    CAPTURE(num_pins, seed, turned, c.state.num_contacts);
    CHECK(ErrorOf(c) < 1e-4);
    contacts += c.state.num_contacts;
    most_turn = std::max(most_turn, turned);
    c.SolveTurning();
    // A plane may be in the way of what constraints ask for: impulses then grow for ever.
    const auto is_large = [&](const AttachmentRow& row) {
      return ToEigen(row.impulse).norm() > 2.0 * ToEigen(c.rhs).colwise().norm().sum();
    };
    if (std::ranges::any_of(c.rows, is_large)) continue;
    ++possible;
    // Each law, but for the turn's part of second order.
    const double far = (2e-5 + turned * turned) * kProblemSize;
    for (const AttachedPoint& at : c.attached.Current()) {
      const AttachmentRow& row = c.rows[at.row];
      const Eigen::Vector3d moved = ToEigen(at.point.Of(c.d));
      const Eigen::Vector3d way = ToEigen(row.base + at.point.Of(c.y)) + moved;
      if (row.is_constraint()) {
        for (uint32_t k = 0; k < row.num_held; ++k) {
          CHECK(std::fabs(ToEigen(row.held[k]).dot(way)) < far);
        }
        continue;
      }
      const Eigen::Vector3d law = double(row.drag) * ToEigen(row.start) - double(row.gain) * way;
      CHECK((law - ToEigen(row.impulse)).norm() < double(row.gain) * far + 1e-3 * law.norm());
    }
  }
  std::printf(
      "%u attached bodies with %u pins, seeds from 0: %zu contacts, turns of at most %.3f "
      "rad, %u possible\n",
      count, num_pins, contacts, most_turn, possible);
  CHECK(contacts > 2 * count);
  CHECK(possible > count / 2);
}

// With more than 512 nodes, new couplings overwrite what the turn needs.
TEST_CASE("Couplings that are found anew change no turn", "[long]") {
  size_t contacts = 0;
  for (uint32_t seed = 0; seed < 8; ++seed) {
    FreeContacts one(seed, true), two(seed, true);
    REQUIRE(one.shape.num_nodes() > 512);
    std::vector<NodeVec> z(one.shape.num_nodes() + 1);
    one.SolveTurning();
    two.SolveTurning(z);
    CAPTURE(seed, one.state.num_contacts);
    contacts += one.state.num_contacts;
    CHECK(ToEigen(one.d) == ToEigen(two.d));
  }
  CHECK(contacts > 20);
}

TEST_CASE("Impulses that pull points away from the centre resist a turn, others do not") {
  const uint32_t seed = GENERATE(range(1u, 101u));
  CAPTURE(seed);
  Random random(seed);
  const bool on_line = seed % 4 == 0;
  const Eigen::Matrix3d root = Eigen::Matrix3d::NullaryExpr([&] { return random.Uniform(-1, 1); });
  const Eigen::Vector3d axis = random.Vector(1.0).normalized();
  const Eigen::Matrix3d inertia = root * root.transpose() + 0.1 * Eigen::Matrix3d::Identity();
  const Eigen::Matrix3d yielding =
      on_line ? (axis * axis.transpose() / axis.dot(inertia * axis)).eval() : inertia.inverse();
  FreeTurn turn;
  const auto columns = [](const Eigen::Matrix3d& m) {
    return Mat3{ToVec3(m.col(0).eval()), ToVec3(m.col(1).eval()), ToVec3(m.col(2).eval())};
  };
  turn.yielding = columns(yielding);
  TurnResistance resistance;
  Eigen::Matrix3d change = Eigen::Matrix3d::Zero();  // of the moment, by the turn
  for (uint32_t k = seed % 5; k > 0; --k) {
    const Eigen::Vector3d r = random.Vector(1.0), p = random.Vector(seed % 3 == 0 ? 100.0 : 1.0);
    resistance.Add(ToVec3(r), ToVec3(p));
    for (int i = 0; i < 3; ++i) change.col(i) += Eigen::Vector3d::Unit(i).cross(r).cross(p);
  }
  resistance.ApplyTo(&turn);
  const Eigen::SelfAdjointEigenSolver<Eigen::Matrix3d> own(-0.5 * (change + change.transpose()));
  const Eigen::Matrix3d positive = own.eigenvectors() *
                                   own.eigenvalues().cwiseMax(0.0).asDiagonal() *
                                   own.eigenvectors().transpose();
  const double resisted = axis.dot((inertia + positive) * axis);
  const Eigen::Matrix3d right =
      on_line ? (axis * axis.transpose() / resisted).eval() : (inertia + positive).inverse();
  const double rounding = 1e-6 * (1.0 + positive.norm() * yielding.norm());
  for (const Eigen::Vector3d& moment : {random.Vector(1.0), random.Vector(1.0)}) {
    const Eigen::Vector3d found = ToEigen(turn.yielding * ToVec3(moment));
    CHECK((found - right * moment).norm() < rounding * right.norm());
  }
}

}  // namespace free_turn_test

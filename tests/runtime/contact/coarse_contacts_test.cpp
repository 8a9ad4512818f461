// SPDX-License-Identifier: MIT
// Contacts of clusters against dense matrices in double precision: how points answer impulses, and
// the impulses of coarse solves.
#include "runtime/contact/coarse_problem.h"
#include "runtime/contact/contact_laws.h"
#include "skip.h"
#include "sweep.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <vector>

using namespace plush;
using namespace plush::test;

namespace coarse_contacts_test {

Eigen::Matrix3d Dense(const Mat3& M) {
  Eigen::Matrix3d out;
  out << ToEigen(M.c0), ToEigen(M.c1), ToEigen(M.c2);
  return out;
}

// Depth of the deepest free node that moves so [sizes].
double DeepestOf(const CoarseProblem& c, const Points& moved) {
  double low = 0.0;
  for (const LocalCollider& plane : c.planes) {
    for (Eigen::Index i = 0; i < moved.cols(); ++i) {
      if (c.body.pinned[static_cast<size_t>(i)] != 0) continue;
      low = std::max(low, -c.GapOf(plane, i, moved) / c.body.size());
    }
  }
  return low;
}

TEST_CASE("Points of clusters answer impulses as J Z C^-1 Z^T J^T says") {
  const uint32_t seed = GENERATE(range(1u, 25u));
  const double young = GENERATE(1.0e4, 1.0e7);
  CAPTURE(seed, young);
  DenseClusters of(seed, young);
  const Points rhs = of.body.Impulses(1.0e-3, &of.random);
  std::vector<ClusterSums> sums = of.Sums(ToNodeVecs(rhs));
  TouchedClusters touched;
  touched.Start(of.body.level, of.body.matrix, sums, &of.responses);
  std::vector<EmbeddedPoint> points;
  std::vector<CoarsePoint> placed;
  for (int k = 0; k < 8; ++k) {
    points.push_back(of.RandomPoint());
    placed.push_back(of.Place(points.back(), &touched));
  }
  const double scale = of.inverse.topLeftCorner(3, 3).norm();
  const Eigen::MatrixXd J = of.JacobianOf(points);
  Points total = rhs;
  const auto check_places = [&] {
    const Points d = of.Displacements(total);
    const double most = d.colwise().norm().maxCoeff();
    const Points expected = reference::Product(J, d.reshaped()).reshaped(3, 8);
    for (Eigen::Index i = 0; i < 8; ++i) {
      const Vec3 found = touched.Displacement(placed[static_cast<size_t>(i)]);
      CHECK((ToEigen(found) - expected.col(i)).norm() < 1e-4 * most);
    }
  };
  check_places();
  for (size_t i = 0; i < points.size(); ++i) {
    const Eigen::Matrix3d own = of.CouplingsOf({points[i]});
    CHECK((Dense(touched.Response(placed[i])) - own).norm() < 1e-4 * (own.norm() + scale));
  }
  for (size_t i = 0; i < points.size(); ++i) {
    const Vec3 impulse = ToVec3(of.random.Vector(1.0e-3 * of.body.model.masses.mean()));
    touched.Push(placed[i], impulse, sums);
    const Eigen::MatrixXd own = of.JacobianOf({points[i]});
    total += reference::Product(own.transpose(), ToEigen(impulse)).reshaped(3, total.cols());
    check_places();
  }
  of.CheckSums(total, 0.0, sums);
}

TEST_CASE("Coarse solves meet the conditions of Signorini and Coulomb in random problems") {
  const int count = tests::SweepCount(100, 2000);
  const double most_friction = GENERATE(0.0, 1.0), young = GENERATE(1.0e4, 1.0e6, 1.0e7);
  CAPTURE(most_friction, young);
  size_t contacts = 0, sticking = 0, sliding = 0;
  int unsolved = 0;
  double deepest = 0.0, most_open = 0.0, most_slip = 0.0, most_cone = 0.0;
  double most_natural = 0.0;  // of the natural map
  for (int k = 0; k < count; ++k) {
    CoarseProblem c(static_cast<uint32_t>(k), young, 1 + static_cast<uint32_t>(k % 3),
                    most_friction);
    CAPTURE(k);
    for (int solve = 0; solve < 100; ++solve) c.Solve();
    const Points total = c.Total(), moved = c.Displacements(total);
    const double size = c.body.size(), low = DeepestOf(c, moved);
    double largest = 0.0;
    for (const PlaneContact& contact : c.state.Current()) {
      largest = std::max(largest, double(NormalImpulse(contact)));
    }
    c.CheckSums(total, largest, c.sums);
    double open = 0.0, slipped = 0.0, cone_error = 0.0, natural = 0.0;
    for (const PlaneContact& contact : c.state.Current()) {
      const LocalCollider& plane = c.planes[contact.collider];
      const EmbeddedPoint& point = c.state.PointOf(contact);
      const auto node = static_cast<Eigen::Index>(point.nodes[0]);
      const Eigen::Vector3d n = ToEigen(plane.normal), impulse = ToEigen(contact.impulse);
      const double normal = n.dot(impulse), cone = double(contact.friction) * normal;
      CHECK(normal >= -1e-6 * largest);
      if (normal > 1e-3 * largest) open = std::max(open, c.GapOf(plane, node, moved) / size);
      const Eigen::Vector3d friction = impulse - n * normal;
      Eigen::Vector3d slip = c.x.col(node) + moved.col(node) -
                             ToEigen(c.start[static_cast<size_t>(node)]) - ToEigen(plane.shift);
      slip -= n * n.dot(slip);
      const Eigen::Vector3d at = n * c.GapOf(plane, node, moved) + slip;
      const double response = c.CouplingsOf({point}).trace();
      natural = std::max(
          natural, NaturalResidual(impulse, at, n, double(contact.friction), response) / size);
      cone_error = std::max(cone_error, (friction.norm() - cone) / (largest + 1e-30));
      if (friction.norm() < 0.99 * cone) {
        slipped = std::max(slipped, slip.norm() / size);
        ++sticking;
      } else if (slip.norm() > 1e-3 * size && cone > 1e-3 * largest) {
        if (!(friction.dot(slip) < -0.99 * friction.norm() * slip.norm())) slipped = 1.0;
        ++sliding;
      }
    }
    const bool solved =
        low < 1e-4 && open < 1e-4 && slipped < 1e-4 && cone_error < 1e-4 && natural < 1e-4;
    if (solved) {
      most_natural = std::max(most_natural, natural);
    } else {
      ++unsolved;
      CHECK(Independence(c.CouplingsOf(PointsOnColliders(c.state))) < kIndependent);
    }
    deepest = std::max(deepest, low), most_open = std::max(most_open, open);
    most_slip = std::max(most_slip, slipped), most_cone = std::max(most_cone, cone_error);
    contacts += c.state.num_contacts;
  }
  std::printf(
      "%d coarse problems, seeds from 0, %.0e Pa, friction up to %.0f: %zu contacts, %zu stick, "
      "%zu slide; %.1e of the size deep, %.1e open, %.1e slip, %.1e beyond cones; %d unsolved, "
      "the others' natural map off by %.1e\n",
      count, young, most_friction, contacts, sticking, sliding, deepest, most_open, most_slip,
      most_cone, unsolved, most_natural);
  CAPTURE(unsolved, most_natural);
  CHECK(contacts > static_cast<size_t>(2 * count));
  // Of 2000, 1 without friction, in which planes close on a body from three sides, and 28 to 37
  // with friction.
  CHECK(unsolved <= (most_friction > 0.0 ? count / 50 : count / 1000));
  if (most_friction == 0.0) return;
  CHECK(sticking >= static_cast<size_t>(count) / 10);
  CHECK(sliding > static_cast<size_t>(count));
}

TEST_CASE("With high friction and in wedges, coarse solves keep gaps and friction brakes") {
  const int count = tests::SweepCount(100, 2000);
  const double young = GENERATE(1.0e4, 1.0e6, 1.0e7);
  const int solves = GENERATE(3, 100);
  CAPTURE(young, solves);
  size_t contacts = 0;
  double deepest = 0.0, most_driven = 0.0;
  for (int k = 0; k < count; ++k) {
    CoarseProblem c(static_cast<uint32_t>(200000 + k), young, 1 + static_cast<uint32_t>(k % 4),
                    5.0);
    CAPTURE(k);
    for (LocalCollider& plane : c.planes) plane.shift = {};  // moving ones can jam
    // The place at the start is one that clusters can come back to.
    std::copy(c.nodes.begin(), c.nodes.end() - 1, c.start.begin());
    for (int solve = 0; solve < solves; ++solve) c.Solve();
    const Points total = c.Total(), moved = c.Displacements(total);
    REQUIRE(total.allFinite());
    const double size = c.body.size(), low = DeepestOf(c, moved);
    double largest = 1e-30;
    for (const PlaneContact& contact : c.state.Current()) {
      largest = std::max(largest, ToEigen(contact.impulse).norm());
    }
    double drives = 0.0;
    for (const PlaneContact& contact : c.state.Current()) {
      const LocalCollider& plane = c.planes[contact.collider];
      const auto node = static_cast<Eigen::Index>(c.state.PointOf(contact).nodes[0]);
      const Eigen::Vector3d n = ToEigen(plane.normal), impulse = ToEigen(contact.impulse);
      CHECK(n.dot(impulse) >= -1e-6 * largest);
      const Eigen::Vector3d slip =
          c.x.col(node) + moved.col(node) - ToEigen(c.start[static_cast<size_t>(node)]);
      const Eigen::Vector3d friction = impulse - n * n.dot(impulse);
      drives = std::max(drives, friction.dot(slip - n * n.dot(slip)) / (largest * size));
    }
    contacts += c.state.num_contacts;
    deepest = std::max(deepest, low), most_driven = std::max(most_driven, drives);
  }
  std::printf(
      "%d coarse problems, seeds from 200000, %.0e Pa, friction up to 5, %d solves: %zu contacts; "
      "%.1e of the size deep; friction drives by %.1e\n",
      count, young, solves, contacts, deepest, most_driven);
  CHECK(contacts > static_cast<size_t>(2 * count));
  // Of 100: 2e-4 after the three solves of a substep, 4e-6 in the end. Of 2000: 1e-3 and 2e-4.
  const double few = tests::FullTests() ? 1.5e-3 : 5e-4, many = tests::FullTests() ? 3e-4 : 1e-5;
  CHECK(deepest < (solves < 100 ? few : many));
  CHECK(most_driven < 1e-4);
}

}  // namespace coarse_contacts_test

// SPDX-License-Identifier: MIT
// When sweeps over contacts stop: once they move points by less than the accuracy, and the load by
// less than a thousandth.
#include "body/body_colliders.h"
#include "runtime/contact/contact_laws.h"
#include "runtime/contact/random_contacts.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>

using namespace plush;
using namespace plush::test;

namespace stop_criteria_test {

constexpr uint32_t kCount = 200;  // problems

// Means over random problems with friction.
struct Stopped {
  double sweeps = 0.0;
  double left = 0.0;  // geometric mean of the natural map's residuals [m]
  int problems = 0;
};

// Solves problems with an accuracy, without a limit of sweeps that they would reach.
Stopped StopAt(float accuracy) {
  Stopped sums;
  for (uint32_t k = 0; k < kCount; ++k) {
    RandomContacts c(400000 + k);
    for (uint32_t p = 1 + c.random.Below(3); p > 0; --p) {
      c.AddPlane(static_cast<float>(c.random.Uniform(0.0, 1.0)));
    }
    c.slop = 1.0e-6f;
    c.d.resize(c.shape.num_nodes() + 1);
    ContactProblem problem = c.Problem(4096);
    problem.accuracy = accuracy;
    problem.searches = 1;
    const ContactSolveStats stats = SolveWithContacts(c.system, problem, &c.state, c.d);
    if (stats.sweeps >= 2048 || c.state.num_contacts == 0) continue;  // cones go in circles
    double left = 1e-12;
    for (const PlaneContact& contact : c.state.Current()) {
      const Eigen::Vector3d n = ToEigen(contact.plane.normal);
      const EmbeddedPoint& point = c.state.PointOf(contact);
      const Eigen::Vector3d moved =
          n * c.GapOf(c.planes[contact.collider], point) + c.SlipOf(contact);
      left = std::max(left, NaturalResidual(ToEigen(contact.impulse), moved, n,
                                            double(contact.friction), c.ResponseOf(point)));
    }
    sums.sweeps += stats.sweeps;
    sums.left += std::log(left);
    ++sums.problems;
  }
  sums.sweeps /= sums.problems;
  sums.left = std::exp(sums.left / sums.problems);
  return sums;
}

// In nanometres.
TEST_CASE("Sweeps stop at a thousandth of a substep's fall, a millionth of the size, or less") {
  Body body;
  body.size = 0.5f;
  body.simulation.median_edge = 0.1f;  // a hundred-thousandth of it is 1e-6 m
  StepSettings settings;
  settings.gravity = {0.0f, -9.81f, 0.0f};
  const auto accuracy = [&](float h) { return 1e9 * double(SolveAccuracy(settings, h, body)); };
  CHECK(accuracy(0.005f) == Approx(245.25));
  CHECK(accuracy(0.02f) == Approx(1000.0));
  body.scale = 2.0f;  // gravity is half as strong in the body's units
  CHECK(accuracy(0.005f) == Approx(122.625));
  settings.gravity = {};
  CHECK(accuracy(0.005f) == Approx(0.5));
}

TEST_CASE("Whatever the accuracy, sweeps go on until they change the load by a thousandth",
          "[long]") {
  const Stopped any = StopAt(1.0f);
  CAPTURE(any.sweeps, any.left);
  CHECK(any.problems > 150);
  // 3.2. At a hundredth of the load they would take 2.4, at a ten-thousandth 4.7.
  CHECK(any.sweeps > 2.8);
  CHECK(any.sweeps < 3.6);
  CHECK(any.left < 4e-7);  // 2.3e-7; at a hundredth 5.7e-7
}

}  // namespace stop_criteria_test

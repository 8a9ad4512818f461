// SPDX-License-Identifier: MIT
// Contacts between two bodies against the dense equations of both in double precision.
#include "runtime/contact/contact_laws.h"
#include "runtime/contact/random_pair.h"
#include "sweep.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <vector>

using namespace plush;
using namespace plush::test;

namespace body_contact_test {

// Solves a pair's problem well, and checks it against the dense equations.
void SolveAndCheck(float friction, RandomPair* of_pair, ContactLaws* solved) {
  RandomPair& pair = *of_pair;
  // Also after the first solve, in which searches find new points of one body only.
  for (int round = 0; round < 20; ++round) {
    pair.Solve(round == 0 ? 8 : 1024);
    for (int body = 0; body < 2; ++body) CHECK(pair.Residual(body) < 2e-4);
  }
  const double largest = LargestImpulse(pair.contacts);
  for (const BodyContact& contact : pair.contacts) {
    const Eigen::Vector3d n = ToEigen(contact.row.plane.normal);
    const Eigen::Vector3d impulse = ToEigen(contact.row.impulse);
    CHECK(n.dot(impulse) >= 0.0);
    const Eigen::Vector3d moved = pair.Way(contact, true) - pair.Start(contact);
    solved->Check(
        {n, impulse, double(friction), pair.ResponseOf(contact),
         pair.Gap(contact, true) + double(contact.row.plane.allowed), moved - n * n.dot(moved)},
        largest, pair.Unit() * kProblemSize);
  }
  if (solved->EndProblem(friction > 0.0f)) return;
  CHECK(Independence(PairCouplings(pair.bodies, pair.contacts)) < kIndependent);
}

float FrictionOf(int k) { return k % 3 == 0 ? 0.0f : 0.5f; }

TEST_CASE("Contacts between two bodies meet Signorini's and Coulomb's conditions") {
  const int count = tests::SweepCount(300, 5000);
  ContactLaws solved;
  for (int k = 0; k < count; ++k) {
    CAPTURE(k);
    RandomPair pair(static_cast<uint32_t>(700000 + k), FrictionOf(k));
    SolveAndCheck(FrictionOf(k), &pair, &solved);
  }
  std::printf("%d pairs of bodies: %d contacts press, %d of them slide, %d open, %d unsolved\n",
              count, solved.pressing, solved.sliding, solved.open, solved.unsolved);
  CHECK(solved.pressing > count);
  CHECK(solved.sliding > count / 20);
  CHECK(solved.open > count / 4);
  CHECK(solved.unsolved_smooth == 0);
  CHECK(solved.unsolved <= std::max(count / 125, 1));  // 1 of 300; of 5000, 38
}

// For each ratio, 1 to 7 of 1000 problems are not solved.
TEST_CASE("Contacts between bodies of 1 to 1000 times the mass and stiffness meet the same") {
  const int count = tests::SweepCount(60, 1000);
  // How many times the first body's numbers the second one's are.
  const double mass = GENERATE(1.0e-3, 1.0, 1.0e3), stiffness = GENERATE(1.0e-3, 1.0, 1.0e3);
  if (mass == 1.0 && stiffness == 1.0) return;
  CAPTURE(mass, stiffness);
  ContactLaws solved;
  for (int k = 0; k < count; ++k) {
    CAPTURE(k);
    // The softer one has 1e4 Pa, the lighter one 100 kg/m^3.
    const std::array<Stuff, 2> stuff = {
        Stuff{1.0e4 * std::fmax(1.0 / stiffness, 1.0), 100.0 * std::fmax(1.0 / mass, 1.0)},
        Stuff{1.0e4 * std::fmax(stiffness, 1.0), 100.0 * std::fmax(mass, 1.0)}};
    RandomPair pair(static_cast<uint32_t>(750000 + k), FrictionOf(k), &stuff);
    SolveAndCheck(FrictionOf(k), &pair, &solved);
  }
  std::printf(
      "mass 1:%g, stiffness 1:%g: %d contacts press, %d slide, %d open, %d of %d unsolved\n", mass,
      stiffness, solved.pressing, solved.sliding, solved.open, solved.unsolved, count);
  CHECK(4 * solved.pressing > 3 * count);
  CHECK(solved.open > count / 4);
  CHECK(solved.unsolved_smooth == 0);
  CHECK(solved.unsolved <= std::max(count / 100, 1));
}

// Two equal bodies that are pushed in opposite ways, with contacts between equal points: whatever
// one body gets, the other one loses, so that they move in opposite ways to the bit.
TEST_CASE("The impulses of a contact on its two bodies are opposite to the bit") {
  const int count = tests::SweepCount(100, 2000);
  int pressing = 0, sliding = 0;
  for (int k = 0; k < count; ++k) {
    CAPTURE(k);
    const auto seed = static_cast<uint32_t>(800000 + k);
    RandomContacts bodies[2] = {RandomContacts(seed), RandomContacts(seed)};
    Random& random = bodies[0].random;
    const float friction = k % 3 == 0 ? 0.0f : 0.5f;
    const auto scale = static_cast<float>(std::exp(random.Uniform(-2.0, 2.0)));
    for (RandomContacts& body : bodies) {
      REQUIRE(body.state.Reserve(DefaultAllocator(), 0,
                                 static_cast<uint32_t>(body.shape.num_nodes()), false, 0));
      body.d.resize(body.y.size());
      body.state.x = body.x;
      body.state.y = body.y;
      body.state.scale = scale;
    }
    for (NodeVec& b : bodies[1].rhs) b = -static_cast<const Vec3&>(b);
    std::vector<BodyContact> contacts(1 + random.Below(6));
    std::vector<BodyContactSide> sides[2];
    for (BodyContact& contact : contacts) {
      const EmbeddedPoint& point =
          bodies[0].points[random.Below(static_cast<uint32_t>(bodies[0].points.size()))];
      for (int side = 0; side < 2; ++side) {
        contact.sides[side].of = &bodies[side].state;
        contact.sides[side].point = point;
        contact.sides[side].point.id = TouchingSurface::kNoId;
        contact.sides[side].slot = bodies[side].state.couplings.Add(contact.sides[side].point);
      }
      contact.row.plane.normal = ToVec3(random.Direction());
      contact.row.friction = friction;
      contact.rest = 1.0e-3f;
      BeginSubstep(0.0f, 0.01f, &contact);
      contact.row.plane.allowed =
          static_cast<float>(random.Uniform(-2.0e-3, 1.0e-3) * double(scale));
    }
    for (uint32_t side = 0; side < 2; ++side) {
      for (BodyContact& contact : contacts) sides[side].push_back({&contact, side});
      bodies[side].state.between = sides[side];
    }
    ContactSolve parts[2];
    for (int side = 0; side < 2; ++side) {
      RandomContacts& body = bodies[side];
      parts[side] = {body.system, body.Problem(64), &body.state, body.d};
    }
    parts[0].next = &parts[1];
    SolveWithContacts(&parts[0]);
    for (const BodyContact& contact : contacts) {
      const Vec3 of_first = contact.Own(0, contact.row.impulse);
      const Vec3 of_second = contact.Own(1, contact.row.impulse);
      REQUIRE(IsZero(of_first + of_second));
      const float along = Dot(contact.row.plane.normal, contact.row.impulse);
      pressing += along > 0.0f ? 1 : 0;
      sliding += Length(contact.row.impulse - contact.row.plane.normal * along) > 0.0f ? 1 : 0;
    }
    for (size_t i = 0; i < bodies[0].shape.num_nodes(); ++i) {
      REQUIRE(IsZero(bodies[0].d[i] + bodies[1].d[i]));
    }
  }
  CHECK(pressing > count);
  CHECK(sliding > count / 4);
}

}  // namespace body_contact_test

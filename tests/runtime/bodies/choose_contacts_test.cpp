// SPDX-License-Identifier: MIT
// Which contacts of the step before go on at their own points, and which hand their force to new
// ones.
#include "world/choose_contacts.h"

#include "plush/allocator.h"

#include "body/body_colliders.h"
#include "body/system_cache.h"
#include "runtime/collision/surface_fixtures.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

using namespace plush;
using namespace plush::test;

namespace choose_contacts_test {

constexpr float kSize = 0.2f;

// A cube on another one. Their faces meet.
struct Stack {
  Stack() {
    for (size_t k = 0; k < 2; ++k) {
      Body& body = bodies[k];
      const size_t n = shape.num_nodes();
      body.surface = shape.asset().collision();
      body.simulation = shape.simulation();
      body.system = &systems[k];
      body.origin[1] = k == 0 ? double(kSize) : 0.0;
      REQUIRE(systems[k].pinned.Allocate(DefaultAllocator(), n, uint8_t{0}));
      REQUIRE(body.y.Allocate(DefaultAllocator(), n + 1));
      for (size_t i = 0; i < n; ++i) body.y[i] = shape.rest()[i];
    }
  }

  // Sets the contact's place on one of the bodies, in the faces that meet.
  template <class Contact>
  void Place(size_t k, double x, double z, Contact* contact) const {
    const float height = k == 0 ? 0.0f : kSize;
    for (uint32_t t = 0; t < bodies[k].surface.num_triangles(); ++t) {
      const auto corner = [&](float u, float v) {
        return TouchingPointAt(bodies[k], t, u, v).Of(bodies[k].y.span());
      };
      const Vec3 a = corner(0.0f, 0.0f), ab = corner(1.0f, 0.0f) - a, ac = corner(0.0f, 1.0f) - a;
      if (std::fabs(a.y - height) + std::fabs(ab.y) + std::fabs(ac.y) > 1e-6f) continue;
      Eigen::Matrix2d edges;
      edges << double(ab.x), double(ac.x), double(ab.z), double(ac.z);
      const Eigen::Vector2d uv =
          edges.inverse() * Eigen::Vector2d(x - double(a.x), z - double(a.z));
      if (uv.minCoeff() < -1e-6 || uv.sum() > 1.0 + 1e-6) continue;
      contact->triangles[k] = t;
      contact->u[k] = float(uv[0]);
      contact->v[k] = float(uv[1]);
      return;
    }
    FAIL("no triangle is there");
  }
  PairContact FoundAt(double x, double z, const Vec3& normal) const {
    PairContact contact;
    for (size_t k = 0; k < 2; ++k) Place(k, x, z, &contact);
    contact.normal = normal;
    return contact;
  }
  // `slip`: of its two points along x.
  PastContact PastAt(double x, double z, double slip, float force) const {
    PastContact contact;
    Place(0, x, z, &contact);
    Place(1, x + slip, z, &contact);
    contact.normal = {0.0f, 1.0f, 0.0f};
    contact.force = {0.0f, force, 0.0f};
    return contact;
  }
  Meeting meeting() const { return {bodies[0], bodies[1]}; }

  ShapeAsset shape{SurfaceBytes(TetBox(2, 2, 2, 0.1), {.parts = 2, .depth = 0.0, .num_shells = 0})};
  System systems[2];
  Body bodies[2];  // the upper one, the lower one
};

template <class A, class B>
bool IsSamePlace(const A& a, const B& b) {
  bool is_same = true;
  for (int k = 0; k < 2; ++k) {
    is_same = is_same && a.triangles[k] == b.triangles[k] && a.u[k] == b.u[k] && a.v[k] == b.v[k];
  }
  return is_same;
}

TEST_CASE("A contact that carries load goes on at its own points, along the normal found near it") {
  const Stack stack;
  constexpr float kSpacing = 0.04f, kMostSlip = 1.0e-3f;
  struct Case {
    double away, slip, cosine;
    float force;
    bool is_kept;
  };
  const auto of = GENERATE(
      Case{0.01, 0.0, 1.0, 5.0f, true}, Case{0.038, 0.0, 1.0, 5.0f, true},
      Case{0.042, 0.0, 1.0, 5.0f, false},                                         // too far away
      Case{0.01, 0.9e-3, 1.0, 5.0f, true}, Case{0.01, 1.1e-3, 1.0, 5.0f, false},  // slipped
      Case{0.01, 0.0, 0.82, 5.0f, true}, Case{0.01, 0.0, 0.78, 5.0f, false},      // turned
      Case{0.01, 0.0, 1.0, 0.0f, false});                                         // carries nothing
  CAPTURE(of.away, of.slip, of.cosine, of.force);
  const float sine = float(std::sqrt(1.0 - of.cosine * of.cosine));
  std::vector<PairContact> found = {stack.FoundAt(0.07, 0.06, {0.0f, float(of.cosine), sine})};
  // Another one that carries load, far away, comes first.
  const std::vector<PastContact> past = {stack.PastAt(0.18, 0.18, 0.0, 3.0f),
                                         stack.PastAt(0.07 + of.away, 0.06, of.slip, of.force)};
  std::vector<Vec3> places(found.size());
  ChosenContacts chosen;
  const PairContact expected = found[0];
  ChooseContacts({kSpacing, kMostSlip, 2.0e-3f}, stack.meeting(), found, past, places, &chosen);
  REQUIRE(chosen.count == 1);  // the found one, or what goes on in its place
  const PairContact& contact = chosen.contacts[0];
  CHECK(IsSamePlace(contact, past[1]) == of.is_kept);
  CHECK(chosen.forces[0].y == (of.is_kept ? 5.0f : 0.0f));
  CHECK(chosen.taken == (of.is_kept ? 2u : 0u));
  CHECK(Length(contact.normal - expected.normal) == 0.0f);
  if (!of.is_kept) CHECK(IsSamePlace(contact, expected));
}

TEST_CASE("The contact of the step before that is nearest on both bodies is taken once") {
  const uint32_t seed = 22;
  CAPTURE(seed);
  Random random(seed);
  const Stack stack;
  const auto place = [&] { return random.Uniform(0.01, 0.19); };
  size_t num_found = 0, num_far = 0, num_second = 0;
  for (int run = 0; run < 2000; ++run) {
    CAPTURE(run);
    struct Places {
      double x[2], z[2];  // on both bodies
    };
    const auto draw = [&] {
      const double x = place(), z = place();
      return Places{{x, std::clamp(x + random.Uniform(-0.04, 0.04), 0.0, 0.2)},
                    {z, std::clamp(z + random.Uniform(-0.04, 0.04), 0.0, 0.2)}};
    };
    const Places of_new = draw();
    PairContact at;
    for (size_t k = 0; k < 2; ++k) stack.Place(k, of_new.x[k], of_new.z[k], &at);
    BodyContact contact;
    for (size_t k = 0; k < 2; ++k) {
      contact.sides[k].point = TouchingPointAt(stack.bodies[k], at.triangles[k], at.u[k], at.v[k]);
    }
    const double reach = random.Uniform(0.02, 0.1);
    std::vector<PastContact> past(6);
    const uint64_t taken_before = random.Below(64);
    int nearest = -1, nearest_of_all = -1;
    double least = reach, least_of_all = reach;
    for (size_t i = 0; i < past.size(); ++i) {
      const Places of_old = draw();
      for (size_t k = 0; k < 2; ++k) stack.Place(k, of_old.x[k], of_old.z[k], &past[i]);
      const double distance = std::sqrt(
          std::pow(of_old.x[0] - of_new.x[0], 2) + std::pow(of_old.z[0] - of_new.z[0], 2) +
          std::pow(of_old.x[1] - of_new.x[1], 2) + std::pow(of_old.z[1] - of_new.z[1], 2));
      if (distance < least_of_all) least_of_all = distance, nearest_of_all = int(i);
      if ((taken_before >> i & 1) != 0 || distance >= least) continue;
      least = distance;
      nearest = int(i);
    }
    uint64_t taken = taken_before;
    const PastContact* const old =
        NearestPast(past, stack.meeting(), contact, float(reach), &taken);
    REQUIRE((old == nullptr ? -1 : int(old - past.data())) == nearest);
    REQUIRE(taken == (nearest < 0 ? taken_before : taken_before | uint64_t{1} << nearest));
    num_found += nearest >= 0;
    num_far += nearest < 0;
    num_second += nearest >= 0 && nearest != nearest_of_all;
  }
  CAPTURE(num_found, num_far, num_second);
  CHECK(num_found > 200);
  CHECK(num_far > 200);
  CHECK(num_second > 20);
}

}  // namespace choose_contacts_test

// SPDX-License-Identifier: MIT
// Contact methods outside the solve, between bodies.
#include "body/contact_method.h"
#include "contact/point_masses.h"
#include "runtime/colliders/solid_scene.h"
#include "runtime/contact/random_contacts.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <vector>

using namespace plush;
using namespace plush::test;

namespace contact_methods_test {

constexpr float kDt = 0.01f;

const ContactMethod* const kMethods[] = {&kSnapContact, &kPenaltyContact, &kPseudoImpulseContact};

// Cubes that touch each other by a method.
struct Cubes {
  explicit Cubes(const ContactMethod* method, const Vec3& gravity = {0.0f, -9.81f, 0.0f})
      : shape(SurfaceBytes(TetBox(2, 2, 2, 0.1), {.parts = 2, .depth = 0.0, .num_shells = 0})),
        world(DescOf(method, gravity)) {}

  static WorldDesc DescOf(const ContactMethod* method, const Vec3& gravity) {
    return WorldDesc{.gravity = gravity,
                     .contact = {.method = method},
                     .sleep = {.speed = 0.0f},
                     .max_pairs = 16};
  }
  BodyId Add(const BodyDesc& of) {
    BodyDesc desc = of;
    // Stiffer ones fly off: the methods add energy.
    desc.material.young = 1.0e5f;
    desc.material.poisson = 0.35f;
    desc.material.damping = 0.1f;
    return AddBody(&world, shape.asset(), desc);
  }
  /// One whose elasticity moves nothing within a few steps.
  BodyId AddSoft(const BodyDesc& of) {
    BodyDesc desc = of;
    desc.material.young = 1.0f;
    return AddBody(&world, shape.asset(), desc);
  }
  void Step(int steps) {
    for (int k = 0; k < steps; ++k) {
      REQUIRE((StepWorld(&world, kDt) & ~uint32_t{kStepContactsDropped}) == kStepOk);
      most_pairs = std::max(most_pairs, world.stats().body_pairs);
    }
  }
  double Lowest(BodyId id) const {
    double low = 1e9;
    for (const Vec3& x : PositionsOf(world, id, shape.num_nodes()))
      low = std::min(low, double(x.y));
    return low;
  }

  ShapeAsset shape;
  World world;
  uint32_t most_pairs = 0;  // in a step
};

BodyDesc At(const Vec3& position, const Vec3& velocity = {}) {
  return BodyDesc{.pose = {.position = position}, .velocity = velocity};
}

TEST_CASE("A cube rests on a wide fixed one, by each method") {
  const ContactMethod* const method = kMethods[GENERATE(0u, 1u, 2u)];
  CAPTURE(method->number);
  Cubes cubes(method);
  BodyDesc below = At({0, 0, 0});
  below.fixed = true;
  below.scale = 5.0f;
  cubes.Add(below);
  const BodyId high = cubes.Add(At({0.4f, 1.001f, 0.42f}));
  // Springs have no damping: on them it bounces for ever, by up to a quarter of its edge.
  const bool bounces = method == &kPenaltyContact;
  for (int step = 0; step < 200; ++step) {
    CAPTURE(step);
    cubes.Step(1);
    CHECK(cubes.Lowest(high) > 1.0 - (bounces ? 0.05 : 0.015));
    CHECK(cubes.Lowest(high) < 1.0 + (bounces ? 0.06 : 0.002));
  }
  CHECK(cubes.most_pairs == 1);
  if (!bounces) CHECK(cubes.Lowest(high) > 1.0 - 0.012);
}

TEST_CASE("Methods keep the momenta of bodies that collide, and no body passes the other") {
  const ContactMethod* const method = kMethods[GENERATE(0u, 1u, 2u)];
  CAPTURE(method->number);
  Cubes cubes(method, {});
  BodyDesc left = At({-0.3f, 0.03f, 0.02f}, {1.0f, 0.0f, 0.0f});
  left.scale = 1.2f;
  left.material.friction = 0.3f;
  const BodyId a = cubes.Add(left), b = cubes.Add(At({0, 0, 0}));
  const auto momentum = [&] {
    return Eigen::Vector3d(Eigen::Vector3d(MomentsOf(cubes.world, a).linear_momentum) +
                           Eigen::Vector3d(MomentsOf(cubes.world, b).linear_momentum));
  };
  const Eigen::Vector3d before = momentum();
  cubes.Step(100);
  CHECK(cubes.most_pairs == 1);
  CHECK((momentum() - before).norm() < 2e-5 * before.norm());
  CHECK(MomentsOf(cubes.world, a).centre[0] < MomentsOf(cubes.world, b).centre[0]);
  CHECK(MomentsOf(cubes.world, b).linear_momentum[0] > 0.3 * before[0]);
}

TEST_CASE("Pseudo-impulses brake a cube that slides on a fixed one by Coulomb's law") {
  const float friction = GENERATE(0.0f, 0.2f, 0.4f);
  CAPTURE(friction);
  Cubes cubes(&kPseudoImpulseContact);
  BodyDesc below = At({0, 0, 0});
  below.fixed = true;
  below.scale = 5.0f;
  below.material.friction = friction;
  cubes.Add(below);
  BodyDesc above = At({0.2f, 1.0f, 0.5f});
  above.material.friction = friction;
  const BodyId id = cubes.Add(above);
  cubes.Step(50);
  // A push that the friction does not stop at once.
  std::vector<Vec3> velocities(cubes.shape.num_nodes(), Vec3{1.2f, 0.0f, 0.0f});
  REQUIRE(cubes.world.SetNodeVelocities(id, velocities).ok());
  cubes.Step(5);
  const double mass = MomentsOf(cubes.world, id).mass;
  const double from = MomentsOf(cubes.world, id).linear_momentum[0] / mass;
  cubes.Step(20);
  const double to = MomentsOf(cubes.world, id).linear_momentum[0] / mass;
  CHECK((from - to) / (20 * double(kDt)) ==
        Approx(double(friction) * 9.81).epsilon(0.2).margin(0.02));
}

TEST_CASE("Points part by their inverse effective masses, as the equations say") {
  const uint32_t seed = GENERATE(range(1u, 20u));
  CAPTURE(seed);
  RandomContacts bodies[2] = {RandomContacts(2 * seed), RandomContacts(2 * seed + 1)};
  Random& random = bodies[0].random;
  BodyContact contact;
  double inverse[2] = {};
  for (int k = 0; k < 2; ++k) {
    RandomContacts& body = bodies[k];
    body.state.scale = k == 0 ? 1.0f : 0.5f;
    for (size_t i = 0; i < body.pinned.size(); ++i) {
      body.x[i].w = body.pinned[i] != 0 ? 0.0f : static_cast<float>(1.0 / body.model.masses[i]);
      body.y[i].w = body.x[i].w;
    }
    body.state.x = body.x;
    body.state.moved_nodes = {{}, {}, body.y};
    contact.sides[k].of = &body.state;
    contact.sides[k].point = body.points[random.Below(static_cast<uint32_t>(body.points.size()))];
    for (int i = 0; i < 4; ++i) {
      const double share = double(contact.sides[k].point.Free(i));
      inverse[k] += share * share * double(body.x[contact.sides[k].point.nodes[i]].w);
    }
    inverse[k] /= std::pow(double(body.state.scale), 3);
  }
  const auto at = [&](int k) {
    return Eigen::Vector3d(ToEigen(contact.sides[k].point.Of(bodies[k].y)) *
                           double(bodies[k].state.scale));
  };
  const Eigen::Vector3d before[2] = {at(0), at(1)};
  const Eigen::Vector3d way(0.01, -0.02, 0.005);
  const Eigen::Vector3d impulse = ToEigen(MoveApart(ToVec3(way), &MovedNodes::y, &contact));
  // [Civ, Eq. 3.51, 3.52]
  const double share = inverse[0] / (inverse[0] + inverse[1]);
  CHECK((at(0) - before[0] - way * share).norm() < 1e-5 * way.norm());
  CHECK((at(1) - before[1] + way * (1.0 - share)).norm() < 1e-5 * way.norm());
  CHECK((impulse - way / (inverse[0] + inverse[1])).norm() < 1e-5 * impulse.norm());
}

TEST_CASE("Pseudo-impulses take a node out of all planes by the mean of what each asks for") {
  const uint32_t seed = GENERATE(range(1u, 9u));
  CAPTURE(seed);
  Random random(seed);
  Cubes cubes(&kPseudoImpulseContact, {});
  BodyDesc body = At({});
  body.scale = static_cast<float>(random.Uniform(0.5, 2.0));
  const BodyId id = cubes.AddSoft(body);
  // They cut into the cube from below, at most by a quarter of it. Each comes twice: that does not
  // double its corrections.
  std::vector<ColliderDesc> planes;
  for (int k = 0; k < 3; ++k) {
    ColliderDesc plane;
    const Vec3 normal = ToVec3((random.Vector(0.3) + Eigen::Vector3d::UnitY()).normalized().eval());
    const Vec3 corner = {0.1f * body.scale, 0.0f, 0.1f * body.scale};
    plane.plane = {normal, normal.x * corner.x + normal.z * corner.z +
                               static_cast<float>(random.Uniform(0.0, 0.05)) * body.scale};
    for (int twice = 0; twice < 2; ++twice) {
      planes.push_back(plane);
      AddCollider(&cubes.world, plane);
    }
  }
  const double share = double(kDt) / (double(kDt) + double(ContactSettings().push_out_time));
  int moved = 0, by_several = 0;
  for (int step = 0; step < 5; ++step) {
    const std::vector<Vec3> before = PositionsOf(cubes.world, id, cubes.shape.num_nodes());
    const std::vector<Vec3> rest(before.size());
    REQUIRE(cubes.world.SetNodeVelocities(id, rest).ok());
    cubes.Step(1);
    const std::vector<Vec3> after = PositionsOf(cubes.world, id, cubes.shape.num_nodes());
    for (size_t i = 0; i < before.size(); ++i) {
      Eigen::Vector3d mean = Eigen::Vector3d::Zero();
      int count = 0;
      for (const ColliderDesc& plane : planes) {
        const Eigen::Vector3d normal = ToEigen(plane.plane.normal);
        const double depth = double(plane.plane.offset) - normal.dot(ToEigen(before[i]));
        if (depth <= 1e-6) continue;
        mean += normal * (share * depth);
        ++count;
      }
      if (count > 0) mean /= count;
      moved += count > 0 ? 1 : 0, by_several += count > 2 ? 1 : 0;
      CHECK((ToEigen(after[i]) - ToEigen(before[i]) - mean).norm() < 1e-6);
    }
  }
  CHECK(moved > 5);
  CHECK(by_several > 2);
}

TEST_CASE("Pseudo-impulses take a body out of another one by a share of its depth, not more") {
  const double depth = GENERATE(0.01, 0.03);
  const bool is_fixed = GENERATE(false, true);
  CAPTURE(depth, is_fixed);
  Cubes cubes(&kPseudoImpulseContact, {});
  BodyDesc below = At({});
  below.fixed = is_fixed;
  const BodyId low = cubes.AddSoft(below);
  BodyDesc above = At({0.02f, 0.2f - static_cast<float>(depth), 0.02f});
  above.scale = 0.8f;  // its whole face lies on the other one's
  const BodyId high = cubes.AddSoft(above);
  const double share = double(kDt) / (double(kDt) + double(ContactSettings().push_out_time));
  const auto heights = [&](BodyId id, bool of_top) {
    double sum = 0.0;
    const std::vector<Vec3> x = PositionsOf(cubes.world, id, cubes.shape.num_nodes());
    const std::vector<Vec3> rest = cubes.shape.rest();
    for (size_t i = 0; i < x.size(); ++i) {
      if (rest[i].y == (of_top ? 0.2f : 0.0f)) sum += double(x[i].y) / 9.0;
    }
    return sum;
  };
  // Of the faces that meet, on average.
  const auto overlap = [&] { return heights(low, true) - heights(high, false); };
  double before = overlap();
  CHECK(before == Approx(depth).epsilon(1e-4));
  const std::vector<Vec3> still(cubes.shape.num_nodes());
  for (int step = 0; step < 5; ++step) {
    cubes.Step(1);
    REQUIRE(cubes.most_pairs == 1);
    const double out = (before - overlap()) / before;
    CAPTURE(step, out);
    // A point with unequal weights moves its nodes by more than itself.
    CHECK(out > 0.4 * share);
    CHECK(out < 1.5 * share);
    before = overlap();
    for (const BodyId id : {low, high}) {
      if (is_fixed && id == low) continue;
      REQUIRE(cubes.world.SetNodeVelocities(id, still).ok());
    }
  }
}

}  // namespace contact_methods_test

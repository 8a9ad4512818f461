// SPDX-License-Identifier: MIT
// Random contact problems of two small bodies, and their dense equations in double precision.
#pragma once

#include "contact/body_contacts.h"
#include "runtime/contact/random_contacts.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <vector>

namespace plush::test {

// Two random bodies with random contacts between them, and with planes. They have different
// scales, or of what they are is given.
struct RandomPair {
  explicit RandomPair(uint32_t seed, float friction, const std::array<Stuff, 2>* stuff = nullptr)
      : bodies{RandomContacts(2 * seed, Touching::kNodes, false, OrRandom(stuff, 0)),
               RandomContacts(2 * seed + 1, Touching::kNodes, false, OrRandom(stuff, 1))} {
    Random& random = bodies[0].random;
    const float scales[] = {0.1f, 0.5f, 1.0f, 2.0f, 10.0f};
    for (RandomContacts& body : bodies) {
      if (random.Below(2) == 0) body.AddPlane(friction);
      REQUIRE(body.state.Reserve(DefaultAllocator(), 0,
                                 static_cast<uint32_t>(body.shape.num_nodes()), false, 0));
      body.d.resize(body.y.size());
      ContactState& state = body.state;
      state.x = body.x;
      state.y = body.y;
      if (stuff == nullptr) state.scale = scales[random.Below(5)];
      for (double& coordinate : state.origin) coordinate = random.Uniform(-1.0, 1.0);
    }
    contacts.resize(1 + random.Below(6));
    for (BodyContact& contact : contacts) {
      for (int k = 0; k < 2; ++k) {
        RandomContacts& body = bodies[k];
        BodyContact::Side& side = contact.sides[k];
        side.of = &body.state;
        side.point = body.points[random.Below(static_cast<uint32_t>(body.points.size()))];
        side.point.id = TouchingSurface::kNoId;
        side.slot = body.state.couplings.Add(side.point);
      }
      contact.row.plane.normal = ToVec3(random.Direction());
      contact.row.friction = friction;
      contact.rest = 1.0e-3f;
      BeginSubstep(0.0f, 0.01f, &contact);
      // Some are far apart, some overlap.
      contact.row.plane.allowed =
          static_cast<float>(-Gap(contact, false) + random.Uniform(-2.0e-3, 1.0e-3) * Unit());
    }
    for (uint32_t k = 0; k < 2; ++k) {
      for (BodyContact& contact : contacts) sides[k].push_back({&contact, k});
      bodies[k].state.between = sides[k];
    }
    // All contacts are swept in one round, whichever groups the bodies are in.
    Random groups(seed);
    for (RandomContacts& body : bodies) body.state.group = groups.Below(kSweepGroups);
    const uint32_t round = bodies[0].state.group ^ bodies[1].state.group;
    for (RandomContacts& body : bodies) {
      std::fill_n(body.state.later, round, static_cast<uint32_t>(contacts.size()));
    }
  }

  static Stuff OrRandom(const std::array<Stuff, 2>* stuff, size_t k) {
    return stuff != nullptr ? (*stuff)[k] : Stuff{};
  }

  double Unit() const {
    return std::min(double(bodies[0].state.scale), double(bodies[1].state.scale));
  }

  // From the second point to the first at the iterate, moved on by d if `moved` [m].
  Eigen::Vector3d Way(const BodyContact& contact, bool moved) const {
    Eigen::Vector3d way =
        Eigen::Vector3d(bodies[0].state.origin) - Eigen::Vector3d(bodies[1].state.origin);
    for (int k = 0; k < 2; ++k) {
      const EmbeddedPoint& point = contact.sides[k].point;
      Eigen::Vector3d at = ToEigen(point.Of(bodies[k].y));
      if (moved) at += ToEigen(point.Of(bodies[k].d));
      way += at * double(bodies[k].state.scale) * (k == 0 ? 1.0 : -1.0);
    }
    return way;
  }
  double Gap(const BodyContact& contact, bool moved) const {
    return ToEigen(contact.row.plane.normal).dot(Way(contact, moved));
  }
  Eigen::Vector3d Start(const BodyContact& contact) const {
    Eigen::Vector3d way =
        Eigen::Vector3d(bodies[0].state.origin) - Eigen::Vector3d(bodies[1].state.origin);
    for (int k = 0; k < 2; ++k) {
      way += ToEigen(contact.sides[k].point.Of(bodies[k].x)) * double(bodies[k].state.scale) *
             (k == 0 ? 1.0 : -1.0);
    }
    return way;
  }

  // How far a unit impulse moves a contact [1/kg].
  double ResponseOf(const BodyContact& contact) const {
    double sum = 0.0;
    for (int k = 0; k < 2; ++k) {
      sum += bodies[k].ResponseOf(contact.sides[k].point) /
             std::pow(double(bodies[k].state.scale), 3.0);
    }
    return sum;
  }

  void Solve(int sweeps) {
    ContactSolve parts[2];
    for (int k = 0; k < 2; ++k) {
      parts[k] = {bodies[k].system, bodies[k].Problem(sweeps), &bodies[k].state, bodies[k].d};
      parts[k].problem.tolerance = 1.0e-9f;
    }
    parts[0].next = &parts[1];
    SolveWithContacts(&parts[0]);
  }

  // How far d is from A d = b + impulses, relative to the right-hand side.
  double Residual(int k) const {
    const RandomContacts& c = bodies[k];
    Points missing = c.Impulses();
    double largest = ToEigen(c.rhs).norm();
    const auto subtract = [&](const EmbeddedPoint& point, const Vec3& impulse) {
      largest = std::max(largest, ToEigen(impulse).norm());
      for (int i = 0; i < 4; ++i) {
        missing.col(point.nodes[i]) -= double(point.Free(i)) * ToEigen(impulse);
      }
    };
    for (const PlaneContact& contact : c.state.Current()) {
      subtract(c.state.PointOf(contact), contact.impulse);
    }
    for (const BodyContact& contact : contacts) {
      const double s = double(c.state.scale), sign = k == 0 ? 1.0 : -1.0;
      subtract(contact.sides[k].point,
               ToVec3(ToEigen(contact.row.impulse) * (sign / (s * s * s * s))));
    }
    for (size_t i = 0; i < c.pinned.size(); ++i) {
      if (c.pinned[i] != 0) missing.col(static_cast<Eigen::Index>(i)).setZero();
    }
    return missing.norm() / largest;
  }

  RandomContacts bodies[2];
  std::vector<BodyContact> contacts;
  std::vector<BodyContactSide> sides[2];
};

}  // namespace plush::test

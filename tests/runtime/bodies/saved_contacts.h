// SPDX-License-Identifier: MIT
// Contacts between two bodies as a state has them: also those that do not press, and where on the
// triangles they are.
#pragma once

#include "collision/surface_records.h"
#include "collision/vertex_positions.h"
#include "runtime/state/state_scene.h"
#include "state/state_format.h"

#include <catch2/catch.hpp>

#include <array>
#include <cstring>
#include <span>
#include <vector>

namespace plush::test {

struct SavedPair {
  StatePair pair = {};
  std::vector<StateBodyContact> contacts;
};

/// The contacts of a world's only pair of bodies.
inline SavedPair SavedPairOf(const World& world) {
  const std::vector<std::byte> state = SavedState(world);
  StateWorld of_world;
  std::memcpy(&of_world, &state[sizeof(StateHeader)], sizeof(of_world));
  REQUIRE(of_world.num_pairs == 1);
  REQUIRE(of_world.num_bodies == 2);
  const size_t count = of_world.num_body_contacts, bytes = count * sizeof(StateBodyContact);
  SavedPair saved;
  size_t at = PaddedSize(sizeof(StateHeader)) + PaddedSize(sizeof(StateWorld));
  for (;; at += kStateAlignment) {
    REQUIRE(at + PaddedSize(sizeof(StatePair)) + bytes <= state.size());
    std::memcpy(&saved.pair, &state[at], sizeof(StatePair));
    const StatePair& pair = saved.pair;
    if (pair.bodies[0] == 0 && pair.bodies[1] == 1 && pair.end == count) break;
  }
  saved.contacts.resize(count);
  if (count > 0) {
    std::memcpy(saved.contacts.data(), &state[at + PaddedSize(sizeof(StatePair))], bytes);
  }
  for (const StateBodyContact& contact : saved.contacts) {
    const float* const n = contact.normal;
    REQUIRE(n[0] * n[0] + n[1] * n[1] + n[2] * n[2] == Approx(1.0f).epsilon(1e-4));
  }
  return saved;
}

inline bool Presses(const StateBodyContact& contact) {
  return contact.force[0] != 0.0f || contact.force[1] != 0.0f || contact.force[2] != 0.0f;
}

/// Whether two contacts are the same points of both bodies.
inline bool IsSamePlace(const StateBodyContact& a, const StateBodyContact& b) {
  return std::memcmp(a.triangles, b.triangles, sizeof(a.triangles)) == 0 &&
         std::memcmp(a.u, b.u, sizeof(a.u)) == 0 && std::memcmp(a.v, b.v, sizeof(a.v)) == 0;
}

/// A contact's point on its first (0) or second body (1), whose nodes are at `x` [m].
inline Eigen::Vector3d PointOf(const StateBodyContact& contact, size_t side,
                               const CollisionView& surface, std::span<const Vec3> x) {
  const uint32_t triangle = contact.triangles[side];
  uint32_t patch = 0;
  while (TrianglesEnd(surface, patch) <= triangle) ++patch;
  const std::array<Vec3, 4> nodes = NodesOf(surface.tets[surface.patches[patch].tet], x);
  const double u = double(contact.u[side]), v = double(contact.v[side]);
  const double weights[3] = {1.0 - u - v, u, v};
  Eigen::Vector3d point = Eigen::Vector3d::Zero();
  WithTriangles(surface, [&](const auto& triangles) {
    for (int k = 0; k < 3; ++k) {
      const Vec4& vertex = surface.vertices[VertexOf(triangles[triangle], k)];
      point += weights[k] * ToEigen(VertexPosition(nodes, vertex));
    }
  });
  return point;
}

}  // namespace plush::test

// SPDX-License-Identifier: MIT
// Springs and constraints on single nodes, for tests.
#pragma once

#include "plush/world.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cstdint>

namespace plush::test {

/// A spring of 1e5 N/m from a node of a body to a place.
inline AttachmentDesc SpringOn(BodyId body, uint32_t node, const Vec3& target) {
  AttachmentDesc desc = {.body = body, .weights = {1.0f, 0.0f, 0.0f, 0.0f}, .target = target};
  std::fill_n(desc.nodes, 4, node);
  desc.stiffness = 1.0e5f;
  return desc;
}

/// Joins a spring to a node of another body instead.
inline void JoinTo(BodyId other, uint32_t node, AttachmentDesc* desc) {
  desc->other_body = other;
  desc->other_weights = {1.0f, 0.0f, 0.0f, 0.0f};
  std::fill_n(desc->other_nodes, 4, node);
  desc->target = {};
}

/// Attaches; fails the test if that fails.
inline AttachmentId AttachNode(World* world, const AttachmentDesc& desc) {
  AttachmentId id;
  REQUIRE(world->Attach(desc, &id).ok());
  return id;
}

/// A constraint that holds a node in place.
inline ConstraintDesc HoldOn(BodyId body, uint32_t node, const Vec3& target) {
  ConstraintDesc desc = {.body = body, .target = target};
  std::fill_n(desc.nodes, 4, node);
  return desc;
}

/// Adds it; fails the test if that fails.
inline ConstraintId HoldNode(World* world, const ConstraintDesc& desc) {
  ConstraintId id;
  REQUIRE(world->AddConstraint(desc, &id).ok());
  return id;
}

}  // namespace plush::test

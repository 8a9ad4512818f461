// SPDX-License-Identifier: MIT
// Creates and destroys bodies, and checks their descriptions.
#pragma once

#include "plush/asset.h"
#include "plush/body.h"

#include "body/body.h"

#include <cstdint>
#include <span>

namespace plush {

/// The override's coefficients; those not given are -1.
Coefficients CoefficientsOf(const MaterialOverride& material);

/// Applies the override `given` and the scale to the baked material. Errors: kInvalidArgument (a
/// value out of range, or stiffness or mass beyond float's range).
Status ResolveMaterial(const Asset& asset, const MaterialOverride& given, float scale,
                       BodyMaterial* out_material);

/// Errors: kInvalidArgument (out of range).
Status CheckSplitting(const SplittingSettings& settings);

/// Errors: kInvalidArgument (out of range).
Status CheckSolver(const BodySolver& solver);

/// Errors: kInvalidArgument (not open), kUnsupported (a static mesh).
Status CheckBodyAsset(const Asset& asset);

/// Returns kInvalidArgument if the asset lacks one of the nodes.
Status CheckPins(const Asset& asset, std::span<const uint32_t> pinned_nodes);

/// Returns kInvalidArgument if the position is beyond kMostCoordinate or the rotation is zero or
/// not finite.
Status CheckPose(const Pose& pose);

/// Puts the body's rest shape, times its scale, at `pose` (checked). It moves at `velocity` [m/s]
/// and turns about the pose's position at `angular_velocity` [rad/s]; pinned nodes rest. Sets
/// origin, nodes, size and rotations.
void PlaceBody(const Pose& pose, const Vec3& velocity, const Vec3& angular_velocity, Body* body);

/// What a body needs memory for, besides what its system says.
struct BodyParts {
  bool fixed = false;
  bool keeps_previous = false;
  bool reports_reactions = false;
  uint32_t max_contacts = UINT32_MAX;  ///< of WorldDesc
};

/// Allocates a body of the asset that is a user of the system already. It is not placed and has no
/// room for planes. Returns null if the allocator fails.
Body* AllocateBody(const Allocator& allocator, const Asset& asset, System* system,
                   const BodyParts& parts);

/// Checks the description, then allocates and places a body. It has room for `num_planes` planes,
/// `max_contacts` of WorldDesc, and for the positions before a step if `keep_previous`. Errors:
/// kInvalidArgument, kUnsupported, kOutOfMemory.
Status MakeBody(const Allocator& allocator, const Asset& asset, const BodyDesc& desc,
                size_t num_planes, uint32_t max_contacts, bool keep_previous, SystemCache* cache,
                Body** out_body);

/// Frees a body made by MakeBody.
void DestroyBody(const Allocator& allocator, SystemCache* cache, Body* body);

}  // namespace plush

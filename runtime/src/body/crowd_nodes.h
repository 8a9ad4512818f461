// SPDX-License-Identifier: MIT
// Node loops of a crowd's step: node_pass.h for 16 bodies, one per lane.
#pragma once

#include "base/node_vec.h"
#include "elasticity/element_pass.h"

#include <cstddef>

namespace plush {

/// Nodes of a crowd's bodies. A lane without a stepping body repeats another lane's `x` and `v`.
struct CrowdBodies {
  const NodeVec* x[kCrowdLanes];  ///< positions [m] and inverse masses [1/kg] (num_nodes x 1)
  const NodeVec* v[kCrowdLanes];  ///< velocities [m/s] (num_nodes x 1)
  float weight[kCrowdLanes];      ///< factor on gravity
  size_t num_nodes = 0;
};

/// PredictNodes for all lanes; `falls` (16 x 1) is 1 for lanes that start with gravity, else 0.
void PredictCrowd(const CrowdBodies& bodies, const Vec3& gravity, const float* falls, float h,
                  float* positions);

/// MakeInertialRhs for all lanes.
void MakeInertialCrowdRhs(const CrowdBodies& bodies, const Vec3& gravity, float h,
                          const float* positions, float* rhs);

/// Sums of the vectors `v` (num_nodes x 3 x 16) over the nodes (3 x 16).
void SumCrowd(size_t num_nodes, const float* v, float* sums);

/// KeepMomentum for lanes whose `keeps` (16 x 1) is 1, not 0. `momentum` (3 x 16), `d` (num_nodes x
/// 3 x 16).
void KeepCrowdMomentum(size_t num_nodes, const float* positions, const float* momentum,
                       const float* keeps, float* d);

/// positions += d (num_nodes x 3 x 16).
void MoveCrowd(size_t num_nodes, const float* d, float* positions);

/// A half-space for each lane, in the coordinates of its body.
struct CrowdPlane {
  Vec3 normal;                ///< unit, out of the solid
  float offset[kCrowdLanes];  ///< [m]; the lowest float for lanes that it does not touch
};

/// Lowers each lane's `gap` (16 x 1) to the distance of its nearest movable node from the plane
/// [m].
void LowerCrowdGap(size_t num_nodes, const float* positions, const CrowdPlane& plane, float* gap);

/// Raises each lane's `farthest` (16 x 1) to the largest coordinate of `vectors`, positions or
/// displacements `stride` numbers apart, or to infinity if one is not finite.
void RaiseCrowdReach(size_t num_nodes, size_t stride, const float* vectors, float* farthest);

/// FinishNodes for each lane whose `out_x` and `out_v` are not null; writes to them. `out_x` may be
/// the body's x or another array.
void FinishCrowd(const CrowdBodies& bodies, const float* positions, const Vec3& gravity, float h,
                 NodeVec* const (&out_x)[kCrowdLanes], NodeVec* const (&out_v)[kCrowdLanes]);

}  // namespace plush

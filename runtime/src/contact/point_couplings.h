// SPDX-License-Identifier: MIT
// How points that touch something answer impulses on each other, through the splitting step's
// constant matrix: S_ij = w_i^T A^-1 w_j, w the points' weights, the same for the three axes.
#pragma once

#include "plush/allocator.h"

#include "base/array.h"
#include "base/node_vec.h"
#include "solver/panel_solve.h"
#include "solver/system_matrix.h"
#include "touching/contact_problem.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

namespace plush {

/// A factor, and the matrix it belongs to.
struct FactoredSystem {
  SystemView system;
  PanelFactor factor;
  std::span<float> workspace;  ///< of solves (PanelWorkspaceSize x 1)
  uint64_t id = 0;             ///< identifies the factor among those of its matrix; never 0
};

/// Most points of a body that can touch something at once: in a small body up to 16 more than
/// it has nodes. `max_contacts`: of WorldDesc.
constexpr uint32_t MostTouchingPoints(uint32_t num_nodes, uint32_t max_contacts = UINT32_MAX) {
  const uint32_t most = 192 + num_nodes / 16, small = num_nodes + 16;
  return std::min({small, most, max_contacts});
}

/// Length of the rows of such points' couplings: whole vectors.
constexpr uint32_t CouplingStride(uint32_t num_points) {
  constexpr uint32_t kMostLanes = 16;
  return (num_points + kMostLanes - 1) / kMostLanes * kMostLanes;
}

/// Points that touch, each in a slot, and S between them. Kept between solves: a new point costs a
/// third of a solve with A on few supernodes; in small bodies, 16 share one. A pair's value comes
/// from the column of the later point, so its rounding depends on the order.
struct PointCouplings {
  static constexpr uint32_t kNoSlot = UINT32_MAX;

  uint64_t factor_id = 0;       ///< of the factor that the values belong to, or 0
  uint32_t num_slots = 0;       ///< at most `points.size()`
  uint32_t num_known = 0;       ///< slots with values: the first ones
  uint32_t stride = 0;          ///< of rows. Find sets the least one: rows side by side take few
                                ///< pages
  Array<float> values;          ///< symmetric [1/kg]; unused ones are anything (capacity x stride)
  Array<EmbeddedPoint> points;  ///< by slot (capacity x 1)
  // Scratch memory.
  Array<uint32_t> new_slots;  ///< see Keep and SlotIndex (capacity x 1)
  Array<NodeVec> columns;     ///< of A^-1 W^T; between calls of Find, scratch (num_nodes + 1 x 1)
  Array<uint8_t> marks;       ///< see MarkPath (num_nodes x 1)

  /// Allocates everything. Returns false if the allocator fails.
  bool Allocate(const Allocator& allocator, uint32_t num_nodes, uint32_t max_contacts);

  /// Forgets all points. Then there is room for values of as many as there can be.
  void Forget() {
    num_slots = num_known = 0;
    factor_id = 0;
    stride = CouplingStride(static_cast<uint32_t>(points.size()));
  }

  /// Gives a point the next slot, without values. There must be a free one.
  uint32_t Add(const EmbeddedPoint& point) {
    points[num_slots] = point;
    return num_slots++;
  }

  /// Keeps the slots whose `new_slots` is not kNoSlot, in their order, and writes their new places
  /// there.
  void Keep();

  const float* Row(uint32_t slot) const { return &values[size_t{stride} * slot]; }
  float* Row(uint32_t slot) { return &values[size_t{stride} * slot]; }

  /// Finds all values that are not known. Returns whether it has used `columns`. Does not allocate.
  /// Takes up to 32 KB of the stack.
  bool Find(const FactoredSystem& system);

 private:
  void SetStride(uint32_t to);
  void FindFewNodes(const FactoredSystem& system);
  void Solve(const FactoredSystem& system);
};

/// Finds slots by places: a hash table over all points but those that touch other bodies. A body
/// that lies flat has hundreds of slots and tests thousands of vertices in each search. Uses
/// `new_slots`, so that Keep ends its use.
class SlotIndex {
 public:
  explicit SlotIndex(PointCouplings* couplings);

  /// The first slot of a point at this place, or PointCouplings::kNoSlot.
  uint32_t Find(const EmbeddedPoint& point) const;

  /// Whether there may be a point with this first weight.
  bool MayHave(float first_weight) const;

  /// Gives a point the next slot, without values. There must be a free one.
  uint32_t Add(const EmbeddedPoint& point);

 private:
  static constexpr uint32_t kBuckets = 256;

  static uint32_t BucketOf(float first_weight, uint32_t first_node);
  void Insert(uint32_t slot);

  PointCouplings* couplings_;
  uint32_t last_[kBuckets];  // slot; `new_slots` has the one before each
};

}  // namespace plush

// SPDX-License-Identifier: MIT
// The matrix of the coarse level at the current positions, its factor, and solves.
//
// C = Z^T (M + dt (dt + damping) H) Z, where H charges 2 mu V |sym(R^T D)|^2 with the current
// rotations R. Tets that see the same two clusters (or pins) form a group, which the few tets join
// that see more. A group's stiffness against
// rigid motions of its clusters is made once, at rest, about the group's centre. Each step turns it
// by the group's mean rotation and moves it to its current centre.
//
// All motions are about one common point. So a motion of the whole body is the same six numbers for
// each cluster, and the rows of H sum to zero: C keeps a free body's momentum and angular momentum,
// unless a cluster's nodes are on a line, about which it gets inertia.
// Neighbouring clusters nearly form a tree. So C is factored as a sparse matrix of 6x6 blocks,
// C = L L^T, in an order of least degrees. In double precision, because turns about a point far
// from a cluster nearly depend on its translations.
#pragma once

#include "plush/allocator.h"
#include "plush/types.h"

#include "base/array.h"
#include "elasticity/elements.h"

#include <cstddef>
#include <cstdint>
#include <span>

namespace plush {

struct ClusterSums;

/// Two clusters of a group, and the row of blocks in which they meet.
struct CoarsePair {
  static constexpr uint32_t kPins = 0xffffffff;
  uint32_t row = 0, column = 0;  ///< clusters; column may be kPins
  uint32_t block = 0;            ///< of row and column
};

/// Tets that see the same clusters; see above.
struct CoarseGroup {
  static constexpr size_t kSamples = 4;
  uint32_t slots[kSamples];      ///< places of the tets that say where the group is
  uint32_t nodes[4 * kSamples];  ///< of these tets
  uint32_t first_pair = 0, end_pair = 0;
};

/// What all matrices of a system share. Block k < num_clusters is the diagonal one of cluster k.
struct CoarsePattern {
  /// Numbers of a block: six columns of six rows and two spare ones.
  static constexpr size_t kBlock = 48;

  Array<CoarseGroup> groups;
  Array<CoarsePair> pairs;
  Array<double> stiffness;    ///< of each pair, without dt [J/m^2, J/m, J] (48 num_pairs x 1)
  Array<uint32_t> order;      ///< clusters as they are eliminated
  Array<uint32_t> first_row;  ///< of each of `order` in `rows` (num_clusters + 1 x 1)
  Array<uint32_t> rows;  ///< clusters below the diagonal, as they are eliminated; row i has block
                         ///< num_clusters + i
  Array<uint32_t> targets;  ///< blocks that an elimination changes, by column, then row (of each of
                            ///< `order`)

  size_t num_clusters() const { return order.size(); }
  size_t num_blocks() const { return order.size() + rows.size(); }

  /// `of_nodes`: their clusters, or CoarsePair::kPins (num_nodes x 1). Returns false if the
  /// allocator fails.
  bool Build(const Allocator& allocator, const ElementView& elements, std::span<const Vec3> rest,
             std::span<const uint32_t> of_nodes, uint32_t num_clusters);
};

/// Positions of nodes in a body or in a lane of a crowd.
struct NodePlaces {
  const float* first = nullptr;
  size_t node = 0;  ///< from a node to the next
  size_t axis = 0;  ///< from a coordinate to the next

  Vec3 At(size_t i) const {
    const float* at = first + node * i;
    return {at[0], at[axis], at[2 * axis]};
  }
};

/// A factored matrix.
class CoarseMatrix {
 public:
  /// Makes room for matrices of a pattern. Returns false if the allocator fails.
  bool Allocate(const Allocator& allocator, const CoarsePattern& pattern);

  /// Makes and factors C. Does not allocate.
  /// - `scale`: dt (dt + damping) [s^2].
  /// - `masses`: of the clusters [kg]; `sums`: at the current positions (num_clusters x 1 each).
  /// - Clusters that `turns` is 0 for only shift (num_clusters x 1).
  void Make(const CoarsePattern& pattern, float scale, std::span<const float> masses,
            std::span<const uint8_t> turns, const NodePlaces& y, const RotationView& rotations,
            std::span<const ClusterSums> sums);

  /// Replaces each cluster's impulse and moment about its centre by its shift and turn (8
  /// num_clusters x 1, two spare numbers per cluster). Motions that no node can tell from others
  /// are zero. Does not allocate.
  void Solve(const CoarsePattern& pattern, std::span<double> q) const;

  /// Writes how all clusters move by a unit impulse on cluster `k` along each axis, and by a unit
  /// moment about its centre: shift and turn of each cluster (6 num_clusters x 6, by columns).
  /// Scratch memory: `q` (6 num_clusters x 8). Does not allocate.
  void Respond(const CoarsePattern& pattern, size_t k, std::span<double> q,
               std::span<float> out) const;

 private:
  Array<double> blocks_;
  Array<double> centres_;  // of the clusters from the common point (4 num_clusters x 1)
};

}  // namespace plush

// SPDX-License-Identifier: MIT
// Motions of a body's clusters during sweeps on the coarse level, and how they answer impulses.
#pragma once

#include "plush/allocator.h"

#include "base/array.h"
#include "base/vector_math.h"
#include "solver/coarse_level.h"
#include "touching/contact_problem.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

namespace plush {

/// A point on the coarse level: it moves with up to four clusters.
struct CoarsePoint {
  struct Part {
    uint16_t cluster;
    float weight;
    Vec3 arm;  ///< weighted, from the cluster's centre [m]
  };
  Part parts[4];
  int num_parts = 0;
};

/// How clusters answer impulses on touched clusters, C^-1, found when they are first needed; and
/// their motions in the current solve.
struct CoarseResponses {
  Array<float> columns;     ///< of C^-1, see CoarseMatrix::Respond ((6 num_clusters)^2 x 1)
  Array<uint8_t> known;     ///< whether a cluster's columns are (num_clusters x 1)
  Array<double> scratch;    ///< (6 num_clusters x 8)
  Array<ClusterSums> sums;  ///< of a solve of several bodies (num_clusters x 1)
  // Of TouchedClusters (num_clusters x 1, motions x 6).
  Array<Vec3> centres;
  Array<float> motions;

  bool Allocate(const Allocator& allocator, size_t num_clusters);
  /// To be called when C changes.
  void Forget() { std::fill(known.begin(), known.end(), uint8_t{0}); }
};

/// Motions of the clusters, kept up to date.
class TouchedClusters {
 public:
  /// Starts from C^-1 `sums`. The arguments must outlive the solve.
  void Start(const CoarseLevel& coarse, const CoarseMatrix& matrix,
             std::span<const ClusterSums> sums, CoarseResponses* responses);

  /// Displacement of a node at `x` of cluster `k`, to first order [m].
  Vec3 Displacement(size_t k, const Vec3& x) const {
    const float* q = q_ + 6 * k;
    return Vec3{q[0], q[1], q[2]} + Cross(Vec3{q[3], q[4], q[5]}, x - responses_->centres[k]);
  }
  /// The same for a point.
  Vec3 Displacement(const CoarsePoint& point) const;

  /// A point's parts; its nodes are at `at` (4 x 1) [m]. Touches its clusters.
  CoarsePoint Place(const EmbeddedPoint& point, std::span<const uint16_t> clusters, const Vec3* at);

  /// Adds an impulse on a point to the motions and to `sums` [kg m].
  void Push(const CoarsePoint& point, const Vec3& impulse, std::span<ClusterSums> sums);

  /// D's block of a point: displacements per impulse [1/kg].
  Mat3 Response(const CoarsePoint& point) const;

 private:
  void AddResponse(size_t touched, const float* load, size_t k, float* q) const;
  void Touch(uint16_t k);

  const CoarseLevel* coarse_ = nullptr;
  const CoarseMatrix* matrix_ = nullptr;
  CoarseResponses* responses_ = nullptr;
  float* q_ = nullptr;  // responses_->motions
};

}  // namespace plush

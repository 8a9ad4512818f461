// SPDX-License-Identifier: MIT
// Contacts while clusters of nodes move rigidly (the coarse level).
//
// A solve with A resists turns. So it stops a stiff, light body that lands on one node as a whole,
// instead of letting it turn about the node: the normal impulse is far too large. The coarse level
// would then throw the body up. So it changes the impulses, too.
#pragma once

#include "base/array.h"
#include "contact/attached_points.h"
#include "contact/plane_contacts.h"
#include "solver/coarse_level.h"

#include <algorithm>
#include <cstdint>
#include <span>

namespace plush {

/// How clusters answer impulses on touched clusters, C^-1. Found when they are first needed.
struct CoarseResponses {
  Array<float> columns;   ///< of C^-1, see CoarseMatrix::Respond ((6 num_clusters)^2 x 1)
  Array<uint8_t> known;   ///< whether a cluster's columns are (num_clusters x 1)
  Array<double> scratch;  ///< (6 num_clusters x 8)

  bool Allocate(const Allocator& allocator, size_t num_clusters);
  /// To be called when C changes.
  void Forget() { std::fill(known.begin(), known.end(), uint8_t{0}); }
};

/// Adds the impulses of the last solve to the clusters' sums at positions `y` (num_nodes x 1).
/// `clusters`: of the nodes (num_nodes x 1).
void AddContactImpulses(const ContactState& state, std::span<const uint16_t> clusters,
                        std::span<const NodeVec> y, std::span<ClusterSums> sums);

/// Finds impulses for which clusters that move by C^-1 Z^T (rhs + impulses) keep their points out
/// of the planes, with Coulomb's friction, and for which attached points obey their springs. Starts
/// from the impulses of the last solve. Adds contacts for points that would sink into a plane.
/// - `state`, which may be null: no contacts. `problem` is then not read.
/// - `attached`, which may be null: Locate has been called at problem.y.
/// - `sums`: of the right-hand side and the impulses of the last solve at problem.y; on return of
///   the right-hand side and the new impulses (num_clusters x 1).
/// - `clusters`: of the nodes (num_nodes x 1).
/// - `responses`: those of `matrix` that are known; more on return.
/// - Scratch memory: `d` (num_nodes + 1 x 1).
/// Does not allocate.
void SolveCoarseContacts(const CoarseLevel& coarse, const CoarseMatrix& matrix,
                         std::span<const uint16_t> clusters, const ContactProblem& problem,
                         ContactState* state, AttachedPoints* attached, std::span<ClusterSums> sums,
                         CoarseResponses* responses, std::span<NodeVec> d);

}  // namespace plush

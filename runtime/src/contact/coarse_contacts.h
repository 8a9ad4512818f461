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
#include "contact/touched_clusters.h"
#include "solver/coarse_level.h"

#include <algorithm>
#include <cstdint>
#include <span>

namespace plush {

/// Adds the impulses of the last solve to the clusters' sums at positions `y` (num_nodes x 1).
/// `clusters`: of the nodes (num_nodes x 1).
void AddContactImpulses(const ContactState& state, std::span<const uint16_t> clusters,
                        std::span<const NodeVec> y, std::span<ClusterSums> sums);

/// A body's part in a coarse solve, and the next body of the solve.
struct CoarseContacts {
  const CoarseLevel* coarse = nullptr;
  const CoarseMatrix* matrix = nullptr;
  std::span<const uint16_t> clusters;  ///< of the nodes (num_nodes x 1)
  ContactProblem problem;              ///< of `accuracy` only, if `state` is null
  ContactState* state = nullptr;       ///< null: no contacts
  AttachedPoints* attached = nullptr;  ///< null: none. Locate has been called at problem.y
  /// Of the right-hand side and the impulses of the last solve at problem.y; after the solve of
  /// the right-hand side and the new impulses (num_clusters x 1).
  std::span<ClusterSums> sums;
  CoarseResponses* responses = nullptr;  ///< those of `matrix` that are known; more on return
  std::span<NodeVec> d;                  ///< scratch memory (num_nodes + 1 x 1)
  bool is_soft = false;                  ///< see IterationPlan; without springs
  bool moves = false;  ///< the current sweep moved a point by more than the accuracy
  CoarseContacts* next = nullptr;
  CoarseContacts* next_of_round[kSweepGroups] = {};  ///< see SweepRounds
  TouchedClusters touched;                           ///< of the solve
};

/// Finds impulses for which clusters that move by C^-1 Z^T (rhs + impulses) keep their points out
/// of the planes and of other bodies of the solve, with Coulomb's friction, and for which attached
/// points obey their springs. Starts from the impulses of the last solve. Adds contacts for points
/// that would sink into a plane, unless the body is soft: the solve that follows finds them.
/// Contacts with bodies that do not take part keep their impulses. Does not allocate. `jobs`:
/// shares bodies without springs between threads, or null.
void SolveCoarseContacts(CoarseContacts* first, const JobSystem* jobs = nullptr);

}  // namespace plush

// SPDX-License-Identifier: MIT
// Pairs of CdgTets of two bodies whose contents may meet [Civ 5.4.4].
//
// A descent of both trees down to the leaves tests thirty pairs of volumes for each pair of tets
// that it finds. So it stops at sub-trees of kMostLeaves. Their leaves near the other body are
// listed, and paired by their boxes, many at once; then the diagonals decide.
#pragma once

#include "base/float4.h"
#include "base/vector_math.h"
#include "collision/collision_state.h"
#include "collision/meeting_boxes.h"

#include <cstdint>
#include <span>

namespace plush {

/// Two bodies, and the way from the coordinates of the second to those of the first [m].
struct BodyPair {
  const CollisionBody &a, &b;
  Vec3 offset;
};

/// Rounding in the extents of two bodies [m].
float MarginOf(const BodyPair& pair);

/// Whether the volumes of both bodies may be used.
bool AreBounded(const BodyPair& pair);

/// Lists pairs of CdgTets of two bodies, in a fixed order. Takes 27 KB, on the stack of a search,
/// and does not allocate.
class TetPairs {
 public:
  /// Pairs tets whose contents may come within `distance` [m] of each other.
  TetPairs(const BodyPair& pair, float distance);

  /// Calls visit(tet of a, tet of b) for each pair. Returns false if a visit did.
  template <class Visit>
  bool For(const Visit& visit) {
    if (num_tets_[0] == 0 || num_tets_[1] == 0) return true;
    if (!AreBounded(pair_)) {
      for (uint32_t i = 0; i < num_tets_[0]; ++i) {
        for (uint32_t j = 0; j < num_tets_[1]; ++j) {
          if (!visit(i, j)) return false;
        }
      }
      return true;
    }
    Start();
    while (NextSubTrees()) {
      for (uint32_t i = 0; i < listed_a_.count; ++i) {
        const uint32_t count = Meeting(i);
        for (uint32_t k = 0; k < count; ++k) {
          if (!visit(listed_a_.leaf[i], listed_b_.leaf[meeting_[k]])) return false;
        }
      }
    }
    return true;
  }

 private:
  static constexpr uint32_t kMostLeaves = 512;
  static constexpr uint32_t kMostWaiting = 2 * kMaxTreeDepth;  // a step descends by one in one tree

  // A part of the tree over the tets, with `count` leaves from `leaf` on.
  struct SubTree {
    uint32_t node, leaf, count;
  };
  struct Waiting {
    SubTree a, b;
  };
  // Leaves of a part that are near the other body.
  struct Leaves {
    uint32_t count;
    uint32_t leaf[kMostLeaves], node[kMostLeaves];
  };

  void Start();
  bool NextSubTrees();
  bool AreApart(const Dop14& a, const Dop14& b) const;
  void ListOfB(const SubTree& part, const Dop14& of_a);
  void ListOfA(const SubTree& part);
  uint32_t Meeting(uint32_t listed);

  const BodyPair pair_;
  const uint32_t num_tets_[2];
  DopLanes shift_;
  Float4 margin_;
  Waiting waiting_[kMostWaiting];
  uint32_t num_waiting_ = 0;
  Leaves listed_a_, listed_b_;
  // Boxes of listed_b_ in the coordinates of a, widened by the margin, and of chunks of them.
  float low_[3][kMostLeaves + kLanePadding], high_[3][kMostLeaves + kLanePadding];
  float chunk_low_[3][kMostLeaves / kBoxChunk + kLanePadding];
  float chunk_high_[3][kMostLeaves / kBoxChunk + kLanePadding];
  uint32_t meeting_[kMostLeaves + kLanePadding];  // of listed_b_
};

}  // namespace plush

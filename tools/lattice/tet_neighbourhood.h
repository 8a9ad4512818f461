// SPDX-License-Identifier: MIT
// Tets that hang together near a tet of the cage.
//
// Which tets of a cage overlap in space by design.
//
// Where the boundary of a cage passes through itself.
#pragma once

#include "lattice/cage_boundary.h"
#include "lattice/split_cage.h"

#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace plush::tools {

/// Pairs of boundary faces that share a point beyond common nodes, exactly, without those whose
/// tets overlap by design (MayOverlap). Indices into faces.boundary, ascending.
std::vector<std::array<uint32_t, 2>> FindCageCrossings(const SplitCage& cage,
                                                       const CageFaces& faces, double cell);

/// Whether the boundaries of two tets may pass through each other: their places in the lattice were
/// within three cells of each other, and they do not hang together (TetNeighbourhood) or have
/// different copies of one lattice node. `cell` [m].
bool MayOverlap(const SplitCage& cage, uint32_t tet, uint32_t other, bool connected, double cell);

/// Tells the tets that hang together with a tet from those that are only near it in space.
///
/// They are reached across faces and share a node with a tet that shares a node with it: a node of
/// the tet moves by about a cell, far less than they extend. Other strands do not belong to a
/// strand's neighbourhood, although both hang on one stem: of the copies of one lattice tet those
/// count that are reached in the fewest steps, or one more.
class TetNeighbourhood {
 public:
  /// Keeps references.
  TetNeighbourhood(const SplitCage& cage, const CageFaces& faces);

  /// Turns to the neighbourhood of `tet`. Found at the first call for a tet and kept.
  void LookAround(uint32_t tet);
  /// Whether `tet` belongs to the neighbourhood looked at.
  bool Has(uint32_t tet) const { return stamps_[tet] == stamp_; }
  /// Whether `tet` is a copy of a lattice tet of the neighbourhood, but of another strand.
  bool IsOtherStrand(uint32_t tet) const { return stamps_[tet] == stamp_ + 1; }

 private:
  struct Near {
    std::vector<uint32_t> tets;
    std::vector<uint32_t> others;  // copies of their lattice tets in other strands
  };
  Near Find(uint32_t tet);
  bool IsLaterThanACopy(uint32_t tet, uint32_t step) const;

  static constexpr uint32_t kNotReached = UINT32_MAX;

  const SplitCage& cage_;
  const CageFaces& faces_;
  std::vector<Near> near_;        // per tet; empty: not looked at yet
  std::vector<uint32_t> stamps_;  // (num_tets x 1)
  uint32_t stamp_ = 0;            // even; the next number marks other strands
  std::vector<std::vector<uint32_t>> tets_of_node_;
  std::vector<uint8_t> wanted_;      // per tet, while one is looked at
  std::vector<uint32_t> steps_;      // the same
  std::vector<uint32_t> next_copy_;  // per tet the next copy of its lattice tet, in a ring
};

}  // namespace plush::tools

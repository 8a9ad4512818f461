// SPDX-License-Identifier: MIT
// Which tets near a tet of the cage are connected to it, and which overlap it in space by design;
// and where the boundary of a cage passes through itself.
#pragma once

#include "lattice/cage_boundary.h"
#include "lattice/split_cage.h"

#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace plush::tools {

/// Pairs of boundary faces that share a point other than common nodes and edges (decided exactly),
/// except faces of tets that overlap by design (MayOverlap). Indices into faces.boundary,
/// ascending. `cell` [m].
std::vector<std::array<uint32_t, 2>> FindCageCrossings(const SplitCage& cage,
                                                       const CageFaces& faces, double cell);

/// Whether two tets overlap by design, so that their boundaries may pass through each other. Both
/// conditions must hold:
/// - Their centres were less than three cells apart in the lattice.
/// - They are not connected (`connected`: TetNeighbourhood), or they have different copies of one
///   lattice node.
/// `cell` [m].
bool MayOverlap(const SplitCage& cage, uint32_t tet, uint32_t other, bool connected, double cell);

/// Separates the tets that are connected to a tet from those that are only near it in space.
///
/// - The neighbourhood of a tet lies within two rings around it: tets that share a node with it,
///   and tets that share a node with one of those. A node moves by about a cell, far less than
///   that.
/// - Within the rings it consists of the tets that are reached across faces.
/// - Another strand does not belong to it, even if both start at one stem. If several copies of one
///   lattice tet are reached, only those count that are reached in the fewest steps, or one more.
class TetNeighbourhood {
 public:
  /// Keeps references.
  TetNeighbourhood(const SplitCage& cage, const CageFaces& faces);

  /// Selects the neighbourhood of `tet`. The first call for a tet finds it, later calls reuse it.
  void LookAround(uint32_t tet);
  /// Whether `tet` belongs to the selected neighbourhood.
  bool Has(uint32_t tet) const { return stamps_[tet] == stamp_; }
  /// Whether `tet` belongs to another strand and is a copy of a lattice tet that the selected
  /// neighbourhood also has.
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
  std::vector<Near> near_;        // per tet; empty until LookAround
  std::vector<uint32_t> stamps_;  // per tet: stamp_ if selected, stamp_ + 1 if in another strand
  uint32_t stamp_ = 0;            // of the selected neighbourhood; even
  std::vector<std::vector<uint32_t>> tets_of_node_;
  std::vector<uint8_t> wanted_;      // per tet: whether it lies within the two rings, during Find
  std::vector<uint32_t> steps_;      // per tet: steps from the first one, during Find
  std::vector<uint32_t> next_copy_;  // per tet: the next copy of its lattice tet, in a cycle
};

}  // namespace plush::tools

// SPDX-License-Identifier: MIT
// Groups the columns of the factor that are stored and solved together.
#pragma once

#include "plush/format/factor_panels.h"

#include "rest/elimination_order.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace plush::tools {

/// Pattern of a factor by supernodes, as runtime/include/plush/format/factor_panels.h describes it.
struct FactorLayout {
  /// By height in the tree of supernodes, at equal height by first column; those from num_free on
  /// after all others. Each comes after all that update it.
  std::vector<Supernode> supernodes;
  /// Below the columns of each supernode, ascending, padded with the number of nodes to a multiple
  /// of kRowPadding.
  std::vector<uint32_t> rows;
  size_t num_values = 0;  ///< sum of PanelValues
};

/// Divides the columns of the factor of a matrix with this pattern into supernodes. A solve costs
/// least by a model of its inner loops.
/// - The nodes of `graph` are in the order of ChooseEliminationOrder. No supernode has columns from
///   both sides of `num_free`.
/// - Supernodes store at most 2.2 numbers per non-zero, with padding. If padding alone exceeds
/// that,
///   they store as few zeros as possible.
/// - If K is the supernode with the first row of J as a column, the rows of J beyond the columns of
///   K are rows of K.
///
/// Precondition: less than 2^30 non-zeros. O(non-zeros) time.
FactorLayout FindSupernodes(const NodeGraph& graph, uint32_t num_free);

}  // namespace plush::tools

// SPDX-License-Identifier: MIT
// The pattern of a BlockMatrix, and its products. A row's sum is that of its groups' first, second,
// third and fourth blocks, added up at the end: the same for every instruction set.
// Source: see block_matrix.h.
#include "elasticity/block_matrix.h"

#include "base/float4.h"
#include "base/simd_target.h"

#include <algorithm>
#include <utility>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "elasticity/block_matrix.cpp"
#include <hwy/foreach_target.h>
// Must follow foreach_target.h.
#include "base/lanes-inl.h"

HWY_BEFORE_NAMESPACE();
namespace plush {
namespace HWY_NAMESPACE {
namespace {

#if HWY_TARGET == HWY_SCALAR

void Product(const uint32_t* groups, size_t num_rows, const uint32_t* columns,
             const NodeVec* values, const NodeVec* x, NodeVec* out) {
  for (size_t row = 0; row < num_rows; ++row) {
    Vec3 sums[kGroupBlocks];
    for (size_t g = groups[row]; g < groups[row + 1]; ++g) {
      const NodeVec* at = &values[kGroupVectors * g];
      for (size_t k = 0; k < kGroupBlocks; ++k) {
        const NodeVec& node = x[columns[kGroupBlocks * g + k]];
        sums[k] += at[k] * node.x;
        sums[k] += at[kGroupBlocks + k] * node.y;
        sums[k] += at[2 * kGroupBlocks + k] * node.z;
      }
    }
    out[row] = NodeVec((sums[0] + sums[2]) + (sums[1] + sums[3]), 0.0f);
  }
}

#else

// Gathers the nodes of N / 4 blocks.
template <class D>
HWY_INLINE hn::Vec<D> GatherColumns(D d, const NodeVec* x, const uint32_t* columns) {
  constexpr size_t N = kLanes<D>;
  if constexpr (N == 16) {
    return LoadBlocks(d, &x[columns[0]].x, &x[columns[1]].x, &x[columns[2]].x, &x[columns[3]].x);
  } else if constexpr (N == 8) {
    const hn::Half<D> d4;
    return hn::Combine(d, hn::Load(d4, &x[columns[1]].x), hn::Load(d4, &x[columns[0]].x));
  } else {
    return hn::Load(d, &x[columns[0]].x);
  }
}

// Adds the sums of four blocks up.
template <class D, class V = hn::Vec<D> >
HWY_INLINE void StoreSum(D d, const V* sums, float* to) {
  constexpr size_t N = kLanes<D>;
  if constexpr (N == 16) {
    const hn::Half<D> d8;
    const hn::Half<hn::Half<D> > d4;
    const auto pairs = hn::Add(hn::LowerHalf(d8, sums[0]), hn::UpperHalf(d8, sums[0]));
    hn::Store(hn::Add(hn::LowerHalf(d4, pairs), hn::UpperHalf(d4, pairs)), d4, to);
  } else if constexpr (N == 8) {
    const hn::Half<D> d4;
    const auto pairs = hn::Add(sums[0], sums[1]);
    hn::Store(hn::Add(hn::LowerHalf(d4, pairs), hn::UpperHalf(d4, pairs)), d4, to);
  } else {
    hn::Store(hn::Add(hn::Add(sums[0], sums[2]), hn::Add(sums[1], sums[3])), d, to);
  }
}

void Product(const uint32_t* groups, size_t num_rows, const uint32_t* columns,
             const NodeVec* values, const NodeVec* x, NodeVec* out) {
  const Lanes16 d;
  using V = hn::Vec<Lanes16>;
  constexpr size_t N = kLanes<Lanes16>, kParts = 16 / N, kBlocks = kGroupBlocks / kParts;
  for (size_t row = 0; row < num_rows; ++row) {
    V sums[kParts];
    for (V& sum : sums) sum = hn::Zero(d);
    for (size_t g = groups[row]; g < groups[row + 1]; ++g) {
      for (size_t p = 0; p < kParts; ++p) {
        const float* at = &values[kGroupVectors * g + kBlocks * p].x;
        const V node = GatherColumns(d, x, &columns[kGroupBlocks * g + kBlocks * p]);
        sums[p] = Fma(hn::Load(d, at), hn::Broadcast<0>(node), sums[p]);
        sums[p] = Fma(hn::Load(d, at + 16), hn::Broadcast<1>(node), sums[p]);
        sums[p] = Fma(hn::Load(d, at + 32), hn::Broadcast<2>(node), sums[p]);
      }
    }
    StoreSum(d, sums, &out[row].x);
  }
}

#endif

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace plush
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace plush {

HWY_EXPORT(Product);

namespace {

// The node of a tet's place, 0 to 3.
uint32_t NodeOf(const Tet& tet, size_t k) {
  const uint32_t nodes[4] = {tet.a, tet.b, tet.c, tet.d};
  return nodes[k];
}

// Calls visit(row, column) for the pairs of different nodes that share a tet: several times each.
template <class Visit>
void ForPairs(const ElementView& elements, const Visit& visit) {
  for (const Tet& tet : elements.tets) {
    for (size_t r = 0; r < 4; ++r) {
      for (size_t c = 0; c < 4; ++c) {
        if (c != r) visit(NodeOf(tet, r), NodeOf(tet, c));
      }
    }
  }
}

}  // namespace

bool BlockMatrix::Reserve(const Allocator& allocator, const ElementView& elements,
                          size_t num_nodes) {
  // The columns of each row, sorted and distinct.
  Array<uint32_t> ends, all;
  if (!ends.Allocate(allocator, num_nodes + 1, 0u) ||
      !all.Allocate(allocator, kTetPairs * elements.tets.size())) {
    return false;
  }
  ForPairs(elements, [&](uint32_t row, uint32_t) { ++ends[row + 1]; });
  for (size_t row = 0; row < num_nodes; ++row) ends[row + 1] += ends[row];
  const auto first_of = [&](size_t row) { return row == 0 ? 0u : ends[row - 1]; };
  // While columns are written, ends[row] is where the next one of the row goes; then its end.
  ForPairs(elements, [&](uint32_t row, uint32_t column) { all[ends[row]++] = column; });
  Array<uint32_t> first_group, group_columns, pair_places;
  if (!first_group.Allocate(allocator, num_nodes + 1, 0u)) return false;
  const auto columns_of = [&](size_t row) {
    return all.span().subspan(first_of(row), ends[row] - first_of(row));
  };
  const auto distinct = [&](size_t row) {
    const std::span<uint32_t> of = columns_of(row);
    const size_t count = static_cast<size_t>(std::unique(of.begin(), of.end()) - of.begin());
    return of.first(count);
  };
  for (size_t row = 0; row < num_nodes; ++row) {
    const std::span<uint32_t> of = columns_of(row);
    std::sort(of.begin(), of.end());
    size_t count = 1;  // the diagonal
    for (size_t k = 0; k < of.size(); ++k) count += k == 0 || of[k] != of[k - 1] ? 1u : 0u;
    const size_t needed = (count + kGroupBlocks - 1) / kGroupBlocks;
    first_group[row + 1] = first_group[row] + static_cast<uint32_t>(needed);
  }
  const size_t num_groups = first_group[num_nodes];
  Array<NodeVec> blocks;
  if (!group_columns.Allocate(allocator, kGroupBlocks * num_groups,
                              static_cast<uint32_t>(num_nodes)) ||
      !pair_places.Allocate(allocator, kTetPairs * kBlockTets * elements.blocks.size(),
                            static_cast<uint32_t>(kGroupVectors * num_groups)) ||
      !blocks.Allocate(allocator, kGroupVectors * (num_groups + 1))) {
    return false;
  }
  for (size_t row = 0; row < num_nodes; ++row) {
    uint32_t* to = &group_columns[kGroupBlocks * first_group[row]];
    *to++ = static_cast<uint32_t>(row);
    for (const uint32_t column : distinct(row)) *to++ = column;
  }
  for (size_t t = 0; t < elements.tets.size(); ++t) {
    const size_t slot = elements.slots[t];
    for (size_t r = 0; r < 4; ++r) {
      const uint32_t row = NodeOf(elements.tets[t], r);
      const uint32_t* const first = &group_columns[kGroupBlocks * first_group[row]];
      const uint32_t* const end = &group_columns[0] + kGroupBlocks * first_group[row + 1];
      for (size_t c = 0; c < 4; ++c) {
        if (c == r) continue;
        const uint32_t column = NodeOf(elements.tets[t], c);
        const auto index = static_cast<size_t>(std::lower_bound(first + 1, end, column) - first);
        const size_t group = first_group[row] + index / kGroupBlocks;
        pair_places[kBlockTets * (kTetPairs * (slot / kBlockTets) + PairOf(r, c)) +
                    slot % kBlockTets] =
            static_cast<uint32_t>(kGroupVectors * group + index % kGroupBlocks);
      }
    }
  }
  groups = std::move(first_group);
  columns = std::move(group_columns);
  places = std::move(pair_places);
  values = std::move(blocks);
  return true;
}

void BlockMatrix::Clear() { std::fill(values.begin(), values.end(), NodeVec()); }

void BlockMatrix::CloseRows() {
  for (size_t row = 0; row < num_rows(); ++row) {
    Float4 diagonal[3] = {Broadcast(0.0f), Broadcast(0.0f), Broadcast(0.0f)};
    NodeVec* const first = &values[kGroupVectors * groups[row]];
    NodeVec* const end = &values[0] + kGroupVectors * groups[row + 1];
    for (size_t c = 0; c < 3; ++c) first[kGroupBlocks * c] = NodeVec();
    for (const NodeVec* at = first; at != end; at += kGroupVectors) {
      for (size_t k = 0; k < kGroupBlocks; ++k) {
        for (size_t c = 0; c < 3; ++c) {
          diagonal[c] = diagonal[c] - Load4(&at[kGroupBlocks * c + k].x);
        }
      }
    }
    for (size_t c = 0; c < 3; ++c) Store4(diagonal[c], &first[kGroupBlocks * c].x);
  }
}

void BlockMatrix::Multiply(std::span<const NodeVec> x, std::span<NodeVec> out) const {
  HWY_DYNAMIC_DISPATCH(Product)
  (groups.data(), num_rows(), columns.data(), values.data(), x.data(), out.data());
  out[num_rows()] = NodeVec();
}

}  // namespace plush
#endif

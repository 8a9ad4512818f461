// SPDX-License-Identifier: MIT
// SolvePanels: forward and backward substitution by supernodes.
// On the way down, a load of L serves three multiply-adds, and a chunk of 16 rows is added to its
// nodes once. On the way up, a supernode's rows are gathered once, and a column is a sum of chunks.
#include "solver/panel_solve.h"

#include "base/simd_target.h"
#include "base/vector_math.h"
#include "solver/fetch_ahead.h"
#include "solver/pin_schur.h"

#include <algorithm>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "solver/panel_solve.cpp"
#include <hwy/foreach_target.h>
// Must follow foreach_target.h.
#include "base/lanes-inl.h"

// Once, not once per instruction set.
#ifndef PLUSH_SOLVER_PANEL_SOLVE_ONCE_
#define PLUSH_SOLVER_PANEL_SOLVE_ONCE_
namespace plush {
namespace {

// Adds what a block with a root lacks to the solution of its columns.
HWY_NOINLINE void AddRoot(float root, const NodeVec* b, uint32_t columns, NodeVec* found) {
  Vec3 sum;
  for (uint32_t j = 0; j < columns; ++j) sum += b[j];
  for (uint32_t j = 0; j < columns; ++j) found[j] += sum * root;
}

}  // namespace
}  // namespace plush
#endif

HWY_BEFORE_NAMESPACE();
namespace plush {
namespace HWY_NAMESPACE {
namespace {

// sum over columns j of block[:, j] b_j for kChunks chunks of kRows rows, in vectors of D.
template <size_t kRows, size_t kChunks, class D>
struct ChunkSum {
  static constexpr size_t N = kLanes<D>;
  static constexpr size_t kParts = kRows / N;
  using V = hn::Vec<D>;

  Xyz<V> sum[kChunks * kParts];

  HWY_INLINE ChunkSum(D d, const float* block, const NodeVec* b, uint32_t columns) {
    for (Xyz<V>& part : sum) part = {hn::Zero(d), hn::Zero(d), hn::Zero(d)};
    const size_t chunk = kRows * columns;
    for (uint32_t j = 0; j < columns; ++j, block += kRows) {
      const V x = hn::Set(d, b[j].x), y = hn::Set(d, b[j].y), z = hn::Set(d, b[j].z);
      for (size_t p = 0; p < kChunks * kParts; ++p) {
        const V l = hn::LoadU(d, block + p / kParts * chunk + N * (p % kParts));
        sum[p] = {Fma(l, x, sum[p].x), Fma(l, y, sum[p].y), Fma(l, z, sum[p].z)};
      }
    }
  }
};

// Chunks whose sums fit into the registers. One chunk of 16 lanes has three sums, too few to hide
// the latency of a multiply-add.
template <class D>
inline constexpr uint32_t kChunksAtOnce = kLanes<D> == 16 ? 2 : 1;

template <size_t kRows, size_t kChunks, class D>
HWY_INLINE void AddChunks(D d, const float* block, const NodeVec* b, uint32_t columns,
                          const uint32_t* rows, NodeVec* x) {
  const ChunkSum<kRows, kChunks, D> of(d, block, b, columns);
  for (size_t p = 0; p < kChunks * of.kParts; ++p) {
    AddToNodes(d, of.sum[p], rows + of.N * p, x);
  }
}

// b_R += -L_RJ b_J.
template <class Fetch>
HWY_INLINE void Descend(const Supernode& s, const uint32_t* rows, const float* values, Fetch* fetch,
                        NodeVec* x) {
  const NodeVec* b = x + s.first_column;
  const uint32_t padded = PaddedRows(s.num_rows);
  fetch->Step();
  uint32_t row = 0;
  constexpr uint32_t kAtOnce = kChunksAtOnce<Lanes16>, kRows = kAtOnce * kChunkRows;
  for (; row + kRows <= padded; row += kRows, values += kRows * s.num_columns) {
    for (uint32_t k = 0; k < kAtOnce; ++k) fetch->Step();
    AddChunks<kChunkRows, kAtOnce>(Lanes16(), values, b, s.num_columns, rows + row, x);
  }
  for (; row + kChunkRows <= padded; row += kChunkRows, values += kChunkRows * s.num_columns) {
    fetch->Step();
    AddChunks<kChunkRows, 1>(Lanes16(), values, b, s.num_columns, rows + row, x);
  }
  if (row < padded) AddChunks<kRowPadding, 1>(Lanes8(), values, b, s.num_columns, rows + row, x);
}

// Gathers the nodes of a chunk: x of its rows, then y, then z.
template <size_t kRows, class D>
HWY_INLINE void GatherChunk(D d, const uint32_t* rows, const NodeVec* x, float* out) {
  using V = hn::Vec<D>;
  for (size_t i = 0; i < kRows; i += kLanes<D>) {
    const Xyz<V> v = GatherNodes(d, x, rows + i, static_cast<V*>(nullptr));
    hn::StoreU(v.x, d, out + i);
    hn::StoreU(v.y, d, out + kChunkRows + i);
    hn::StoreU(v.z, d, out + 2 * kChunkRows + i);
  }
}

// Gathers the rows of a supernode by chunk. Padding gathers the spare node, which is zero.
HWY_INLINE void GatherRows(const uint32_t* rows, uint32_t padded, const NodeVec* x, float* out) {
  uint32_t row = 0;
  for (; row + kChunkRows <= padded; row += kChunkRows, out += 3 * kChunkRows) {
    GatherChunk<kChunkRows>(Lanes16(), rows + row, x, out);
  }
  if (row < padded) GatherChunk<kRowPadding>(Lanes8(), rows + row, x, out);
}

// Products of a column with the gathered rows, by lane of a chunk.
inline constexpr size_t kParts16 = kChunkRows / kLanes<Lanes16>;
using V16 = hn::Vec<Lanes16>;
struct ColumnSum {
  Xyz<V16> part[kParts16];

  HWY_INLINE ColumnSum() {}
};

#if HWY_TARGET == HWY_SCALAR

HWY_INLINE float TreeSum(const ColumnSum& c, V16 Xyz<V16>::*axis) {
  float lane[kChunkRows];
  for (size_t i = 0; i < kChunkRows; ++i) lane[i] = hn::GetLane(c.part[i].*axis);
  for (size_t half = kChunkRows / 2; half > 0; half /= 2) {
    for (size_t i = 0; i < half; ++i) lane[i] += lane[i + half];
  }
  return lane[0];
}

template <class D>
hn::Vec<D> LoadLowerHalf(D d, const float* from);  // never called: one lane has no halves

template <class D>
HWY_INLINE void StoreSums(D /*d*/, const ColumnSum (&c)[4], NodeVec* out) {
  for (size_t j = 0; j < 4; ++j) {
    out[j] =
        Vec3{TreeSum(c[j], &Xyz<V16>::x), TreeSum(c[j], &Xyz<V16>::y), TreeSum(c[j], &Xyz<V16>::z)};
  }
}

#else

using Lanes4 = hn::CappedTag<float, 4>;

// Half a vector in the lower lanes; the upper ones are zero.
template <class D>
HWY_INLINE hn::Vec<D> LoadLowerHalf(D d, const float* from) {
  return hn::ZeroExtendVector(d, hn::LoadU(hn::Half<D>(), from));
}

// Sums x, y and z over the four lanes of each block: i + (i + 2), then i + (i + 1).
template <class D, class V = hn::Vec<D>>
HWY_INLINE V SumBlocks(D d, V x, V y, V z) {
  const hn::RepartitionToWide<D> pairs;
  const V zero = hn::Zero(d);
  const V xy = hn::Add(hn::InterleaveLower(d, x, y), hn::InterleaveUpper(d, x, y));
  const V zw = hn::Add(hn::InterleaveLower(d, z, zero), hn::InterleaveUpper(d, z, zero));
  const auto even = hn::InterleaveLower(pairs, hn::BitCast(pairs, xy), hn::BitCast(pairs, zw));
  const auto odd = hn::InterleaveUpper(pairs, hn::BitCast(pairs, xy), hn::BitCast(pairs, zw));
  return hn::Add(hn::BitCast(d, even), hn::BitCast(d, odd));
}

// Folds four columns of 16 lanes into four blocks of 4, for columns 0, 2, 1, 3: i + (i + 8), then i
// + (i + 4).
template <class D, class V = hn::Vec<D>>
HWY_INLINE V FoldColumns(D d, V c0, V c1, V c2, V c3) {
  const V a = hn::Add(hn::ConcatLowerLower(d, c1, c0), hn::ConcatUpperUpper(d, c1, c0));
  const V b = hn::Add(hn::ConcatLowerLower(d, c3, c2), hn::ConcatUpperUpper(d, c3, c2));
  return hn::Add(hn::OddEvenBlocks(hn::SwapAdjacentBlocks(b), a),
                 hn::OddEvenBlocks(b, hn::SwapAdjacentBlocks(a)));
}

// Folds 16 lanes in two or four vectors into four lanes.
template <class D, class V = hn::Vec<D>>
HWY_INLINE hn::Vec<Lanes4> FoldParts(D /*d*/, const V (&v)[kParts16]) {
  if constexpr (kParts16 == 4) {
    return hn::Add(hn::Add(v[0], v[2 % kParts16]), hn::Add(v[1 % kParts16], v[3 % kParts16]));
  } else {
    const hn::Half<D> d4;
    const V eight = hn::Add(v[0], v[1 % kParts16]);
    return hn::Add(hn::LowerHalf(d4, eight), hn::UpperHalf(d4, eight));
  }
}

// Sums four columns over their lanes, in an order that does not depend on the vector width.
template <class D>
HWY_INLINE void StoreSums(D d, const ColumnSum (&c)[4], NodeVec* out) {
  const Lanes4 d4;
  if constexpr (kLanes<D> == 16) {
    const auto fold = [&](auto axis) HWY_ATTR {
      return FoldColumns(d, c[0].part[0].*axis, c[1].part[0].*axis, c[2].part[0].*axis,
                         c[3].part[0].*axis);
    };
    using Axes = Xyz<hn::Vec<D>>;
    const auto sums = SumBlocks(d, fold(&Axes::x), fold(&Axes::y), fold(&Axes::z));
    const hn::Half<D> d8;
    const auto lower = hn::LowerHalf(d8, sums), upper = hn::UpperHalf(d8, sums);
    hn::Store(hn::LowerHalf(d4, lower), d4, &out[0].x);
    hn::Store(hn::UpperHalf(d4, lower), d4, &out[2].x);
    hn::Store(hn::LowerHalf(d4, upper), d4, &out[1].x);
    hn::Store(hn::UpperHalf(d4, upper), d4, &out[3].x);
  } else {
    for (size_t j = 0; j < 4; ++j) {
      hn::Vec<D> x[kParts16], y[kParts16], z[kParts16];
      for (size_t p = 0; p < kParts16; ++p) {
        x[p] = c[j].part[p].x;
        y[p] = c[j].part[p].y;
        z[p] = c[j].part[p].z;
      }
      hn::Store(SumBlocks(d4, FoldParts(d, x), FoldParts(d, y), FoldParts(d, z)), d4, &out[j].x);
    }
  }
}

#endif

// Adds the products of the last eight rows to the first eight lanes.
template <class D>
HWY_INLINE void AddLastRows(D d, const float* column, const float* gathered, ColumnSum* sum) {
  constexpr size_t N = kLanes<D>, kParts = N > kRowPadding ? 1 : kRowPadding / N;
  const auto load = [&](const float* from) HWY_ATTR {
    if constexpr (N > kRowPadding) {
      return LoadLowerHalf(d, from);
    } else {
      return hn::LoadU(d, from);
    }
  };
  for (size_t p = 0; p < kParts; ++p) {
    const hn::Vec<D> l = load(column + N * p);
    Xyz<hn::Vec<D>>& part = sum->part[p];
    part = {Fma(l, load(gathered + N * p), part.x),
            Fma(l, load(gathered + kChunkRows + N * p), part.y),
            Fma(l, load(gathered + 2 * kChunkRows + N * p), part.z)};
  }
}

// out_j = (-L_Rj)^T x_R for four columns from `first` on; repeats the last column if there are
// fewer.
HWY_INLINE void SumColumns(const Supernode& s, const float* values, const float* gathered,
                           uint32_t first, NodeVec* out) {
  const Lanes16 d;
  constexpr size_t N = kLanes<Lanes16>;
  const uint32_t w = s.num_columns, padded = PaddedRows(s.num_rows);
  uint32_t at[4];
  for (uint32_t j = 0; j < 4; ++j) at[j] = std::min(first + j, w - 1);
  ColumnSum sum[4];
  for (ColumnSum& c : sum) {
    for (auto& part : c.part) part = {hn::Zero(d), hn::Zero(d), hn::Zero(d)};
  }
  uint32_t row = 0;
  for (; row + kChunkRows <= padded; row += kChunkRows) {
    for (size_t p = 0; p < kParts16; ++p) {
      const V16 x = hn::LoadU(d, gathered + N * p);
      const V16 y = hn::LoadU(d, gathered + kChunkRows + N * p);
      const V16 z = hn::LoadU(d, gathered + 2 * kChunkRows + N * p);
      for (size_t j = 0; j < 4; ++j) {
        const V16 l = hn::LoadU(d, values + kChunkRows * at[j] + N * p);
        sum[j].part[p] = {Fma(l, x, sum[j].part[p].x), Fma(l, y, sum[j].part[p].y),
                          Fma(l, z, sum[j].part[p].z)};
      }
    }
    gathered += 3 * kChunkRows;
    values += size_t{kChunkRows} * w;
  }
  if (row < padded) {
    for (size_t j = 0; j < 4; ++j) AddLastRows(d, values + kRowPadding * at[j], gathered, &sum[j]);
  }
  StoreSums(d, sum, out);
}

// Adds the rows of a chunk of D_JJ^-1 b_J to `out`.
template <size_t kRows, class D>
HWY_INLINE void StoreChunk(D d, const float* block, const NodeVec* b, uint32_t columns,
                           NodeVec* out) {
  const ChunkSum<kRows, 1, D> chunk(d, block, b, columns);
  constexpr uint32_t kInOrder[kChunkRows] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
  for (size_t p = 0; p < chunk.kParts; ++p) {
    AddToNodes(d, chunk.sum[p], kInOrder + chunk.N * p, out);
  }
}

// x_J = D_JJ^-1 b_J + (-L_RJ)^T x_R. `root`: of PanelFactor::roots, or 0.
template <class Fetch>
HWY_INLINE void Ascend(const Supernode& s, const uint32_t* rows, const float* values, float root,
                       Fetch* fetch, float* workspace, NodeVec* x) {
  const uint32_t w = s.num_columns;
  NodeVec found[kMaxSupernodeColumns + kChunkRows];
  if (s.num_rows > 0) {
    GatherRows(rows, PaddedRows(s.num_rows), x, workspace);
    for (uint32_t j = 0; j < w; j += 4) {
      fetch->Step();
      SumColumns(s, values, workspace, j, found + j);
    }
  }
  const float* diagonal = values + BlockValues(s.num_rows, w);
  NodeVec* b = x + s.first_column;
  uint32_t row = 0;
  const uint32_t padded = PaddedRows(w);
  for (; row + kChunkRows <= padded; row += kChunkRows, diagonal += kChunkRows * w) {
    StoreChunk<kChunkRows>(Lanes16(), diagonal, b, w, found + row);
  }
  if (row < padded) StoreChunk<kRowPadding>(Lanes8(), diagonal, b, w, found + row);
  if (root > 0.0f) AddRoot(root, b, w, found);
  std::copy(found, found + w, b);
}

// Solves with the supernodes and values of the active columns; only with marked ones unless `marks`
// is null.
template <class FetchDown, class FetchUp>
HWY_INLINE void SolveActive(const PanelFactor& factor, std::span<const Supernode> supernodes,
                            std::span<const float> values, const uint8_t* marks, FetchDown down,
                            FetchUp up, float* workspace, NodeVec* x) {
  const uint32_t* rows = factor.rows.data();
  for (size_t k = 0; k < supernodes.size(); ++k) {
    if (marks != nullptr && marks[k] == 0) continue;
    const Supernode& s = supernodes[k];
    down.StartPanel(s.first_value + PanelValues(s), s.num_rows / kChunkRows + 1);
    Descend(s, rows + s.first_row, &values[s.first_value], &down, x);
  }
  for (uint32_t i = factor.num_active; i < factor.num_nodes; ++i) x[i] = NodeVec();
  for (size_t k = supernodes.size(); k-- > 0;) {
    if (marks != nullptr && marks[k] == 0) continue;
    const Supernode& s = supernodes[k];
    up.StartPanel(values.size() - s.first_value, (s.num_columns + 3) / 4);
    const float root = factor.roots.empty() ? 0.0f : factor.roots[k];
    Ascend(s, rows + s.first_row, &values[s.first_value], root, &up, workspace, x);
  }
}

void Solve(const PanelFactor& factor, const uint8_t* marks, float* workspace, NodeVec* x) {
  // The baker puts left-out supernodes last. Elsewhere they would only cost time: their nodes
  // become zero before the way up.
  size_t count = factor.supernodes.size();
  while (count > 0 && factor.supernodes[count - 1].first_column >= factor.num_active) --count;
  const std::span<const Supernode> supernodes = factor.supernodes.first(count);
  const size_t end = count > 0 ? supernodes.back().first_value + PanelValues(supernodes.back()) : 0;
  const std::span<const float> values = factor.values.first(end);
  if (end <= kMostNearValues || marks != nullptr) {
    SolveActive(factor, supernodes, values, marks, FetchNothing(), FetchNothing(), workspace, x);
  } else {
    SolveActive(factor, supernodes, values, marks, FetchPanels<false>(values),
                FetchPanels<true>(values), workspace, x);
  }
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace plush
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace plush {

HWY_EXPORT(Solve);

namespace {

size_t GatheredNumbers(std::span<const Supernode> supernodes) {
  size_t longest = 0;
  for (const Supernode& s : supernodes) longest = std::max<size_t>(longest, s.num_rows);
  return (longest + kChunkRows - 1) / kChunkRows * 3 * kChunkRows;
}

// Adds the response to the impulses that hold the pinned nodes.
void HoldPins(const PanelFactor& factor, std::span<float> workspace, std::span<NodeVec> x) {
  const PinSchur& pins = *factor.pins;
  Vec3 impulses[kMaxExtraPins];
  for (size_t k = 0; k < pins.nodes.size(); ++k) impulses[k] = x[pins.nodes[k]];
  SolvePinImpulses(pins, {impulses, pins.nodes.size()});
  float* behind = &workspace[GatheredNumbers(factor.supernodes)];
  const std::span<NodeVec> more(reinterpret_cast<NodeVec*>(behind), x.size());
  for (NodeVec& v : more) v = NodeVec();
  for (size_t k = 0; k < pins.nodes.size(); ++k) more[pins.nodes[k]] = impulses[k];
  HWY_DYNAMIC_DISPATCH(Solve)(factor, nullptr, workspace.data(), more.data());
  for (size_t i = 0; i < x.size(); ++i) x[i] = NodeVec(x[i] + more[i], 0.0f);
  for (const uint32_t node : pins.nodes) x[node] = NodeVec();
}

}  // namespace

size_t PanelWorkspaceSize(std::span<const Supernode> supernodes, uint32_t num_nodes) {
  return GatheredNumbers(supernodes) + 4 * (size_t{num_nodes} + 1);
}

void SolvePanels(const PanelFactor& factor, std::span<float> workspace, std::span<NodeVec> x) {
  HWY_DYNAMIC_DISPATCH(Solve)(factor, nullptr, workspace.data(), x.data());
  if (factor.pins != nullptr) HoldPins(factor, workspace, x);
}

void MarkPath(const PanelFactor& factor, uint32_t node, std::span<uint8_t> marks) {
  while (node < factor.num_active) {
    const uint32_t k = factor.supernode_of[node];
    if (marks[k] != 0) return;
    marks[k] = 1;
    const Supernode& s = factor.supernodes[k];
    if (s.num_rows == 0) return;
    node = factor.rows[s.first_row];  // in the parent
  }
}

void SolveMarked(const PanelFactor& factor, std::span<const uint8_t> marks,
                 std::span<float> workspace, std::span<NodeVec> x) {
  HWY_DYNAMIC_DISPATCH(Solve)(factor, marks.data(), workspace.data(), x.data());
}

}  // namespace plush
#endif

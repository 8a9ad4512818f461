// SPDX-License-Identifier: MIT
// How the factor of the splitting solver's matrix lies in memory.
//
// A = L D L^T, where D is block diagonal and L is unit lower triangular. A supernode is a run of
// neighbouring columns J with the same rows R below them. It stores two dense blocks, -L_RJ and
// then D_JJ^-1. A solve
// - adds -L_RJ b_J to b_R on the way down;
// - sets x_J = D_JJ^-1 b_J + (-L_RJ)^T x_R on the way up.
//
// Based on:
// Esmond Ng, Barry Peyton. Block Sparse Cholesky Algorithms on Advanced Uniprocessor Computers.
// 1993 (supernodes)
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace plush {

/// A dense block is stored in chunks of 16 rows. The last chunk has 8 if they suffice. Each chunk
/// is stored by columns. Missing rows are zero.
inline constexpr uint32_t kChunkRows = 16;
inline constexpr uint32_t kRowPadding = 8;

/// A run of columns of the factor with the same rows below them. Padding rows have the number of
/// nodes as index: the spare place at the end of every array over nodes.
struct Supernode {
  uint32_t first_column = 0;
  uint32_t num_columns = 0;  ///< at least 1, at most kMaxSupernodeColumns
  uint32_t first_row = 0;    ///< into FactorView::rows, a multiple of kRowPadding
  uint32_t num_rows = 0;     ///< below the columns, without padding
  uint32_t first_value = 0;  ///< into FactorView::values, a multiple of kRowPadding
};

inline constexpr uint32_t kMaxSupernodeColumns = 32;

/// Rows with padding.
constexpr uint32_t PaddedRows(uint32_t num_rows) {
  return (num_rows + kRowPadding - 1) / kRowPadding * kRowPadding;
}

/// Numbers of a dense block.
constexpr size_t BlockValues(uint32_t num_rows, uint32_t num_columns) {
  return size_t{PaddedRows(num_rows)} * num_columns;
}

/// Numbers of a supernode: -L_RJ, then D_JJ^-1.
constexpr size_t PanelValues(const Supernode& s) {
  return BlockValues(s.num_rows, s.num_columns) + BlockValues(s.num_columns, s.num_columns);
}

/// Place of an entry in a dense block.
constexpr size_t BlockIndex(uint32_t num_rows, uint32_t num_columns, uint32_t row,
                            uint32_t column) {
  const uint32_t chunk = row / kChunkRows * kChunkRows;
  const uint32_t lanes = PaddedRows(num_rows) - chunk < kChunkRows ? kRowPadding : kChunkRows;
  return size_t{chunk} * num_columns + size_t{column} * lanes + (row - chunk);
}

/// Stored numbers of the exact lower triangle: what other factors call non-zeros.
constexpr size_t LowerEntries(const Supernode& s) {
  return size_t{s.num_columns} * (s.num_columns + 1) / 2 + size_t{s.num_rows} * s.num_columns;
}

/// Factor of the splitting solver's constant matrix [Kug, Alg. 1].
struct FactorView {
  float dt = 0.0f;        ///< time step the values belong to [s], > 0
  uint32_t num_free = 0;  ///< nodes ordered before those of regions, or all nodes if the order
                          ///< does not separate them; no supernode has columns on both sides
  std::span<const Supernode> supernodes;   ///< each after all that have its columns as rows
  std::span<const uint32_t> supernode_of;  ///< supernode of each column (num_nodes x 1)
  std::span<const uint32_t> rows;          ///< ascending within a supernode, then padding
  std::span<const float> values;           ///< -L [1] and D^-1 [1/kg] by supernode
};

}  // namespace plush

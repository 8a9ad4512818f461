// SPDX-License-Identifier: MIT
// FactoriseSystem: right-looking block Cholesky factorisation by supernodes, in double precision.
// Based on:
// Esmond Ng, Barry Peyton. Block Sparse Cholesky Algorithms on Advanced Uniprocessor Computers.
// 1993
#include "plush/format/system_factor.h"

#include "base/array.h"

#include <algorithm>
#include <cmath>

namespace plush {
namespace {

constexpr Status kOutOfMemory = {StatusCode::kOutOfMemory, "factor"};

// The matrix while it is factored. A supernode's panel is stored by column: first the rows of its
// own columns, then those below ((num_columns + num_rows) x num_columns).
struct Panels {
  FactorStructure structure;
  Array<size_t> starts;  // first index of each panel in `values` (num_supernodes x 1)
  Array<double> values;
  Array<double> column;      // one column of an update (longest pattern x 1)
  Array<uint32_t> relative;  // rows of a pattern in another supernode's panel (longest pattern x 1)
  Array<double> inverse;     // of a diagonal block's triangle (columns x columns)

  static size_t Height(const Supernode& s) { return size_t{s.num_columns} + s.num_rows; }
  double* Panel(size_t k) { return values.data() + starts[k]; }
  const uint32_t* RowsOf(const Supernode& s) const { return structure.rows.data() + s.first_row; }

  bool Allocate(const Allocator& allocator);
};

bool Panels::Allocate(const Allocator& allocator) {
  const size_t count = structure.supernodes.size();
  if (!starts.Allocate(allocator, count)) return false;
  size_t total = 0, longest = 0;
  for (size_t k = 0; k < count; ++k) {
    const Supernode& s = structure.supernodes[k];
    starts[k] = total;
    total += Height(s) * s.num_columns;
    longest = std::max<size_t>(longest, s.num_rows);
  }
  return values.Allocate(allocator, total, 0.0) && column.Allocate(allocator, longest) &&
         relative.Allocate(allocator, longest) &&
         inverse.Allocate(allocator, size_t{kMaxSupernodeColumns} * kMaxSupernodeColumns);
}

// Gradients of a tet's four shape functions.
struct ShapeGradients {
  double g[4][3];

  ShapeGradients(const TetBlock& block, size_t lane) {
    for (int axis = 0; axis < 3; ++axis) {
      for (int node = 1; node < 4; ++node) {
        g[node][axis] = double(block.dm_inv[3 * axis + node - 1][lane]);
      }
      g[0][axis] = -(g[1][axis] + g[2][axis] + g[3][axis]);
    }
  }
  double Dot(int i, int j) const {
    return g[i][0] * g[j][0] + g[i][1] * g[j][1] + g[i][2] * g[j][2];
  }
};

// The entry (row, column), row >= column.
double* FindEntry(Panels* panels, uint32_t row, uint32_t column) {
  const size_t k = panels->structure.supernode_of[column];
  const Supernode& s = panels->structure.supernodes[k];
  double* entries = panels->Panel(k) + Panels::Height(s) * (column - s.first_column);
  if (row < s.first_column + s.num_columns) return entries + (row - s.first_column);
  const uint32_t* rows = panels->RowsOf(s);
  return entries + s.num_columns + (std::lower_bound(rows, rows + s.num_rows, row) - rows);
}

void Assemble(const SystemTerms& terms, Panels* panels) {
  const auto is_pinned = [&](uint32_t node) {
    return !terms.pinned.empty() && terms.pinned[node] != 0;
  };
  for (uint32_t i = 0; i < terms.masses.size(); ++i) {
    *FindEntry(panels, i, i) =
        is_pinned(i) ? 1.0 : double(terms.masses[i]) * double(terms.mass_scale);
  }
  const double time2 = double(terms.dt) * (double(terms.dt) + double(terms.damping));
  for (size_t slot = 0; slot < kBlockTets * terms.blocks.size(); ++slot) {
    const TetBlock& block = terms.blocks[slot / kBlockTets];
    const size_t lane = slot % kBlockTets;
    if (block.nodes[0][lane] >= terms.masses.size()) continue;
    const ShapeGradients gradients(block, lane);
    const float stiffness = terms.stiffness.empty() ? block.stiffness[lane] : terms.stiffness[slot];
    for (int i = 0; i < 4; ++i) {
      const uint32_t row = block.nodes[i][lane];
      for (int j = 0; j < 4; ++j) {
        const uint32_t column = block.nodes[j][lane];
        if (row < column || is_pinned(row) || is_pinned(column)) continue;
        *FindEntry(panels, row, column) += double(stiffness) * time2 * gradients.Dot(i, j);
      }
    }
  }
}

// Cholesky of the diagonal block, A_JJ = C C^T, and A_RJ C^-T below it, in place. Returns false if
// the block is not positive definite.
bool FactorPanel(double* panel, size_t height, uint32_t columns) {
  for (uint32_t j = 0; j < columns; ++j) {
    double* current = panel + height * j;
    for (uint32_t k = 0; k < j; ++k) {
      const double* earlier = panel + height * k;
      const double factor = earlier[j];
      if (factor == 0.0) continue;
      for (size_t i = j; i < height; ++i) current[i] -= factor * earlier[i];
    }
    const double pivot = current[j];
    if (!(pivot > 0.0) || !std::isfinite(pivot)) return false;
    const double root = std::sqrt(pivot), inverse = 1.0 / root;
    current[j] = root;
    for (size_t i = j + 1; i < height; ++i) current[i] *= inverse;
  }
  return true;
}

// Finds the rows of `s` from number `first` on in `target`'s panel, which has all of them.
void LocateRows(const Supernode& s, const Supernode& target, uint32_t first, Panels* panels) {
  const uint32_t* rows = panels->RowsOf(s);
  const uint32_t* others = panels->RowsOf(target);
  uint32_t other = 0;
  for (uint32_t i = first; i < s.num_rows; ++i) {
    if (rows[i] < target.first_column + target.num_columns) {
      panels->relative[i] = rows[i] - target.first_column;
    } else {
      while (others[other] != rows[i]) ++other;
      panels->relative[i] = target.num_columns + other;
    }
  }
}

// Subtracts products of a factored panel's rows from the panels that have those rows as columns.
void UpdateAncestors(size_t k, Panels* panels) {
  const Supernode& s = panels->structure.supernodes[k];
  const uint32_t* rows = panels->RowsOf(s);
  const size_t height = Panels::Height(s);
  const double* below = panels->Panel(k) + s.num_columns;
  double* products = panels->column.data();
  for (uint32_t i = 0; i < s.num_rows;) {
    const size_t target_id = panels->structure.supernode_of[rows[i]];
    const Supernode& target = panels->structure.supernodes[target_id];
    LocateRows(s, target, i, panels);
    for (; i < s.num_rows && rows[i] < target.first_column + target.num_columns; ++i) {
      std::fill(products + i, products + s.num_rows, 0.0);
      for (uint32_t j = 0; j < s.num_columns; ++j) {
        const double* column = below + height * j;
        const double factor = column[i];
        if (factor == 0.0) continue;
        for (uint32_t r = i; r < s.num_rows; ++r) products[r] += factor * column[r];
      }
      double* entries = panels->Panel(target_id) + Panels::Height(target) * panels->relative[i];
      for (uint32_t r = i; r < s.num_rows; ++r) entries[panels->relative[r]] -= products[r];
    }
  }
}

// C^-1 of the triangle in a factored panel, by row.
void InvertTriangle(const double* panel, size_t height, uint32_t columns, double* inverse) {
  for (uint32_t j = 0; j < columns; ++j) {
    for (uint32_t i = 0; i < j; ++i) inverse[columns * i + j] = 0.0;
    for (uint32_t i = j; i < columns; ++i) {
      double sum = i == j ? 1.0 : 0.0;
      for (uint32_t k = j; k < i; ++k) sum -= panel[height * k + i] * inverse[columns * k + j];
      inverse[columns * i + j] = sum / panel[height * i + i];
    }
  }
}

// 1 / sum of all elements of A_JJ = C C^T: A_JJ^-1 less this everywhere still has the same effect
// on right-hand sides whose sum is zero.
float RootOf(const double* panel, size_t height, uint32_t columns) {
  double sum = 0.0;
  for (uint32_t c = 0; c < columns; ++c) {
    double of_column = 0.0;
    for (uint32_t i = c; i < columns; ++i) of_column += panel[height * c + i];
    sum += of_column * of_column;
  }
  return static_cast<float>(1.0 / sum);
}

// Writes -L_RJ = -(A_RJ C^-T) C^-1 and D_JJ^-1 = C^-T C^-1, less `root` everywhere. Returns false
// if a value exceeds float's range.
bool StorePanel(size_t k, float root, Panels* panels, std::span<float> values) {
  const Supernode& s = panels->structure.supernodes[k];
  const uint32_t w = s.num_columns;
  const size_t height = Panels::Height(s);
  const double* panel = panels->Panel(k);
  const double* inverse = panels->inverse.data();
  InvertTriangle(panel, height, w, panels->inverse.data());
  float* below = &values[s.first_value];
  float* diagonal = below + BlockValues(s.num_rows, w);
  std::fill(below, below + PanelValues(s), 0.0f);
  bool finite = true;
  for (uint32_t j = 0; j < w; ++j) {
    for (uint32_t i = 0; i < s.num_rows; ++i) {
      double sum = 0.0;
      for (uint32_t c = j; c < w; ++c) sum += panel[height * c + w + i] * inverse[w * c + j];
      const float value = static_cast<float>(-sum);
      finite = finite && std::isfinite(value);
      below[BlockIndex(s.num_rows, w, i, j)] = value;
    }
    for (uint32_t i = 0; i < w; ++i) {
      double sum = 0.0;
      for (uint32_t c = std::max(i, j); c < w; ++c) sum += inverse[w * c + i] * inverse[w * c + j];
      const float value = static_cast<float>(sum - double(root));
      finite = finite && std::isfinite(value) && (i != j || static_cast<float>(sum) > 0.0f);
      diagonal[BlockIndex(w, w, i, j)] = value;
    }
  }
  return finite;
}

}  // namespace

bool NeedsRoots(const SystemTerms& terms) {
  constexpr double kMost = 1.0e5;
  const double time2 = double(terms.dt) * (double(terms.dt) + double(terms.damping));
  for (size_t slot = 0; slot < kBlockTets * terms.blocks.size(); ++slot) {
    const TetBlock& block = terms.blocks[slot / kBlockTets];
    const size_t lane = slot % kBlockTets;
    if (block.nodes[0][lane] >= terms.masses.size()) continue;
    const ShapeGradients gradients(block, lane);
    const float stiffness = terms.stiffness.empty() ? block.stiffness[lane] : terms.stiffness[slot];
    for (int i = 0; i < 4; ++i) {
      const float mass = terms.masses[block.nodes[i][lane]] * terms.mass_scale;
      if (double(stiffness) * time2 * gradients.Dot(i, i) > kMost * double(mass)) return true;
    }
  }
  return false;
}

Status FactoriseSystem(const SystemTerms& terms, const FactorStructure& structure,
                       const Allocator& allocator, std::span<float> values,
                       std::span<float> roots) {
  Panels panels;
  panels.structure = structure;
  if (!panels.Allocate(allocator)) return kOutOfMemory;
  Assemble(terms, &panels);
  for (size_t k = 0; k < structure.supernodes.size(); ++k) {
    const Supernode& s = structure.supernodes[k];
    if (!FactorPanel(panels.Panel(k), Panels::Height(s), s.num_columns)) {
      return {StatusCode::kInvalidArgument, "dt", "the system matrix is not positive definite"};
    }
    UpdateAncestors(k, &panels);
    float root = 0.0f;
    if (!roots.empty()) {
      if (s.num_rows == 0) root = RootOf(panels.Panel(k), Panels::Height(s), s.num_columns);
      roots[k] = root;
    }
    if (!StorePanel(k, root, &panels, values)) {
      return {StatusCode::kInvalidArgument, "dt", "the factor does not fit into float"};
    }
  }
  return {};
}

}  // namespace plush

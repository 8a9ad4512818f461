// SPDX-License-Identifier: MIT
#include "validate/factor_accuracy.h"

#include "rest/cholesky_factor.h"
#include "validate/tally.h"

#include <cmath>
#include <vector>

namespace plush::tools {
namespace {

constexpr double kRoundoff = 0x1p-24;
constexpr uint32_t kNone = UINT32_MAX;

// Forms the columns of L L^T from left to right. Each earlier column waits in the list of the next
// row in which it has an entry (the usual bookkeeping of left-looking factorisation).
class ProductColumns {
 public:
  explicit ProductColumns(const FactorView& factor)
      : factor_(factor),
        first_waiting_(factor.column_starts.size() - 1, kNone),
        next_waiting_(first_waiting_.size(), kNone),
        position_(first_waiting_.size(), 0),
        product_(first_waiting_.size(), 0.0) {}

  // Entries (i, column) of L L^T, i >= column, for the rows of the factor's column; by row, valid
  // until the next call. To be called for each column in ascending order.
  const std::vector<double>& Form(uint32_t column) {
    for (uint32_t k = factor_.column_starts[column]; k < factor_.column_starts[column + 1]; ++k) {
      product_[factor_.rows[k]] = 0.0;
    }
    uint32_t other = first_waiting_[column];
    while (other != kNone) {
      const uint32_t next = next_waiting_[other];
      AddColumn(other);
      other = next;
    }
    position_[column] = factor_.column_starts[column];
    AddColumn(column);
    return product_;
  }

 private:
  // Adds the products of column `other` with its entry in the row it stands at; moves it on.
  void AddColumn(uint32_t other) {
    const uint32_t end = factor_.column_starts[other + 1];
    const double value = factor_.values[position_[other]];
    for (uint32_t k = position_[other]; k < end; ++k) {
      product_[factor_.rows[k]] += value * factor_.values[k];
    }
    if (++position_[other] == end) return;
    const uint32_t row = factor_.rows[position_[other]];
    next_waiting_[other] = first_waiting_[row];
    first_waiting_[row] = other;
  }

  const FactorView& factor_;
  std::vector<uint32_t> first_waiting_;  // by row
  std::vector<uint32_t> next_waiting_;   // by column
  std::vector<uint32_t> position_;       // by column, into rows and values
  std::vector<double> product_;          // by row
};

// Diagonal of a matrix by columns with the diagonal first.
std::vector<double> Diagonal(const LowerMatrix& matrix) {
  std::vector<double> diagonal;
  for (size_t j = 0; j + 1 < matrix.column_starts.size(); ++j) {
    diagonal.push_back(matrix.values[matrix.column_starts[j]]);
  }
  return diagonal;
}

}  // namespace

void CheckFactorAccuracy(const SimulationView& simulation, const FactorView& factor,
                         FindingList* findings) {
  const LowerMatrix matrix = AssembleSystemMatrix({.masses = simulation.masses,
                                                   .tets = simulation.tets,
                                                   .dm_inv = simulation.dm_inv,
                                                   .volumes = simulation.volumes,
                                                   .mu = simulation.mu,
                                                   .dt = factor.dt,
                                                   .damping = simulation.damping});
  const std::vector<double> diagonal = Diagonal(matrix);
  ProductColumns columns(factor);
  Tally wrong("FILE_FACTOR", "factor.values",
              "L L^T is not the system matrix in this column; deviations count in allowed errors");
  for (uint32_t j = 0; j < diagonal.size(); ++j) {
    const std::vector<double>& product = columns.Form(j);
    double worst = 0.0;
    uint32_t next = matrix.column_starts[j];
    for (uint32_t k = factor.column_starts[j]; k < factor.column_starts[j + 1]; ++k) {
      const uint32_t row = factor.rows[k];
      const bool stored = next < matrix.column_starts[j + 1] && matrix.rows[next] == row;
      const double expected = stored ? matrix.values[next++] : 0.0;
      const double allowed = 4.0 * kRoundoff * std::sqrt(diagonal[row] * diagonal[j]);
      const double error = std::abs(product[row] - expected) / allowed;
      if (!(error <= worst)) worst = error;
    }
    const Vec3& node = simulation.nodes[j];
    if (!(worst <= 1.0)) wrong.AddAt(j, {node.x, node.y, node.z}, worst);
  }
  wrong.Report(findings);
}

}  // namespace plush::tools

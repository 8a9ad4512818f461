// SPDX-License-Identifier: MIT
#include "solver/sparse_cholesky.h"

#include "base/vector_math.h"

#include <cmath>

namespace plush {
namespace {

constexpr uint32_t kNone = UINT32_MAX;

template <class T>
void SubstituteBoth(const CholeskyPattern& pattern, std::span<const float> values, std::span<T> x) {
  const uint32_t n = pattern.size();
  for (uint32_t j = 0; j < n; ++j) {  // L y = b
    const uint32_t begin = pattern.column_starts[j], end = pattern.column_starts[j + 1];
    const T xj = x[j] * (1.0f / values[begin]);
    x[j] = xj;
    for (uint32_t p = begin + 1; p < end; ++p) x[pattern.rows[p]] -= xj * values[p];
  }
  for (uint32_t j = n; j-- > 0;) {  // L^T x = y
    const uint32_t begin = pattern.column_starts[j], end = pattern.column_starts[j + 1];
    T sum = x[j];
    for (uint32_t p = begin + 1; p < end; ++p) sum -= x[pattern.rows[p]] * values[p];
    x[j] = sum * (1.0f / values[begin]);
  }
}

}  // namespace

bool CholeskyWorkspace::Allocate(const Allocator& allocator, uint32_t n) {
  return column.Allocate(allocator, n, 0.0) && next.Allocate(allocator, n, 0u) &&
         link.Allocate(allocator, n, kNone);
}

bool Factorise(const CholeskyPattern& pattern, CholeskyWorkspace* workspace,
               std::span<double> values) {
  const uint32_t n = pattern.size();
  Array<double>& dense = workspace->column;
  Array<uint32_t>& next = workspace->next;
  Array<uint32_t>& link = workspace->link;
  // `link` chains, per row j, the finished columns whose next unused entry lies in row j; each
  // chain continues through the link of the column itself, which is free once the column is done.
  for (uint32_t j = 0; j < n; ++j) link[j] = kNone;
  for (uint32_t j = 0; j < n; ++j) {
    const uint32_t begin = pattern.column_starts[j], end = pattern.column_starts[j + 1];
    for (uint32_t p = begin; p < end; ++p) dense[pattern.rows[p]] = values[p];
    for (uint32_t k = link[j]; k != kNone;) {
      const uint32_t after = link[k];
      const uint32_t first = next[k], k_end = pattern.column_starts[k + 1];
      const double ljk = values[first];
      for (uint32_t p = first; p < k_end; ++p) dense[pattern.rows[p]] -= ljk * values[p];
      if (first + 1 < k_end) {
        next[k] = first + 1;
        const uint32_t row = pattern.rows[first + 1];
        link[k] = link[row];
        link[row] = k;
      }
      k = after;
    }
    const double pivot = dense[j];
    if (!(pivot > 0.0) || !std::isfinite(pivot)) return false;
    const double diagonal = std::sqrt(pivot);
    values[begin] = diagonal;
    for (uint32_t p = begin + 1; p < end; ++p) values[p] = dense[pattern.rows[p]] / diagonal;
    link[j] = kNone;
    if (begin + 1 < end) {
      next[j] = begin + 1;
      const uint32_t row = pattern.rows[begin + 1];
      link[j] = link[row];
      link[row] = j;
    }
  }
  return true;
}

void Substitute(const CholeskyPattern& pattern, std::span<const float> values, std::span<Vec3> x) {
  SubstituteBoth(pattern, values, x);
}

void Substitute(const CholeskyPattern& pattern, std::span<const float> values, std::span<float> x) {
  SubstituteBoth(pattern, values, x);
}

}  // namespace plush

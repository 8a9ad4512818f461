// SPDX-License-Identifier: MIT
#include "solver/pin_schur.h"

#include "solver/panel_solve.h"

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace plush {
namespace {

constexpr float Vec3::*kAxes[3] = {&Vec3::x, &Vec3::y, &Vec3::z};

// Least pivot, as a share of S's diagonal. S comes from float solves, so a solve with pins errs by
// about 1e-7 divided by the least share. In stiff and light bodies the columns of A^-1 look alike,
// and the share is small (box of 0.4 m, 1000 kg/m^3, dt 0.01 s, 21 pins: 0.05 at 1e7 Pa, 5e-4 at
// 1e9 Pa).
constexpr double kLeastShare = 1.0e-3;

// Factors S (n x n by rows) in place by Cholesky. Returns whether no row has a pivot of at most
// `least_share` of its diagonal; the pivot and column of such a row become 0.
bool FactorCholesky(double least_share, size_t n, double* S) {
  bool all_independent = true;
  for (size_t j = 0; j < n; ++j) {
    const double diagonal = S[n * j + j];
    double pivot = diagonal;
    for (size_t k = 0; k < j; ++k) pivot -= S[n * j + k] * S[n * j + k];
    const bool independent = pivot > least_share * diagonal && diagonal > 0.0;
    all_independent = all_independent && independent;
    const double root = independent ? std::sqrt(pivot) : 0.0;
    S[n * j + j] = root;
    for (size_t i = j + 1; i < n; ++i) {
      double sum = S[n * i + j];
      for (size_t k = 0; k < j; ++k) sum -= S[n * i + k] * S[n * j + k];
      S[n * i + j] = independent ? sum / root : 0.0;
    }
  }
  return all_independent;
}

// Solves S x = r in place of `r` (n x 1) with the factor `L`.
void SolveCholesky(const double* L, size_t n, double* r) {
  for (size_t j = 0; j < n; ++j) {
    double sum = r[j];
    for (size_t k = 0; k < j; ++k) sum -= L[n * j + k] * r[k];
    r[j] = L[n * j + j] > 0.0 ? sum / L[n * j + j] : 0.0;
  }
  for (size_t j = n; j-- > 0;) {
    double sum = r[j];
    for (size_t i = j + 1; i < n; ++i) sum -= L[n * i + j] * r[i];
    r[j] = L[n * j + j] > 0.0 ? sum / L[n * j + j] : 0.0;
  }
}

}  // namespace

bool FactorPinSchur(const PanelFactor& factor, std::span<const uint32_t> nodes,
                    std::span<float> workspace, std::span<NodeVec> scratch,
                    std::span<double> cholesky) {
  const size_t n = nodes.size();
  PanelFactor plain = factor;
  plain.pins = nullptr;
  for (size_t first = 0; first < n; first += 3) {  // a column of A^-1 per axis
    std::fill(scratch.begin(), scratch.end(), NodeVec());
    const size_t count = std::min<size_t>(3, n - first);
    for (size_t k = 0; k < count; ++k) scratch[nodes[first + k]].*kAxes[k] = 1.0f;
    SolvePanels(plain, workspace, scratch);
    for (size_t k = 0; k < count; ++k) {
      for (size_t i = 0; i < n; ++i) {
        cholesky[n * i + first + k] = double(scratch[nodes[i]].*kAxes[k]);
      }
    }
  }
  return FactorCholesky(kLeastShare, n, cholesky.data());
}

void SolvePinImpulses(const PinSchur& pins, std::span<Vec3> moves) {
  const size_t n = pins.nodes.size();
  for (const auto axis : kAxes) {
    double r[kMaxExtraPins];
    for (size_t j = 0; j < n; ++j) r[j] = -double(moves[j].*axis);
    SolveCholesky(pins.cholesky.data(), n, r);
    for (size_t j = 0; j < n; ++j) moves[j].*axis = static_cast<float>(r[j]);
  }
}

}  // namespace plush

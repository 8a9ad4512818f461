// SPDX-License-Identifier: MIT
// Source: spring_block.h.
#include "contact/spring_block.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace plush {
namespace {

constexpr size_t kNumbersOfTurn = 18;  // of a spring: three axes, six numbers each

// Where row `i` of the factor begins.
constexpr size_t RowAt(size_t i) { return i * (i + 1) / 2; }

}  // namespace

bool SpringBlock::Reserve(const Allocator& allocator, size_t count) {
  const size_t room = std::min<size_t>(count, kMost);
  Array<uint32_t> more_points;
  Array<double> more_factor, more_moments, more_by_turn;
  Array<float> more_gains, more_inverse, more_numbers, more_responses;
  if (!more_points.Allocate(allocator, room) || !more_gains.Allocate(allocator, room) ||
      !more_factor.Allocate(allocator, RowAt(room)) ||
      !more_inverse.Allocate(allocator, room * room) ||
      !more_numbers.Allocate(allocator, 3 * room) ||
      !more_moments.Allocate(allocator, kNumbersOfTurn * room) ||
      !more_by_turn.Allocate(allocator, kNumbersOfTurn * room) ||
      !more_responses.Allocate(allocator, 3 * count)) {
    return false;
  }
  points = std::move(more_points);
  gains = std::move(more_gains);
  factor = std::move(more_factor);
  inverse = std::move(more_inverse);
  numbers = std::move(more_numbers);
  responses = std::move(more_responses);
  moments = std::move(more_moments);
  by_turn = std::move(more_by_turn);
  Clear();
  return true;
}

bool SpringBlock::List(uint32_t point, float gain) {
  const uint32_t k = num_listed_;
  if (k == capacity()) return false;
  ++num_listed_;
  is_known = is_known && k < num_springs && points[k] == point && gains[k] == gain;
  points[k] = point;
  gains[k] = gain;
  return true;
}

void SpringBlock::EndList(std::span<const float> couplings, size_t stride, float to_world) {
  // Couplings are floats: two springs at one place, both very stiff, share the load as if they were
  // this much softer.
  constexpr double kLeastCompliance = 1.0e-5;  // of the diagonal
  is_known = is_known && num_springs == num_listed_;
  num_springs = num_listed_;
  if (is_known) return;
  is_known = true;
  const size_t n = capacity();
  for (size_t i = 0; i < num_springs; ++i) {
    double* const at = &factor[RowAt(i)];
    const auto value = [&](size_t j) {
      return double(to_world) * double(couplings[stride * points[i] + points[j]]);
    };
    double pivot = value(i);
    pivot += std::fmax(1.0 / double(gains[i]), kLeastCompliance * pivot);
    for (size_t j = 0; j < i; ++j) {
      const double* const before = &factor[RowAt(j)];
      double sum = value(j);
      for (size_t k = 0; k < j; ++k) sum -= at[k] * before[k];
      at[j] = sum / before[j];
      pivot -= at[j] * at[j];
    }
    const double least = kLeastCompliance * value(i);
    at[i] = std::sqrt(std::fmax(pivot, std::fmax(least, 1.0e-300)));
  }
  double column[kMost];
  for (size_t c = 0; c < num_springs; ++c) {
    for (size_t i = 0; i < num_springs; ++i) {
      double sum = i == c ? 1.0 : 0.0;
      for (size_t k = c; k < i; ++k) sum -= factor[RowAt(i) + k] * column[k];
      column[i] = i < c ? 0.0 : sum / factor[RowAt(i) + i];
    }
    for (size_t i = num_springs; i-- > 0;) {
      double sum = column[i];
      for (size_t k = i + 1; k < num_springs; ++k) sum -= factor[RowAt(k) + i] * column[k];
      column[i] = sum / factor[RowAt(i) + i];
      inverse[n * c + i] = static_cast<float>(column[i]);
    }
  }
}

void SpringBlock::Turn(const FreeTurn& turn, std::span<const TurnedPoint> at, float to_world) {
  constexpr Vec3 kAxes[3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
  const size_t n = capacity();
  turns = true;
  for (size_t k = 0; k < num_springs; ++k) {
    for (size_t axis = 0; axis < 3; ++axis) {
      const Vec3 a = Cross(at[k].arm, kAxes[axis]), b = Cross(at[k].z, kAxes[axis]);
      const double of[6] = {a.x, a.y, a.z, b.x, b.y, b.z};
      std::copy_n(of, 6, &moments[kNumbersOfTurn * k + 6 * axis]);
    }
  }
  double Q[6][6] = {};
  for (size_t i = 0; i < num_springs; ++i) {
    double* const by = &by_turn[kNumbersOfTurn * i];
    std::fill_n(by, kNumbersOfTurn, 0.0);
    for (size_t k = 0; k < num_springs; ++k) {
      const auto B = double(inverse[n * k + i]);
      for (size_t c = 0; c < kNumbersOfTurn; ++c) by[c] += B * moments[kNumbersOfTurn * k + c];
    }
    const double* const own = &moments[kNumbersOfTurn * i];
    for (size_t c = 0; c < kNumbersOfTurn; ++c) {
      const double* const by_axis = by + c / 6 * 6;
      for (size_t d = 0; d < 6; ++d) Q[c % 6][d] += own[c] * by_axis[d];
    }
  }
  double W[6][6];
  for (size_t c = 0; c < 6; ++c) {
    const Vec3 a = c < 3 ? kAxes[c] : Vec3{}, b = c < 3 ? Vec3{} : kAxes[c - 3];
    const Turning by = turn.Answer(a, b);
    const float column[6] = {by.turn.x, by.turn.y, by.turn.z, -by.kept.x, -by.kept.y, -by.kept.z};
    for (size_t r = 0; r < 6; ++r) W[r][c] = double(column[r]) * double(to_world);
  }
  FindAnswer(Q, W);
}

// Gauss's elimination with row pivots.
void SpringBlock::FindAnswer(const double (&Q)[6][6], double (&W)[6][6]) {
  double N[6][6];
  for (size_t r = 0; r < 6; ++r) {
    for (size_t c = 0; c < 6; ++c) {
      N[r][c] = r == c ? 1.0 : 0.0;
      for (size_t k = 0; k < 6; ++k) N[r][c] += W[r][k] * Q[k][c];
    }
  }
  for (size_t k = 0; k < 6; ++k) {
    size_t pivot = k;
    for (size_t r = k + 1; r < 6; ++r) {
      if (std::fabs(N[r][k]) > std::fabs(N[pivot][k])) pivot = r;
    }
    std::swap(N[k], N[pivot]);
    std::swap(W[k], W[pivot]);
    const double scale = N[k][k] != 0.0 ? 1.0 / N[k][k] : 0.0;
    for (size_t c = 0; c < 6; ++c) N[k][c] *= scale, W[k][c] *= scale;
    for (size_t r = 0; r < 6; ++r) {
      const double share = r == k ? 0.0 : N[r][k];
      for (size_t c = 0; c < 6; ++c) N[r][c] -= share * N[k][c], W[r][c] -= share * W[k][c];
    }
  }
  std::copy_n(&W[0][0], 36, &answer[0][0]);
}

void SpringBlock::Solve() {
  const size_t n = capacity();
  float solved[3][kMost] = {};
  for (size_t k = 0; k < num_springs; ++k) {
    const float* const row = &inverse[n * k];
    const float x = numbers[k], y = numbers[n + k], z = numbers[2 * n + k];
    for (size_t i = 0; i < num_springs; ++i) {
      solved[0][i] += row[i] * x;
      solved[1][i] += row[i] * y;
      solved[2][i] += row[i] * z;
    }
  }
  for (size_t axis = 0; axis < 3; ++axis) {
    std::copy_n(solved[axis], num_springs, numbers.begin() + n * axis);
  }
  if (!turns) return;
  double sums[6] = {}, y[6] = {};
  const auto number = [&](size_t k, size_t axis) -> float& { return numbers[n * axis + k]; };
  for (size_t i = 0; i < 3 * num_springs; ++i) {
    for (size_t c = 0; c < 6; ++c) sums[c] += moments[6 * i + c] * double(number(i / 3, i % 3));
  }
  for (size_t r = 0; r < 6; ++r) {
    for (size_t c = 0; c < 6; ++c) y[r] += answer[r][c] * sums[c];
  }
  for (size_t i = 0; i < 3 * num_springs; ++i) {
    double change = 0.0;
    for (size_t c = 0; c < 6; ++c) change += by_turn[6 * i + c] * y[c];
    float& p = number(i / 3, i % 3);
    p = static_cast<float>(double(p) - change);
  }
}

}  // namespace plush

// SPDX-License-Identifier: MIT
// The springs without a rest length between one body and targets, solved together.
//
// Such a spring is linear (attached_points.h): with e_i = Missing_i / K_i, the changes of all
// impulses are
//   dp = (S + K^-1)^-1 e,
// S the couplings of their points, the same for the three axes. Gauss-Seidel over the rows would
// take hundreds of sweeps where stiff springs hold points that are close to each other. The inverse
// B is kept while neither the factor nor a spring changes.
// In a solve that turns the body (free_turn.h), S + U^T W U takes the place of S: U are the moments
// of impulses, 6 numbers each, and W how the body turns by their sums. Then
//   dp = B (e - U^T y),   y = (I + W U B U^T)^-1 W U B e.
#pragma once

#include "plush/allocator.h"

#include "base/array.h"
#include "contact/free_turn.h"

#include <cstddef>
#include <cstdint>
#include <span>

namespace plush {

struct SpringBlock {
  /// With more springs, all are swept: the inverse costs the third power of their number.
  static constexpr uint32_t kMost = 64;

  Array<uint32_t> points;  ///< in AttachedPoints::points, ascending
  Array<float> gains;      ///< K [kg]
  uint32_t num_springs = 0;
  bool is_known = false;   ///< whether `inverse` is that of the springs
  Array<double> factor;    ///< scratch memory: a lower triangle by rows
  Array<float> inverse;    ///< of S + K^-1 [kg] (capacity x capacity)
  Array<float> numbers;    ///< scratch memory, three for each attached point
  Array<float> responses;  ///< the same
  bool turns = false;      ///< whether the body turns
  double answer[6][6];     ///< (I + W U B U^T)^-1 W
  Array<double> moments;   ///< U (capacity x 3 axes x 6)
  Array<double> by_turn;   ///< B U^T (capacity x 3 axes x 6)

  size_t capacity() const { return points.size(); }

  /// Makes room for the springs among `count` attached points. Forgets all. Returns false, with
  /// nothing changed, if the allocator fails.
  bool Reserve(const Allocator& allocator, size_t count);

  void Clear() {
    num_springs = 0;
    is_known = false;
  }

  /// Starts to list the springs anew. Those that are the same as before, in the same order, leave
  /// `inverse` as it is.
  void StartList() { num_listed_ = 0; }
  /// Returns false if there is no room.
  bool List(uint32_t point, float gain);
  /// Ends the list. If springs have changed, finds the inverse: S_ij is to_world couplings[stride i
  /// + j] for points i and j.
  void EndList(std::span<const float> couplings, size_t stride, float to_world);

  /// Lets the body turn until StopTurn; `at`: the points of the springs.
  void Turn(const FreeTurn& turn, std::span<const TurnedPoint> at, float to_world);
  void StopTurn() { turns = false; }

  /// Replaces numbers [axis capacity + k] of the springs by (S + K^-1)^-1 times them, or
  /// (S + U^T W U + K^-1)^-1.
  void Solve();

 private:
  // (I + W Q)^-1 W; overwrites W.
  void FindAnswer(const double (&Q)[6][6], double (&W)[6][6]);

  uint32_t num_listed_ = 0;
};

}  // namespace plush

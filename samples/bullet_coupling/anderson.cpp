// SPDX-License-Identifier: MIT
// Source: anderson.h.
#include "anderson.h"

#include <algorithm>
#include <cmath>

Wrench Anderson::Next(const Wrench& x, const Wrench& g_of_x) {
  constexpr size_t kMost = 6;           // earlier places that count: more than unknowns cannot help
  constexpr double kLeastShare = 1e-6;  // of a direction that others do not have
  const Wrench change = Sum(g_of_x, -1.0, x);
  // Directions of change made orthogonal one after the other, the latest first. Along each, go to
  // where the change has no part of it.
  std::vector<Wrench> directions, steps;
  Wrench left = change, place = x;
  for (size_t k = changes_.size(); k-- > 0 && directions.size() < kMost;) {
    Wrench direction = Sum(change, -1.0, changes_[k]), step = Sum(x, -1.0, places_[k]);
    const double whole = Dot(direction, direction);
    for (size_t i = 0; i < directions.size(); ++i) {
      const double part = Dot(direction, directions[i]);
      direction = Sum(direction, -part, directions[i]);
      step = Sum(step, -part, steps[i]);
    }
    const double length2 = Dot(direction, direction);
    if (!(length2 > kLeastShare * whole)) continue;
    const double inverse = 1.0 / std::sqrt(length2);
    for (double& number : direction) number *= inverse;
    for (double& number : step) number *= inverse;
    const double part = Dot(left, direction);
    left = Sum(left, -part, direction);
    place = Sum(place, -part, step);
    directions.push_back(direction);
    steps.push_back(step);
  }
  places_.push_back(x);
  changes_.push_back(change);
  return Sum(place, relaxation_, left);
}

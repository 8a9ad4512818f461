// SPDX-License-Identifier: MIT
// Curves of pairs, and what holds for those of closed surfaces.
#pragma once

#include "intersection/curves.h"

#include <cstdint>
#include <vector>

namespace plush::test {

struct Curves {
  std::vector<Curve> curves;
  std::vector<uint32_t> order;  ///< see CurveScratch
};

Curves CurvesOf(const std::vector<TrianglePair>& pairs);

/// Fails the test unless each key is one start and one end, at the same point to the bit, every
/// pair is on one curve, and every curve is closed.
void RequireClosed(const std::vector<TrianglePair>& pairs, const Curves& found);

}  // namespace plush::test

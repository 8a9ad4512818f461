// SPDX-License-Identifier: MIT
#include "materials/degenerate_tets.h"

#include "base/vector_math.h"
#include "runtime/tet_fixtures.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <limits>
#include <vector>

using namespace plush;
using namespace plush::test;

namespace {

constexpr float kAlpha = 0.1f;

size_t CountDegenerate(const ElementView& elements, const std::vector<Vec3>& x) {
  size_t count = 0;
  for (size_t t = 0; t < elements.tets.size(); ++t) {
    const Tet& tet = elements.tets[t];
    const Mat3 F = DeformationGradient(x[tet.a], x[tet.b], x[tet.c], x[tet.d], elements.DmInv(t));
    count += Determinant(F) < kAlpha ? 1u : 0u;
  }
  return count;
}

}  // namespace

TEST_CASE("Many tets collapse in one step, keep their pairs, and recover") {
  const uint32_t seed = GENERATE(1u, 2u, 3u);
  CAPTURE(seed);
  Random random(seed);
  const ShapeAsset asset(TetBox(6, 6, 6, 0.1));
  const ElementView elements = asset.elements();
  const std::vector<Vec3> rest = asset.rest();
  std::vector<Vec3> thrown = rest;
  for (Vec3& x : thrown) x = ToVec3(random.Vector(0.3));
  std::vector<Witness> witnesses(elements.tets.size(), kNoWitness);
  CHECK(UpdateWitnesses(elements, rest, rest, kAlpha, witnesses) == 0);
  const size_t count = UpdateWitnesses(elements, rest, thrown, kAlpha, witnesses);
  CHECK(count == CountDegenerate(elements, thrown));
  CHECK(count > elements.tets.size() / 3);
  CHECK(std::all_of(witnesses.begin(), witnesses.end(), IsWitness));
  // They stay while nothing moves, and while some recover.
  const std::vector<Witness> first = witnesses;
  CHECK(UpdateWitnesses(elements, thrown, thrown, kAlpha, witnesses) == count);
  CHECK(witnesses == first);
  std::vector<Vec3> half = thrown;
  for (size_t i = 0; i < half.size(); i += 2) half[i] = rest[i];
  UpdateWitnesses(elements, thrown, half, kAlpha, witnesses);
  size_t kept = 0;
  for (size_t t = 0; t < witnesses.size(); ++t) {
    if (first[t] == kNoWitness || witnesses[t] == kNoWitness) continue;
    REQUIRE(witnesses[t] == first[t]);
    ++kept;
  }
  CHECK(kept > 0);
  CHECK(UpdateWitnesses(elements, half, rest, kAlpha, witnesses) == 0);
  // A body that is degenerate at its start.
  CHECK(UpdateWitnesses(elements, thrown, thrown, kAlpha, witnesses) == count);
  // A node that is lost changes nothing for its tets.
  const std::vector<Witness> before = witnesses;
  std::vector<Vec3> lost = thrown;
  for (Vec3& x : lost) x.y = std::numeric_limits<float>::quiet_NaN();
  CHECK(UpdateWitnesses(elements, thrown, lost, kAlpha, witnesses) == count);
  CHECK(witnesses == before);
}

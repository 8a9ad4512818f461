// SPDX-License-Identifier: MIT
// How points answer impulses, against the dense inverse.
#include "contact/point_couplings.h"

#include "runtime/contact/random_contacts.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>

using namespace plush;
using namespace plush::test;

TEST_CASE("Couplings of points are those of the dense inverse, whatever touched before") {
  RandomContacts c(7, Touching::kVertices);
  PointCouplings couplings;
  REQUIRE(couplings.Allocate(DefaultAllocator(), static_cast<uint32_t>(c.shape.num_nodes()),
                             UINT32_MAX));
  Eigen::MatrixXd inverse = c.A.inverse();
  const auto exact = [&](const EmbeddedPoint& a, const EmbeddedPoint& b) {
    double sum = 0.0;
    for (int i = 0; i < 4; ++i) {
      for (int j = 0; j < 4; ++j) {
        const double value = inverse(3 * a.nodes[i], 3 * b.nodes[j]);
        sum += double(a.Free(i)) * double(b.Free(j)) * value;
      }
    }
    return sum;
  };
  double worst = 0.0;
  for (uint32_t round = 0; round < 60; ++round) {
    if (round % 7 == 6) {
      c.system.system.dt = kProblemDt * static_cast<float>(c.random.Uniform(0.5, 2.0));
      c.Refactor(2 + round);
      inverse = DenseSystem(c.model, double(c.system.system.dt)).inverse();
    }
    for (uint32_t k = 0; k < couplings.num_slots; ++k) {
      couplings.new_slots[k] = c.random.Below(3) > 0 ? 0 : PointCouplings::kNoSlot;
    }
    couplings.Keep();
    for (uint32_t k = 1 + c.random.Below(12); k > 0; --k) {
      const EmbeddedPoint& point = c.points[c.random.Below(static_cast<uint32_t>(c.points.size()))];
      const uint32_t slot = couplings.SlotAt(point);
      if (slot != PointCouplings::kNoSlot) {
        CHECK(couplings.points[slot].id == point.id);
      } else if (couplings.num_slots < couplings.points.size()) {
        couplings.Add(point);
      }
    }
    couplings.Find(c.system);
    REQUIRE(couplings.num_known == couplings.num_slots);
    for (uint32_t i = 0; i < couplings.num_slots; ++i) {
      const EmbeddedPoint& a = couplings.points[i];
      for (uint32_t j = 0; j < couplings.num_slots; ++j) {
        const double found = double(couplings.Row(i)[j]);
        worst = std::max(worst, std::fabs(found - exact(a, couplings.points[j])) / exact(a, a));
      }
    }
  }
  std::printf("couplings, 60 sets: %.1e off the dense inverse\n", worst);
  CHECK(worst < 1e-4);
}

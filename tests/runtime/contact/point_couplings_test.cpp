// SPDX-License-Identifier: MIT
// How points answer impulses, against the dense inverse.
#include "contact/point_couplings.h"

#include "runtime/contact/random_contacts.h"
#include "solver/pin_schur.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <vector>

using namespace plush;
using namespace plush::test;

namespace point_couplings_test {

// S_ij = w_i^T A^-1 w_j of the dense inverse, over the nodes that are free.
double ExactCoupling(const Eigen::MatrixXd& inverse, const EmbeddedPoint& a,
                     const EmbeddedPoint& b) {
  double sum = 0.0;
  for (int i = 0; i < 4; ++i) {
    for (int j = 0; j < 4; ++j) {
      sum += double(a.Free(i)) * double(b.Free(j)) * inverse(3 * a.nodes[i], 3 * b.nodes[j]);
    }
  }
  return sum;
}

// Of all pairs of points, relative to how much the first one moves by itself.
double WorstError(const PointCouplings& couplings, const Eigen::MatrixXd& inverse) {
  double worst = 0.0;
  for (uint32_t i = 0; i < couplings.num_slots; ++i) {
    const EmbeddedPoint& a = couplings.points[i];
    for (uint32_t j = 0; j < couplings.num_slots; ++j) {
      const double error =
          double(couplings.Row(i)[j]) - ExactCoupling(inverse, a, couplings.points[j]);
      worst = std::max(worst, std::fabs(error) / ExactCoupling(inverse, a, a));
    }
  }
  return worst;
}

TEST_CASE("Couplings of points are those of the dense inverse, whatever touched before") {
  RandomContacts c(7, Touching::kVertices);
  PointCouplings couplings;
  REQUIRE(couplings.Allocate(DefaultAllocator(), static_cast<uint32_t>(c.shape.num_nodes()),
                             UINT32_MAX));
  Eigen::MatrixXd inverse = reference::InverseOf(c.A);
  double worst = 0.0;
  for (uint32_t round = 0; round < 60; ++round) {
    if (round % 7 == 6) {
      c.system.system.dt = kProblemDt * static_cast<float>(c.random.Uniform(0.5, 2.0));
      c.Refactor(2 + round);
      inverse = reference::InverseOf(DenseSystem(c.model, double(c.system.system.dt)));
    }
    for (uint32_t k = 0; k < couplings.num_slots; ++k) {
      couplings.new_slots[k] = c.random.Below(3) > 0 ? 0 : PointCouplings::kNoSlot;
    }
    if (round % 5 == 4) std::ranges::fill(couplings.new_slots, 0);
    std::vector<uint32_t> ids;
    for (uint32_t k = 0; k < couplings.num_slots; ++k) {
      if (couplings.new_slots[k] != PointCouplings::kNoSlot) ids.push_back(couplings.points[k].id);
    }
    const uint32_t num_before = couplings.num_slots;
    couplings.Keep();
    REQUIRE(couplings.num_slots == ids.size());
    for (uint32_t k = 0, kept = 0; k < num_before; ++k) {
      if (couplings.new_slots[k] == PointCouplings::kNoSlot) continue;
      REQUIRE(couplings.new_slots[k] == kept);
      CHECK(couplings.points[kept].id == ids[kept]);
      ++kept;
    }
    SlotIndex slots(&couplings);
    for (uint32_t k = 1 + c.random.Below(12); k > 0; --k) {
      const EmbeddedPoint& point = c.points[c.random.Below(static_cast<uint32_t>(c.points.size()))];
      uint32_t slot = 0;
      while (slot < couplings.num_slots && !couplings.points[slot].IsAt(point)) ++slot;
      const bool is_new = slot == couplings.num_slots;
      REQUIRE(slots.Find(point) == (is_new ? PointCouplings::kNoSlot : slot));
      if (is_new && couplings.num_slots < couplings.points.size()) {
        REQUIRE(slots.Add(point) == slot);
        REQUIRE(slots.Find(point) == slot);
      }
      if (slot < couplings.num_slots) CHECK(slots.MayHave(point.weights[0]));
    }
    couplings.Find(c.system);
    REQUIRE(couplings.num_known == couplings.num_slots);
    CHECK(couplings.stride == CouplingStride(couplings.num_slots));
    worst = std::max(worst, WorstError(couplings, inverse));
  }
  std::printf("couplings, 60 sets: %.1e off the dense inverse\n", worst);
  CHECK(worst < 1e-4);
}

// A crowd's factor does not know the pins of one of its bodies: S_ij - q_i^T P^-1 q_j, where q are
// the pins' answers and P is their Schur matrix, must be what the matrix without the pins' rows
// says. Damping makes the stretch term as many times as large.
TEST_CASE(
    "Couplings with pins beyond the factor's and with damping are those of the dense inverse") {
  const uint32_t seed = GENERATE(range(1u, 9u)), num_extra = GENERATE(0u, 1u, 5u, kMaxExtraPins);
  const double damping = GENERATE(0.0, 0.02, 1.0);  // [s]
  CAPTURE(seed, num_extra, damping);
  RandomContacts c(seed, Touching::kVertices);
  c.system.system.elements.damping = static_cast<float>(damping);
  c.model.damping = damping;
  c.Refactor(2);
  std::vector<uint32_t> extra;
  for (uint32_t node = c.random.Below(2); node < c.pinned.size() && extra.size() < num_extra;
       node += 1 + c.random.Below(2)) {
    if (c.pinned[node] != 0) continue;
    extra.push_back(node);
    c.pinned[node] = 1;
    c.model.pinned[node] = true;
  }
  std::vector<double> cholesky(extra.size() * extra.size());
  std::vector<NodeVec> scratch(c.shape.num_nodes() + 1);
  REQUIRE(FactorPinSchur(c.system.factor, extra, c.system.workspace, scratch, cholesky));
  const PinSchur made = {extra, cholesky};
  if (num_extra > 0) c.system.factor.pins = &made;
  PointCouplings couplings;
  REQUIRE(couplings.Allocate(DefaultAllocator(), static_cast<uint32_t>(c.shape.num_nodes()),
                             UINT32_MAX));
  for (uint32_t id = 0; id < c.surface().num_points(); ++id) {
    const EmbeddedPoint point = c.surface().Point(id);
    if (point.MovableShare() < kLeastMovable) continue;
    if (couplings.num_slots == couplings.points.size()) break;
    couplings.Add(point);
  }
  REQUIRE(couplings.num_slots > 0);
  couplings.Find(c.system);
  const double worst =
      WorstError(couplings, reference::InverseOf(DenseSystem(c.model, double(kProblemDt))));
  CAPTURE(extra.size(), couplings.num_slots, worst);
  // 1 s makes bodies of up to 1e7 Pa as stiff as ones of 1e9: the factor is in floats.
  CHECK(worst < (damping < 1.0 ? 1e-4 : 1e-3));
}

}  // namespace point_couplings_test

// SPDX-License-Identifier: MIT
#include "plush/format/system_factor.h"

#include "plush/format/factor_panels.h"

#include "runtime/crowd_lanes.h"
#include "runtime/solver_fixtures.h"
#include "runtime/world/heap_counter.h"

#include <catch2/catch.hpp>

#include <bit>
#include <cmath>
#include <limits>
#include <vector>

using namespace plush;
using namespace plush::test;

namespace system_factor_test {

constexpr float kDt = 0.01f;

struct Case : RandomSystem {
  explicit Case(uint32_t seed, double pin_share = 0.15) : RandomSystem(seed, pin_share, kDt) {}

  FactorStructure structure() const {
    const FactorView& baked = shape.asset().factor();
    return {baked.supernodes, baked.supernode_of, baked.rows};
  }
  Status Factorise(const SystemTerms& terms, const Allocator& allocator = DefaultAllocator()) {
    return FactoriseSystem(terms, structure(), allocator, factor.values);
  }
};

// Whether the padding of a dense block is exactly zero.
bool PaddingIsZero(const float* block, uint32_t num_rows, uint32_t num_columns) {
  for (uint32_t j = 0; j < num_columns; ++j) {
    for (uint32_t i = num_rows; i < PaddedRows(num_rows); ++i) {
      if (std::bit_cast<uint32_t>(block[BlockIndex(num_rows, num_columns, i, j)]) != 0)
        return false;
    }
  }
  return true;
}

TEST_CASE("The factor multiplied out is M + D^T K D of the paper") {
  const uint32_t seed = GENERATE(1u, 2u, 3u, 4u, 5u, 6u);
  const double pin_share = GENERATE(0.0, 0.15);
  CAPTURE(seed, pin_share);
  Case c(seed, pin_share);
  c.factor.Factorise(c.system);
  const Eigen::MatrixXd A = DenseSystemOfAxis(c.model, kDt);
  CHECK((MultiplyOut(c.factor.panels()) - A).norm() < 1e-5 * A.norm());
}

TEST_CASE("Masses scale, other stiffnesses replace the baked ones, damping adds its own") {
  Case c(7);
  c.system.mass_scale = 2.5f;
  const std::vector<float> uniform(c.shape.num_places(), 3.0f);
  c.system.elements.stiffness = uniform;
  c.system.elements.damping = 0.03f;
  c.model.masses *= 2.5;
  for (size_t t = 0; t < c.model.mu.size(); ++t) c.model.mu[t] = 1.5 / c.model.volumes[t];
  c.factor.Factorise(c.system);
  // dt^2 + damping dt replaces dt^2.
  const double dt = std::sqrt(double(kDt) * (double(kDt) + double(0.03f)));
  const Eigen::MatrixXd A = DenseSystemOfAxis(c.model, dt);
  CHECK((MultiplyOut(c.factor.panels()) - A).norm() < 1e-5 * A.norm());
}

TEST_CASE("Padding of the panels is zero") {
  const uint32_t seed = GENERATE(1u, 2u, 3u, 4u);
  CAPTURE(seed);
  Case c(seed);  // its values start as NaN
  c.factor.Factorise(c.system);
  for (const Supernode& s : c.structure().supernodes) {
    const float* below = &c.factor.values[s.first_value];
    CHECK(PaddingIsZero(below, s.num_rows, s.num_columns));
    CHECK(PaddingIsZero(below + BlockValues(s.num_rows, s.num_columns), s.num_columns,
                        s.num_columns));
  }
  for (const float value : c.factor.values) REQUIRE(std::isfinite(value));
}

TEST_CASE("Factoring again gives the baked factor, bit for bit") {
  const uint32_t seed = GENERATE(8u, 9u, 10u);
  CAPTURE(seed);
  Case c(seed, 0.0);
  const std::span<const float> baked = c.shape.asset().factor().values;
  c.system.dt = c.shape.asset().factor().dt;
  c.factor.Factorise(c.system);
  CHECK(SameBits(c.factor.values, baked));
  SystemTerms terms = TermsOf(c.system);
  terms.pinned = {};  // an empty span means that nothing is pinned
  REQUIRE(c.Factorise(terms).ok());
  CHECK(SameBits(c.factor.values, baked));
  c.system.dt *= 0.5f;
  c.factor.Factorise(c.system);
  CHECK_FALSE(SameBits(c.factor.values, baked));
}

TEST_CASE("A matrix that is not positive definite has no factor") {
  Case c(11, 0.0);
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const float inf = std::numeric_limits<float>::infinity();
  for (const float wrong : {-1.0e6f, nan, inf, -inf}) {
    CAPTURE(wrong);
    std::vector<float> masses(c.system.masses.begin(), c.system.masses.end());
    masses[c.random.Below(static_cast<uint32_t>(masses.size()))] = wrong;
    SystemTerms terms = TermsOf(c.system);
    terms.masses = masses;
    const Status status = c.Factorise(terms);
    CHECK(status.code == StatusCode::kInvalidArgument);
    CHECK(std::string(status.section) == "dt");
    terms = TermsOf(c.system);
    std::vector<float> stiffness(c.shape.num_places(), 1.0f);
    stiffness[c.system.elements.slots[0]] = wrong;
    terms.stiffness = stiffness;
    CHECK(c.Factorise(terms).code == StatusCode::kInvalidArgument);
  }
  // No stiffness and no mass.
  const std::vector<float> none(c.shape.num_places(), 0.0f);
  SystemTerms terms = TermsOf(c.system);
  terms.stiffness = none;
  terms.mass_scale = 0.0f;
  CHECK(c.Factorise(terms).code == StatusCode::kInvalidArgument);
  // So light that 1 / mass exceeds float's range.
  terms.mass_scale = 1.0e-42f;
  CHECK(c.Factorise(terms).code == StatusCode::kInvalidArgument);
  // So heavy, about 1e77 kg, that 1 / mass is zero in float, although the matrix is regular.
  const std::vector<float> heavy(c.system.masses.size(), 3.0e38f);
  terms.masses = heavy;
  terms.mass_scale = 3.0e38f;
  CHECK(c.Factorise(terms).code == StatusCode::kInvalidArgument);
  c.factor.Factorise(c.system);  // the failed attempts left nothing behind
}

TEST_CASE("Without memory there is no factor, and no state is lost") {
  Case c(12);
  for (uint64_t n = 1;; ++n) {
    CountingMemory memory;
    memory.FailAt(n, false);
    const Status status = c.Factorise(TermsOf(c.system), memory.allocator());
    CHECK(memory.blocks_out() == 0);
    CHECK(memory.consistent());
    if (status.ok()) {
      CHECK(n > 3);
      break;
    }
    CHECK(status.code == StatusCode::kOutOfMemory);
  }
}

}  // namespace system_factor_test

// SPDX-License-Identifier: MIT
// The vector kernels agree on every instruction set of this machine.
#include "plush/format/tet_block.h"

#include "elasticity/element_pass.h"
#include "runtime/crowd_lanes.h"
#include "runtime/simd_targets.h"
#include "runtime/solver_fixtures.h"
#include "solver/volume_sweep.h"

#include <catch2/catch.hpp>

#include <cmath>
#include <cstdio>
#include <cstring>
#include <vector>

using namespace plush;
using namespace plush::test;

namespace solver_instruction_sets_test {

constexpr float kDt = 0.01f;

using Numbers = std::vector<float>;

// A body so strained that a few tets are flat or inverted, and everything that kernels read.
struct Subject {
  explicit Subject(uint32_t seed)
      : random(seed),
        shape(TetBox(1 + seed % 4, 2, 3, 0.1, 0.09, seed), {2.0e5, 0.4, 1000.0}, double(kDt)),
        kappa(shape.num_places()),
        stretches(9 * shape.num_places()) {
    const Eigen::Matrix3d R = random.Rotation();
    rotation = ToQuat(R * random.Rotation(0.2));
    x = ToNodeVecs(R * (ToEigen(shape.rest()) + random.Vectors(shape.num_nodes(), 0.03)));
    for (size_t i = 0; i < shape.num_nodes(); ++i) x[i].w = 1.0f / shape.simulation().masses[i];
    for (const uint32_t slot : shape.elements().slots) {
      kappa[slot] = static_cast<float>(random.Uniform(-1e-4, 1e-4));
    }
    for (float& s : stretches) s = static_cast<float>(random.Uniform(-1.0, 1.0));
  }

  Numbers Impulses() const {
    RotationArray rotations(shape.num_blocks(), rotation);
    std::vector<NodeVec> rhs(x.size());
    ElementView elements = shape.elements();
    elements.damping = 0.1f;
    Numbers multipliers = kappa;
    AddElasticImpulses(elements, x, {kDt, elements.damping, 8}, stretches, multipliers, 0,
                       shape.num_blocks(), rotations.view(), rhs);
    Numbers out = NumbersOf(rhs);
    out.insert(out.end(), rotations.numbers.begin(), rotations.numbers.end());
    return out;
  }

  Numbers Stretches() const {
    RotationArray rotations(shape.num_blocks(), rotation);
    Numbers out(stretches.size());
    ComputeStretches(shape.elements(), x, 8, rotations.view(), out);
    return out;
  }

  // Positions, then the sweep's changes, then multipliers.
  Numbers Sweep() const {
    std::vector<NodeVec> moved = x;
    std::vector<float> multipliers = kappa;
    const SweepChanges changes = SweepVolumes(shape.elements(), kDt, moved, multipliers);
    Numbers out = NumbersOf(moved);
    out.insert(out.end(), {changes.lowest_det_f, changes.largest});
    return out;
  }

  // One lifting sweep, from a start without flat tets.
  Numbers Lift() const {
    const std::vector<Vec3> rest = shape.rest();
    std::vector<NodeVec> lifted = x;
    LiftFlatTets(shape.elements(), rest, lifted);
    return NumbersOf(lifted);
  }

  Numbers Solve() {
    Random own(1);
    SystemFactor factor(shape);
    factor.Factorise(SystemOf(shape, kDt));
    std::vector<NodeVec> b = ToNodeVecs(own.Vectors(shape.num_nodes(), 1.0));
    factor.Solve(&b);
    return NumbersOf(b);
  }

  Random random;
  ShapeAsset shape;
  Quat rotation;
  std::vector<NodeVec> x;
  Numbers kappa, stretches;
};

void CheckSame(const Numbers& found, const Numbers& expected) {
  REQUIRE(found.size() == expected.size());
  if (kIsDeterministic) {
    CHECK(std::memcmp(found.data(), expected.data(), found.size() * sizeof(float)) == 0);
  }
  double difference = 0.0, size = 0.0;
  for (size_t i = 0; i < found.size(); ++i) {
    difference += std::pow(double(found[i]) - double(expected[i]), 2);
    size += std::pow(double(expected[i]), 2);
  }
  CHECK(std::sqrt(difference) < 1e-5 * std::sqrt(size));
}

TEST_CASE("Kernels run on the chosen instruction set") {
  const std::vector<int64_t> targets = SimdTargets();
  std::string names;
  for (const int64_t target : targets) names += NameOf(target) + " ";
  std::printf("instruction sets compared: %s\n", names.c_str());
  REQUIRE(!targets.empty());
  if (targets.size() == 1 || kIsDeterministic) return;
  // Fused multiply-adds round once and plain floats twice, so some bits must differ.
  const Subject subject(1);
  Numbers best, plain;
  {
    const SimdTargetScope scope(targets.front());
    best = subject.Impulses();
  }
  {
    const SimdTargetScope scope(targets.back());
    plain = subject.Impulses();
  }
  CHECK(best != plain);
}

TEST_CASE("Every instruction set gives the same impulses, stretches, sweeps, lifts and solves") {
  const uint32_t seed = GENERATE(1u, 2u, 3u, 4u, 5u, 6u);
  CAPTURE(seed);
  Subject subject(seed);
  const std::vector<int64_t> targets = SimdTargets();
  Numbers impulses, stretches, swept, lifted, solved;
  {
    const SimdTargetScope scope(targets.back());
    impulses = subject.Impulses();
    stretches = subject.Stretches();
    swept = subject.Sweep();
    lifted = subject.Lift();
    solved = subject.Solve();
  }
  for (const int64_t target : targets) {
    CAPTURE(NameOf(target));
    const SimdTargetScope scope(target);
    CheckSame(subject.Impulses(), impulses);
    CheckSame(subject.Stretches(), stretches);
    CheckSame(subject.Sweep(), swept);
    CheckSame(subject.Lift(), lifted);
    CheckSame(subject.Solve(), solved);
  }
}

}  // namespace solver_instruction_sets_test

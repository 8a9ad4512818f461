// SPDX-License-Identifier: MIT
// A tet's result does not depend on the other tets of its block.
#include "base/vector_math.h"
#include "elasticity/element_pass.h"
#include "elasticity/polar_decomposition.h"
#include "runtime/dense_reference.h"
#include "runtime/simd_targets.h"

#include <catch2/catch.hpp>

#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

using namespace plush;
using namespace plush::test;

namespace lanes_test {

constexpr int kMany = 64;

// A tet's deformation gradient and the start of its rotation.
struct Subject {
  Mat3 F;
  Quat start;
};

// Result of the element pass for a tet.
struct Outcome {
  Quat rotation;
  std::array<Vec3, 4> impulses;
};

// One block of tets that share no node; each has the unit corner as its rest shape.
struct Block {
  Block() {
    block = {};
    for (uint32_t i = 0; i < kBlockTets; ++i) {
      for (uint32_t k = 0; k < 4; ++k) block.nodes[k][i] = 4 * i + k;
      for (size_t k : {0, 4, 8}) block.dm_inv[k][i] = 1.0f;
      block.det_dm_inv[i] = 1.0f;
      block.stiffness[i] = 2.0f;
      block.bulk[i] = 1.0f;
      tets.push_back({4 * i, 4 * i + 1, 4 * i + 2, 4 * i + 3});
      slots.push_back(i);
    }
  }

  std::vector<Outcome> Run(const std::array<Subject, kBlockTets>& subjects) const {
    std::vector<NodeVec> x(4 * kBlockTets + 1), rhs(x.size());
    RotationArray rotations(1);
    for (uint32_t i = 0; i < kBlockTets; ++i) {
      x[4 * i + 1] = subjects[i].F.c0;
      x[4 * i + 2] = subjects[i].F.c1;
      x[4 * i + 3] = subjects[i].F.c2;
      rotations.view().Set(i, subjects[i].start);
    }
    std::vector<float> kappa(kBlockTets, 0.01f);
    const ElementView elements = {tets, slots, {&block, 1}};
    AddElasticImpulses(elements, x, {0.1f, 0.0f, kMany}, {}, kappa, 0, 1, rotations.view(), rhs);
    std::vector<Outcome> out;
    for (uint32_t i = 0; i < kBlockTets; ++i) {
      out.push_back(
          {rotations.Get(i), {rhs[4 * i], rhs[4 * i + 1], rhs[4 * i + 2], rhs[4 * i + 3]}});
    }
    return out;
  }

  TetBlock block;
  std::vector<Tet> tets;
  std::vector<uint32_t> slots;
};

bool SameBits(const Outcome& a, const Outcome& b) {
  return std::memcmp(&a, &b, sizeof(Outcome)) == 0;
}

Subject Moderate(Random* random) {
  const Eigen::Matrix3d R = random->Rotation();
  return {ToMat3(R * (Eigen::Matrix3d::Identity() + random->Matrix(0.2))),
          ToQuat(R * random->Rotation(0.3))};
}

// Gradients that the vector form leaves to the scalar one, or that stop it.
std::vector<Subject> Troublemakers(Random* random) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const float inf = std::numeric_limits<float>::infinity();
  const Eigen::Matrix3d R = random->Rotation();
  const Quat q = ToQuat(random->Rotation());
  const auto scaled = [&](double x, double y, double z) {
    return ToMat3(R * Eigen::Vector3d(x, y, z).asDiagonal() * random->Rotation());
  };
  std::vector<Subject> out = {{Mat3{}, q},
                              {scaled(1, 1, -1), q},
                              {scaled(1, 0.5, -0.2), q},
                              {scaled(1, 1, 0), q},
                              {scaled(1, 0, 0), q},
                              {scaled(1e-6, 1e-6, 1e-6), q},
                              {scaled(1e6, 2e6, 3e6), q},
                              {scaled(1e-20, 1, 1), q},
                              {{{1, 0, 0}, {0, -1, 0}, {0, 0, -1}}, Quat{}},  // half a turn
                              {{{-1, 0, 0}, {0, -1, 0}, {0, 0, 1}}, Quat{}},
                              {{{-1, 0, 0}, {0, -1, 0}, {0, 0, -1}}, Quat{}}};
  for (const float value : {nan, inf, -inf}) {
    Subject broken = Moderate(random);
    broken.F.c1.y = value;
    out.push_back(broken);
  }
  Subject all = Moderate(random);
  all.F = {{nan, nan, nan}, {nan, nan, nan}, {nan, nan, nan}};
  out.push_back(all);
  return out;
}

bool IsFiniteMat(const Mat3& F) { return std::isfinite(plush::SquaredNorm(F)); }

// The same bits, or as close to F: the scalar form may have taken over after a step or two.
bool IsAsGood(const Subject& subject, const Quat& found, const Quat& scalar) {
  if (std::memcmp(&found, &scalar, sizeof(Quat)) == 0) return true;
  const Eigen::Matrix3d F = ToEigen(subject.F);
  const double reached = (RotationOf(found).transpose() * F).trace();
  return reached > (RotationOf(scalar).transpose() * F).trace() - 1e-6 * F.norm();
}

TEST_CASE("A tet's rotation and impulses do not depend on the others of its block") {
  const uint32_t seed = GENERATE(1u, 2u, 3u);
  CAPTURE(seed);
  for (const int64_t target : SimdTargets()) {
    CAPTURE(NameOf(target));
    const SimdTargetScope scope(target);
    Random random(seed);
    const Block block;
    std::array<Subject, kBlockTets> calm;
    for (Subject& s : calm) s = Moderate(&random);
    const std::vector<Outcome> expected = block.Run(calm);
    // Any trouble in one lane.
    for (const Subject& trouble : Troublemakers(&random)) {
      const size_t lane = random.Below(kBlockTets);
      std::array<Subject, kBlockTets> mixed = calm;
      mixed[lane] = trouble;
      const std::vector<Outcome> found = block.Run(mixed);
      for (size_t i = 0; i < kBlockTets; ++i) {
        CAPTURE(lane, i);
        if (i != lane) REQUIRE(SameBits(found[i], expected[i]));
      }
    }
    // Trouble in all lanes but one, and in another order.
    const std::vector<Subject> troubles = Troublemakers(&random);
    for (size_t lane = 0; lane < kBlockTets; ++lane) {
      std::array<Subject, kBlockTets> mixed;
      for (Subject& s : mixed) s = troubles[random.Below(uint32_t(troubles.size()))];
      mixed[lane] = calm[lane];
      REQUIRE(SameBits(block.Run(mixed)[lane], expected[lane]));
    }
    std::array<Subject, kBlockTets> turned;
    for (size_t i = 0; i < kBlockTets; ++i) turned[(5 * i + 3) % kBlockTets] = calm[i];
    const std::vector<Outcome> found = block.Run(turned);
    for (size_t i = 0; i < kBlockTets; ++i) {
      REQUIRE(SameBits(found[(5 * i + 3) % kBlockTets], expected[i]));
    }
  }
}

TEST_CASE("Degenerate, inverted and turned tets get the scalar decomposition's rotation") {
  const uint32_t seed = GENERATE(4u, 5u);
  CAPTURE(seed);
  for (const int64_t target : SimdTargets()) {
    CAPTURE(NameOf(target));
    const SimdTargetScope scope(target);
    Random random(seed);
    const Block block;
    const std::vector<Subject> troubles = Troublemakers(&random);
    std::array<Subject, kBlockTets> subjects;
    for (size_t i = 0; i < kBlockTets; ++i) subjects[i] = troubles[i % troubles.size()];
    const std::vector<Outcome> found = block.Run(subjects);
    for (size_t i = 0; i < kBlockTets; ++i) {
      const Quat q = AnalyticPolarDecomposition(subjects[i].F, subjects[i].start, kMany);
      CAPTURE(i);
      CHECK(IsAsGood(subjects[i], found[i].rotation, q));
      if (IsFiniteMat(subjects[i].F)) {
        for (const Vec3& impulse : found[i].impulses) CHECK(plush::IsFinite(impulse));
      }
    }
  }
}

TEST_CASE("Rotations of the element pass are those of the polar decomposition") {
  for (const int64_t target : SimdTargets()) {
    const SimdTargetScope scope(target);
    Random random(6);
    const Block block;
    double worst = 0.0;
    for (int repeat = 0; repeat < 500; ++repeat) {
      std::array<Subject, kBlockTets> subjects;
      for (Subject& s : subjects) s = Moderate(&random);
      const std::vector<Outcome> found = block.Run(subjects);
      for (size_t i = 0; i < kBlockTets; ++i) {
        const Eigen::Matrix3d R = PolarRotation(ToEigen(subjects[i].F));
        worst = std::max(worst, AngleBetween(RotationOf(found[i].rotation), R));
      }
    }
    CAPTURE(NameOf(target), worst);
    CHECK(worst < 2e-6);
  }
}

}  // namespace lanes_test

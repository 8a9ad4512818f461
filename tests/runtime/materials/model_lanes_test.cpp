// SPDX-License-Identifier: MIT
// Materials' tets in lanes have the forces and differentials of those one after the other.
#include "materials/model_lanes.h"

#include "elasticity/stiffness_product.h"
#include "materials/model_pass.h"
#include "runtime/materials/material_fixtures.h"
#include "runtime/simd_targets.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cstring>
#include <vector>

using namespace plush;
using namespace plush::test;

namespace model_lanes_test {

const std::vector<MaterialModel> kModels = {MaterialModel::kLinear, MaterialModel::kCorotated,
                                            MaterialModel::kStVenantKirchhoff,
                                            MaterialModel::kNeoHookean};
constexpr StressDifferential kDifferentials[] = {
    StressDifferential::kExact, StressDifferential::kConstantRotation, StressDifferential::kWarped,
    StressDifferential::kHybrid};

// Tets that share no node, in two blocks, the second one with places to spare.
struct Tets {
  static constexpr uint32_t kCount = 21;

  explicit Tets(uint32_t seed) : random(seed), rotations(2), x(4 * kCount + 1), y(x.size()) {
    for (auto& places : blocks[1].nodes) std::fill(places, places + kBlockTets, 4 * kCount);
    for (uint32_t t = 0; t < kCount; ++t) {
      TetBlock& block = blocks[t / kBlockTets];
      const size_t i = t % kBlockTets;
      for (uint32_t k = 0; k < 4; ++k) block.nodes[k][i] = 4 * t + k;
      const Eigen::Vector3d sizes = {random.Uniform(0.5, 1.5), random.Uniform(0.5, 1.5),
                                     random.Uniform(0.5, 1.5)};
      const Eigen::Matrix3d Dm = ToEigen(WithSingularValues(&random, sizes));
      const Eigen::Matrix3d inverse = Dm.inverse();
      for (int k = 0; k < 9; ++k) block.dm_inv[k][i] = static_cast<float>(inverse.data()[k]);
      block.det_dm_inv[i] = 1.0f;
      block.stiffness[i] = static_cast<float>(random.Uniform(1.0, 2.0));
      block.bulk[i] = static_cast<float>(random.Uniform(0.0, 4.0));
      tets.push_back({4 * t, 4 * t + 1, 4 * t + 2, 4 * t + 3});
      slots.push_back(t);
      rest.push_back(Dm);
    }
    for (NodeVec& at : y) at = NodeVec(RandomVec3(), 0.0f);
    for (size_t k = 0; k < 9 * 2 * kBlockTets; ++k) {
      starts.push_back(static_cast<float>(random.Uniform(0.5, 1.5)));
    }
  }

  Vec3 RandomVec3() {
    const auto number = [this] { return static_cast<float>(random.Uniform(-1.0, 1.0)); };
    return {number(), number(), number()};
  }

  ElementView elements() const { return {tets, slots, blocks}; }

  // Gives tet t the gradient F, and a rotation that it comes from.
  void Deform(uint32_t t, const Eigen::Matrix3d& F) {
    const Eigen::Matrix3d Ds = F * rest[t];
    for (int k = 0; k < 3; ++k) {
      x[4 * t + 1 + static_cast<uint32_t>(k)] = Vec3{
          static_cast<float>(Ds(0, k)), static_cast<float>(Ds(1, k)), static_cast<float>(Ds(2, k))};
    }
    const Matrix R = InvertibleRotation(FromEigen(F));
    const Eigen::AngleAxisd off(0.05, random.Rotation().col(0));
    const Matrix start = FromEigen(Eigen::Matrix3d(off.toRotationMatrix() * ToEigen(R)));
    rotations.view().Set(t, QuaternionOf(start));
  }

  TetsAt At() { return {rotations.view(), stretches}; }

  Random random;
  TetBlock blocks[2] = {};
  std::vector<Tet> tets;
  std::vector<uint32_t> slots;
  std::vector<Eigen::Matrix3d> rest;
  RotationArray rotations;
  std::vector<NodeVec> x, y;
  std::vector<float> starts;
  std::vector<float> stretches = std::vector<float>(kStretchNumbers * 2 * kBlockTets);
  std::vector<float> kappa = std::vector<float>(2 * kBlockTets);
  ElementSettings settings = {0.1f, 0.02f, 64, 0.0f, kUnboundedLaw};
};

// Forces, multipliers, and the answers of all differentials to the same displacements.
struct Outcome {
  std::vector<NodeVec> forces, answers;
  std::vector<float> kappa;
  double work = 0.0;
};

Outcome InLanes(MaterialModel model, Tets* of) {
  Outcome out;
  const RotationArray before = of->rotations;
  out.forces.resize(of->x.size());
  LineariseModelLanes(of->elements(), of->x, of->settings, model, of->starts, of->At(), of->kappa,
                      out.forces);
  out.kappa = of->kappa;
  for (const StressDifferential differential : kDifferentials) {
    std::vector<NodeVec> answer(of->x.size());
    if (IsExactModel(model, differential)) {
      out.work = AddModelLanesProduct(of->elements(), of->settings, model, of->At(), of->y, answer);
    } else {
      std::vector<ProductBlock> products(2);
      MakeProducts(of->elements(), of->settings, of->At(), differential, products, model);
      out.work =
          AddStiffnessProduct(of->elements(), of->settings, products, differential, of->y, answer);
    }
    double work = 0.0, size = 0.0;
    for (size_t i = 0; i < answer.size() - 1; ++i) {
      work += double(answer[i].x) * double(of->y[i].x) + double(answer[i].y) * double(of->y[i].y) +
              double(answer[i].z) * double(of->y[i].z);
      size += double(std::sqrt(Dot(answer[i], answer[i]) * Dot(of->y[i], of->y[i])));
    }
    CHECK(out.work == Approx(work).margin(1e-5 * size));
    answer.pop_back();
    out.answers.insert(out.answers.end(), answer.begin(), answer.end());
  }
  out.forces.pop_back();
  of->rotations = before;
  return out;
}

Outcome OneByOne(MaterialModel model, Tets* of) {
  Outcome out;
  const ImplicitSettings own = {.model = model};
  std::vector<ModelTet> tets(Tets::kCount);
  BeginModelTets(of->elements(), of->x, own, of->rotations.view(), tets);
  out.forces.resize(of->x.size());
  LineariseModelTets(of->elements(), of->x, of->settings, own, of->starts, tets, of->kappa,
                     out.forces);
  out.kappa = of->kappa;
  for (const StressDifferential differential : kDifferentials) {
    std::vector<NodeVec> answer(of->x.size());
    AddModelProduct(of->elements(), of->settings, own, tets, differential, of->y, answer);
    answer.pop_back();
    out.answers.insert(out.answers.end(), answer.begin(), answer.end());
  }
  out.forces.pop_back();
  return out;
}

// The largest difference of a tet's vectors, relative to the largest of them.
double LargestDifference(const std::vector<NodeVec>& a, const std::vector<NodeVec>& b) {
  double largest = 0.0;
  for (size_t t = 0; t < a.size(); t += 4) {
    double size = 1e-30, difference = 0.0;
    for (size_t k = t; k < t + 4; ++k) {
      size = std::max(size, double(Length(b[k])));
      difference = std::max(difference, double(Length(a[k] - b[k])));
    }
    largest = std::max(largest, difference / size);
  }
  return largest;
}

// Terms of a differential cancel. Unfused, the rounding of what is left was up to 1.25e-5 of it.
// clang fuses fewer of them than gcc.
#if defined(PLUSH_DETERMINISTIC) || defined(__clang__)
constexpr double kOfAnswers = 2e-5;
#else
constexpr double kOfAnswers = 1e-5;
#endif

TEST_CASE("Materials in lanes are those of single tets") {
  const auto seed = GENERATE(range(1u, 21u));
  const MaterialModel model = GENERATE(from_range(kModels));
  Tets tets(seed);
  CAPTURE(seed, static_cast<int>(model));
  for (uint32_t t = 0; t < Tets::kCount; ++t) tets.Deform(t, ToEigen(RandomGradient(&tets.random)));
  const Outcome expected = OneByOne(model, &tets), found = InLanes(model, &tets);
  CHECK(LargestDifference(found.forces, expected.forces) < 1e-5);
  CHECK(LargestDifference(found.answers, expected.answers) < kOfAnswers);
  for (uint32_t t = 0; t < Tets::kCount; ++t) {
    CHECK(double(found.kappa[t]) ==
          Approx(double(expected.kappa[t])).margin(1e-5 * double(tets.settings.dt)));
  }
}

TEST_CASE("Degenerate tets among the lanes of materials change no other one") {
  const auto seed = GENERATE(range(1u, 11u));
  const MaterialModel model = GENERATE(from_range(kModels));
  Tets tets(seed);
  CAPTURE(seed, static_cast<int>(model));
  std::vector<bool> is_degenerate(Tets::kCount);
  for (uint32_t t = 0; t < Tets::kCount; ++t) tets.Deform(t, ToEigen(RandomGradient(&tets.random)));
  const Outcome all_regular = InLanes(model, &tets);
  for (uint32_t t = 0; t < Tets::kCount; ++t) {
    is_degenerate[t] = tets.random.Uniform(0.0, 1.0) < 0.3;
    if (!is_degenerate[t]) continue;
    const double last = t % 3 == 0 ? 0.0 : t % 3 == 1 ? 0.01 : -0.4;  // flat, nearly, inverted
    tets.Deform(t, ToEigen(WithSingularValues(&tets.random, {1.5, 0.9, last})));
  }
  const Outcome expected = OneByOne(model, &tets), found = InLanes(model, &tets);
  for (const NodeVec& force : found.forces) CHECK(std::isfinite(Length(force)));
  CHECK(LargestDifference(found.forces, expected.forces) < 1e-4);
  for (uint32_t t = 0; t < Tets::kCount; ++t) {
    if (is_degenerate[t]) continue;
    CHECK(std::memcmp(&found.forces[4 * t], &all_regular.forces[4 * t], 4 * sizeof(NodeVec)) == 0);
  }
}

TEST_CASE("Materials in lanes agree on every instruction set") {
  const MaterialModel model = GENERATE(from_range(kModels));
  Tets tets(7);
  for (uint32_t t = 0; t < Tets::kCount; ++t) tets.Deform(t, ToEigen(RandomGradient(&tets.random)));
  const Outcome expected = InLanes(model, &tets);
  for (const int64_t target : SimdTargets()) {
    const SimdTargetScope scope(target);
    const Outcome found = InLanes(model, &tets);
    CAPTURE(NameOf(target), static_cast<int>(model));
    CHECK(LargestDifference(found.forces, expected.forces) < 1e-5);
    CHECK(LargestDifference(found.answers, expected.answers) < 1e-5);
#ifdef PLUSH_DETERMINISTIC
    const size_t bytes = sizeof(NodeVec) * expected.answers.size();
    CHECK(std::memcmp(found.answers.data(), expected.answers.data(), bytes) == 0);
    CHECK(std::memcmp(found.forces.data(), expected.forces.data(),
                      sizeof(NodeVec) * expected.forces.size()) == 0);
    CHECK(found.work == expected.work);
#endif
  }
}

}  // namespace model_lanes_test

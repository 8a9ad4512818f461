// SPDX-License-Identifier: MIT
#include "plush/format/tet_block.h"

#include "elasticity/element_pass.h"
#include "reference/dense_algebra.h"
#include "runtime/dense_reference.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>

using namespace plush;
using namespace plush::test;

namespace elements_test {

constexpr tools::Material kMaterial = {2.0e5, 0.35, 900.0};

ShapeAsset RandomShape(uint32_t seed) {
  return ShapeAsset(TetBox(2, 2, 1, 0.1, 0.09, seed), kMaterial);
}

// Rest nodes moved by up to `size` in each direction, rounded to float like the runtime's.
Points Deformed(const ShapeAsset& shape, Random* random, double size) {
  const Points moved = ToEigen(shape.rest()) + random->Vectors(shape.num_nodes(), size);
  return ToEigen(ToVec3s(moved));
}

Points ForcesAt(const ShapeAsset& shape, const Points& x) {
  std::vector<Vec3> forces(shape.num_nodes(), Vec3{7.0f, 7.0f, 7.0f});
  RotationArray rotations(shape.num_blocks());
  ElasticForces(shape.elements(), ToVec3s(x), rotations.view(), kSplittingLaw, forces);
  return ToEigen(forces);
}

TEST_CASE("The reference's forces are minus the gradient of its energy") {
  const uint32_t seed = GENERATE(1u, 2u);
  CAPTURE(seed);
  const ShapeAsset shape = RandomShape(seed);
  const DenseModel model(shape.asset());
  Random random(seed);
  const Points x = Deformed(shape, &random, 0.02), forces = DenseForces(model, x);
  const double h = 1e-6;
  for (Eigen::Index k = 0; k < x.size(); ++k) {
    Points plus = x, minus = x;
    plus.data()[k] += h;
    minus.data()[k] -= h;
    const double slope = (DenseEnergy(model, plus) - DenseEnergy(model, minus)) / (2.0 * h);
    REQUIRE(forces.data()[k] == Approx(-slope).margin(1e-5 * forces.norm()));
  }
}

TEST_CASE("Elastic forces are minus the gradient of the energy") {
  const uint32_t seed = GENERATE(3u, 4u, 5u);
  // Small, large, and so large that tets invert.
  const double size = GENERATE(0.001, 0.02, 0.08);
  CAPTURE(seed, size);
  const ShapeAsset shape = RandomShape(seed);
  const DenseModel model(shape.asset());
  Random random(seed);
  const Points x = Deformed(shape, &random, size), forces = DenseForces(model, x);
  CHECK((ForcesAt(shape, x) - forces).norm() < 1e-4 * forces.norm());

  RotationArray rotations(shape.num_blocks());
  const ElementSummary summary =
      SummariseElements(shape.elements(), ToVec3s(x), rotations.view(), kSplittingLaw);
  CHECK(summary.elastic_j == Approx(DenseEnergy(model, x)).epsilon(2e-5));
  double volume = 0.0, smallest = 1.0;
  uint32_t inverted = 0, collapsed = 0;
  for (size_t t = 0; t < model.tets.size(); ++t) {
    const double det = DenseGradient(model, t, x).determinant();
    volume += det * model.volumes[t];
    smallest = std::min(smallest, det);
    inverted += det <= 0.0 ? 1u : 0u;
    collapsed += det < 0.1 ? 1u : 0u;
  }
  CHECK(summary.volume == Approx(volume).epsilon(1e-5));
  CHECK(summary.min_det_f == Approx(smallest).margin(1e-5));
  CHECK(summary.inverted == inverted);
  CHECK(summary.collapsed == collapsed);
  if (size > 0.05) CHECK(inverted > 0);
}

TEST_CASE("A tet without volume counts as inverted") {
  const ShapeAsset shape = RandomShape(1);
  RotationArray rotations(shape.num_blocks());
  std::vector<Vec3> flat = shape.rest();
  for (Vec3& x : flat) x.z = 0.0f;
  const std::vector<Vec3> point(shape.num_nodes());
  for (const auto& x : {flat, point}) {
    const ElementSummary summary =
        SummariseElements(shape.elements(), x, rotations.view(), kSplittingLaw);
    CHECK(summary.min_det_f == 0.0f);
    CHECK(summary.inverted == shape.simulation().tets.size());
    CHECK(summary.collapsed == shape.simulation().tets.size());
  }
}

TEST_CASE("Impulses are dt^2 times the stretch forces plus multipliers times volume gradients") {
  const uint32_t seed = GENERATE(6u, 7u);
  CAPTURE(seed);
  const ShapeAsset shape = RandomShape(seed);
  DenseModel model(shape.asset());
  Random random(seed);
  const Points x = Deformed(shape, &random, 0.02);
  const double dt = 0.0125;
  const std::span<const uint32_t> slots = shape.elements().slots;
  std::vector<float> kappa(shape.num_places());
  for (const uint32_t slot : slots) kappa[slot] = static_cast<float>(random.Uniform(-1e-4, 1e-4));
  std::vector<NodeVec> rhs(shape.num_nodes() + 1);
  for (size_t i = 0; i < shape.num_nodes(); ++i) rhs[i] = Vec3{1.0f, -2.0f, 3.0f};
  RotationArray rotations(shape.num_blocks());
  AddElasticImpulses(shape.elements(), ToNodeVecs(x), {static_cast<float>(dt), 0.0f, 64}, {}, kappa,
                     0, shape.num_blocks(), rotations.view(), rhs);
  // A volume term of energy -kappa (det F - 1) / dt^2 has the multiplier's force. By linearity,
  // forces for two values of lambda give the gradient of each determinant.
  std::fill(model.lambda.begin(), model.lambda.end(), 0.0);
  Points expected = DenseForces(model, x) * (dt * dt);
  for (size_t t = 0; t < model.tets.size(); ++t) {
    for (size_t i = 0; i < 4; ++i) {
      const Eigen::Index node = model.tets[t][i];
      for (int axis = 0; axis < 3; ++axis) {
        Points moved = x;  // det F is linear in each node, so differences are exact
        moved(axis, node) += 0.5;
        const double slope = 2.0 * (DenseGradient(model, t, moved).determinant() -
                                    DenseGradient(model, t, x).determinant());
        expected(axis, node) += double(kappa[slots[t]]) * slope;
      }
    }
  }
  const Eigen::Vector3d before(1.0, -2.0, 3.0);
  const double scale = expected.norm();
  expected.colwise() += before;
  CHECK((ToEigen(rhs) - expected).norm() < 1e-5 * scale + 1e-6 * before.norm());
  for (size_t t = 0; t < slots.size(); ++t) {
    const Eigen::Matrix3d R = PolarRotation(DenseGradient(model, t, x));
    CHECK(AngleBetween(RotationOf(rotations.Get(slots[t])), R) < 1e-5);
  }
}

TEST_CASE(
    "A body that does not fit into caches has the impulses of its parts, one after the other") {
  Random random(5);
  const ShapeAsset shape(TetBox(20, 18, 19, 0.1, 0.05, 5), {1.0e5, 0.4, 1000.0});
  const ElementView all = shape.elements();
  const size_t half = all.blocks.size() / 2;
  REQUIRE(all.blocks.size() > 2048);  // enough blocks for prefetching
  REQUIRE(half < 2000);
  std::vector<NodeVec> x =
      ToNodeVecs(ToEigen(shape.rest()) + random.Vectors(shape.num_nodes(), 0.02));
  std::vector<float> kappa(shape.num_places());
  for (float& k : kappa) k = static_cast<float>(random.Uniform(-1e-4, 1e-4));
  RotationArray whole(shape.num_blocks()), parts(shape.num_blocks());
  std::vector<NodeVec> expected(x.size()), found(x.size());
  const size_t split = kBlockTets * half;
  for (const bool first : {true, false}) {
    ElementView part = all;
    part.blocks = first ? all.blocks.first(half) : all.blocks.subspan(half);
    const std::span<float> numbers(parts.numbers);
    const RotationView rotations(first ? numbers.first(4 * split) : numbers.subspan(4 * split));
    const std::span<float> own(kappa);
    AddElasticImpulses(part, x, {0.01f, 0.0f, 4}, {}, first ? own.first(split) : own.subspan(split),
                       0, part.blocks.size(), rotations, expected);
  }
  AddElasticImpulses(all, x, {0.01f, 0.0f, 4}, {}, kappa, 0, all.blocks.size(), whole.view(),
                     found);
  CHECK(whole.numbers == parts.numbers);
  size_t different = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    const NodeVec &a = found[i], &b = expected[i];
    if (a.x != b.x || a.y != b.y || a.z != b.z) ++different;
  }
  CHECK(different == 0);
}

TEST_CASE("A rigid motion of the rest shape has no energy and no force") {
  const uint32_t seed = GENERATE(8u, 9u, 10u);
  CAPTURE(seed);
  const ShapeAsset shape = RandomShape(seed);
  Random random(seed);
  const Points x = (random.Rotation() * ToEigen(shape.rest())).colwise() + random.Vector(0.3);
  const double edge = shape.simulation().median_edge;
  CHECK(ForcesAt(shape, x).norm() < 1e-5 * kMaterial.young * edge * edge);
  RotationArray rotations(shape.num_blocks());
  const ElementSummary summary =
      SummariseElements(shape.elements(), ToVec3s(x), rotations.view(), kSplittingLaw);
  CHECK(summary.elastic_j < 1e-9 * kMaterial.young * summary.volume);
  CHECK(summary.min_det_f == Approx(1.0).margin(1e-5));
}

TEST_CASE("Internal forces have no resultant and no moment") {
  const uint32_t seed = GENERATE(11u, 12u);
  CAPTURE(seed);
  const ShapeAsset shape = RandomShape(seed);
  Random random(seed);
  const Points x = Deformed(shape, &random, 0.04), forces = ForcesAt(shape, x);
  Eigen::Vector3d moment = Eigen::Vector3d::Zero();
  for (Eigen::Index i = 0; i < x.cols(); ++i) moment += x.col(i).cross(forces.col(i));
  CHECK(forces.rowwise().sum().norm() < 1e-6 * forces.norm());
  CHECK(moment.norm() < 1e-5 * forces.norm() * x.norm());
}

TEST_CASE("The stiffness at rest has six zero modes and no more") {
  const bool single = GENERATE(true, false);
  CAPTURE(single);
  const ShapeAsset shape(single ? SingleTet(0.2) : TetBox(1, 1, 1, 0.1, 0.05, 3), kMaterial);
  const Points rest = ToEigen(shape.rest());
  const double h = 1e-2 * shape.simulation().median_edge;
  Eigen::MatrixXd K(rest.size(), rest.size());
  for (Eigen::Index k = 0; k < rest.size(); ++k) {
    Points plus = rest, minus = rest;
    plus.data()[k] += h;
    minus.data()[k] -= h;
    const Points difference = (ForcesAt(shape, minus) - ForcesAt(shape, plus)) / (2.0 * h);
    K.col(k) = Eigen::Map<const Eigen::VectorXd>(difference.data(), difference.size());
  }
  CHECK((K - K.transpose()).norm() < 1e-3 * K.norm());
  const Eigen::VectorXd values = reference::EigenpairsOf(0.5 * (K + K.transpose())).values;
  const double largest = values.tail(1)[0];
  for (int i = 0; i < 6; ++i) CHECK(std::fabs(values[i]) < 1e-3 * largest);
  CHECK(values[6] > 1e-2 * largest);
}

TEST_CASE("Stretches contain no rotation, whatever rotations they start from") {
  Random random(3);
  const ShapeAsset shape(TetBox(2, 1, 1, 0.1, 0.09, 3));
  const Points turned = random.Rotation() * ToEigen(shape.rest());
  const std::vector<NodeVec> x = ToNodeVecs(turned + random.Vectors(shape.num_nodes(), 0.005));
  const DenseModel model(shape.asset());
  RotationArray rotations(shape.num_blocks());
  std::vector<float> stretches(9 * shape.num_places());
  ComputeStretches(shape.elements(), x, 64, rotations.view(), stretches);
  double largest = 0.0;
  for (size_t t = 0; t < model.tets.size(); ++t) {
    const uint32_t slot = shape.elements().slots[t];
    const float* first = &stretches[9 * kBlockTets * (slot / kBlockTets) + slot % kBlockTets];
    Eigen::Matrix3d S;
    for (Eigen::Index k = 0; k < 9; ++k) S.data()[k] = first[kBlockTets * static_cast<size_t>(k)];
    largest = std::max(largest, (S - S.transpose()).cwiseAbs().maxCoeff());
    const Eigen::Matrix3d F = DenseGradient(model, t, ToEigen(x));
    CHECK((S - PolarRotation(F).transpose() * F).norm() < 1e-5);
  }
  CHECK(largest < 1e-5);
}

}  // namespace elements_test

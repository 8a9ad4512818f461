// SPDX-License-Identifier: MIT
#include "plush/format/tet_block.h"

#include "runtime/solver/swept_body.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <vector>

using namespace plush;
using namespace plush::test;

namespace volume_sweep_test {

constexpr float kDt = kSweepDt;

// The tet's block without the other tets.
TetBlock AloneInBlock(const ShapeAsset& shape, size_t tet) {
  const uint32_t slot = shape.elements().slots[tet];
  const size_t lane = slot % kBlockTets;
  const TetBlock& all = shape.elements().blocks[slot / kBlockTets];
  TetBlock one = {};
  for (auto& row : one.nodes) std::fill_n(row, kBlockTets, uint32_t(shape.num_nodes()));
  for (size_t k = 0; k < 4; ++k) one.nodes[k][lane] = all.nodes[k][lane];
  for (size_t k = 0; k < 9; ++k) one.dm_inv[k][lane] = all.dm_inv[k][lane];
  one.det_dm_inv[lane] = all.det_dm_inv[lane];
  one.stiffness[lane] = all.stiffness[lane];
  one.bulk[lane] = all.bulk[lane];
  return one;
}

Eigen::VectorXd MassesOf(const Swept& body) { return DenseModel(body.shape.asset()).masses; }

TEST_CASE("Each constraint of a sweep conserves linear and angular momentum") {
  const uint32_t seed = GENERATE(1u, 2u, 3u);
  CAPTURE(seed);
  Random random(seed);
  Swept body(TetBox(2, 2, 1, 0.1, 0.09, seed));
  body.Move(&random, 0.01);
  const Eigen::VectorXd masses = MassesOf(body);
  std::vector<NodeVec> whole_x = body.x;
  std::vector<float> whole_kappa = body.kappa;
  SweepVolumes(body.shape.elements(), kDt, whole_x, whole_kappa);
  // Sweeping one tet after the other, by blocks and lanes, gives the whole sweep to the bit. So the
  // other lanes of a block do not matter. It also shows each tet's own correction.
  const ElementView all = body.shape.elements();
  const DenseModel model(body.shape.asset());
  for (const size_t t : model.sweep_order) {
    const TetBlock one = AloneInBlock(body.shape, t);
    ElementView elements = all;
    elements.blocks = {&one, 1};
    const size_t block = all.slots[t] / kBlockTets;
    const Points before = ToEigen(body.x);
    // The sweep clears multipliers of lanes without a tet. Save them, and restore them after it.
    const std::vector<float> kept = body.kappa;
    const std::span<float> kappa = std::span(body.kappa).subspan(kBlockTets * block, kBlockTets);
    SweepVolumes(elements, kDt, body.x, kappa);
    for (size_t i = 0; i < kBlockTets; ++i) {
      if (i != all.LaneOf(t)) kappa[i] = kept[kBlockTets * block + i];
    }
    const Points impulses = (ToEigen(body.x) - before) * masses.asDiagonal();
    Eigen::Vector3d moment = Eigen::Vector3d::Zero();
    for (Eigen::Index i = 0; i < before.cols(); ++i) moment += before.col(i).cross(impulses.col(i));
    REQUIRE(impulses.norm() > 0.0);
    // Sweeps change only positions, whose last bit is at most 2^-25 m here.
    const double rounding = masses.maxCoeff() * 0x1p-25;
    CHECK(impulses.rowwise().sum().norm() < 1e-6 * impulses.norm() + 4.0 * rounding);
    CHECK(moment.norm() < 2e-6 * impulses.norm() * 0.4 + 4.0 * rounding * 0.4);
  }
  for (size_t i = 0; i < body.x.size(); ++i) {
    REQUIRE((body.x[i].x == whole_x[i].x && body.x[i].y == whole_x[i].y));
    REQUIRE((body.x[i].z == whole_x[i].z && body.x[i].w == whole_x[i].w));
  }
  REQUIRE(body.kappa == whole_kappa);
}

TEST_CASE("A sweep is the dense reference's") {
  const uint32_t seed = GENERATE(4u, 5u, 6u);
  // With the larger size some tets are flat or inverted.
  const double size = GENERATE(0.01, 0.05);
  CAPTURE(seed, size);
  Random random(seed);
  Swept body(TetBox(2, 2, 3, 0.1, 0.09, seed));
  body.Move(&random, size);
  const DenseModel model(body.shape.asset());
  for (const uint32_t node : random.Nodes(body.before.size(), 0.1)) body.x[node].w = 0.0f;
  Points x = ToEigen(body.x);
  Eigen::VectorXd kappa(static_cast<Eigen::Index>(model.tets.size()));
  double lowest = 1.0, largest = 0.0;
  for (const size_t t : model.sweep_order) {
    const double start = random.Uniform(-1e-4, 1e-4);
    const uint32_t slot = body.shape.elements().slots[t];
    body.kappa[slot] = static_cast<float>(start);
    const Eigen::Matrix3d F = DenseGradient(model, t, x);
    Eigen::Matrix<double, 3, 4> g;
    Eigen::Matrix3d cofactor;
    cofactor << F.col(1).cross(F.col(2)), F.col(2).cross(F.col(0)), F.col(0).cross(F.col(1));
    g.rightCols<3>() = cofactor * model.dm_inv[t].transpose();
    g.col(0) = -g.rightCols<3>().rowwise().sum();
    const double k = model.lambda[t] * model.volumes[t] * double(kDt) * double(kDt);
    double response = 0.0;
    for (Eigen::Index i = 0; i < 4; ++i) {
      const Eigen::Index node = model.tets[t][static_cast<size_t>(i)];
      response += double(body.x[static_cast<size_t>(node)].w) * g.col(i).squaredNorm();
    }
    const double step = (1.0 - F.determinant() - start / k) / (response + 1.0 / k);
    for (Eigen::Index i = 0; i < 4; ++i) {
      const Eigen::Index node = model.tets[t][static_cast<size_t>(i)];
      x.col(node) += g.col(i) * step * double(body.x[static_cast<size_t>(node)].w);
    }
    kappa[static_cast<Eigen::Index>(t)] = start + step;
    lowest = std::min(lowest, F.determinant() + response * step);
    largest = std::max(largest, std::fabs(response * step));
  }
  const Points start = ToEigen(body.x);
  const SweepChanges changes = SweepVolumes(body.shape.elements(), kDt, body.x, body.kappa);
  CHECK((ToEigen(body.x) - x).norm() < 1e-5 * (x - start).norm() + 1e-7 * x.norm());
  for (size_t t = 0; t < model.tets.size(); ++t) {
    CHECK(double(body.kappa[body.shape.elements().slots[t]]) ==
          Approx(kappa[static_cast<Eigen::Index>(t)]).margin(1e-5 * kappa.cwiseAbs().maxCoeff()));
  }
  CHECK(double(changes.lowest_det_f) == Approx(lowest).margin(1e-5 * (1.0 + largest)));
  CHECK(double(changes.largest) == Approx(largest).margin(1e-5 * (1.0 + largest)));
  CHECK(SpareIsZero(body.x));
}

TEST_CASE("A single tet converges to the compliant solution") {
  // Minimises 1/2 sum m |u|^2 + dt^2 lambda/2 V (det F - 1)^2. From a shape 3% off in volume the
  // gradients hardly turn, so Newton's method on the dense problem gives the same.
  Swept body(SingleTet(0.2));
  for (NodeVec& x : body.x) x = Vec3{x.x * 1.01f, x.y * 1.02f, x.z};
  const DenseModel model(body.shape.asset());
  const Points start = ToEigen(body.x);
  for (int sweep = 0; sweep < 200; ++sweep) body.Sweep();
  const double stiffness = model.lambda[0] * model.volumes[0] * double(kDt) * double(kDt);
  const double C = DenseGradient(model, 0, ToEigen(body.x)).determinant() - 1.0;
  CHECK(double(body.kappa[body.shape.elements().slots[0]]) == Approx(-stiffness * C).epsilon(1e-4));

  DenseModel volume_only = model;
  volume_only.mu[0] = 1.0e-300;
  volume_only.most_pull = volume_only.most_push = std::numeric_limits<double>::infinity();
  Points u = Points::Zero(3, 4);
  for (int iteration = 0; iteration < 500; ++iteration) {  // damped fixed point of m u = dt^2 f
    const Points f = DenseForces(volume_only, start + u) * (double(kDt) * double(kDt));
    u += 0.02 * (f * model.masses.cwiseInverse().asDiagonal() - u);
  }
  CHECK((ToEigen(body.x) - start - u).norm() < 0.02 * u.norm());
}

TEST_CASE("Pinned nodes do not move") {
  Random random(5);
  Swept body(TetBox(2, 1, 2, 0.1, 0.09, 5));
  body.Move(&random, 0.01);
  const std::vector<NodeVec> before = body.x;
  body.x[0].w = 0.0f;
  for (int sweep = 0; sweep < 4; ++sweep) body.Sweep();
  CHECK((body.x[0].x == before[0].x && body.x[0].y == before[0].y && body.x[0].z == before[0].z));
  CHECK((ToEigen(body.x) - ToEigen(before)).norm() > 1e-4);
}

TEST_CASE("Flattened and inverted tets are pushed back, by bounded moves") {
  for (const float height : {0.09f, 0.0f, -0.5f}) {  // det F
    CAPTURE(height);
    Swept body(SingleTet(0.2));
    body.x[3].z *= height;
    const float top = body.x[3].z;
    const Points before = ToEigen(body.x);
    body.Sweep();
    CHECK(body.kappa[body.shape.elements().slots[0]] > 0.0f);
    CHECK(body.x[3].z > top);
    const ElementView elements = body.shape.elements();
    const double stiffness = double(elements.Bulk(0)) * double(kDt) * double(kDt);
    for (size_t i = 0; i < 4; ++i) {
      const double most = 0.5 * std::sqrt(stiffness * double(body.x[i].w));
      CHECK((ToEigen(body.x[i]) - before.col(Eigen::Index(i))).norm() <=
            most * (1.0 - double(height)) * (1.0 + 1e-5));
    }
  }
}

TEST_CASE("Tets without volume stiffness are left alone") {
  Swept soft(SingleTet(0.2));
  soft.x[3].z *= 1.5f;
  ElementView elements = soft.shape.elements();
  const std::vector<float> none(soft.kappa.size(), 0.0f);
  elements.bulk = none;
  const uint32_t slot = elements.slots[0];
  soft.kappa[slot] = 0.5f;
  const std::vector<NodeVec> before = soft.x;
  SweepVolumes(elements, kDt, soft.x, soft.kappa);
  CHECK(soft.kappa[slot] == 0.0f);
  CHECK((ToEigen(soft.x) - ToEigen(before)).norm() == 0.0);
}

TEST_CASE("A sweep follows lambda up to the given multiple of mu") {
  constexpr double kMost = 16.0, kMu = 3.0e4;
  const auto material = [](double bulk) {  // with lambda = bulk mu
    const double nu = 0.5 * bulk / (bulk + 1.0);
    return tools::Material{2.0 * kMu * (1.0 + nu), nu, 1000.0};
  };
  const double bulk = GENERATE(4.0, 16.0, 49.0, 400.0);
  CAPTURE(bulk);
  const tools::TetMesh mesh = TetBox(2, 2, 1, 0.1, 0.09, 5);
  Swept body(mesh, material(bulk)), same(mesh, material(std::min(bulk, kMost)));
  Random random(5), again(5);
  body.Move(&random, 0.01);
  same.Move(&again, 0.01);
  const Points start = ToEigen(body.x);
  SweepVolumes(body.shape.elements(), kDt, body.x, body.kappa, static_cast<float>(kMost));
  SweepVolumes(same.shape.elements(), kDt, same.x, same.kappa);
  const double way = (ToEigen(same.x) - start).norm();
  CHECK(way > 1e-3);
  CHECK((ToEigen(body.x) - ToEigen(same.x)).norm() < 1e-5 * way);
}

}  // namespace volume_sweep_test

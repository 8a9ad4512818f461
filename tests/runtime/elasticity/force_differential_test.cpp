// SPDX-License-Identifier: MIT
#include "elasticity/force_differential.h"

#include "elasticity/stiffness_product.h"
#include "runtime/dense_reference.h"

#include <catch2/catch.hpp>

#include <algorithm>

using namespace plush;
using namespace plush::test;

namespace force_differential_test {

constexpr double kDt = 0.01;

// A deformed shape at which its tets are linearised.
struct LinearisedShape {
  LinearisedShape(uint32_t seed, double poisson, double size, double damping = 0.0)
      : random(seed),
        shape(TetBox(2, 2, 1, 0.1, 0.09, seed), {2.0e5, poisson, 900.0}),
        model(shape.asset()),
        rotations(shape.num_blocks()),
        stretches(kStretchNumbers * shape.num_places()),
        kappa(shape.num_places()),
        turn(random.Rotation()) {
    const Points moved = turn * (model.rest + random.Vectors(shape.num_nodes(), size));
    x = ToEigen(ToVec3s(moved));
    rotations = RotationArray(shape.num_blocks(), ToQuat(turn));
    settings = {static_cast<float>(kDt), static_cast<float>(damping), 64};
  }

  TetsAt at() { return {rotations.view(), stretches}; }

  // dt^2 times the forces, plus `rhs`.
  Points Linearise() {
    std::vector<NodeVec> rhs(shape.num_nodes() + 1);
    lowest = LineariseTets(shape.elements(), ToNodeVecs(x), settings, starts, at(), kappa, rhs);
    return ToEigen(rhs);
  }

  Points Product(StressDifferential differential, const Points& y) {
    std::vector<NodeVec> out(shape.num_nodes() + 1);
    std::vector<ProductBlock> products(shape.num_blocks());
    MakeProducts(shape.elements(), settings, at(), differential, products);
    const double work =
        AddStiffnessProduct(shape.elements(), settings, products, differential, ToNodeVecs(y), out);
    const double scale = y.norm() * ToEigen(out).norm();
    CHECK(work == Approx(y.cwiseProduct(ToEigen(out)).sum()).margin(1e-5 * scale));
    return ToEigen(out);
  }

  Random random;
  ShapeAsset shape;
  DenseModel model;
  RotationArray rotations;
  std::vector<float> stretches, kappa, starts;
  Eigen::Matrix3d turn;
  ElementSettings settings;
  Points x;
  float lowest = 0.0f;
};

// An approximate stress differential as [Civ, Eq. 3.19, 3.21 and 3.23] say, times V, of one tet.
Eigen::Matrix3d ApproximateStress(StressDifferential differential, const DenseModel& model,
                                  size_t t, const Eigen::Matrix3d& F, const Eigen::Matrix3d& dF) {
  const Eigen::Matrix3d R = PolarRotation(F), S = R.transpose() * F;
  const Eigen::Matrix3d cofactor = F.determinant() * F.inverse().transpose();
  const double off = (S - Eigen::Matrix3d::Identity()).diagonal().cwiseAbs().sum();
  double g = std::clamp(off / 3.0, 0.0, 1.0);
  if (differential == StressDifferential::kConstantRotation) g = 1.0;
  if (differential == StressDifferential::kWarped) g = 0.0;
  const Eigen::Matrix3d M = R.transpose() * dF, symmetric = 0.5 * (M + M.transpose());
  const double c = F.determinant() - 1.0,
               most = model.mu[t] * (c > 0.0 ? model.most_pull : model.most_push);
  const double secant = std::min(model.lambda[t], most / std::fabs(c));
  return model.volumes[t] * (2.0 * model.mu[t] * R * ((1.0 - g) * symmetric + g * M) +
                             secant * cofactor.cwiseProduct(dF).sum() * cofactor);
}

Points DenseProduct(StressDifferential differential, const DenseModel& model, const Points& x,
                    const Points& y) {
  Points out = Points::Zero(3, x.cols());
  for (size_t t = 0; t < model.tets.size(); ++t) {
    const Eigen::Matrix3d dP = ApproximateStress(differential, model, t, DenseGradient(model, t, x),
                                                 DenseGradient(model, t, y));
    const Eigen::Matrix3d G = dP * model.dm_inv[t].transpose();
    for (int k = 0; k < 3; ++k) out.col(model.tets[t][static_cast<size_t>(k) + 1]) += G.col(k);
    out.col(model.tets[t][0]) -= G.rowwise().sum();
  }
  return out;
}

TEST_CASE("Linearised tets have the forces and multipliers of the energy") {
  const uint32_t seed = GENERATE(1u, 2u, 3u);
  // The last one turns tets inside out. From the second one on, pressures are at their bound.
  const double size = GENERATE(0.001, 0.02, 0.07);
  LinearisedShape s(seed, 0.35, size);
  const Points expected = kDt * kDt * DenseForces(s.model, s.x);
  CAPTURE(seed, size);
  CHECK((s.Linearise() - expected).norm() < 1e-4 * expected.norm());
  double lowest = 1.0;
  for (size_t t = 0; t < s.model.tets.size(); ++t) {
    const double c = DenseGradient(s.model, t, s.x).determinant() - 1.0;
    lowest = std::min(lowest, c + 1.0);
    const double pressure = std::clamp(s.model.lambda[t] * c, -s.model.most_push * s.model.mu[t],
                                       s.model.most_pull * s.model.mu[t]);
    const double law = -pressure * s.model.volumes[t] * kDt * kDt;
    const double scale = s.model.lambda[t] * s.model.volumes[t] * kDt * kDt;
    CHECK(double(s.kappa[s.shape.elements().slots[t]]) == Approx(law).margin(1e-5 * scale));
  }
  CHECK(double(s.lowest) == Approx(lowest).margin(1e-5));
}

TEST_CASE("The exact differential is the derivative of the forces") {
  const uint32_t seed = GENERATE(1u, 2u, 3u);
  const double poisson = GENERATE(0.0, 0.35, 0.49), size = GENERATE(0.001, 0.01, 0.025);
  LinearisedShape s(seed, poisson, size);
  s.Linearise();
  const double h = 1e-6;
  for (int k = 0; k < 4; ++k) {
    const Points y = s.random.Vectors(s.shape.num_nodes(), 0.1);
    const Points slope =
        (DenseForces(s.model, s.x - h * y) - DenseForces(s.model, s.x + h * y)) / (2.0 * h);
    const Points expected = kDt * kDt * slope;
    CAPTURE(seed, poisson, size, k);
    CHECK((s.Product(StressDifferential::kExact, y) - expected).norm() < 2e-4 * expected.norm());
  }
}

TEST_CASE("Approximate differentials are those of the paper, and positive semidefinite") {
  using enum StressDifferential;
  const auto differential = GENERATE(kConstantRotation, kWarped, kHybrid);
  const uint32_t seed = GENERATE(4u, 5u);
  const double size = GENERATE(0.001, 0.02, 0.07);
  LinearisedShape s(seed, 0.4, size);
  s.Linearise();
  for (int k = 0; k < 4; ++k) {
    const Points y = s.random.Vectors(s.shape.num_nodes(), 0.1);
    const Points expected = kDt * kDt * DenseProduct(differential, s.model, s.x, y);
    const Points product = s.Product(differential, y);
    CAPTURE(static_cast<int>(differential), seed, size, k);
    CHECK((product - expected).norm() < 2e-4 * expected.norm());
    CHECK(product.cwiseProduct(y).sum() > 0.0);
    const Points z = s.random.Vectors(s.shape.num_nodes(), 0.1);
    const double right = s.Product(differential, z).cwiseProduct(y).sum();
    CHECK(product.cwiseProduct(z).sum() == Approx(right).margin(1e-4 * product.norm() * y.norm()));
  }
  const Points shift = Eigen::Vector3d(1.0, -2.0, 0.5).replicate(1, s.x.cols());
  CHECK(s.Product(differential, shift).norm() <
        1e-5 * s.Product(differential, s.random.Vectors(s.shape.num_nodes(), 1.0)).norm());
}

TEST_CASE("At rest, all differentials but the one of constant rotations resist no turn") {
  LinearisedShape s(6, 0.3, 0.0);
  s.Linearise();
  const Points y = s.random.Vectors(s.shape.num_nodes(), 0.1);
  const Points hybrid = s.Product(StressDifferential::kHybrid, y);
  for (const auto other : {StressDifferential::kExact, StressDifferential::kWarped}) {
    CHECK((hybrid - s.Product(other, y)).norm() < 1e-5 * hybrid.norm());
  }
  const Eigen::Vector3d axis = s.random.Direction();
  Points turning = s.x;
  for (Eigen::Index i = 0; i < s.x.cols(); ++i) turning.col(i) = axis.cross(s.x.col(i));
  const double scale = hybrid.norm() * turning.norm() / y.norm();
  CHECK(s.Product(StressDifferential::kHybrid, turning).norm() < 1e-4 * scale);
  CHECK(s.Product(StressDifferential::kWarped, turning).norm() < 1e-4 * scale);
  CHECK(s.Product(StressDifferential::kConstantRotation, turning).norm() > 0.1 * scale);
}

TEST_CASE("Viscous forces resist changes of stretch, and add to both differentials") {
  const double damping = 0.05;
  LinearisedShape s(7, 0.3, 0.01, damping);
  // Stretches at the start: those of other positions.
  const Points before = s.turn * (s.model.rest + s.random.Vectors(s.shape.num_nodes(), 0.01));
  s.starts.resize(9 * s.shape.num_places());
  Points viscous = Points::Zero(3, s.x.cols());
  for (size_t t = 0; t < s.model.tets.size(); ++t) {
    const Eigen::Matrix3d F0 = DenseGradient(s.model, t, before),
                          F = DenseGradient(s.model, t, s.x);
    const Eigen::Matrix3d S0 = PolarRotation(F0).transpose() * F0, R = PolarRotation(F);
    const uint32_t slot = s.shape.elements().slots[t];
    for (size_t k = 0; k < 9; ++k) {
      s.starts[kBlockTets * (9 * (slot / kBlockTets) + k) + slot % kBlockTets] =
          static_cast<float>(S0.data()[k]);
    }
    const Eigen::Matrix3d P = -2.0 * s.model.mu[t] * s.model.volumes[t] * damping / kDt *
                              (F - R * S0) * s.model.dm_inv[t].transpose();
    for (int k = 0; k < 3; ++k)
      viscous.col(s.model.tets[t][static_cast<size_t>(k) + 1]) += P.col(k);
    viscous.col(s.model.tets[t][0]) -= P.rowwise().sum();
  }
  const Points expected = kDt * kDt * (DenseForces(s.model, s.x) + viscous);
  CHECK((s.Linearise() - expected).norm() < 1e-4 * expected.norm());

  const Points y = s.random.Vectors(s.shape.num_nodes(), 0.1);
  const Points damped = s.Product(StressDifferential::kHybrid, y);
  const Points damped_exact = s.Product(StressDifferential::kExact, y);
  s.settings.damping = 0.0f;
  const Points added = damped - s.Product(StressDifferential::kHybrid, y);
  CHECK((added - (damped_exact - s.Product(StressDifferential::kExact, y))).norm() <
        1e-4 * added.norm());
  CHECK(added.cwiseProduct(y).sum() > 0.0);
}

}  // namespace force_differential_test

// SPDX-License-Identifier: MIT
// The reference of motion is right: its forces are those of the dense equations, its steps satisfy
// implicit Euler, and beams sag and vibrate as the dense problem and beam theory say.
#include "reference/implicit_euler.h"

#include "reference/dense_algebra.h"
#include "reference/trajectory.h"
#include "runtime/dense_reference.h"
#include "runtime/motion/cantilever.h"

#include <catch2/catch.hpp>

#include <cmath>
#include <cstdio>
#include <string>

using namespace plush;
using namespace plush::test;
using reference::ElasticBody;
using reference::EulerSettings;
using reference::ImplicitEuler;

namespace implicit_euler_test {

constexpr double kDt = 0.01;

// Norm of the free nodes' share of `vectors`.
double FreeNorm(const Points& vectors, const std::vector<bool>& pinned) {
  double sum = 0.0;
  for (Eigen::Index i = 0; i < vectors.cols(); ++i) {
    if (!pinned[static_cast<size_t>(i)]) sum += vectors.col(i).squaredNorm();
  }
  return std::sqrt(sum);
}

// Turn per step of the recursion q_(n+1) = a q_n + b q_(n-1) that fits the numbers best: the angle
// of its complex roots.
double TurnPerStep(const std::vector<double>& q) {
  Eigen::Matrix2d normal = Eigen::Matrix2d::Zero();
  Eigen::Vector2d right = Eigen::Vector2d::Zero();
  for (size_t k = 1; k + 1 < q.size(); ++k) {
    const Eigen::Vector2d row(q[k], q[k - 1]);
    normal += row * row.transpose();
    right += q[k + 1] * row;
  }
  const Eigen::Vector2d ab = normal.ldlt().solve(right);
  REQUIRE(ab[1] < 0.0);
  return std::acos(0.5 * ab[0] / std::sqrt(-ab[1]));
}

TEST_CASE("The reference's energy and forces are those of the dense equations") {
  for (uint32_t seed = 1; seed <= 4; ++seed) {
    Random random(seed);
    const ShapeAsset shape(TetBox(3, 2, 2, 0.1, 0.09, seed), {3.0e5, 0.4, 1000.0}, kDt);
    const DenseModel model(shape.asset());
    const ElasticBody body(shape.asset());
    const double amount = seed == 4 ? 0.1 : 0.02 * seed;  // the last one turns tets inside out
    const Points x = random.Rotation() * (model.rest + random.Vectors(shape.num_nodes(), amount));
    Points gradient;
    const double energy = reference::EnergyOf(body, {}, x, &gradient);
    const Points forces = DenseForces(model, x);
    CAPTURE(seed);
    CHECK(body.masses.isApprox(model.masses, 1e-12));
    CHECK(energy == Approx(DenseEnergy(model, x)).epsilon(1e-6));  // volumes are rounded to float
    CHECK((gradient + forces).norm() < 1e-6 * forces.norm());
  }
}

TEST_CASE("The reference's forces are the derivative of its energy with damping") {
  Random random(7);
  const ShapeAsset shape(TetBox(2, 2, 1, 0.1, 0.09, 7), {3.0e5, 0.3, 1000.0}, kDt);
  const ElasticBody body(shape.asset());
  const DenseModel model(shape.asset());
  const Points before = body.rest + random.Vectors(shape.num_nodes(), 0.02);
  const Points x = random.Rotation() * (before + random.Vectors(shape.num_nodes(), 0.02));
  const reference::Viscosity viscosity = {3.0, reference::StretchesOf(body, before)};
  Points gradient, ignored;
  const double energy = reference::EnergyOf(body, viscosity, x, &gradient);

  // |F - R S| by singular values.
  double expected = DenseEnergy(model, x);
  for (size_t t = 0; t < model.tets.size(); ++t) {
    const Eigen::Matrix3d F0 = DenseGradient(model, t, before), F = DenseGradient(model, t, x);
    const Eigen::Matrix3d S = PolarRotation(F0).transpose() * F0;
    expected +=
        viscosity.rate * model.mu[t] * model.volumes[t] * (F - PolarRotation(F) * S).squaredNorm();
  }
  CHECK(energy == Approx(expected).epsilon(1e-6));
  const double step = 1e-6;
  for (int k = 0; k < 20; ++k) {
    const Points direction = random.Vectors(shape.num_nodes(), 1.0);
    const double slope = (reference::EnergyOf(body, viscosity, x + step * direction, &ignored) -
                          reference::EnergyOf(body, viscosity, x - step * direction, &ignored)) /
                         (2.0 * step);
    CHECK(gradient.cwiseProduct(direction).sum() ==
          Approx(slope).margin(1e-6 * gradient.norm() * direction.norm()));
  }
  // A rigid motion is not resisted.
  const Points turned = random.Rotation() * before;
  const double elastic = reference::EnergyOf(body, {}, turned, &ignored);
  CHECK(reference::EnergyOf(body, viscosity, turned, &gradient) == Approx(elastic).epsilon(1e-9));
  CHECK((gradient - ignored).norm() < 1e-9 * ignored.norm());
}

TEST_CASE("The reference's steps satisfy implicit Euler") {
  const double young = GENERATE(1.0e4, 1.0e6, 1.0e8), nu = GENERATE(0.0, 0.45);
  Random random(3);
  const ShapeAsset shape(TetBox(4, 2, 2, 0.1, 0.09, 3), {young, nu, 1000.0}, kDt);
  DenseModel model(shape.asset());
  EulerSettings settings = {.pinned = {0, 1, 2}};
  for (const uint32_t node : settings.pinned) model.pinned[node] = true;
  ImplicitEuler euler(ElasticBody(shape.asset()), settings);
  euler.SetState(model.rest, random.Vectors(shape.num_nodes(), 1.0));
  for (int step = 0; step < 20; ++step) {
    Points targets = euler.x();
    if (step < 10) targets.colwise() += Eigen::Vector3d(1e-3, 0.0, -1e-3);
    euler.MovePins(targets);
    const Points x = euler.x(), v = euler.v();
    const bool converged = euler.Step();
    CAPTURE(young, nu, step, euler.report().residual, euler.report().newton_iterations);
    REQUIRE(converged);
    const Points start = (x + kDt * v).colwise() + kDt * kDt * settings.gravity;
    const Points residual = (euler.x() - start) * model.masses.asDiagonal() / (kDt * kDt) -
                            DenseForces(model, euler.x());
    CHECK(FreeNorm(residual, model.pinned) < 1e-4 * 9.81 * model.masses.norm());
    CHECK((euler.v() - (euler.x() - x) / kDt).norm() < 1e-9);
    for (const uint32_t node : settings.pinned) CHECK(euler.x().col(node) == targets.col(node));
  }
}

TEST_CASE("A step of the reference that has no iterations left says so") {
  const ShapeAsset shape(TetBox(3, 1, 1, 0.1), {1.0e6, 0.3, 1000.0}, kDt);
  EulerSettings settings = {.pinned = {0}, .most_newton_iterations = 0};
  ImplicitEuler euler(ElasticBody(shape.asset()), settings);
  CHECK_FALSE(euler.Step());
  CHECK(euler.report().residual > settings.tolerance);
}

TEST_CASE("The reference loses as much energy as implicit Euler takes from an oscillation") {
  const Cantilever beam({6, 2, 2, 0.05}, {1.0e6, 0.3, 1000.0}, kDt);
  const BeamMode mode = ModesOf(beam).bending;
  for (const double dt : {0.2 / mode.omega, 0.1 / mode.omega, 0.05 / mode.omega}) {
    EulerSettings settings = {.dt_s = dt};
    settings.gravity.setZero();
    settings.pinned = beam.pins;
    ImplicitEuler euler(ElasticBody(beam.shape.asset()), settings);
    euler.SetState(beam.model.rest + 0.003 * mode.shape, Points::Zero(3, beam.model.num_nodes()));
    const double start = euler.ElasticEnergy();
    double energy = start;
    const int steps = static_cast<int>(6.0 / (mode.omega * dt));
    for (int step = 0; step < steps; ++step) {
      REQUIRE(euler.Step());
      const double now = euler.ElasticEnergy() + euler.KineticEnergy();
      CHECK(now <= energy * (1.0 + 1e-9));
      energy = now;
    }
    // Each step shrinks the amplitude by sqrt(1 + (omega dt)^2).
    const double turn = mode.omega * dt, kept = std::pow(1.0 + turn * turn, -steps);
    CAPTURE(turn, kept, energy / start);
    CHECK(energy / start == Approx(kept).epsilon(0.02));
  }
}

// Sag of the tip [m], after three steps of 1000 s.
double ReferenceSag(const Cantilever& beam, double gravity) {
  EulerSettings settings = {
      .dt_s = 1000.0, .gravity = {0.0, -gravity, 0.0}, .pinned = beam.pins, .tolerance = 1e-8};
  ImplicitEuler euler(ElasticBody(beam.shape.asset()), settings);
  for (int step = 0; step < 3; ++step) REQUIRE(euler.Step());
  return -(euler.x() - beam.model.rest).row(1).minCoeff();
}

TEST_CASE("The reference's cantilever sags as the dense problem and beam theory say") {
  constexpr double kGravity = 0.0981;
  const tools::Material material = {1.0e6, 0.0, 1000.0};
  const Cantilever coarse({8, 2, 2, 0.05}, material, kDt), fine({16, 4, 4, 0.025}, material, kDt);
  const Eigen::MatrixXd K = coarse.Stiffness();
  std::vector<Eigen::Index> free;
  for (Eigen::Index k = 0; k < K.rows(); ++k) {
    if (!coarse.model.pinned[static_cast<size_t>(k / 3)]) free.push_back(k);
  }
  Points weights = Points::Zero(3, coarse.model.num_nodes());
  weights.row(1) = -kGravity * coarse.model.masses.transpose();
  const Eigen::VectorXd u = reference::SolveSymmetric(K(free, free), coarse.FreeParts(weights));
  const double dense = -coarse.AllNodes(u).row(1).minCoeff();
  const double formula = SagByFormula(coarse.size, material, kGravity);
  const double sags[] = {ReferenceSag(coarse, kGravity), ReferenceSag(fine, kGravity)};
  std::printf("cantilever's sag, of beam theory's: dense %.4f, reference %.4f, finer mesh %.4f\n",
              dense / formula, sags[0] / formula, sags[1] / formula);
  CHECK(sags[0] == Approx(dense).epsilon(1e-3));
  // Tets of constant strain are too stiff in bending; half as long ones err at most half as much.
  CHECK(sags[0] < formula);
  CHECK(1.0 - sags[1] / formula < 0.5 * (1.0 - sags[0] / formula));
  CHECK(sags[1] == Approx(formula).epsilon(0.15));
}

TEST_CASE("The reference's cantilever vibrates as the dense problem and beam theory say") {
  const double nu = GENERATE(0.0, 0.3);
  const tools::Material material = {1.0e6, nu, 1000.0};
  const Cantilever beam({8, 2, 3, 0.05}, material, kDt);
  const BeamModes modes = ModesOf(beam);
  for (const bool bends : {true, false}) {
    const BeamMode& mode = bends ? modes.bending : modes.torsion;
    const double formula =
        bends ? BendingByFormula(beam.size, material) : TorsionByFormula(beam.size, material);
    EulerSettings settings;
    settings.gravity.setZero();
    settings.dt_s = 0.2 / mode.omega;
    settings.pinned = beam.pins;
    settings.tolerance = 1e-8;
    ImplicitEuler euler(ElasticBody(beam.shape.asset()), settings);
    const double amplitude = 1e-4 * beam.size.length();
    euler.SetState(beam.model.rest + amplitude * mode.shape,
                   Points::Zero(3, beam.model.num_nodes()));
    std::vector<double> parts;
    for (int step = 0; step < 40; ++step) {
      REQUIRE(euler.Step());
      parts.push_back(mode.PartOf(beam.model, euler.x()) / amplitude);
    }
    // Implicit Euler turns an oscillation by atan(omega dt) a step.
    const double omega = std::tan(TurnPerStep(parts)) / settings.dt_s;
    std::printf("cantilever, nu %.1f, %s: %.3f rad/s dense, reference %+.4f%%, beam theory %.3f\n",
                nu, bends ? "bending" : "torsion", mode.omega, 100.0 * (omega / mode.omega - 1.0),
                formula);
    CAPTURE(nu, bends, mode.omega, formula);
    CHECK(omega == Approx(mode.omega).epsilon(1e-3));
    // Two or three tets of constant strain across are too stiff.
    CHECK(mode.omega > 0.95 * formula);
    CHECK(mode.omega < 1.4 * formula);
  }
}

TEST_CASE("Measures of trajectories") {
  const Points rest = Points::Zero(3, 4);
  reference::Trajectory right(rest), measured(rest);
  for (int k = 0; k < 10; ++k) {
    Points x = rest;
    x.row(0).setConstant(std::cos(0.7 * k));
    x(1, 2) = -0.1 * k;
    right.Add(x);
    measured.Add(1.1 * x);
  }
  CHECK(reference::TrajectoryError(measured, right) == Approx(0.1).epsilon(1e-5));
  CHECK(reference::TrajectoryError(right, right) == 0.0);
  CHECK(reference::HalfSwingStep(right, Eigen::Vector3d::UnitX()) == 4);  // 2.8 is nearest to pi
  CHECK(reference::LowestY(right) == Approx(-0.9));

  const std::string path = "motion_trajectory.test";
  REQUIRE(reference::WriteTrajectory(path, 42, right));
  reference::Trajectory read(rest), other(Points::Zero(3, 5));
  CHECK(reference::ReadTrajectory(path, 42, &read));
  CHECK(read.num_steps() == 10);
  CHECK(reference::TrajectoryError(read, right) == 0.0);
  CHECK_FALSE(reference::ReadTrajectory(path, 43, &read));
  CHECK_FALSE(reference::ReadTrajectory(path, 42, &other));
  CHECK(read.num_steps() == 10);
  CHECK(other.num_steps() == 0);
  CHECK(std::remove(path.c_str()) == 0);
  CHECK_FALSE(reference::ReadTrajectory(path, 42, &read));
}

}  // namespace implicit_euler_test

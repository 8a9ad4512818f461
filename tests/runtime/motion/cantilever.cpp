// SPDX-License-Identifier: MIT
// A clamped beam: dense stiffness, modes, and the formulas of beam theory.
// Source: Stephen Timoshenko, James Goodier. Theory of Elasticity. 1970, chapter 10 (torsion).
#include "runtime/motion/cantilever.h"

#include "reference/dense_algebra.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace plush::test {
namespace {

constexpr double kPi = 3.14159265358979323846;

// The mode that most resembles `like`. The pairs' vectors are displacements divided by `scale`.
BeamMode MostSimilar(const Cantilever& beam, const reference::Eigenpairs& pairs,
                     const Eigen::VectorXd& scale, const Points& like) {
  const Eigen::VectorXd wanted = beam.FreeParts(like).cwiseQuotient(scale);  // by sqrt(mass)
  Eigen::Index best = 0;
  reference::Product(pairs.vectors.transpose(), wanted).col(0).cwiseAbs().maxCoeff(&best);
  BeamMode mode = {.omega = std::sqrt(pairs.values[best]),
                   .shape = beam.AllNodes(pairs.vectors.col(best).cwiseProduct(scale))};
  mode.shape /= mode.shape.colwise().norm().maxCoeff();
  return mode;
}

}  // namespace

Cantilever::Cantilever(const BeamSize& beam_size, const tools::Material& beam_material, double dt)
    : size(beam_size),
      material(beam_material),
      shape(ShapeAsset::Baked(TetBox(size.nx, size.ny, size.nz, size.cell), material, dt)),
      model(shape.asset()) {
  for (size_t t = 0; t < model.lambda.size(); ++t) {  // as steps take it
    model.lambda[t] = std::min(model.lambda[t], 16.0 * model.mu[t]);
  }
  for (Eigen::Index i = 0; i < model.num_nodes(); ++i) {
    if (model.rest(0, i) > 1.0e-6) continue;
    pins.push_back(static_cast<uint32_t>(i));
    model.pinned[static_cast<size_t>(i)] = true;
  }
}

Eigen::MatrixXd Cantilever::Stiffness() const {
  const double step = 1.0e-6 * size.cell;
  Eigen::MatrixXd K(model.rest.size(), model.rest.size());
  Points x = model.rest;
  for (Eigen::Index k = 0; k < x.size(); ++k) {
    x.data()[k] = model.rest.data()[k] + step;
    const Points after = DenseForces(model, x);
    x.data()[k] = model.rest.data()[k] - step;
    const Points before = DenseForces(model, x);
    x.data()[k] = model.rest.data()[k];
    const Points change = (before - after) / (2.0 * step);
    K.col(k) = Eigen::Map<const Eigen::VectorXd>(change.data(), change.size());
  }
  return 0.5 * (K + K.transpose());
}

Eigen::VectorXd Cantilever::FreeParts(const Points& vectors) const {
  Eigen::VectorXd out(3 * (model.num_nodes() - static_cast<Eigen::Index>(pins.size())));
  Eigen::Index place = 0;
  for (Eigen::Index i = 0; i < model.num_nodes(); ++i) {
    if (model.pinned[static_cast<size_t>(i)]) continue;
    out.segment<3>(place) = vectors.col(i);
    place += 3;
  }
  return out;
}

Points Cantilever::AllNodes(const Eigen::VectorXd& free_parts) const {
  Points out = Points::Zero(3, model.num_nodes());
  Eigen::Index place = 0;
  for (Eigen::Index i = 0; i < model.num_nodes(); ++i) {
    if (model.pinned[static_cast<size_t>(i)]) continue;
    out.col(i) = free_parts.segment<3>(place);
    place += 3;
  }
  return out;
}

double BeamMode::PartOf(const DenseModel& model, const Points& x) const {
  const auto product = [&](const Points& a, const Points& b) {
    return a.cwiseProduct(b).colwise().sum().dot(model.masses.transpose());
  };
  return product(shape, x - model.rest) / product(shape, shape);
}

BeamModes ModesOf(const Cantilever& beam) {
  const DenseModel& model = beam.model;
  const Eigen::MatrixXd K = beam.Stiffness();
  std::vector<Eigen::Index> free;
  for (Eigen::Index k = 0; k < K.rows(); ++k) {
    if (!model.pinned[static_cast<size_t>(k / 3)]) free.push_back(k);
  }
  Points masses(3, model.num_nodes());
  masses.rowwise() = model.masses.transpose();
  const Eigen::VectorXd scale = beam.FreeParts(masses).cwiseSqrt().cwiseInverse();
  const Eigen::MatrixXd A = scale.asDiagonal() * K(free, free) * scale.asDiagonal();
  const reference::Eigenpairs pairs = reference::EigenpairsOf(A);
  REQUIRE(pairs.values[0] > 0.0);

  Points bent = Points::Zero(3, model.num_nodes()), twisted = bent;
  for (Eigen::Index i = 0; i < model.num_nodes(); ++i) {
    const Eigen::Vector3d x = model.rest.col(i);
    bent(1, i) = x.x() * x.x();
    const double turn = std::sin(0.5 * kPi * x.x() / beam.size.length());
    twisted(1, i) = -turn * (x.z() - 0.5 * beam.size.width());
    twisted(2, i) = turn * (x.y() - 0.5 * beam.size.height());
  }
  return BeamModes{.bending = MostSimilar(beam, pairs, scale, bent),
                   .torsion = MostSimilar(beam, pairs, scale, twisted)};
}

double SagByFormula(const BeamSize& size, const tools::Material& material, double gravity) {
  const double area = size.height() * size.width();
  const double inertia = size.width() * std::pow(size.height(), 3) / 12.0;
  const double load = material.density * gravity * area;  // [N/m]
  const double shear = material.young / (2.0 * (1.0 + material.poisson));
  return load * std::pow(size.length(), 4) / (8.0 * material.young * inertia) +
         load * size.length() * size.length() / (2.0 * 5.0 / 6.0 * shear * area);
}

double BendingByFormula(const BeamSize& size, const tools::Material& material) {
  constexpr double kFirstRoot = 1.8751040687;  // of cos(x) cosh(x) = -1
  return std::pow(kFirstRoot / size.length(), 2) * size.height() *
         std::sqrt(material.young / (12.0 * material.density));
}

double TorsionByFormula(const BeamSize& size, const tools::Material& material) {
  const double b = size.height(), a = size.width();
  REQUIRE(a >= b);
  const double torsion =
      a * std::pow(b, 3) *
      (1.0 / 3.0 - 0.21 * b / a * (1.0 - std::pow(b / a, 4) / 12.0));  // within 0.5%
  const double polar = a * b * (a * a + b * b) / 12.0;
  const double shear = material.young / (2.0 * (1.0 + material.poisson));
  return 0.5 * kPi / size.length() * std::sqrt(shear * torsion / (material.density * polar));
}

}  // namespace plush::test

// SPDX-License-Identifier: MIT
// The dense equations of a step: energies, forces, the constant matrix, sweeps, relaxation.
// Source: see dense_reference.h.
#include "runtime/dense_reference.h"

#include "plush/format/tet_block.h"

#include "reference/dense_algebra.h"
#include "reference/elastic_body.h"
#include "reference/kept_turns.h"
#include "runtime/dense_coarse.h"
#include "runtime/dense_components.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace plush::test {

using reference::CofactorOf;

namespace {

// Derivatives of a scalar with respect to the four nodes' positions (columns), from its derivative
// P with respect to F.
Eigen::Matrix<double, 3, 4> ByNodes(const Eigen::Matrix3d& P, const Eigen::Matrix3d& dm_inv) {
  Eigen::Matrix<double, 3, 4> out;
  out.rightCols<3>() = P * dm_inv.transpose();
  out.col(0) = -out.rightCols<3>().rowwise().sum();
  return out;
}

// Tets in the order of their places.
std::vector<size_t> SweepOrder(const SimulationView& simulation) {
  std::vector<size_t> order(simulation.tets.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::sort(order.begin(), order.end(),
            [&](size_t a, size_t b) { return simulation.tet_slots[a] < simulation.tet_slots[b]; });
  return order;
}

// What both constructors take from the asset.
void TakeOrders(const SimulationView& s, DenseModel* model) {
  model->sweep_order = SweepOrder(s);
  for (const uint32_t slot : s.tet_slots) model->blocks.push_back(slot / kBlockTets);
  model->clusters.assign(s.clusters.begin(), s.clusters.end());
  model->num_clusters = s.num_clusters;
  model->pinned.assign(s.nodes.size(), false);
}

}  // namespace

DenseModel::DenseModel(const Asset& asset) {
  const SimulationView& s = asset.simulation();
  for (const Tet& tet : s.tets) tets.push_back({tet.a, tet.b, tet.c, tet.d});
  for (size_t t = 0; t < s.tets.size(); ++t) {
    const TetBlock& block = s.BlockOf(t);
    const size_t lane = s.LaneOf(t);
    dm_inv.push_back(ToEigen(s.DmInv(t)));
    volumes.push_back(1.0 / (6.0 * double{block.det_dm_inv[lane]}));
    mu.push_back(double{block.stiffness[lane]} / (2.0 * volumes.back()));
    lambda.push_back(double{block.bulk[lane]} / volumes.back());
  }
  rest = ToEigen(std::vector<Vec3>(s.nodes.begin(), s.nodes.end()));
  masses.resize(rest.cols());
  for (Eigen::Index i = 0; i < rest.cols(); ++i) masses[i] = s.masses[static_cast<size_t>(i)];
  damping = double{s.damping};
  TakeOrders(s, this);
}

DenseModel::DenseModel(const Asset& asset, const tools::Material& material) {
  const SimulationView& s = asset.simulation();
  rest = ToEigen(std::vector<Vec3>(s.nodes.begin(), s.nodes.end()));
  masses = Eigen::VectorXd::Zero(rest.cols());
  for (const Tet& tet : s.tets) {
    const std::array<Eigen::Index, 4> n = {tet.a, tet.b, tet.c, tet.d};
    Eigen::Matrix3d Dm;
    Dm << rest.col(n[1]) - rest.col(n[0]), rest.col(n[2]) - rest.col(n[0]),
        rest.col(n[3]) - rest.col(n[0]);
    tets.push_back(n);
    dm_inv.push_back(Dm.inverse());
    volumes.push_back(Dm.determinant() / 6.0);
    for (const Eigen::Index node : n) masses[node] += 0.25 * material.density * volumes.back();
  }
  const double nu = material.poisson;
  mu.assign(tets.size(), material.young / (2.0 * (1.0 + nu)));
  lambda.assign(tets.size(), material.young * nu / ((1.0 + nu) * (1.0 - 2.0 * nu)));
  damping = material.damping;
  TakeOrders(s, this);
}

Eigen::Matrix3d PolarRotation(const Eigen::Matrix3d& F) {
  const Eigen::JacobiSVD<Eigen::Matrix3d> svd(F, Eigen::ComputeFullU | Eigen::ComputeFullV);
  Eigen::Vector3d signs(1.0, 1.0, 1.0);
  signs.z() = svd.matrixU().determinant() * svd.matrixV().determinant() < 0.0 ? -1.0 : 1.0;
  return svd.matrixU() * signs.asDiagonal() * svd.matrixV().transpose();
}

Eigen::Matrix3d DenseGradient(const DenseModel& model, size_t tet, const Points& x) {
  const auto& n = model.tets[tet];
  Eigen::Matrix3d Ds;
  Ds << x.col(n[1]) - x.col(n[0]), x.col(n[2]) - x.col(n[0]), x.col(n[3]) - x.col(n[0]);
  return Ds * model.dm_inv[tet];
}

// The pressure [Pa] with this lambda.
static double PressureOf(const DenseModel& model, size_t t, double lambda,
                         const Eigen::Matrix3d& F) {
  return std::clamp(lambda * (F.determinant() - 1.0), -model.most_push * model.mu[t],
                    model.most_pull * model.mu[t]);
}

double DenseEnergy(const DenseModel& model, const Points& x) {
  double energy = 0.0;
  for (size_t t = 0; t < model.tets.size(); ++t) {
    const Eigen::Matrix3d F = DenseGradient(model, t, x);
    const double change = F.determinant() - 1.0;
    energy += model.mu[t] * model.volumes[t] * (F - PolarRotation(F)).squaredNorm();
    // As far as the pressure grows, and on from there.
    const double most = model.mu[t] * (change > 0.0 ? model.most_pull : model.most_push);
    const double size = std::fabs(change), grows = std::min(size, most / model.lambda[t]);
    if (grows > 0.0)
      energy += model.volumes[t] * (0.5 * model.lambda[t] * grows * grows + most * (size - grows));
  }
  return energy;
}

Points DenseForces(const DenseModel& model, const Points& x) {
  Points forces = Points::Zero(3, x.cols());
  for (size_t t = 0; t < model.tets.size(); ++t) {
    const Eigen::Matrix3d F = DenseGradient(model, t, x);
    const Eigen::Matrix3d P = 2.0 * model.mu[t] * (F - PolarRotation(F)) +
                              PressureOf(model, t, model.lambda[t], F) * CofactorOf(F);
    const auto gradients = ByNodes(P * model.volumes[t], model.dm_inv[t]);
    for (int i = 0; i < 4; ++i)
      forces.col(model.tets[t][static_cast<size_t>(i)]) -= gradients.col(i);
  }
  return forces;
}

Eigen::MatrixXd DenseSystem(const DenseModel& model, double dt) {
  const Eigen::Index n = model.num_nodes(), m = static_cast<Eigen::Index>(model.tets.size());
  Eigen::MatrixXd D = Eigen::MatrixXd::Zero(9 * m, 3 * n);
  Eigen::VectorXd K(9 * m);
  for (Eigen::Index t = 0; t < m; ++t) {
    const size_t tet = static_cast<size_t>(t);
    const Eigen::Matrix3d& B = model.dm_inv[tet];
    K.segment(9 * t, 9).setConstant(2.0 * model.mu[tet] * model.volumes[tet] * dt *
                                    (dt + model.damping));
    for (int j = 0; j < 3; ++j) {  // [Kug, Eq. 9]
      for (int i = 0; i < 4; ++i) {
        const double weight = i == 0 ? -B.col(j).sum() : B(i - 1, j);
        D.block(9 * t + 3 * j, 3 * model.tets[tet][static_cast<size_t>(i)], 3, 3) =
            weight * Eigen::Matrix3d::Identity();
      }
    }
  }
  Eigen::MatrixXd A = reference::Product(D.transpose() * K.asDiagonal(), D);
  for (Eigen::Index i = 0; i < n; ++i) {
    A.block(3 * i, 3 * i, 3, 3) += model.masses[i] * Eigen::Matrix3d::Identity();
  }
  for (Eigen::Index i = 0; i < n; ++i) {
    if (!model.pinned[static_cast<size_t>(i)]) continue;
    A.middleRows(3 * i, 3).setZero();
    A.middleCols(3 * i, 3).setZero();
    A.block(3 * i, 3 * i, 3, 3).setIdentity();
  }
  return A;
}

Eigen::MatrixXd DenseSystemOfAxis(const DenseModel& model, double dt) {
  return DenseSystem(model, dt)(Eigen::seq(0, Eigen::last, 3), Eigen::seq(0, Eigen::last, 3));
}

DenseStepper::DenseStepper(const DenseModel& model, double dt, int outer_iterations,
                           int volume_sweeps)
    : x(model.rest),
      v(Points::Zero(3, model.num_nodes())),
      kappa(Eigen::VectorXd::Zero(static_cast<Eigen::Index>(model.tets.size()))),
      model_(CutByPins(model)),
      dt_(dt),
      outer_iterations_(outer_iterations),
      volume_sweeps_(volume_sweeps),
      inverse_(reference::InverseOf(DenseSystem(model, dt))),
      rotations_(model.tets.size()),
      stretches_(model.tets.size()) {
  const bool has_free =
      std::find(model.pinned.begin(), model.pinned.end(), false) != model.pinned.end();
  if (volume_sweeps == 0 && model.num_clusters > 0 && has_free) {
    coarse_ = std::make_shared<const DenseCoarse>(model_, dt);
    is_stiff_ = coarse_->Crosses(4.0);
  }
}

// Moves each multiplier towards its law -lambda V dt^2 C, by the share 1 / (1 + rate q) of the way.
// q compares the volume term's stiffness with what resists it: the nodes' inertia and the stretch
// term.
void DenseStepper::RelaxMultipliers(const Points& y, double rate) {
  for (size_t t = 0; t < model_.tets.size(); ++t) {
    const Eigen::Matrix3d F = DenseGradient(model_, t, y);
    // Without sweeps, Poisson's ratio counts as at most 0.47.
    const double lambda = std::min(model_.lambda[t], 16.0 * model_.mu[t]);
    const double bulk = lambda * model_.volumes[t] * dt_ * dt_;
    const double stretch = model_.mu[t] * model_.volumes[t] * dt_ * (dt_ + model_.damping);
    // Moves of the nodes by w_i grad_i change the volume by the sum of w_i |grad_i|^2.
    const auto gradients = ByNodes(Eigen::Matrix3d::Identity(), model_.dm_inv[t]);
    double response = 0.0;
    for (size_t i = 0; i < 4; ++i) {
      const Eigen::Index node = model_.tets[t][i];
      if (model_.pinned[static_cast<size_t>(node)]) continue;
      response += gradients.col(static_cast<Eigen::Index>(i)).squaredNorm() / model_.masses[node];
    }
    const double areas = std::max(1.0, CofactorOf(F).squaredNorm() / 3.0);
    const double q = response > 0.0 ? areas * bulk / (1.0 / response + stretch) : 0.0;
    double& multiplier = kappa[static_cast<Eigen::Index>(t)];
    // It first comes between 0 and its law, widened by what the stretch term resists.
    const double law = -PressureOf(model_, t, lambda, F) * model_.volumes[t] * dt_ * dt_;
    const double spare = 2.0 * model_.mu[t] * model_.volumes[t] * dt_ * dt_ / areas;
    multiplier = std::clamp(multiplier, std::min(law, 0.0) - spare, std::max(law, 0.0) + spare);
    multiplier += (law - multiplier) / (1.0 + rate * q);
  }
}

// Adds dt^2 times the forces of a tet. Finds its rotation.
void DenseStepper::AddImpulses(size_t tet, const Points& y, Points* rhs) {
  const Eigen::Matrix3d F = DenseGradient(model_, tet, y), R = rotations_[tet] = PolarRotation(F);
  const double stiffness = 2.0 * model_.mu[tet] * model_.volumes[tet] * dt_;
  const Eigen::Matrix3d P = stiffness * dt_ * (R - F) +
                            stiffness * model_.damping * (R * stretches_[tet] - F) +
                            kappa[static_cast<Eigen::Index>(tet)] * CofactorOf(F);
  const auto by_nodes = ByNodes(P, model_.dm_inv[tet]);
  for (int i = 0; i < 4; ++i) rhs->col(model_.tets[tet][static_cast<size_t>(i)]) += by_nodes.col(i);
}

void DenseStepper::CorrectClusters(const Points& predicted, bool is_first, Points* u) {
  const Points inertial = (predicted - *u) * model_.masses.asDiagonal();
  Points y = x + *u, elastic = Points::Zero(3, y.cols());
  for (size_t t = 0; t < model_.tets.size(); ++t) {
    if (coarse_->Sees(t)) AddImpulses(t, y, &elastic);
  }
  if (is_first) coarse_matrix_ = coarse_->Matrix(rotations_, y);
  coarse_->Correct(coarse_matrix_, inertial, elastic, is_stiff_, &y);
  *u = y - x;
}

void DenseStepper::Sweep(Points* u) {
  for (const size_t t : model_.sweep_order) {
    const Eigen::Matrix3d F = DenseGradient(model_, t, x + *u);
    double& multiplier = kappa[static_cast<Eigen::Index>(t)];
    if (model_.lambda[t] == 0.0) {
      multiplier = 0.0;
      continue;
    }
    const auto gradients = ByNodes(CofactorOf(F), model_.dm_inv[t]);
    const double alpha = 1.0 / (model_.lambda[t] * model_.volumes[t] * dt_ * dt_);
    double response = 0.0;
    std::array<double, 4> w = {};
    for (size_t i = 0; i < 4; ++i) {
      const Eigen::Index node = model_.tets[t][i];
      w[i] = model_.pinned[static_cast<size_t>(node)] ? 0.0 : 1.0 / model_.masses[node];
      response += w[i] * gradients.col(static_cast<Eigen::Index>(i)).squaredNorm();
    }
    const double change =
        (-(F.determinant() - 1.0) - alpha * multiplier) / (response + alpha);  // [Kug, Eq. 15]
    multiplier += change;
    for (size_t i = 0; i < 4; ++i) {
      u->col(model_.tets[t][i]) += w[i] * change * gradients.col(static_cast<Eigen::Index>(i));
    }
  }
}

void DenseStepper::Step(const Eigen::Vector3d& gravity) {
  Points predicted = v * dt_;
  predicted.colwise() += gravity * dt_ * dt_;
  for (Eigen::Index i = 0; i < x.cols(); ++i) {
    if (model_.pinned[static_cast<size_t>(i)]) predicted.col(i).setZero();
  }
  // Bodies with pins start without gravity, see runtime/src/body/body_step.cpp.
  const bool is_pinned =
      std::find(model_.pinned.begin(), model_.pinned.end(), true) != model_.pinned.end();
  for (size_t t = 0; t < model_.tets.size(); ++t) {
    const Eigen::Matrix3d F = DenseGradient(model_, t, x);
    stretches_[t] = PolarRotation(F).transpose() * F;
  }
  Points u = predicted;
  for (Eigen::Index i = 0; i < x.cols() && is_pinned; ++i) {
    if (!model_.pinned[static_cast<size_t>(i)]) u.col(i) = v.col(i) * dt_;
  }
  const double differs = (v.colwise() - v.col(0)).colwise().norm().maxCoeff();
  const double size = (model_.rest.rowwise().maxCoeff() - model_.rest.rowwise().minCoeff()).norm();
  if (is_stiff_ || (coarse_ != nullptr && !is_pinned && differs > 0.02 * size / dt_)) {
    u = v * dt_;
    coarse_->TurnWays(x, predicted, !is_stiff_, &u);
    if (!is_pinned) u.colwise() += gravity * dt_ * dt_;
  }
  for (int k = 0; k < outer_iterations_; ++k) {
    if (volume_sweeps_ == 0) RelaxMultipliers(x + u, k == 0 ? 2.5 : 1.5);
    Points rhs = (predicted - u) * model_.masses.asDiagonal();
    for (size_t t = 0; t < model_.tets.size(); ++t) AddImpulses(t, x + u, &rhs);
    for (Eigen::Index i = 0; i < x.cols(); ++i) {
      if (model_.pinned[static_cast<size_t>(i)]) rhs.col(i).setZero();
    }
    u += reference::Product(inverse_, rhs.reshaped()).reshaped(3, x.cols());
    if (coarse_ != nullptr) CorrectClusters(predicted, k == 0, &u);
    for (int sweep = 0; sweep < volume_sweeps_; ++sweep) Sweep(&u);
  }
  x += u;
  const Points before = v;
  v = u / dt_;
  if (coarse_ == nullptr) return;
  for (const Component& component : coarse_->components()) {
    if (!component.pins.empty()) continue;
    reference::KeepTurns(component.nodes, model_.masses, x, before, dt_, &v);
  }
}

}  // namespace plush::test

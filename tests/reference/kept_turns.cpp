// SPDX-License-Identifier: MIT
// Source: kept_turns.h.
#include "reference/kept_turns.h"

#include <algorithm>
#include <numeric>

namespace plush::reference {

void KeepTurns(const std::vector<Eigen::Index>& nodes, const Eigen::VectorXd& masses,
               const Points& x, const Points& before, double dt, Points* v) {
  double mass = 0.0;
  Eigen::Vector3d centre = Eigen::Vector3d::Zero(), mean = centre, mean_before = centre;
  for (const Eigen::Index i : nodes) {
    mass += masses[i];
    centre += masses[i] * x.col(i);
    mean += masses[i] * v->col(i);
    mean_before += masses[i] * before.col(i);
  }
  centre /= mass, mean /= mass, mean_before /= mass;
  Eigen::Matrix3d inertia = Eigen::Matrix3d::Zero();
  Eigen::Vector3d momentum = Eigen::Vector3d::Zero(), lost = momentum;
  for (const Eigen::Index i : nodes) {
    const Eigen::Vector3d r = x.col(i) - centre, u = v->col(i) - mean;
    inertia += masses[i] * (r.squaredNorm() * Eigen::Matrix3d::Identity() - r * r.transpose());
    momentum += masses[i] * r.cross(u);
    lost += masses[i] * ((r - dt * u).cross(before.col(i) - mean_before) - r.cross(u));
  }
  const auto factor = inertia.ldlt();
  const double angle = dt * factor.solve(momentum).norm();
  const double share = std::clamp((0.4 - angle) / 0.1, 0.0, 1.0);
  const Eigen::Vector3d turn = factor.solve(share * lost);
  for (const Eigen::Index i : nodes) v->col(i) += turn.cross(x.col(i) - centre);
}

void KeepTurns(Eigen::Index first, Eigen::Index end, const Points& before, double dt,
               ImplicitEuler* euler) {
  std::vector<Eigen::Index> nodes(static_cast<size_t>(end - first));
  std::iota(nodes.begin(), nodes.end(), first);
  Points v = euler->v();
  KeepTurns(nodes, euler->body().masses, euler->x(), before, dt, &v);
  euler->SetState(Points(euler->x()), v);
}

}  // namespace plush::reference

// SPDX-License-Identifier: MIT
// Newton's method with conjugate gradients on implicit Euler's objective.
// Source: Jorge Nocedal, Stephen Wright. Numerical Optimization. 2006, chapters 3, 5 and 7.
#include "reference/implicit_euler.h"

#include <algorithm>
#include <cmath>

namespace plush::reference {

struct ImplicitEuler::Iterate {
  Points x, gradient;
  double energy = 0.0;
  std::vector<TetState> states;
};

ImplicitEuler::ImplicitEuler(const ElasticBody& body, const EulerSettings& settings)
    : body_(body),
      settings_(settings),
      pinned_(static_cast<size_t>(body.num_nodes()), false),
      x_(body.rest),
      v_(Points::Zero(3, body.num_nodes())),
      acceleration_(v_),
      targets_(body.rest) {
  for (const uint32_t node : settings.pinned) pinned_[node] = true;
  for (const Spring& spring : settings.springs) starts_.push_back(WayOf(spring, x_));
  viscosity_.rate = settings.damping / settings.dt_s;
  std::vector<double> weights;
  for (const ElasticTet& tet : body.tets) {
    weights.push_back(tet.stiffness * (1.0 + viscosity_.rate) + tet.bulk);
  }
  preconditioner_ = AxisFactor(body, settings.dt_s, weights, pinned_);
  double sum = 0.0;
  for (Eigen::Index i = 0; i < body.num_nodes(); ++i) {
    if (!pinned_[static_cast<size_t>(i)]) sum += body.masses[i] * body.masses[i];
  }
  weight_norm_ = 9.81 * std::sqrt(sum);
  PlanHessian();
}

Eigen::Vector3d ImplicitEuler::WayOf(const Spring& spring, const Points& x) const {
  Eigen::Vector3d way = -spring.target;
  for (const auto& [node, weight] : spring.weights) way += weight * x.col(node);
  return way;
}

double ImplicitEuler::AddSpring(size_t index, const Points& x, Points* gradient) const {
  const Spring& spring = settings_.springs[index];
  const Eigen::Vector3d way = WayOf(spring, x), start = starts_[index];
  const double k = spring.stiffness, c = spring.damping / settings_.dt_s;
  Eigen::Vector3d slope = k * way + c * (way - start);
  double energy = 0.5 * k * way.squaredNorm() + 0.5 * c * (way - start).squaredNorm();
  if (spring.rest_length > 0.0) {
    const double longer = way.norm() - spring.rest_length, more = way.norm() - start.norm();
    slope = (k * longer + c * more) * way.normalized();
    energy = 0.5 * k * longer * longer + 0.5 * c * more * more;
  }
  const double pull = slope.norm();
  if (pull > spring.max_force) {
    const double more = pull - spring.max_force;
    energy -= 0.5 * more * more / (k + c);
    slope *= spring.max_force / pull;
  }
  for (const auto& [node, weight] : spring.weights) gradient->col(node) += weight * slope;
  return energy;
}

void ImplicitEuler::MakeSpringHessians(const Points& x) {
  stiffnesses_.clear();
  for (size_t i = 0; i < settings_.springs.size(); ++i) {
    const Spring& spring = settings_.springs[i];
    const double k = spring.stiffness, c = spring.damping / settings_.dt_s;
    Eigen::Matrix3d& out = stiffnesses_.emplace_back(Eigen::Matrix3d::Identity() * (k + c));
    const Eigen::Vector3d way = WayOf(spring, x);
    if (spring.rest_length == 0.0) {
      const Eigen::Vector3d slope = k * way + c * (way - starts_[i]);
      if (slope.norm() > spring.max_force) {
        const Eigen::Vector3d n = slope.normalized();
        out *= spring.max_force / slope.norm();
        out -= out(0, 0) * n * n.transpose();
      }
      continue;
    }
    const Eigen::Vector3d n = way.normalized();
    const double whole =
        k * (way.norm() - spring.rest_length) + c * (way.norm() - starts_[i].norm());
    const bool is_limited = std::fabs(whole) > spring.max_force;
    const double pull = is_limited ? std::copysign(spring.max_force, whole) : whole;
    const double across = std::max(pull / way.norm(), 0.0), along = is_limited ? 0.0 : k + c;
    out = across * Eigen::Matrix3d::Identity() + (along - across) * n * n.transpose();
  }
}

void ImplicitEuler::ReleaseSpring(size_t spring) {
  settings_.springs[spring].stiffness = settings_.springs[spring].damping = 0.0;
}

void ImplicitEuler::MoveTarget(size_t spring, const Eigen::Vector3d& from,
                               const Eigen::Vector3d& to) {
  settings_.springs[spring].target = from;
  starts_[spring] = WayOf(settings_.springs[spring], x_);
  settings_.springs[spring].target = to;
}

void ImplicitEuler::MovePins(const Points& x) { targets_ = x; }

void ImplicitEuler::SetState(const Points& x, const Points& v) {
  x_ = x;
  v_ = v;
  targets_ = x;
  for (size_t s = 0; s < starts_.size(); ++s) starts_[s] = WayOf(settings_.springs[s], x);
  acceleration_.setZero();
  ClearPinned(&v_);
}

double ImplicitEuler::KineticEnergy() const {
  return 0.5 * v_.colwise().squaredNorm().transpose().dot(body_.masses);
}

double ImplicitEuler::ElasticEnergy() const {
  Points ignored;
  return EnergyOf(body_, {}, x_, &ignored);
}

void ImplicitEuler::ClearPinned(Points* vectors) const {
  for (Eigen::Index i = 0; i < vectors->cols(); ++i) {
    if (pinned_[static_cast<size_t>(i)]) vectors->col(i).setZero();
  }
}

void ImplicitEuler::PlanHessian() {
  std::vector<std::vector<uint32_t>> neighbours(static_cast<size_t>(body_.num_nodes()));
  for (size_t i = 0; i < neighbours.size(); ++i) neighbours[i].push_back(static_cast<uint32_t>(i));
  for (const ElasticTet& tet : body_.tets) {
    for (const uint32_t i : tet.nodes) {
      neighbours[i].insert(neighbours[i].end(), tet.nodes.begin(), tet.nodes.end());
    }
  }
  row_starts_ = {0};
  for (std::vector<uint32_t>& row : neighbours) {
    std::sort(row.begin(), row.end());
    row.erase(std::unique(row.begin(), row.end()), row.end());
    columns_.insert(columns_.end(), row.begin(), row.end());
    row_starts_.push_back(static_cast<uint32_t>(columns_.size()));
  }
  const auto slot_of = [&](uint32_t row, uint32_t column) {
    const auto first = columns_.begin() + row_starts_[row];
    const auto last = columns_.begin() + row_starts_[row + 1];
    return static_cast<uint32_t>(std::lower_bound(first, last, column) - columns_.begin());
  };
  for (const ElasticTet& tet : body_.tets) {
    for (const uint32_t i : tet.nodes) {
      for (const uint32_t j : tet.nodes) slots_.push_back(slot_of(i, j));
    }
  }
  for (uint32_t i = 0; i < neighbours.size(); ++i) diagonals_.push_back(slot_of(i, i));
  blocks_.resize(columns_.size());
}

// Stretch: P = mu V R (S + S^T) with S = R^T dF. Volume: P = lambda V (cof : dF) cof. With dF = d
// g_j^T, P g_i is the block (i, j) times d.
void ImplicitEuler::MakeHessian(const std::vector<TetState>& states) {
  std::fill(blocks_.begin(), blocks_.end(), Eigen::Matrix3d::Zero());
  const double inertia = 1.0 / (settings_.dt_s * settings_.dt_s);
  for (Eigen::Index i = 0; i < body_.num_nodes(); ++i) {
    blocks_[diagonals_[static_cast<size_t>(i)]].diagonal().setConstant(body_.masses[i] * inertia);
  }
  for (size_t t = 0; t < body_.tets.size(); ++t) {
    const ElasticTet& tet = body_.tets[t];
    const Eigen::Matrix<double, 3, 4> turned = states[t].R * tet.gradients.transpose();
    const Eigen::Matrix<double, 3, 4> normals = states[t].cofactor * tet.gradients.transpose();
    const Eigen::Matrix4d dots = tet.gradients * tet.gradients.transpose();
    const double weight = 0.5 * tet.stiffness * (1.0 + viscosity_.rate);
    for (int i = 0; i < 4; ++i) {
      for (int j = 0; j < 4; ++j) {
        Eigen::Matrix3d& block = blocks_[slots_[16 * t + static_cast<size_t>(4 * i + j)]];
        block += turned.col(j) * (weight * turned.col(i)).transpose() +
                 normals.col(i) * (states[t].bulk * normals.col(j)).transpose();
        block.diagonal().array() += weight * dots(i, j);
      }
    }
  }
}

void ImplicitEuler::TimesHessian(const Points& d, Points* out) const {
  out->resize(3, d.cols());
  for (size_t i = 0; i + 1 < row_starts_.size(); ++i) {
    Eigen::Vector3d sum = Eigen::Vector3d::Zero();
    if (!pinned_[i]) {
      for (uint32_t k = row_starts_[i]; k < row_starts_[i + 1]; ++k) {
        sum += blocks_[k] * d.col(columns_[k]);
      }
    }
    out->col(static_cast<Eigen::Index>(i)) = sum;
  }
  for (size_t s = 0; s < stiffnesses_.size(); ++s) {
    const auto& weights = settings_.springs[s].weights;
    Eigen::Vector3d moved = Eigen::Vector3d::Zero();
    for (const auto& [node, weight] : weights) moved += weight * d.col(node);
    const Eigen::Vector3d force = stiffnesses_[s] * moved;
    for (const auto& [node, weight] : weights) {
      if (!pinned_[node]) out->col(node) += weight * force;
    }
  }
}

Points ImplicitEuler::FindDirection(const Points& gradient, double tolerance) {
  Points d = Points::Zero(3, gradient.cols()), r = -gradient, z, p, q;
  const double least = tolerance * gradient.norm();
  double last = 0.0;
  for (int k = 0; k < settings_.most_cg_iterations; ++k) {
    preconditioner_.Solve(r, &z);
    const double product = r.cwiseProduct(z).sum();
    if (k == 0) {
      p = z;
    } else {
      p = z + (product / last) * p;
    }
    last = product;
    TimesHessian(p, &q);
    const double length = product / p.cwiseProduct(q).sum();
    d += length * p;
    r -= length * q;
    ++report_.cg_iterations;
    if (r.norm() <= least) break;
  }
  return d;
}

void ImplicitEuler::Evaluate(Iterate* at) const {
  at->energy = EnergyOf(body_, viscosity_, at->x, &at->gradient, &at->states);
  const double inertia = 1.0 / (settings_.dt_s * settings_.dt_s);
  for (Eigen::Index i = 0; i < at->x.cols(); ++i) {
    if (pinned_[static_cast<size_t>(i)]) continue;
    const Eigen::Vector3d away = at->x.col(i) - inertial_.col(i);
    at->energy += 0.5 * body_.masses[i] * inertia * away.squaredNorm();
    at->gradient.col(i) += body_.masses[i] * inertia * away;
  }
  for (size_t s = 0; s < settings_.springs.size(); ++s) {
    at->energy += AddSpring(s, at->x, &at->gradient);
  }
  ClearPinned(&at->gradient);
}

bool ImplicitEuler::Search(const Points& d, Iterate* at) const {
  constexpr double kSufficient = 1.0e-4;  // of the decrease that the slope promises [Eq. 3.4]
  // If the slope promises less than this share of the energy, rounding may hide the decrease. The
  // gradient then decides.
  constexpr double kLevel = 1.0e-8;
  const double slope = at->gradient.cwiseProduct(d).sum();
  Iterate next;
  double length = 1.0;
  for (int k = 0; k < 30; ++k, length *= 0.5) {
    next.x = at->x + length * d;
    Evaluate(&next);
    const bool falls = next.energy <= at->energy + kSufficient * length * slope;
    const bool nears =
        -slope <= kLevel * std::fabs(at->energy) && next.gradient.norm() < at->gradient.norm();
    if (falls || nears) {
      std::swap(*at, next);
      return true;
    }
  }
  return false;
}

// The better one of two guesses: at constant velocity, and at constant acceleration.
ImplicitEuler::Iterate ImplicitEuler::FirstIterate() const {
  const double dt = settings_.dt_s;
  Iterate straight, bent;
  straight.x = x_ + dt * v_;
  bent.x = straight.x + dt * dt * acceleration_;
  for (Eigen::Index i = 0; i < x_.cols(); ++i) {
    if (!pinned_[static_cast<size_t>(i)]) continue;
    straight.x.col(i) = targets_.col(i);
    bent.x.col(i) = targets_.col(i);
  }
  Evaluate(&straight);
  Evaluate(&bent);
  return bent.energy < straight.energy ? bent : straight;
}

bool ImplicitEuler::Step() {
  const double dt = settings_.dt_s;
  inertial_ = (x_ + dt * v_).colwise() + dt * dt * settings_.gravity;
  if (viscosity_.rate > 0.0) viscosity_.stretches = StretchesOf(body_, x_);
  report_ = {};
  Iterate at = FirstIterate();
  for (;;) {
    const double norm = at.gradient.norm();
    report_.residual = norm / weight_norm_;
    report_.converged = report_.residual <= settings_.tolerance;
    if (report_.converged || !std::isfinite(norm)) break;
    if (report_.newton_iterations == settings_.most_newton_iterations) break;
    // The Hessian is not exact, so directions better than this gain nothing. The last ones need
    // no more than the tolerance.
    constexpr double kForcing = 0.05;
    const double enough = 0.3 * settings_.tolerance / report_.residual;
    MakeHessian(at.states);
    MakeSpringHessians(at.x);
    const Points d = FindDirection(at.gradient, std::max(kForcing, std::min(enough, 0.5)));
    if (!Search(d, &at)) break;
    ++report_.newton_iterations;
  }
  forces_.clear();
  for (size_t s = 0; s < starts_.size(); ++s) {
    Points gradient = Points::Zero(3, at.x.cols());
    AddSpring(s, at.x, &gradient);
    const auto& [node, weight] = settings_.springs[s].weights.front();
    forces_.push_back(-gradient.col(node) / weight);
    starts_[s] = WayOf(settings_.springs[s], at.x);
  }
  const Points v = (at.x - x_) / dt;
  acceleration_ = (v - v_) / dt;
  v_ = v;
  x_ = at.x;
  return report_.converged;
}

}  // namespace plush::reference

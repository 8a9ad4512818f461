// SPDX-License-Identifier: MIT
// Source: see dense_components.h.
#include "runtime/dense_components.h"

#include "reference/dense_algebra.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

namespace plush::test {

Eigen::Matrix3d CrossMatrix(const Eigen::Vector3d& v) {
  Eigen::Matrix3d out;
  out << 0, -v.z(), v.y(), v.z(), 0, -v.x(), -v.y(), v.x(), 0;
  return out;
}

Eigen::Matrix3d CayleyOf(const Eigen::Matrix3d& turn) {
  const Eigen::Matrix3d I = Eigen::Matrix3d::Identity();
  return (I - 0.5 * turn).inverse() * (I + 0.5 * turn);
}

Eigen::Vector3d CentreOf(const std::vector<Eigen::Index>& members, const Eigen::VectorXd& masses,
                         const Points& x) {
  Eigen::Vector3d sum = Eigen::Vector3d::Zero();
  double mass = 0.0;
  for (const Eigen::Index i : members) {
    sum += masses[i] * x.col(i);
    mass += masses[i];
  }
  return mass > 0.0 ? Eigen::Vector3d(sum / mass) : sum;
}

std::vector<size_t> LeastOfParts(const DenseModel& model, bool with_pins) {
  std::vector<size_t> least(static_cast<size_t>(model.num_nodes()));
  for (size_t i = 0; i < least.size(); ++i) least[i] = i;
  for (bool changes = true; changes;) {
    changes = false;
    for (const auto& tet : model.tets) {
      size_t first = least.size();
      const auto for_nodes = [&](const auto& visit) {
        for (const Eigen::Index node : tet) {
          const auto i = static_cast<size_t>(node);
          if (with_pins || !model.pinned[i]) visit(least[i]);
        }
      };
      for_nodes([&](size_t own) { first = std::min(first, own); });
      for_nodes([&](size_t& own) {
        changes = changes || own != first;
        own = first;
      });
    }
  }
  return least;
}

std::vector<Component> ComponentsOf(const DenseModel& model) {
  const std::vector<size_t> least = LeastOfParts(model, false);
  std::map<size_t, Component> by_least;
  for (size_t i = 0; i < least.size(); ++i) {
    if (!model.pinned[i]) by_least[least[i]].nodes.push_back(static_cast<Eigen::Index>(i));
  }
  for (auto& [first, component] : by_least) {
    std::set<Eigen::Index> pins;
    for (const auto& tet : model.tets) {
      const auto is_own = [&, own = first](Eigen::Index i) {
        return !model.pinned[static_cast<size_t>(i)] && least[static_cast<size_t>(i)] == own;
      };
      if (std::none_of(tet.begin(), tet.end(), is_own)) continue;
      for (const Eigen::Index i : tet) {
        if (model.pinned[static_cast<size_t>(i)]) pins.insert(i);
      }
    }
    component.pins.assign(pins.begin(), pins.end());
  }
  std::vector<Component> out;
  for (const auto& [first, component] : by_least) {
    const auto count = static_cast<Eigen::Index>(component.pins.size());
    Points arms(3, count);
    for (Eigen::Index i = 0; i < count; ++i) {
      arms.col(i) = model.rest.col(component.pins[static_cast<size_t>(i)]);
    }
    if (count > 2) {
      arms.colwise() -= arms.rowwise().mean().eval();
      const Eigen::Matrix3d squares = reference::Product(arms, arms.transpose());
      const Eigen::Vector3d spreads = reference::EigenpairsOf(squares).values;
      if (spreads[1] > 1.0e-12 * spreads[2]) continue;
    }
    out.push_back(component);
  }
  return out;
}

namespace {

// About what a component at `x` turns, and the directions of the axes that it can turn about.
struct HingeAt {
  HingeAt(const Component& component, const Eigen::VectorXd& masses, const Points& x)
      : place(CentreOf(component.nodes, masses, x)) {
    if (component.pins.empty()) return;
    place = x.col(component.pins.front());
    if (component.pins.size() == 1) return;
    is_line = true;
    axis = (x.col(component.pins.back()) - place).normalized();
  }
  Eigen::Vector3d place, axis = Eigen::Vector3d::Zero();
  bool is_line = false;
};

}  // namespace

void MoveTo(const Component& component, const Eigen::VectorXd& masses, const Points& target,
            Points* y) {
  const HingeAt from(component, masses, *y), to(component, masses, target);
  Eigen::Matrix3d spread = Eigen::Matrix3d::Zero();
  for (const Eigen::Index i : component.nodes) {
    spread += masses[i] * (target.col(i) - to.place) * (y->col(i) - from.place).transpose();
  }
  Eigen::Matrix3d R = PolarRotation(spread);
  if (to.is_line) {
    // The trace of R^T spread for a turn by the angle is A cos + B sin, but for a constant.
    const double A = spread.trace() - to.axis.dot(spread * to.axis);
    const double B = (CrossMatrix(to.axis).transpose() * spread).trace();
    R = Eigen::AngleAxisd(std::atan2(B, A), to.axis).toRotationMatrix();
  }
  for (const Eigen::Index i : component.nodes) y->col(i) = to.place + R * (y->col(i) - from.place);
}

MeanMotion::MeanMotion(const Component& component, const Eigen::VectorXd& masses, const Points& x,
                       const Points& u) {
  const HingeAt hinge(component, masses, x);
  centre = hinge.place;
  shift = component.pins.empty() ? CentreOf(component.nodes, masses, u)
                                 : Eigen::Vector3d(u.col(component.pins.front()));
  Eigen::Matrix3d inertia = Eigen::Matrix3d::Zero();
  Eigen::Vector3d moment = Eigen::Vector3d::Zero();
  for (const Eigen::Index i : component.nodes) {
    const Eigen::Matrix3d r = CrossMatrix(x.col(i) - centre);
    inertia -= masses[i] * r * r;
    moment += masses[i] * r * (u.col(i) - shift);
  }
  const Eigen::Vector3d& a = hinge.axis;
  turn = CrossMatrix(hinge.is_line ? (a * (moment.dot(a) / a.dot(inertia * a))).eval()
                                   : Eigen::Vector3d(reference::SolveSymmetric(inertia, moment)));
}

bool Spins(const Component& component, const Eigen::VectorXd& masses, const Points& x,
           const Points& u) {
  const MeanMotion mean(component, masses, x, u);
  double beside = 0.0, turning = 0.0;
  for (const Eigen::Index i : component.nodes) {
    beside += masses[i] * (u.col(i) - mean.shift).squaredNorm();
    turning += masses[i] * (mean.turn * (x.col(i) - mean.centre)).squaredNorm();
  }
  return turning >= 0.5 * beside;
}

void TurnOn(const Component& component, const Eigen::VectorXd& masses, const Points& x, Points* u) {
  MeanMotion mean(component, masses, x, *u);
  // What ways have of a turn's second order, if the last one was a turn.
  Eigen::Matrix3d R, bend;
  double share = 0.0;
  for (int fit = 0; fit < 40; ++fit) {
    if (fit > 0) {
      Points rest = *u;
      for (const Eigen::Index i : component.nodes)
        rest.col(i) -= share * bend * (x.col(i) - mean.centre);
      mean = MeanMotion(component, masses, x, rest);
    }
    const double cosine2 = std::max(1.0 - 0.5 * mean.turn.squaredNorm(), 0.19);
    MeanMotion angle = mean;
    angle.turn *= 2.0 / (1.0 + std::sqrt(cosine2));
    R = angle.Rotation();
    bend = Eigen::Matrix3d::Identity() - R.transpose() - mean.turn;
    double along = 0.0, square = 0.0;
    for (const Eigen::Index i : component.nodes) {
      const Eigen::Vector3d r = x.col(i) - mean.centre;
      along += masses[i] * (u->col(i) - mean.shift - mean.turn * r).dot(bend * r);
      square += masses[i] * (bend * r).squaredNorm();
    }
    share = square > 0.0 ? std::clamp(along / square, 0.0, 1.0) : 0.0;
  }
  for (const Eigen::Index i : component.nodes) {
    const Eigen::Vector3d r = x.col(i) - mean.centre;
    const Eigen::Vector3d besides = u->col(i) - mean.shift - mean.turn * r - share * (bend * r);
    u->col(i) = mean.shift + R * (r + besides) - r;
  }
}

}  // namespace plush::test

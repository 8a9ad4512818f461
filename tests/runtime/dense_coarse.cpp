// SPDX-License-Identifier: MIT
// Dense rigid motions of clusters, projected with Z as a matrix. Source: see dense_coarse.h.
#include "runtime/dense_coarse.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace plush::test {
namespace {

constexpr Eigen::Index kPinned = -1;

Eigen::Matrix3d CrossMatrix(const Eigen::Vector3d& v) {
  Eigen::Matrix3d out;
  out << 0, -v.z(), v.y(), v.z(), 0, -v.x(), -v.y(), v.x(), 0;
  return out;
}

// The cluster of a free node, or kPinned.
Eigen::Index ClusterOf(const DenseModel& model, Eigen::Index node) {
  const size_t i = static_cast<size_t>(node);
  return model.pinned[i] ? kPinned : static_cast<Eigen::Index>(model.clusters[i]);
}

std::vector<std::vector<Eigen::Index>> MembersOf(const DenseModel& model) {
  std::vector<std::vector<Eigen::Index>> members(model.num_clusters);
  for (Eigen::Index i = 0; i < model.num_nodes(); ++i) {
    const Eigen::Index k = ClusterOf(model, i);
    if (k != kPinned) members[static_cast<size_t>(k)].push_back(i);
  }
  return members;
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

// The four tets with nodes of the cluster that are nearest to its centre, those inside it first.
// The nearest one again if there are fewer.
std::array<size_t, 4> FrameTetsOf(const DenseModel& model, size_t cluster,
                                  const Eigen::Vector3d& centre) {
  std::vector<std::pair<std::pair<bool, double>, size_t>> near;
  for (size_t t = 0; t < model.tets.size(); ++t) {
    bool touches = false;
    double distance2 = 0.0;
    for (const Eigen::Index node : model.tets[t]) {
      touches = touches || ClusterOf(model, node) == static_cast<Eigen::Index>(cluster);
      distance2 += (model.rest.col(node) - centre).squaredNorm();
    }
    if (touches) near.push_back({{IsStraddling(model, t), distance2}, t});
  }
  std::sort(near.begin(), near.end());
  std::array<size_t, 4> out = {};
  for (size_t i = 0; i < 4 && !near.empty(); ++i) out[i] = near[i < near.size() ? i : 0].second;
  return out;
}

}  // namespace

bool IsStraddling(const DenseModel& model, size_t tet) {
  const Eigen::Index first = ClusterOf(model, model.tets[tet][0]);
  return std::any_of(model.tets[tet].begin(), model.tets[tet].end(),
                     [&](Eigen::Index node) { return ClusterOf(model, node) != first; });
}

Eigen::MatrixXd ClusterMotions(const DenseModel& model) {
  const auto count = static_cast<Eigen::Index>(model.num_clusters);
  Eigen::MatrixXd Z = Eigen::MatrixXd::Zero(3 * model.num_nodes(), 6 * count);
  const auto members = MembersOf(model);
  for (Eigen::Index k = 0; k < count; ++k) {
    const auto& nodes = members[static_cast<size_t>(k)];
    const Eigen::Vector3d centre = CentreOf(nodes, model.masses, model.rest);
    for (const Eigen::Index i : nodes) {
      Z.block<3, 3>(3 * i, 6 * k).setIdentity();
      Z.block<3, 3>(3 * i, 6 * k + 3) = -CrossMatrix(model.rest.col(i) - centre);
    }
  }
  return Z;
}

Eigen::MatrixXd MaterialAtRest(const DenseModel& model, double dt) {
  const Eigen::Index n = model.num_nodes();
  Eigen::MatrixXd H = Eigen::MatrixXd::Zero(3 * n, 3 * n);
  for (Eigen::Index i = 0; i < n; ++i) {
    H.block<3, 3>(3 * i, 3 * i) = model.masses[i] * Eigen::Matrix3d::Identity();
  }
  for (size_t t = 0; t < model.tets.size(); ++t) {
    // E: the strain of the tet, as nine numbers, of the displacements of its nodes.
    Eigen::Matrix<double, 9, 12> E;
    for (Eigen::Index k = 0; k < 12; ++k) {
      const Eigen::Index node = k / 3, axis = k % 3;
      const Eigen::RowVector3d gradient = node == 0 ? (-model.dm_inv[t].colwise().sum()).eval()
                                                    : model.dm_inv[t].row(node - 1).eval();
      const Eigen::Matrix3d D = Eigen::Vector3d::Unit(axis) * gradient;
      const Eigen::Matrix3d strain = 0.5 * (D + D.transpose());
      E.col(k) = Eigen::Map<const Eigen::Matrix<double, 9, 1>>(strain.data());
    }
    const Eigen::Matrix<double, 12, 12> K =
        2.0 * model.mu[t] * model.volumes[t] * dt * (dt + model.damping) * E.transpose() * E;
    for (Eigen::Index i = 0; i < 4; ++i) {
      for (Eigen::Index j = 0; j < 4; ++j) {
        H.block<3, 3>(3 * model.tets[t][static_cast<size_t>(i)],
                      3 * model.tets[t][static_cast<size_t>(j)]) += K.block<3, 3>(3 * i, 3 * j);
      }
    }
  }
  return H;
}

Eigen::VectorXd SolveIndependent(const Eigen::MatrixXd& C, const Eigen::VectorXd& b) {
  std::vector<Eigen::Index> kept;
  Eigen::MatrixXd left = C;  // what the unknowns before leave of C
  for (Eigen::Index j = 0; j < C.rows(); ++j) {
    if (!(left(j, j) > 1.0e-10 * C(j, j))) continue;
    kept.push_back(j);
    const Eigen::VectorXd column = left.col(j);
    left -= column * column.transpose() / column[j];
  }
  Eigen::VectorXd x = Eigen::VectorXd::Zero(C.rows());
  const Eigen::MatrixXd independent = C(kept, kept);
  const Eigen::VectorXd found = independent.ldlt().solve(Eigen::VectorXd(b(kept)));
  x(kept) = found;
  return x;
}

DenseCoarse::DenseCoarse(const DenseModel& model, double dt)
    : members_(MembersOf(model)),
      sees_(model.tets.size(), false),
      masses_(model.masses),
      has_pins_(std::find(model.pinned.begin(), model.pinned.end(), true) != model.pinned.end()) {
  const Eigen::MatrixXd Z = ClusterMotions(model);
  C_ = Z.transpose() * MaterialAtRest(model, dt) * Z;
  for (size_t k = 0; k < model.num_clusters; ++k) {
    frame_tets_.push_back(FrameTetsOf(model, k, CentreOf(members_[k], masses_, model.rest)));
  }
  for (size_t t = 0; t < model.tets.size(); ++t) {
    for (size_t u = 0; u < model.tets.size() && IsStraddling(model, t); ++u) {
      if (model.blocks[u] == model.blocks[t]) sees_[u] = true;
    }
  }
}

// The normalised sum of the quaternions, each with the sign that is nearer to the first.
Eigen::Matrix3d DenseCoarse::FrameOf(size_t cluster,
                                     const std::vector<Eigen::Matrix3d>& rotations) const {
  const std::array<size_t, 4>& tets = frame_tets_[cluster];
  const Eigen::Quaterniond first(rotations[tets[0]]);
  Eigen::Vector4d sum = Eigen::Vector4d::Zero();
  for (const size_t t : tets) {
    const Eigen::Quaterniond q(rotations[t]);
    sum += q.dot(first) < 0.0 ? (-q.coeffs()).eval() : q.coeffs();
  }
  return Eigen::Quaterniond(sum.normalized()).toRotationMatrix();
}

void DenseCoarse::Correct(const std::vector<Eigen::Matrix3d>& rotations, const Points& rhs,
                          Points* y) const {
  const size_t count = members_.size();
  std::vector<Eigen::Matrix3d> frames;
  std::vector<Eigen::Vector3d> centres;
  Eigen::VectorXd b = Eigen::VectorXd::Zero(C_.rows());
  for (size_t k = 0; k < count; ++k) {
    frames.push_back(FrameOf(k, rotations));
    centres.push_back(CentreOf(members_[k], masses_, *y));
    Eigen::Vector3d impulse = Eigen::Vector3d::Zero(), moment = impulse;
    for (const Eigen::Index i : members_[k]) {
      impulse += rhs.col(i);
      moment += (y->col(i) - centres[k]).cross(rhs.col(i));
    }
    b.segment<3>(6 * static_cast<Eigen::Index>(k)) = frames[k].transpose() * impulse;
    b.segment<3>(6 * static_cast<Eigen::Index>(k) + 3) = frames[k].transpose() * moment;
  }
  const Eigen::VectorXd q = SolveIndependent(C_, b);
  std::vector<Eigen::Vector3d> shifts;
  Eigen::Vector3d momentum = Eigen::Vector3d::Zero();
  double mass = 0.0;
  for (size_t k = 0; k < count; ++k) {
    shifts.push_back(frames[k] * q.segment<3>(6 * static_cast<Eigen::Index>(k)));
    for (const Eigen::Index i : members_[k]) {
      momentum += masses_[i] * shifts[k];
      mass += masses_[i];
    }
  }
  for (size_t k = 0; k < count; ++k) {
    if (!has_pins_) shifts[k] -= momentum / mass;
    // Cayley: R = (I - a x)^-1 (I + a x) for half the turn a.
    const Eigen::Matrix3d a =
        CrossMatrix(0.5 * (frames[k] * q.segment<3>(6 * static_cast<Eigen::Index>(k) + 3)));
    const Eigen::Matrix3d I = Eigen::Matrix3d::Identity();
    const Eigen::Matrix3d R = (I - a).inverse() * (I + a);
    for (const Eigen::Index i : members_[k]) {
      y->col(i) = centres[k] + R * (y->col(i) - centres[k]) + shifts[k];
    }
  }
}

}  // namespace plush::test

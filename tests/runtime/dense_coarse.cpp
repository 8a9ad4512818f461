// SPDX-License-Identifier: MIT
// Dense rigid motions of clusters, projected with Z as a matrix. Source: see dense_coarse.h.
#include "runtime/dense_coarse.h"

#include "reference/dense_algebra.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>

namespace plush::test {
namespace {

constexpr Eigen::Index kPinned = -1;

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

// The tets from which a group gets its centre and rotation: all of up to four, else four spread
// over the list.
std::vector<size_t> SamplesOf(const std::vector<size_t>& group) {
  if (group.size() < 4) {
    std::vector<size_t> out = group;
    out.resize(4, group.back());
    return out;
  }
  std::vector<size_t> out;
  for (const size_t eighth : {1, 3, 5, 7}) out.push_back(group[eighth * group.size() / 8]);
  return out;
}

Eigen::Vector3d MeanOf(const DenseModel& model, const std::vector<size_t>& tets, const Points& x) {
  Eigen::Vector3d sum = Eigen::Vector3d::Zero();
  for (const size_t t : tets) {
    for (const Eigen::Index node : model.tets[t]) sum += x.col(node);
  }
  return sum / (4.0 * static_cast<double>(tets.size()));
}

// The normalised sum of the quaternions, each with the sign that is nearer to the first.
Eigen::Matrix3d MeanRotation(const std::vector<size_t>& tets,
                             const std::vector<Eigen::Matrix3d>& rotations) {
  const Eigen::Quaterniond first(rotations[tets[0]]);
  Eigen::Vector4d sum = Eigen::Vector4d::Zero();
  for (const size_t t : tets) {
    const Eigen::Quaterniond q(rotations[t]);
    sum += q.dot(first) < 0.0 ? (-q.coeffs()).eval() : q.coeffs();
  }
  return Eigen::Quaterniond(sum.normalized()).toRotationMatrix();
}

// The straddling tets by the two clusters, or pins, of their nodes. Tets that see more than two
// join the largest group of two of these, the first one of equals (pins last). They form a group of
// their own if there is none.
std::vector<std::vector<size_t>> GroupsOf(const DenseModel& model) {
  using Set = std::set<size_t>;
  const size_t pins = model.num_clusters;
  std::map<Set, std::vector<size_t>> by_seen;
  for (size_t t = 0; t < model.tets.size(); ++t) {
    if (!IsStraddling(model, t)) continue;
    Set seen;
    for (const Eigen::Index node : model.tets[t]) {
      const Eigen::Index k = ClusterOf(model, node);
      seen.insert(k == kPinned ? pins : static_cast<size_t>(k));
    }
    by_seen[seen].push_back(t);
  }
  std::map<Set, std::vector<size_t>> groups;
  for (const auto& [seen, tets] : by_seen) {
    Set home = seen;
    size_t most = 0;
    for (const size_t a : seen) {
      for (const size_t b : seen) {
        if (seen.size() < 3 || a >= b || by_seen.count({a, b}) == 0) continue;
        const size_t size = by_seen[{a, b}].size();
        if (size > most) most = size, home = {a, b};
      }
    }
    groups[home].insert(groups[home].end(), tets.begin(), tets.end());
  }
  std::vector<std::vector<size_t>> out;
  for (auto& [seen, tets] : groups) {
    std::sort(tets.begin(), tets.end());
    out.push_back(tets);
  }
  return out;
}

// Adds the motions of a node at `r` from its cluster's centre to the rows of its strain: dt
// (dt + damping) 2 mu V |sym(R^T D)|^2 is the square of `strain` times the motions.
void AddNode(const DenseModel& model, size_t t, size_t corner, const Eigen::Matrix3d& R,
             const Eigen::Vector3d& r, double dt, Eigen::Index cluster, Eigen::MatrixXd* strain) {
  const Eigen::RowVector3d gradient =
      corner == 0 ? (-model.dm_inv[t].colwise().sum()).eval()
                  : model.dm_inv[t].row(static_cast<Eigen::Index>(corner) - 1).eval();
  Eigen::Matrix<double, 3, 6> lever;
  lever << Eigen::Matrix3d::Identity(), -CrossMatrix(r);
  const double weight = std::sqrt(2.0 * model.mu[t] * model.volumes[t] * dt * (dt + model.damping));
  for (Eigen::Index k = 0; k < 6; ++k) {
    const Eigen::Matrix3d D = R.transpose() * lever.col(k) * gradient;
    const Eigen::Matrix3d sym = 0.5 * weight * (D + D.transpose());
    strain->col(6 * cluster + k) += Eigen::Map<const Eigen::Matrix<double, 9, 1>>(sym.data());
  }
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
    Eigen::MatrixXd E(9, 12);
    for (Eigen::Index k = 0; k < 12; ++k) {
      const Eigen::Index node = k / 3, axis = k % 3;
      const Eigen::RowVector3d gradient = node == 0 ? (-model.dm_inv[t].colwise().sum()).eval()
                                                    : model.dm_inv[t].row(node - 1).eval();
      const Eigen::Matrix3d D = Eigen::Vector3d::Unit(axis) * gradient;
      const Eigen::Matrix3d strain = 0.5 * (D + D.transpose());
      E.col(k) = Eigen::Map<const Eigen::Matrix<double, 9, 1>>(strain.data());
    }
    const double weight = 2.0 * model.mu[t] * model.volumes[t] * dt * (dt + model.damping);
    const Eigen::MatrixXd K = weight * reference::Product(E.transpose(), E);
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
  x(kept) = Eigen::VectorXd(reference::SolveSymmetric(independent, b(kept)));
  return x;
}

Eigen::MatrixXd InverseOfIndependent(const Eigen::MatrixXd& C) {
  Eigen::MatrixXd inverse = C;
  for (Eigen::Index j = 0; j < C.rows(); ++j) {
    inverse.col(j) = SolveIndependent(C, Eigen::VectorXd::Unit(C.rows(), j));
  }
  return inverse;
}

DenseModel CutByPins(const DenseModel& model) {
  DenseModel cut = model;
  const std::vector<size_t> least = LeastOfParts(model, false);
  std::map<std::pair<size_t, size_t>, size_t> numbers;  // by baked cluster and part
  std::vector<bool> is_used(model.num_clusters);
  for (size_t i = 0; i < model.clusters.size(); ++i) {
    if (model.pinned[i]) continue;
    const size_t baked = model.clusters[i];
    const auto [at, is_new] = numbers.try_emplace({baked, least[i]}, baked);
    if (is_new && is_used[baked]) at->second = cut.num_clusters++;
    is_used[baked] = true;
    cut.clusters[i] = at->second;
  }
  return cut;
}

DenseCoarse::DenseCoarse(const DenseModel& model, double dt)
    : model_(model),
      dt_(dt),
      members_(MembersOf(model)),
      groups_(GroupsOf(model)),
      sees_(model.tets.size(), false),
      components_(ComponentsOf(model)) {
  for (size_t t = 0; t < model.tets.size(); ++t) {
    for (size_t u = 0; u < model.tets.size() && IsStraddling(model, t); ++u) {
      if (model.blocks[u] == model.blocks[t]) sees_[u] = true;
    }
  }
}

Eigen::MatrixXd DenseCoarse::Matrix(const std::vector<Eigen::Matrix3d>& rotations,
                                    const Points& y) const {
  const auto n = 6 * static_cast<Eigen::Index>(members_.size());
  Eigen::MatrixXd C = Eigen::MatrixXd::Zero(n, n);
  std::vector<Eigen::Vector3d> centres;
  for (size_t k = 0; k < members_.size(); ++k) {
    centres.push_back(CentreOf(members_[k], model_.masses, y));
    for (const Eigen::Index i : members_[k]) {
      Eigen::Matrix<double, 3, 6> lever;
      lever << Eigen::Matrix3d::Identity(), -CrossMatrix(y.col(i) - centres[k]);
      const auto at = 6 * static_cast<Eigen::Index>(k);
      C.block<6, 6>(at, at) += model_.masses[i] * lever.transpose() * lever;
    }
  }
  for (const std::vector<size_t>& group : groups_) {
    const std::vector<size_t> samples = SamplesOf(group);
    const Eigen::Matrix3d R = MeanRotation(samples, rotations);
    const Eigen::Vector3d at_rest = MeanOf(model_, samples, model_.rest);
    const Eigen::Vector3d now = MeanOf(model_, samples, y);
    for (const size_t t : group) {
      Eigen::MatrixXd strain = Eigen::MatrixXd::Zero(9, n);
      for (size_t corner = 0; corner < 4; ++corner) {
        const Eigen::Index node = model_.tets[t][corner], k = ClusterOf(model_, node);
        if (k == kPinned) continue;
        const Eigen::Vector3d x = now + R * (model_.rest.col(node) - at_rest);
        AddNode(model_, t, corner, R, x - centres[static_cast<size_t>(k)], dt_, k, &strain);
      }
      C += reference::Product(strain.transpose(), strain);
    }
  }
  for (size_t k = 0; k < members_.size(); ++k) {
    if (members_[k].size() > 2) continue;  // fewer nodes do not turn
    const auto turn = 6 * static_cast<Eigen::Index>(k) + 3;
    C.middleRows(turn, 3).setZero();
    C.middleCols(turn, 3).setZero();
  }
  return C;
}

bool DenseCoarse::Crosses(double most) const {
  if (components_.empty()) return false;
  double fastest = 0.0;
  for (size_t k = 0; k < members_.size(); ++k) {
    const auto is_in = [&](Eigen::Index node) {  // with pinned nodes
      return model_.clusters[static_cast<size_t>(node)] == k;
    };
    double stiffness = 0.0, volume = 0.0, mass = 0.0;
    for (size_t t = 0; t < model_.tets.size(); ++t) {
      const auto corners = static_cast<double>(std::ranges::count_if(model_.tets[t], is_in));
      volume += 0.25 * corners * model_.volumes[t];
      stiffness += 0.25 * corners * model_.volumes[t] * (2.0 * model_.mu[t] + model_.lambda[t]);
    }
    for (Eigen::Index node = 0; node < model_.num_nodes(); ++node) {
      if (is_in(node)) mass += model_.masses[node];
    }
    if (!(mass > 0.0)) continue;
    const double diameter = 2.0 * std::cbrt(0.75 * volume / 3.14159265358979);
    fastest = std::max(fastest, std::sqrt(stiffness / mass) / diameter);
  }
  return fastest * dt_ > most;
}

void DenseCoarse::TurnWays(const Points& x, const Points& predicted, bool only_spins,
                           Points* u) const {
  for (const Component& component : components_) {
    if (only_spins && !Spins(component, model_.masses, x, *u)) continue;
    TurnOn(component, model_.masses, x, u);
    if (component.pins.empty()) continue;
    Points y = x + *u;
    MoveTo(component, model_.masses, x + predicted, &y);
    *u = y - x;
  }
}

void DenseCoarse::Correct(const Eigen::MatrixXd& C, const Points& inertial, const Points& elastic,
                          bool turns_as_one, Points* y) const {
  const Points rhs = inertial + elastic;
  const Points predicted = *y + inertial * model_.masses.cwiseInverse().asDiagonal();
  const size_t count = members_.size();
  std::vector<Eigen::Vector3d> centres;
  Eigen::VectorXd b = Eigen::VectorXd::Zero(6 * static_cast<Eigen::Index>(count));
  for (size_t k = 0; k < count; ++k) {
    centres.push_back(CentreOf(members_[k], model_.masses, *y));
    const auto at = 6 * static_cast<Eigen::Index>(k);
    for (const Eigen::Index i : members_[k]) {
      b.segment<3>(at) += rhs.col(i);
      b.segment<3>(at + 3) += (y->col(i) - centres[k]).cross(rhs.col(i));
    }
  }
  Eigen::VectorXd q = SolveIndependent(C, b);
  const Points before = *y;
  std::vector<MeanMotion> means;
  for (const Component& component : components_) {
    const std::vector<Eigen::Index>& nodes = component.nodes;
    if (!turns_as_one) break;
    Points u = 0.0 * before;
    for (size_t k = 0; k < count; ++k) {
      const auto at = 6 * static_cast<Eigen::Index>(k);
      for (const Eigen::Index i : members_[k]) {
        const Eigen::Vector3d turn = q.segment<3>(at + 3);
        u.col(i) = q.segment<3>(at) + turn.cross(before.col(i) - centres[k]);
      }
    }
    means.emplace_back(component, model_.masses, before, u);
    const MeanMotion& mean = means.back();
    for (size_t k = 0; k < count; ++k) {
      const auto at = 6 * static_cast<Eigen::Index>(k);
      if (members_[k].empty() || std::ranges::find(nodes, members_[k][0]) == nodes.end()) continue;
      q.segment<3>(at) -= mean.shift + mean.turn * (centres[k] - mean.centre);
      q.segment<3>(at + 3) -= Eigen::Vector3d(mean.turn(2, 1), mean.turn(0, 2), mean.turn(1, 0));
    }
  }
  for (size_t k = 0; k < count; ++k) {
    const auto at = 6 * static_cast<Eigen::Index>(k);
    const Eigen::Matrix3d R = CayleyOf(CrossMatrix(q.segment<3>(at + 3)));
    for (const Eigen::Index i : members_[k]) {
      y->col(i) = centres[k] + R * (y->col(i) - centres[k]) + q.segment<3>(at);
    }
  }
  for (size_t c = 0; c < means.size(); ++c) {
    const MeanMotion& mean = means[c];
    for (const Eigen::Index i : components_[c].nodes) {
      y->col(i) = mean.centre + mean.shift + mean.Rotation() * (y->col(i) - mean.centre);
    }
  }
  for (const Component& component : components_) MoveTo(component, model_.masses, predicted, y);
}

}  // namespace plush::test

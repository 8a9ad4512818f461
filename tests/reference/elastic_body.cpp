// SPDX-License-Identifier: MIT
// Energy and forces of corotated elasticity with a volume term.
// Source: Tassilo Kugelstadt, Dan Koschier, Jan Bender. Fast Corotated FEM using Operator
// Splitting. 2018; polar decomposition: Nicholas Higham. Computing the Polar Decomposition with
// Applications. 1986
#include "reference/elastic_body.h"

#include "plush/format/tet_block.h"

#include <algorithm>
#include <cmath>

namespace plush::reference {
namespace {

// Most of lambda / mu, as in steps without volume sweeps.
constexpr double kMostBulk = 16.0;

// [axial(A)]_i = A_kj - A_jk for even permutations (i, j, k): twice the axial vector of A's skew
// part.
Eigen::Vector3d AxialOf(const Eigen::Matrix3d& A) {
  return {A(2, 1) - A(1, 2), A(0, 2) - A(2, 0), A(1, 0) - A(0, 1)};
}

Eigen::Matrix3d SkewOf(const Eigen::Vector3d& w) {
  Eigen::Matrix3d out;
  out << 0.0, -w.z(), w.y(), w.z(), 0.0, -w.x(), -w.y(), w.x(), 0.0;
  return out;
}

Eigen::Matrix3d RotationBySvd(const Eigen::Matrix3d& F) {
  const Eigen::JacobiSVD<Eigen::Matrix3d> svd(F, Eigen::ComputeFullU | Eigen::ComputeFullV);
  Eigen::Matrix3d U = svd.matrixU();
  if (U.determinant() * svd.matrixV().determinant() < 0.0) U.col(2) = -U.col(2);
  return U * svd.matrixV().transpose();
}

// Newton's iteration for the orthogonal factor, scaled by Frobenius norms. It converges
// quadratically unless F is nearly flat; then and for det F < 0 a singular value decomposition
// does.
Eigen::Matrix3d RotationOf(const Eigen::Matrix3d& F) {
  constexpr double kNearlyFlat = 1.0e-3;
  const double size = F.norm();
  if (!(F.determinant() > kNearlyFlat * size * size * size)) return RotationBySvd(F);
  Eigen::Matrix3d X = F;
  for (int k = 0; k < 20; ++k) {
    const Eigen::Matrix3d Y = CofactorOf(X) / X.determinant();  // X^-T
    const double scale = std::sqrt(Y.norm() / X.norm());
    const Eigen::Matrix3d next = 0.5 * (scale * X + Y / scale);
    const double change = (next - X).squaredNorm();
    X = next;
    if (change < 1.0e-16) return X;  // the next change would be its square
  }
  return RotationBySvd(F);
}

// Derivative of |U - S|^2 / 2 with respect to F. With dF = R (W U + dU) and a skew W, the term that
// dU leaves out is W : (U - S) U, where W's axial vector is (tr U - U)^-1 axial(R^T dF).
Eigen::Matrix3d ViscousStress(const Polar& polar, const Eigen::Matrix3d& S) {
  const Eigen::Matrix3d difference = polar.U - S;
  const Eigen::Matrix3d turn = polar.U.trace() * Eigen::Matrix3d::Identity() - polar.U;
  const Eigen::Vector3d h = turn.ldlt().solve(AxialOf(difference * polar.U));
  return polar.R * (difference - SkewOf(h));
}

}  // namespace

Eigen::Matrix3d CofactorOf(const Eigen::Matrix3d& F) {
  Eigen::Matrix3d out;
  out << F.col(1).cross(F.col(2)), F.col(2).cross(F.col(0)), F.col(0).cross(F.col(1));
  return out;
}

Polar PolarOf(const Eigen::Matrix3d& F) {
  Polar out = {.R = RotationOf(F)};
  const Eigen::Matrix3d U = out.R.transpose() * F;
  out.U = 0.5 * (U + U.transpose());
  return out;
}

ElasticBody::ElasticBody(const Asset& asset) {
  const SimulationView& s = asset.simulation();
  rest.resize(3, static_cast<Eigen::Index>(s.nodes.size()));
  masses.resize(rest.cols());
  for (size_t i = 0; i < s.nodes.size(); ++i) {
    const Eigen::Index column = static_cast<Eigen::Index>(i);
    rest.col(column) = Eigen::Vector3d(s.nodes[i].x, s.nodes[i].y, s.nodes[i].z);
    masses[column] = double{s.masses[i]};
  }
  for (size_t t = 0; t < s.tets.size(); ++t) {
    const Tet& ids = s.tets[t];
    const Mat3 m = s.DmInv(t);
    Eigen::Matrix3d dm_inv;
    dm_inv << m.c0.x, m.c1.x, m.c2.x, m.c0.y, m.c1.y, m.c2.y, m.c0.z, m.c1.z, m.c2.z;
    ElasticTet tet;
    tet.nodes = {ids.a, ids.b, ids.c, ids.d};
    tet.gradients.bottomRows<3>() = dm_inv;
    tet.gradients.row(0) = -dm_inv.colwise().sum();
    tet.stiffness = double{s.BlockOf(t).stiffness[s.LaneOf(t)]};
    tet.bulk = std::min(double{s.BlockOf(t).bulk[s.LaneOf(t)]}, kMostBulk * 0.5 * tet.stiffness);
    tets.push_back(tet);
  }
}

double ElasticTet::PressureAt(double change) const {
  return std::clamp(bulk * change, -4.0 * stiffness, 0.5 * stiffness);
}

double EnergyOf(const ElasticBody& body, const Viscosity& viscosity, const Points& x,
                Points* gradient, std::vector<TetState>* states) {
  gradient->setZero(3, x.cols());
  if (states != nullptr) states->resize(body.tets.size());
  double energy = 0.0;
  for (size_t t = 0; t < body.tets.size(); ++t) {
    const ElasticTet& tet = body.tets[t];
    const Eigen::Matrix3d F = GradientOf(tet, x);
    const Polar polar = PolarOf(F);
    const Eigen::Matrix3d cofactor = CofactorOf(F);
    const double change = F.determinant() - 1.0;
    const double pressure = tet.PressureAt(change);
    Eigen::Matrix3d P = tet.stiffness * (F - polar.R) + pressure * cofactor;
    energy += 0.5 * tet.stiffness * (F - polar.R).squaredNorm();
    if (tet.bulk > 0.0) energy += pressure * change - 0.5 * pressure * pressure / tet.bulk;
    if (viscosity.rate > 0.0) {
      const Eigen::Matrix3d& S = viscosity.stretches[t];
      P += viscosity.rate * tet.stiffness * ViscousStress(polar, S);
      energy += 0.5 * viscosity.rate * tet.stiffness * (polar.U - S).squaredNorm();
    }
    const Eigen::Matrix<double, 3, 4> by_node = P * tet.gradients.transpose();
    for (int k = 0; k < 4; ++k) gradient->col(tet.nodes[static_cast<size_t>(k)]) += by_node.col(k);
    if (states != nullptr) {
      (*states)[t] = {polar.R, cofactor, change == 0.0 ? tet.bulk : pressure / change};
    }
  }
  return energy;
}

std::vector<Eigen::Matrix3d> StretchesOf(const ElasticBody& body, const Points& x) {
  std::vector<Eigen::Matrix3d> out;
  out.reserve(body.tets.size());
  for (const ElasticTet& tet : body.tets) out.push_back(PolarOf(GradientOf(tet, x)).U);
  return out;
}

}  // namespace plush::reference

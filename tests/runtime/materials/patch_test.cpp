// SPDX-License-Identifier: MIT
// Meshes of the materials in double precision, at equilibrium: the patch test, and Young's modulus
// and Poisson's ratio of a stretched bar.
#include "materials/material.h"
#include "materials/rotation_method.h"
#include "reference/dense_algebra.h"
#include "runtime/materials/material_fixtures.h"
#include "shapes/tet_shapes.h"

#include <Eigen/Dense>
#include <catch2/catch.hpp>

#include <array>
#include <cmath>
#include <vector>

using namespace plush;
using namespace plush::test;

namespace patch_test {

constexpr Material kAll[] = {Material::kLinear, Material::kCorotated, Material::kCorrectedCorotated,
                             Material::kStVenantKirchhoff, Material::kNeoHookean};
constexpr double kYoung = 2.0e5, kPoisson = 0.37;

// Tets whose numbers at nodes (3 each) are known if `is_given`, and otherwise balance forces.
struct Patch {
  Patch(const tools::TetMesh& mesh, Material of)
      : material(of), rest(3, static_cast<Eigen::Index>(mesh.nodes.size())), tets(mesh.tets) {
    for (size_t i = 0; i < mesh.nodes.size(); ++i) {
      rest.col(static_cast<Eigen::Index>(i)) << mesh.nodes[i].x, mesh.nodes[i].y, mesh.nodes[i].z;
    }
    x = rest;
    is_given.assign(3 * mesh.nodes.size(), false);
  }

  Eigen::Matrix3d EdgesOf(const Eigen::Matrix3Xd& nodes, size_t t) const {
    const auto column = [&](uint32_t node) {
      return Eigen::Vector3d(nodes.col(static_cast<Eigen::Index>(node)));
    };
    const std::array<uint32_t, 4>& tet = tets[t];
    Eigen::Matrix3d edges;
    edges << column(tet[1]) - column(tet[0]), column(tet[2]) - column(tet[0]),
        column(tet[3]) - column(tet[0]);
    return edges;
  }

  // The negative forces (3n x 1), and their derivative (3n x 3n) unless null.
  Eigen::VectorXd Gradient(Eigen::MatrixXd* stiffness) const {
    const LameConstants<double> lame = LameOf(kYoung, kPoisson);
    Eigen::VectorXd out = Eigen::VectorXd::Zero(x.size());
    if (stiffness != nullptr) stiffness->setZero(x.size(), x.size());
    for (size_t t = 0; t < tets.size(); ++t) {
      const Eigen::Matrix3d dm = EdgesOf(rest, t), inverse = dm.inverse();
      const double volume = std::fabs(dm.determinant()) / 6.0;
      const Matrix F = FromEigen(Eigen::Matrix3d(EdgesOf(x, t) * inverse)), R = PolarRotation(F);
      Eigen::Matrix<double, 3, 4> weights;  // gradients of the nodes' shape functions
      weights.rightCols<3>() = inverse.transpose();
      weights.col(0) = -weights.rightCols<3>().rowwise().sum();
      const std::array<uint32_t, 4>& nodes = tets[t];
      const Eigen::Matrix3d P = ToEigen(Stress(material, lame, F, R));
      for (int k = 0; k < 4; ++k) {
        out.segment<3>(3 * static_cast<Eigen::Index>(nodes[static_cast<size_t>(k)])) +=
            volume * (P * weights.col(k));
        for (int axis = 0; axis < 3 && stiffness != nullptr; ++axis) {
          const Eigen::Matrix3d change = Eigen::Vector3d::Unit(axis) * weights.col(k).transpose();
          const Matrix dF = FromEigen(change);
          const Eigen::Matrix3d dP = ToEigen(ExactStressDifferential(
              material, lame, F, R, dF, PolarRotationDifferential(F, R, dF)));
          for (int row = 0; row < 4; ++row) {
            stiffness->block<3, 1>(3 * static_cast<Eigen::Index>(nodes[static_cast<size_t>(row)]),
                                   3 * static_cast<Eigen::Index>(nodes[static_cast<size_t>(k)]) +
                                       axis) += volume * (dP * weights.col(row));
          }
        }
      }
    }
    return out;
  }

  // Newton's method for the numbers that are not given.
  void Solve() {
    std::vector<Eigen::Index> free;
    for (size_t i = 0; i < is_given.size(); ++i) {
      if (!is_given[i]) free.push_back(static_cast<Eigen::Index>(i));
    }
    for (int i = 0; i < 50; ++i) {
      Eigen::MatrixXd stiffness;
      const Eigen::VectorXd gradient = Gradient(&stiffness);
      const Eigen::VectorXd step = reference::SolveSymmetric(stiffness(free, free), gradient(free));
      for (size_t k = 0; k < free.size(); ++k) {
        x(free[k] % 3, free[k] / 3) -= step[static_cast<Eigen::Index>(k)];
      }
      if (step.cwiseAbs().maxCoeff() < 1e-14) return;
    }
  }

  Material material;
  Eigen::Matrix3Xd rest, x;
  std::vector<std::array<uint32_t, 4>> tets;
  std::vector<bool> is_given;  // by node and axis
};

// A bar of length 0.4 whose ends are `strain` further apart, free at its sides. Returns its stress
// [Pa], and the mean strain across in `across`.
double Stretch(Material material, double strain, double* across) {
  Patch bar(TetBox(4, 2, 2, 0.1, 0.0), material);
  const double length = bar.rest.row(0).maxCoeff(), width = bar.rest.row(1).maxCoeff();
  size_t corner = 0, other = 0;
  for (Eigen::Index i = 0; i < bar.rest.cols(); ++i) {
    const auto node = static_cast<size_t>(i);
    const Eigen::Vector3d at = bar.rest.col(i);
    if (at.x() < 1e-9 || at.x() > length - 1e-9) bar.is_given[3 * node] = true;
    if (at.x() > length - 1e-9) bar.x(0, i) = length * (1.0 + strain);
    if (at.norm() < 1e-9) corner = node;
    if ((at - Eigen::Vector3d(0.0, width, 0.0)).norm() < 1e-9) other = node;
  }
  bar.is_given[3 * corner + 1] = bar.is_given[3 * corner + 2] = true;
  bar.is_given[3 * other + 2] = true;
  bar.Solve();
  const Eigen::VectorXd gradient = bar.Gradient(nullptr);
  double force = 0.0;
  for (Eigen::Index i = 0; i < bar.rest.cols(); ++i) {
    if (bar.rest(0, i) > length - 1e-9) force += gradient[3 * i];
  }
  *across = (bar.x.row(1).maxCoeff() - bar.x.row(1).minCoeff()) / width - 1.0;
  return force / (width * width);
}

TEST_CASE("Patch test: a homogeneous deformation of the border is that of the inside") {
  const Material material = GENERATE(from_range(std::begin(kAll), std::end(kAll)));
  const uint32_t seed = GENERATE(1u, 2u, 3u);
  Random random(seed);
  Patch patch(TetBox(3, 3, 3, 0.1, 0.2, seed), material);
  Eigen::Matrix3d F = Eigen::Matrix3d::Identity();
  for (int k = 0; k < 9; ++k) F(k / 3, k % 3) += random.Uniform(-0.15, 0.15);
  if (material != Material::kLinear) F = random.Rotation() * F;
  std::vector<Eigen::Index> inside;
  for (Eigen::Index i = 0; i < patch.rest.cols(); ++i) {
    const Eigen::Vector3d at = patch.rest.col(i);
    const bool is_inside = at.minCoeff() > 0.05 && at.maxCoeff() < 0.25;
    if (is_inside) inside.push_back(i);
    for (size_t axis = 0; axis < 3; ++axis) {
      patch.is_given[3 * static_cast<size_t>(i) + axis] = !is_inside;
    }
    patch.x.col(i) =
        F * at + (is_inside ? Eigen::Vector3d(random.Vector(0.005)) : Eigen::Vector3d::Zero());
  }
  patch.Solve();
  CAPTURE(static_cast<int>(material), seed);
  REQUIRE(inside.size() == 8);
  for (const Eigen::Index i : inside) {
    CHECK((patch.x.col(i) - F * patch.rest.col(i)).norm() < 1e-9 * 0.3);
  }
}

TEST_CASE("A stretched bar gives Young's modulus and Poisson's ratio back") {
  for (const Material material : kAll) {
    const bool is_linear = material == Material::kLinear || material == Material::kCorotated;
    const double strain = is_linear ? 0.01 : 1.0e-6;
    double wider = 0.0, thinner = 0.0;
    const double pull = Stretch(material, strain, &thinner);
    const double push = Stretch(material, -strain, &wider);
    CAPTURE(static_cast<int>(material));
    CHECK((pull - push) / (2.0 * strain) == Approx(kYoung).epsilon(1e-6));
    CHECK((wider - thinner) / (2.0 * strain) == Approx(kPoisson).epsilon(1e-6));
    if (is_linear) CHECK(pull / strain == Approx(kYoung).epsilon(1e-9));
  }
}

}  // namespace patch_test

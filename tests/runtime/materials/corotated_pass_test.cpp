// SPDX-License-Identifier: MIT
// The vector kernels against the scalar functions in double precision.
#include "materials/corotated_pass.h"

#include "elasticity/element_pass.h"
#include "materials/polar_rotation.h"
#include "runtime/materials/material_fixtures.h"
#include "runtime/simd_targets.h"

#include <catch2/catch.hpp>

#include <cmath>
#include <vector>

using namespace plush;
using namespace plush::test;

namespace {

constexpr Material kMaterials[] = {Material::kCorotated, Material::kCorrectedCorotated};
constexpr DifferentialKind kKinds[] = {DifferentialKind::kExact, DifferentialKind::kTruncated,
                                       DifferentialKind::kWarped, DifferentialKind::kHybrid};

// A box of tets that share nodes, deformed at random, and a field of displacements.
struct Scene {
  explicit Scene(uint32_t seed)
      : asset(TetBox(3, 2, 2, 0.2, 0.03, seed), {.young = 2e5, .poisson = 0.35}),
        rotations(asset.num_blocks()) {
    Random random(seed);
    const Eigen::Matrix3d turn =
        random.Rotation() * (Eigen::Matrix3d::Identity() + random.Matrix(0.2));
    for (const Vec3& rest : asset.rest()) {
      x.push_back(NodeVec(ToVec3(turn * ToEigen(rest) + random.Vector(0.03)), 0.0f));
      dx.push_back(NodeVec(ToVec3(random.Vector(1.0)), 0.0f));
    }
    x.emplace_back();
    dx.emplace_back();
    // From far away: the rotations converge whatever they begin with.
    FindRotations(asset.elements(), x, 64, 0, asset.num_blocks(), rotations.view());
  }

  Matrix GradientOf(size_t t, const std::vector<NodeVec>& v) const {
    const ElementView elements = asset.elements();
    const Tet& tet = elements.tets[t];
    const auto at = [&](uint32_t n) { return Vector3<double>{v[n].x, v[n].y, v[n].z}; };
    return Matrix{at(tet.b) - at(tet.a), at(tet.c) - at(tet.a), at(tet.d) - at(tet.a)} * DmInv(t);
  }
  Matrix DmInv(size_t t) const {
    const Mat3 m = asset.elements().DmInv(t);
    return FromEigen(ToEigen(m));
  }
  LameConstants<double> Lame(size_t t) const {
    const ElementView elements = asset.elements();
    return {elements.Stiffness(t) / (2.0 * elements.Volume(t)),
            elements.Bulk(t) / elements.Volume(t)};
  }

  // The nodes' sum of -V stress_of(tet) Dm^-T.
  template <class StressOf>
  Points Sum(const StressOf& stress_of) const {
    const ElementView elements = asset.elements();
    Points forces = Points::Zero(3, Eigen::Index(asset.num_nodes()));
    for (size_t t = 0; t < elements.tets.size(); ++t) {
      const Matrix G = stress_of(t) * Transpose(DmInv(t)) * elements.Volume(t);
      const Tet& tet = elements.tets[t];
      forces.col(tet.b) -= ToEigen(G.c0);
      forces.col(tet.c) -= ToEigen(G.c1);
      forces.col(tet.d) -= ToEigen(G.c2);
      forces.col(tet.a) += ToEigen(G.c0 + G.c1 + G.c2);
    }
    return forces;
  }

  ShapeAsset asset;
  std::vector<NodeVec> x, dx;
  RotationArray rotations;
};

double RelativeError(const std::vector<NodeVec>& found, const Points& expected) {
  return (ToEigen(found) - expected).norm() / expected.norm();
}

}  // namespace

TEST_CASE("Forces of all tets at once are those of the scalar stress") {
  const uint32_t seed = GENERATE(1u, 2u, 3u);
  Scene scene(seed);
  const size_t num_blocks = scene.asset.num_blocks();
  for (const Material material : kMaterials) {
    const Points expected = scene.Sum([&](size_t t) {
      const Matrix F = scene.GradientOf(t, scene.x);
      return Stress(material, scene.Lame(t), F, InvertibleRotation(F));
    });
    for (const int64_t target : SimdTargets()) {
      const SimdTargetScope scope(target);
      std::vector<NodeVec> forces(scene.x.size());
      // In two parts.
      const size_t middle = num_blocks / 2;
      AddCorotatedForces(material, scene.asset.elements(), scene.x, 0, middle,
                         scene.rotations.view(), forces);
      AddCorotatedForces(material, scene.asset.elements(), scene.x, middle, num_blocks,
                         scene.rotations.view(), forces);
      CAPTURE(seed, int(material), NameOf(target), RelativeError(forces, expected));
      CHECK(RelativeError(forces, expected) < 2e-6);
    }
  }
}

TEST_CASE("Force differentials of all tets at once are those of the scalar ones") {
  const uint32_t seed = GENERATE(4u, 5u, 6u);
  Scene scene(seed);
  for (const Material material : kMaterials) {
    for (const DifferentialKind kind : kKinds) {
      const Points expected = scene.Sum([&](size_t t) {
        const Matrix F = scene.GradientOf(t, scene.x), dF = scene.GradientOf(t, scene.dx);
        const Matrix R = InvertibleRotation(F);
        return DifferentialOfStress(kind, material, scene.Lame(t), F, R, dF,
                                    PolarRotationDifferential(F, R, dF));
      });
      for (const int64_t target : SimdTargets()) {
        const SimdTargetScope scope(target);
        std::vector<NodeVec> forces(scene.x.size());
        AddCorotatedDifferentials(kind, material, scene.asset.elements(), scene.x, scene.dx, 0,
                                  scene.asset.num_blocks(), scene.rotations.view(), forces);
        CAPTURE(seed, int(material), int(kind), NameOf(target), RelativeError(forces, expected));
        CHECK(RelativeError(forces, expected) < 2e-6);
      }
    }
  }
}

TEST_CASE("Tets whose rotation is not unique have finite differentials") {
  Scene scene(7);
  for (auto& node : scene.x) node = NodeVec(Vec3{}, 0.0f);  // F = 0
  for (const DifferentialKind kind : kKinds) {
    for (const int64_t target : SimdTargets()) {
      const SimdTargetScope scope(target);
      std::vector<NodeVec> forces(scene.x.size());
      AddCorotatedDifferentials(kind, Material::kCorrectedCorotated, scene.asset.elements(),
                                scene.x, scene.dx, 0, scene.asset.num_blocks(),
                                scene.rotations.view(), forces);
      CAPTURE(int(kind), NameOf(target));
      CHECK(ToEigen(forces).allFinite());
    }
  }
}

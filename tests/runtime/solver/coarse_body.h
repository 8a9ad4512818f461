// SPDX-License-Identifier: MIT
// A body of the tests with its coarse level, and dense matrices of it.
#pragma once

#include "plush/allocator.h"

#include "elasticity/element_pass.h"
#include "reference/dense_algebra.h"
#include "runtime/dense_coarse.h"
#include "runtime/solver_fixtures.h"
#include "solver/coarse_level.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

namespace plush::test {

inline constexpr float kCoarseDt = 0.01f;

/// A body with its coarse level.
struct CoarseBody {
  // Clusters as a bake makes them.
  CoarseBody(const tools::TetMesh& mesh, uint32_t count, float damping = 0.0f, double young = 2.0e5,
             double density = 1000.0)
      : shape(mesh, {young, 0.4, density}, double(kCoarseDt), count),
        model(shape.asset()),
        pinned(shape.num_nodes(), 0),
        system(SystemOf(shape, kCoarseDt)),
        rest(shape.rest()) {
    model.damping = double{damping};
    system.elements.damping = damping;
  }

  static CoarseBody Random(uint32_t seed, uint32_t count, double pin_share, float damping = 0.0f) {
    CoarseBody body(TetBox(3 + seed % 2, 2, 2, 0.1, 0.09, seed), count, damping);
    test::Random random(seed);
    body.Pin(random.Nodes(body.shape.num_nodes(), pin_share));
    body.Build();
    return body;
  }

  void Pin(const std::vector<uint32_t>& nodes) {
    for (const uint32_t node : nodes) {
      pinned[node] = 1;
      model.pinned[node] = true;
    }
  }

  void Build() {
    system.pinned = pinned;
    const std::vector<uint16_t> clusters(model.clusters.begin(), model.clusters.end());
    REQUIRE(level.Build(DefaultAllocator(), system, rest, clusters,
                        static_cast<uint32_t>(model.num_clusters)));
    if (level.num_clusters() == 0) return;
    model = CutByPins(model);
    REQUIRE(level.num_clusters() == model.num_clusters);
    REQUIRE(std::equal(model.clusters.begin(), model.clusters.end(), level.clusters.begin()));
    REQUIRE(matrix.Allocate(DefaultAllocator(), level.pattern));
  }

  bool has_pins() const { return std::find(pinned.begin(), pinned.end(), 1) != pinned.end(); }

  // Nodes that the forces of blocks with resisting tets act on.
  std::vector<bool> Borders() const {
    std::vector<bool> out(shape.num_nodes(), false);
    for (size_t k = 0; k < level.num_clusters(); ++k) {
      for (uint32_t i = level.first_member[k]; i < level.first_inner[k]; ++i) {
        out[level.members[i]] = true;
      }
    }
    return out;
  }

  // Random forces as `Impulses`, on those nodes.
  Points Forces(double size, test::Random* random) const {
    Points out = Impulses(size, random);
    const std::vector<bool> borders = Borders();
    for (size_t i = 0; i < borders.size(); ++i) {
      if (!borders[i]) out.col(static_cast<Eigen::Index>(i)).setZero();
    }
    return out;
  }

  // Positions with their inverse masses.
  std::vector<NodeVec> Nodes(const Points& x) const {
    std::vector<NodeVec> out = ToNodeVecs(x);
    for (size_t i = 0; i < shape.num_nodes(); ++i) {
      out[i].w = pinned[i] != 0 ? 0.0f : 1.0f / system.masses[i];
    }
    return out;
  }

  // Random impulses that would move free nodes by about `size`; pinned nodes have none.
  Points Impulses(double size, test::Random* random) const {
    Points out = random->Vectors(shape.num_nodes(), size) * model.masses.asDiagonal();
    for (size_t i = 0; i < pinned.size(); ++i) {
      if (pinned[i] != 0) out.col(static_cast<Eigen::Index>(i)).setZero();
    }
    return out;
  }

  // Motions of a right-hand side of two parts, as a step finds them.
  std::vector<RigidMotion> Motions(const std::vector<NodeVec>& y,
                                   const std::vector<NodeVec>& inertial,
                                   const std::vector<NodeVec>& forces,
                                   RotationArray* rotations) const {
    std::vector<RigidMotion> motions(level.num_clusters());
    std::vector<ClusterSums> sums = Factor(y, inertial, rotations);
    level.AddForces(y, forces, false, sums);
    level.Solve(matrix, sums, {}, motions);
    const std::vector<Hinge> hinges = Hinges(y);
    for (size_t c = 0; c < hinges.size(); ++c) level.KeepMomenta(c, hinges[c], sums, {}, motions);
    return motions;
  }

  std::vector<Hinge> Hinges(const std::vector<NodeVec>& y) const {
    std::vector<Hinge> hinges(level.num_components());
    level.FindHinges({&y[0].x, 4, 1}, hinges);
    return hinges;
  }

  // Makes the matrix at `y`. Returns the sums of `rhs`.
  std::vector<ClusterSums> Factor(const std::vector<NodeVec>& y, const std::vector<NodeVec>& rhs,
                                  RotationArray* rotations) const {
    std::vector<ClusterSums> sums(level.num_clusters());
    level.Sum(y, rhs, sums);
    matrix.Make(level.pattern, system.dt * (system.dt + system.elements.damping),
                level.masses.span(), level.turns.span(), {&y[0].x, 4, 1}, rotations->view(), sums);
    return sums;
  }

  // C^-1 of motions about the clusters' centres, by solves.
  Eigen::MatrixXd Inverse(const Points& x, RotationArray* rotations) const {
    const size_t count = level.num_clusters();
    const auto n = static_cast<Eigen::Index>(6 * count);
    Factor(Nodes(x), std::vector<NodeVec>(shape.num_nodes() + 1), rotations);
    Eigen::MatrixXd out(n, n);
    for (size_t j = 0; j < 6 * count; ++j) {
      std::vector<double> q(8 * count, 0.0);
      q[8 * (j / 6) + j % 6] = 1.0;
      matrix.Solve(level.pattern, q);
      for (size_t i = 0; i < 6 * count; ++i) {
        out(static_cast<Eigen::Index>(i), static_cast<Eigen::Index>(j)) = q[8 * (i / 6) + i % 6];
      }
    }
    return out;
  }

  // The same, by the answers of all clusters to impulses on each, after Inverse.
  Eigen::MatrixXd Responses() const {
    const size_t count = level.num_clusters();
    const auto n = static_cast<Eigen::Index>(6 * count);
    std::vector<double> scratch(48 * count);
    std::vector<float> columns(36 * count * count);
    const std::span<float> all(columns);
    for (size_t k = 0; k < count; ++k) {
      matrix.Respond(level.pattern, k, scratch, all.subspan(36 * count * k, 36 * count));
    }
    return Eigen::Map<const Eigen::MatrixXf>(columns.data(), n, n).cast<double>();
  }

  // Where the clusters' correction moves nodes at `x`.
  Points Corrected(const Points& x, const Points& inertial, const Points& forces,
                   RotationArray* rotations) const {
    std::vector<NodeVec> y = Nodes(x);
    level.Move(Motions(y, ToNodeVecs(inertial), ToNodeVecs(forces), rotations), y);
    return ToEigen(y);
  }
  Points Corrected(const Points& x, const Points& inertial, RotationArray* rotations) const {
    return Corrected(x, inertial, 0.0 * inertial, rotations);
  }

  RotationArray RotationsAt(const Points& x) const {
    RotationArray rotations(shape.num_blocks());
    MatchRotations(system.elements, ToVec3s(x), rotations.view());
    return rotations;
  }

  double size() const {
    return (model.rest.rowwise().maxCoeff() - model.rest.rowwise().minCoeff()).norm();
  }

  ShapeAsset shape;
  DenseModel model;
  std::vector<uint8_t> pinned;
  SystemView system;
  std::vector<Vec3> rest;
  CoarseLevel level;
  mutable CoarseMatrix matrix;  // scratch memory
};

/// By tet, in double precision.
inline std::vector<Eigen::Matrix3d> Matrices(const CoarseBody& body, RotationArray* rotations) {
  std::vector<Eigen::Matrix3d> out;
  for (const uint32_t slot : body.system.elements.slots) {
    out.push_back(RotationOf(rotations->Get(slot)));
  }
  return out;
}

/// Bends and twists a body of about 0.4 x 0.2 x 0.2 m.
inline Points Bent(const Points& x, double curvature) {
  Points out = x;
  for (Eigen::Index i = 0; i < x.cols(); ++i) {
    const double angle = curvature * x(0, i), radius = 1.0 / curvature - (x(1, i) - 0.1);
    out.col(i) = Eigen::AngleAxisd(angle, Eigen::Vector3d::UnitX()) *
                 Eigen::Vector3d(radius * std::sin(angle),
                                 1.0 / curvature - radius * std::cos(angle), x(2, i) - 0.1);
  }
  return out;
}

inline double Apart(const Points& a, const Points& b) {
  return (a - b).colwise().norm().maxCoeff();
}

/// C, dense.
inline Eigen::MatrixXd Projected(const CoarseBody& body) {
  const Eigen::MatrixXd Z = ClusterMotions(body.model);
  return reference::Congruent(Z.transpose(), MaterialAtRest(body.model, double{kCoarseDt}));
}

}  // namespace plush::test

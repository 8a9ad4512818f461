// SPDX-License-Identifier: MIT
// Random contact problems of bodies of clusters, and their dense matrices in double precision.
#pragma once

#include "contact/coarse_contacts.h"
#include "reference/dense_algebra.h"
#include "runtime/solver/coarse_body.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

namespace plush::test {

// A bent body with its coarse level, and its dense matrices.
struct DenseClusters {
  DenseClusters(uint32_t seed, double young, double density = 1000.0)
      : random(seed),
        body(BodyOf(seed, young, density, &random)),
        rotations(body.shape.num_blocks()) {
    const Points bent = Bent(body.model.rest, random.Uniform(0.1, 2.0));
    x = bent + random.Vectors(body.shape.num_nodes(), 0.002);
    nodes = body.Nodes(x);
    rotations = body.RotationsAt(x);
    DenseModel here = body.model;
    here.rest = x;  // for motions about the clusters' present centres
    Z = ClusterMotions(here);
    inverse = InverseOfIndependent(
        DenseCoarse(body.model, double{kCoarseDt}).Matrix(Matrices(body, &rotations), x));
    answers = reference::Congruent(Z, inverse);
    REQUIRE(responses.Allocate(DefaultAllocator(), body.level.num_clusters()));
  }

  static CoarseBody BodyOf(uint32_t seed, double young, double density, Random* random) {
    const float damping = random->Below(3) == 0 ? 0.02f : 0.0f;
    CoarseBody made(TetBox(3 + seed % 2, 2, 2, 0.1, 0.09, seed % 50), 2 + random->Below(4), damping,
                    young, density);
    if (random->Below(2) == 0) {
      made.Pin(random->Nodes(made.shape.num_nodes(), random->Uniform(0.0, 0.1)));
    }
    made.Build();
    return made;
  }

  // Sums of a right-hand side, and the matrix.
  std::vector<ClusterSums> Sums(const std::vector<NodeVec>& rhs) {
    responses.Forget();
    return body.Factor(nodes, rhs, &rotations);
  }

  // J: weights of the points on the free nodes.
  Eigen::MatrixXd JacobianOf(const std::vector<EmbeddedPoint>& of) const {
    Eigen::MatrixXd J =
        Eigen::MatrixXd::Zero(3 * static_cast<Eigen::Index>(of.size()), answers.rows());
    for (Eigen::Index row = 0; row < J.rows(); ++row) {
      const EmbeddedPoint& point = of[static_cast<size_t>(row / 3)];
      for (int k = 0; k < 4; ++k) J(row, 3 * point.nodes[k] + row % 3) += double(point.Free(k));
    }
    return J;
  }
  // J Z C^-1 Z^T J^T.
  Eigen::MatrixXd CouplingsOf(const std::vector<EmbeddedPoint>& of) const {
    return reference::Congruent(JacobianOf(of), answers);
  }
  // Displacements of the nodes that a right-hand side causes.
  Points Displacements(const Points& rhs) const {
    return reference::Product(answers, rhs.reshaped()).reshaped(3, rhs.cols());
  }

  // The sums that motions follow from are those of the right-hand side and the impulses, of which
  // each is at most `most` [kg m].
  void CheckSums(const Points& total, double most, const std::vector<ClusterSums>& sums) const {
    const Eigen::VectorXd b = reference::Product(Z.transpose(), total.reshaped());
    for (size_t k = 0; k < sums.size(); ++k) {
      const auto at = 6 * static_cast<Eigen::Index>(k);
      CHECK((ToEigen(sums[k].impulse) - b.segment<3>(at)).norm() < 1e-5 * (b.norm() + most));
      CHECK((ToEigen(sums[k].moment) - b.segment<3>(at + 3)).norm() < 1e-5 * (b.norm() + most));
    }
  }

  // A point in a random tet, or a node.
  EmbeddedPoint RandomPoint() {
    const auto& tets = body.model.tets;
    const auto& tet = tets[random.Below(static_cast<uint32_t>(tets.size()))];
    EmbeddedPoint point;
    double w[4], sum = 0.0;
    for (double& weight : w) sum += weight = random.Below(4) == 0 ? 0.0 : random.Uniform(0.0, 1.0);
    for (size_t k = 0; k < 4; ++k) {
      point.nodes[k] = static_cast<uint32_t>(tet[k]);
      point.weights[k] = sum > 0.0 ? static_cast<float>(w[k] / sum) : (k == 0 ? 1.0f : 0.0f);
      if (body.pinned[point.nodes[k]] != 0) point.pinned |= static_cast<uint8_t>(1u << k);
    }
    return point;
  }
  CoarsePoint Place(const EmbeddedPoint& point, TouchedClusters* touched) const {
    Vec3 at[4];
    for (int k = 0; k < 4; ++k) at[k] = nodes[point.nodes[k]];
    return touched->Place(point, body.level.clusters.span(), at);
  }

  Random random;
  CoarseBody body;
  RotationArray rotations;
  Points x;
  std::vector<NodeVec> nodes;           // at x
  Eigen::MatrixXd Z, inverse, answers;  // the last: Z C^-1 Z^T
  CoarseResponses responses;
};

// A body of clusters that a right-hand side presses onto random planes with its nodes.
struct CoarseProblem : DenseClusters {
  CoarseProblem(uint32_t seed, double young, uint32_t num_planes, double most_friction,
                double density = 1000.0)
      : DenseClusters(seed, young, density) {
    const size_t n = body.shape.num_nodes();
    const Eigen::Vector3d fall = random.Direction() * 3.0e-3, turn = random.Direction() * 0.02;
    rhs = random.Vectors(n, 1.0e-3);
    for (Eigen::Index i = 0; i < rhs.cols(); ++i) {
      rhs.col(i) += fall + turn.cross(x.col(i));
      rhs.col(i) *= body.pinned[static_cast<size_t>(i)] != 0 ? 0.0 : body.model.masses[i];
    }
    start = ToNodeVecs(x - random.Vectors(n, 0.004));
    std::vector<NodeVec> with_spare = nodes;
    with_spare.resize(n + 1);
    nodes = with_spare;
    for (uint32_t p = 0; p < num_planes; ++p) AddPlane(random.Uniform(0.0, most_friction));
    REQUIRE(state.Reserve(DefaultAllocator(), 0, static_cast<uint32_t>(n), true, num_planes));
    d.resize(n + 1);
  }

  // One that the lowest nodes are below.
  void AddPlane(double friction) {
    const Eigen::Vector3d normal = random.Direction();
    std::vector<double> heights;
    for (Eigen::Index i = 0; i < x.cols(); ++i) heights.push_back(normal.dot(x.col(i)));
    std::sort(heights.begin(), heights.end());
    LocalCollider plane;
    plane.normal = plane.start_normal = ToVec3(normal);
    plane.offset = static_cast<float>(heights[random.Below(5)] + random.Uniform(-1e-3, 1e-3));
    plane.start_offset = plane.offset;
    plane.coefficients.friction = static_cast<float>(friction);
    plane.shift = ToVec3(random.Vector(1.0e-3));
    plane.slot = static_cast<uint32_t>(planes.size());
    planes.push_back(plane);
  }

  // Its part in a solve, from the impulses of the last one.
  CoarseContacts Part() {
    sums = Sums(ToNodeVecs(rhs));
    AddContactImpulses(state, body.level.clusters.span(), nodes, sums);
    return {.coarse = &body.level,
            .matrix = &body.matrix,
            .clusters = body.level.clusters.span(),
            .problem = {.colliders = planes,
                        .surface = {&no_surface, body.pinned},
                        .x = std::span<const NodeVec>(start).first(nodes.size() - 1),
                        .y = nodes,
                        .tolerance = 1.0e-7f,
                        .slop = slop,
                        .rise = slop,
                        .reach = 0.05f},
            .state = &state,
            .sums = sums,
            .responses = &responses,
            .d = d};
  }
  void Solve() {
    CoarseContacts part = Part();
    SolveCoarseContacts(&part);
  }

  // The right-hand side and the impulses.
  Points Total() const {
    Points total = rhs;
    for (const PlaneContact& contact : state.Current()) {
      const EmbeddedPoint& point = state.PointOf(contact);
      for (int k = 0; k < 4; ++k) {
        total.col(point.nodes[k]) += double(point.Free(k)) * ToEigen(contact.impulse);
      }
    }
    return total;
  }
  // From where the node may be, which is no deeper than it began.
  double GapOf(const LocalCollider& plane, Eigen::Index node, const Points& moved) const {
    const double began = double(StartGap(plane, start[static_cast<size_t>(node)])) + double(slop);
    return ToEigen(plane.normal).dot(x.col(node) + moved.col(node)) - double(plane.offset) +
           std::max(-began, 0.0);
  }

  float slop = 1.0e-6f;
  Points rhs;
  std::vector<NodeVec> start, d;
  std::vector<LocalCollider> planes;
  std::vector<ClusterSums> sums;
  CollisionView no_surface;
  ContactState state;
};

}  // namespace plush::test

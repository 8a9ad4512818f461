// SPDX-License-Identifier: MIT
// Contacts of clusters against dense matrices in double precision: how points answer impulses, and
// the impulses of coarse solves.
#include "contact/coarse_contacts.h"

#include "runtime/solver/coarse_body.h"
#include "skip.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <span>
#include <vector>

using namespace plush;
using namespace plush::test;

namespace {

using Matrix3n = Eigen::Matrix<double, 3, Eigen::Dynamic>;

// A bent body with its coarse level, and its dense matrices.
struct DenseClusters {
  DenseClusters(uint32_t seed, double young)
      : random(seed), body(BodyOf(seed, young, &random)), rotations(body.shape.num_blocks()) {
    const Points bent = Bent(body.model.rest, random.Uniform(0.1, 2.0));
    x = bent + random.Vectors(body.shape.num_nodes(), 0.002);
    nodes = body.Nodes(x);
    rotations = body.RotationsAt(x);
    DenseModel here = body.model;
    here.rest = x;  // for motions about the clusters' present centres
    Z = ClusterMotions(here);
    const Eigen::MatrixXd C =
        DenseCoarse(body.model, double{kCoarseDt}).Matrix(Matrices(body, &rotations), x);
    inverse.resize(C.rows(), C.cols());
    for (Eigen::Index k = 0; k < C.rows(); ++k) {
      inverse.col(k) = SolveIndependent(C, Eigen::VectorXd::Unit(C.rows(), k));
    }
    REQUIRE(responses.Allocate(DefaultAllocator(), body.level.num_clusters()));
  }

  static CoarseBody BodyOf(uint32_t seed, double young, Random* random) {
    const float damping = random->Below(3) == 0 ? 0.02f : 0.0f;
    CoarseBody made(TetBox(3 + seed % 2, 2, 2, 0.1, 0.09, seed % 50), 2 + random->Below(4), damping,
                    young);
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

  // J: weights of a point on the free nodes.
  Matrix3n JacobianOf(const EmbeddedPoint& point) const {
    Matrix3n J = Matrix3n::Zero(3, 3 * static_cast<Eigen::Index>(body.shape.num_nodes()));
    for (int k = 0; k < 4; ++k) {
      const auto at = 3 * static_cast<Eigen::Index>(point.nodes[k]);
      J.block<3, 3>(0, at) += double(point.Free(k)) * Eigen::Matrix3d::Identity();
    }
    return J;
  }
  // A block of D = J Z C^-1 Z^T J^T.
  Eigen::Matrix3d Block(const EmbeddedPoint& a, const EmbeddedPoint& b) const {
    return JacobianOf(a) * Z * inverse * Z.transpose() * JacobianOf(b).transpose();
  }
  // Displacements of the nodes that a right-hand side causes.
  Points Displacements(const Points& rhs) const {
    const Eigen::Map<const Eigen::VectorXd> b(rhs.data(), rhs.size());
    const Eigen::VectorXd d = Z * (inverse * (Z.transpose() * b));
    return Eigen::Map<const Points>(d.data(), 3, rhs.cols());
  }

  // The sums that motions follow from are those of the right-hand side and the impulses, of which
  // each is at most `most` [kg m].
  void CheckSums(const Points& total, double most, const std::vector<ClusterSums>& sums) const {
    const Eigen::VectorXd b =
        Z.transpose() * Eigen::Map<const Eigen::VectorXd>(total.data(), total.size());
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
  std::vector<NodeVec> nodes;  // at x
  Eigen::MatrixXd Z, inverse;
  CoarseResponses responses;
};

Eigen::Matrix3d Dense(const Mat3& M) {
  Eigen::Matrix3d out;
  out << ToEigen(M.c0), ToEigen(M.c1), ToEigen(M.c2);
  return out;
}

}  // namespace

TEST_CASE("Points of clusters answer impulses as J Z C^-1 Z^T J^T says") {
  const uint32_t seed = GENERATE(range(1u, 25u));
  const double young = GENERATE(1.0e4, 1.0e7);
  CAPTURE(seed, young);
  DenseClusters of(seed, young);
  const Points rhs = of.body.Impulses(1.0e-3, &of.random);
  std::vector<ClusterSums> sums = of.Sums(ToNodeVecs(rhs));
  TouchedClusters touched;
  touched.Start(of.body.level, of.body.matrix, sums, &of.responses);
  std::vector<EmbeddedPoint> points;
  std::vector<CoarsePoint> placed;
  for (int k = 0; k < 8; ++k) {
    points.push_back(of.RandomPoint());
    placed.push_back(of.Place(points.back(), &touched));
  }
  const double scale = of.inverse.topLeftCorner(3, 3).norm();
  Points total = rhs;
  const auto check_places = [&] {
    const Points d = of.Displacements(total);
    const double most = d.colwise().norm().maxCoeff();
    for (size_t i = 0; i < points.size(); ++i) {
      const Eigen::Map<const Eigen::VectorXd> all(d.data(), d.size());
      const Eigen::Vector3d expected = of.JacobianOf(points[i]) * all;
      CHECK((ToEigen(touched.Displacement(placed[i])) - expected).norm() < 1e-4 * most);
    }
  };
  check_places();
  for (size_t i = 0; i < points.size(); ++i) {
    const Eigen::Matrix3d own = of.Block(points[i], points[i]);
    CHECK((Dense(touched.Response(placed[i])) - own).norm() < 1e-4 * (own.norm() + scale));
  }
  for (size_t i = 0; i < points.size(); ++i) {
    const Vec3 impulse = ToVec3(of.random.Vector(1.0e-3 * of.body.model.masses.mean()));
    touched.Push(placed[i], impulse, sums);
    const Eigen::VectorXd pushed = of.JacobianOf(points[i]).transpose() * ToEigen(impulse);
    total += Eigen::Map<const Points>(pushed.data(), 3, total.cols());
    check_places();
  }
  of.CheckSums(total, 0.0, sums);
}

namespace {

// A body of clusters that a right-hand side presses onto random planes with its nodes.
struct CoarseProblem : DenseClusters {
  CoarseProblem(uint32_t seed, double young, uint32_t num_planes, double most_friction)
      : DenseClusters(seed, young) {
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

  void Solve() {
    sums = Sums(ToNodeVecs(rhs));
    AddContactImpulses(state, body.level.clusters.span(), nodes, sums);
    CoarseContacts solve = {
        .coarse = &body.level,
        .matrix = &body.matrix,
        .clusters = body.level.clusters.span(),
        .problem = {.colliders = planes,
                    .surface = {&no_surface, body.pinned},
                    .x = std::span<const NodeVec>(start).first(nodes.size() - 1),
                    .y = nodes,
                    .tolerance = 1.0e-7f,
                    .slop = slop,
                    .reach = 0.05f},
        .state = &state,
        .sums = sums,
        .responses = &responses,
        .d = d};
    SolveCoarseContacts(&solve);
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

}  // namespace

TEST_CASE("Coarse solves meet the conditions of Signorini and Coulomb in random problems") {
  const int count = tests::FullTests() ? 2000 : 100;
  const double most_friction = GENERATE(0.0, 1.0);
  const double young = GENERATE(1.0e4, 1.0e6, 1.0e7);
  CAPTURE(most_friction, young);
  size_t contacts = 0, sticking = 0, sliding = 0;
  int unsolved = 0;
  double deepest = 0.0, most_open = 0.0, most_slip = 0.0, most_cone = 0.0;
  for (int k = 0; k < count; ++k) {
    CoarseProblem c(static_cast<uint32_t>(k), young, 1 + static_cast<uint32_t>(k % 3),
                    most_friction);
    CAPTURE(k);
    for (int solve = 0; solve < 100; ++solve) c.Solve();
    const Points total = c.Total(), moved = c.Displacements(total);
    const double size = c.body.size();
    double low = 0.0;
    for (const LocalCollider& plane : c.planes) {
      for (Eigen::Index i = 0; i < moved.cols(); ++i) {
        if (c.body.pinned[static_cast<size_t>(i)] != 0) continue;
        low = std::max(low, -c.GapOf(plane, i, moved) / size);
      }
    }
    double largest = 0.0;
    for (const PlaneContact& contact : c.state.Current()) {
      largest = std::max(largest, double(NormalImpulse(contact)));
    }
    c.CheckSums(total, largest, c.sums);
    double open = 0.0, slipped = 0.0, cone_error = 0.0;
    for (const PlaneContact& contact : c.state.Current()) {
      const LocalCollider& plane = c.planes[contact.collider];
      const auto node = static_cast<Eigen::Index>(c.state.PointOf(contact).nodes[0]);
      const Eigen::Vector3d n = ToEigen(plane.normal), impulse = ToEigen(contact.impulse);
      const double normal = n.dot(impulse), cone = double(contact.friction) * normal;
      CHECK(normal >= -1e-6 * largest);
      if (normal > 1e-3 * largest) open = std::max(open, c.GapOf(plane, node, moved) / size);
      const Eigen::Vector3d friction = impulse - n * normal;
      Eigen::Vector3d slip = c.x.col(node) + moved.col(node) -
                             ToEigen(c.start[static_cast<size_t>(node)]) - ToEigen(plane.shift);
      slip -= n * n.dot(slip);
      cone_error = std::max(cone_error, (friction.norm() - cone) / (largest + 1e-30));
      if (friction.norm() < 0.99 * cone) {
        slipped = std::max(slipped, slip.norm() / size);
        ++sticking;
      } else if (slip.norm() > 1e-3 * size && cone > 1e-3 * largest) {
        if (!(friction.dot(slip) < -0.99 * friction.norm() * slip.norm())) slipped = 1.0;
        ++sliding;
      }
    }
    const bool solved = low < 1e-4 && open < 1e-4 && slipped < 1e-4 && cone_error < 1e-4;
    unsolved += solved ? 0 : 1;
    deepest = std::max(deepest, low), most_open = std::max(most_open, open);
    most_slip = std::max(most_slip, slipped), most_cone = std::max(most_cone, cone_error);
    contacts += c.state.num_contacts;
  }
  std::printf(
      "%d coarse problems, seeds from 0, %.0e Pa, friction up to %.0f: %zu contacts, %zu stick, "
      "%zu slide; %.1e of the size deep, %.1e open, %.1e slip, %.1e beyond cones; %d unsolved\n",
      count, young, most_friction, contacts, sticking, sliding, deepest, most_open, most_slip,
      most_cone, unsolved);
  CHECK(contacts > static_cast<size_t>(2 * count));
  // Planes that close on a stiff body from three sides may leave it no place: 1 of 2000. With
  // friction, the cones of some wedges go in circles: 33 of 2000.
  CHECK(unsolved <= (most_friction > 0.0 ? count / 50 : count / 1000));
  if (most_friction == 0.0) return;
  CHECK(sticking > static_cast<size_t>(count) / 10);
  CHECK(sliding > static_cast<size_t>(count));
}

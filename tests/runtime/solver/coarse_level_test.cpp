// SPDX-License-Identifier: MIT
// The coarse level against dense matrices in double precision: solves, corrections, crowds.
#include "runtime/crowd_lanes.h"
#include "runtime/simd_targets.h"
#include "runtime/solver/coarse_body.h"

#include <cstdio>

using namespace plush;
using namespace plush::test;

namespace coarse_level_test {

constexpr float kDt = kCoarseDt;

TEST_CASE("Waves cross as many clusters as their speed and the clusters' sizes say") {
  CoarseBody body(TetBox(6, 3, 2, 0.1, 0.09, 3), 5);
  body.Build();
  REQUIRE(body.level.num_clusters() > 1);
  const ElementView& elements = body.system.elements;
  std::vector<double> stiffness(body.level.num_clusters()), volume(stiffness), mass(stiffness);
  for (size_t t = 0; t < elements.tets.size(); ++t) {
    const Tet& tet = elements.tets[t];
    for (const uint32_t node : {tet.a, tet.b, tet.c, tet.d}) {
      const auto k = static_cast<size_t>(body.model.clusters[node]);
      volume[k] += 0.25 * elements.Volume(t);
      stiffness[k] += 0.25 * (double(elements.Stiffness(t)) + double(elements.Bulk(t)));
    }
  }
  for (size_t i = 0; i < body.system.masses.size(); ++i) {
    mass[static_cast<size_t>(body.model.clusters[i])] += double(body.system.masses[i]);
  }
  double most = 0.0;
  for (size_t k = 0; k < mass.size(); ++k) {
    const double diameter = 2.0 * std::cbrt(0.75 * volume[k] / 3.14159265358979);
    most = std::max(most, std::sqrt(stiffness[k] / mass[k]) / diameter);
  }
  // In a uniform body of E = 2e5 Pa and nu = 0.4, c is 20.7 m/s; clusters are about 0.2 m wide.
  CHECK(most > 50.0);
  CHECK(most < 200.0);
  for (const float h : {1.0e-5f, 1.0e-3f, 0.01f, 0.033f}) {
    CAPTURE(h, most);
    CHECK(body.level.CrossesClusters(h, 0.999 * double(h) * most));
    CHECK_FALSE(body.level.CrossesClusters(h, 1.001 * double(h) * most));
  }
  CHECK(double(body.level.most_bulk) == Approx(4.0).epsilon(1e-4));
}

TEST_CASE("The material at rest is the second derivative of the stretch energy") {
  // Of the reference: along rigid motions of clusters, by differences of DenseEnergy.
  const uint32_t seed = GENERATE(1u, 2u);
  const bool with_pins = GENERATE(false, true);
  CAPTURE(seed, with_pins);
  CoarseBody body = CoarseBody::Random(seed, 3, with_pins ? 0.2 : 0.0);
  std::fill(body.model.lambda.begin(), body.model.lambda.end(), 0.0);
  const Eigen::Index n = body.model.num_nodes();
  Eigen::MatrixXd Z = ClusterMotions(body.model);
  for (Eigen::Index k = 0; k < Z.cols(); ++k) Z.col(k) /= Z.col(k).norm();
  const auto energy = [&](const Eigen::VectorXd& u) {
    return DenseEnergy(body.model, body.model.rest + Eigen::Map<const Points>(u.data(), 3, n));
  };
  const double h = 1e-4 * body.size();
  Eigen::MatrixXd expected(Z.cols(), Z.cols());
  for (Eigen::Index i = 0; i < Z.cols(); ++i) {
    for (Eigen::Index j = 0; j <= i; ++j) {
      const Eigen::VectorXd u = h * Z.col(i), w = h * Z.col(j);
      expected(i, j) =
          (energy(u + w) - energy(u - w) - energy(w - u) + energy(-u - w)) / (4 * h * h);
      expected(j, i) = expected(i, j);
    }
  }
  const double dt = double{kDt};
  DenseModel massless = body.model;
  massless.masses.setZero();
  const Eigen::MatrixXd found = Z.transpose() * MaterialAtRest(massless, dt) * Z / (dt * dt);
  CHECK((found - expected).norm() < 1e-6 * expected.norm());
  // The mass part: a cluster's mass for translations, its moments of inertia for turns.
  const Eigen::MatrixXd M = MaterialAtRest(body.model, dt) - MaterialAtRest(massless, dt);
  for (Eigen::Index i = 0; i < 3 * n; ++i) {
    REQUIRE(M(i, i) == Approx(body.model.masses[i / 3]).epsilon(1e-9));
  }
}

TEST_CASE("Solves invert the dense matrix, at rest and in bent, turned and pinned bodies") {
  double worst = 0.0;
  for (uint32_t seed = 1; seed <= 4; ++seed) {
    for (const uint32_t count : {1u, 2u, 3u, 5u}) {
      for (const double pin_share : {0.0, 0.25}) {
        for (const bool bends : {false, true}) {
          const float damping = seed % 2 == 0 ? 0.0f : 0.03f;
          CAPTURE(seed, count, pin_share, damping, bends);
          const CoarseBody body = CoarseBody::Random(seed, count, pin_share, damping);
          REQUIRE(body.level.num_clusters() >= std::min(count, 4u));
          test::Random random(seed + 30);
          Points x = body.model.rest;
          if (bends) x = (random.Rotation() * Bent(x, 1.0 * seed)).colwise() + random.Vector(1.0);
          RotationArray rotations = body.RotationsAt(x);
          const DenseCoarse dense(body.model, double{kDt});
          const Eigen::MatrixXd C = dense.Matrix(Matrices(body, &rotations), ToEigen(ToVec3s(x)));
          const bool all_turn =
              std::ranges::none_of(body.level.turns, [](int t) { return t == 0; });
          if (!bends && all_turn) CHECK((C - Projected(body)).norm() < 1e-6 * C.norm());
          const Eigen::MatrixXd expected = InverseOfIndependent(C);
          Eigen::VectorXd scale = Eigen::VectorXd::Zero(C.rows());
          for (Eigen::Index j = 0; j < C.rows(); ++j) {
            if (expected(j, j) > 0.0) scale[j] = 1.0 / std::sqrt(expected(j, j));
          }
          const Eigen::MatrixXd found = body.Inverse(x, &rotations);
          const double miss =
              (scale.asDiagonal() * (found - expected) * scale.asDiagonal()).cwiseAbs().maxCoeff();
          CHECK(miss < 1e-5);
          worst = std::max(worst, miss);
          const Eigen::MatrixXd difference = body.Responses() - found;
          CHECK((scale.asDiagonal() * difference * scale.asDiagonal()).cwiseAbs().maxCoeff() <
                1e-6);
        }
      }
    }
  }
  std::printf("coarse matrix, seeds 1-4: off by %.1e of the diagonal\n", worst);
}

TEST_CASE("Each scale of masses and each time step has its own matrix") {
  CoarseBody body = CoarseBody::Random(3, 2, 0.1);
  RotationArray still(body.shape.num_blocks());
  const Eigen::MatrixXd before = body.Inverse(body.model.rest, &still);
  body.system.mass_scale = 3.0f;
  body.system.dt = 0.004f;
  body.Build();
  body.model.masses *= 3.0;
  const Eigen::MatrixXd Z = ClusterMotions(body.model);
  const Eigen::MatrixXd C = Z.transpose() * MaterialAtRest(body.model, double{0.004f}) * Z;
  const Eigen::MatrixXd expected = InverseOfIndependent(C);
  CHECK((body.Inverse(body.model.rest, &still) - expected).norm() < 1e-5 * expected.norm());
  CHECK((before - expected).norm() > 0.1 * expected.norm());
}

TEST_CASE("Corrections are those of the dense equations, in bent, turned and pinned bodies") {
  double worst = 0.0, least_move = 1.0;
  for (uint32_t seed = 1; seed <= 4; ++seed) {
    for (const uint32_t count : {1u, 2u, 4u, 6u}) {
      for (const double pin_share : {0.0, 0.2}) {
        for (const double size : {0.003, 0.3}) {
          CAPTURE(seed, count, pin_share, size);
          const CoarseBody body = CoarseBody::Random(seed, count, pin_share);
          test::Random random(seed + 10);
          const Points bent = Bent(body.model.rest, 0.5 * seed);
          const Points x = (random.Rotation() * bent).colwise() + random.Vector(1.0);
          RotationArray rotations = body.RotationsAt(x);
          const Points y = x + random.Vectors(body.shape.num_nodes(), 0.005);
          const Points inertial = body.Impulses(0.1 * size, &random);
          const Points forces = body.Forces(size, &random);
          Points expected = ToEigen(ToVec3s(y));
          const DenseCoarse dense(body.model, double{kDt});
          dense.Correct(dense.Matrix(Matrices(body, &rotations), expected),
                        ToEigen(ToVec3s(inertial)), ToEigen(ToVec3s(forces)), false, &expected);
          const Points found = body.Corrected(y, inertial, forces, &rotations);
          const double miss = Apart(found, expected) / body.size();
          CHECK(miss < 1e-5);
          worst = std::max(worst, miss);
          least_move = std::min(least_move, Apart(y, expected));
        }
      }
    }
  }
  CHECK(least_move > 1e-4);
  std::printf("coarse correction, seeds 1-4: off by %.1e of the size\n", worst);
}

TEST_CASE(
    "Clusters without free nodes, with few and with nodes on a line move as far as they can") {
  // The box has exact coordinates: its nodes lie on lines along the axes, exactly or, if it is
  // turned, up to rounding.
  const bool along_axis = GENERATE(true, false);
  CAPTURE(along_axis);
  Eigen::Matrix3d turn = Eigen::Matrix3d::Identity();
  if (!along_axis) turn = Eigen::AngleAxisd(1.0, Eigen::Vector3d(2, -1, 2) / 3.0);
  tools::TetMesh mesh = TetBox(4, 2, 2, 0.1);
  for (auto& node : mesh.nodes) {
    const Eigen::Vector3d at = turn * Eigen::Vector3d(node.x, node.y, node.z);
    node = {at.x(), at.y(), at.z()};
  }
  CoarseBody body(mesh, 1);
  std::vector<size_t>& clusters = body.model.clusters;
  body.model.num_clusters = 6;
  const size_t line = 1, single = 2, pair = 3, held = 4, none = 5;
  std::fill(clusters.begin(), clusters.end(), size_t{0});
  std::vector<uint32_t> pins;
  size_t in_line = 0, in_pair = 0;
  for (uint32_t i = 0; i < body.shape.num_nodes(); ++i) {
    const Eigen::Vector3d at = turn.transpose() * body.model.rest.col(i);
    const auto near = [&](int axis, double place) { return std::fabs(at[axis] - place) < 0.02; };
    if (near(1, 0.2) && near(2, 0.1) && at.x() < 0.32) clusters[i] = line;
    if (near(0, 0.4)) clusters[i] = held;
    if (near(0, 0.4) && !(near(1, 0.0) && near(2, 0.0))) pins.push_back(i);
    if (near(0, 0.4) && near(1, 0.0) && near(2, 0.0)) clusters[i] = single;
    if (near(0, 0.1) && near(1, 0.1) && at.z() < 0.12) clusters[i] = pair;
    in_line += clusters[i] == line ? 1 : 0;
    in_pair += clusters[i] == pair ? 1 : 0;
  }
  REQUIRE(in_line == 4);
  REQUIRE(in_pair == 2);
  body.Pin(pins);
  body.Build();
  REQUIRE(body.level.num_clusters() == 6);
  test::Random random(3);
  const Points rhs = body.Impulses(2e-4, &random);
  RotationArray rotations(body.shape.num_blocks());
  const std::vector<NodeVec> y = body.Nodes(body.model.rest);
  std::vector<ClusterSums> sums(6);
  body.level.Sum(y, ToNodeVecs(rhs), sums);
  for (const size_t k : {held, none}) {
    CHECK(ToEigen(sums[k].impulse).norm() == 0.0);
    CHECK(ToEigen(sums[k].moment).norm() == 0.0);
  }
  const std::vector<NodeVec> none_act(body.shape.num_nodes() + 1);
  const std::vector<RigidMotion> motions = body.Motions(y, ToNodeVecs(rhs), none_act, &rotations);
  CHECK(ToEigen(motions[single].change).norm() == 0.0);
  const Points found = body.Corrected(body.model.rest, rhs, &rotations);
  // Small motions: y + Z C^-1 Z^T rhs. Which turns a line gets about itself does not matter.
  Eigen::MatrixXd Z = ClusterMotions(body.model);
  Z.middleCols(static_cast<Eigen::Index>(6 * pair + 3), 3).setZero();  // two nodes do not turn
  const Eigen::VectorXd b =
      Z.transpose() * Eigen::Map<const Eigen::VectorXd>(rhs.data(), rhs.size());
  const Eigen::MatrixXd C = Z.transpose() * MaterialAtRest(body.model, double{kDt}) * Z;
  const Eigen::VectorXd u = Z * SolveIndependent(C, b);
  const Points expected =
      body.model.rest + Eigen::Map<const Points>(u.data(), 3, body.model.num_nodes());
  for (size_t i = 0; i < clusters.size(); ++i) {
    const auto column = static_cast<Eigen::Index>(i);
    const double moved = (expected - body.model.rest).col(column).norm();
    CAPTURE(i, clusters[i], moved);
    CHECK((found - expected).col(column).norm() < 0.02 * moved + 2e-7);
    if (body.pinned[i] != 0) CHECK((found - expected).col(column).norm() == 0.0);
  }
  CHECK((expected - body.model.rest).colwise().norm().maxCoeff() > 2e-5);
}

TEST_CASE("The blocks with resisting tets are those with tets between clusters, in longest runs") {
  const uint32_t seed = GENERATE(1u, 2u, 3u), count = GENERATE(1u, 3u);
  const double pin_share = GENERATE(0.0, 0.05);
  CAPTURE(seed, count, pin_share);
  CoarseBody body(TetBox(8, 4, 4, 0.1, 0.09, seed), count);
  test::Random random(seed);
  body.Pin(random.Nodes(body.shape.num_nodes(), pin_share));
  body.Build();
  std::vector<bool> expected(body.shape.num_blocks(), false), found = expected;
  for (size_t t = 0; t < body.model.tets.size(); ++t) {
    if (IsStraddling(body.model, t)) expected[body.model.blocks[t]] = true;
  }
  uint32_t last = 0;
  for (size_t r = 0; r < body.level.runs.size(); ++r) {
    const BlockRun run = body.level.runs[r];
    REQUIRE(run.begin < run.end);
    REQUIRE((r == 0 || run.begin > last));  // not next to the one before
    last = run.end;
    for (uint32_t b = run.begin; b < run.end; ++b) found[b] = true;
  }
  CHECK(found == expected);
  const auto num_seen = std::count(expected.begin(), expected.end(), true);
  if (count == 1 && pin_share == 0.0) CHECK(num_seen == 0);
  if (count == 3) CHECK(num_seen > 0);
}

TEST_CASE("A body without free nodes has no coarse level") {
  CoarseBody body(TetBox(2, 1, 1, 0.1), 2);
  std::vector<uint32_t> all(body.shape.num_nodes());
  for (uint32_t i = 0; i < all.size(); ++i) all[i] = i;
  body.Pin(all);
  body.Build();
  CHECK(body.level.num_clusters() == 0);
  CHECK(body.level.pattern.num_blocks() == 0);
}

TEST_CASE("A crowd's clusters are summed and moved like those of its bodies") {
  // Lanes may have pins beyond those of the crowd's system.
  const uint32_t seed = GENERATE(1u, 2u);
  CAPTURE(seed);
  const CoarseBody common = CoarseBody::Random(seed, 3, 0.1);
  const size_t num_nodes = common.shape.num_nodes(), num_clusters = common.level.num_clusters();
  test::Random random(seed + 20);
  std::vector<CoarseBody> bodies;
  std::vector<std::vector<NodeVec>> y, rhs, forces;
  std::vector<float> positions = CrowdNumbers(num_nodes, 4), impulses = CrowdNumbers(num_nodes, 3),
                     pushes = impulses;
  for (size_t lane = 0; lane < kCrowdLanes; ++lane) {
    bodies.push_back(CoarseBody(TetBox(3 + seed % 2, 2, 2, 0.1, 0.09, seed), 3));
    CoarseBody& body = bodies.back();
    for (uint32_t i = 0; i < num_nodes; ++i) {
      if (common.pinned[i] != 0 || (lane % 2 == 1 && random.Below(5) == 0)) body.Pin({i});
    }
    body.Build();
    if (!body.level.SharesClusters(common.level)) {  // such a body joins no crowd of the system's
      body = CoarseBody(TetBox(3 + seed % 2, 2, 2, 0.1, 0.09, seed), 3);
      for (uint32_t i = 0; i < num_nodes; ++i) {
        if (common.pinned[i] != 0) body.Pin({i});
      }
      body.Build();
    }
    const Points place = random.Rotation() * body.model.rest;
    y.push_back(body.Nodes(place.colwise() + random.Vector(2.0)));
    rhs.push_back(ToNodeVecs(body.Impulses(0.1, &random)));
    PutLane(y.back(), 4, lane, &positions);
    // What a step leaves in the nodes that only this lane has pinned must not matter.
    forces.push_back(ToNodeVecs(body.Forces(0.1, &random)));
    for (size_t i = 0; i < num_nodes; ++i) {
      if (body.pinned[i] == 0 || common.pinned[i] != 0) continue;
      rhs.back()[i] = Vec3{3.0f, 4.0f, 5.0f};
      forces.back()[i] = Vec3{-2.0f, 7.0f, 1.0f};
    }
    PutLane(rhs.back(), 3, lane, &impulses);
    PutLane(forces.back(), 3, lane, &pushes);
  }
  for (const int64_t target : SimdTargets()) {
    CAPTURE(NameOf(target));
    const SimdTargetScope scope(target);
    std::vector<float> sums = CrowdNumbers(num_clusters, kCrowdSums / kCrowdLanes);
    std::vector<float> motions = CrowdNumbers(num_clusters, kCrowdMotion / kCrowdLanes);
    std::vector<float> moved = positions;
    SumCrowdClusters(common.level, positions.data(), impulses.data(), sums.data());
    AddCrowdForces(common.level, positions.data(), pushes.data(), true, sums.data());
    std::vector<std::vector<NodeVec>> expected = y;
    double worst = 0.0;
    for (size_t lane = 0; lane < kCrowdLanes; ++lane) {
      const CoarseBody& body = bodies[lane];
      std::vector<ClusterSums> own(num_clusters);
      body.level.Sum(y[lane], rhs[lane], own);
      body.level.AddForces(y[lane], forces[lane], false, own);
      const auto number = [&](size_t k, size_t i) {
        return double(sums[kCrowdSums * k + kCrowdLanes * i + lane]);
      };
      for (size_t k = 0; k < num_clusters; ++k) {
        const bool is_empty = body.level.first_member[k] == body.level.first_member[k + 1];
        const Eigen::Vector3d impulse(number(k, 0), number(k, 1), number(k, 2));
        const Eigen::Vector3d moment(number(k, 3), number(k, 4), number(k, 5));
        const Eigen::Vector3d centre(number(k, 6), number(k, 7), number(k, 8));
        const double scale = ToEigen(own[k].impulse).norm() + 1e-6;
        CAPTURE(lane, k);
        CHECK((impulse - ToEigen(own[k].impulse)).norm() < 1e-5 * scale);
        CHECK((moment - ToEigen(own[k].moment)).norm() < 1e-5 * scale * body.size());
        if (is_empty) continue;
        CHECK((centre - ToEigen(own[k].centre)).norm() < 1e-6);
        const Eigen::Vector3d squares(number(k, 9), number(k, 10), number(k, 11));
        const Eigen::Vector3d products(number(k, 12), number(k, 13), number(k, 14));
        CHECK((squares - ToEigen(own[k].squares)).norm() < 1e-6 * body.size() * body.size());
        CHECK((products - ToEigen(own[k].products)).norm() < 1e-6 * body.size() * body.size());
        const Eigen::Vector3d inertia(number(k, 15), number(k, 16), number(k, 17));
        CHECK((inertia - ToEigen(own[k].inertia)).norm() < 1e-5 * scale);
        Eigen::Matrix3d arms;
        for (Eigen::Index i = 0; i < 9; ++i) arms(i % 3, i / 3) = number(k, 18 + size_t(i));
        CHECK((arms - ToEigen(own[k].arms)).norm() < 1e-5 * scale * body.size());
      }
      RotationArray rotations(body.shape.num_blocks(), ToQuat(random.Rotation()));
      const std::vector<RigidMotion> own_motions =
          body.Motions(y[lane], rhs[lane], forces[lane], &rotations);
      body.level.Move(own_motions, expected[lane]);
      for (size_t k = 0; k < num_clusters; ++k) {
        const RigidMotion& m = own_motions[k];
        const Vec3 vectors[5] = {m.centre, m.shift, m.change.c0, m.change.c1, m.change.c2};
        for (size_t i = 0; i < 5; ++i) {
          float* at = &motions[kCrowdMotion * k + 3 * kCrowdLanes * i + lane];
          at[0] = vectors[i].x;
          at[kCrowdLanes] = vectors[i].y;
          at[2 * kCrowdLanes] = vectors[i].z;
        }
      }
    }
    MoveCrowdClusters(common.level, motions.data(), moved.data());
    for (size_t lane = 0; lane < kCrowdLanes; ++lane) {
      const std::vector<NodeVec> found = NodesInLane(moved, 4, lane);
      for (size_t i = 0; i < num_nodes; ++i) {
        worst = std::max(worst, (ToEigen(found[i]) - ToEigen(expected[lane][i])).norm());
        if (bodies[lane].pinned[i] != 0) REQUIRE(ToEigen(found[i]) == ToEigen(y[lane][i]));
        REQUIRE(found[i].w == y[lane][i].w);
      }
    }
    CHECK(worst < 2e-6);
  }
}

}  // namespace coarse_level_test

// SPDX-License-Identifier: MIT
// Rigid motions of components that pins or constraints hold but let turn, and of clusters whose
// nodes are on a line.
#include "runtime/solver/coarse_body.h"

using namespace plush;
using namespace plush::test;

namespace held_motion_test {

constexpr float kDt = kCoarseDt;

// A box that nodes of its edge along z at x = y = 0 pin.
CoarseBody Hinged(uint32_t count, bool by_line) {
  CoarseBody body(TetBox(4, 2, 2, 0.1), count);
  for (uint32_t i = 0; i < body.shape.num_nodes(); ++i) {
    const auto rest = body.model.rest.col(static_cast<Eigen::Index>(i));
    if (rest.x() > 1e-6 || rest.y() > 1e-6) continue;
    if (by_line || rest.z() < 1e-6) body.Pin({i});
  }
  body.Build();
  REQUIRE(body.level.num_components() == 1);
  REQUIRE(body.level.HingePinsOf(0).size() == (by_line ? 3u : 1u));
  return body;
}

Eigen::Vector3d MomentAbout(const Eigen::Vector3d& centre, const Points& x,
                            const Points& impulses) {
  Eigen::Vector3d moment = Eigen::Vector3d::Zero();
  for (Eigen::Index i = 0; i < x.cols(); ++i) moment += (x.col(i) - centre).cross(impulses.col(i));
  return moment;
}

TEST_CASE("Corrections leave a hinged body no moment of its inertia about the hinge") {
  const bool by_line = GENERATE(false, true);
  const uint32_t count = GENERATE(1u, 3u, 5u);
  const double size = GENERATE(1e-3, 0.05, 0.2);  // [m]; the body is 0.4 m long
  CAPTURE(by_line, count, size);
  const CoarseBody body = Hinged(count, by_line);
  test::Random random(count);
  // The pins of a bent body are off their line.
  const Points x = random.Rotation() * (by_line ? body.model.rest : Bent(body.model.rest, 3.0));
  RotationArray rotations = body.RotationsAt(x);
  const Points inertial = body.Impulses(size, &random), forces = body.Forces(size, &random);
  const Points y = body.Corrected(x, inertial, forces, &rotations);
  const Points left = inertial - (y - x) * body.model.masses.asDiagonal();
  const std::span<const uint32_t> pins = body.level.HingePinsOf(0);
  const Eigen::Vector3d at = x.col(pins[0]);
  Eigen::Vector3d moment = MomentAbout(at, y, left), before = MomentAbout(at, x, inertial);
  if (by_line) {
    const Eigen::Vector3d axis = (x.col(pins[1]) - at).normalized();
    moment = moment.dot(axis) * axis;
    before = before.dot(axis) * axis;
  }
  CHECK(moment.norm() < 1e-4 * before.norm() + 1e-6);
  for (const uint32_t pin : pins) CHECK((y.col(pin) - x.col(pin)).norm() < 1e-6);
}

TEST_CASE("Pins are hinges only on one point or line") {
  CoarseBody body(TetBox(4, 2, 2, 0.1), 4);
  std::vector<uint32_t> pins;
  for (uint32_t i = 0; i < body.shape.num_nodes(); ++i) {
    const auto rest = body.model.rest.col(static_cast<Eigen::Index>(i));
    if (rest.x() < 1e-6 && rest.y() < 1e-6) pins.push_back(i);
  }
  body.Pin(pins);
  body.Build();
  REQUIRE(body.level.num_components() == 1);
  std::vector<NodeVec> y = body.Nodes(body.model.rest);
  Hinge hinge = body.Hinges(y)[0];
  CHECK(hinge.kind == Hinge::Kind::kLine);
  CHECK(std::fabs(hinge.axis[2]) == Approx(1.0));
  y[pins[1]].x += 1e-5f;  // rounded
  CHECK(body.Hinges(y)[0].kind == Hinge::Kind::kLine);
  y[pins[1]].x += 0.01f;  // moved
  CHECK(body.Hinges(y)[0].kind == Hinge::Kind::kHeld);

  CoarseBody clamped(TetBox(4, 2, 2, 0.1), 4);
  for (uint32_t i = 0; i < clamped.shape.num_nodes(); ++i) {
    const auto rest = clamped.model.rest.col(static_cast<Eigen::Index>(i));
    if (rest.x() < 1e-6 && rest.y() < 0.15 && rest.z() < 0.05) clamped.Pin({i});
    if (rest.x() < 1e-6 && rest.y() < 1e-6) clamped.Pin({i});
  }
  clamped.Build();
  CHECK(clamped.level.num_components() == 0);
}

TEST_CASE("Directions that hold a body are met by the nearest rigid motion, and balance it") {
  const uint32_t seed = GENERATE(1u, 2u, 3u, 4u), rows = GENERATE(1u, 2u, 3u, 5u);
  CAPTURE(seed, rows);
  const CoarseBody body = CoarseBody::Random(seed, 3, 0.0);
  test::Random random(seed + 50);
  const Points x = random.Rotation() * Bent(body.model.rest, 1.0);
  RotationArray rotations = body.RotationsAt(x);
  const Points inertial = body.Impulses(0.05, &random);
  const std::vector<NodeVec> nodes = body.Nodes(x);
  const std::vector<ClusterSums> sums = body.Factor(nodes, ToNodeVecs(inertial), &rotations);
  std::vector<RigidMotion> motions(body.level.num_clusters());
  body.level.Solve(body.matrix, sums, {}, motions);
  std::vector<NodeVec> moved = nodes;
  body.level.Move(motions, moved);
  std::vector<HeldDirection> held;
  std::vector<Eigen::Index> at;
  std::vector<Eigen::Vector3d> targets;
  for (uint32_t k = 0; k < rows; ++k) {
    at.push_back(static_cast<Eigen::Index>(random.Below(uint32_t(x.cols()))));
    const Eigen::Vector3d place = ToEigen(moved).col(at[k]), n = random.Direction();
    targets.push_back(place + random.Vector(0.02));
    held.push_back({ToVec3(place), ToVec3(n), n.dot(place - targets[k]), 0.0});
  }
  body.level.KeepHeldMomenta(0, sums, {}, held, motions);
  std::vector<NodeVec> end = nodes;
  body.level.Move(motions, end);
  const Points y = ToEigen(end);
  Points left = inertial - (y - x) * body.model.masses.asDiagonal();
  double largest = 0.0;
  for (uint32_t k = 0; k < rows; ++k) {
    const Eigen::Vector3d n = ToEigen(held[k].direction);
    CHECK(std::fabs(n.dot(y.col(at[k]) - targets[k])) < 1e-5 * body.size());
    left.col(at[k]) += n * held[k].impulse;
    largest = std::max(largest, std::fabs(held[k].impulse));
  }
  CHECK(largest > 1e-4 * body.model.masses.sum() * 0.02);
  CHECK(left.rowwise().sum().norm() < 1e-4 * largest);
  CHECK(MomentAbout({0, 0, 0}, y, left).norm() < 1e-4 * largest * body.size());
}

TEST_CASE("Points on a line leave a turn, points of a face none") {
  test::Random random(9);
  for (int repeat = 0; repeat < 20; ++repeat) {
    const Eigen::Matrix3d R = random.Rotation();
    const Eigen::Vector3d away = random.Vector(10.0);
    std::vector<HeldDirection> line, face, planes;
    for (int i = 0; i < 4; ++i) {
      const Eigen::Vector3d bent(0.1 * i, i == 1 ? 0.003 : 0.0, 0.0);
      const Eigen::Vector3d on_face(0.1 * (i % 2), 0.1 * (i / 2), 0.0);
      for (int k = 0; k < 3; ++k) {
        const Vec3 n = ToVec3(R * Eigen::Vector3d::Unit(k));
        line.push_back({ToVec3(R * bent + away), n, 0.0, 0.0});
        face.push_back({ToVec3(R * on_face + away), n, 0.0, 0.0});
        if (k == 2) planes.push_back(face.back());
      }
      CHECK(LeaveMotion(line));
      CHECK(LeaveMotion(face) == (i < 2));
      CHECK(LeaveMotion(planes));
    }
  }
}

TEST_CASE("Points that all are held take a body along, whatever its inertia asks for") {
  const CoarseBody body = CoarseBody::Random(3, 3, 0.0);
  test::Random random(4);
  const Points x = body.model.rest;
  RotationArray rotations = body.RotationsAt(x);
  const Points inertial = body.Impulses(0.05, &random);
  const Eigen::Matrix3d R = Eigen::AngleAxisd(0.7, random.Direction()).toRotationMatrix();
  const Points wanted = (R * x).colwise() + random.Vector(0.1);
  const std::vector<NodeVec> nodes = body.Nodes(x);
  const std::vector<ClusterSums> sums = body.Factor(nodes, ToNodeVecs(inertial), &rotations);
  std::vector<RigidMotion> motions;
  for (const ClusterSums& sum : sums) motions.push_back({sum.centre, {}, {}});
  std::vector<HeldDirection> held;
  for (Eigen::Index i = 0; i < x.cols(); i += 3) {
    for (int k = 0; k < 3; ++k) {
      const Eigen::Vector3d n = Eigen::Vector3d::Unit(k);
      held.push_back({ToVec3(x.col(i)), ToVec3(n), n.dot(x.col(i) - wanted.col(i)), 0.0});
    }
  }
  body.level.KeepHeldMomenta(0, sums, {}, held, motions);
  std::vector<NodeVec> end = nodes;
  body.level.Move(motions, end);
  CHECK(Apart(ToEigen(end), wanted) < 1e-5 * body.size());
  for (const HeldDirection& at : held) CHECK(std::isfinite(at.impulse));
}

// The sums' rounding turned such a cluster of a plank by hundreds of radians, and so the plank.
TEST_CASE("Clusters of nodes on a line hardly turn about it") {
  const uint32_t seed = GENERATE(1u, 2u, 3u, 4u, 5u, 6u);
  CAPTURE(seed);
  CoarseBody body(TetBox(8, 2, 2, 0.005), 2, 0.0f, 1.0e9);
  for (uint32_t i = 0; i < body.shape.num_nodes(); ++i) {
    const auto rest = body.model.rest.col(static_cast<Eigen::Index>(i));
    const bool is_on_line =
        rest.y() < 1e-6 && rest.z() < 1e-6 && std::fabs(rest.x() - 0.02) < 0.011;
    body.model.clusters[i] = is_on_line ? 0 : rest.x() < 0.021 ? 1 : 2;
  }
  body.model.num_clusters = 3;
  body.Build();
  REQUIRE(body.level.first_member[1] == 5);
  test::Random random(seed);
  const Points x = random.Rotation() * body.model.rest;
  RotationArray rotations = body.RotationsAt(x);
  std::vector<NodeVec> forces(body.shape.num_nodes() + 1);  // of rounding
  std::vector<float> kappa(body.shape.num_places());
  for (const BlockRun& run : body.level.runs) {
    AddElasticImpulses(body.system.elements, ToNodeVecs(x), {kDt, 0.0f, 4}, {}, kappa, run.begin,
                       run.end, rotations.view(), forces);
  }
  const std::vector<NodeVec> y = body.Nodes(x);
  std::vector<ClusterSums> sums =
      body.Factor(y, ToNodeVecs(body.Impulses(1e-4, &random)), &rotations);
  body.level.AddForces(y, forces, true, sums);
  std::vector<RigidMotion> motions(3);
  body.level.Solve(body.matrix, sums, {}, motions);
  CHECK(ToEigen(AngleOf(motions[0].change)).norm() < 0.1);
}

}  // namespace held_motion_test

// SPDX-License-Identifier: MIT
// Invariants of the clusters' motions: rotations, momenta, components, places.
#include "runtime/solver/coarse_body.h"

using namespace plush;
using namespace plush::test;

namespace coarse_motion_test {

constexpr float kDt = kCoarseDt;

TEST_CASE("A body that was turned as a whole and rests stays where it is") {
  const uint32_t count = GENERATE(1u, 2u, 5u);
  const bool with_pins = GENERATE(false, true);
  CAPTURE(count, with_pins);
  const CoarseBody body = CoarseBody::Random(1, count, with_pins ? 0.2 : 0.0);
  test::Random random(17);
  for (int repeat = 0; repeat < 20; ++repeat) {
    const Eigen::Matrix3d R =
        repeat == 0 ? Eigen::AngleAxisd(3.14159265358979, random.Direction()).toRotationMatrix()
                    : random.Rotation();
    const Points x = R * body.model.rest;
    RotationArray rotations(body.shape.num_blocks(), ToQuat(R));
    std::vector<NodeVec> rhs(body.shape.num_nodes() + 1);
    std::vector<float> kappa(body.shape.num_places());
    for (const BlockRun& run : body.level.runs) {
      AddElasticImpulses(body.system.elements, ToNodeVecs(x), {kDt, 0.0f, 4}, {}, kappa, run.begin,
                         run.end, rotations.view(), rhs);
    }
    CHECK(Apart(body.Corrected(x, ToEigen(rhs), &rotations), x) < 1e-6 * body.size());
  }
}

TEST_CASE("Corrections turn with the body") {
  const uint32_t count = GENERATE(1u, 3u);
  const bool with_pins = GENERATE(false, true);
  CAPTURE(count, with_pins);
  const CoarseBody body = CoarseBody::Random(2, count, with_pins ? 0.2 : 0.0);
  test::Random random(5);
  const Points rhs = body.Impulses(0.05, &random);
  RotationArray still(body.shape.num_blocks());
  const Points expected = body.Corrected(body.model.rest, rhs, &still);
  CHECK(Apart(expected, body.model.rest) > 1e-3);
  for (int repeat = 0; repeat < 20; ++repeat) {
    const Eigen::Matrix3d R = random.Rotation();
    RotationArray turned(body.shape.num_blocks(), ToQuat(R));
    const Points found = body.Corrected(R * body.model.rest, R * rhs, &turned);
    CHECK(Apart(found, R * expected) < 2e-6 * body.size());
  }
}

TEST_CASE("Turns are rotations, however large the moment") {
  const CoarseBody body = CoarseBody::Random(4, 3, 0.0);
  for (const double size : {1e-3, 1.0, 1e3, 1e9}) {
    CAPTURE(size);
    test::Random random(6);
    RotationArray rotations(body.shape.num_blocks());
    const Points rhs = body.Impulses(size, &random);
    const std::vector<NodeVec> none_act(body.shape.num_nodes() + 1);
    for (const RigidMotion& motion :
         body.Motions(body.Nodes(body.model.rest), ToNodeVecs(rhs), none_act, &rotations)) {
      const Eigen::Matrix3d R = ToEigen(motion.change) + Eigen::Matrix3d::Identity();
      CHECK((R.transpose() * R - Eigen::Matrix3d::Identity()).norm() < 1e-5);
      CHECK(R.determinant() == Approx(1.0).epsilon(1e-5));
      CHECK(ToEigen(motion.change).norm() > 1e-6);
    }
  }
}

TEST_CASE("Forces move no free body as a whole, whatever their sum and their moment are") {
  const uint32_t seed = GENERATE(1u, 2u, 3u), count = GENERATE(2u, 3u, 5u);
  CAPTURE(seed, count);
  const CoarseBody body = CoarseBody::Random(seed, count, 0.0);
  test::Random random(seed);
  const Points x = random.Rotation() * Bent(body.model.rest, 1.0);
  RotationArray rotations = body.RotationsAt(x);
  // As if rounded.
  const Points forces = body.Forces(0.1, &random);
  const Points end = body.Corrected(x, 0.0 * forces, forces, &rotations), moved = end - x;
  const Eigen::VectorXd& masses = body.model.masses;
  Eigen::Vector3d turned = Eigen::Vector3d::Zero();
  for (Eigen::Index i = 0; i < x.cols(); ++i) turned += masses[i] * end.col(i).cross(moved.col(i));
  const double scale = moved.colwise().norm().transpose().dot(masses);
  const double rounding = 1e-7 * body.size() * masses.sum();
  CHECK((moved * masses).norm() < 1e-5 * scale + rounding);
  CHECK(turned.norm() < (1e-5 * scale + rounding) * body.size());
  CHECK(scale > 1e-3 * body.size() * masses.sum());
}

TEST_CASE("Corrections leave a free body no moment of its inertia, also after large turns") {
  const uint32_t seed = GENERATE(1u, 2u, 3u), count = GENERATE(1u, 2u, 5u);
  const double size = GENERATE(1e-3, 0.05, 0.2);  // [m]; the body is 0.3 m long
  CAPTURE(seed, count, size);
  const CoarseBody body = CoarseBody::Random(seed, count, 0.0);
  test::Random random(seed);
  const Points x = random.Rotation() * Bent(body.model.rest, 3.0);
  RotationArray rotations = body.RotationsAt(x);
  const Points inertial = body.Impulses(size, &random), forces = body.Forces(size, &random);
  const Points y = body.Corrected(x, inertial, forces, &rotations);
  const Eigen::VectorXd& masses = body.model.masses;
  const Points left = inertial - (y - x) * masses.asDiagonal();
  const Eigen::Vector3d centre = y * masses / masses.sum();
  Eigen::Vector3d moment = Eigen::Vector3d::Zero(), before = moment;
  for (Eigen::Index i = 0; i < x.cols(); ++i) {
    moment += (y.col(i) - centre).cross(left.col(i));
    before += (x.col(i) - centre).cross(inertial.col(i));
  }
  CHECK(left.rowwise().sum().norm() < 1e-5 * inertial.rowwise().sum().norm() + 1e-5);
  CHECK(moment.norm() < 1e-4 * before.norm() + 1e-6);
}

TEST_CASE("Parts that hang together and have no pins are components") {
  tools::TetMesh mesh = TetBox(3, 1, 1, 0.1);
  const size_t num_nodes = mesh.nodes.size();
  for (int copy = 1; copy < 3; ++copy) {
    const tools::TetMesh box = TetBox(3, 1, 1, 0.1);
    const uint32_t first = static_cast<uint32_t>(mesh.nodes.size());
    for (const tools::Vec3d& node : box.nodes) {
      mesh.nodes.push_back({node.x, node.y + copy, node.z});
    }
    for (std::array<uint32_t, 4> tet : box.tets) {
      for (uint32_t& node : tet) node += first;
      mesh.tets.push_back(tet);
    }
  }
  CoarseBody body(mesh, 7);
  const auto box_of = [&](size_t i) { return static_cast<int>(body.model.rest(1, i) + 0.5); };
  for (uint32_t i = 0; i < 3 * num_nodes; ++i) {
    if (box_of(i) == 1 && body.model.rest(0, i) < 0.01) body.Pin({i});
  }
  body.Build();
  REQUIRE(body.level.num_components() == 2);
  std::vector<int> found;
  for (size_t c = 0; c < 2; ++c) {
    for (const uint16_t k : body.level.Component(c)) {
      const uint32_t begin = body.level.first_member[k], end = body.level.first_member[k + 1];
      REQUIRE(begin < end);
      for (uint32_t i = begin; i < end; ++i) {
        CHECK(box_of(body.level.members[i]) == box_of(body.level.members[begin]));
      }
      found.push_back(box_of(body.level.members[begin]));
    }
  }
  for (size_t k = 0; k < body.level.num_clusters(); ++k) {
    if (body.level.first_member[k] == body.level.first_member[k + 1]) continue;
    const int box = box_of(body.level.members[body.level.first_member[k]]);
    if (box == 1) continue;
    found.erase(std::find(found.begin(), found.end(), box));
  }
  CHECK(found.empty());  // each cluster of the free boxes once, and no other
}

TEST_CASE("Sums do not depend on the body's place") {
  const CoarseBody body = CoarseBody::Random(2, 3, 0.1);
  test::Random random(8);
  const std::vector<NodeVec> rhs = ToNodeVecs(body.Impulses(1.0, &random));
  std::vector<NodeVec> near = body.Nodes(body.model.rest), far;
  for (NodeVec& x : near) {  // onto a grid, so that moving far away is exact
    x = NodeVec({std::round(x.x * 4096) / 4096, std::round(x.y * 4096) / 4096,
                 std::round(x.z * 4096) / 4096},
                x.w);
    far.push_back(x);
    far.back() += Vec3{1024.0f, -512.0f, 256.0f};
  }
  std::vector<ClusterSums> a(3), b(3);
  body.level.Sum(near, rhs, a);
  body.level.Sum(far, rhs, b);
  for (size_t k = 0; k < 3; ++k) {
    CHECK((ToEigen(a[k].moment) - ToEigen(b[k].moment)).norm() <
          1e-6 * ToEigen(a[k].impulse).norm() * body.size());
    CHECK(ToEigen(a[k].impulse) == ToEigen(b[k].impulse));
    CHECK((ToEigen(b[k].centre) - ToEigen(a[k].centre) - Eigen::Vector3d(1024, -512, 256)).norm() <
          2e-4);
  }
}

}  // namespace coarse_motion_test

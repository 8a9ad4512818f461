// SPDX-License-Identifier: MIT
// What keeps stiff bodies from strains and turns that only rounding and straight ways make.
#include "runtime/solver/coarse_body.h"

using namespace plush;
using namespace plush::test;

namespace stiff_motion_test {

constexpr float kDt = kCoarseDt;
constexpr double kStiff = 1.0e9;  // [Pa]

// Two boxes side by side, each of several clusters.
CoarseBody TwoBoxes(uint32_t seed) {
  tools::TetMesh mesh = TetBox(4, 2, 2, 0.1, 0.09, seed);
  const tools::TetMesh other = TetBox(3, 2, 2, 0.07, 0.09, seed + 1);
  const auto first = static_cast<uint32_t>(mesh.nodes.size());
  for (const tools::Vec3d& node : other.nodes) {
    mesh.nodes.push_back({node.x, node.y + 1.0, node.z - 0.3});
  }
  for (std::array<uint32_t, 4> tet : other.tets) {
    for (uint32_t& node : tet) node += first;
    mesh.tets.push_back(tet);
  }
  CoarseBody body(mesh, 8, 0.0f, kStiff);
  body.Build();
  REQUIRE(body.level.num_components() == 2);
  REQUIRE(body.level.num_clusters() >= 6);
  return body;
}

// The nodes of a component.
std::vector<Eigen::Index> NodesOf(const CoarseLevel& level, size_t c) {
  std::vector<Eigen::Index> out;
  for (const uint16_t k : level.Component(c)) {
    for (uint32_t i = level.first_member[k]; i < level.first_member[k + 1]; ++i) {
      out.push_back(static_cast<Eigen::Index>(level.members[i]));
    }
  }
  return out;
}

// The largest change of a distance between two nodes of one component, as a share.
double Strain(const CoarseBody& body, const Points& from, const Points& to) {
  double worst = 0.0;
  for (size_t c = 0; c < body.level.num_components(); ++c) {
    const std::vector<Eigen::Index> nodes = NodesOf(body.level, c);
    for (const Eigen::Index i : nodes) {
      const Eigen::Index first = nodes[0];
      if (i == first) continue;
      const double before = (from.col(i) - from.col(first)).norm();
      worst = std::max(worst, std::fabs((to.col(i) - to.col(first)).norm() / before - 1.0));
    }
  }
  return worst;
}

// Sum and moment about the origin of impulses on clusters.
std::pair<Eigen::Vector3d, Eigen::Vector3d> Resultant(const CoarseLevel& level, size_t c,
                                                      const std::vector<ClusterSums>& sums) {
  Eigen::Vector3d sum = Eigen::Vector3d::Zero(), moment = sum;
  for (const uint16_t k : level.Component(c)) {
    sum += ToEigen(sums[k].impulse);
    moment += ToEigen(sums[k].moment) + ToEigen(sums[k].centre).cross(ToEigen(sums[k].impulse));
  }
  return {sum, moment};
}

Points Each(const Points& x, const Eigen::Vector3d& of_all) { return (0.0 * x).colwise() + of_all; }

// Nodes from the centres of mass of their components.
Points Relative(const CoarseBody& body, const Points& x) {
  Points out = x;
  for (size_t c = 0; c < body.level.num_components(); ++c) {
    Eigen::Vector3d centre = Eigen::Vector3d::Zero();
    double mass = 0.0;
    for (const Eigen::Index i : NodesOf(body.level, c)) {
      centre += body.model.masses[i] * x.col(i), mass += body.model.masses[i];
    }
    for (const Eigen::Index i : NodesOf(body.level, c)) out.col(i) -= centre / mass;
  }
  return out;
}

// Each component's nodes moved by `change` r, r from its centre of mass.
Points MovedBy(const CoarseBody& body, const Points& x, const Eigen::Matrix3d (&change)[2]) {
  const Points arms = Relative(body, x);
  Points out = 0.0 * x;
  for (size_t c = 0; c < 2; ++c) {
    for (const Eigen::Index i : NodesOf(body.level, c)) out.col(i) = change[c] * arms.col(i);
  }
  return out;
}

Eigen::Matrix3d Cross(const Eigen::Vector3d& w) {
  return (Eigen::Matrix3d() << 0.0, -w.z(), w.y(), w.z(), 0.0, -w.x(), -w.y(), w.x(), 0.0)
      .finished();
}

// Where the clusters' correction moves nodes from `x`: `one` if the body turns as one, `many` if
// not.
struct Corrected {
  Corrected(const CoarseBody& body, const Points& x, const Points& ways) {
    RotationArray rotations = body.RotationsAt(x);
    std::vector<NodeVec> nodes = body.Nodes(x);
    const Points inertial = ways * body.model.masses.asDiagonal();
    const std::vector<ClusterSums> sums = body.Factor(nodes, ToNodeVecs(inertial), &rotations);
    std::vector<RigidMotion> motions(body.level.num_clusters());
    for (const bool turns_as_one : {true, false}) {
      std::vector<NodeVec> y = nodes;
      const std::vector<Hinge> hinges = body.Hinges(y);
      body.level.Solve(body.matrix, sums, std::span(hinges).first(turns_as_one ? hinges.size() : 0),
                       motions);
      body.level.Move(motions, y);
      (turns_as_one ? one : many) = ToEigen(y);
    }
  }

  Points one, many;
};

TEST_CASE("Balanced forces have no resultant and no moment and differ by a rigid motion") {
  const uint32_t seed = GENERATE(1u, 2u, 3u);
  const CoarseBody body = TwoBoxes(seed);
  test::Random random(seed);
  const Points x = random.Rotation() * Bent(body.model.rest, 1.0);
  const std::vector<NodeVec> y = body.Nodes(x), forces = ToNodeVecs(body.Forces(0.1, &random));
  std::vector<ClusterSums> none(body.level.num_clusters());
  body.level.Sum(y, std::vector<NodeVec>(forces.size()), none);
  std::vector<ClusterSums> as_are = none, balanced = none;
  body.level.AddForces(y, forces, false, as_are);
  body.level.AddForces(y, forces, true, balanced);
  for (size_t c = 0; c < 2; ++c) {
    const auto [sum, moment] = Resultant(body.level, c, as_are);
    const auto [left, left_moment] = Resultant(body.level, c, balanced);
    CHECK(sum.norm() > 1e-3);
    CHECK(left.norm() < 1e-5 * sum.norm());
    CHECK(left_moment.norm() < 1e-5 * moment.norm());
    // The momenta of one rigid motion, which follows from sum and moment.
    Eigen::Matrix3d inertia = Eigen::Matrix3d::Zero();
    Eigen::Vector3d centre = Eigen::Vector3d::Zero();
    double mass = 0.0;
    const std::vector<Eigen::Index> nodes = NodesOf(body.level, c);
    for (const Eigen::Index i : nodes) {
      centre += body.model.masses[i] * x.col(i), mass += body.model.masses[i];
    }
    centre /= mass;
    const auto tensor = [](double m, const Eigen::Vector3d& r) -> Eigen::Matrix3d {
      return m * (r.squaredNorm() * Eigen::Matrix3d::Identity() - r * r.transpose());
    };
    for (const Eigen::Index i : nodes) inertia += tensor(body.model.masses[i], x.col(i) - centre);
    const Eigen::Vector3d turn = inertia.inverse() * (moment - centre.cross(sum));
    for (const uint16_t k : body.level.Component(c)) {
      Eigen::Vector3d impulse = Eigen::Vector3d::Zero(), own = impulse;
      for (uint32_t m = body.level.first_member[k]; m < body.level.first_member[k + 1]; ++m) {
        const auto i = static_cast<Eigen::Index>(body.level.members[m]);
        const Eigen::Vector3d p =
            body.model.masses[i] * (sum / mass + turn.cross(x.col(i) - centre));
        impulse += p;
        own += (x.col(i) - ToEigen(none[k].centre)).cross(p);
      }
      CAPTURE(seed, c, k);
      CHECK((ToEigen(as_are[k].impulse) - ToEigen(balanced[k].impulse) - impulse).norm() <
            1e-4 * sum.norm());
      CHECK((ToEigen(as_are[k].moment) - ToEigen(balanced[k].moment) - own).norm() <
            1e-4 * moment.norm());
    }
  }
}

TEST_CASE("A stiff body that turns as one keeps its shape") {
  const uint32_t seed = GENERATE(1u, 2u, 3u);
  const CoarseBody body = TwoBoxes(seed);
  test::Random random(seed + 10);
  const Points x = random.Rotation() * body.model.rest;
  for (const double angle : {0.01, 0.1, 0.5}) {
    CAPTURE(seed, angle);
    const Points ways =
        MovedBy(body, x, {Cross(angle * random.Direction()), Cross(angle * random.Direction())}) +
        Each(x, random.Vector(0.2));
    const Corrected y(body, x, ways);
    CHECK(Strain(body, x, y.one) < 2e-5);
    if (angle > 0.05) CHECK(Strain(body, x, y.many) > 0.2 * angle * angle);
    // Both are the same to first order.
    const double way = (y.many - x).colwise().norm().maxCoeff();
    CHECK(Apart(y.one, y.many) < angle * way);
    CHECK(Apart(y.one, x) > 0.5 * way);
  }
  // C knows no turn of more than a radian: nothing changes.
  const Points far =
      MovedBy(body, x, {Cross(1.5 * random.Direction()), Cross(1.5 * random.Direction())});
  const Corrected y(body, x, far);
  CHECK(Apart(y.one, y.many) == 0.0);
}

TEST_CASE("What clusters do besides their mean turn stays") {
  CoarseBody body(TetBox(6, 2, 2, 0.1, 0.09, 3), 4);
  body.Build();
  test::Random random(4);
  // A bend of a soft body and a small turn of all.
  const Points x = body.model.rest;
  const Corrected y(body, x,
                    Bent(x, 0.1) - x + Cross(1e-3 * random.Direction()) * Relative(body, x));
  const double way = Apart(y.many, x);
  CHECK(way > 1e-4);
  CHECK(Apart(y.one, y.many) < 0.01 * way);
}

TEST_CASE("Predictions of bodies that spin keep their shape and what changes it") {
  const uint32_t seed = GENERATE(1u, 2u, 3u);
  const CoarseBody body = TwoBoxes(seed);
  test::Random random(seed + 20);
  const Points x = random.Rotation() * body.model.rest;
  const Eigen::Vector3d axis[2] = {random.Direction(), random.Direction()};
  const Points flight = Each(x, random.Vector(1.0));
  const double h = double{kDt};
  // Positions that velocities lead to in a step.
  const auto predicted = [&](const Points& v) {
    const std::vector<NodeVec> at = body.Nodes(x), velocities = ToNodeVecs(v);
    std::vector<NodeVec> momenta(at.size()), y = body.Nodes(x + h * v);
    const size_t count = body.shape.num_nodes();
    body.level.TurnPredictions(std::span(at).first(count), std::span(velocities).first(count), kDt,
                               body.Hinges(at), false, momenta, y);
    return ToEigen(y);
  };
  const auto turned = [&](double angle) {
    const auto change = [&](int c) -> Eigen::Matrix3d {
      return Eigen::AngleAxisd(angle, axis[c]).toRotationMatrix() - Eigen::Matrix3d::Identity();
    };
    return Points(x + MovedBy(body, x, {change(0), change(1)}));
  };
  const double rounding = 3e-6 * body.size();
  for (const double angle : {0.02, 0.2}) {
    CAPTURE(seed, angle);
    // Velocities that a user sets.
    const Points spin = MovedBy(body, x, {Cross(axis[0]), Cross(axis[1])}) * (angle / h);
    const Points set = predicted(flight + spin);
    CHECK(Strain(body, x, set) < 2e-5);
    CHECK(Apart(set, turned(angle) + h * flight) < 0.2 * angle * angle * angle + rounding);
    CHECK(Strain(body, x, x + h * spin) > 0.2 * angle * angle);
    // Those of the way that a turn took: it goes on.
    const Points way = (x - turned(-angle)) / h, next = predicted(flight + way);
    CHECK(Strain(body, x, next) < 2e-5);
    CHECK(Apart(next, turned(angle) + h * flight) < 1e-4 * angle + rounding);
    // What swells or shrinks the body goes on, too.
    for (const double rate : {0.3, -0.3}) {
      const Points swell = (rate / h) * Relative(body, x);
      const Points swollen = predicted(flight + spin + swell);
      CHECK(Strain(body, x, swollen) == Approx(0.3).margin(angle * angle));
    }
  }
  // Without spin nothing turns.
  CHECK(Apart(predicted(flight), x + h * flight) < rounding);
}

}  // namespace stiff_motion_test

// SPDX-License-Identifier: MIT
// A crowd's kernels against those of a single body, lane by lane, on every instruction set.
#include "plush/format/factor_panels.h"
#include "plush/format/tet_block.h"

#include "base/vector_math.h"
#include "elasticity/element_pass.h"
#include "runtime/crowd_lanes.h"
#include "runtime/simd_targets.h"
#include "runtime/solver_fixtures.h"
#include "solver/panel_solve.h"
#include "solver/volume_sweep.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <vector>

using namespace plush;
using namespace plush::test;

namespace crowd_kernels_test {

constexpr float kDt = 0.01f;
constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();
constexpr int kPolarIterations = 4;

// The state of one body, so strained that a few tets are flat or inverted.
struct Subject {
  std::vector<NodeVec> x;  // some pinned
  std::vector<float> kappa;
  Quat rotation;
};

// Sixteen bodies of one asset.
struct Crowd16 {
  explicit Crowd16(uint32_t seed, double poisson = 0.4)
      : random(seed),
        shape(TetBox(1 + seed % 4, 2, 3, 0.1, 0.09, seed), {2.0e5, poisson, 1000.0}, double(kDt)),
        factor(shape) {
    factor.Factorise(SystemOf(shape, kDt));
    for (size_t lane = 0; lane < kCrowdLanes; ++lane) subjects.push_back(MakeSubject());
  }

  Subject MakeSubject() {
    Subject s;
    const Eigen::Matrix3d R = random.Rotation();
    s.rotation = ToQuat(R * random.Rotation(0.2));
    s.x = ToNodeVecs(R * (ToEigen(shape.rest()) + random.Vectors(shape.num_nodes(), 0.03)));
    for (size_t i = 0; i < shape.num_nodes(); ++i) s.x[i].w = 1.0f / shape.simulation().masses[i];
    for (const uint32_t node : random.Nodes(shape.num_nodes(), 0.1)) s.x[node].w = 0.0f;
    s.kappa.resize(shape.num_places());
    for (const uint32_t slot : shape.elements().slots) {
      s.kappa[slot] = static_cast<float>(random.Uniform(-1e-4, 1e-4));
    }
    return s;
  }

  std::vector<float> Positions() const {
    std::vector<float> out = CrowdNumbers(shape.num_nodes(), 4);
    for (size_t lane = 0; lane < kCrowdLanes; ++lane) PutLane(subjects[lane].x, 4, lane, &out);
    return out;
  }

  std::vector<float> Kappa() const {
    std::vector<float> out = CrowdNumbers(shape.num_places(), 1);
    for (size_t lane = 0; lane < kCrowdLanes; ++lane) PutLane(subjects[lane].kappa, lane, &out);
    return out;
  }

  Random random;
  ShapeAsset shape;
  SystemFactor factor;
  std::vector<Subject> subjects;
};

// Result of the element pass: a right-hand side and rotations.
struct Impulses {
  std::vector<NodeVec> rhs;
  std::vector<Quat> rotations;  // by place
};

Impulses AloneImpulses(const Crowd16& c, const Subject& s) {
  RotationArray rotations(c.shape.num_blocks(), s.rotation);
  Impulses out;
  out.rhs.resize(s.x.size());
  std::vector<float> kappa = s.kappa;
  AddElasticImpulses(c.shape.elements(), s.x, {kDt, 0.0f, kPolarIterations}, {}, kappa, 0,
                     c.shape.num_blocks(), rotations.view(), out.rhs);
  for (uint32_t slot = 0; slot < c.shape.num_places(); ++slot) {
    out.rotations.push_back(rotations.Get(slot));
  }
  return out;
}

std::vector<Impulses> CrowdImpulses(const Crowd16& c, const std::vector<float>& active) {
  std::vector<float> rotations = CrowdNumbers(c.shape.num_places(), 4);
  std::vector<float> rhs = CrowdNumbers(c.shape.num_nodes(), 3);
  for (size_t lane = 0; lane < kCrowdLanes; ++lane) {
    const RotationView view(rotations, lane);
    for (uint32_t slot = 0; slot < c.shape.num_places(); ++slot) {
      view.Set(slot, c.subjects[lane].rotation);
    }
  }
  std::vector<float> lowest(kCrowdLanes, 1.0f);
  AddCrowdImpulses(c.shape.elements(), c.Positions().data(), {kDt, 0.0f, kPolarIterations},
                   c.Kappa().data(), active.data(), 0, c.shape.num_blocks(), rotations.data(),
                   rhs.data(), lowest.data());
  std::vector<Impulses> out;
  for (size_t lane = 0; lane < kCrowdLanes; ++lane) {
    Impulses one = {NodesInLane(rhs, 3, lane), {}};
    const RotationView view(rotations, lane);
    for (uint32_t slot = 0; slot < c.shape.num_places(); ++slot) {
      one.rotations.push_back(view.Get(slot));
    }
    out.push_back(one);
  }
  return out;
}

// Rotations of the places that have a tet, as numbers.
std::vector<float> Rotations(const Crowd16& c, const Impulses& impulses) {
  std::vector<float> out;
  for (const uint32_t slot : c.shape.elements().slots) {
    const Quat& q = impulses.rotations[slot];
    out.insert(out.end(), {q.x, q.y, q.z, q.w});
  }
  return out;
}

struct Swept {
  std::vector<NodeVec> x;
  std::vector<float> kappa;
  float lowest_det_f = 0.0f, largest = 0.0f;
};

Swept AloneSweep(const Crowd16& c, const Subject& s) {
  Swept out = {s.x, s.kappa};
  const SweepChanges changes = SweepVolumes(c.shape.elements(), kDt, out.x, out.kappa);
  out.lowest_det_f = changes.lowest_det_f;
  out.largest = changes.largest;
  return out;
}

std::vector<Swept> CrowdSweeps(const Crowd16& c) {
  std::vector<float> positions = c.Positions(), kappa = c.Kappa();
  CrowdSweepChanges changes;
  SweepCrowdVolumes(c.shape.elements(), kDt, positions.data(), kappa.data(), &changes);
  std::vector<Swept> out;
  for (size_t lane = 0; lane < kCrowdLanes; ++lane) {
    out.push_back({NodesInLane(positions, 4, lane), NumbersInLane(kappa, lane),
                   changes.lowest_det_f[lane], changes.largest[lane]});
  }
  return out;
}

std::vector<std::vector<NodeVec>> CrowdSolutions(const Crowd16& c,
                                                 const std::vector<std::vector<NodeVec>>& sides,
                                                 uint32_t num_active) {
  std::vector<float> x = CrowdNumbers(c.shape.num_nodes(), 3);
  for (size_t lane = 0; lane < kCrowdLanes; ++lane) PutLane(sides[lane], 3, lane, &x);
  PanelFactor factor = c.factor.panels();
  factor.num_active = num_active;
  SolveCrowd(factor, x.data());
  std::vector<std::vector<NodeVec>> out;
  for (size_t lane = 0; lane < kCrowdLanes; ++lane) out.push_back(NodesInLane(x, 3, lane));
  return out;
}

// Drops the spare element, which crowds do not have.
std::vector<float> Nodes(std::vector<NodeVec> v) {
  v.pop_back();
  return NumbersOf(v);
}

const std::vector<float> kAll(kCrowdLanes, 1.0f);

TEST_CASE("Impulses and rotations of a crowd are bit by bit those of its bodies") {
  const uint32_t seed = GENERATE(1u, 2u, 3u, 4u, 5u);
  CAPTURE(seed);
  const Crowd16 c(seed);
  for (const int64_t target : SimdTargets()) {
    CAPTURE(NameOf(target));
    const SimdTargetScope scope(target);
    const std::vector<Impulses> crowd = CrowdImpulses(c, kAll);
    for (size_t lane = 0; lane < kCrowdLanes; ++lane) {
      CAPTURE(lane);
      const Impulses alone = AloneImpulses(c, c.subjects[lane]);
      REQUIRE(SameBits(Rotations(c, crowd[lane]), Rotations(c, alone)));
      REQUIRE(SameBits(Nodes(crowd[lane].rhs), Nodes(alone.rhs)));
    }
  }
}

TEST_CASE("Lanes that take no part keep their rotations") {
  const uint32_t seed = GENERATE(6u, 7u);
  CAPTURE(seed);
  const Crowd16 c(seed);
  std::vector<float> active = kAll;
  for (size_t lane : {size_t{0}, size_t{5}, size_t{15}}) active[lane] = 0.0f;
  for (const int64_t target : SimdTargets()) {
    CAPTURE(NameOf(target));
    const SimdTargetScope scope(target);
    const std::vector<Impulses> all = CrowdImpulses(c, kAll), some = CrowdImpulses(c, active);
    for (size_t lane = 0; lane < kCrowdLanes; ++lane) {
      CAPTURE(lane);
      if (active[lane] > 0.0f) {
        REQUIRE(SameBits(Rotations(c, some[lane]), Rotations(c, all[lane])));
        REQUIRE(SameBits(Nodes(some[lane].rhs), Nodes(all[lane].rhs)));
      } else {
        const Quat& q = c.subjects[lane].rotation;
        for (const Quat& kept : some[lane].rotations) {
          REQUIRE((kept.x == q.x && kept.y == q.y && kept.z == q.z && kept.w == q.w));
        }
      }
    }
  }
}

TEST_CASE("A crowd's volume sweep is bit by bit that of its bodies") {
  const uint32_t seed = GENERATE(1u, 2u, 3u, 4u, 5u);
  const double poisson = GENERATE(0.4, 0.0);
  CAPTURE(seed, poisson);
  const Crowd16 c(seed, poisson);
  for (const int64_t target : SimdTargets()) {
    CAPTURE(NameOf(target));
    const SimdTargetScope scope(target);
    const std::vector<Swept> crowd = CrowdSweeps(c);
    float lowest = 1.0f, largest = 0.0f;
    for (size_t lane = 0; lane < kCrowdLanes; ++lane) {
      CAPTURE(lane);
      const Swept alone = AloneSweep(c, c.subjects[lane]);
      REQUIRE(SameBits(Nodes(crowd[lane].x), Nodes(alone.x)));
      for (const uint32_t slot : c.shape.elements().slots) {
        REQUIRE(crowd[lane].kappa[slot] == alone.kappa[slot]);
      }
      REQUIRE(crowd[lane].lowest_det_f == alone.lowest_det_f);
      REQUIRE(crowd[lane].largest == alone.largest);
      lowest = std::fmin(lowest, alone.lowest_det_f);
      largest = std::fmax(largest, alone.largest);
      if (poisson == 0.0) REQUIRE(SameBits(Nodes(alone.x), Nodes(c.subjects[lane].x)));
    }
    if (poisson > 0.0) {
      CHECK(largest > 0.8f);
    } else {
      CHECK(lowest < 0.2f);
    }
  }
}

TEST_CASE("A crowd's solve is that of its bodies") {
  const uint32_t seed = GENERATE(1u, 2u, 3u, 4u, 5u, 6u, 7u, 8u);
  CAPTURE(seed);
  Crowd16 c(seed);
  std::vector<std::vector<NodeVec>> sides;
  for (size_t lane = 0; lane < kCrowdLanes; ++lane) {
    sides.push_back(ToNodeVecs(c.random.Vectors(c.shape.num_nodes(), 1.0)));
  }
  const uint32_t num_nodes = static_cast<uint32_t>(c.shape.num_nodes());
  double worst = 0.0;
  for (const int64_t target : SimdTargets()) {
    CAPTURE(NameOf(target));
    const SimdTargetScope scope(target);
    const auto crowd = CrowdSolutions(c, sides, num_nodes);
    for (size_t lane = 0; lane < kCrowdLanes; ++lane) {
      CAPTURE(lane);
      std::vector<NodeVec> alone = sides[lane];
      c.factor.Solve(&alone);
      const double size = ToEigen(alone).norm();
      const double difference = (ToEigen(crowd[lane]) - ToEigen(alone)).norm();
      worst = std::max(worst, difference / size);
      REQUIRE(difference < 3e-6 * size);
    }
  }
  std::printf("crowd solve, seed %u: within %.1e of the bodies' own\n", seed, worst);
}

TEST_CASE("A crowd's solve leaves out the nodes behind the active ones") {
  const uint32_t seed = GENERATE(11u, 12u);
  CAPTURE(seed);
  Random random(seed);
  const ShapeAsset shape =
      ShapeAsset::Baked(TetBox(6, 3, 2, 0.1, 0.09, seed), {2.0e5, 0.4, 1000.0}, double(kDt),
                        R"({"regions": [{"name": "low", "box": [[-1, -1, -1], [1, 0.05, 1]]}]})");
  const FactorView& baked = shape.asset().factor();
  const uint32_t num_nodes = static_cast<uint32_t>(shape.num_nodes());
  REQUIRE(baked.num_free < num_nodes);
  const PanelFactor factor = {baked.supernodes, baked.supernode_of, baked.rows,
                              baked.values,     num_nodes,          baked.num_free};
  std::vector<float> x = CrowdNumbers(num_nodes, 3),
                     workspace(PanelWorkspaceSize(baked.supernodes, num_nodes));
  std::vector<std::vector<NodeVec>> sides;
  for (size_t lane = 0; lane < kCrowdLanes; ++lane) {
    sides.push_back(ToNodeVecs(random.Vectors(num_nodes, 1.0)));
    PutLane(sides.back(), 3, lane, &x);
  }
  SolveCrowd(factor, x.data());
  for (size_t lane = 0; lane < kCrowdLanes; ++lane) {
    CAPTURE(lane);
    const std::vector<NodeVec> found = NodesInLane(x, 3, lane);
    SolvePanels(factor, workspace, sides[lane]);
    REQUIRE((ToEigen(found) - ToEigen(sides[lane])).norm() < 3e-6 * ToEigen(found).norm());
    for (uint32_t i = baked.num_free; i < num_nodes; ++i) {
      REQUIRE((found[i].x == 0.0f && found[i].y == 0.0f && found[i].z == 0.0f));
    }
  }
}

TEST_CASE("No lane of a crowd's kernels sees another") {
  const uint32_t seed = GENERATE(20u, 21u, 22u);
  CAPTURE(seed);
  Crowd16 calm(seed), other(seed);
  const size_t kept = calm.random.Below(kCrowdLanes);
  std::vector<std::vector<NodeVec>> sides;
  for (size_t lane = 0; lane < kCrowdLanes; ++lane) {
    sides.push_back(ToNodeVecs(calm.random.Vectors(calm.shape.num_nodes(), 1.0)));
  }
  // Each of the other lanes differs: broken, far away, flat, or another body.
  std::vector<std::vector<NodeVec>> other_sides = sides;
  for (size_t lane = 0; lane < kCrowdLanes; ++lane) {
    if (lane == kept) continue;
    Subject& s = other.subjects[lane];
    s = other.MakeSubject();
    for (NodeVec& x : s.x) {
      if (lane % 4 == 0) x = Vec3{kNaN, kNaN, kNaN};
      if (lane % 4 == 1) x = x * 1.0e30f;
      if (lane % 4 == 2) x.x = 0.0f;
    }
    for (NodeVec& b : other_sides[lane]) b = lane % 2 == 0 ? Vec3{kNaN, kNaN, kNaN} : b * 1.0e38f;
  }
  const uint32_t num_nodes = static_cast<uint32_t>(calm.shape.num_nodes());
  for (const int64_t target : SimdTargets()) {
    CAPTURE(NameOf(target), kept);
    const SimdTargetScope scope(target);
    const Impulses a = CrowdImpulses(calm, kAll)[kept], b = CrowdImpulses(other, kAll)[kept];
    CHECK(SameBits(Nodes(a.rhs), Nodes(b.rhs)));
    CHECK(SameBits(Rotations(calm, a), Rotations(other, b)));
    const Swept c = CrowdSweeps(calm)[kept], d = CrowdSweeps(other)[kept];
    CHECK(SameBits(Nodes(c.x), Nodes(d.x)));
    CHECK(SameBits(c.kappa, d.kappa));
    CHECK(c.lowest_det_f == d.lowest_det_f);
    CHECK(c.largest == d.largest);
    CHECK(SameBits(Nodes(CrowdSolutions(calm, sides, num_nodes)[kept]),
                   Nodes(CrowdSolutions(other, other_sides, num_nodes)[kept])));
  }
}

TEST_CASE("Every instruction set gives crowds the same solutions") {
  const uint32_t seed = GENERATE(30u, 31u);
  CAPTURE(seed);
  Crowd16 c(seed);
  std::vector<std::vector<NodeVec>> sides;
  for (size_t lane = 0; lane < kCrowdLanes; ++lane) {
    sides.push_back(ToNodeVecs(c.random.Vectors(c.shape.num_nodes(), 1.0)));
  }
  const uint32_t num_nodes = static_cast<uint32_t>(c.shape.num_nodes());
  const std::vector<int64_t> targets = SimdTargets();
  std::vector<std::vector<NodeVec>> plain;
  {
    const SimdTargetScope scope(targets.back());
    plain = CrowdSolutions(c, sides, num_nodes);
  }
  for (const int64_t target : targets) {
    CAPTURE(NameOf(target));
    const SimdTargetScope scope(target);
    const auto found = CrowdSolutions(c, sides, num_nodes);
    for (size_t lane = 0; lane < kCrowdLanes; ++lane) {
      if (kIsDeterministic) REQUIRE(SameBits(NumbersOf(found[lane]), NumbersOf(plain[lane])));
      const double size = ToEigen(plain[lane]).norm();
      REQUIRE((ToEigen(found[lane]) - ToEigen(plain[lane])).norm() < 3e-6 * size);
    }
  }
}

}  // namespace crowd_kernels_test

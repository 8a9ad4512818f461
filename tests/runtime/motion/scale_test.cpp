// SPDX-License-Identifier: MIT
// A body of scale s is the body of the mesh scaled by s: its motion, energies, forces and queries.
#include "plush/format/cdg_records.h"
#include "plush/format/tet_block.h"

#include "base/vector_math.h"
#include "runtime/crowds/crowd_scene.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <vector>

using namespace plush;
using namespace plush::test;

namespace scale_test {

constexpr float kDt = 0.01f;

// Two worlds with the same body: a scaled one, and one of a scaled mesh.
struct Pair {
  Pair(float by, uint32_t seed, const tools::Material& material = {1.0e5, 0.4, 1000.0})
      : scale(by),
        small(TetBox(3, 2, 2, 0.1, 0.09, seed), material, double(kDt)),
        large(TetBox(3, 2, 2, 0.1 * double(by), 0.09, seed), material, double(kDt)) {
    REQUIRE(small.num_nodes() == large.num_nodes());
    // The elimination orders may differ.
    const Points s = double(by) * ToEigen(small.rest()), l = ToEigen(large.rest());
    for (Eigen::Index i = 0; i < s.cols(); ++i) {
      Eigen::Index nearest = 0;
      REQUIRE((l.colwise() - s.col(i)).colwise().norm().minCoeff(&nearest) < 1e-5 * double(by));
      of_large.push_back(static_cast<uint32_t>(nearest));
    }
  }

  void Add(BodyDesc desc, const WorldDesc& settings = {}, int count = 1) {
    for (World** world : {&scaled, &baked}) {
      delete *world;
      *world = new World(settings);
    }
    const std::span<const uint32_t> pins = desc.pinned_nodes;
    std::vector<uint32_t> large_pins;
    for (const uint32_t pin : pins) large_pins.push_back(of_large[pin]);
    for (int i = 0; i < count; ++i) {
      desc.pinned_nodes = pins;
      desc.scale = scale;
      a = AddBody(scaled, small.asset(), desc);
      desc.scale = 1.0f;
      desc.pinned_nodes = large_pins;
      b = AddBody(baked, large.asset(), desc);
    }
  }
  ~Pair() {
    delete scaled;
    delete baked;
  }
  Pair(const Pair&) = delete;

  // From the nodes of the scaled body to those of the scaled mesh.
  template <class T>
  std::vector<T> ToLarge(const std::vector<T>& v) const {
    std::vector<T> out(v.size());
    for (size_t i = 0; i < v.size(); ++i) out[of_large[i]] = v[i];
    return out;
  }
  size_t num_nodes() const { return of_large.size(); }
  void Step() {
    const uint32_t flags = StepWorld(scaled, kDt);
    REQUIRE(StepWorld(baked, kDt) == flags);
  }
  // Largest distance of a node from where it should be, relative to the scale.
  double Apart() const {
    return (ToEigen(ToLarge(PositionsOf(*scaled, a, num_nodes()))) -
            ToEigen(PositionsOf(*baked, b, num_nodes())))
               .colwise()
               .norm()
               .maxCoeff() /
           double(scale);
  }

  float scale;
  ShapeAsset small, large;
  std::vector<uint32_t> of_large;
  World* scaled = nullptr;
  World* baked = nullptr;
  BodyId a, b;
};

void CheckNear(const double (&a)[3], const double (&b)[3], double tolerance) {
  for (int k = 0; k < 3; ++k) CHECK(a[k] == Approx(b[k]).margin(tolerance));
}

void CheckMeasures(const Pair& pair) {
  const WorldMeasures a = MeasuresOf(*pair.scaled), b = MeasuresOf(*pair.baked);
  const double energy = b.kinetic_j + b.elastic_j + std::fabs(b.gravity_j);
  CHECK(a.mass_kg == Approx(b.mass_kg).epsilon(1e-5));
  CHECK(a.kinetic_j == Approx(b.kinetic_j).margin(1e-3 * energy));
  CHECK(a.elastic_j == Approx(b.elastic_j).margin(1e-3 * energy));
  CHECK(a.gravity_j == Approx(b.gravity_j).margin(1e-4 * energy));
  // A position's rounding per step is 6e-6 m/s.
  constexpr double kRounding = 1e-5;
  CHECK(double(a.max_speed) == Approx(double(b.max_speed)).epsilon(2e-3).margin(kRounding));
  CHECK(double(a.min_det_f) == Approx(double(b.min_det_f)).margin(2e-3));
  CHECK(double(pair.scaled->stats().max_speed) ==
        Approx(double(pair.baked->stats().max_speed)).epsilon(2e-3).margin(kRounding));
  const BodyMoments m = MomentsOf(*pair.scaled, pair.a), n = MomentsOf(*pair.baked, pair.b);
  CHECK(m.mass == Approx(n.mass).epsilon(1e-5));
  CHECK(m.volume == Approx(n.volume).epsilon(1e-3));
  CHECK(m.kinetic_j == Approx(n.kinetic_j).margin(1e-3 * energy));
  CHECK(m.elastic_j == Approx(n.elastic_j).margin(1e-3 * energy));
  const double momentum = n.mass * double(b.max_speed);
  CheckNear(m.centre, n.centre, 1e-4 * double(pair.scale));
  CheckNear(m.linear_momentum, n.linear_momentum, 1e-3 * momentum);
  CheckNear(m.angular_momentum, n.angular_momentum, 1e-3 * momentum * 0.3 * double(pair.scale));
  Pose p, q;
  REQUIRE(pair.scaled->BestFitPose(pair.a, &p).ok());
  REQUIRE(pair.baked->BestFitPose(pair.b, &q).ok());
  CHECK(AngleBetween(RotationOf(p.rotation), RotationOf(q.rotation)) < 2e-3);
  CHECK((ToEigen(p.position) - ToEigen(q.position)).norm() < 1e-3 * double(pair.scale));
}

TEST_CASE("A scaled body falls, spins and wobbles as the scaled mesh") {
  const float scale = GENERATE(2.0f, 0.3f, 7.0f);
  const int what = GENERATE(0, 1, 2);  // as baked, other material, damped
  const int count = GENERATE(1, 8);    // alone, in a crowd
  CAPTURE(scale, what, count);
  Pair pair(scale, 3);
  BodyDesc desc = {.pose = {{1.0f, 2.0f, -3.0f}, {0.5f, 0.5f, -0.5f, 0.5f}},
                   .velocity = {1.0f, 2.0f, 0.5f},
                   .angular_velocity = {3.0f, -1.0f, 2.0f}};
  if (what == 1) desc.material = {.young = 3.0e4f, .poisson = 0.3f, .density = 1500.0f};
  if (what == 2) desc.material = {.damping = 0.02f};
  pair.Add(desc, {}, count);
  CHECK(pair.Apart() < 1e-6);
  CheckNear(MomentsOf(*pair.scaled, pair.a).linear_momentum,
            MomentsOf(*pair.baked, pair.b).linear_momentum,
            1e-5 * MomentsOf(*pair.baked, pair.b).mass);
  Random random(2);
  std::vector<Vec3> v = VelocitiesOf(*pair.scaled, pair.a, pair.num_nodes());
  const std::vector<Vec3> same = VelocitiesOf(*pair.baked, pair.b, pair.num_nodes());
  CHECK((ToEigen(pair.ToLarge(v)) - ToEigen(same)).norm() < 1e-4 * double(scale));
  for (Vec3& velocity : v) velocity += ToVec3(random.Vector(double(scale)));
  REQUIRE(pair.scaled->SetNodeVelocities(pair.a, v).ok());
  REQUIRE(pair.baked->SetNodeVelocities(pair.b, pair.ToLarge(v)).ok());
  for (int step = 0; step < 40; ++step) {
    pair.Step();
    REQUIRE(pair.Apart() < 1e-4);
  }
  CheckMeasures(pair);
}

TEST_CASE("A scaled body hangs and swings as the scaled mesh, with the same forces on its pins") {
  const float scale = GENERATE(2.0f, 0.4f);
  CAPTURE(scale);
  Pair pair(scale, 4);
  const RegionView region = pair.small.asset().region(0);
  pair.Add({.pose = {.rotation = {0.0f, 0.0f, 0.6f, 0.8f}},
            .pinned_nodes = region.nodes,
            .report_reactions = true});
  Random random(2);
  const std::vector<Vec3> v = ToVec3s(random.Vectors(pair.num_nodes(), 2.0 * double(scale)));
  REQUIRE(pair.scaled->SetNodeVelocities(pair.a, v).ok());
  REQUIRE(pair.baked->SetNodeVelocities(pair.b, pair.ToLarge(v)).ok());
  float fastest = 0.0f;  // after ten steps
  for (int step = 0; step < 20; ++step) {
    pair.Step();
    if (step >= 10) fastest = std::max(fastest, pair.scaled->stats().max_speed);
  }
  CHECK(pair.Apart() < 1e-4);
  CHECK(fastest > 0.002f * scale);
  CheckMeasures(pair);
  Reaction a, b;
  REQUIRE(pair.scaled->RegionReaction(pair.a, 0, &a).ok());
  REQUIRE(pair.baked->RegionReaction(pair.b, 0, &b).ok());
  CHECK((ToEigen(a.force) - ToEigen(b.force)).norm() < 1e-3 * ToEigen(b.force).norm());
  CHECK((ToEigen(a.torque) - ToEigen(b.torque)).norm() <
        1e-3 * ToEigen(b.force).norm() * double(scale));
  CHECK((ToEigen(a.about) - ToEigen(b.about)).norm() < 1e-5 * double(scale));
}

TEST_CASE("A scaled body drops onto a plane as the scaled mesh") {
  const float scale = GENERATE(2.0f, 0.5f);
  const bool penalty = GENERATE(false, true);
  CAPTURE(scale, penalty);
  Pair pair(scale, 5, {1.0e5, 0.4, 1000.0, 0.01});
  BodyDesc desc = {.pose = {.position = {.y = 0.02f * scale}}};
  pair.Add(desc, {.contact = {.method = penalty ? &kPenaltyContact : nullptr}});
  for (World* world : {pair.scaled, pair.baked}) {
    ColliderId id;
    REQUIRE(world->AddCollider({}, &id).ok());
  }
  const double size = double(scale);
  double deepest = 0.0;
  for (int step = 0; step < 30; ++step) {
    pair.Step();
    REQUIRE(pair.Apart() < 1e-3);
    const double depth = double(MeasuresOf(*pair.baked).max_penetration);
    CHECK(double(MeasuresOf(*pair.scaled).max_penetration) == Approx(depth).margin(1e-4 * size));
    deepest = std::fmax(deepest, depth);
  }
  CHECK(pair.scaled->stats().contacts == pair.baked->stats().contacts);
  CHECK((pair.scaled->stats().contacts > 0) == !penalty);
  CHECK((deepest > 1e-3 * size) == penalty);  // only penalties let bodies sink in
}

TEST_CASE("Positions, velocities, impulses and forces are those of the scaled mesh") {
  const uint32_t seed = GENERATE(1u, 2u, 3u);
  const float scale = seed == 1 ? 2.0f : seed == 2 ? 0.05f : 30.0f;
  CAPTURE(seed, scale);
  Pair pair(scale, seed);
  pair.Add({});
  Random random(seed);
  const size_t n = pair.num_nodes();
  // Positions come back as set, anywhere.
  Points x = double(scale) * (ToEigen(pair.small.rest()) + random.Vectors(n, 0.01));
  x.colwise() += Eigen::Vector3d(4.0, -7.0, 2.0);
  REQUIRE(pair.scaled->SetNodePositions(pair.a, ToVec3s(x)).ok());
  REQUIRE(pair.baked->SetNodePositions(pair.b, pair.ToLarge(ToVec3s(x))).ok());
  CHECK((ToEigen(PositionsOf(*pair.scaled, pair.a, n)) - x).cwiseAbs().maxCoeff() <
        1e-6 * (8.0 + double(scale)));
  const std::vector<Vec3> v = ToVec3s(random.Vectors(n, 3.0));
  REQUIRE(pair.scaled->SetNodeVelocities(pair.a, v).ok());
  REQUIRE(pair.baked->SetNodeVelocities(pair.b, pair.ToLarge(v)).ok());
  CHECK((ToEigen(VelocitiesOf(*pair.scaled, pair.a, n)) - ToEigen(v)).norm() < 1e-5);
  // Elastic forces: also minus the gradient of the energy, by the other body.
  std::vector<Vec3> f(n), g(n);
  REQUIRE(pair.scaled->ElasticForces(pair.a, f).ok());
  REQUIRE(pair.baked->ElasticForces(pair.b, g).ok());
  CHECK((ToEigen(pair.ToLarge(f)) - ToEigen(g)).norm() < 1e-3 * ToEigen(g).norm());
  // Impulses change the momentum by their sum.
  const BodyMoments before = MomentsOf(*pair.scaled, pair.a);
  const std::vector<Vec3> impulses = ToVec3s(before.mass * random.Vectors(n, 0.3));
  REQUIRE(pair.scaled->AddImpulses(pair.a, impulses).ok());
  const BodyMoments after = MomentsOf(*pair.scaled, pair.a);
  const Eigen::Vector3d sum = ToEigen(impulses).rowwise().sum();
  for (int k = 0; k < 3; ++k) {
    CHECK(after.linear_momentum[k] - before.linear_momentum[k] ==
          Approx(sum[k]).margin(1e-4 * before.mass));
  }
  // Box, against the nodes.
  Bounds bounds;
  REQUIRE(pair.scaled->GetBounds(pair.a, &bounds).ok());
  const Points now = ToEigen(PositionsOf(*pair.scaled, pair.a, n));
  CHECK((ToEigen(bounds.low) - now.rowwise().minCoeff()).norm() == 0.0);
  CHECK((ToEigen(bounds.high) - now.rowwise().maxCoeff()).norm() == 0.0);
}

TEST_CASE("The largest speed of a scaled body is that of the world") {
  const ShapeAsset shape(TetBox(2, 1, 1, 0.1, 0.05, 6), {}, double(kDt));
  const float scale = GENERATE(0.5f, 3.0f);
  const int count = GENERATE(1, 8);
  World world({.gravity = {}});
  BodyId id;
  for (int i = 0; i < count; ++i) {
    id = AddBody(&world, shape.asset(),
                 {.scale = scale, .velocity = {6.0f, 8.0f, 0.0f}, .max_speed = 5.0f});
  }
  StepWorld(&world, kDt);
  CHECK(world.stats().max_speed <= 5.0001f);
  for (const Vec3& v : VelocitiesOf(world, id, shape.num_nodes())) {
    CHECK((ToEigen(v) - Eigen::Vector3d(3.0, 4.0, 0.0)).norm() < 1e-3);
  }
}

TEST_CASE("Queries on a scaled body are those on the scaled mesh") {
  const uint32_t seed = GENERATE(1u, 2u);
  CAPTURE(seed);
  const float scale = 2.0f;  // a power of two: both surfaces are cut alike
  Pair pair(scale, seed);
  BodyDesc desc;
  Random random(seed);
  desc.pose = {{0.7f, -0.2f, 0.1f}, ToQuat(random.Rotation())};
  pair.Add(desc);
  const CollisionView &s = pair.small.asset().collision(), &l = pair.large.asset().collision();
  REQUIRE(s.num_triangles() == l.num_triangles());
  Points x = ToEigen(PositionsOf(*pair.scaled, pair.a, pair.num_nodes()));
  x += random.Vectors(pair.num_nodes(), 0.02);
  REQUIRE(pair.scaled->SetNodePositions(pair.a, ToVec3s(x)).ok());
  REQUIRE(pair.baked->SetNodePositions(pair.b, pair.ToLarge(ToVec3s(x))).ok());
  const auto same = [](const SurfacePoint& p, const SurfacePoint& q) {
    if (p.valid() != q.valid()) return false;
    return !p.valid() || ((ToEigen(p.position) - ToEigen(q.position)).norm() < 1e-5 &&
                          (ToEigen(p.normal) - ToEigen(q.normal)).norm() < 1e-3 &&
                          std::fabs(p.distance - q.distance) < 1e-5f && p.front == q.front);
  };
  int met = 0, differ = 0;
  std::vector<SurfacePoint> hits(64), others(64);
  for (int i = 0; i < 400; ++i) {
    const Vec3 origin = ToVec3(random.Vector(2.0)), target = ToVec3(x.col(i % x.cols()));
    const Ray ray = {.origin = origin,
                     .direction = target - origin + ToVec3(random.Vector(0.1)),
                     .max_distance = i % 3 == 0 ? 1.5f : 10.0f};
    SurfacePoint p, q;
    REQUIRE(pair.scaled->Raycast(ray, {}, &p).ok());
    REQUIRE(pair.baked->Raycast(ray, {}, &q).ok());
    differ += same(p, q) ? 0 : 1;
    met += p.valid() ? 1 : 0;
    if (p.valid()) REQUIRE(p.distance <= ray.max_distance);
    uint32_t count = 0, other_count = 0;
    REQUIRE(pair.scaled->RaycastAll(ray, {}, hits, &count).ok());
    REQUIRE(pair.baked->RaycastAll(ray, {}, others, &other_count).ok());
    differ += count == other_count ? 0 : 1;
    for (uint32_t k = 0; k < std::min(count, other_count); ++k) {
      differ += same(hits[k], others[k]) ? 0 : 1;
    }
    const Vec3 centre = ToVec3(random.Vector(0.5));
    const float reach = i % 2 == 0 ? 3.0f : 0.3f;
    REQUIRE(pair.scaled->ClosestPoint(centre, reach, {}, &p).ok());
    REQUIRE(pair.baked->ClosestPoint(centre, reach, {}, &q).ok());
    differ += same(p, q) ? 0 : 1;
    if (p.valid())
      CHECK((ToEigen(p.position) - ToEigen(centre)).norm() ==
            Approx(double(p.distance)).margin(1e-5));
    REQUIRE(pair.scaled->OverlapSphere(centre, 0.25f, {}, hits, &count).ok());
    REQUIRE(pair.baked->OverlapSphere(centre, 0.25f, {}, others, &other_count).ok());
    differ += count == other_count ? 0 : 1;
    for (uint32_t k = 0; k < std::min<uint32_t>({count, other_count, 64u}); ++k) {
      differ += std::fabs(hits[k].distance - others[k].distance) < 1e-5f ? 0 : 1;
    }
  }
  CHECK(met > 150);
  CHECK(differ <= 4);  // of some thousand: where rounding decides
  double area = 0.0, other_area = 0.0;
  Eigen::Vector3d vector = Eigen::Vector3d::Zero();
  for (uint32_t patch = 0; patch < s.patches.size(); ++patch) {
    DeformedPatch p;
    REQUIRE(pair.scaled->PatchOf(pair.a, patch, &p).ok());
    area += double(p.area);
    vector += ToEigen(p.vector_area);
    CHECK(ToEigen(p.centroid).cwiseAbs().maxCoeff() < 2.0);
  }
  for (uint32_t patch = 0; patch < l.patches.size(); ++patch) {
    DeformedPatch p;
    REQUIRE(pair.baked->PatchOf(pair.b, patch, &p).ok());
    other_area += double(p.area);
  }
  CHECK(area == Approx(other_area).epsilon(1e-5));
  CHECK(area == Approx(4.0 * 0.32).epsilon(0.1));  // a box of 0.3 x 0.2 x 0.2, twice as large
  CHECK(vector.norm() < 1e-5 * area);              // the surface is closed
}

TEST_CASE("Scale 1 changes no bit") {
  const ShapeAsset shape(TetBox(3, 2, 2, 0.1, 0.09, 8), {}, double(kDt));
  const auto hash = [&](const BodyDesc& desc) {
    World world;
    for (int i = 0; i < 8; ++i) AddBody(&world, shape.asset(), desc);
    for (int step = 0; step < 20; ++step) StepWorld(&world, kDt);
    return world.StateHash();
  };
  const uint64_t plain = hash({.angular_velocity = {1, 2, 3}});
  CHECK(hash({.scale = 1.0f, .angular_velocity = {1, 2, 3}, .gravity_factor = 1.0f}) == plain);
  CHECK(hash({.scale = 1.01f, .angular_velocity = {1, 2, 3}}) != plain);
}

}  // namespace scale_test

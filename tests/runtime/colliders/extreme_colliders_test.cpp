// SPDX-License-Identifier: MIT
// Colliders at the ends of what AddCollider accepts, at and in a body, still and moving: bodies
// stay finite, and steps stay bounded.
//
// - PLUSH_TEST_FULL=1 takes 10,000 colliders.
// - PLUSH_EXTREME_SEED=N takes that of one seed, and prints its steps.
#include "runtime/colliders/solid_scene.h"
#include "runtime/collision/static_meshes.h"
#include "skip.h"
#include "sweep.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <memory>
#include <numeric>
#include <vector>

using namespace plush;
using namespace plush::test;

namespace extreme_colliders_test {

constexpr float kTiniest = std::numeric_limits<float>::denorm_min();

// From `low` to `high`, all orders of magnitude alike; one in four times an end.
float Length(Random* random, float low = kTiniest, float high = kMostColliderSize) {
  const uint32_t end = random->Below(8);
  if (end == 0) return low;
  if (end == 1) return high;
  const double length = std::exp(random->Uniform(std::log(double(low)), std::log(double(high))));
  return std::clamp(static_cast<float>(length), low, high);
}

// A length that a body of 0.2 m notices, half of the time.
float AnyLength(Random* random) {
  return random->Below(2) == 0 ? Length(random) : Length(random, 1.0e-3f, 10.0f);
}

// A collider, and what it refers to.
class Extreme {
 public:
  explicit Extreme(uint32_t seed) : random_(seed) {
    MakeShape();
    desc.friction = random_.Below(2) == 0 ? -1.0f : Length(&random_, kTiniest, 1.0e30f);
    desc.restitution = random_.Below(2) == 0 ? -1.0f : static_cast<float>(random_.Uniform(0, 1));
    if (random_.Below(4) == 0) {
      desc.surface_velocity =
          ToVec3(random_.Direction() * double(Length(&random_, kTiniest, 10.0f)));
    }
    desc.sensor = random_.Below(8) == 0 && (desc.type != ShapeType::kMesh || is_closed_);
    // A place of its surface, or of its inside, comes to the origin.
    const Eigen::Matrix3d turn = random_.Rotation();
    const Eigen::Quaterniond q(turn);
    const auto size = double(Length(&random_, 1.0e-5f, 1.0e18f));
    desc.pose.rotation = {static_cast<float>(q.x() * size), static_cast<float>(q.y() * size),
                          static_cast<float>(q.z() * size), static_cast<float>(q.w() * size)};
    const double share = random_.Below(3) == 0 ? random_.Uniform(0.0, 1.0) : 1.0;
    const Eigen::Vector3d beside = random_.Vector(0.1);
    desc.pose.position = ToVec3(beside - share * (RotationOf(desc.pose.rotation) * surface_));
    moves_ = random_.Below(2) == 0;
    way_ = random_.Direction() * double(Length(&random_, kTiniest, 2.0f));
    axis_ = random_.Direction();
    // Faster turns than 30 degrees a step are flagged; far ends move 2 m a step at most.
    const double most = 2.0 / (ToEigen(desc.pose.position).norm() + 1.0);
    angle_ = std::min(double(Length(&random_, kTiniest, 0.5f)), most);
  }

  void Move(World* world, ColliderId id) {
    if (!moves_) return;
    desc.pose.position = ToVec3(ToEigen(desc.pose.position) + way_);
    desc.pose.rotation = ToQuat(Eigen::AngleAxisd(angle_, axis_).toRotationMatrix() *
                                RotationOf(desc.pose.rotation));
    REQUIRE(world->MoveCollider(id, desc.pose).ok());
  }
  bool moves() const { return moves_; }

  ColliderDesc desc;
  const char* name = "";

 private:
  void MakeShape() {
    switch (random_.Below(7)) {
      case 0: {
        name = "plane";
        const Eigen::Vector3d normal = random_.Direction();
        desc.plane.normal = ToVec3(normal * double(Length(&random_, 1.0e-37f, 1.0e37f)));
        desc.plane.offset = AnyLength(&random_) * (random_.Below(2) == 0 ? 1.0f : -1.0f);
        surface_ = normal * double(desc.plane.offset);
        break;
      }
      case 1:
        name = "sphere";
        desc = SphereAt({}, AnyLength(&random_));
        surface_ = random_.Direction() * double(desc.sphere.radius);
        break;
      case 2: {
        name = "capsule";
        const float height = random_.Below(4) == 0 ? 0.0f : AnyLength(&random_);
        desc = CapsuleAt({}, height, AnyLength(&random_));
        surface_ = random_.Direction() * double(desc.capsule.radius);
        surface_.y() += (surface_.y() < 0.0 ? -1.0 : 1.0) * double(height);
        break;
      }
      case 3: {
        name = "box";
        const Vec3 half = {AnyLength(&random_), AnyLength(&random_), AnyLength(&random_)};
        desc = BoxAt({}, half);
        surface_ = ToEigen(half).cwiseProduct(random_.Vector(1.0));
        const auto side = static_cast<Eigen::Index>(random_.Below(3));
        surface_[side] = ToEigen(half)[side];
        break;
      }
      case 4: {
        name = "hull";
        const Eigen::Vector3d half(AnyLength(&random_), AnyLength(&random_), AnyLength(&random_));
        const uint32_t count = 4 + random_.Below(kMostHullPoints - 3);
        for (uint32_t i = 0; i < count; ++i) {
          points_.push_back(ToVec3(half.cwiseProduct(random_.Direction())));
        }
        desc = HullAt({}, points_);
        surface_ = ToEigen(points_[0]);
        break;
      }
      case 5: {
        name = "height field";
        const uint32_t columns = 2 + random_.Below(9), rows = 2 + random_.Below(9);
        const float most = kMostColliderSize / static_cast<float>(std::max(columns, rows));
        const float spacing = std::min(AnyLength(&random_), 0.999f * most);
        const float height = AnyLength(&random_);
        for (uint32_t i = 0; i < columns * rows; ++i) {
          heights_.push_back(height * static_cast<float>(random_.Uniform(-1.0, 1.0)));
        }
        desc.type = ShapeType::kHeightField;
        desc.height_field = {heights_, columns, rows, spacing};
        const uint32_t column = random_.Below(columns), row = random_.Below(rows);
        surface_ = {double(spacing) * column, double(heights_[row * columns + column]),
                    double(spacing) * row};
        break;
      }
      default: {
        name = "mesh";
        is_closed_ = random_.Below(2) == 0;
        const float most = 0.9f * kMostColliderSize;
        SurfaceMesh surface = plush::tests::MakeGridBox({-1, -1, -1}, {1, 1, 1}, 3);
        if (!is_closed_) {
          SurfaceMesh part = {.positions = surface.positions};
          part.triangles = surface.triangles;
          part.triangles.resize(1 + random_.Below(20));
          plush::tests::CompleteMesh(&part);
          surface = part;
        }
        const Eigen::Vector3d half(Length(&random_, 1.0e-3f, 1.0f), Length(&random_, 1.0e-3f, 1.0f),
                                   Length(&random_, 1.0e-3f, 1.0f));
        for (Vec3d& p : surface.positions) p = {p.x * half.x(), p.y * half.y(), p.z * half.z()};
        mesh_ = std::make_unique<StaticSubject>(
            surface, is_closed_ ? MeshSides::kSolid
                                : (random_.Below(2) == 0 ? MeshSides::kFront : MeshSides::kBoth));
        const float scale = std::min(AnyLength(&random_), most);
        desc = MeshOf(*mesh_, {}, scale);
        const Vec3d& corner = surface.positions[surface.triangles[0][0]];
        surface_ = double(scale) * Eigen::Vector3d(corner.x, corner.y, corner.z);
      }
    }
  }

  Random random_;
  std::vector<Vec3> points_;
  std::vector<float> heights_;
  std::unique_ptr<StaticSubject> mesh_;
  bool is_closed_ = true;
  Eigen::Vector3d surface_ = Eigen::Vector3d::Zero();  // a point of it
  bool moves_ = false;
  Eigen::Vector3d way_, axis_;  // in each step
  double angle_ = 0.0;
};

TEST_CASE("Colliders of all sizes, places and turns leave bodies finite", "[long]") {
  const char* only = std::getenv("PLUSH_EXTREME_SEED");
  const uint32_t first = only != nullptr ? static_cast<uint32_t>(std::atoi(only)) : 1;
  const uint32_t count = only != nullptr ? 1 : tests::SweepCount(300u, 10000u);
  // These froze bodies before free ones of any material had a bound of energy. Of all 10,000, only
  // 5798 still does, pushed at 200 m/s.
  const uint32_t known[] = {997,  1467, 1587, 2366, 3403, 4011, 5155,
                            6251, 7706, 7816, 8706, 8748, 9889, 9966};
  std::vector<uint32_t> seeds(count);
  std::iota(seeds.begin(), seeds.end(), first);
  if (only == nullptr && !tests::FullTests()) {
    seeds.insert(seeds.end(), std::begin(known), std::end(known));
  }
  uint32_t refused = 0, frozen = 0, infinite = 0, touched = 0, sweeps = 0;
  for (const uint32_t seed : seeds) {
    CAPTURE(seed);
    Extreme extreme(seed);
    const bool has_surface = seed % 2 == 0;
    SolidScene scene(has_surface, {.pose = {.position = {-0.1f, -0.1f, -0.1f}}});
    ColliderId id;
    const Status added = scene.world.AddCollider(extreme.desc, &id);
    if (!added.ok()) {  // a flat hull
      INFO(extreme.name << ": " << added.section << " " << added.reason);
      REQUIRE(extreme.desc.type == ShapeType::kHull);
      ++refused;
      continue;
    }
    bool is_finite = true, touches = false;
    for (int step = 0; step < 40 && is_finite; ++step) {
      extreme.Move(&scene.world, id);
      scene.Step(1);
      const StepStats& stats = scene.world.stats();
      touches = touches || stats.contacts > 0;
      sweeps = std::max(sweeps, stats.contact_sweeps);
      for (const Eigen::Vector3d& p : scene.Points()) is_finite = is_finite && p.allFinite();
      is_finite = is_finite && std::isfinite(stats.max_speed);
      if (only != nullptr) {
        std::printf("%d: flags %x, contacts %u, sweeps %u, substeps %u, speed %.3g\n", step,
                    stats.flags, stats.contacts, stats.contact_sweeps, stats.substeps,
                    double(stats.max_speed));
      }
    }
    touched += touches ? 1 : 0;
    const bool is_frozen = (scene.flags & kStepBodyFrozen) != 0;
    frozen += is_frozen ? 1 : 0;
    infinite += is_finite ? 0 : 1;
    if (is_frozen || !is_finite || only != nullptr) {
      std::printf("seed %u: %s, %s%s%s\n", seed, extreme.name, extreme.moves() ? "moves" : "static",
                  is_finite ? "" : ", NOT FINITE", is_frozen ? ", FROZEN" : "");
    }
    // What reads colliders.
    SurfacePoint hit;
    const QueryFilter filter = {.targets = kQueryColliders};
    static_cast<void>(
        scene.world.Raycast({.origin = {-5, 0, 0}, .direction = {1, 0, 0}}, filter, &hit));
    static_cast<void>(scene.world.ClosestPoint({0.05f, 0.0f, 0.0f}, 1.0f, filter, &hit));
    Reaction reaction;
    REQUIRE(scene.world.ColliderReaction(id, &reaction).ok());
    CHECK(std::isfinite(reaction.force.x + reaction.force.y + reaction.force.z));
  }
  std::printf(
      "%zu colliders, seeds from %u: %u refused, %u touched, %u frozen, %u not finite; at most %u "
      "sweeps\n",
      seeds.size(), first, refused, touched, frozen, infinite, sweeps);
  CHECK(frozen <= (tests::FullTests() ? 1u : 0u));
  CHECK(infinite == 0);
  if (count > 1) {
    CHECK(touched > count / 4);
    CHECK(refused < count / 5);
  }
}

}  // namespace extreme_colliders_test

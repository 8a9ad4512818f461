// SPDX-License-Identifier: MIT
// Out-of-range values are refused with a reason, or clamped as documented.
#include "plush/world.h"

#include "runtime/tet_fixtures.h"

#include <catch2/catch.hpp>

#include <cmath>
#include <cstring>
#include <limits>
#include <string>

using namespace plush;
using namespace plush::test;

namespace arguments_test {

constexpr float kDt = 0.01f;
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInf = std::numeric_limits<float>::infinity();

ShapeAsset SmallShape() { return ShapeAsset(TetBox(1, 1, 1, 0.1), {}, double(kDt)); }

template <class Id, class Add>
void CheckRefused(const std::string& section, const Add& add) {
  World world;
  CAPTURE(section);
  Id id = {1};
  const Status status = add(&world, &id);
  CHECK_FALSE(id.valid());
  CHECK(status.code == StatusCode::kInvalidArgument);
  CHECK(status.section == section);
  CHECK(std::string(status.reason) != "");
  CHECK(world.num_bodies() + world.num_colliders() == 0);
}

void CheckRefused(const Asset& asset, const BodyDesc& desc, const std::string& section) {
  CheckRefused<BodyId>(section, [&](World* w, BodyId* id) { return w->AddBody(asset, desc, id); });
}

void CheckRefused(const ColliderDesc& desc, const std::string& section) {
  CheckRefused<ColliderId>(section,
                           [&](World* w, ColliderId* id) { return w->AddCollider(desc, id); });
}

TEST_CASE("Descriptions of bodies are checked") {
  const ShapeAsset shape = SmallShape();
  const Asset& asset = shape.asset();
  CheckRefused(Asset(), {}, "asset");
  for (const float wrong : {kNan, kInf, -kInf}) {
    CheckRefused(asset, {.pose = {.position = {.y = wrong}}}, "pose.position");
    CheckRefused(asset, {.pose = {.rotation = {.z = wrong}}}, "pose.rotation");
    CheckRefused(asset, {.velocity = {.x = wrong}}, "velocity");
    CheckRefused(asset, {.angular_velocity = {.z = wrong}}, "angular_velocity");
    CheckRefused(asset, {.material = {.young = wrong}}, "material.young");
    CheckRefused(asset, {.material = {.poisson = wrong}}, "material.poisson");
    CheckRefused(asset, {.material = {.density = wrong}}, "material.density");
    CheckRefused(asset, {.scale = wrong}, "scale");
    CheckRefused(asset, {.gravity_factor = wrong}, "gravity_factor");
  }
  for (const float wrong : {kNan, -kInf, 0.0f, -1.0f}) {
    CheckRefused(asset, {.max_speed = wrong}, "max_speed");
  }
  for (const float wrong : {0.0f, -1.0f, 0.0099f, 101.0f}) {
    CheckRefused(asset, {.scale = wrong}, "scale");
  }
  CheckRefused(asset, {.pose = {.rotation = {0.0f, 0.0f, 0.0f, 0.0f}}}, "pose.rotation");
  CheckRefused(asset, {.material = {.young = 0.0f}}, "material.young");
  CheckRefused(asset, {.material = {.poisson = 0.5f}}, "material.poisson");
  CheckRefused(asset, {.material = {.density = 0.0f}}, "material.density");
  const std::vector<uint32_t> beyond = {0, static_cast<uint32_t>(shape.num_nodes())};
  CheckRefused(asset, {.pinned_nodes = beyond}, "pinned_nodes");
  World world;
  CHECK(world.AddBody(asset, {}, nullptr).section == std::string("output"));
  CHECK(world.num_bodies() == 0);
}

TEST_CASE("Materials whose numbers do not fit into float are refused") {
  const ShapeAsset shape = SmallShape();
  for (const float huge : {3.0e38f, 1.0e38f}) {
    for (const bool fixed : {false, true}) {
      BodyDesc desc = {.material = {.young = huge, .poisson = 0.4999999f}, .fixed = fixed};
      World world;
      BodyId id;
      CHECK(world.AddBody(shape.asset(), desc, &id).code == StatusCode::kInvalidArgument);
    }
  }
  for (const float density : {3.0e38f, 1.0e-44f}) {
    BodyDesc desc = {.material = {.density = density}};
    World world;
    BodyId id;
    const bool added = world.AddBody(shape.asset(), desc, &id).ok();
    for (int step = 0; added && step < 5; ++step) StepWorld(&world, kDt);
    CHECK(std::isfinite(MeasuresOf(world).kinetic_j));
  }
}

TEST_CASE("Rotations need not be normalised, pins may repeat") {
  const ShapeAsset shape = SmallShape();
  World world;
  const std::vector<uint32_t> pins = {1, 1, 2, 1};
  BodyDesc desc = {.pose = {.rotation = {0.0f, 5.0f, 0.0f, 5.0f}}, .pinned_nodes = pins};
  const BodyId id = AddBody(&world, shape.asset(), desc);
  const Points x = ToEigen(PositionsOf(world, id, shape.num_nodes()));
  const Eigen::Matrix3d quarter =
      Eigen::AngleAxisd(0.5 * 3.14159265358979, Eigen::Vector3d::UnitY()).toRotationMatrix();
  CHECK((x - quarter * ToEigen(shape.rest())).norm() < 1e-6);
}

TEST_CASE("Planes are checked and normalised") {
  for (const float wrong : {kNan, kInf, -kInf}) {
    CheckRefused({.plane = {.normal = {0.0f, wrong, 0.0f}}}, "plane.normal");
    CheckRefused({.plane = {.offset = wrong}}, "plane.offset");
    CheckRefused({.pose = {.position = {wrong, 0.0f, 0.0f}}}, "pose.position");
    CheckRefused({.pose = {.rotation = {0.0f, 0.0f, wrong, 1.0f}}}, "pose.rotation");
    CheckRefused({.velocity = {0.0f, 0.0f, wrong}}, "velocity");
    CheckRefused({.angular_velocity = {0.0f, wrong, 0.0f}}, "angular_velocity");
    CheckRefused({.friction = wrong}, "friction");
    CheckRefused({.restitution = wrong}, "restitution");
  }
  CheckRefused({.plane = {.normal = {}}}, "plane.normal");
  CheckRefused({.pose = {.rotation = {0.0f, 0.0f, 0.0f, 0.0f}}}, "pose.rotation");
  CheckRefused({.restitution = 1.1f}, "restitution");
  World world;
  CHECK(world.AddCollider({}, nullptr).section == std::string("output"));
  CHECK(world.num_colliders() == 0);
  const ShapeAsset shape = SmallShape();
  // Only the direction of a normal matters.
  std::vector<uint64_t> hashes;
  for (const float length : {1.0f, 4.0f}) {
    World with;
    AddBody(&with, shape.asset());
    AddPlane(&with, {{0.0f, length, 0.0f}, -0.1f});
    for (int step = 0; step < 40; ++step) StepWorld(&with, kDt);
    CHECK(with.stats().contacts > 0);
    hashes.push_back(with.StateHash());
  }
  CHECK(hashes[0] == hashes[1]);
}

TEST_CASE("Time steps are checked") {
  const ShapeAsset shape = SmallShape();
  World world;
  AddBody(&world, shape.asset());
  const uint64_t hash = world.StateHash();
  for (const float dt : {0.0f, -0.01f, 1.01f, kNan, kInf, -kInf}) {
    CAPTURE(dt);
    CHECK(world.Step(dt).code == StatusCode::kInvalidArgument);
    CHECK(world.PrepareTimeStep(dt).code == StatusCode::kInvalidArgument);
  }
  CHECK(world.StateHash() == hash);
  CHECK(StepWorld(&world, 1.0f) == kStepPreparedTimeStep);
  CHECK(StepWorld(&world, kLeastTimeStep) == kStepPreparedTimeStep);
}

TEST_CASE("Sizes and values of states are checked") {
  const ShapeAsset shape = SmallShape();
  World world;
  const BodyId id = AddBody(&world, shape.asset());
  const uint64_t hash = world.StateHash();
  std::vector<Vec3> nodes = shape.rest(), skin(shape.asset().visual().positions.size());
  std::vector<Vec3> normals(skin.size());
  std::vector<Vec3> more(nodes.size() + 1), fewer(nodes.size() - 1);
  for (std::vector<Vec3>* wrong : {&more, &fewer}) {
    CHECK_FALSE(world.NodePositions(id, 1.0f, *wrong).ok());
    CHECK_FALSE(world.NodeVelocities(id, *wrong).ok());
    CHECK_FALSE(world.SetNodePositions(id, *wrong).ok());
    CHECK_FALSE(world.SetNodeVelocities(id, *wrong).ok());
    CHECK_FALSE(world.ElasticForces(id, *wrong).ok());
    CHECK_FALSE(world.Skin(id, 1.0f, TargetOf(*wrong, {})).ok());
  }
  for (const float alpha : {-0.1f, 1.1f, kNan, kInf}) {
    CAPTURE(alpha);
    CHECK(world.NodePositions(id, alpha, nodes).code == StatusCode::kInvalidArgument);
    CHECK(world.Skin(id, alpha, TargetOf(skin)).code == StatusCode::kInvalidArgument);
  }
  for (const size_t stride : {size_t{0}, size_t{8}, size_t{14}}) {
    CAPTURE(stride);
    SkinTarget target = TargetOf(skin, normals);
    target.position_stride = stride;
    CHECK(world.Skin(id, 1.0f, target).code == StatusCode::kInvalidArgument);
    target = TargetOf(skin, normals);
    target.normal_stride = stride;
    CHECK(world.Skin(id, 1.0f, target).code == StatusCode::kInvalidArgument);
  }
  nodes = shape.rest();
  nodes[3].y = kNan;
  CHECK(world.SetNodePositions(id, nodes).index == 3);
  CHECK(world.SetNodeVelocities(id, nodes).index == 3);
  CHECK(world.StateHash() == hash);
}

TEST_CASE("Null outputs are refused") {
  const ShapeAsset shape = SmallShape();
  World world;
  const BodyId id = AddBody(&world, shape.asset());
  const Ray ray = {.origin = {}, .direction = {1.0f, 0.0f, 0.0f}};
  const ColliderId plane = AddPlane(&world, {});
  for (const Status& status : {world.GetBounds(id, nullptr),
                               world.GetFilter(id, nullptr),
                               world.GetUserData(id, nullptr),
                               world.GetScale(id, nullptr),
                               world.GetGravityFactor(id, nullptr),
                               world.GetMaxSpeed(id, nullptr),
                               world.GetMaterial(id, nullptr),
                               world.GetPinnedNodes(id, {}, nullptr),
                               world.GetUserData(plane, nullptr),
                               world.GetCollider(plane, nullptr),
                               world.Bodies({}, nullptr),
                               world.Colliders({}, nullptr),
                               world.Measure(nullptr),
                               world.Moments(id, nullptr),
                               world.BestFitPose(id, nullptr),
                               world.Raycast(ray, {}, nullptr),
                               world.Raycast(id, ray, nullptr),
                               world.RaycastAll(ray, {}, {}, nullptr),
                               world.RaycastAll(id, ray, {}, nullptr),
                               world.OverlapSphere({}, 1.0f, {}, {}, nullptr),
                               world.OverlapSphere(id, {}, 1.0f, {}, nullptr),
                               world.ClosestPoint({}, 1.0f, {}, nullptr),
                               world.ClosestPoint(id, {}, 1.0f, nullptr),
                               world.PatchOf(id, 0, nullptr)}) {
    CHECK(status.code == StatusCode::kInvalidArgument);
  }
}

// Calls with an id that names nothing; the output is then as good as new.
template <class Output, class Call>
void CheckEmptied(Output output, const Call& call) {
  const Output empty = {};
  CHECK_FALSE(call(&output).ok());
  CHECK(std::memcmp(&output, &empty, sizeof(Output)) == 0);
}

TEST_CASE("Outputs of calls that fail are empty") {
  World world;
  const BodyId id = {77};
  const ColliderId plane = {77};
  const Ray ray = {.origin = {}, .direction = {1.0f, 0.0f, 0.0f}};
  const Bounds bounds = {{1.0f, 2.0f, 3.0f}, {4.0f, 5.0f, 6.0f}};
  CheckEmptied(bounds, [&](Bounds* out) { return world.GetBounds(id, out); });
  CheckEmptied(Filter{2, 3, 4}, [&](Filter* out) { return world.GetFilter(id, out); });
  CheckEmptied(uint64_t{5}, [&](uint64_t* out) { return world.GetUserData(id, out); });
  CheckEmptied(uint64_t{5}, [&](uint64_t* out) { return world.GetUserData(plane, out); });
  CheckEmptied(1.0f, [&](float* out) { return world.GetScale(id, out); });
  CheckEmptied(1.0f, [&](float* out) { return world.GetGravityFactor(id, out); });
  CheckEmptied(1.0f, [&](float* out) { return world.GetMaxSpeed(id, out); });
  CheckEmptied(MaterialOverride{1.0f, 2.0f, 3.0f, 4.0f, 5.0f, 6.0f},
               [&](MaterialOverride* out) { return world.GetMaterial(id, out); });
  CheckEmptied(7u, [&](uint32_t* out) { return world.GetPinnedNodes(id, {}, out); });
  CheckEmptied(7u, [&](uint32_t* out) { return world.RaycastAll(id, ray, {}, out); });
  CheckEmptied(7u, [&](uint32_t* out) { return world.OverlapSphere(id, {}, 1.0f, {}, out); });
  CheckEmptied(Pose{.position = {1.0f, 2.0f, 3.0f}},
               [&](Pose* out) { return world.BestFitPose(id, out); });
  CheckEmptied(Reaction{.force = {1.0f, 2.0f, 3.0f}},
               [&](Reaction* out) { return world.RegionReaction(id, 0, out); });
  CheckEmptied(BodyId{9}, [&](BodyId* out) { return world.AddBody({}, {}, out); });
  CheckEmptied(ColliderId{9},
               [&](ColliderId* out) { return world.AddCollider({.restitution = 2.0f}, out); });
  BodyMoments moments = {.mass = 5.0};
  CHECK_FALSE(world.Moments(id, &moments).ok());
  CHECK(moments.mass == 0.0);
  ColliderDesc desc = {.friction = 9.0f};
  CHECK_FALSE(world.GetCollider(plane, &desc).ok());
  CHECK(desc.friction == ColliderDesc().friction);
  SurfacePoint point = {.triangle = 3};
  CHECK_FALSE(world.Raycast(id, ray, &point).ok());
  CHECK_FALSE(point.valid());
  point.triangle = 3;
  CHECK_FALSE(world.ClosestPoint(id, {}, 1.0f, &point).ok());
  CHECK_FALSE(point.valid());
  DeformedPatch patch = {.area = 2.0f};
  CHECK_FALSE(world.PatchOf(id, 0, &patch).ok());
  CHECK(patch.area == 0.0f);
}

TEST_CASE("Settings are clamped to their ranges") {
  const ShapeAsset shape = SmallShape();
  WorldDesc wild = {.gravity = {0.0f, kNan, 0.0f},
                    .contact = {-5, 0, 99, -1.0f, &kPenaltyContact, -1.0f},
                    .sleep = {kNan, -1.0f}};
  WorldDesc tame = {.gravity = {},
                    .contact = {3, 1, 4, ContactSettings{}.push_out_time, &kPenaltyContact,
                                ContactSettings{}.penalty_stiffness},
                    .sleep = {0.0f, SleepSettings{}.time}};
  WorldDesc large = {.contact = {1000, 1000, -3, kInf, nullptr, kInf}, .sleep = {kInf, kInf}};
  uint64_t hashes[3] = {};
  const WorldDesc* descs[3] = {&wild, &tame, &large};
  for (int i = 0; i < 3; ++i) {
    World world(*descs[i]);
    BodyDesc body = {.velocity = {0.0f, -1.0f, 0.0f}};
    if (i == 2) body.splitting = {64, 16, 64};
    AddBody(&world, shape.asset(), body);
    AddPlane(&world, {{0.0f, 1.0f, 0.0f}, -0.05f});
    for (int step = 0; step < 20; ++step) CHECK((StepWorld(&world, kDt) & kStepBodyFrozen) == 0u);
    if (i == 2) CHECK(world.stats().outer_iterations == 64);
    hashes[i] = world.StateHash();
  }
  CHECK(hashes[0] == hashes[1]);
}

}  // namespace arguments_test

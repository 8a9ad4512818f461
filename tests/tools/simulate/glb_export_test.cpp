// SPDX-License-Identifier: MIT
// Exported animations, evaluated as a viewer would, against the World's own skinning.
#include "simulate/glb_export.h"

#include "plush/format/tet_block.h"

#include "simulate/open_asset.h"
#include "simulate/simulation_run.h"
#include "tools/simulate/ball_asset.h"
#include "tools/simulate/built_scene.h"
#include "tools/simulate/glb_file.h"

#include <catch2/catch.hpp>

#include <cmath>

namespace plush::tools::glb_export_test {
namespace {

constexpr uint32_t kSteps = 40;
constexpr uint32_t kStride = 8;

// A free ball, one held by its lower part and a static one: fall, impact, swing and rest in one
// scene.
Scene TestScene(const std::string& asset) {
  Scene scene = {.steps = kSteps};
  scene.bodies.resize(3);
  for (SceneBody& body : scene.bodies) body.asset = asset;
  scene.bodies[0].pose = {{0.3f, 0.1f, -0.2f}, {0.48f, 0.0f, 0.6f, 0.64f}};
  scene.bodies[0].velocity = {0.5f, -2.0f, 0.0f};
  scene.bodies[1].pose.position = {2, 0, 0};
  scene.bodies[1].pins = {{RegionPin{"low"}, {}}};
  scene.bodies[2].pose.position = {-2, 0, 0};
  scene.bodies[2].fixed = true;
  scene.colliders.push_back({.desc = {.plane = {{0, 1, 0}, -0.6f}}, .motion = {}});
  return scene;
}

struct SkinCapture {
  std::vector<Vec3> positions;
  std::vector<Vec3> normals;
};

SkinCapture Capture(const SceneWorld& scene_world, size_t body) {
  SkinCapture capture;
  const size_t count = scene_world.asset_of(scene_world.bodies[body]).visual().positions.size();
  capture.positions.resize(count);
  capture.normals.resize(count);
  const SkinTarget target = {.positions = capture.positions.data(),
                             .normals = capture.normals.data(),
                             .num_vertices = static_cast<uint32_t>(count)};
  REQUIRE(scene_world.world->Skin(scene_world.bodies[body].id, 1.0f, target).ok());
  return capture;
}

double LargestDistance(std::span<const Vec3> expected, std::span<const Vec3d> actual) {
  REQUIRE(expected.size() == actual.size());
  double largest = 0.0;
  for (size_t i = 0; i < expected.size(); ++i) {
    const Vec3d e = {expected[i].x, expected[i].y, expected[i].z};
    largest = std::max(largest, Length(e - actual[i]));
  }
  return largest;
}

// Node indices of the skinned meshes, in body order.
std::vector<size_t> MeshNodes(const tests::GlbFile& glb) {
  std::vector<size_t> found;
  for (const auto& root : glb.document["scenes"][0]["nodes"]) {
    if (glb.document["nodes"][root.get<size_t>()].contains("mesh")) found.push_back(root);
  }
  return found;
}

std::vector<std::byte> ExportOrFail(const SceneWorld& scene_world, const Animation& animation) {
  auto bytes = ExportGlb(scene_world, animation);
  if (!bytes.ok()) FAIL(bytes.error().message);
  return std::move(bytes.value());
}

}  // namespace

TEST_CASE("The exported skinning equals World::Skin in every frame, also while deforming") {
  const tests::TemporaryFolder folder;
  const Scene scene = TestScene(tests::WriteBall(folder));
  SceneWorld scene_world = BuildOrFail(scene);
  AnimationRecorder recorder(kSteps, kStride, scene.dt);
  std::vector<std::vector<SkinCapture>> captures;  // by frame and body
  const auto record = RunScene(scene, &scene_world, [&](const SceneWorld& world, uint32_t done) {
    recorder.Observe(world, done);
    if (done % kStride == 0) {
      captures.push_back({Capture(world, 0), Capture(world, 1), Capture(world, 2)});
    }
    return true;
  });
  REQUIRE(record.ok());
  REQUIRE(recorder.animation().times.size() == captures.size());
  CHECK(recorder.animation().times.back() == Approx(0.4));

  const tests::GlbFile glb(ExportOrFail(scene_world, recorder.animation()));
  const std::vector<size_t> meshes = MeshNodes(glb);
  REQUIRE(meshes.size() == 3);
  const double size = Length(SurfaceBounds(*scene_world.assets[0]).Extent());
  for (size_t frame = 0; frame < captures.size(); ++frame) {
    for (size_t body = 0; body < 3; ++body) {
      INFO("frame " << frame << ", body " << body);
      const tests::SkinnedMesh shown = tests::EvaluateSkin(glb, meshes[body], frame);
      CHECK(LargestDistance(captures[frame][body].positions, shown.positions) < 1.0e-5 * size);
    }
  }
  // The bodies did deform; otherwise this test would prove little.
  CHECK(std::fabs(record.value().steps.back().cages.min_volume_ratio - 1.0) > 1.0e-6);
}

TEST_CASE("Normals of the exported skinning are exact for a rigid motion") {
  const tests::TemporaryFolder folder;
  Scene scene = TestScene(tests::WriteBall(folder));
  scene.bodies.resize(1);
  SceneWorld scene_world = BuildOrFail(scene);
  AnimationRecorder recorder(0, 1, scene.dt);
  recorder.Observe(scene_world, 0);
  const tests::GlbFile glb(ExportOrFail(scene_world, recorder.animation()));
  const tests::SkinnedMesh shown = tests::EvaluateSkin(glb, MeshNodes(glb)[0], 0);
  const SkinCapture skin = Capture(scene_world, 0);
  CHECK(LargestDistance(skin.normals, shown.normals) < 1.0e-5);
  CHECK(LargestDistance(skin.positions, shown.positions) < 1.0e-5);
  std::vector<Vec3> turned;
  for (const Vec3& n : scene_world.assets[0]->visual().normals) {
    const Vec3d r = Rotate(scene.bodies[0].pose.rotation, {n.x, n.y, n.z});
    turned.push_back({static_cast<float>(r.x), static_cast<float>(r.y), static_cast<float>(r.z)});
  }
  CHECK(LargestDistance(turned, shown.normals) < 1.0e-5);
}

TEST_CASE("An exported .glb keeps materials by name, shares meshes and turns bodies as one") {
  const tests::TemporaryFolder folder;
  const Scene scene = TestScene(tests::WriteBall(folder));
  SceneWorld scene_world = BuildOrFail(scene);
  AnimationRecorder recorder(kSteps, kStride, scene.dt);
  REQUIRE(RunScene(scene, &scene_world, [&](const SceneWorld& world, uint32_t done) {
            recorder.Observe(world, done);
            return true;
          }).ok());
  const auto bytes = ExportOrFail(scene_world, recorder.animation());
  const tests::GlbFile glb(bytes);
  CHECK(bytes == ExportOrFail(scene_world, recorder.animation()));
  CHECK(glb.document["meshes"].size() == 1);
  CHECK(glb.document["skins"].size() == 3);
  REQUIRE(glb.document["materials"].size() == 2);
  CHECK(glb.document["materials"][0]["name"] == "blue felt");
  CHECK(glb.document["materials"][1]["name"] == "fur");
  CHECK(glb.document["meshes"][0]["primitives"].size() == 2);
  CHECK_FALSE(glb.document.contains("extensionsUsed"));
  // Two bodies move: each has one rotation sampler, and each joint two channels.
  const auto& animation = glb.document["animations"][0];
  const size_t joints = glb.document["skins"][0]["joints"].size();
  CHECK(animation["samplers"].size() == 2 * (joints + 1));
  CHECK(animation["channels"].size() == 4 * joints);
}

TEST_CASE("Recorded rotations keep their sign from frame to frame") {
  const tests::TemporaryFolder folder;
  Scene scene = TestScene(tests::WriteBall(folder));
  scene.gravity = {};
  scene.colliders.clear();
  scene.steps = 150;
  scene.bodies.resize(1);
  scene.bodies[0].velocity = {};
  SceneWorld scene_world = BuildOrFail(scene);
  const BodyId id = scene_world.bodies[0].id;
  std::vector<Vec3> x(scene_world.assets[0]->simulation().nodes.size());
  REQUIRE(scene_world.world->NodePositions(id, 1.0f, x).ok());
  std::vector<Vec3> spin;  // about z at 10 rad/s
  for (const Vec3& p : x) spin.push_back({-10.0f * (p.y - 0.5f), 10.0f * (p.x - 0.5f), 0.0f});
  REQUIRE(scene_world.world->SetNodeVelocities(id, spin).ok());
  AnimationRecorder recorder(scene.steps, 1, scene.dt);
  REQUIRE(RunScene(scene, &scene_world, [&](const SceneWorld& world, uint32_t done) {
            recorder.Observe(world, done);
            return true;
          }).ok());
  const auto& rotations = recorder.animation().bodies[0].rotations;
  REQUIRE(rotations.size() == 151);
  double turned = 0.0;
  for (size_t i = 1; i < rotations.size(); ++i) {
    const Quat& a = rotations[i - 1];
    const Quat& b = rotations[i];
    const double cosine = static_cast<double>(a.x * b.x + a.y * b.y + a.z * b.z + a.w * b.w);
    CHECK(cosine > 0.99);
    turned += 2.0 * std::acos(std::min(1.0, cosine));
  }
  CHECK(turned > 7.0);  // more than a full turn: the sign of a rotation matrix's quaternion flips
}

TEST_CASE("Frame strides follow the asked rate and never skip below one step") {
  CHECK(FrameStride(0.01, 60.0) == 2);
  CHECK(FrameStride(0.01, 100.0) == 1);
  CHECK(FrameStride(0.01, 10000.0) == 1);
  CHECK(FrameStride(0.01, 25.0) == 4);
  CHECK(FrameStride(0.01, 0.5) == 200);
}

TEST_CASE("Skin weights are the baked ones within rounding, never negative, of sum one") {
  const tests::TemporaryFolder folder;
  const Asset asset = tests::OpenOrFail(tests::WriteBall(folder));
  const auto skin = MakeSkinWeights(asset);
  REQUIRE(skin.weights.size() == asset.visual().positions.size());
  for (size_t v = 0; v < skin.weights.size(); ++v) {
    const Vec4& w = skin.weights[v];
    const Vec4& baked = asset.visual().weights[v];
    const Tet& tet = asset.simulation().tets[asset.visual().tet_ids[v]];
    CHECK(std::min({w.x, w.y, w.z, w.w}) >= 0.0f);
    const double sum = static_cast<double>(w.x) + w.y + w.z + w.w;
    CHECK(std::fabs(sum - 1.0) < 1.0e-7);
    CHECK(std::fabs(w.x - baked.x) < 1.0e-6f);
    CHECK(std::fabs(w.y - baked.y) < 1.0e-6f);
    CHECK(std::fabs(w.z - baked.z) < 1.0e-6f);
    CHECK(std::fabs(w.w - baked.w) < 1.0e-6f);
    CHECK(skin.joints[v][0] == (w.x > 0.0f ? tet.a : 0));
    CHECK(skin.joints[v][3] == (w.w > 0.0f ? tet.d : 0));
  }
}

}  // namespace plush::tools::glb_export_test

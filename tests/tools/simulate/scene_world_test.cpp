// SPDX-License-Identifier: MIT
// Pins, grids of copies, refused assets, and the job pool.
#include "simulate/scene_world.h"

#include "plush/format/tet_block.h"

#include "shapes/static_asset.h"
#include "simulate/hull_points.h"
#include "simulate/open_asset.h"
#include "tools/procedural_meshes.h"
#include "tools/simulate/ball_asset.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <fstream>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace plush::tools::scene_world_test {
namespace {

using Catch::Matchers::Contains;

Scene SceneOf(const std::string& asset) {
  Scene scene;
  scene.bodies.resize(1);
  scene.bodies[0].asset = asset;
  return scene;
}

}  // namespace

TEST_CASE("Pins hold exactly the nodes inside them") {
  const tests::TemporaryFolder folder;
  const Asset asset = tests::OpenOrFail(tests::WriteBall(folder));
  const auto rest = asset.simulation().nodes;

  const auto box = PinnedNodes(asset, BoxPin{{0, 0, 0}, {1, 0.25f, 1}});
  REQUIRE(box.ok());
  const std::set<uint32_t> in_box(box.value().begin(), box.value().end());
  CHECK(in_box.size() == 50);  // two layers of 5 x 5, faces of the box included
  for (uint32_t i = 0; i < rest.size(); ++i) CHECK(in_box.contains(i) == (rest[i].y <= 0.25f));

  const auto ball = PinnedNodes(asset, SpherePin{{0, 0, 0}, 0.25f});
  REQUIRE(ball.ok());
  CHECK(ball.value().size() == 4);  // the corner and its three neighbours, on the surface

  const auto region = PinnedNodes(asset, RegionPin{"low"});
  REQUIRE(region.ok());
  CHECK(region.value() == box.value());
}

TEST_CASE("A hull of an asset is around its rest surface") {
  const tests::TemporaryFolder folder;
  Scene scene = SceneOf(tests::WriteBall(folder));
  const Asset asset = tests::OpenOrFail(scene.bodies[0].asset);
  SceneCollider& collider = scene.colliders.emplace_back();
  collider.desc.type = ShapeType::kHull;
  collider.hull_asset = scene.bodies[0].asset;
  FindingList findings;
  const auto built = BuildSceneWorld(scene, &findings);
  REQUIRE(built.ok());
  ColliderDesc desc;
  REQUIRE(built.value().world->GetCollider(built.value().colliders[0], &desc).ok());
  const std::vector<Vec3> wanted = OutermostPoints(asset.visual().positions);
  CHECK(desc.hull.points.size() == wanted.size());
  scene.colliders[0].hull_asset = "missing.plush";
  CHECK_FALSE(BuildSceneWorld(scene, &findings).ok());
  scene.colliders[0].hull_asset.clear();
  scene.colliders[0].hull_points = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {1, 1, 0}};
  const auto flat = BuildSceneWorld(scene, &findings);
  REQUIRE_FALSE(flat.ok());
  CHECK_THAT(flat.error().message, Contains("colliders[0]") && Contains("are flat"));
}

TEST_CASE("Meshes and height fields of scenes come from their files") {
  const tests::TemporaryFolder folder;
  const std::string heights = folder / "heights.bin", mesh = folder / "mesh.plush";
  std::ofstream(heights, std::ios::binary).write("\0\0\x80\x3f\0\0\0\x40\0\0\0\0\0\0\x80\xbf", 16);
  const std::vector<std::byte> bytes = test::StaticBytesOf(tests::MakeBox({-1, -1, -1}, {1, 1, 1}));
  std::ofstream(mesh, std::ios::binary)
      .write(reinterpret_cast<const char*>(bytes.data()),
             static_cast<std::streamsize>(bytes.size()));
  Scene scene = SceneOf(tests::WriteBall(folder));
  scene.colliders.resize(2);
  scene.colliders[0].desc.type = ShapeType::kHeightField;
  scene.colliders[0].desc.height_field = {{}, 2, 2, 0.5f};
  scene.colliders[0].heights_file = heights;
  scene.colliders[1].desc.type = ShapeType::kMesh;
  scene.colliders[1].mesh_asset = mesh;
  FindingList findings;
  {
    const auto built = BuildSceneWorld(scene, &findings);
    REQUIRE(built.ok());
    ColliderDesc desc;
    REQUIRE(built.value().world->GetCollider(built.value().colliders[0], &desc).ok());
    const auto& read = desc.height_field.heights;
    CHECK(std::vector<float>(read.begin(), read.end()) == std::vector<float>{1, 2, 0, -1});
    REQUIRE(built.value().world->GetCollider(built.value().colliders[1], &desc).ok());
    CHECK(desc.mesh.asset->static_mesh().triangles.size() == 12);
  }
  const auto refusal = [&] {
    const auto built = BuildSceneWorld(scene, &findings);
    REQUIRE_FALSE(built.ok());
    return built.error();
  };
  SECTION("a soft body is the mesh of its surface at rest") {
    scene.colliders[1].mesh_asset = scene.bodies[0].asset;
    const auto built = BuildSceneWorld(scene, &findings);
    REQUIRE(built.ok());
    ColliderDesc desc;
    REQUIRE(built.value().world->GetCollider(built.value().colliders[1], &desc).ok());
    CHECK_FALSE(desc.mesh.asset->is_static());
  }
  SECTION("heights of another size") {
    scene.colliders[0].desc.height_field.rows = 3;
    CHECK(refusal().exit_code == ExitCode::kInvalidInput);
    CHECK_THAT(refusal().message, Contains("heights.bin") && Contains("24 bytes"));
  }
  SECTION("no file") {
    scene.colliders[0].heights_file = "missing.bin";
    scene.colliders[0].desc.height_field = {{}, 1u << 20, 1u << 20, 0.5f};  // takes no memory
    CHECK(refusal().exit_code == ExitCode::kIo);
  }
}

TEST_CASE("The outermost points of many leave out little of their hull") {
  std::vector<Vec3> points;
  for (int i = 0; i < 5000; ++i) {  // on a ball, by a spiral
    const double y = 1.0 - 2.0 * (i + 0.5) / 5000.0, r = std::sqrt(1.0 - y * y), turn = 2.4 * i;
    points.push_back({static_cast<float>(r * std::cos(turn)), static_cast<float>(y),
                      static_cast<float>(r * std::sin(turn))});
  }
  const std::vector<Vec3> outermost = OutermostPoints(points);
  CHECK(outermost.size() <= 218);
  CHECK(outermost.size() > 200);
  // The lattice has 6 x 6 cells on each side of a cube. No direction is farther from all of its
  // points than half a cell's diagonal: atan(sqrt(2) / 6) = 13.3 degrees, whose cosine is 0.973.
  for (const Vec3& direction : points) {
    double highest = -1.0;
    for (const Vec3& p : outermost) {
      highest = std::max(highest, double(p.x) * direction.x + double(p.y) * direction.y +
                                      double(p.z) * direction.z);
    }
    CHECK(highest > 0.973);
  }
  points.resize(256);
  CHECK(OutermostPoints(points).size() == 256);
}

TEST_CASE("An unknown region names the nearest one the asset has") {
  const tests::TemporaryFolder folder;
  Scene scene = SceneOf(tests::WriteBall(folder));
  scene.bodies[0].pins = {{RegionPin{"hihg"}, {}}};
  FindingList findings;
  const auto built = BuildSceneWorld(scene, &findings);
  REQUIRE_FALSE(built.ok());
  CHECK(built.error().exit_code == ExitCode::kUsage);
  CHECK_THAT(built.error().message, Contains("'hihg'; did you mean 'high'?"));
}

TEST_CASE("A pin that holds nothing is a finding, not an error") {
  const tests::TemporaryFolder folder;
  Scene scene = SceneOf(tests::WriteBall(folder));
  scene.bodies[0].pins = {{BoxPin{{5, 5, 5}, {6, 6, 6}}, {}}};
  FindingList findings;
  CHECK(BuildSceneWorld(scene, &findings).ok());
  CHECK(findings.Has("PIN_UNMATCHED"));
}

TEST_CASE("A pin whose nodes are on a line is a finding") {
  const tests::TemporaryFolder folder;
  Scene scene = SceneOf(tests::WriteBall(folder));
  const Asset asset = tests::OpenOrFail(scene.bodies[0].asset);
  const auto around = [&](float half) {
    const Vec3& node = asset.simulation().nodes[0];
    return BoxPin{{node.x - half, node.y - half, node.z - half},
                  {node.x + half, node.y + half, node.z + half}};
  };
  for (const auto& [half, is_loose] : {std::pair{1e-6f, true}, std::pair{100.0f, false}}) {
    scene.bodies[0].pins = {{around(half), {}}};
    FindingList findings;
    CHECK(BuildSceneWorld(scene, &findings).ok());
    CHECK(findings.Has("PIN_LOOSE") == is_loose);
  }
}

TEST_CASE("Copies are on a square grid, 1.2 bounding boxes apart, and share their asset") {
  const tests::TemporaryFolder folder;
  Scene scene = SceneOf(tests::WriteBall(folder));
  SceneBody& body = scene.bodies[0];
  body.count = 5;
  body.pose.position = {10, 2, -3};
  const Asset asset = tests::OpenOrFail(body.asset);
  const Vec3d extent = SurfaceBounds(asset).Extent();
  const int columns[] = {0, 1, 2, 0, 1};
  const int rows[] = {0, 0, 0, 1, 1};
  for (uint32_t copy = 0; copy < 5; ++copy) {
    const Vec3 p = CopyPose(body, asset, copy).position;
    CHECK(p.x == Approx(10 + 1.2 * extent.x * columns[copy]));
    CHECK(p.y == 2.0f);
    CHECK(p.z == Approx(-3 + 1.2 * extent.z * rows[copy]));
  }
  FindingList findings;
  const auto built = BuildSceneWorld(scene, &findings);
  REQUIRE(built.ok());
  CHECK(built.value().assets.size() == 1);
  REQUIRE(built.value().bodies.size() == 5);
  CHECK(built.value().bodies[3].name == "ball.3");
}

TEST_CASE("The grid of turned copies follows their turned boxes") {
  const tests::TemporaryFolder folder;
  SceneBody body = {.count = 2};
  const float h = 0.70710678f;
  body.pose.rotation = {0, h, 0, h};  // x turns into -z
  const Asset asset = tests::OpenOrFail(tests::WriteBall(folder));
  const Vec3d straight = SurfaceBounds(asset).Extent();
  const Vec3d turned = SurfaceBounds(asset, body.pose.rotation).Extent();
  CHECK(turned.x == Approx(straight.z));
  CHECK(turned.z == Approx(straight.x));
  CHECK(CopyPose(body, asset, 1).position.x == Approx(1.2 * straight.z));
}

TEST_CASE("Every way of contact that a scene names reaches its world") {
  const tests::TemporaryFolder folder;
  const std::string asset = tests::WriteBall(folder);
  const std::pair<const char*, const ContactMethod*> ways[] = {
      {"hold", nullptr},
      {"snap", &kSnapContact},
      {"penalty", &kPenaltyContact},
      {"pseudo_impulses", &kPseudoImpulseContact}};
  for (const auto& [name, method] : ways) {
    CAPTURE(name);
    const auto scene = ParseScene(
        R"({"bodies": [{"asset": ")" + asset + R"("}], "solver": {"contact": ")" + name + R"("}})",
        "");
    if (!scene.ok()) FAIL(scene.error().message);
    CHECK(scene.value().contact.method == method);
    FindingList findings;
    const auto built = BuildSceneWorld(scene.value(), &findings);
    REQUIRE(built.ok());
    CHECK(built.value().world->contact().method == method);
  }
}

TEST_CASE("A missing or foreign asset is refused with its path") {
  const tests::TemporaryFolder folder;
  FindingList findings;
  const auto missing = BuildSceneWorld(SceneOf(folder / "none.plush"), &findings);
  REQUIRE_FALSE(missing.ok());
  CHECK(missing.error().exit_code == ExitCode::kIo);
  CHECK_THAT(missing.error().message, Contains("none.plush"));
  tests::WriteText(folder / "text.plush", std::string(1000, 'x'));
  const auto garbage = BuildSceneWorld(SceneOf(folder / "text.plush"), &findings);
  REQUIRE_FALSE(garbage.ok());
  CHECK(garbage.error().exit_code == ExitCode::kInvalidInput);
}

TEST_CASE("A job pool calls every index once, for any number of threads and jobs") {
  for (const uint32_t threads : {2u, 3u, 8u}) {
    JobPool pool(threads);
    const JobSystem jobs = pool.job_system();
    REQUIRE(jobs.run != nullptr);
    for (const uint32_t count : {0u, 1u, 7u, 1000u}) {
      std::vector<std::atomic<int>> calls(count);
      jobs.run(
          jobs.user, count,
          [](void* context, uint32_t index) {
            ++(*static_cast<std::vector<std::atomic<int>>*>(context))[index];
          },
          &calls);
      for (const auto& call : calls) CHECK(call == 1);
    }
  }
}

TEST_CASE("One thread needs no job system") {
  JobPool pool(1);
  CHECK(pool.job_system().run == nullptr);
}

}  // namespace plush::tools::scene_world_test

// SPDX-License-Identifier: MIT
// Reads an exported .glb back with an independent reader, Assimp.

#include "base/files.h"
#include "simulate/glb_export.h"
#include "simulate/simulation_run.h"
#include "tools/simulate/ball_asset.h"
#include "tools/test_models.h"

#include <catch2/catch.hpp>

namespace plush::tools {

TEST_CASE("Assimp reads an exported .glb back: rest positions, coordinates, materials") {
  const tests::TemporaryFolder folder;
  Scene scene = {.steps = 5};
  scene.bodies.resize(1);
  scene.bodies[0].asset = tests::WriteBall(folder);
  scene.bodies[0].velocity = {1, 2, 3};
  FindingList findings;
  auto built = BuildSceneWorld(scene, &findings);
  REQUIRE(built.ok());
  AnimationRecorder recorder(scene.steps, 1, scene.dt);
  REQUIRE(RunScene(scene, &built.value(), [&](const SceneWorld& world, uint32_t done) {
            recorder.Observe(world, done);
            return true;
          }).ok());
  const auto bytes = ExportGlb(built.value(), recorder.animation());
  REQUIRE(bytes.ok());
  REQUIRE(WriteFileAtomically(folder / "ball.glb", bytes.value()).ok());

  const ImportedModel model = tests::ImportOrFail(folder / "ball.glb");
  const SurfaceMesh& read = model.surface;
  const VisualView& visual = built.value().assets[0]->visual();
  REQUIRE(read.triangles.size() == visual.indices.size() / 3);
  REQUIRE(read.uvs.size() == read.positions.size());
  double largest = 0.0;
  for (size_t i = 0; i < visual.indices.size(); ++i) {
    const Vec3& X = visual.positions[visual.indices[i]];
    const Vec2& uv = visual.uvs[visual.indices[i]];
    const uint32_t corner = read.triangles[i / 3][i % 3];
    largest = std::max(largest, Length(read.positions[corner] - Vec3d{X.x, X.y, X.z}));
    CHECK(read.uvs[corner].x == Approx(uv.x).margin(1.0e-6));
    CHECK(read.uvs[corner].y == Approx(uv.y).margin(1.0e-6));
  }
  CHECK(largest < 1.0e-6);
  REQUIRE(read.parts.size() == 2);
  CHECK(read.parts[0].material == "blue felt");
  CHECK(read.parts[1].material == "fur");
}

}  // namespace plush::tools

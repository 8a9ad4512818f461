// SPDX-License-Identifier: MIT
#include "simulate/obj_export.h"

#include "tools/simulate/ball_asset.h"

#include <catch2/catch.hpp>

#include <sstream>

namespace plush::tools {

TEST_CASE("An exported .obj holds every body's skinned vertices, groups and materials") {
  const tests::TemporaryFolder folder;
  Scene scene;
  scene.bodies.resize(1);
  scene.bodies[0].asset = tests::WriteBall(folder);
  scene.bodies[0].count = 2;
  FindingList findings;
  const auto built = BuildSceneWorld(scene, &findings);
  REQUIRE(built.ok());
  const auto files = ExportObj(built.value(), "ball.mtl");
  REQUIRE(files.ok());

  const VisualView& visual = built.value().assets[0]->visual();
  std::vector<Vec3> expected(visual.positions.size());
  const SkinTarget target = {.positions = expected.data(),
                             .num_vertices = static_cast<uint32_t>(expected.size())};
  REQUIRE(built.value().world->Skin(built.value().bodies[1].id, 1.0f, target).ok());
  std::istringstream lines(files.value().obj);
  std::string line;
  std::vector<std::string> names;
  size_t positions = 0, normals = 0;
  std::vector<size_t> corners;
  while (std::getline(lines, line)) {
    std::istringstream words(line);
    std::string keyword;
    words >> keyword;
    if (keyword == "v" && ++positions == visual.positions.size() + 1) {
      Vec3 p;
      words >> p.x >> p.y >> p.z;
      CHECK(p.x == expected[0].x);  // nine digits give the float back
      CHECK(p.y == expected[0].y);
      CHECK(p.z == expected[0].z);
    }
    if (keyword == "vn") ++normals;
    if (keyword == "usemtl" || keyword == "mtllib") {
      words >> keyword;
      names.push_back(keyword);
    }
    if (keyword != "f") continue;
    for (std::string corner; words >> corner;) corners.push_back(std::stoul(corner));
  }
  CHECK(positions == 2 * visual.positions.size());
  CHECK(normals == positions);
  CHECK(names == std::vector<std::string>{"ball.mtl", "blue_felt", "fur", "blue_felt", "fur"});
  REQUIRE(corners.size() == 2 * visual.indices.size());
  for (size_t i = 0; i < visual.indices.size(); ++i) {
    CHECK(corners[i] == visual.indices[i] + 1);
    CHECK(corners[visual.indices.size() + i] == visual.indices[i] + visual.positions.size() + 1);
  }
  const std::string& mtl = files.value().mtl;
  CHECK(mtl.find("newmtl blue_felt\nKd ") != std::string::npos);
  CHECK(mtl.find("newmtl fur\nKd ") != std::string::npos);
}

}  // namespace plush::tools

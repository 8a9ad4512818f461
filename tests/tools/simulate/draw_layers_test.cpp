// SPDX-License-Identifier: MIT
// Line layers of exports, counted against the cage of a box of tets.
#include "simulate/draw_layers.h"

#include "plush/format/tet_block.h"

#include "simulate/glb_export.h"
#include "simulate/obj_export.h"
#include "simulate/simulation_run.h"
#include "tools/simulate/ball_asset.h"
#include "tools/simulate/built_scene.h"
#include "tools/simulate/glb_file.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <map>
#include <set>
#include <sstream>

namespace plush::tools::draw_layers_test {
namespace {

using Catch::Matchers::Contains;

constexpr uint32_t kAllLayers =
    kDrawCage | kDrawPins | kDrawContacts | kDrawBounds | kDrawColliders | kDrawAttachments;

// Edges of the faces that belong to one tet only.
size_t NumOutsideEdges(const Asset& asset) {
  std::map<std::set<uint32_t>, int> faces;
  for (const Tet& t : asset.simulation().tets) {
    for (const auto& face : {std::set{t.a, t.b, t.c}, std::set{t.a, t.b, t.d},
                             std::set{t.a, t.c, t.d}, std::set{t.b, t.c, t.d}}) {
      ++faces[face];
    }
  }
  std::set<std::pair<uint32_t, uint32_t>> edges;
  for (const auto& [face, count] : faces) {
    if (count != 1) continue;
    const std::vector<uint32_t> f(face.begin(), face.end());
    edges.insert({{f[0], f[1]}, {f[0], f[2]}, {f[1], f[2]}});
  }
  return edges.size();
}

Scene PinnedBall(const std::string& asset) {
  Scene scene = {.steps = 12};
  scene.bodies.resize(1);
  scene.bodies[0].asset = asset;
  scene.bodies[0].pins = {{RegionPin{"high"}, {}}};
  scene.colliders.emplace_back();
  return scene;
}

size_t NumLines(const std::vector<LineLayer>& layers, const std::string& name) {
  for (const LineLayer& layer : layers) {
    if (layer.name != name) continue;
    CHECK(layer.ends.size() == 2 * layer.colours.size());
    return layer.colours.size();
  }
  return 0;
}

}  // namespace

TEST_CASE("Line layers are read by name, and unknown ones name the nearest") {
  CHECK(ParseDrawLayers("cage").value() == kDrawCage);
  CHECK(ParseDrawLayers("pins,cage,pins").value() == (kDrawCage | kDrawPins));
  CHECK(ParseDrawLayers(DrawLayerNames()).value() ==
        (kAllLayers | kDrawSleep | kDrawIntersections));
  for (const char* bad : {"", "cage,", ",cage", "cage pins", "Cage"}) {
    INFO(bad);
    REQUIRE_FALSE(ParseDrawLayers(bad).ok());
    CHECK(ParseDrawLayers(bad).error().exit_code == ExitCode::kUsage);
  }
  CHECK_THAT(ParseDrawLayers("cage,bonds").error().message, Contains("did you mean 'bounds'?"));
}

TEST_CASE("Each layer has the lines that its name promises") {
  const tests::TemporaryFolder folder;
  const Scene scene = PinnedBall(tests::WriteBall(folder));
  const SceneWorld scene_world = BuildOrFail(scene);
  const auto layers = DrawLayers(*scene_world.world, kAllLayers);
  const Asset& asset = *scene_world.assets[0];
  const size_t edges = NumOutsideEdges(asset);
  CHECK(edges == 288);  // 6 sides with 4 x 4 squares of two triangles: 192 faces, 3/2 edges each
  CHECK(NumLines(layers, "cage") == edges);
  const auto pinned = PinnedNodes(asset, RegionPin{"high"});
  CHECK(NumLines(layers, "pins") == 3 * pinned.value().size());
  CHECK(NumLines(layers, "bounds") == 12);
  CHECK(NumLines(layers, "colliders") >= 4);
  CHECK(NumLines(layers, "contacts") == 0);
  const auto states = DrawLayers(*scene_world.world, kDrawCage | kDrawSleep);
  CHECK(NumLines(states, "sleep") == edges);
  CHECK(NumLines(states, "cage") == 0);
  CHECK(DrawLayers(*scene_world.world, 0).empty());
}

TEST_CASE("An .obj has the lines of the layers, with materials by colour") {
  const tests::TemporaryFolder folder;
  const SceneWorld scene_world = BuildOrFail(PinnedBall(tests::WriteBall(folder)));
  const auto files = ExportObj(scene_world, "a.mtl", kDrawCage | kDrawBounds);
  REQUIRE(files.ok());
  const auto plain = ExportObj(scene_world, "a.mtl");
  REQUIRE(plain.ok());
  CHECK(plain.value().obj.find("\nl ") == std::string::npos);
  CHECK(files.value().obj.find(plain.value().obj) == 0);  // the surface comes first, unchanged
  std::istringstream lines(files.value().obj);
  std::vector<Vec3> vertices;
  std::vector<std::pair<size_t, size_t>> segments;
  std::set<std::string> materials;
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string keyword;
    words >> keyword;
    if (keyword == "v") {
      Vec3& v = vertices.emplace_back();
      words >> v.x >> v.y >> v.z;
    } else if (keyword == "l") {
      auto& [a, b] = segments.emplace_back();
      words >> a >> b;
    } else if (keyword == "usemtl") {
      words >> keyword;
      materials.insert(keyword);
    }
  }
  REQUIRE(segments.size() == 288 + 12);
  for (const auto& [a, b] : segments) REQUIRE(std::max(a, b) <= vertices.size());
  const Vec3 first = vertices[segments[0].first - 1];
  CHECK(first.x == DrawLayers(*scene_world.world, kDrawCage)[0].ends[0].x);
  for (const std::string& name : materials) {
    CHECK(files.value().mtl.find("newmtl " + name + "\nKd ") != std::string::npos);
  }
  CHECK(materials.size() >= 4);
}

TEST_CASE("A .glb shows the lines of exactly one frame at a time") {
  const tests::TemporaryFolder folder;
  const Scene scene = PinnedBall(tests::WriteBall(folder));
  SceneWorld scene_world = BuildOrFail(scene);
  AnimationRecorder recorder(scene.steps, 5, scene.dt, kDrawCage | kDrawPins);
  REQUIRE(RunScene(scene, &scene_world, [&](const SceneWorld& world, uint32_t done) {
            recorder.Observe(world, done);
            return true;
          }).ok());
  const size_t num_frames = 4;  // after 0, 5, 10 and 12 steps
  REQUIRE(recorder.animation().lines.size() == num_frames);
  const auto bytes = ExportGlb(scene_world, recorder.animation());
  if (!bytes.ok()) FAIL(bytes.error().message);
  const tests::GlbFile glb(bytes.value());
  const auto& nodes = glb.document["nodes"];
  const auto& animation = glb.document["animations"][0];
  std::map<std::string, size_t> frames_of_layer;
  for (size_t node = 0; node < nodes.size(); ++node) {
    if (!nodes[node].contains("mesh") || nodes[node].contains("skin")) continue;
    const std::string name = nodes[node]["name"];
    const auto& primitive =
        glb.document["meshes"][nodes[node]["mesh"].get<size_t>()]["primitives"][0];
    CHECK(primitive["mode"] == 1);
    const std::string layer = name.substr(0, name.find('.'));
    const size_t frame = std::stoul(name.substr(name.find('.') + 1));
    ++frames_of_layer[layer];
    const LineLayer& drawn = recorder.animation().lines[frame][layer == "cage" ? 0 : 1];
    REQUIRE(drawn.name == layer);
    const auto positions = glb.Numbers(primitive["attributes"]["POSITION"]);
    REQUIRE(positions.size() == 3 * drawn.ends.size());
    CHECK(positions[4] == drawn.ends[1].y);
    CHECK(glb.Numbers(primitive["attributes"]["COLOR_0"]).size() == positions.size());
    // The scale at the time of each frame, by STEP interpolation.
    for (const auto& channel : animation["channels"]) {
      if (channel["target"]["node"] != node) continue;
      CHECK(channel["target"]["path"] == "scale");
      const auto& sampler = animation["samplers"][channel["sampler"].get<size_t>()];
      CHECK(sampler["interpolation"] == "STEP");
      const auto times = glb.Numbers(sampler["input"]);
      const auto scales = glb.Numbers(sampler["output"]);
      for (size_t at = 0; at < num_frames; ++at) {
        const auto next =
            std::upper_bound(times.begin(), times.end(), recorder.animation().times[at]);
        const auto key = static_cast<size_t>(std::max<ptrdiff_t>(next - times.begin() - 1, 0));
        INFO(name << " at frame " << at);
        CHECK(scales[3 * key] == (at == frame ? 1.0f : 0.0f));
      }
    }
  }
  CHECK(frames_of_layer["cage"] == num_frames);
  CHECK(frames_of_layer["pins"] == num_frames);
}

TEST_CASE("Colours of lines are linear in files") {
  const Vec3 grey = LinearColour(0xff8000);
  CHECK(grey.x == 1.0f);
  CHECK(grey.y == Approx(0.21586).epsilon(1.0e-4));  // sRGB 128/255
  CHECK(grey.z == 0.0f);
}

}  // namespace plush::tools::draw_layers_test

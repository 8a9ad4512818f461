// SPDX-License-Identifier: MIT
// Skins of glTF files through the whole import, and one of another format through Assimp's bones.
#include "mesh/box3.h"
#include "skip.h"
#include "tools/gltf_builder.h"
#include "tools/procedural_meshes.h"
#include "tools/test_models.h"

#include <catch2/catch.hpp>

#include <cmath>
#include <filesystem>
#include <limits>

namespace gltf_skins_test {

using plush::tests::GltfBuilder;
using plush::tests::ImportOrFail;
using plush::tests::TemporaryFolder;
using plush::tools::ImportedModel;
using plush::tools::JointWeight;
using plush::tools::SurfaceJoint;
using plush::tools::SurfaceMesh;
using plush::tools::Vec3d;

ImportedModel Import(const GltfBuilder& builder) {
  TemporaryFolder folder;
  builder.WriteGlb(folder / "m.glb");
  return ImportOrFail(folder / "m.glb");
}

const SurfaceMesh& Sphere() {
  static const SurfaceMesh sphere = plush::tests::MakeSphere(1.0, 8, 12);
  return sphere;
}

// By columns: from the sphere's coordinates to those of a joint at `position` with the world's
// axes.
std::vector<float> ToJoint(const Vec3d& position) {
  return {1,
          0,
          0,
          0,
          0,
          1,
          0,
          0,
          0,
          0,
          1,
          0,
          float(-position.x),
          float(-position.y),
          float(-position.z),
          1};
}

constexpr Vec3d kHip = {0.0, -0.5, 0.0};
constexpr Vec3d kChest = {0.0, 0.25, 0.125};

// A sphere that two joints move: above and below y = 0, half each at y = 0. Nodes: 0 the mesh,
// 1 the armature (turned about x by a quarter, twice as large), 2 the hip, 3 the chest.
struct Puppet {
  GltfBuilder builder;
  size_t mesh = 0;

  Puppet() {
    mesh = builder.AddMesh(Sphere(), "body");
    builder.AddNode("body", mesh);
    auto& json = builder.json;
    json["nodes"][0]["translation"] = {5, 6, 7};
    json["nodes"].push_back({{"name", "armature"},
                             {"rotation", {std::sqrt(0.5), 0, 0, std::sqrt(0.5)}},
                             {"scale", {2, 2, 2}},
                             {"children", {2}}});
    json["nodes"].push_back(
        {{"name", "hip"}, {"translation", {kHip.x, kHip.y, kHip.z}}, {"children", {3}}});
    const Vec3d up = kChest - kHip;
    json["nodes"].push_back({{"name", "chest"}, {"translation", {up.x, up.y, up.z}}});
    json["scenes"][0]["nodes"].push_back(1);
    std::vector<float> binds = ToJoint(kHip);
    const std::vector<float> chest = ToJoint(kChest);
    binds.insert(binds.end(), chest.begin(), chest.end());
    json["skins"] = {
        {{"joints", {2, 3}}, {"inverseBindMatrices", builder.AddAccessor(binds, "MAT4")}}};
    json["nodes"][0]["skin"] = 0;
    std::vector<uint8_t> joints;
    std::vector<float> weights;
    for (const Vec3d& p : Sphere().positions) {
      joints.insert(joints.end(), {0, 1, 0, 0});
      const float hip = std::abs(p.y) < 1e-6 ? 0.5f : (p.y < 0 ? 1.0f : 0.0f);
      weights.insert(weights.end(), {hip, 1.0f - hip, 0.0f, 0.0f});
    }
    Set("JOINTS_0", builder.AddAccessor(joints, "VEC4"));
    Set("WEIGHTS_0", builder.AddAccessor(weights, "VEC4"));
  }

  void Set(const std::string& attribute, size_t accessor) {
    builder.json["meshes"][mesh]["primitives"][0]["attributes"][attribute] = accessor;
  }
};

// By the armature: y becomes z, z becomes -y, twice as large.
Vec3d Placed(const Vec3d& p) { return {2.0 * p.x, -2.0 * p.z, 2.0 * p.y}; }

float WeightAt(const SurfaceJoint& joint, uint32_t vertex) {
  for (const JointWeight& weight : joint.weights) {
    if (weight.vertex == vertex) return weight.weight;
  }
  return 0.0f;
}

void RequireHalves(const SurfaceMesh& surface, double tolerance = 0.0) {
  REQUIRE(surface.joints.size() == 2);
  for (uint32_t v = 0; v < surface.positions.size(); ++v) {
    const double y = Sphere().positions[v].y, hip = std::abs(y) < 1e-6 ? 0.5 : (y < 0 ? 1.0 : 0.0);
    REQUIRE(std::abs(WeightAt(surface.joints[0], v) - hip) <= tolerance);
    REQUIRE(std::abs(WeightAt(surface.joints[1], v) - (1.0 - hip)) <= tolerance);
  }
}

TEST_CASE("A skinned glTF mesh arrives in bind pose, with its joints and weights") {
  const SurfaceMesh surface = Import(Puppet().builder).surface;
  REQUIRE(surface.positions.size() == Sphere().positions.size());
  for (size_t v = 0; v < surface.positions.size(); ++v) {
    REQUIRE(Length(surface.positions[v] - Placed(Sphere().positions[v])) < 1e-5);
  }
  RequireHalves(surface);
  CHECK(surface.joints[0].name == "hip");
  CHECK(surface.joints[1].name == "chest");
  CHECK(surface.joints[1].parent == 0);
  CHECK(Length(surface.joints[0].position - Placed(kHip)) < 1e-5);
  CHECK(Length(surface.joints[1].position - Placed(kChest)) < 1e-5);
  for (const SurfaceJoint& joint : surface.joints) {
    CHECK(joint.rotation.x == Approx(std::sqrt(0.5)));
    CHECK(joint.rotation.w == Approx(std::sqrt(0.5)));
  }
  CHECK(surface.parts[0].node == "body");
}

TEST_CASE("Weights may be integers, and a vertex may have more than four joints") {
  Puppet puppet;
  SECTION("bytes") {
    std::vector<uint8_t> weights;
    for (const Vec3d& p : Sphere().positions) {
      const uint8_t hip = std::abs(p.y) < 1e-6 ? 128 : (p.y < 0 ? 255 : 0);
      weights.insert(weights.end(), {hip, uint8_t(255 - hip), 0, 0});
    }
    puppet.Set("WEIGHTS_0", puppet.builder.AddAccessor(weights, "VEC4", true));
    RequireHalves(Import(puppet.builder).surface, 0.002);
  }
  SECTION("two sets") {
    // A tenth in each of ten places, five of each joint at y = 0.
    std::vector<uint16_t> joints[3];
    std::vector<uint16_t> weights[3];
    for (const Vec3d& p : Sphere().positions) {
      for (int k = 0; k < 12; ++k) {
        const int joint = std::abs(p.y) < 1e-6 ? k % 2 : (p.y < 0 ? 0 : 1);
        joints[k / 4].push_back(static_cast<uint16_t>(joint));
        weights[k / 4].push_back(k < 10 ? 6553 : 0);
      }
    }
    for (int set = 0; set < 3; ++set) {
      const std::string number = std::to_string(set);
      puppet.Set("JOINTS_" + number, puppet.builder.AddAccessor(joints[set], "VEC4"));
      puppet.Set("WEIGHTS_" + number, puppet.builder.AddAccessor(weights[set], "VEC4", true));
    }
    RequireHalves(Import(puppet.builder).surface, 1e-6);
  }
}

TEST_CASE("A mesh with two skins, and without one, has the joints of each") {
  Puppet puppet;
  auto& json = puppet.builder.json;
  json["nodes"].push_back({{"name", "second"}, {"mesh", puppet.mesh}, {"skin", 1}});
  json["nodes"].push_back({{"name", "plain"}, {"mesh", puppet.mesh}});
  json["nodes"].push_back({{"name", "other_hip"}, {"translation", {kHip.x, kHip.y + 3.0, kHip.z}}});
  for (int node = 4; node < 7; ++node) json["scenes"][0]["nodes"].push_back(node);
  json["skins"].push_back(json["skins"][0]);
  json["skins"][1]["joints"] = {6, 6};
  std::vector<float> binds = ToJoint(kHip);
  binds.insert(binds.end(), binds.begin(), binds.begin() + 16);
  json["skins"][1]["inverseBindMatrices"] = puppet.builder.AddAccessor(binds, "MAT4");
  const SurfaceMesh surface = Import(puppet.builder).surface;
  const auto n = static_cast<uint32_t>(Sphere().positions.size());
  REQUIRE(surface.positions.size() == 3 * n);
  REQUIRE(surface.joints.size() == 3);
  CHECK(surface.joints[2].name == "other_hip");
  for (uint32_t v = 0; v < n; ++v) {
    const Vec3d& p = Sphere().positions[v];
    REQUIRE(Length(surface.positions[v] - Placed(p)) < 1e-5);
    REQUIRE(Length(surface.positions[n + v] - (p + Vec3d{0.0, 3.0, 0.0})) < 1e-5);
    REQUIRE(Length(surface.positions[2 * n + v] - p) < 1e-6);
    REQUIRE(WeightAt(surface.joints[2], v) == 0.0f);
    REQUIRE(WeightAt(surface.joints[2], n + v) == 1.0f);
    REQUIRE(WeightAt(surface.joints[2], 2 * n + v) == 0.0f);
  }
}

// Assimp 5.2.5 crashes on such a file if it sees the skin.
TEST_CASE("Without inverse bind matrices they are the identity") {
  Puppet puppet;
  puppet.builder.json["skins"][0].erase("inverseBindMatrices");
  const SurfaceMesh surface = Import(puppet.builder).surface;
  REQUIRE(surface.joints.size() == 2);
  const Vec3d& p = Sphere().positions[3];
  CHECK(Length(surface.positions[3] - Placed(p + kHip)) < 1e-5);
  CHECK(Length(surface.joints[1].position - Placed(kHip)) < 1e-5);
}

TEST_CASE("Broken skins lose what is broken, and nothing else") {
  Puppet puppet;
  auto& json = puppet.builder.json;
  const size_t n = Sphere().positions.size();
  SECTION("joints that do not exist") {
    std::vector<uint8_t> joints(4 * n, 0);
    for (size_t v = 0; v < n; ++v) joints[4 * v + 1] = 77;
    puppet.Set("JOINTS_0", puppet.builder.AddAccessor(joints, "VEC4"));
  }
  SECTION("weights that are no numbers") {
    std::vector<float> weights(4 * n, std::numeric_limits<float>::quiet_NaN());
    for (size_t v = 0; v < n; v += 2) weights[4 * v] = -1.0f;
    weights[4] = std::numeric_limits<float>::infinity();
    puppet.Set("WEIGHTS_0", puppet.builder.AddAccessor(weights, "VEC4"));
  }
  SECTION("too few weights") {
    puppet.Set("WEIGHTS_0", puppet.builder.AddAccessor(std::vector<float>(8, 1.0f), "VEC4"));
  }
  SECTION("matrices of zeros") {
    json["skins"][0]["inverseBindMatrices"] =
        puppet.builder.AddAccessor(std::vector<float>(32, 0.0f), "MAT4");
  }
  SECTION("too few matrices") {
    json["skins"][0]["inverseBindMatrices"] = puppet.builder.AddAccessor(ToJoint({}), "MAT4");
  }
  SECTION("no joints") { json["skins"][0]["joints"] = nlohmann::json::array(); }
  const SurfaceMesh surface = Import(puppet.builder).surface;
  CHECK(surface.positions.size() == n);
  for (const SurfaceJoint& joint : surface.joints) {
    for (const JointWeight& weight : joint.weights) {
      CHECK(weight.vertex < n);
      CHECK((weight.weight > 0.0f && weight.weight <= 1.0f));
    }
  }
}

TEST_CASE("Bones that Assimp reads from a COLLADA file become joints") {
  // A tetrahedron, its corners up to y = 2 bound to the upper of two joints, in centimetres.
  TemporaryFolder folder;
  plush::tests::WriteText(
      folder / "m.dae",
      R"(<?xml version="1.0"?><COLLADA xmlns="http://www.collada.org/2005/11/COLLADASchema"
 version="1.4.1"><asset><unit name="cm" meter="0.01"/><up_axis>Y_UP</up_axis></asset>
<library_geometries><geometry id="g" name="body"><mesh>
<source id="p"><float_array id="pa" count="12">0 0 0 1 0 0 0 2 0 0 0 1</float_array>
<technique_common><accessor source="#pa" count="4" stride="3"><param name="X" type="float"/>
<param name="Y" type="float"/><param name="Z" type="float"/></accessor></technique_common></source>
<vertices id="v"><input semantic="POSITION" source="#p"/></vertices>
<triangles count="4"><input semantic="VERTEX" source="#v" offset="0"/>
<p>0 2 1 0 1 3 1 2 3 0 3 2</p></triangles></mesh></geometry></library_geometries>
<library_controllers><controller id="c"><skin source="#g">
<bind_shape_matrix>1 0 0 0 0 1 0 0 0 0 1 0 0 0 0 1</bind_shape_matrix>
<source id="j"><Name_array id="ja" count="2">low high</Name_array><technique_common>
<accessor source="#ja" count="2" stride="1"><param name="JOINT" type="Name"/></accessor>
</technique_common></source>
<source id="b"><float_array id="ba" count="32">1 0 0 0 0 1 0 0 0 0 1 0 0 0 0 1
 1 0 0 0 0 1 0 -1.5 0 0 1 0 0 0 0 1</float_array><technique_common>
<accessor source="#ba" count="2" stride="16"><param name="TRANSFORM" type="float4x4"/></accessor>
</technique_common></source>
<source id="w"><float_array id="wa" count="3">1 0.25 0.75</float_array><technique_common>
<accessor source="#wa" count="3" stride="1"><param name="WEIGHT" type="float"/></accessor>
</technique_common></source>
<joints><input semantic="JOINT" source="#j"/><input semantic="INV_BIND_MATRIX" source="#b"/></joints>
<vertex_weights count="4"><input semantic="JOINT" source="#j" offset="0"/>
<input semantic="WEIGHT" source="#w" offset="1"/><vcount>1 1 2 1</vcount>
<v>0 0 0 0 0 1 1 2 0 0</v></vertex_weights></skin></controller></library_controllers>
<library_visual_scenes><visual_scene id="s">
<node id="low" sid="low" name="low" type="JOINT"><translate>0 0 0</translate>
<node id="high" sid="high" name="high" type="JOINT"><translate>0 1.5 0</translate></node></node>
<node id="body" name="body"><instance_controller url="#c"><skeleton>#low</skeleton>
</instance_controller></node></visual_scene></library_visual_scenes>
<scene><instance_visual_scene url="#s"/></scene></COLLADA>)");
  const SurfaceMesh surface = ImportOrFail(folder / "m.dae").surface;
  REQUIRE(surface.triangles.size() == 4);
  REQUIRE(surface.joints.size() == 2);
  CHECK(surface.joints[0].name == "low");
  CHECK(surface.joints[1].name == "high");
  CHECK(surface.joints[1].parent == 0);
  CHECK(Length(surface.joints[1].position - Vec3d{0.0, 0.015, 0.0}) < 1e-6);
  CHECK(surface.joints[1].rotation.w == Approx(1.0f));
  for (uint32_t v = 0; v < surface.positions.size(); ++v) {
    const bool is_top = surface.positions[v].y > 0.01;
    CHECK(WeightAt(surface.joints[0], v) == Approx(is_top ? 0.25 : 1.0));
    CHECK(WeightAt(surface.joints[1], v) == Approx(is_top ? 0.75 : 0.0));
  }
}

TEST_CASE("An FBX skeleton has joints inside its model") {
  const std::string path = "/usr/share/assimp/models/FBX/animation_with_skeleton.fbx";
  if (!std::filesystem::exists(path)) return plush::tests::Skip("there is no " + path);
  const SurfaceMesh surface = ImportOrFail(path).surface;
  REQUIRE(surface.joints.size() > 1);
  plush::tools::Box3 box;
  for (const Vec3d& p : surface.positions) box.Add(p);
  size_t inside = 0, weights = 0;
  std::vector<double> sums(surface.positions.size(), 0.0);
  for (const SurfaceJoint& joint : surface.joints) {
    const plush::tools::Vec3d& p = joint.position;
    inside += Min(Max(p, box.low), box.high) == p ? 1 : 0;
    weights += joint.weights.size();
    for (const JointWeight& weight : joint.weights) {
      sums[weight.vertex] += static_cast<double>(weight.weight);
    }
  }
  CHECK(inside * 10 >= surface.joints.size() * 9);
  CHECK(weights >= surface.positions.size());
  for (const double sum : sums) CHECK(std::abs(sum - 1.0) < 1e-5);
}

}  // namespace gltf_skins_test

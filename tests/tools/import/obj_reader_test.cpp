// SPDX-License-Identifier: MIT
#include "import/own_formats.h"
#include "tools/procedural_meshes.h"

#include <catch2/catch.hpp>

#include <cmath>
#include <span>
#include <string>

namespace obj_reader_test {

using plush::tests::TemporaryFolder;
using plush::tests::WriteText;
using plush::tools::ExitCode;
using plush::tools::RawMesh;
using plush::tools::RawScene;
using plush::tools::Result;

Result<RawScene> Parse(const std::string& text, const std::string& path = "m.obj") {
  return plush::tools::ReadObj(path, std::as_bytes(std::span(text)));
}

RawScene Scene(const std::string& text, const std::string& path = "m.obj") {
  Result<RawScene> scene = Parse(text, path);
  INFO((scene.ok() ? "" : scene.error().message));
  REQUIRE(scene.ok());
  return scene.value();
}

std::string WhyNot(const std::string& text) {
  const Result<RawScene> scene = Parse(text);
  REQUIRE_FALSE(scene.ok());
  CHECK(scene.error().exit_code == ExitCode::kInvalidInput);
  return scene.error().message;
}

const std::string kTriangle = "v 0 0 0\nv 1 0 0\nv 0 1 0\n";

TEST_CASE("OBJ: every way to write a triangle is read") {
  for (const std::string& text :
       {kTriangle + "f 1 2 3", kTriangle + "f -3 -2 -1\n", "f 1 2 3\n" + kTriangle,
        std::string("\xEF\xBB\xBF") + kTriangle + "f 1 2 3\n",
        std::string("v 0 0 0\rv 1 0 0\rv 0 1 0\rf 1 2 3\r"),
        std::string("\t v 0 0 0 # a\n  v +1 0 0#b\n\tv 0 1. 0\n\n\f\n f 1/ 2// 3 # c\\\nfoo\n"),
        std::string("v 0 0 \\\n0\nv 1 \\\r\n 0 0\nv 0 1e0 .0\nf 1 \\\n2 3\n"),
        std::string("V 0 0 0\nV 1 0 0\nV 0 1,0 0,0\nF 1 2 3\n"),
        std::string("v 0 0 0 1\nv 1 0 0 1.0\nv 0 1 0 0.999999\nf 1 2 3\n"),
        "# head \\\n" + kTriangle + "s off\nvp 1\ncstype bezier\nf 1 2 3\n"}) {
    INFO(text);
    const RawScene scene = Scene(text);
    REQUIRE(scene.meshes.size() == 1);
    const RawMesh& mesh = scene.meshes[0];
    REQUIRE(mesh.triangles.size() == 1);
    REQUIRE(mesh.positions.size() == 3);
    CHECK(mesh.positions[mesh.triangles[0][1]].x == 1.0f);
    CHECK(mesh.positions[mesh.triangles[0][2]].y == 1.0f);
    CHECK(scene.findings.empty());
  }
}

TEST_CASE("OBJ: texture coordinates, normals and colours belong to corners and positions") {
  const RawScene scene = Scene(
      "v 0 0 0 1 0.5 0\nv 1 0 0 0 0 1 0.5\nv 0 1 0\nv 1 1 0\nvt 0.25\nvt 1 2 3\nvn 0 0 1\n"
      "f 1/1/1 2/2/1 3/1/1\nf 3/1/1 2/2/1 4//1\nf 3/2/1 2/2/1 4//1\n");
  const RawMesh& mesh = scene.meshes.at(0);
  CHECK(mesh.positions.size() == 5);  // the third position with two texture coordinates
  CHECK(mesh.triangles[1] == std::array<uint32_t, 3>{2, 1, 3});
  CHECK(mesh.uvs.at(0).x == 0.25f);
  CHECK(mesh.uvs.at(0).y == 0.0f);
  CHECK(mesh.uvs.at(1).y == 2.0f);
  CHECK(mesh.normals.at(3).z == 1.0f);
  REQUIRE(mesh.attributes.size() == 4);
  CHECK(mesh.attributes[0].name == "COLOR_0.r");
  CHECK(mesh.attributes[0].values == std::vector<float>{1, 0, 0, 0, 0});
  CHECK(mesh.attributes[2].values[1] == 1.0f);
}

TEST_CASE("OBJ: objects, groups and materials make parts") {
  const RawScene scene = Scene(kTriangle +
                               "f 1 2 3\no a b # note\nusemtl red\nf 1 2 3\nusemtl red\nf 1 2 3\n"
                               "usemtl dir\\\nf 1 2 3\ng wing\ng\nf 1 2 3\no a b\nf 1 2 3\n");
  const auto describe = [&](const RawMesh& mesh) {
    return mesh.name + "|" + scene.materials[mesh.material] + "|" +
           std::to_string(mesh.triangles.size());
  };
  REQUIRE(scene.meshes.size() == 5);
  CHECK(describe(scene.meshes[0]) == "defaultobject|DefaultMaterial|1");
  CHECK(describe(scene.meshes[1]) == "a b|red|2");
  CHECK(describe(scene.meshes[2]) == "dir\\|dir\\|1");
  CHECK(describe(scene.meshes[3]) == "wing|dir\\|1");
  CHECK(describe(scene.meshes[4]) == "a b|dir\\|1");
  REQUIRE(scene.nodes.size() == 4);
  CHECK(scene.nodes[2].name == "a b");
  CHECK(scene.nodes[2].meshes == std::vector<uint32_t>{1, 2, 4});
}

TEST_CASE("OBJ: materials are read, and files that are missing named") {
  TemporaryFolder folder;
  WriteText(folder / "my colours.mtl",
            "newmtl red\n Kd 1 0 .5 # note\nmap_Kd -s 1 1 1 here.png\nmap_Bump gone dir\\no.png\n"
            "newmtl grey\nKd 0.25\n");
  WriteText(folder / "here.png", "");
  const RawScene scene =
      Scene("mtllib my colours.mtl\nmtllib none.mtl\n" + kTriangle + "usemtl grey\nf 1 2 3\n",
            folder / "m.obj");
  CHECK(scene.materials == std::vector<std::string>{"DefaultMaterial", "red", "grey"});
  CHECK(scene.colours[1].z == 0.5f);
  CHECK(scene.colours[2].y == 0.25f);
  CHECK(scene.dependencies == std::vector<std::string>{folder / "my colours.mtl"});
  REQUIRE(scene.findings.size() == 1);
  CHECK(scene.findings[0].code == "IMPORT_FILE_MISSING");
  CHECK(scene.findings[0].count == 2);
  CHECK(scene.findings[0].message.find("none.mtl") != std::string::npos);
  CHECK(scene.findings[0].message.find("gone dir") != std::string::npos);
  CHECK(scene.missing.size() == 2);
}

TEST_CASE("OBJ: what is no polygon is counted, what cannot be read refused with its line") {
  const RawScene scene = Scene(kTriangle + "p 1 2\nl 1 2\nf 1 2\nf 1 2 3\n");
  REQUIRE(scene.findings.size() == 1);
  CHECK(scene.findings[0].code == "IMPORT_LEFT_OUT");
  CHECK(scene.findings[0].count == 3);
  CHECK(WhyNot(kTriangle + "f 1 2 4\n").find("line 4: there is no position 4") == 0);
  CHECK(WhyNot(kTriangle + "\nf 1 2 0\n").find("line 5: there is no position 0") == 0);
  CHECK(WhyNot(kTriangle + "f -4 2 3\n").find("line 4") == 0);
  CHECK(WhyNot(kTriangle + "f 1/1 2/1 3/1\n").find("no texture coordinate 1") != std::string::npos);
  CHECK(WhyNot(kTriangle + "f 1 2 3x\n").find("line 4") == 0);
  CHECK(WhyNot(kTriangle + "f 1 2 99999999999999999999\n").find("line 4") == 0);
  CHECK(WhyNot(kTriangle + "f 1 2 -9223372036854775808\n").find("line 4") == 0);
  CHECK(WhyNot("v 0 0 0 0.5\n").find("fourth coordinate of 0.5") != std::string::npos);
  CHECK(WhyNot("v 0 0\n").find("line 1: expected 3 numbers, found 2") == 0);
  CHECK(WhyNot("v 0 zero 0\n").find("line 1") == 0);
  CHECK(WhyNot(kTriangle + "surf 0 1 0 1 1 2 3\n").find("free-form") != std::string::npos);
  CHECK(WhyNot("\xFE\xFF").find("UTF-16") != std::string::npos);
  CHECK(WhyNot("just words\n").find("another type") != std::string::npos);
}

TEST_CASE("OBJ: extreme numbers are infinite, zero or no number") {
  const RawScene scene = Scene("v 1e400 1e-400 1.#QNAN\nv -1e-60 inf 0\nv 0 0 0\nf 1 2 3\n");
  const auto& p = scene.meshes.at(0).positions;
  CHECK(std::isinf(p[0].x));
  CHECK(p[0].y == 0.0f);
  CHECK(std::isnan(p[0].z));
  CHECK(p[1].x == 0.0f);
  CHECK(std::isinf(p[1].y));
}

}  // namespace obj_reader_test

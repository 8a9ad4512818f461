// SPDX-License-Identifier: MIT
#include "import/own_formats.h"
#include "tools/import/zip_text.h"
#include "tools/procedural_meshes.h"

#include <catch2/catch.hpp>

#include <span>
#include <string>

namespace three_mf_reader_test {

using plush::tests::TemporaryFolder;
using plush::tests::WriteText;
using plush::tests::ZipOf;
using plush::tools::ExitCode;
using plush::tools::RawScene;
using plush::tools::Result;

const std::string kRelationships =
    "<Relationships><Relationship Target=\"/3D/m.model\" "
    "Type=\"http://schemas.microsoft.com/3dmanufacturing/2013/01/3dmodel\"/></Relationships>";

Result<RawScene> ReadZip(const std::string& zip) {
  TemporaryFolder folder;
  WriteText(folder / "m.3mf", zip);
  return plush::tools::Read3mf(folder / "m.3mf", std::as_bytes(std::span(zip)));
}

Result<RawScene> Parse(const std::string& model, const std::string& other = "") {
  return ReadZip(
      ZipOf({{"_rels/.rels", kRelationships}, {"3D/m.model", model}, {"3D/other.model", other}}));
}

RawScene Scene(const std::string& model, const std::string& other = "") {
  Result<RawScene> scene = Parse(model, other);
  INFO((scene.ok() ? "" : scene.error().message));
  REQUIRE(scene.ok());
  return scene.value();
}

// An object of one triangle.
std::string Object(const std::string& attributes, const std::string& triangle = "") {
  return "<object " + attributes +
         "><mesh><vertices><vertex x=\"0\" y=\"0\" z=\"0\"/><vertex x=\"1\" y=\"0\" z=\"0\"/>"
         "<vertex x=\"0\" y=\"1\" z=\"0\"/></vertices><triangles>"
         "<triangle v1=\"0\" v2=\"1\" v3=\"2\" " +
         triangle + "/></triangles></mesh></object>";
}

std::string Model(const std::string& attributes, const std::string& resources,
                  const std::string& build) {
  return "<?xml version=\"1.0\"?><model " + attributes + "><resources>" + resources +
         "</resources><build>" + build + "</build></model>";
}

const std::string kItem = "<item objectid=\"1\"/>";

TEST_CASE("3MF: the unit is that of the model") {
  for (const auto& [attributes, metres] :
       {std::pair("", 1e-3), std::pair("unit=\"micron\"", 1e-6),
        std::pair("unit=\"millimeter\"", 1e-3), std::pair("unit=\"centimeter\"", 1e-2),
        std::pair("unit=\"inch\"", 0.0254), std::pair("unit=\"foot\"", 0.3048),
        std::pair("unit=\"meter\"", 1.0)}) {
    const RawScene scene = Scene(Model(attributes, Object("id=\"1\""), kItem));
    CHECK(scene.unit_m == metres);
    CHECK(scene.up == 'Z');
    CHECK(scene.meshes.size() == 1);
  }
  CHECK_FALSE(Parse(Model("unit=\"mile\"", Object("id=\"1\""), kItem)).ok());
}

TEST_CASE("3MF: items and components are placed, also from other parts, without support") {
  const std::string resources =
      Object("id=\"1\"") + Object("id=\"2\" type=\"support\"") + Object("id=\"9\"") +
      "<object id=\"3\"><components><component objectid=\"1\" transform=\"1 0 0 0 1 0 0 0 1 5 6 "
      "7\"/>"
      "<component objectid=\"2\"/><component p:path=\"/3D/other.model\" objectid=\"1\"/>"
      "</components></object>";
  const RawScene scene = Scene(
      Model("", resources, kItem + "<item objectid=\"3\" transform=\"0 1 0 -1 0 0 0 0 1 0 0 0\"/>"),
      Model("", Object("id=\"1\""), ""));
  CHECK(scene.meshes.size() == 2);
  REQUIRE(scene.nodes.size() == 5);
  CHECK(scene.nodes[2].to_parent[4] == 1.0);  // x becomes y
  CHECK(scene.nodes[3].to_parent[3] == 5.0);
  CHECK(scene.nodes[3].to_parent[11] == 7.0);
  CHECK(scene.nodes[3].parent == 2);
  CHECK(scene.nodes[4].meshes == std::vector<uint32_t>{1});
  REQUIRE(scene.findings.size() == 1);
  CHECK(scene.findings[0].code == "IMPORT_LEFT_OUT");
}

TEST_CASE("3MF: a mesh per material, while other properties of triangles are not read") {
  const std::string resources =
      "<basematerials id=\"2\"><base name=\"a\" displaycolor=\"#FF0000FF\"/>"
      "<base name=\"b\" displaycolor=\"#00FF00\"/></basematerials>"
      "<m:colorgroup id=\"4\"><m:color color=\"#FF0000\"/></m:colorgroup>" +
      Object("id=\"1\" pid=\"2\" pindex=\"0\"", "/><triangle v1=\"2\" v2=\"1\" v3=\"7\" p1=\"1\"") +
      Object("id=\"5\"", "pid=\"4\" p1=\"0\"");
  const RawScene scene = Scene(Model("", resources, kItem + "<item objectid=\"5\"/>"));
  REQUIRE(scene.meshes.size() == 3);
  CHECK(scene.materials == std::vector<std::string>{"id2_a", "id2_b", "DefaultMaterial"});
  CHECK(scene.colours[1].y == 1.0f);
  CHECK(scene.meshes[1].positions.size() == 2);
  CHECK(scene.meshes[1].triangles[0][0] == 1);
  CHECK(scene.meshes[1].triangles[0][2] >= 2);
  CHECK(scene.meshes[2].material == 2);
}

TEST_CASE("3MF: broken files, loops and unknown extensions are refused") {
  const auto why = [](const Result<RawScene>& scene) {
    REQUIRE_FALSE(scene.ok());
    return scene.error().message;
  };
  const std::string loop =
      "<object id=\"1\"><components><component objectid=\"1\"/></components></object>";
  CHECK(why(Parse(Model("", loop, kItem))).find("32 levels") != std::string::npos);
  CHECK(why(Parse(Model("", "", kItem))) == "there is no object '1'");
  CHECK(why(Parse("<model")).find("byte") != std::string::npos);
  const std::string vertex =
      "<object id=\"1\"><mesh><vertices><vertex x=\"0\" y=\"1\"/></vertices>"
      "</mesh></object>";
  CHECK(why(Parse(Model("", vertex, kItem))).find("vertex 0 lacks") != std::string::npos);
  const Result<RawScene> slices = Parse(
      Model("xmlns:s=\"http://x/slice\" requiredextensions=\"s\"", Object("id=\"1\""), kItem));
  CHECK(why(slices).find("http://x/slice") != std::string::npos);
  CHECK(slices.error().exit_code == ExitCode::kUnsupported);
  CHECK(Parse(Model("xmlns:m=\"http://schemas.microsoft.com/3dmanufacturing/material/2015/02\" "
                    "requiredextensions=\"m\"",
                    Object("id=\"1\""), kItem))
            .ok());
  const std::string zip = ZipOf({{"3D/3dmodel.model", Model("", Object("id=\"1\""), kItem)}});
  CHECK(ReadZip(zip).ok());  // without relationships
  CHECK(why(ReadZip(zip.substr(0, zip.size() / 2))).find("ZIP") != std::string::npos);
  CHECK(why(ReadZip(ZipOf({{"a", "b"}}))).find("'3D/3dmodel.model' is missing") !=
        std::string::npos);
}

TEST_CASE("The first bytes of a file tell its format, or its name does") {
  using plush::tools::OwnReader;
  const auto reader = [](const std::string& path, const std::string& head, bool is_known) {
    return OwnReader(path, std::as_bytes(std::span(head)), head.size(), is_known);
  };
  CHECK(reader("m.obj", "ply\r\n", true) == plush::tools::OwnReader("m.ply", {}, 0, true));
  CHECK(reader("m.OBJ", "v 0 0 0", true) == reader("m.obj", "", true));
  CHECK(reader("m.txt", "# a\nv 0 0 0", false) == reader("m.obj", "", true));
  CHECK(reader("m.txt", "just words", false) == nullptr);
  CHECK(reader("m", "solid a\nfacet normal", false) == reader("m.stl", "", true));
  CHECK(reader("m.off", "solid a\nfacet normal", true) == nullptr);
  CHECK(reader("m.zip", "PK\x03\x04 3D/3dmodel.model", false) == reader("m.3mf", "", true));
  const auto refused =
      reader("m.obj", "\x89PNG", true)("m.obj", std::as_bytes(std::span("\x89PNG")));
  REQUIRE_FALSE(refused.ok());
  CHECK(refused.error().message == "the file is a PNG image, not what its name says");
}

}  // namespace three_mf_reader_test

// SPDX-License-Identifier: MIT
#include "import/own_formats.h"

#include <catch2/catch.hpp>

#include <array>
#include <cstring>
#include <span>
#include <string>

namespace stl_reader_test {

using plush::tools::ExitCode;
using plush::tools::RawScene;
using plush::tools::Result;

Result<RawScene> Parse(const std::string& text) {
  return plush::tools::ReadStl("m.stl", std::as_bytes(std::span(text)));
}

RawScene Scene(const std::string& text) {
  Result<RawScene> scene = Parse(text);
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

std::string Facet(const std::string& normal = "0 0 1") {
  return "facet normal " + normal +
         "\n outer loop\n  vertex 0 0 0\n  vertex 1 0 0\n  vertex 0 1e0 0\n endloop\nendfacet\n";
}

std::string Binary(const std::string& head, uint32_t count, uint32_t triangles, uint16_t bits = 0) {
  std::string file = head + std::string(80 - head.size(), ' ');
  file.append(reinterpret_cast<const char*>(&count), 4);
  const std::array<float, 12> numbers = {9, 9, 9, 0, 0, 0, 1, 0, 0, 0, 1, 0};
  for (uint32_t t = 0; t < triangles; ++t) {
    file.append(reinterpret_cast<const char*>(numbers.data()), sizeof(numbers));
    file.append(reinterpret_cast<const char*>(&bits), 2);
  }
  return file;
}

TEST_CASE("STL: all solids of a text are read, whatever their names") {
  for (const std::string name :
       {"", "a", "big facet", "my endsolid b", "solid", "outer loop", "vertex 1 2", "Gehäuse"}) {
    INFO(name);
    const RawScene scene = Scene(" solid " + name + "\r\n" + Facet("nan nan nan") + Facet() +
                                 "endsolid " + name + "\nsolid\tb\n\n" + Facet());
    REQUIRE(scene.meshes.size() == 2);
    CHECK(scene.meshes[0].name == name);
    CHECK(scene.meshes[0].triangles.size() == 2);
    CHECK(scene.meshes[0].normals.empty());
    CHECK(scene.meshes[1].name == "b");
    CHECK(scene.meshes[1].positions[1].x == 1.0f);
  }
  CHECK(Scene("SOLID A\nFACET NORMAL 0 0 1 OUTER LOOP VERTEX 0 0 0 VERTEX 1 0 0 VERTEX 0 1 0 "
              "ENDLOOP ENDFACET ENDSOLID")
            .meshes.at(0)
            .triangles.size() == 1);
}

TEST_CASE("STL: binary files are told by their size, and a count that does not fit is refused") {
  for (const char* head : {"", "solid made by a tool", "solid x\nfacet normal 0 0 0"}) {
    const RawScene scene = Scene(Binary(head, 3, 3));
    CHECK(scene.meshes.at(0).triangles.size() == 3);
    CHECK(scene.meshes[0].attributes.empty());
  }
  CHECK(Scene(Binary("", 3, 3) + "tail").meshes.at(0).triangles.size() == 3);
  CHECK(WhyNot(Binary("", 4, 3)) ==
        "the header announces 4 triangles, but the file of 234 bytes holds 3");
  CHECK(WhyNot(Binary("solid", 0xffffffff, 3)).find("4294967295") != std::string::npos);
  CHECK(WhyNot(Binary("", 2, 3)).find("holds 3") != std::string::npos);
  CHECK(WhyNot("short").find("has 5") != std::string::npos);
}

TEST_CASE("STL: colours of triangles") {
  const RawScene plain = Scene(Binary("", 1, 1, 0x8000 | 31 << 10 | 1));
  CHECK(plain.meshes[0].attributes.at(0).values == std::vector<float>{1, 1, 1});
  CHECK(plain.meshes[0].attributes[2].values[0] == 1.0f / 31.0f);
  const RawScene magics = Scene(Binary("COLOR=\x10\x20\x30\xff,", 1, 1, 0x8000 | 31 << 10 | 1));
  CHECK(magics.meshes[0].attributes.at(2).values[0] == 1.0f);
  CHECK(magics.colours[0].x == 16.0f / 255.0f);
}

TEST_CASE("STL: broken texts are refused with their line") {
  CHECK(WhyNot("solid a\n" + Facet() + "facet\nvertex 1 2 3\nendfacet\n").find("line 11") == 0);
  CHECK(WhyNot("solid a\nfacet\nvertex 1 2 x\n").find("line 3: expected three coordinates") == 0);
  CHECK(WhyNot("solid a\n" + Facet().substr(0, 50)).find("corners instead of 3") !=
        std::string::npos);
  CHECK(WhyNot("solid a\nfacet vertex 0 0 0 vertex 1 0 0 vertex 0 1 0 vertex 1 1 0 endfacet")
            .find("4 corners") != std::string::npos);
}

}  // namespace stl_reader_test

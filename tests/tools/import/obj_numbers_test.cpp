// SPDX-License-Identifier: MIT
// Decimal points that begin numbers, comments and odd counts of numbers, in texts and through the
// importer.
#include "import/obj_numbers.h"

#include "import/import.h"
#include "mesh/welding.h"
#include "tools/procedural_meshes.h"
#include "tools/test_models.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <string>

namespace obj_numbers_test {

using plush::tests::ImportOrFail;
using plush::tests::TemporaryFolder;
using plush::tests::WriteText;
using plush::tools::ImportedModel;
using plush::tools::Vec3d;

std::string ForAssimp(std::string_view obj) {
  const std::vector<std::byte> bytes = plush::tools::ObjForAssimp(obj);
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

TEST_CASE("Numbers of vertices get a zero before a leading decimal point") {
  CHECK(ForAssimp("v .5 1.5\t.25 \r\nvt .5 .5\nvn 0 0 .1") ==
        "v 0.5 1.5\t0.25 \r\nvt 0.5 0.5\nvn 0 0 0.1");
  CHECK(ForAssimp("v 1 2 \\\n.5\nv 1 \\\r\n \\\r\n .5 3") ==
        "v 1 2 \\\n0.5\nv 1 \\\r\n \\\r\n 0.5 3");
  CHECK(ForAssimp("o a\rv 1 1 .5\fv .1 1 1") == "o a\rv 1 1 0.5\fv 0.1 1 1");
}

TEST_CASE("Texts without such numbers, and all other lines, stay as they are") {
  for (const char* same : {"", "v", "v ", "v .", "v . 1 2", "v 1 2 3.5\n",
                           "o .5\ng .1\nusemtl .2\n", "mtllib .3/a.mtl", "# v .5", "v -.5 +.5 1\n",
                           "vp .5 .5", "v 1 2\\\n.5", "vtx .5", "\\", "v \\"}) {
    INFO(same);
    CHECK(ForAssimp(same).empty());
  }
  CHECK(ForAssimp("o .5\nvn .5 0 0 # .5\ng .5\n") == "o .5\nvn 0.5 0 0 # .5\ng .5\n");
}

TEST_CASE("Vertices lose comments, and numbers that Assimp cannot take") {
  CHECK(ForAssimp("v 1 2 3 # .5") == "v 1 2 3 ");
  CHECK(ForAssimp("v 1 2 3#4\nv .5 6 7 # 8 9\r\nf 1 2 3 # 4\n") ==
        "v 1 2 3\nv 0.5 6 7 \r\nf 1 2 3 # 4\n");
  CHECK(ForAssimp("v 1 2 3 4 5\n\nv 1 2 3 .4 .5 .6 1\nv 1 2 3 4 5 6 7 8 9 # c\n") ==
        "v 1 2 3\n\nv 1 2 3 0.4 0.5 0.6\nv 1 2 3 4 5 6\n");
  CHECK(ForAssimp("v 1 2 \\\n 3 4 \\\r\n 5 # c\\\n6\nv 1 2 3") == "v 1 2 \\\n 3\nv 1 2 3");
  for (const char* same :
       {"v 1 2 3 4", "v 1 2 3 .", "v 1 2 3 1 0 0\n", "v 1 2 3  \nv 1 2", "v #"}) {
    INFO(same);
    const std::string expected = std::string_view(same) == "v #" ? "v " : "";
    CHECK(ForAssimp(same) == expected);
  }
}

TEST_CASE("An OBJ with comments and colours of four numbers keeps its shape") {
  const TemporaryFolder folder;
  WriteText(folder / "m.obj",
            "v 0 0 0 1 0.5 0 1\nv 1 0 0 # 1 2\nv 0 1 0 0 1\nv .2 .2 .2 # 1 2 3\n"
            "f 1 3 2\nf 1 2 4\nf 2 3 4\nf 1 4 3\n");
  const ImportedModel model = ImportOrFail(folder / "m.obj");
  const auto points = plush::tools::MakeWeldedSurface(model.surface).points;
  REQUIRE(points.size() == 4);
  CHECK(std::count(points.begin(), points.end(), Vec3d{1, 0, 0}) == 1);
}

TEST_CASE("An OBJ with numbers like .5 keeps its shape, materials and texture coordinates") {
  const TemporaryFolder folder;
  WriteText(folder / "m.mtl", "newmtl .skin\nKd .5 1 .25\n");
  for (const char* name : {"m.obj", "m.OBJ", "m", "m.txt"}) {
    INFO(name);
    WriteText(folder / name,
              "mtllib m.mtl\nv 0 0 0\nv 1 0 0\nv 0 1 0\nv .2 .2 .2\nv 0 -.5 +.5\nv 5 5 5\n"
              "vt .25 .75\nusemtl .skin\n"
              "f 1/1 3/1 2/1\nf 1/1 2/1 5/1\nf 2/1 3/1 5/1\nf 1/1 5/1 3/1\n");
    const ImportedModel model = ImportOrFail(folder / name);
    CHECK(model.format == "obj");
    CHECK(model.dependencies == std::vector<std::string>{folder / "m.mtl"});
    CHECK(model.surface.uvs.at(0).x == 0.25f);
    CHECK(model.surface.uvs.at(0).y == 0.75f);
    CHECK(model.materials.at(1).name == ".skin");
    CHECK(model.materials.at(1).linear_rgb.x == 0.5f);
    const auto points = plush::tools::MakeWeldedSurface(model.surface).points;
    REQUIRE(points.size() == 4);
    CHECK(std::count(points.begin(), points.end(), Vec3d{0, -0.5, 0.5}) == 1);
    CHECK(std::count(points.begin(), points.end(), Vec3d{0, 1, 0}) == 1);
  }
}

}  // namespace obj_numbers_test

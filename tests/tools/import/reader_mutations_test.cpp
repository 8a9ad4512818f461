// SPDX-License-Identifier: MIT
// Random edits of files in the formats with readers of our own: every one is read or refused, and
// what is read is a scene that the parent process takes.
#include "import/corner_joining.h"
#include "import/own_formats.h"
#include "import/scene_flattening.h"
#include "skip.h"
#include "tools/import/zip_text.h"
#include "tools/procedural_meshes.h"

#include <catch2/catch.hpp>

#include <cmath>
#include <cstring>
#include <random>
#include <span>
#include <string>
#include <vector>

namespace reader_mutations_test {

using plush::tools::RawMesh;
using plush::tools::RawScene;
using plush::tools::Result;

constexpr uint32_t kFirstSeed = 1;

// Cuts, repeats, replaces and swaps up to eight runs of bytes, and sometimes a whole number.
std::string Edited(std::string text, std::mt19937* random) {
  constexpr const char* kWords[] = {"-1",   "0",    "4294967295", "1e400", "nan", "\\\n", "/",
                                    "\xff", "\r\n", "2147483648", "f",     "v ",  "#",    "\""};
  for (uint32_t edits = 1 + (*random)() % 8; edits > 0 && !text.empty(); --edits) {
    const size_t at = (*random)() % text.size();
    const size_t size = std::min<size_t>((*random)() % 12, text.size() - at);
    switch ((*random)() % 6) {
      case 0:
        text.erase(at, size);
        break;
      case 1:
        text.insert(at, text.substr((*random)() % text.size(), size));
        break;
      case 2:
        text.replace(at, size, kWords[(*random)() % std::size(kWords)]);
        break;
      case 3:
        text.resize(at);
        break;
      default:
        text[at] = static_cast<char>((*random)());
    }
  }
  return text;
}

// What ParseRawScene demands and the reader must not break.
void CheckScene(RawScene scene) {
  for (RawMesh& mesh : scene.meshes) {
    plush::tools::JoinEqualVertices(&mesh);
    const size_t n = mesh.positions.size();
    REQUIRE((mesh.normals.empty() || mesh.normals.size() == n));
    REQUIRE((mesh.uvs.empty() || mesh.uvs.size() == n));
    for (const auto& attribute : mesh.attributes) REQUIRE(attribute.values.size() == n);
    REQUIRE((mesh.material == UINT32_MAX || mesh.material < scene.materials.size()));
  }
  REQUIRE(scene.colours.size() == scene.materials.size());
  for (size_t i = 0; i < scene.nodes.size(); ++i) {
    REQUIRE(scene.nodes[i].parent < static_cast<int32_t>(i));
    for (const uint32_t mesh : scene.nodes[i].meshes) REQUIRE(mesh < scene.meshes.size());
  }
  REQUIRE(plush::tools::FlattenScene(scene, {}).ok());
}

using Reader = Result<RawScene> (*)(const std::string&, std::span<const std::byte>);

// Reads edits of the text, and returns how many are read; a 3MF file has to be at `path`.
uint32_t CheckEdits(const char* name, Reader reader, const std::string& text,
                    const std::string& path = "") {
  const uint32_t count = plush::tests::FullTests() ? 2000 : 100;
  uint32_t num_read = 0;
  for (uint32_t seed = kFirstSeed; seed < kFirstSeed + count; ++seed) {
    INFO(name << ", seed " << seed);
    std::mt19937 random(seed);
    const std::string edited = Edited(text, &random);
    if (!path.empty()) plush::tests::WriteText(path, edited);
    const Result<RawScene> scene = reader(path, std::as_bytes(std::span(edited)));
    if (scene.ok()) CheckScene(scene.value());
    if (!scene.ok()) CHECK_FALSE(scene.error().message.empty());
    num_read += scene.ok() ? 1 : 0;
  }
  return num_read;
}

const std::string kObj =
    "# cube\nmtllib none.mtl\nv 0 0 0 1\nv 1 0 0\nv 1 1 0 .5 .5 1\nv 0 1 0\nv .5 .2 0\nvt 0 1\n"
    "vt 1\nvn 0 0 1\no a\nusemtl red\nf 1/1/1 2/2/1 3//1 4 5\ng b\nusemtl \\\nf -1 -2 \\\n-3\nl 1 "
    "2\n";

TEST_CASE("Random edits of OBJ files are read or refused") {
  CHECK(CheckEdits("OBJ", plush::tools::ReadObj, kObj) > 0);
}

TEST_CASE("Random edits of PLY files are read or refused") {
  const std::string header =
      " 1.0\ncomment x\nelement vertex 5\nproperty float x\nproperty float y\nproperty float z\n"
      "property uchar red\nelement face 2\nproperty list uchar int vertex_indices\n"
      "property list uchar float texcoord\nelement tristrips 1\nproperty list int int "
      "v\nend_header\n";
  CheckEdits("text", plush::tools::ReadPly,
             "ply\nformat ascii" + header +
                 "0 0 0 9\n1 0 0 9\n1 1 0 9\n0 1 0 9\n.5 .2 0 9\n5 0 1 2 3 4 0\n"
                 "3 0 1 2 6 0 0 1 0 1 1\n6 0 1 2 -1 3 4\n");
  std::string rows;
  const auto add = [&rows](auto value) {
    rows.append(reinterpret_cast<char*>(&value), sizeof(value));
  };
  for (int i = 0; i < 5; ++i) {
    for (int k = 0; k < 3; ++k) add(static_cast<float>((i * 7 + k * 3) % 5));
    add(uint8_t{9});
  }
  for (int face = 0; face < 2; ++face) {
    add(uint8_t{4});
    for (int k = 0; k < 4; ++k) add(k + face);
    add(uint8_t{0});
  }
  add(int32_t{3});
  for (int k = 0; k < 3; ++k) add(k);
  const std::string little = "ply\nformat binary_little_endian" + header + rows;
  CHECK(CheckEdits("binary", plush::tools::ReadPly, little) > 0);
  CheckEdits("swapped", plush::tools::ReadPly, "ply\nformat binary_big_endian" + header + rows);
}

TEST_CASE("Random edits of STL files are read or refused") {
  const std::string facet =
      "facet normal 0 0 1\nouter loop\nvertex 0 0 0\nvertex 1 0 0\nvertex 0 1 "
      "0\nendloop\nendfacet\n";
  CheckEdits("text", plush::tools::ReadStl, "solid a\n" + facet + "endsolid a\nsolid b\n" + facet);
  std::string binary(84 + 4 * 50, '\x3f');
  const uint32_t count = 4;
  std::memcpy(binary.data() + 80, &count, 4);
  CHECK(CheckEdits("binary", plush::tools::ReadStl, binary) > 0);
}

TEST_CASE("Random edits of 3MF files are read or refused") {
  const plush::tests::TemporaryFolder folder;
  const std::string model =
      "<model unit=\"inch\"><resources><basematerials id=\"2\"><base name=\"a\"/></basematerials>"
      "<object id=\"1\" pid=\"2\" pindex=\"0\"><mesh><vertices><vertex x=\"0\" y=\"0\" z=\"0\"/>"
      "<vertex x=\"1\" y=\"0\" z=\"0\"/><vertex x=\"0\" y=\"1\" z=\"0\"/></vertices><triangles>"
      "<triangle v1=\"0\" v2=\"1\" v3=\"2\"/></triangles></mesh></object><object id=\"3\">"
      "<components><component objectid=\"1\" transform=\"1 0 0 0 1 0 0 0 1 5 6 7\"/></components>"
      "</object></resources><build><item objectid=\"3\"/></build></model>";
  CheckEdits("archive", plush::tools::Read3mf, plush::tests::ZipOf({{"3D/3dmodel.model", model}}),
             folder / "m.3mf");
  // The archive is sound, and the model edited.
  const auto read_model = [](const std::string& path, std::span<const std::byte> bytes) {
    const std::string text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    plush::tests::WriteText(path, plush::tests::ZipOf({{"3D/3dmodel.model", text}}));
    return plush::tools::Read3mf(path, bytes);
  };
  CHECK(CheckEdits("model", +read_model, model, folder / "m.3mf") > 0);
}

}  // namespace reader_mutations_test

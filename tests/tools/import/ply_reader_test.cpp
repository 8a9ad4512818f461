// SPDX-License-Identifier: MIT
#include "import/own_formats.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cstring>
#include <span>
#include <string>

namespace ply_reader_test {

using plush::tools::ExitCode;
using plush::tools::RawMesh;
using plush::tools::RawScene;
using plush::tools::Result;

Result<RawScene> Parse(const std::string& text) {
  return plush::tools::ReadPly("m.ply", std::as_bytes(std::span(text)));
}

RawMesh Mesh(const std::string& text) {
  Result<RawScene> scene = Parse(text);
  INFO((scene.ok() ? "" : scene.error().message));
  REQUIRE(scene.ok());
  return scene.value().meshes.at(0);
}

std::string WhyNot(const std::string& text) {
  const Result<RawScene> scene = Parse(text);
  REQUIRE_FALSE(scene.ok());
  CHECK(scene.error().exit_code == ExitCode::kInvalidInput);
  return scene.error().message;
}

template <class T>
std::string Bytes(T value, bool is_big) {
  std::string bytes(sizeof(T), '\0');
  std::memcpy(bytes.data(), &value, sizeof(T));
  if (is_big) std::reverse(bytes.begin(), bytes.end());
  return bytes;
}

// A header whose lines end so.
std::string Header(const std::string& format, const std::string& line_end) {
  std::string header;
  for (const std::string& line :
       {std::string("ply"), "format " + format + " 1.0", std::string("comment end_header"),
        std::string("obj_info x"), std::string("Created by a program"),
        std::string("element camera 1"), std::string("property list uchar short data"),
        std::string("element vertex 4"), std::string("property double z"),
        std::string("property uchar red"), std::string("property float x"),
        std::string("property float y"), std::string("property float quality"),
        std::string("element face 1"), std::string("property uchar flags"),
        std::string("property list uchar int vertex_index"), std::string("end_header")}) {
    header += line + line_end;
  }
  return header;
}

void CheckSquare(const RawMesh& mesh) {
  REQUIRE(mesh.positions.size() == 4);
  CHECK(mesh.positions[2].x == 1.0f);
  CHECK(mesh.positions[2].y == 1.0f);
  CHECK(mesh.positions[1].z == 0.5f);
  CHECK(mesh.triangles.size() == 2);
  REQUIRE(mesh.attributes.size() == 5);
  CHECK(mesh.attributes[0].name == "quality");
  CHECK(mesh.attributes[0].values[3] == 3.0f);
  CHECK(mesh.attributes[1].values[0] == 1.0f);
  CHECK(mesh.attributes[4].values[0] == 1.0f);
}

TEST_CASE("PLY: one square is the same in every format and with every line end") {
  for (const std::string line_end : {"\n", "\r\n", "\r"}) {
    for (const bool is_big : {false, true}) {
      std::string data =
          Bytes<uint8_t>(2, is_big) + Bytes<int16_t>(1, is_big) + Bytes<int16_t>(2, is_big);
      for (int i = 0; i < 4; ++i) {
        data += Bytes<double>(i == 1 ? 0.5 : 0.0, is_big) + Bytes<uint8_t>(255, is_big) +
                Bytes<float>(i == 1 || i == 2 ? 1 : 0, is_big) +
                Bytes<float>(i > 1 ? 1 : 0, is_big) + Bytes<float>(static_cast<float>(i), is_big);
      }
      data += Bytes<uint8_t>(0, is_big) + Bytes<uint8_t>(4, is_big);
      for (int i = 0; i < 4; ++i) data += Bytes<int32_t>(i, is_big);
      const std::string header =
          Header(is_big ? "binary_big_endian" : "binary_little_endian", line_end);
      CheckSquare(Mesh(header + data));
      CHECK(WhyNot(header + data.substr(0, data.size() - 1)).find("end early") !=
            std::string::npos);
    }
    const std::string text = "2 1 2" + line_end + "0 255 0 0 0" + line_end + "0.5 255 1 0 1" +
                             line_end + "0 255 1 1 2 0 255 0 1 3" + line_end + "7 4 0 1 2 3";
    CheckSquare(Mesh(Header("ascii", line_end) + text));
  }
}

TEST_CASE("PLY: data that begin with a line feed are not a part of the header") {
  const std::string header =
      "ply\nformat binary_little_endian 1.0\nelement vertex 3\nproperty uchar x\nproperty uchar y\n"
      "property uchar z\nelement face 1\nproperty list uchar uchar vertex_indices\nend_header\n";
  const RawMesh mesh =
      Mesh(header + "\n\r\n\x01\x02\x03\x04\x05\x06" + std::string("\x03\0\x01\x02", 4));
  CHECK(mesh.positions[0].x == 10.0f);
  CHECK(mesh.positions[0].y == 13.0f);
  CHECK(mesh.triangles.size() == 1);
}

const std::string kVertices =
    "ply\nformat ascii 1.0\nelement vertex 4\nproperty float x\nproperty float y\nproperty float "
    "z\n";
const std::string kRows = "0 0 0\n1 0 0\n0 1 0\n1 1 0\n";

TEST_CASE("PLY: strips begin anew at -1 and alternate, and corners may have texture coordinates") {
  const RawMesh strips = Mesh(kVertices +
                              "element tristrips 1\nproperty list int int vertex_indices\n"
                              "end_header\n" +
                              kRows + "8 0 1 2 3 -1 3 2 1\n");
  REQUIRE(strips.triangles.size() == 3);
  CHECK(strips.triangles[1] == std::array<uint32_t, 3>{2, 1, 3});
  CHECK(strips.triangles[2] == std::array<uint32_t, 3>{3, 2, 1});
  const RawMesh wedges = Mesh(kVertices +
                              "element face 2\nproperty list uchar int vertex_indices\n"
                              "property list uchar float texcoord\nend_header\n" +
                              kRows + "3 0 1 2 6 0 0 1 0 0 1\n3 2 1 9 6 .5 .5 1 0 1 1\n");
  REQUIRE(wedges.positions.size() == 5);
  CHECK(wedges.uvs[3].x == 0.5f);
  CHECK(wedges.positions[3].y == 1.0f);
  CHECK(wedges.triangles[1][2] >= 5);
}

TEST_CASE("PLY: broken files are refused with their place") {
  CHECK(WhyNot("ply\nformat ascii 1.0\nelement vertex x\n").find("line 3") == 0);
  CHECK(WhyNot("ply\nformat ascii 1.0\nproperty float x\n").find("line 3") == 0);
  CHECK(WhyNot("ply\nformat utf 1.0\n").find("line 2") == 0);
  CHECK(WhyNot("ply\nformat ascii 1.0\nelement vertex 1\nproperty half x\n").find("line 4") == 0);
  CHECK(WhyNot("ply").find("end_header") != std::string::npos);
  CHECK(WhyNot(kVertices + "end_header\n" + kRows.substr(0, 9)).find("line 9") == 0);
  CHECK(WhyNot(kVertices + "end_header\n0 0 x\n").find("line 8") == 0);
  CHECK(WhyNot("ply\nformat ascii 1.0\nelement vertex 1\nproperty float x\nend_header\n0\n") ==
        "no vertices with x, y and z");
  CHECK(WhyNot("ply\nformat binary_little_endian 1.0\nelement vertex 18446744073709551615\n"
               "property float x\nproperty float y\nproperty float z\nend_header\n")
            .find("end early") != std::string::npos);
}

}  // namespace ply_reader_test

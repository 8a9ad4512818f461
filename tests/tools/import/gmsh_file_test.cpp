// SPDX-License-Identifier: MIT
// Gmsh files with rare content and with mistakes; tet_formats_test.cpp has the rest.
#include "import/tet_files.h"

#include <catch2/catch.hpp>

#include <array>
#include <set>
#include <span>
#include <string>

namespace gmsh_file_test {

using plush::tools::ExitCode;
using plush::tools::Result;
using plush::tools::TetSource;

Result<TetSource> Parse(const std::string& text) {
  return plush::tools::ParseGmsh("m.msh", std::as_bytes(std::span(text)));
}

const std::string kHead = "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n";
const std::string kNodes = "$Nodes\n5\n1 0 0 0\n2 1 0 0\n3 0 1 0\n4 0 0 1\n5 1 1 1\n$EndNodes\n";

std::string MessageOf(const std::string& text, ExitCode exit_code) {
  const auto read = Parse(text);
  REQUIRE_FALSE(read.ok());
  CHECK(read.error().exit_code == exit_code);
  return read.error().message;
}

TEST_CASE(".msh: cells of other shapes are counted, corners of curved tets kept") {
  const auto read = Parse(kHead + kNodes +
                          "$Elements\n5\n1 15 2 0 1 1\n2 5 2 0 1 1 2 3 4 1 2 3 4\n3 7 0 1 2 3 4 5\n"
                          "4 11 1 6 1 2 3 4 9 9 9 9 9 9\n5 4 0 2 3 4 5\n$EndElements\n");
  REQUIRE(read.ok());
  CHECK(read.value().mesh.tets.size() == 2);
  CHECK(read.value().num_surface_cells == 1);
  CHECK(read.value().num_solid_cells == 2);
  CHECK(read.value().tags == std::vector<int32_t>{6, 0});
  CHECK(read.value().num_unused == 0);
}

TEST_CASE(".msh: a corner without a node drops its tet") {
  const auto read =
      Parse(kHead + kNodes + "$Elements\n2\n1 4 0 1 2 3 77\n2 4 0 1 2 3 4\n$EndElements\n");
  REQUIRE(read.ok());
  CHECK(read.value().mesh.tets.size() == 1);
  CHECK(read.value().num_dropped == 1);
  CHECK(read.value().num_unused == 1);
}

TEST_CASE(".msh: lines may end as on Windows, and other sections may be anywhere") {
  std::string text = kHead + "$Comments\nnothing\n$EndComments\n" + kNodes +
                     "$Periodic\n0\n$EndPeriodic\n$Elements\n1\n1 4 0 1 2 3 4\n$EndElements\n"
                     "$NodeData\n";
  for (size_t i = 0; (i = text.find('\n', i)) != std::string::npos; i += 2) text.insert(i, "\r");
  const auto read = Parse(text);
  INFO((read.ok() ? "" : read.error().message));
  REQUIRE(read.ok());
  CHECK(read.value().mesh.tets.size() == 1);
}

TEST_CASE(".msh: other files and versions are not supported") {
  const auto message = [](const std::string& text) {
    return MessageOf(text, ExitCode::kUnsupported);
  };
  CHECK(message("").find("not an .msh file") != std::string::npos);
  CHECK(message("$NOD\n1\n").find("not an .msh file") != std::string::npos);
  CHECK(message("$MeshFormat\n4 0 8\n").find("2.2 and 4.1") != std::string::npos);
  CHECK(message("$MeshFormat\n4.2 0 8\n").find("version 4.2 of .msh") != std::string::npos);
  CHECK(message("$MeshFormat\n4.1 0 4\n").find("numbers of 4 bytes") != std::string::npos);
}

TEST_CASE("A message quotes a bounded, printable piece of the file") {
  const std::string name = "$\x1b[31m" + std::string(100000, 'x');
  const std::string message = MessageOf(kHead + name + "\n", ExitCode::kInvalidInput);
  CHECK(message.find("has no end") != std::string::npos);
  CHECK(message.size() < 200);
  CHECK(message.find('\x1b') == std::string::npos);
}

TEST_CASE(".msh: errors name the line") {
  const auto message = [](const std::string& text) {
    return MessageOf(text, ExitCode::kInvalidInput);
  };
  CHECK(message(kHead).find("$Elements") != std::string::npos);
  CHECK(message(kHead + "$Nodes\n1\n1 0 zero 0\n") == "'m.msh', line 6: expected a node");
  CHECK(message(kHead + "$Nodes\nmany\n").find("number of nodes") != std::string::npos);
  CHECK(message(kHead + "$Nodes\n2\n1 0 0 0\n1 1 1 1\n$EndNodes\n")
            .find("two nodes have the number 1") != std::string::npos);
  CHECK(message(kHead + "$Nodes\n1\n1 0 0 0\n2 1 1 1\n$EndNodes\n").find("expected $EndNodes") !=
        std::string::npos);
  CHECK(message(kHead + kNodes + "$Elements\n1\n1 777 0 1\n").find("type 777") !=
        std::string::npos);
  CHECK(message(kHead + kNodes + "$Elements\n1\n1 4 -2 1\n").find("negative") != std::string::npos);
  CHECK(message(kHead + "$Comments\n").find("'$Comments' has no end") != std::string::npos);
}

TEST_CASE(".msh: every element type has its number of nodes and its dimension") {
  // Number of nodes by type number, from the manual; 0 is not a type.
  constexpr std::array<int, 32> kNumNodes = {0,  2,  3,  4,  4, 8, 6,  5,  3,  6, 9,
                                             10, 27, 18, 14, 1, 8, 20, 15, 13, 9, 10,
                                             12, 15, 15, 21, 4, 5, 6,  20, 35, 56};
  const std::set<int> tets = {4, 11, 29, 30, 31};
  const std::set<int> other_solids = {5, 6, 7, 12, 13, 14, 17, 18, 19, 92, 93};
  const auto text_of = [](int type, int num_nodes) {
    std::string text = kHead + kNodes + "$Elements\n2\n1 " + std::to_string(type) + " 0";
    for (int i = 0; i < num_nodes; ++i) text += " " + std::to_string(2 + i % 4);
    return text + "\n2 4 0 1 2 3 4\n$EndElements\n";
  };
  const auto check = [&](int type, int num_nodes) {
    INFO("type " << type);
    const auto read = Parse(text_of(type, num_nodes));
    REQUIRE(read.ok());
    const bool is_tet = tets.contains(type), is_other_solid = other_solids.contains(type);
    CHECK(read.value().mesh.tets.size() == (is_tet ? 2 : 1));
    CHECK(read.value().num_solid_cells == (is_other_solid ? 1 : 0));
    CHECK(read.value().num_surface_cells == (is_tet || is_other_solid ? 0 : 1));
  };
  for (int type = 1; type < 32; ++type) check(type, kNumNodes[static_cast<size_t>(type)]);
  check(92, 64);
  check(93, 125);
  for (const int unknown : {0, 32, 91, 94}) MessageOf(text_of(unknown, 4), ExitCode::kInvalidInput);
}

}  // namespace gmsh_file_test

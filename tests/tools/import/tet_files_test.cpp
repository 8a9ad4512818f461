// SPDX-License-Identifier: MIT
// TetGen's pairs of files: choice of the reader, content, mistakes, and edited files.
#include "import/tet_files.h"

#include "import/import.h"
#include "skip.h"
#include "tools/procedural_meshes.h"

#include <catch2/catch.hpp>

#include <filesystem>
#include <random>

namespace tet_files_test {

using plush::tests::TemporaryFolder;
using plush::tests::WriteText;
using plush::tools::ExitCode;
using plush::tools::ReadTetFile;
using plush::tools::TetSource;

const char* const kNodes =
    "# a unit corner\n5 3 0 0\n\n0 0 0 0\n1  1 0 0 # x\n2 0 1 0\n3 0 0 1\n4 1e0 +1 1\n";
const char* const kTets = "2 4 0\n0 0 1 2 3\n1 1 2 3 4\n";

// Writes both files to a folder and reads them through one of them.
struct Files {
  TemporaryFolder folder;
  Files(const std::string& nodes, const std::string& tets) {
    WriteText(folder / "m.node", nodes);
    WriteText(folder / "m.ele", tets);
  }
  auto Read() const { return ReadTetFile(folder / "m.node"); }
};

void RequireSound(const TetSource& files) {
  std::vector<bool> used(files.mesh.nodes.size());
  for (const auto& tet : files.mesh.tets) {
    for (const uint32_t node : tet) {
      REQUIRE(node < files.mesh.nodes.size());
      used[node] = true;
    }
    const auto& x = files.mesh.nodes;
    REQUIRE(plush::tools::SixVolume(x[tet[0]], x[tet[1]], x[tet[2]], x[tet[3]]) > 0.0);
  }
  REQUIRE(std::find(used.begin(), used.end(), false) == used.end());
}

TEST_CASE("The ending of a file name, in upper or lower case, gives its format") {
  using plush::tools::TetFormatOf;
  CHECK(TetFormatOf("a.msh") == "gmsh");
  CHECK(TetFormatOf("A.MsH") == "gmsh");
  CHECK(TetFormatOf(".vtk") == "vtk");
  CHECK(TetFormatOf("a.b.NODE") == "tetgen");
  CHECK(TetFormatOf("a.ele") == "tetgen");
  for (const char* path : {"", "msh", "a.msh2", "a.msh/b", "a.obj"}) CHECK(TetFormatOf(path) == "");
}

TEST_CASE("Both files are found through either, counted from 0 or from 1") {
  const Files files(kNodes, kTets);
  const auto by_node = ReadTetFile(files.folder / "m.node");
  const auto by_ele = ReadTetFile(files.folder / "m.ele");
  REQUIRE(by_node.ok());
  REQUIRE(by_ele.ok());
  CHECK(by_node.value().mesh.nodes == by_ele.value().mesh.nodes);
  CHECK(by_node.value().other_path == files.folder / "m.ele");
  CHECK(by_ele.value().other_path == files.folder / "m.node");
  RequireSound(by_node.value());
  CHECK(by_node.value().mesh.tets.size() == 2);
  CHECK(by_node.value().num_dropped == 0);

  const Files from_one("4 3 0 0\n1 0 0 0\n2 1 0 0\n3 0 1 0\n4 0 0 1\n", "1 4 0\n1 1 2 3 4\n");
  REQUIRE(from_one.Read().ok());
  CHECK(from_one.Read().value().mesh.tets[0] == std::array<uint32_t, 4>{0, 1, 2, 3});
}

TEST_CASE("Tets are turned, useless ones dropped, nodes without a tet left out") {
  const Files files("6 3 0 0\n0 0 0 0\n1 1 0 0\n2 0 1 0\n3 0 0 1\n4 1 1 0\n5 9 9 9\n",
                    "6 4 0\n0 0 2 1 3\n"  // inside out
                    "1 0 1 2 4\n"         // flat
                    "2 3 2 1 0\n"         // repeats the first
                    "3 0 1 2 77\n"        // no such node
                    "4 0 1 2 -1\n"
                    "5 0 0 1 2\n");  // the same corner twice
  const auto read = files.Read();
  REQUIRE(read.ok());
  RequireSound(read.value());
  CHECK(read.value().mesh.tets.size() == 1);
  CHECK(read.value().mesh.nodes.size() == 4);
  CHECK(read.value().num_oriented == 1);
  CHECK(read.value().num_dropped == 5);
}

TEST_CASE("Non-finite coordinates drop their tets") {
  const Files files("5 3 0 0\n0 0 0 0\n1 1 0 0\n2 0 1 0\n3 0 0 1\n4 nan 1 1e999\n", kTets);
  const auto read = files.Read();
  REQUIRE(read.ok());
  CHECK(read.value().mesh.tets.size() == 1);
  CHECK(read.value().num_dropped == 1);
}

TEST_CASE("Ten-node tets keep their corners, and markers and attributes are skipped") {
  const Files files("4 3 1 1\n0 0 0 0 5.5 1\n1 1 0 0 5.5 1\n2 0 1 0 5.5 0\n3 0 0 1 5.5 0\n",
                    "1 10 1\n0 0 1 2 3 9 9 9 9 9 9 42\n");
  REQUIRE(files.Read().ok());
  CHECK(files.Read().value().mesh.tets.size() == 1);
}

TEST_CASE("Errors name the file and the line") {
  const auto message = [](const std::string& nodes, const std::string& tets) {
    const Files files(nodes, tets);
    const auto read = files.Read();
    REQUIRE_FALSE(read.ok());
    CHECK(read.error().exit_code == ExitCode::kInvalidInput);
    CHECK(read.error().finding_code == "IMPORT_FAILED");
    return read.error().message;
  };
  CHECK(message("", kTets).find("m.node', line 0") != std::string::npos);
  CHECK(message("5 2 0 0\n", kTets).find("dimension is 2") != std::string::npos);
  CHECK(message("1 3 0 0\n0 0 0\n", kTets).find("line 2") != std::string::npos);
  CHECK(message("2 3 0 0\n0 0 0 0\n7 0 0 0\n", kTets).find("line 3: the node's number is 7") !=
        std::string::npos);
  CHECK(message("4294967296 3 0 0\n0 0 0 0\n", kTets).find("4294967296 nodes are more") !=
        std::string::npos);
  CHECK(message(kNodes, "9 4 0\n0 0 1 2 3\n").find("m.ele") != std::string::npos);
  CHECK(message(kNodes, "1 5 0\n0 0 1 2 3 4\n").find("5 nodes and must have 4 or 10") !=
        std::string::npos);
  CHECK(message(kNodes, "1 4 0\n0 0 1 x 3\n").find("line 2") != std::string::npos);
  CHECK(message("\xFF\xFE\x01", "\x01\x02").find("line 1") != std::string::npos);
}

TEST_CASE("A missing partner is an error that names it") {
  const Files files(kNodes, kTets);
  std::filesystem::remove(files.folder / "m.ele");
  const auto read = files.Read();
  REQUIRE_FALSE(read.ok());
  CHECK(read.error().exit_code == ExitCode::kIo);
  CHECK(read.error().message.find("m.ele") != std::string::npos);
}

TEST_CASE("Edited files give an error or a sound mesh") {
  const std::string nodes = kNodes, tets = kTets;
  std::mt19937 random(8);
  int read_well = 0;
  for (int i = 0; i < 400; ++i) {
    std::string edited_nodes = nodes, edited_tets = tets;
    const std::string alphabet = "0123456789 .-+e#\nx";
    std::string& edited = i % 2 == 0 ? edited_nodes : edited_tets;
    edited[random() % edited.size()] = alphabet[random() % alphabet.size()];
    const auto read = Files(edited_nodes, edited_tets).Read();
    if (!read.ok()) continue;
    ++read_well;
    RequireSound(read.value());
  }
  CHECK(read_well > 50);
}

TEST_CASE("A tet source becomes a tet mesh and its outward boundary") {
  const Files files(kNodes, kTets);
  plush::tools::FindingList findings;
  const auto model = plush::tools::ImportModel(files.folder / "m.ele", {}, &findings);
  REQUIRE(model.ok());
  CHECK(model.value().format == "tetgen");
  CHECK(model.value().tets.tets.size() == 2);
  CHECK(model.value().surface.triangles.size() == 6);
  CHECK(model.value().dependencies == std::vector<std::string>{files.folder / "m.node"});
  double volume = 0.0;
  const auto& surface = model.value().surface;
  for (const auto& t : surface.triangles) {
    volume +=
        Dot(surface.positions[t[0]], Cross(surface.positions[t[1]], surface.positions[t[2]])) / 6.0;
  }
  CHECK(volume == Approx(0.5));  // 1/6 + 1/3
}

TEST_CASE("The tet meshes of the test models are read whole") {
  for (const auto& [name, tets] : {std::pair("arm_4k", 3717), std::pair("arm_16k", 16229)}) {
    const std::string path =
        plush::tests::TestModelOrSkip(std::string("tets/").append(name).append(".node"));
    if (path.empty()) return;
    const auto read = ReadTetFile(path);
    REQUIRE(read.ok());
    CHECK(read.value().mesh.tets.size() + read.value().num_dropped == size_t(tets));
    RequireSound(read.value());
  }
}

}  // namespace tet_files_test

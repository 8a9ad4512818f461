// SPDX-License-Identifier: MIT
// `plush export` as a process: formats, exit codes, files that appear whole or not at all; and what
// TetGen and Gmsh read from the files, if these programs are installed.
#include "base/files.h"
#include "shapes/shape_asset.h"
#include "shapes/tet_shapes.h"
#include "skip.h"
#include "tools/export/exported_bar.h"
#include "tools/procedural_meshes.h"
#include "tools/run_plush.h"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>

namespace plush::tests {
namespace {

using Catch::Matchers::Contains;
using nlohmann::json;

// A folder with bar.plush.
struct BarFolder : TemporaryFolder {
  BarFolder() {
    const ExportedBar exported;
    REQUIRE(tools::WriteFileAtomically(bar(), exported.asset().bytes()).ok());
  }
  std::string bar() const { return *this / "bar.plush"; }
};

// Output of a shell command; nothing if its program is not installed.
std::string OutputOf(const std::string& program, const std::string& arguments) {
  if (std::system(("command -v " + program + " >/dev/null 2>&1").c_str()) != 0) {
    Skip(program + " is not installed");
    return "";
  }
  FILE* pipe = ::popen((program + " " + arguments + " 2>&1").c_str(), "r");
  REQUIRE(pipe != nullptr);
  std::string text;
  std::array<char, 4096> buffer;
  for (size_t n; (n = std::fread(buffer.data(), 1, buffer.size(), pipe)) > 0;) {
    text.append(buffer.data(), n);
  }
  INFO(text);
  REQUIRE(::pclose(pipe) == 0);
  return text;
}

}  // namespace

TEST_CASE("plush export chooses the format by the extension or by --to") {
  const BarFolder folder;
  const struct {
    const char* format;
    const char* name;
    const char* start;
  } cases[] = {{"node", "a.node", "30 3 0 0\n"},
               {"msh", "a.MSH", "$MeshFormat\n"},
               {"vtu", "a.vtu", "<?xml"},
               {"obj", "a.obj", "o cage\n"}};
  for (const auto& [format, name, start] : cases) {
    INFO(format);
    const PlushRun by_name = RunPlush({"export", folder.bar(), "-o", folder / name});
    CHECK(by_name.exit_code == 0);
    CHECK(by_name.out.empty());
    CHECK_THAT(by_name.err, Contains(name) && Contains("40 tets, 30 nodes"));
    const std::string text = Content(folder / name);
    CHECK_THAT(text, Catch::StartsWith(start));
    const PlushRun chosen =
        RunPlush({"export", folder.bar(), "--to", format, "-o", folder / "b.text", "-q"});
    CHECK(chosen.exit_code == 0);
    CHECK(chosen.err.empty());
    const bool is_pair = std::string(format) == "node";
    CHECK(Content(folder / (is_pair ? "b.text.node" : "b.text")) == text);
  }
  CHECK_THAT(Content(folder / "a.ele"), Catch::StartsWith("40 4 1\n"));
  CHECK(Content(folder / "a.ele") == Content(folder / "b.text.ele"));
  REQUIRE(RunPlush({"export", folder.bar(), "-o", folder / "c.ele"}).exit_code == 0);
  CHECK(Content(folder / "c.node") == Content(folder / "a.node"));
}

TEST_CASE("plush export reports its files as JSON") {
  const BarFolder folder;
  const PlushRun run = RunPlush(
      {"export", folder.bar(), "-o", folder / "a.node", "--json", "--report", folder / "r.json"});
  REQUIRE(run.exit_code == 0);
  const json document = json::parse(run.out);
  CHECK(document == json::parse(Content(folder / "r.json")));
  CHECK(document["format"] == "node");
  CHECK(document["tets"] == 40);
  CHECK(document["nodes"] == 30);
  REQUIRE(document["files"].size() == 2);
  CHECK(document["files"][1]["path"] == folder / "a.ele");
  CHECK(document["files"][1]["bytes"] == std::filesystem::file_size(folder / "a.ele"));
  CHECK(document["exit_code"] == 0);
}

TEST_CASE("plush export refuses what it cannot do, each with its code, and writes nothing") {
  const BarFolder folder;
  WriteText(folder / "cut.plush", Content(folder.bar()).substr(0, 2000));
  std::filesystem::create_directory(folder / "folder.ele");
  const size_t files = FilesIn(folder.path());
  const auto code = [&](const std::vector<std::string>& arguments) {
    std::vector<std::string> all = {"export"};
    all.insert(all.end(), arguments.begin(), arguments.end());
    return RunPlush(all).exit_code;
  };
  const std::string out = folder / "a.vtu";
  CHECK(code({folder.bar()}) == 1);
  CHECK(code({"-o", out}) == 1);
  CHECK(code({folder.bar(), "-o", out, "--to", "vtk"}) == 1);
  CHECK(code({folder.bar(), "-o", folder.bar(), "--to", "msh"}) == 1);
  CHECK(code({folder / "no.plush", "-o", out}) == 2);
  CHECK(code({folder.bar(), "-o", folder / "no/such/a.vtu"}) == 2);
  CHECK(code({folder.bar(), "-o", folder / "folder.node"}) == 2);
  CHECK(code({folder.bar(), "-o", out, "--report", folder / "no/such/r.json"}) == 2);
  CHECK(code({folder / "cut.plush", "-o", out}) == 3);
  CHECK(code({folder.bar(), "-o", folder / "a.stl"}) == 5);
  CHECK(code({std::string(PLUSH_TEST_DATA_DIR) + "/golden_0_1.plush", "-o", out}) == 5);
  CHECK_THAT(RunPlush({"export", folder.bar(), "-o", folder / "a.stl"}).err, Contains("--to"));
  CHECK(FilesIn(folder.path()) == files);
}

TEST_CASE("A full disk leaves both old files of a pair") {
  const BarFolder folder;
  WriteText(folder / "a.node", "old node");
  WriteText(folder / "a.ele", "old ele");
  const auto box = test::AssetBytesOf(test::TetBox(6, 6, 6, 0.1, 0.05));
  REQUIRE(tools::WriteFileAtomically(folder.bar(), box).ok());
  // The .node file fits in 32 blocks of 512 bytes; the .ele file, written second, does not.
  const PlushRun run =
      RunPlush({"export", folder.bar(), "-o", folder / "a.node", "-q"}, "ulimit -f 32; exec");
  INFO(run.err);
  CHECK(run.exit_code == 2);
  CHECK(Content(folder / "a.node") == "old node");
  CHECK(Content(folder / "a.ele") == "old ele");
  CHECK(FilesIn(folder.path()) == 3);
}

TEST_CASE("TetGen reads exported files, with the material of each tet") {
  const BarFolder folder;
  REQUIRE(RunPlush({"export", folder.bar(), "-o", folder / "a.node"}).exit_code == 0);
  const std::string text = OutputOf("tetgen", "-r '" + (folder / "a.node") + "'");
  if (text.empty()) return;
  CHECK_THAT(text, Contains("Mesh points: 30") && Contains("Mesh tetrahedra: 40"));
  size_t in_second = 0;
  const auto tets = Lines(Content(folder / "a.1.ele"));
  for (size_t i = 1; i <= 40; ++i) in_second += tets.at(i).at(5) == "1" ? 1 : 0;
  CHECK(in_second == 20);
}

TEST_CASE("Gmsh reads exported files, with their groups and data") {
  const BarFolder folder;
  REQUIRE(RunPlush({"export", folder.bar(), "-o", folder / "a.msh"}).exit_code == 0);
  WriteText(folder / "a.geo", R"(Merge "a.msh";
groups() = Physical Volume{:};
Printf("%g groups, %g views", #groups(), PostProcessing.NbViews);
)");
  const std::string text = OutputOf("gmsh", "'" + (folder / "a.geo") + "' -parse_and_exit");
  if (text.empty()) return;
  CHECK_THAT(text, Contains("30 nodes") && Contains("40 elements"));
  CHECK_THAT(text, Contains("2 groups, 2 views"));
  CHECK_THAT(text, !Contains("Error") && !Contains("Warning"));
}

}  // namespace plush::tests

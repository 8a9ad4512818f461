// SPDX-License-Identifier: MIT
// `plush bake --cache`: what is a hit, and what happens to a cache that is damaged or cannot be
// written.

#include "tools/procedural_meshes.h"
#include "tools/run_plush.h"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace plush::tests::bake_cache_test {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

struct CachedBakes {
  TemporaryFolder folder;
  std::string cache = folder / "cache", out = folder / "out.plush";

  CachedBakes() { WriteModel("a"); }

  void Write(const std::string& name, const std::string& text) const {
    fs::create_directories(fs::path(folder / name).parent_path());
    std::ofstream(folder / name, std::ios::binary) << text;
  }
  // An open model in its own folder, whose file names a material library.
  void WriteModel(const std::string& where) const {
    Write(where + "/m.obj",
          "mtllib m.mtl\nv 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nusemtl skin\nf 1 3 2\nf 1 2 4\nf 1 4 "
          "3\n");
    Write(where + "/m.mtl", "newmtl skin\n");
  }

  PlushRun Bake(std::vector<std::string> more = {}, const std::string& where = "a/m.obj",
                const std::string& prefix = "exec") const {
    std::vector<std::string> arguments = {"bake", folder / where, "-o", out,     "--cache",
                                          cache,  "--tets",       "30", "--json"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return RunPlush(arguments, prefix);
  }

  // "hit" or "miss" of a bake that succeeds.
  std::string Lookup(const std::vector<std::string>& more = {},
                     const std::string& where = "a/m.obj") const {
    const PlushRun run = Bake(more, where);
    INFO(run.err);
    REQUIRE(run.exit_code == 0);
    return json::parse(run.out)["cache"];
  }

  std::vector<std::string> Entries() const {
    std::vector<std::string> entries;
    for (const auto& entry : fs::recursive_directory_iterator(cache)) {
      if (entry.is_regular_file()) entries.push_back(entry.path().string());
    }
    return entries;
  }
};

}  // namespace

TEST_CASE("A hit gives the bytes, the findings and the depfile of the bake") {
  const CachedBakes bakes;
  const std::string depfile = bakes.folder / "d";
  const PlushRun miss = bakes.Bake({"--depfile", depfile});
  REQUIRE(miss.exit_code == 0);
  const std::string bytes = Content(bakes.out), dependencies = Content(depfile);
  fs::remove(bakes.out);
  const PlushRun hit = bakes.Bake({"--depfile", depfile});
  REQUIRE(hit.exit_code == 0);
  CHECK(Content(bakes.out) == bytes);
  CHECK(Content(depfile) == dependencies);
  const json before = json::parse(miss.out), after = json::parse(hit.out);
  CHECK(before["cache"] == "miss");
  CHECK(after["cache"] == "hit");
  CHECK_FALSE(before["findings"].empty());
  CHECK(before["findings"] == after["findings"]);
  CHECK(before["simulation"] == after["simulation"]);
}

TEST_CASE("A hit needs the same options and the same content of every file") {
  const CachedBakes bakes;
  CHECK(bakes.Lookup() == "miss");
  CHECK(bakes.Lookup() == "hit");
  CHECK(bakes.Lookup({"--threads", "1", "-v"}) == "hit");
  CHECK(bakes.Lookup({"--young", "2e5"}) == "miss");
  CHECK(bakes.Lookup({"--fit", "none"}) == "miss");
  CHECK(bakes.Lookup({"--join"}) == "miss");
  CHECK(bakes.Lookup() == "hit");
  // The same content elsewhere.
  bakes.WriteModel("elsewhere");
  CHECK(bakes.Lookup({}, "elsewhere/m.obj") == "hit");
  // Files that only the main file names: changed, restored, gone, there again.
  bakes.Write("a/m.mtl", "newmtl skin\nKd 1 0 0\n");
  CHECK(bakes.Lookup() == "miss");
  bakes.Write("a/m.mtl", "newmtl skin\n");
  CHECK(bakes.Lookup() == "hit");
  fs::remove(bakes.folder / "a/m.mtl");
  CHECK(bakes.Lookup() == "miss");
  CHECK(bakes.Lookup() == "hit");
  bakes.Write("a/m.mtl", "newmtl other\n");
  CHECK(bakes.Lookup() == "miss");
  // Side-cars count by content.
  bakes.Write("pins.json", R"({"regions": [{"name": "p", "box": [[0, 0, 0], [9, 9, 9]]}]})");
  CHECK(bakes.Lookup({"--pins", bakes.folder / "pins.json"}) == "miss");
  CHECK(bakes.Lookup({"--pins", bakes.folder / "pins.json"}) == "hit");
  bakes.Write("pins.json", R"({"regions": [{"name": "q", "box": [[0, 0, 0], [9, 9, 9]]}]})");
  CHECK(bakes.Lookup({"--pins", bakes.folder / "pins.json"}) == "miss");
}

TEST_CASE("Importers that look beside a file by its name do not mix up neighbours") {
  const CachedBakes bakes;
  // Equal .node files with different elements.
  for (const std::string name : {"x", "y"}) {
    bakes.Write(name + ".node", "5 3 0 0\n0 0 0 0\n1 1 0 0\n2 0 1 0\n3 0 0 1\n4 1 1 1\n");
  }
  bakes.Write("x.ele", "1 4 0\n0 0 1 2 3\n");
  bakes.Write("y.ele", "1 4 0\n0 4 1 2 3\n");
  const std::vector<std::string> import = {"--mesher", "import"};
  const auto bake = [&](const std::string& name) {
    const PlushRun run = RunPlush({"bake", bakes.folder / name, "-o", bakes.out, "--cache",
                                   bakes.cache, "--mesher", "import", "-q"});
    REQUIRE(run.exit_code == 0);
    return Content(bakes.out);
  };
  const std::string x = bake("x.node"), y = bake("y.node");
  CHECK(x != y);
  CHECK(bake("x.node") == x);
  CHECK(bake("y.node") == y);
}

TEST_CASE("Failed and gated bakes are not kept") {
  const CachedBakes bakes;
  CHECK(bakes.Bake({"-W"}).exit_code == 4);
  CHECK(bakes.Bake({"-W"}).exit_code == 4);
  bakes.Write("a/m.obj", "no model");
  CHECK(bakes.Bake().exit_code == 3);
  CHECK_FALSE(fs::exists(bakes.cache));
}

TEST_CASE("A bake is not kept if a file appeared meanwhile that its import had missed") {
  const CachedBakes bakes;
  fs::remove(bakes.folder / "a/m.mtl");
  // An importer that makes the file when it has ended.
  const std::string programs = bakes.folder / "programs";
  bakes.Write("programs/plush-import", "#!/bin/sh\n" + programs +
                                           "/real-import \"$@\"\ncode=$?\n[ ! -e " + programs +
                                           "/new.mtl ] || mv " + programs + "/new.mtl " +
                                           bakes.folder / "a/m.mtl" + "\nexit $code\n");
  fs::permissions(programs + "/plush-import", fs::perms::owner_all);
  bakes.Write("programs/new.mtl", "newmtl skin\nKd 1 0 0\n");
  const std::string prefix = "run() { [ -e " + programs + "/plush ] || { cp $1 " + programs +
                             "/plush; cp $1-import " + programs + "/real-import; }; shift; exec " +
                             programs + "/plush \"$@\"; }; run";
  const auto lookup = [&] {
    const PlushRun run = bakes.Bake({}, "a/m.obj", prefix);
    INFO(run.err);
    REQUIRE(run.exit_code == 0);
    return json::parse(run.out)["cache"].get<std::string>();
  };
  CHECK(lookup() == "miss");
  REQUIRE(fs::exists(bakes.folder / "a/m.mtl"));
  CHECK(lookup() == "miss");
  CHECK(lookup() == "hit");
}

TEST_CASE("A changed program is seen, also if its size and time of modification are the same") {
  const CachedBakes bakes;
  const std::string programs = bakes.folder / "programs";
  const std::string prefix = "run() { [ -e " + programs + "/plush ] || { mkdir " + programs +
                             "; cp $1 " + programs + "/plush; cp $1-import " + programs +
                             "/plush-import; }; shift; exec " + programs + "/plush \"$@\"; }; run";
  const auto lookup = [&] {
    const PlushRun run = bakes.Bake({}, "a/m.obj", prefix);
    INFO(run.err);
    REQUIRE(run.exit_code == 0);
    return json::parse(run.out)["cache"].get<std::string>();
  };
  CHECK(lookup() == "miss");
  CHECK(lookup() == "hit");
  const auto time = fs::last_write_time(programs + "/plush-import");
  std::fstream file(programs + "/plush-import", std::ios::in | std::ios::out | std::ios::binary);
  file.seekp(0, std::ios::end);
  file.seekp(-1, std::ios::cur).put('#');
  file.close();
  fs::last_write_time(programs + "/plush-import", time);
  CHECK(lookup() == "miss");
}

TEST_CASE("A damaged entry is reported and baked anew") {
  const CachedBakes bakes;
  REQUIRE(bakes.Lookup() == "miss");
  const std::string bytes = Content(bakes.out);
  // The list of files, and the result. The others are the keys of the programs, one line each.
  std::vector<std::string> entries = bakes.Entries();
  std::erase_if(entries, [](const auto& entry) { return fs::file_size(entry) == 36 + 32; });
  REQUIRE(entries.size() == 2);
  for (const std::string& entry : entries) {
    std::string content = Content(entry);
    content[content.size() / 2] = static_cast<char>(content[content.size() / 2] ^ 4);
    std::ofstream(entry, std::ios::binary) << content;
    const PlushRun run = bakes.Bake();
    INFO(run.err);
    CHECK(run.exit_code == 0);
    CHECK(run.err.find("CACHE_DAMAGED") != std::string::npos);
    CHECK(Content(bakes.out) == bytes);
    CHECK(bakes.Lookup() == "hit");
  }
}

TEST_CASE("A cache that cannot be written gives hits and loses no bake") {
  const CachedBakes bakes;
  REQUIRE(bakes.Lookup() == "miss");
  // Root may write into read-only folders: a file in a folder's place stops it, too.
  for (const auto& entry : fs::directory_iterator(bakes.cache)) {
    fs::permissions(entry.path(), fs::perms::owner_read | fs::perms::owner_exec);
  }
  CHECK(bakes.Lookup() == "hit");
  for (const auto& entry : fs::directory_iterator(bakes.cache)) {
    fs::permissions(entry.path(), fs::perms::owner_all);
  }
  const std::string blocked = bakes.folder / "blocked";
  std::ofstream(blocked) << "a file";
  const PlushRun run = RunPlush(
      {"bake", bakes.folder / "a/m.obj", "-o", bakes.out, "--tets", "30", "--cache", blocked});
  INFO(run.err);
  CHECK(run.exit_code == 0);
  CHECK(run.err.find("CACHE_NOT_WRITTEN") != std::string::npos);
  CHECK(fs::exists(bakes.out));
}

TEST_CASE("A full disk of the cache loses no bake") {
  const CachedBakes bakes;
  // A limit, in blocks of 512 bytes, that the asset keeps to. The cache's entry is larger.
  const PlushRun plain =
      RunPlush({"bake", bakes.folder / "a/m.obj", "-o", bakes.out, "--tets", "30"});
  REQUIRE(plain.exit_code == 0);
  const auto blocks = (fs::file_size(bakes.out) + 511) / 512;
  const PlushRun run = bakes.Bake({}, "a/m.obj", "ulimit -f " + std::to_string(blocks) + ";");
  INFO(run.err);
  CHECK(run.exit_code == 0);
  CHECK(run.err.find("CACHE_NOT_WRITTEN") != std::string::npos);
  CHECK(run.err.find("File too large") != std::string::npos);
  CHECK(bakes.Entries().empty());
  CHECK(bakes.Lookup() == "miss");
}

}  // namespace plush::tests::bake_cache_test

// SPDX-License-Identifier: MIT
// `plush batch` as its users run it: what it bakes, when, and what it reports.

#include "tools/commands/batch_run.h"

#include <catch2/catch.hpp>
#include <fcntl.h>
#include <nlohmann/json.hpp>
#include <sys/file.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <thread>

namespace plush::tests::batch_command_test {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr char kAllUnchanged[] =
    "crate.obj:unchanged props/Bob's & box $1.obj:unchanged props/level.obj:unchanged ";

}  // namespace

TEST_CASE("A batch bakes what the manifest names, once") {
  if (!HasNinja()) return;
  const Batch batch;
  CHECK(batch.States(0) == "crate.obj:baked props/Bob's & box $1.obj:baked props/level.obj:baked ");
  CHECK(batch.States(0) == kAllUnchanged);
  // The options are those of the rules, and the bytes those of a bake by hand.
  const std::string box = batch.folder / "models/props/Bob's & box $1.obj";
  const std::string by_hand = batch.folder / "by_hand.plush";
  REQUIRE(RunPlush({"bake", box, "-o", by_hand, "--tets", "30", "-q"}).exit_code == 0);
  CHECK(Content(by_hand) == Content(batch.folder / "out/props/Bob's & box $1.plush"));
  const PlushRun info = RunPlush({"info", batch.folder / "out/props/level.plush", "--json"});
  CHECK(json::parse(info.out).contains("static_mesh"));
}

TEST_CASE("A batch sees changes of files, of options and of the manifest") {
  if (!HasNinja()) return;
  const Batch batch;
  REQUIRE(batch.Run().exit_code == 0);
  batch.Write("models/crate.mtl", "newmtl skin\nKd 1 0 0\n");
  CHECK(batch.States(0) ==
        "crate.obj:baked props/Bob's & box $1.obj:unchanged props/level.obj:unchanged ");
  CHECK(batch.States(0) == kAllUnchanged);
  batch.WriteManifest(R"({"root": "models", "output": "out", "inputs": ["**/*.obj"], "options": [
      {"match": "**", "bake": {"tets": 30}}, {"match": "crate.obj", "bake": {"young": 2e5}},
      {"match": ["props/l*"], "bake": {"tets": null, "static": true}}], "exclude": "**/Bob*"})");
  CHECK(batch.States(0) == "crate.obj:baked props/level.obj:unchanged ");
  CHECK_FALSE(fs::exists(batch.folder / "out/props/Bob's & box $1.plush"));  // no longer asked for
  fs::remove(batch.folder / "out/crate.plush");
  CHECK(batch.States(0) == "crate.obj:baked props/level.obj:unchanged ");
}

TEST_CASE("A batch sees that a file appears which an import had missed") {
  if (!HasNinja()) return;
  const Batch batch;
  REQUIRE(batch.Run().exit_code == 0);
  batch.Write("models/props/b.mtl", "newmtl skin\nKd 1 0 0\n");
  CHECK(batch.States(0) ==
        "crate.obj:unchanged props/Bob's & box $1.obj:baked props/level.obj:unchanged ");
  // Ninja takes the new file for a change once more: the output's time has stayed.
  REQUIRE(batch.Run().exit_code == 0);
  CHECK(batch.States(0) == kAllUnchanged);
}

TEST_CASE("Ninja holds hits of the cache for done and knows what they depend on") {
  if (!HasNinja()) return;
  const Batch batch;
  const std::vector<std::string> cache = {"--cache", batch.folder / "cache"};
  REQUIRE(batch.Run(cache).exit_code == 0);
  const std::string bytes = Content(batch.folder / "out/crate.plush");
  fs::remove_all(batch.folder / "out");
  CHECK(batch.States(0, cache) ==
        "crate.obj:cached props/Bob's & box $1.obj:cached props/level.obj:cached ");
  CHECK(Content(batch.folder / "out/crate.plush") == bytes);
  CHECK(batch.States(0, cache) == kAllUnchanged);
  batch.Write("models/crate.mtl", "newmtl skin\nKd 1 0 0\n");
  CHECK(batch.States(0, cache) ==
        "crate.obj:baked props/Bob's & box $1.obj:unchanged props/level.obj:unchanged ");
  // A hit brings an old asset back.
  batch.Write("models/crate.mtl", "newmtl skin\n");
  CHECK(batch.States(0, cache) ==
        "crate.obj:cached props/Bob's & box $1.obj:unchanged props/level.obj:unchanged ");
  CHECK(Content(batch.folder / "out/crate.plush") == bytes);
  CHECK(batch.States(0, cache) == kAllUnchanged);
}

TEST_CASE("A batch reports damaged entries of the cache and bakes anew") {
  if (!HasNinja()) return;
  const Batch batch;
  const std::vector<std::string> cache = {"--cache", batch.folder / "cache"};
  REQUIRE(batch.Run(cache).exit_code == 0);
  const std::string bytes = Content(batch.folder / "out/crate.plush");
  for (const auto& entry : fs::recursive_directory_iterator(batch.folder / "cache")) {
    if (!entry.is_regular_file()) continue;
    std::fstream file(entry.path(), std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(-1, std::ios::end).put('#');
  }
  fs::remove_all(batch.folder / "out");
  const PlushRun run = batch.Run(cache);
  CHECK(run.exit_code == 0);
  const json report = json::parse(run.out);
  CHECK(report["counts"]["baked"] == 3);
  CHECK(run.err.find("CACHE_DAMAGED") != std::string::npos);
  CHECK(Content(batch.folder / "out/crate.plush") == bytes);
}

TEST_CASE("A bake that gives the same bytes leaves the output's time alone") {
  if (!HasNinja()) return;
  const Batch batch;
  REQUIRE(batch.Run().exit_code == 0);
  const auto time = fs::last_write_time(batch.folder / "out/crate.plush");
  batch.Write("models/crate.mtl", "newmtl skin\n# no change that counts\n");
  CHECK(batch.States(0).starts_with("crate.obj:baked "));
  CHECK(fs::last_write_time(batch.folder / "out/crate.plush") == time);
}

TEST_CASE("Failed bakes come first, the others go on, and the worst exit code counts") {
  if (!HasNinja()) return;
  const Batch batch;
  REQUIRE(batch.Run().exit_code == 0);
  const std::string old = Content(batch.folder / "out/props/level.plush");
  batch.Write("models/props/level.obj", "no model\n");
  batch.Write("models/z.obj", BoxText("z"));
  batch.WriteManifest(R"({"root": "models", "output": "out", "inputs": ["**/*.obj", "x.unknown"],
      "options": [{"match": "**", "bake": {"tets": 30}},
      {"match": ["props/l*"], "bake": {"tets": null, "static": true}}]})");
  batch.Write("models/x.unknown", "?");
  const PlushRun run = batch.Run();
  CHECK(run.exit_code == 5);
  const json report = json::parse(run.out);
  REQUIRE(report["assets"].size() == 5);
  CHECK(report["assets"][0]["input"] == "props/level.obj");
  CHECK(report["assets"][0]["exit_code"] == 3);
  CHECK(report["assets"][0]["findings"][0]["code"] == "IMPORT_FAILED");
  CHECK(report["assets"][1]["input"] == "x.unknown");
  CHECK(report["assets"][1]["exit_code"] == 5);
  CHECK(report["counts"]["failed"] == 2);
  CHECK(run.err.find("props/level.obj") != std::string::npos);
  CHECK(Content(batch.folder / "out/props/level.plush") == old);  // the old output stays
  CHECK(fs::exists(batch.folder / "out/z.plush"));
  // A file that is put back with its old time is baked again nevertheless.
  batch.Write("models/props/level.obj", BoxText("level"));
  fs::last_write_time(batch.folder / "models/props/level.obj",
                      fs::file_time_type::clock::now() - std::chrono::hours(1000));
  fs::remove(batch.folder / "models/x.unknown");
  batch.WriteManifest(R"({"root": "models", "output": "out", "inputs": ["props/level.obj"],
      "options": [{"match": ["props/l*"], "bake": {"static": true}}]})");
  CHECK(batch.States(0) == "props/level.obj:baked ");
}

TEST_CASE("With -W a batch fails at warnings and writes no such output") {
  if (!HasNinja()) return;
  const Batch batch;
  batch.Write("models/open.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 3 2\n");
  const std::string states = batch.States(4, {"-W"});
  CHECK(states.find("open.obj:failed ") != std::string::npos);
  CHECK_FALSE(fs::exists(batch.folder / "out/open.plush"));
}

TEST_CASE("Mistakes in a manifest are named with their place and the nearest word") {
  const Batch batch;
  const auto check = [&batch](const std::string& text, const std::string& message) {
    batch.WriteManifest(text);
    const PlushRun run = batch.Run();
    INFO(text << "\n" << run.err);
    CHECK(run.exit_code == 1);
    CHECK(run.err.find(message) != std::string::npos);
    CHECK_FALSE(fs::exists(batch.folder / "out"));
  };
  const std::string head = R"({"root": "models", "output": "out", "inputs": ["**/*.obj"])";
  check(R"({"output": "out", "input": ["*"]})", "unknown key 'input'; did you mean 'inputs'?");
  check(R"({"output": "out"})", "inputs: give at least one pattern");
  check(R"({"inputs": ["*"]})", "output: name the output tree");
  check(R"({"output": "out", "inputs": ["../*"]})", "inputs: '../*' must be relative");
  check(R"({"output": "out", "inputs": [3]})", "inputs: expected a pattern, found number");
  check(head + R"(, "names": "stems"})", "did you mean 'stem'?");
  check(head + R"(, "options": [{"match": "**"}]})", "options[0].bake: expected an object");
  check(head + R"(, "options": [{"match": "**", "bake": {"tet": 5}}]})",
        "options[0].bake: unknown option 'tet'; did you mean 'tets'?");
  check(head + R"(, "options": [{"match": "**", "bake": {"threads": 5}}]})",
        "options[0].bake.threads: `plush batch` gives this option itself");
  check(head + R"(, "options": [{"match": "**", "bake": {"static": 5}}]})",
        "options[0].bake.static: expected true or false");
  check(head + R"(, "options": [{"match": "**", "bake": {"tets": [5]}}]})",
        "options[0].bake.tets: expected a number or a string, found array");
  check(head + R"(, "options": [{"match": "**", "bake": {"tets": 0}}]})",
        "--tets: 0 is outside [1, 1000000]");
  batch.Write("models/crate.ply", "");
  check(R"({"root": "models", "output": "out", "inputs": ["crate.*"]})",
        "would both become 'crate.plush'");
}

TEST_CASE("A side-car beside each model is named by {stem}") {
  if (!HasNinja()) return;
  const Batch batch;
  batch.Write("models/crate.pins.json",
              R"({"regions": [{"name": "top", "box": [[0, 0, 0], [9, 9, 9]]}]})");
  batch.WriteManifest(R"({"root": "models", "output": "out", "inputs": ["crate.obj"],
      "options": [{"match": "**", "bake": {"tets": 30, "pins": "{stem}.pins.json"}}]})");
  CHECK(batch.States(0) == "crate.obj:baked ");
  const PlushRun info = RunPlush({"info", batch.folder / "out/crate.plush", "--json"});
  CHECK(info.out.find("\"top\"") != std::string::npos);
  batch.Write("models/crate.pins.json",
              R"({"regions": [{"name": "low", "box": [[0, 0, 0], [9, 9, 9]]}]})");
  CHECK(batch.States(0) == "crate.obj:baked ");
  fs::remove(batch.folder / "models/crate.pins.json");
  CHECK(batch.States(2) == "crate.obj:failed ");
}

TEST_CASE("A pattern that matches nothing is a warning", "[long]") {
  if (!HasNinja()) return;
  const Batch batch;
  batch.WriteManifest(R"({"root": "models", "output": "out", "inputs": ["**/*.obj", "*.fbx"]})");
  CHECK(batch.Run().err.find("matches '*.fbx'") != std::string::npos);
  CHECK(batch.Run({"-W"}).exit_code == 4);
}

TEST_CASE("Without Ninja a batch says what to install") {
  const Batch batch;
  const PlushRun run = batch.Run({"--ninja", "no-such-ninja"});
  CHECK(run.exit_code == 2);
  CHECK(run.err.find("Debian: ninja-build") != std::string::npos);
  CHECK(batch.Run({"--ninja", "no-such-ninja", "--plan"}).exit_code == 0);
  CHECK(fs::exists(batch.folder / "out/.batch/build.ninja"));
}

TEST_CASE("Without Slurm a batch says what to install, and leaves nothing") {
  if (!HasNinja()) return;
  const Batch batch;
  // A PATH with Ninja alone.
  fs::create_directory(batch.folder / "bin");
  REQUIRE(std::system(
              ("ln -s $(command -v ninja) " + batch.folder.path() + "/bin/ninja").c_str()) == 0);
  const PlushRun run = batch.Run({"--slurm"}, "PATH=" + batch.folder.path() + "/bin exec");
  INFO(run.err);
  CHECK(run.exit_code == 2);
  CHECK(run.err.find("Debian: slurm-client") != std::string::npos);
  for (const auto& entry : fs::recursive_directory_iterator(batch.folder / "out")) {
    CHECK(entry.path().string().find("slurm.") == std::string::npos);
  }
  CHECK(batch.States(0) == "crate.obj:baked props/Bob's & box $1.obj:baked props/level.obj:baked ");
}

TEST_CASE("Two batches in one output tree work one after the other") {
  if (!HasNinja()) return;
  const Batch batch;
  PlushRun first;
  std::thread other([&] { first = batch.Run({"--cache", batch.folder / "cache"}); });
  const PlushRun second = batch.Run({"--cache", batch.folder / "cache"});
  other.join();
  CHECK(first.exit_code == 0);
  CHECK(second.exit_code == 0);
  const json counts = json::parse(first.out)["counts"], more = json::parse(second.out)["counts"];
  CHECK(counts["baked"].get<int>() + more["baked"].get<int>() == 3);
  CHECK(counts["unchanged"].get<int>() + more["unchanged"].get<int>() == 3);
}

TEST_CASE("A batch waits for the lock that bakes of a killed one hold") {
  if (!HasNinja()) return;
  const Batch batch;
  fs::create_directories(batch.folder / "out/.batch");
  const int fd =
      ::open((batch.folder / "out/.batch/lock").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
  REQUIRE(::flock(fd, LOCK_EX) == 0);
  std::thread holder([fd] {
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    ::close(fd);
  });
  const PlushRun run = batch.Run();
  holder.join();
  CHECK(run.exit_code == 0);
  CHECK(run.err.find("waiting for another batch") != std::string::npos);
}

TEST_CASE("What killed bakes have left is removed, and nothing else") {
  if (!HasNinja()) return;
  const Batch batch;
  const std::vector<std::string> left = {"out/.plush.tmp3-1", "out/props/.plush.tmp12-0",
                                         "out/.batch/reports/.plush.tmp7-13"};
  const std::vector<std::string> kept = {"out/notes.tmp1-0", "out/a.plush.tmp1-0", "out/.plush.tmp",
                                         "out/.plush.tmp1-b", "out/.plush.tmp1"};
  for (const std::string& name : left) batch.Write(name, "x");
  for (const std::string& name : kept) batch.Write(name, "x");
  REQUIRE(batch.Run().exit_code == 0);
  for (const std::string& name : left) CHECK_FALSE(fs::exists(batch.folder / name));
  for (const std::string& name : kept) CHECK(fs::exists(batch.folder / name));
}

TEST_CASE("A full disk ends a batch with a message, and the next run finishes it") {
  if (!HasNinja()) return;
  const Batch batch;
  // No file may grow beyond four blocks of 512 bytes: neither assets nor logs.
  const PlushRun run = batch.Run({}, "ulimit -f 4;");
  INFO(run.err);
  CHECK(run.exit_code == 2);
  CHECK(run.err.find("File too large") != std::string::npos);
  for (const auto& entry : fs::recursive_directory_iterator(batch.folder / "out")) {
    CHECK(entry.path().string().find(".tmp") == std::string::npos);
  }
  CHECK(batch.Run().exit_code == 0);
  CHECK(batch.States(0) == kAllUnchanged);
}

}  // namespace plush::tests::batch_command_test

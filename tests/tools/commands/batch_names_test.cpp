// SPDX-License-Identifier: MIT
// `plush batch` with names that Ninja or a shell could take for something else, and inputs and
// outputs that get in each other's way.

#include "tools/commands/batch_run.h"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <filesystem>

namespace plush::tests::batch_names_test {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

// The number of assets in a state, after a run that succeeds.
int Count(const Batch& batch, const std::string& state, const std::vector<std::string>& more = {}) {
  const PlushRun run = batch.Run(more);
  INFO(run.err);
  CHECK(run.exit_code == 0);
  return json::parse(run.out)["counts"][state];
}

void CheckRefused(const Batch& batch, const std::string& message,
                  const std::vector<std::string>& more = {}) {
  const PlushRun run = batch.Run(more);
  INFO(run.err);
  CHECK(run.exit_code == 1);
  CHECK(run.err.find(message) != std::string::npos);
}

}  // namespace

TEST_CASE("A batch takes names with any letters but line ends", "[long]") {
  if (!HasNinja()) return;
  const Batch batch;
  fs::remove_all(batch.folder / "models");
  const std::vector<std::string> names = {
      "a|b", "c:d", "# e", "q'\"", "back\\slash", "-dash", " lead", "end ", "%P;`ls`$(x)*?[a]",
      "\xc3\xa4\xe6\xbc\xa2", "$out", "$|$ $:", "\x01", "a,b={c}", "&& x", ">o<", "!~^",
      // beginnings of lines that mean something in Ninja's output
      "ninja: error: x", "plush reads: y", "FAILED: z",
      // what a batch names files of its own
      "lock/k", "costs/k", "build.ninja/k", "reports/k", "slurm.a/k", ".ninja_log/k", ".done/k"};
  int num_names = 0;
  for (const std::string& name : names) {
    batch.Write("models/" + name + ".obj", BoxText("m") + "# " + std::to_string(++num_names));
    const fs::path folder = fs::path(name).parent_path();
    batch.Write(("models" / folder / "m.mtl").string(), "newmtl skin\n");
  }
  batch.WriteManifest(
      R"({"root": "models", "output": "out", "inputs": ["**/*.obj", ".*/k.obj"],
          "options": [{"match": ["**", ".*/k.obj"], "bake": {"tets": 30}}]})");
  const std::vector<std::string> cache = {"--cache", batch.folder / "it's a \"$cache\"\n"};
  CHECK(Count(batch, "baked", cache) == num_names);
  CHECK(Count(batch, "unchanged", cache) == num_names);
  for (const std::string& name : names) {
    INFO(name);
    CHECK(fs::exists(batch.folder / ("out/" + name + ".plush")));
  }
  // Ninja knows what each depends on.
  batch.Write("models/m.mtl", "newmtl skin\nKd 1 0 0\n");
  const auto is_beside = [](const std::string& name) { return name.find('/') == name.npos; };
  CHECK(Count(batch, "baked") == std::ranges::count_if(names, is_beside));
  batch.Write("models/m.mtl", "newmtl skin\n");
  fs::remove_all(batch.folder / "out");
  CHECK(Count(batch, "cached", cache) == num_names);
  CHECK(Count(batch, "unchanged", cache) == num_names);
}

TEST_CASE("What Ninja cannot hold is refused") {
  const Batch batch;
  const std::string head = R"({"root": "models", "output": "out", "inputs": ["**/*.obj"])";
  batch.WriteManifest(head + R"(, "options": [{"match": "**", "bake": {"young": "1e5\n"}}]})");
  CheckRefused(batch, "options[0].bake.young: Ninja takes no line ends");
  batch.WriteManifest(head + R"(, "options": [{"match": "**", "bake": {"young": "1\u0000"}}]})");
  CheckRefused(batch, "options[0].bake.young: Ninja takes no line ends");
  batch.WriteManifest(R"({"root": "a\nb", "output": "out", "inputs": ["**/*.obj"]})");
  CheckRefused(batch, "root: Ninja takes no line ends");
  batch.WriteManifest(head + "}");
  CheckRefused(batch, "output: Ninja takes no line ends", {"-o", batch.folder / "a\nb"});
  batch.Write("models/two\nlines.obj", BoxText("m"));
  CheckRefused(batch, "rename the file");
}

TEST_CASE("The output tree may be the folder of the inputs") {
  if (!HasNinja()) return;
  const Batch batch;
  batch.WriteManifest(R"({"root": "models", "output": "models", "inputs": ["**"],
      "exclude": ["**/*.mtl"], "options": [{"match": "**", "bake": {"tets": 30}}]})");
  CHECK(Count(batch, "baked") == 3);
  CHECK(fs::exists(batch.folder / "models/props/level.plush"));
  CHECK(Count(batch, "unchanged") == 3);
}

TEST_CASE("An asset with the name of another's folder is refused") {
  const Batch batch;
  batch.Write("models/crate.plush/box.obj", BoxText("b"));
  CheckRefused(batch,
               "'crate.obj' would become 'crate.plush', the folder of what "
               "'crate.plush/box.obj' becomes");
}

TEST_CASE("A batch that finds no input at all removes nothing") {
  if (!HasNinja()) return;
  const Batch batch;
  REQUIRE(batch.Run().exit_code == 0);
  fs::rename(batch.folder / "models", batch.folder / "away");
  fs::create_directory(batch.folder / "models");  // as when a disk is not mounted
  const PlushRun run = batch.Run();
  CHECK(run.exit_code == 0);
  CHECK(run.err.find("BATCH_UNMATCHED") != std::string::npos);
  CHECK(fs::exists(batch.folder / "out/crate.plush"));
  fs::remove(batch.folder / "models");
  CHECK(batch.Run().exit_code == 2);
  fs::rename(batch.folder / "away", batch.folder / "models");
  CHECK(Count(batch, "unchanged") == 3);
}

TEST_CASE("Inputs may be symbolic links, also the output tree and its files") {
  if (!HasNinja()) return;
  const Batch batch;
  fs::rename(batch.folder / "models/crate.obj", batch.folder / "elsewhere.obj");
  fs::create_symlink("../elsewhere.obj", batch.folder / "models/crate.obj");
  fs::create_symlink("nowhere", batch.folder / "models/broken.obj");
  fs::create_directory(batch.folder / "real");
  fs::create_directory_symlink("real", batch.folder / "out");
  CHECK(Count(batch, "baked") == 3);
  CHECK(fs::exists(batch.folder / "real/crate.plush"));
  CHECK(Count(batch, "unchanged") == 3);
  CHECK(Count(batch, "unchanged", {"-o", batch.folder / "real"}) == 3);
  batch.Write("elsewhere.obj", BoxText("crate") + "v 2 2 2\n");
  CHECK(Count(batch, "baked") == 1);
  // A link in the tree stays a link.
  fs::rename(batch.folder / "real/crate.plush", batch.folder / "kept.plush");
  fs::create_symlink("../kept.plush", batch.folder / "real/crate.plush");
  batch.Write("elsewhere.obj", "v 5 5 5\n" + BoxText("crate"));
  CHECK(Count(batch, "baked") == 1);
  CHECK(fs::is_symlink(batch.folder / "real/crate.plush"));
}

TEST_CASE("Every bake of a batch has one thread") {
  const Batch batch;
  REQUIRE(batch.Run({"--plan"}).exit_code == 0);
  const std::string plan = Content(batch.folder / "out/.batch/build.ninja");
  CHECK(plan.find(" --threads 1 ") != std::string::npos);
  CHECK(plan.find(" restat = 1\n") != std::string::npos);
}

TEST_CASE("The cost of a bake is known after it came from the cache") {
  if (!HasNinja()) return;
  const Batch batch;
  const std::vector<std::string> cache = {"--cache", batch.folder / "cache"};
  REQUIRE(batch.Run(cache).exit_code == 0);
  fs::remove_all(batch.folder / "out");
  CHECK(Count(batch, "cached", cache) == 3);
  const json report = json::parse(Content(batch.folder / "out/.batch/reports/crate.plush.json"));
  const std::string costs = "\n" + Content(batch.folder / "out/.batch/costs");
  const size_t name = costs.find("\tcrate.plush\n");
  REQUIRE(name != std::string::npos);
  const size_t begin = costs.rfind('\n', name) + 1;
  const double cost = std::stod(costs.substr(begin, name - begin));
  CHECK(cost == Approx(report["bake_seconds"].get<double>()).epsilon(1e-3));
  CHECK(cost > 0.0);
}

}  // namespace plush::tests::batch_names_test

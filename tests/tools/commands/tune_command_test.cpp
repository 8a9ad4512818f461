// SPDX-License-Identifier: MIT
// `plush tune` and `plush bake --tuning` as processes.
#include "plush/asset.h"

#include "bake/tuning.h"
#include "base/files.h"
#include "shapes/shape_asset.h"
#include "shapes/tet_shapes.h"
#include "tools/procedural_meshes.h"
#include "tools/run_plush.h"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include <filesystem>
#include <string>

using Catch::Matchers::Contains;
using nlohmann::json;
using namespace plush;
using plush::tests::Content;
using plush::tests::PlushRun;
using plush::tests::RunPlush;
using plush::tests::TemporaryFolder;
using plush::tests::WriteText;

namespace tune_command_test {

std::string WriteBar(const TemporaryFolder& folder) {
  const std::string path = folder / "bar.plush";
  const auto bytes = test::AssetBytesOf(test::TetBox(4, 1, 1, 0.1), {2.0e5, 0.4, 1000.0});
  REQUIRE(tools::WriteFileAtomically(path, bytes).ok());
  return path;
}

// Tunes a bar for a tenth of a second.
PlushRun Tune(const TemporaryFolder& folder, const std::vector<std::string>& more) {
  std::vector<std::string> words = {"tune", WriteBar(folder),      "--seconds", "0.1",
                                    "-o",   folder / "tuning.json"};
  words.insert(words.end(), more.begin(), more.end());
  return RunPlush(words);
}

constexpr char kImplicitTuning[] =
    R"({"solver": {"name": "implicit", "newton_iterations": 2, "linear_iterations": 12},
        "dt": 0.005, "damping": 0.02})";

TEST_CASE("plush tune chooses settings that keep to the budget and the error") {
  const TemporaryFolder folder;
  const PlushRun run = Tune(folder, {"--budget-us", "1e6", "--error", "0.05", "--json"});
  INFO(run.err);
  REQUIRE(run.exit_code == 0);
  const json document = json::parse(run.out);
  CHECK(document["trials"].get<int>() >= 48);
  const json& front = document["front"];
  REQUIRE(front.size() >= 2);
  for (size_t i = 1; i < front.size(); ++i) {
    CHECK(front[i]["measured"]["cost_us"] > front[i - 1]["measured"]["cost_us"]);
    CHECK(front[i]["measured"]["error"] < front[i - 1]["measured"]["error"]);
  }
  const json& choice = document["choice"];
  CHECK(choice["measured"]["error"] <= 0.05);
  CHECK(choice["measured"]["cost_us"] <= 1e6);
  CHECK(choice["measured"]["errors"].size() == 4);
  const json written = json::parse(Content(folder / "tuning.json"));
  CHECK(written == choice);
  const auto tuning = tools::ParseTuning(Content(folder / "tuning.json"));
  REQUIRE(tuning.ok());
  CHECK(tuning.value().dt * choice["measured"]["steps_per_frame"].get<int>() == Approx(1.0 / 60.0));
}

TEST_CASE("plush tune that reaches no limit exits with 4 and leaves the old file", "[long]") {
  const TemporaryFolder folder;
  WriteText(folder / "tuning.json", "old");
  const PlushRun expensive = Tune(folder, {"--budget-us", "0.01", "--error", "1"});
  CHECK(expensive.exit_code == 4);
  CHECK_THAT(expensive.err, Contains("no settings reach"));
  CHECK_THAT(expensive.out, Contains("splitting"));  // the front
  const PlushRun wrong = Tune(folder, {"--budget-us", "1e8", "--error", "1e-9", "-q"});
  CHECK(wrong.exit_code == 4);
  CHECK(wrong.out.empty());
  CHECK(Content(folder / "tuning.json") == "old");
}

TEST_CASE("plush tune refuses wrong options and files before any work") {
  const TemporaryFolder folder;
  const std::string bar = WriteBar(folder);
  const auto code = [&](std::vector<std::string> words) {
    words.insert(words.begin(), "tune");
    return RunPlush(words).exit_code;
  };
  const std::string out = folder / "t.json";
  CHECK(code({bar, "-o", out}) == 1);
  CHECK(code({bar, "-o", out, "--budget-us", "100"}) == 1);
  CHECK(code({bar, "-o", out, "--budget-us", "0", "--error", "0.1"}) == 1);
  CHECK(code({bar, "-o", out, "--budget-us", "nan", "--error", "0.1"}) == 1);
  CHECK(code({bar, "-o", out, "--budget-us", "100", "--error", "0.1", "--frame", "2"}) == 1);
  CHECK(code({bar, "-o", out, "--budget-us", "100", "--error", "0.1", "--seconds", "0.001"}) == 1);
  CHECK(code({folder / "none.plush", "-o", out, "--budget-us", "100", "--error", "0.1"}) == 2);
  CHECK(code({bar, "-o", folder / "none/t.json", "--budget-us", "100", "--error", "0.1"}) == 2);
  const std::string before = Content(bar);
  CHECK(code({bar, "-o", bar, "--budget-us", "100", "--error", "0.1"}) == 1);
  CHECK(code({bar, "-o", out, "--report", bar, "--budget-us", "100", "--error", "0.1"}) == 1);
  CHECK(Content(bar) == before);
  WriteText(folder / "garbage.plush", "garbage");
  CHECK(code({folder / "garbage.plush", "-o", out, "--budget-us", "100", "--error", "0.1"}) == 3);
  CHECK_FALSE(std::filesystem::exists(out));
}

TEST_CASE("plush bake --tuning stores what was tuned") {
  const TemporaryFolder folder;
  const std::string ball = folder / "ball.obj", path = folder / "ball.plush";
  plush::tests::WriteObj(plush::tests::MakeSphere(0.5, 12, 24), ball);
  WriteText(folder / "t.json", kImplicitTuning);
  const auto bake = [&](std::vector<std::string> more) {
    more.insert(more.begin(), {"bake", ball, "-o", path, "--tets", "100"});
    return RunPlush(more);
  };
  const PlushRun baked = bake({"--tuning", folder / "t.json", "--depfile", folder / "d"});
  INFO(baked.err);
  REQUIRE(baked.exit_code == 0);
  CHECK_THAT(Content(folder / "d"), Contains("t.json"));
  Asset asset;
  REQUIRE(asset.Open(path.c_str()).ok());
  CHECK(asset.tuning().solver == TunedSolver::kImplicit);
  CHECK(asset.tuning().newton_iterations == 2);
  CHECK(asset.tuning().linear_iterations == 12);
  CHECK(asset.tuning().dt == 0.005f);
  CHECK(asset.cage().damping == 0.02f);
  CHECK(RunPlush({"validate", path, "--source", ball}).exit_code == 0);
  const json info = json::parse(RunPlush({"info", path, "--json"}).out);
  CHECK(info["simulation"]["tuning"] ==
        json{{"solver", "implicit"}, {"newton_iterations", 2}, {"linear_iterations", 12}});
  CHECK(info["settings"]["tuning"]["name"] == "implicit");
  const std::string with = Content(path);

  // The bytes depend on the file's content, with a cache too, and not on what was measured.
  json more = json::parse(kImplicitTuning);
  more["measured"] = {{"cost_us", 5.0}};
  WriteText(folder / "t.json", more.dump());
  REQUIRE(bake({"--tuning", folder / "t.json", "--cache", folder / "cache"}).exit_code == 0);
  CHECK(Content(path) == with);
  more["solver"]["newton_iterations"] = 3;
  WriteText(folder / "t.json", more.dump());
  REQUIRE(bake({"--tuning", folder / "t.json", "--cache", folder / "cache"}).exit_code == 0);
  CHECK(Content(path) != with);
  REQUIRE(bake({}).exit_code == 0);
  REQUIRE(asset.Open(path.c_str()).ok());
  CHECK(asset.tuning().solver == TunedSolver::kNone);
  CHECK(json::parse(RunPlush({"info", path, "--json"}).out)["simulation"]["tuning"].is_null());

  const std::string before = Content(path);
  CHECK(bake({"--tuning", folder / "t.json", "--dt", "0.01"}).exit_code == 1);
  CHECK(bake({"--tuning", folder / "t.json", "--damping", "0.01"}).exit_code == 1);
  CHECK(bake({"--tuning", folder / "t.json", "--static"}).exit_code == 1);
  CHECK(bake({"--tuning", folder / "none.json"}).exit_code == 2);
  WriteText(folder / "t.json", R"({"dt": 0.01, "damping": 0})");
  const PlushRun wrong = bake({"--tuning", folder / "t.json"});
  CHECK(wrong.exit_code == 1);
  CHECK_THAT(wrong.err, Contains("t.json") && Contains("solver"));
  CHECK(Content(path) == before);
}

}  // namespace tune_command_test

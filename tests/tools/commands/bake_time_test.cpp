// SPDX-License-Identifier: MIT
// `plush bake --bake-time`: what a bake that takes too long says and leaves behind.
#include "tools/commands/batch_run.h"
#include "tools/procedural_meshes.h"
#include "tools/run_plush.h"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>
#include <sys/types.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>

using nlohmann::json;
using plush::tests::Batch;
using plush::tests::Content;
using plush::tests::FilesIn;
using plush::tests::HasNinja;
using plush::tests::MakeSphere;
using plush::tests::PlushRun;
using plush::tests::RunPlush;
using plush::tests::TemporaryFolder;
using plush::tests::WriteObj;
using plush::tests::WriteText;

namespace bake_time_test {

// Takes far longer than the limits below.
constexpr int kRings = 300;

void CheckTimeIsUp(const json& document, const std::vector<std::string>& stages) {
  CHECK(document["exit_code"] == 6);
  REQUIRE(document["findings"].size() == 1);
  const json& finding = document["findings"][0];
  CHECK(finding["code"] == "BAKE_TIME");
  CHECK(finding["severity"] == "error");
  const std::string message = finding["message"];
  INFO(message);
  bool names_stage = false;
  for (const std::string& stage : stages) {
    names_stage = names_stage || message.find("'" + stage + "'") != std::string::npos;
  }
  CHECK(names_stage);
}

TEST_CASE("A bake ends at its time limit, names its stage and writes nothing", "[long]") {
  const TemporaryFolder folder;
  WriteObj(MakeSphere(1.0, kRings, kRings), folder / "ball.obj");
  for (const char* kind : {"body", "static"}) {
    const std::string out = folder / "ball.plush", report = folder / "report.json";
    WriteText(out, "old");
    const size_t num_files = FilesIn(folder.path());
    std::vector<std::string> words = {"bake", folder / "ball.obj", "-o",   out,     "--bake-time",
                                      "0.05", "--report",          report, "--json"};
    if (kind == std::string("static")) words.emplace_back("--static");
    const PlushRun run = RunPlush(words);
    INFO(kind << ": " << run.err);
    CHECK(run.exit_code == 6);
    CHECK(run.err.find("BAKE_TIME") != std::string::npos);
    CheckTimeIsUp(json::parse(run.out), {"import", "check", "solid", "cage", "mesh", "encode"});
    CHECK(Content(report) == run.out);
    CHECK(Content(out) == "old");
    CHECK(FilesIn(folder.path()) == num_files + 1);  // the report
    std::filesystem::remove(report);
  }
}

TEST_CASE("A bake that ends in time has the same bytes as without a limit") {
  const TemporaryFolder folder;
  WriteObj(MakeSphere(1.0, 8, 12), folder / "ball.obj");
  const auto bake = [&](const char* out, std::vector<std::string> more) {
    std::vector<std::string> words = {"bake", folder / "ball.obj", "-o", folder / out, "-q"};
    words.insert(words.end(), more.begin(), more.end());
    CHECK(RunPlush(words).exit_code == 0);
    return Content(folder / out);
  };
  // The last limit counts.
  CHECK(bake("a.plush", {}) == bake("b.plush", {"--bake-time", "0.01", "--bake-time", "1000"}));
  CHECK(RunPlush({"bake", folder / "ball.obj", "-o", folder / "c.plush", "--bake-time", "0"})
            .exit_code == 1);
}

TEST_CASE("The time limit leaves no helper process and no scratch folder") {
  const TemporaryFolder folder;
  WriteObj(MakeSphere(1.0, 8, 12), folder / "ball.obj");
  const std::string program = folder / "tetgen", pid_file = folder / "pid";
  WriteText(program, "#!/bin/sh\necho $$ >'" + pid_file + "'\nsleep 100 &\nsleep 100\n");
  std::filesystem::permissions(program, std::filesystem::perms::owner_all);
  std::filesystem::create_directory(folder / "tmp");
  const PlushRun run =
      RunPlush({"bake", folder / "ball.obj", "-o", folder / "ball.plush", "--mesher", "tetgen",
                "--tetgen", program, "--bake-time", "1", "--json"},
               "TMPDIR='" + (folder / "tmp") + "' exec");
  INFO(run.err);
  CHECK(run.exit_code == 6);
  CheckTimeIsUp(json::parse(run.out), {"cage"});
  CHECK(FilesIn(folder / "tmp") == 0);
  std::ifstream file(pid_file);
  pid_t pid = 0;
  REQUIRE(file >> pid);
  CHECK(::kill(pid, 0) != 0);
  CHECK_FALSE(std::filesystem::exists(folder / "ball.plush"));
}

TEST_CASE("A batch ends bakes that take too long, unless its manifest gives them more time") {
  if (!HasNinja()) return;
  const Batch batch;
  const PlushRun run = batch.Run({"--bake-time", "0.01", "--json"});
  CHECK(run.exit_code == 6);
  CHECK(run.out.find("BAKE_TIME") != std::string::npos);
  batch.WriteManifest(R"({"root": "models", "output": "out", "inputs": ["crate.obj"], "options": [
      {"match": "**", "bake": {"tets": 30, "bake-time": 100}}]})");
  CHECK(batch.States(0, {"--bake-time", "0.01"}) == "crate.obj:baked ");
  // Another limit is no reason to bake again.
  CHECK(batch.States(0, {"--bake-time", "200"}) == "crate.obj:unchanged ");
}

}  // namespace bake_time_test

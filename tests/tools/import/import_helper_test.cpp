// SPDX-License-Identifier: MIT
// Shell scripts replace the helper and crash, hang, flood or answer nonsense.
#include "base/child_process.h"
#include "import/import.h"
#include "tools/paths.h"
#include "tools/procedural_meshes.h"

#include <catch2/catch.hpp>

#include <filesystem>

namespace import_helper_test {

using plush::tests::TemporaryFolder;
using plush::tests::WriteText;
using plush::tools::ExitCode;
using plush::tools::FindingList;
using plush::tools::ImportSettings;

struct Outcome {
  ExitCode exit_code = ExitCode::kOk;
  std::string finding;
  std::string message;
};

// The outcome of an import whose helper is a shell script.
Outcome WithHelper(const std::string& script, double time_s = 20.0,
                   uint64_t memory_bytes = 4ull << 30) {
  TemporaryFolder folder;
  const std::string helper = folder / "helper";
  WriteText(helper, "#!/bin/sh\n" + script + "\n");
  std::filesystem::permissions(helper, std::filesystem::perms::owner_all);
  plush::tests::WriteObj(plush::tests::MakeBox({0, 0, 0}, {1, 1, 1}), folder / "box.obj");
  ImportSettings settings = {
      .time_limit_s = time_s, .memory_limit_bytes = memory_bytes, .helper = helper};
  FindingList findings;
  const auto model = plush::tools::ImportModel(folder / "box.obj", settings, &findings);
  if (model.ok()) return {};
  REQUIRE(findings.all().size() == (model.error().finding_code.empty() ? 0u : 1u));
  return {model.error().exit_code, model.error().finding_code, model.error().message};
}

TEST_CASE("A helper that crashes, aborts or answers nonsense is IMPORT_CRASHED") {
  for (const char* script : {"kill -SEGV $$", "kill -ABRT $$", "exit 1", "exit 70", "exit 0",
                             "echo nonsense", "head -c 100000 /dev/urandom"}) {
    CAPTURE(script);
    const Outcome outcome = WithHelper(script);
    CHECK(outcome.exit_code == ExitCode::kHelperDied);
    CHECK(outcome.finding == "IMPORT_CRASHED");
    CHECK(outcome.message.find("box.obj") != std::string::npos);
  }
}

TEST_CASE("A helper that hangs or floods is IMPORT_LIMIT") {
  const Outcome hang = WithHelper("sleep 60", 0.1);
  CHECK(hang.exit_code == ExitCode::kLimit);
  CHECK(hang.finding == "IMPORT_LIMIT");
  CHECK(hang.message.find("after 1 s, ten times") != std::string::npos);
  const Outcome busy = WithHelper("while :; do :; done", 0.1);
  CHECK(busy.finding == "IMPORT_LIMIT");
  CHECK(busy.message.find("0.1 s of processor time") != std::string::npos);
  CHECK(WithHelper("sleep 0.4; exit 11", 0.2).finding == "IMPORT_UNSUPPORTED");
  const Outcome flood = WithHelper("exec cat /dev/zero", 20.0, 64 << 20);
  CHECK(flood.exit_code == ExitCode::kLimit);
  CHECK(flood.finding == "IMPORT_LIMIT");
}

TEST_CASE("The helper's own exit codes have their meaning and reason") {
  const Outcome refused = WithHelper("echo 'first line' >&2; echo 'no faces' >&2; exit 10");
  CHECK(refused.exit_code == ExitCode::kInvalidInput);
  CHECK(refused.finding == "IMPORT_FAILED");
  CHECK(refused.message.find("no faces") != std::string::npos);
  CHECK(refused.message.find("first line") == std::string::npos);
  CHECK(WithHelper("exit 10").message.find("no reason") != std::string::npos);
  CHECK(WithHelper("exit 11").exit_code == ExitCode::kUnsupported);
  CHECK(WithHelper("exit 11").finding == "IMPORT_UNSUPPORTED");
  CHECK(WithHelper("exit 12").exit_code == ExitCode::kIo);
  CHECK(WithHelper("exit 13").exit_code == ExitCode::kLimit);
  CHECK(WithHelper("exit 13").finding == "IMPORT_LIMIT");
}

TEST_CASE("A missing helper is an error that names it") {
  TemporaryFolder folder;
  WriteText(folder / "box.obj", "v 0 0 0\n");
  FindingList findings;
  const auto model =
      plush::tools::ImportModel(folder / "box.obj", {.helper = "/no/such/helper"}, &findings);
  REQUIRE_FALSE(model.ok());
  CHECK(model.error().exit_code == ExitCode::kIo);
  CHECK(model.error().message.find("/no/such/helper") != std::string::npos);
  CHECK(plush::tools::HelperPath({}).ends_with("/plush-import"));
}

TEST_CASE("An import that needs more memory than it may take ends at the limit") {
  TemporaryFolder folder;
  plush::tests::WriteObj(plush::tests::MakeSphere(1.0, 500, 800), folder / "sphere.obj");
  ImportSettings settings = {.memory_limit_bytes = 64 << 20,
                             .helper = plush::tests::kImportProgram};
  FindingList findings;
  const auto small = plush::tools::ImportModel(folder / "sphere.obj", settings, &findings);
  REQUIRE_FALSE(small.ok());
  CHECK(small.error().exit_code == ExitCode::kLimit);
  settings.memory_limit_bytes = 4ull << 30;
  CHECK(plush::tools::ImportModel(folder / "sphere.obj", settings, &findings).ok());
}

}  // namespace import_helper_test

// SPDX-License-Identifier: MIT
// What verbs do if nobody takes what they print: a full disk, a reader that is gone.
#include "tools/procedural_meshes.h"
#include "tools/run_plush.h"

#include <catch2/catch.hpp>
#include <unistd.h>

#include <csignal>
#include <filesystem>

using Catch::Matchers::Contains;

namespace plush::tests::standard_output_test {
namespace {

// A run whose stdout goes to `target`, a redirection of the shell.
PlushRun RunInto(const std::string& target, const std::vector<std::string>& arguments) {
  return RunPlush(arguments, R"(exec sh -c 'exec "$0" "$@" >)" + target + "'");
}

struct Baked {
  TemporaryFolder folder;
  std::string obj = folder / "ball.obj", file = folder / "ball.plush";

  Baked() {
    WriteObj(MakeSphere(0.5, 8, 12), obj);
    REQUIRE(RunPlush({"bake", obj, "-o", file, "--tets", "50", "-q"}).exit_code == 0);
  }
};

}  // namespace

TEST_CASE("Output that a full disk does not take is an error of every verb", "[long]") {
  if (!std::filesystem::exists("/dev/full")) return;
  const Baked baked;
  const std::string& file = baked.file;
  const std::string out = baked.folder / "out.plush";
  const std::vector<std::string> runs[] = {
      {"--help"},
      {"--version"},
      {"bake", "--help"},
      {"info", file},
      {"info", file, "--json"},
      {"bake", baked.obj, "-o", out, "--tets", "50", "--json"},
      {"bake", baked.obj, "-o", out, "--tets", "50", "--list-sources"},
      {"check", baked.obj},
      {"diff", file, file},
      {"explain"},
      {"man", "bake"},
      {"completion", "fish"},
      {"simulate", file, "--steps", "2"},
      {"simulate", file, "--steps", "2", "--json", "--stats", baked.folder / "s.json"},
  };
  for (const std::vector<std::string>& arguments : runs) {
    const PlushRun run = RunInto("/dev/full", arguments);
    INFO(arguments[0] << " " << arguments.back() << "\n" << run.err);
    CHECK(run.exit_code == 2);
    CHECK_THAT(run.err, Contains("plush: error: cannot write standard output"));
  }
  CHECK_THAT(RunInto("/dev/full", {"explain", "MESH_EMPTY"}).err,
             Contains(": No space left on device"));
  CHECK(RunInto("/dev/full", {"info", baked.obj, "--json"}).exit_code == 3);  // the first error
  CHECK(RunInto("/dev/full", {"bake", baked.obj, "-o", out, "-q"}).exit_code == 0);
}

TEST_CASE("A reader that closes its pipe ends a verb silently, as it ends other programs") {
  const Baked baked;
  int ends[2];
  REQUIRE(::pipe(ends) == 0);
  ::close(ends[0]);
  const std::string target = "&" + std::to_string(ends[1]);
  const std::vector<std::string> runs[] = {
      {"info", baked.file, "--json"},
      // Writes a file before.
      {"simulate", baked.file, "-q", "--steps", "2", "--json", "--stats", baked.folder / "s.json"}};
  for (const std::vector<std::string>& arguments : runs) {
    const PlushRun run = RunInto(target, arguments);
    INFO(arguments[0] << "\n" << run.err);
    CHECK(run.exit_code == -SIGPIPE);
    CHECK(run.err.empty());
  }
  CHECK(std::filesystem::exists(baked.folder / "s.json"));
  ::close(ends[1]);
}

}  // namespace plush::tests::standard_output_test

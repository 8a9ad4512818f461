// SPDX-License-Identifier: MIT
// Every output of every verb goes through one writer, which decides by what is at the path.

#include "skip.h"
#include "tools/procedural_meshes.h"
#include "tools/run_plush.h"

#include <catch2/catch.hpp>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <thread>

namespace plush::tests::output_paths_test {
namespace {

mode_t ModeOf(const std::string& path) {
  struct stat info = {};
  REQUIRE(::lstat(path.c_str(), &info) == 0);
  return info.st_mode;
}

// A folder with ball.obj and ball.plush, and one run of `plush` per kind of output.
struct Outputs {
  TemporaryFolder folder;
  std::string obj = folder / "ball.obj", baked = folder / "ball.plush";

  Outputs() {
    WriteObj(MakeSphere(0.5, 8, 12), obj);
    REQUIRE(RunPlush({"bake", obj, "-o", baked, "--tets", "50", "-q"}).exit_code == 0);
  }

  // Runs that write `path`, a name with an ending that `plush simulate` accepts.
  std::vector<std::vector<std::string>> RunsTo(const std::string& path) const {
    const std::string other = folder / "other.plush";
    if (path.ends_with(".glb")) return {{"simulate", baked, "--steps", "2", "--export", path}};
    return {{"bake", obj, "-o", path, "--tets", "50"},
            {"bake", obj, "-o", other, "--tets", "50", "--depfile", path},
            {"export", baked, "--to", "vtu", "-o", path},
            {"simulate", baked, "--steps", "2", "--stats", path},
            {"simulate", baked, "--steps", "2", "--events", path},
            {"info", baked, "--report", path}};
  }

  // The same for both endings.
  template <class Check>
  void ForEachRun(const std::string& name, const Check& check) const {
    for (const std::string& path : {folder / name, folder / (name + ".glb")}) {
      for (std::vector<std::string> run : RunsTo(path)) {
        run.emplace_back("-q");
        INFO(run[0] << " " << path);
        check(path, run);
      }
    }
  }
};

}  // namespace

TEST_CASE("Outputs go into FIFOs") {
  const Outputs outputs;
  outputs.ForEachRun("fifo", [](const std::string& path, const std::vector<std::string>& run) {
    REQUIRE((std::filesystem::exists(path) || ::mkfifo(path.c_str(), 0600) == 0));
    const int fd = ::open(path.c_str(), O_RDONLY | O_NONBLOCK);  // so that the writer does not wait
    ::fcntl(fd, F_SETPIPE_SZ, 1 << 20);
    CHECK(RunPlush(run).exit_code == 0);
    char byte = 0;
    CHECK(::read(fd, &byte, 1) == 1);
    ::close(fd);
    CHECK(S_ISFIFO(ModeOf(path)));
  });
}

TEST_CASE("Outputs follow links", "[long]") {
  const Outputs outputs;
  outputs.ForEachRun("link", [&](const std::string& path, const std::vector<std::string>& run) {
    const std::string target = outputs.folder / "target";
    std::filesystem::remove(path);
    std::filesystem::remove(target);
    std::filesystem::create_symlink("target", path);
    for (const char* round : {"dangling", "replaced"}) {
      INFO(round);
      CHECK(RunPlush(run).exit_code == 0);
      CHECK(S_ISLNK(ModeOf(path)));
      CHECK(S_ISREG(ModeOf(target)));
      CHECK(Content(target) != "old");
      WriteText(target, "old");
    }
  });
}

TEST_CASE("Outputs that nobody may write are refused and stay") {
  const Outputs outputs;
  outputs.ForEachRun("locked", [](const std::string& path, const std::vector<std::string>& run) {
    if (!std::filesystem::exists(path)) WriteText(path, "old");
    REQUIRE(::chmod(path.c_str(), 0444) == 0);
    const PlushRun refused = RunPlush(run);
    CHECK(refused.exit_code == 2);
    CHECK_THAT(refused.err, Catch::Contains("locked"));
    CHECK(Content(path) == "old");
  });
}

TEST_CASE("Outputs go into devices") {
  const Outputs outputs;
  const std::string sample = outputs.folder / "sample";
  const bool made = ::mknod(sample.c_str(), S_IFCHR | 0600, ::makedev(1, 3)) == 0;
  if (!made || !std::ofstream(sample)) {
    Skip("this user may not make device nodes here");
    return;
  }
  outputs.ForEachRun("null", [](const std::string& path, const std::vector<std::string>& run) {
    std::filesystem::remove(path);
    REQUIRE(::mknod(path.c_str(), S_IFCHR | 0600, ::makedev(1, 3)) == 0);
    CHECK(RunPlush(run).exit_code == 0);
    CHECK(S_ISCHR(ModeOf(path)));
  });
}

TEST_CASE("Two bakes to one path at once both succeed, and leave one of the two files") {
  const Outputs outputs;
  const std::string out = outputs.folder / "shared.plush";
  const auto bake = [&](const std::string& path, const char* density) {
    return RunPlush({"bake", outputs.obj, "-o", path, "--tets", "50", "--density", density, "-q"});
  };
  REQUIRE(bake(outputs.folder / "light.plush", "10").exit_code == 0);
  REQUIRE(bake(outputs.folder / "heavy.plush", "20").exit_code == 0);
  for (int i = 0; i < 3; ++i) {
    int other = -1;
    std::thread thread([&] { other = bake(out, "10").exit_code; });
    CHECK(bake(out, "20").exit_code == 0);
    thread.join();
    CHECK(other == 0);
    const std::string bytes = Content(out);
    CHECK((bytes == Content(outputs.folder / "light.plush") ||
           bytes == Content(outputs.folder / "heavy.plush")));
  }
  CHECK(FilesIn(outputs.folder.path()) == 5);
}

TEST_CASE("No verb overwrites its own input") {
  const Outputs outputs;
  const std::string before = Content(outputs.baked);
  for (const std::vector<std::string>& run :
       {std::vector<std::string>{"export", outputs.baked, "--to", "obj", "-o", outputs.baked},
        {"simulate", outputs.baked, "--stats", outputs.baked},
        {"simulate", outputs.baked, "--events", outputs.baked},
        {"simulate", outputs.baked, "--report", outputs.baked},
        {"info", outputs.baked, "--report", outputs.baked},
        {"validate", outputs.baked, "--report", outputs.baked},
        {"validate", outputs.baked, "--source", outputs.obj, "--report", outputs.obj},
        {"diff", outputs.baked, outputs.baked, "--report", outputs.baked},
        {"check", outputs.obj, "--report", outputs.obj},
        {"bake", outputs.obj, "-o", outputs.obj},
        {"bake", outputs.obj, "-o", outputs.folder / "b.plush", "--depfile", outputs.obj}}) {
    INFO(run[0]);
    const PlushRun refused = RunPlush(run);
    CHECK(refused.exit_code == 1);
    CHECK_THAT(refused.err, Catch::Contains("would overwrite a source"));
  }
  CHECK(Content(outputs.baked) == before);
}

TEST_CASE("No verb writes two outputs to one file") {
  const Outputs outputs;
  const std::string both = outputs.folder / "both", mtl = outputs.folder / "frame.mtl";
  const std::string again = outputs.folder / "link";
  std::filesystem::create_symlink("both", again);
  const std::vector<std::string> simulate = {"simulate", outputs.baked, "--steps", "2", "-q"};
  const auto with = [](std::vector<std::string> run, const std::vector<std::string>& more) {
    run.insert(run.end(), more.begin(), more.end());
    return run;
  };
  const std::string baked = outputs.folder / "new.plush", png = outputs.folder / "page.png";
  for (const std::vector<std::string>& run :
       {with(simulate, {"--stats", both, "--events", both}),
        with(simulate, {"--stats", both, "--report", both}),
        with(simulate, {"--save-state", both, "--stats", again}),
        with(simulate, {"--events", outputs.folder / "./both", "--stats", both}),
        with(simulate, {"--export", outputs.folder / "frame.obj", "--frame", "1", "--stats", mtl}),
        {"bake", outputs.obj, "-o", baked, "--tets", "50", "--report", baked},
        {"export", outputs.baked, "--to", "vtu", "-o", both, "--report", both},
        {"report", outputs.baked, "-o", png, "--png", png}}) {
    INFO(run[0] << " " << run.back());
    const PlushRun refused = RunPlush(run);
    CHECK(refused.exit_code == 1);
    CHECK_THAT(refused.err, Catch::Contains("is the path of two outputs"));
    for (const std::string& path : {both, mtl, baked, png}) CHECK(!std::filesystem::exists(path));
  }
  // What keeps no file takes both.
  CHECK(RunPlush(with(simulate, {"--stats", "/dev/null", "--events", "/dev/null"})).exit_code == 0);
}

}  // namespace plush::tests::output_paths_test

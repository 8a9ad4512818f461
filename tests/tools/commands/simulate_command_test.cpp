// SPDX-License-Identifier: MIT
// `plush simulate` as a process: exit codes, outputs, and failed runs that leave nothing behind.

#include "tools/run_plush.h"
#include "tools/simulate/ball_asset.h"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include <cstring>
#include <filesystem>
#include <sstream>

namespace plush::tests::simulate_command_test {
namespace {

using Catch::Matchers::Contains;
using nlohmann::json;

}  // namespace

TEST_CASE("plush simulate drops a baked body, with statistics, report and a .glb") {
  const TemporaryFolder folder;
  const std::string ball = WriteBall(folder);
  const PlushRun run = RunPlush({"simulate", ball, "--steps", "30", "--stats", folder / "s.json",
                                 "--report", folder / "r.json", "--export", folder / "ball.glb"});
  INFO(run.err);
  REQUIRE(run.exit_code == 0);
  CHECK_THAT(run.out, Contains("30 steps of 10 ms: 1 body, 320 tets"));
  CHECK_THAT(run.err, !Contains("step 1"));  // no progress report, since stderr is no terminal
  const json stats = json::parse(Content(folder / "s.json"));
  CHECK(stats["energy_j"]["kinetic"].size() == 30);
  CHECK_THAT(run.out, Contains(stats["state_hash"].get<std::string>()));
  CHECK(json::parse(Content(folder / "r.json"))["state_hash"] == stats["state_hash"]);
  CHECK(Content(folder / "ball.glb").substr(0, 4) == "glTF");
  CHECK(FilesIn(folder.path()) == 4);
}

TEST_CASE("plush simulate --events writes the events of every step") {
  const TemporaryFolder folder;
  const std::string ball = WriteBall(folder), path = folder / "events.json";
  const std::vector<std::string> drop = {"simulate", ball, "--steps", "60", "-q"};
  auto with = drop;
  with.insert(with.end(), {"--events", path, "--save-state", folder / "with.state"});
  const PlushRun run = RunPlush(with);
  INFO(run.err);
  REQUIRE(run.exit_code == 0);
  const json document = json::parse(Content(path));
  CHECK(document["steps"] == 60);
  CHECK(document["bodies"] == json({"ball"}));
  REQUIRE_FALSE(document["events"].empty());
  // It falls from 0.3 of its height, 0.8 m for its surface.
  CHECK(document["events"][0]["time_s"].get<double>() == Approx(0.22).margin(0.02));
  CHECK(document["events"][0]["contacts"][0]["type"] == "began");
  // A state goes on as one of a run without events does.
  auto without = drop;
  without.insert(without.end(), {"--save-state", folder / "without.state"});
  REQUIRE(RunPlush(without).exit_code == 0);
  const auto hash_after = [&](const std::string& state) {
    const PlushRun next =
        RunPlush({"simulate", ball, "--steps", "30", "--json", "--load-state", folder / state});
    INFO(next.err);
    REQUIRE(next.exit_code == 0);
    return json::parse(next.out)["state_hash"];
  };
  CHECK(hash_after("with.state") == hash_after("without.state"));
}

TEST_CASE("plush simulate --json prints one document, equal for every number of threads") {
  const TemporaryFolder folder;
  WriteBall(folder);
  WriteText(
      folder / "scene.json",
      R"({"steps":20,"bodies":[{"asset":"ball.plush","count":3,"pins":[{"region":"low"}]}]})");
  const PlushRun one = RunPlush({"simulate", folder / "scene.json", "--json"});
  REQUIRE(one.exit_code == 0);
  const json document = json::parse(one.out);
  CHECK(document["bodies"] == 3);
  CHECK(document["exit_code"] == 0);
  CHECK(document["findings"].empty());
  const PlushRun two = RunPlush({"simulate", folder / "scene.json", "--json", "--threads", "2"});
  CHECK(json::parse(two.out)["state_hash"] == document["state_hash"]);
  const PlushRun stiff = RunPlush({"simulate", folder / "scene.json", "--json", "--young", "1e6"});
  CHECK(json::parse(stiff.out)["state_hash"] != document["state_hash"]);
}

TEST_CASE("plush simulate exports the asked frame as .obj with its .mtl") {
  const TemporaryFolder folder;
  const std::string ball = WriteBall(folder);
  const auto lowest_of_frame = [&](const std::string& frame) {
    const PlushRun run = RunPlush({"simulate", ball, "--steps", "20", "-q", "--export",
                                   folder / "frame.obj", "--frame", frame});
    REQUIRE(run.exit_code == 0);
    CHECK(run.out.empty());
    std::istringstream words(Content(folder / "frame.obj"));
    double lowest = 1.0e9;
    for (std::string line; std::getline(words, line);) {
      double x = 0.0, y = 0.0;
      if (std::sscanf(line.c_str(), "v %lf %lf", &x, &y) == 2) lowest = std::min(lowest, y);
    }
    return lowest;
  };
  const double start = lowest_of_frame("0");
  CHECK(start ==
        Approx(0.3 * 0.8 + 0.1));  // the ball is 0.1 above what touches, its cage's boundary
  CHECK(lowest_of_frame("10") == Approx(start - 9.81 * 0.0001 * 55).margin(1.0e-4));
  CHECK_THAT(Content(folder / "frame.obj"), Contains("mtllib frame.mtl"));
  CHECK_THAT(Content(folder / "frame.mtl"), Contains("newmtl blue_felt"));
}

TEST_CASE("plush simulate exports a point cache whose frames are those of the .obj files") {
  const TemporaryFolder folder;
  WriteBall(folder);
  WriteText(folder / "scene.json",
            R"({"bodies":[{"asset":"ball.plush","count":2}],"colliders":[{"plane":{}}]})");
  const std::string cache = folder / "run.pc2";
  // 60 frames per second of 100 steps per second: every second step, and the last one.
  REQUIRE(RunPlush({"simulate", folder / "scene.json", "--steps", "21", "-q", "--export", cache})
              .exit_code == 0);
  const std::string bytes = Content(cache);
  struct {
    char magic[12];
    int32_t version;
    int32_t num_points;
    float start;
    float rate;
    int32_t num_frames;
  } head;
  REQUIRE(bytes.size() > sizeof(head));
  std::memcpy(&head, bytes.data(), sizeof(head));
  CHECK(std::memcmp(head.magic, "POINTCACHE2", 12) == 0);
  CHECK(head.version == 1);
  CHECK(head.start == 0.0f);
  CHECK(head.rate == 1.0f);
  REQUIRE(head.num_frames == 12);
  std::vector<float> points((bytes.size() - sizeof(head)) / sizeof(float));
  std::memcpy(points.data(), bytes.data() + sizeof(head), points.size() * sizeof(float));
  const auto num_points = static_cast<size_t>(head.num_points);
  REQUIRE(points.size() == 3 * 12 * num_points);
  const int steps_of_frame[] = {0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 21};
  for (const size_t frame : {0u, 5u, 11u}) {
    REQUIRE(RunPlush({"simulate", folder / "scene.json", "--steps", "21", "-q", "--frame",
                      std::to_string(steps_of_frame[frame]), "--export", folder / "frame.obj"})
                .exit_code == 0);
    std::istringstream words(Content(folder / "frame.obj"));
    const float* point = points.data() + 3 * num_points * frame;
    size_t count = 0;
    for (std::string line; std::getline(words, line);) {
      float p[3];
      if (std::sscanf(line.c_str(), "v %f %f %f", &p[0], &p[1], &p[2]) != 3) continue;
      INFO("frame " << frame << ", vertex " << count);
      for (int axis = 0; axis < 3; ++axis) REQUIRE(p[axis] == Approx(*point++));
      ++count;
    }
    CHECK(count == num_points);
  }
}

TEST_CASE("A run of 100 steps ends like one of 50, saved, loaded and run for 50 more") {
  const TemporaryFolder folder;
  WriteBall(folder);
  WriteText(folder / "scene.json", R"({"bodies":[{"asset":"ball.plush","count":3},
    {"asset":"ball.plush","position":[-3,1,0],"pins":[{"region":"high","motion":[
      {"t":0,"position":[-3,1,0]},{"t":0.8,"position":[-3,1.5,0],"rotation":[0,0.6,0,0.8]}]}]}],
    "colliders":[{"plane":{}}],
    "forces":[{"type":"wind","velocity":[9,0,0],"from":0.4,"to":0.6}]})");
  const auto hash = [&](std::vector<std::string> options) {
    options.insert(options.begin(), {"simulate", folder / "scene.json", "--json"});
    const PlushRun run = RunPlush(options);
    INFO(run.err);
    REQUIRE(run.exit_code == 0);
    return json::parse(run.out)["state_hash"].get<std::string>();
  };
  const std::string state = folder / "half.state", whole = hash({"--steps", "100"});
  CHECK(hash({"--steps", "50", "--save-state", state}) != whole);
  CHECK(hash({"--steps", "50", "--load-state", state}) == whole);
  // The same file may be read and written.
  CHECK(hash({"--steps", "50", "--load-state", state, "--save-state", state}) == whole);

  const auto code = [&](const std::vector<std::string>& options) {
    std::vector<std::string> all = {"simulate", folder / "scene.json", "--steps", "1"};
    all.insert(all.end(), options.begin(), options.end());
    return RunPlush(all).exit_code;
  };
  const std::string good = Content(state);
  CHECK(code({"--load-state", state, "--young", "1e5"}) == 1);
  CHECK(code({"--load-state", folder / "none.state"}) == 2);
  CHECK(code({"--load-state", folder / "scene.json"}) == 3);
  std::string bad = good;
  bad.resize(bad.size() - 4);
  WriteText(folder / "bad.state", bad);
  CHECK(code({"--load-state", folder / "bad.state"}) == 3);
  bad = good;
  bad[7] = 2;  // the version
  WriteText(folder / "bad.state", bad);
  CHECK(code({"--load-state", folder / "bad.state"}) == 5);
  // A failed run leaves the old state.
  CHECK(code({"--load-state", folder / "bad.state", "--save-state", state}) == 5);
  CHECK(Content(state) == good);
}

TEST_CASE("plush simulate --draw adds lines to both kinds of exports") {
  const TemporaryFolder folder;
  const std::string ball = WriteBall(folder);
  for (const char* name : {"plain", "drawn"}) {
    for (const char* type : {".obj", ".glb"}) {
      std::vector<std::string> arguments = {
          "simulate", ball, "--steps", "5", "-q", "--export", folder / (std::string(name) + type)};
      if (std::string(name) == "drawn")
        arguments.insert(arguments.end(), {"--draw", "cage,bounds"});
      REQUIRE(RunPlush(arguments).exit_code == 0);
    }
  }
  CHECK_THAT(Content(folder / "plain.obj"), !Contains("\nl "));
  CHECK_THAT(Content(folder / "drawn.obj"), Contains("o draw.cage") && Contains("\nl "));
  CHECK_THAT(Content(folder / "plain.glb"), !Contains("draw.cage"));
  CHECK_THAT(Content(folder / "drawn.glb"), Contains("draw.cage") && Contains("draw.bounds"));
  const PlushRun useless = RunPlush({"simulate", ball, "--draw", "cage"});
  CHECK(useless.exit_code == 1);
  CHECK_THAT(useless.err, Contains("--export"));
}

TEST_CASE(
    "A body that leaves the finite numbers is an error with exit code 4, named with its step") {
  const TemporaryFolder folder;
  WriteBall(folder);
  // Explicit springs on nodes of almost no mass, between two planes: every bounce is faster.
  WriteText(folder / "bounce.json", R"({"dt":1,"steps":60,
    "bodies":[{"asset":"ball.plush","material":{"density":1e-6,"young":1,"poisson":0.1}}],
    "colliders":[{"plane":{"normal":[0,1,0],"offset":0.1}},
                 {"plane":{"normal":[0,-1,0],"offset":-0.9}}],
    "solver":{"contact":"penalty"}})");
  const PlushRun run =
      RunPlush({"simulate", folder / "bounce.json", "--json", "--stats", folder / "stats.json"});
  CHECK(run.exit_code == 4);
  CHECK_THAT(run.err, Contains("SIM_BODY_FROZEN") && Contains("body 'ball' left"));
  const json document = json::parse(run.out);
  CHECK(document["flags"].dump().find("body_frozen") != std::string::npos);
  CHECK(document["findings"].back()["severity"] == "error");
  // The statistics up to then are still written.
  CHECK(json::parse(Content(folder / "stats.json"))["state_hash"] == document["state_hash"]);
}

TEST_CASE("A run that gains energy is a warning that names the step and the body") {
  const TemporaryFolder folder;
  WriteBall(folder);
  // Penalty forces of a coarse time step throw the ball higher than it fell from.
  WriteText(folder / "bounce.json", R"({"dt":0.033,"steps":50,
    "bodies":[{"asset":"ball.plush","position":[0,1,0],"material":{"density":50}}],
    "colliders":[{"plane":{"normal":[0,1,0],"offset":0}}],
    "solver":{"contact":"penalty"}})");
  const PlushRun run = RunPlush({"simulate", folder / "bounce.json"});
  CHECK(run.exit_code == 0);
  CHECK_THAT(run.err,
             Contains("SIM_ENERGY_GAINED") && Contains("step ") && Contains("body 'ball'"));
  CHECK(RunPlush({"simulate", folder / "bounce.json", "-W"}).exit_code == 4);
}

TEST_CASE("plush simulate ends in the documented exit codes and leaves old outputs alone") {
  const TemporaryFolder folder;
  const std::string ball = WriteBall(folder), glb = folder / "old.glb";
  WriteText(glb, "old");
  WriteText(folder / "typo.json", R"({"bodies":[{"asset":"ball.plush"}],"stesp":3})");
  WriteText(folder / "projective.json",
            R"({"bodies":[{"asset":"ball.plush"}],"solver":{"name":"projective"}})");
  WriteText(folder / "crowd.json", R"({"bodies":[{"asset":"a","count":9999},{"asset":"b",
      "count":9999}]})");
  WriteText(folder / "absent.json", R"({"bodies":[{"asset":"absent.plush"}]})");
  WriteText(folder / "garbage.plush", std::string(4096, 'x'));
  WriteText(folder / "empty.json", "");
  const struct {
    std::vector<std::string> arguments;
    int exit_code;
    const char* message;
  } cases[] = {
      {{folder / "typo.json"}, 1, "did you mean 'steps'?"},
      {{folder / "empty.json"}, 1, "empty.json"},
      {{ball, "--steps", "0"}, 1, "--steps"},
      {{ball, "--dt", "2"}, 1, "--dt"},
      {{ball, "--frame", "301", "--export", folder / "f.obj"}, 1, "--frame 301"},
      {{ball, "--draw", "cgae"}, 1, "--draw: unknown layer 'cgae'; did you mean 'cage'?"},
      {{ball, "--frame", "3"}, 1, "--frame"},  // with a .glb
      {{ball, "--frame", "3", "--export", folder / "f.pc2"}, 1, "--frame"},
      {{ball, "--frame", "3", "--export", ""}, 1, "--frame"},
      {{ball, "--fps", "20", "--export", folder / "f.obj"}, 1, "--fps"},
      {{ball, "--fps", "20", "--export", ""}, 1, "--fps"},
      {{folder / "none.plush"}, 2, "none.plush"},
      {{folder / "none.json"}, 2, "none.json"},
      {{folder / "absent.json"}, 2, "absent.plush"},
      {{ball, "--stats", folder / "no/such/stats.json"}, 2, "stats.json"},
      {{ball, "--stats", folder.path()}, 2, "cannot write"},
      {{ball, "--events", folder.path()}, 2, "cannot write"},
      {{folder / "garbage.plush"}, 3, "garbage.plush"},
      {{ball, "--export", folder / "out.fbx"}, 5, ".glb (animated), .obj"},
      {{ball, "--draw", "cage", "--export", folder / "f.pc2"}, 1, "--draw"},
      {{ball, "--steps", "1000000", "--fps", "100", "--export", folder / "f.pc2"}, 6, "--fps"},
      {{folder / "projective.json"}, 5, "'projective'"},
      {{folder / "old.glb"}, 5, "expected a scene"},
      {{folder / "crowd.json"}, 6, "19998 bodies"},
      {{ball, "--steps", "1000000", "--fps", "100", "--export", folder / "f.glb"}, 6, "--fps"},
  };
  for (const auto& [arguments, exit_code, message] : cases) {
    std::vector<std::string> all = {"simulate"};
    all.insert(all.end(), arguments.begin(), arguments.end());
    const bool exports = std::find(all.begin(), all.end(), "--export") != all.end();
    if (!exports) all.insert(all.end(), {"--export", glb});
    const PlushRun run = RunPlush(all);
    INFO(arguments[0] << "\n" << run.err);
    CHECK(run.exit_code == exit_code);
    CHECK_THAT(run.err, Contains(message));
    CHECK(Content(glb) == "old");
  }
  CHECK_FALSE(std::filesystem::exists(folder / "f.glb"));
  CHECK_FALSE(std::filesystem::exists(folder / "f.obj"));
}

}  // namespace plush::tests::simulate_command_test

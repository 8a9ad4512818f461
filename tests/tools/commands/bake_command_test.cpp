// SPDX-License-Identifier: MIT
// `plush bake` from outside: options, outputs, and files that appear whole or not at all.

#include "plush/asset.h"
#include "plush/format/factor_panels.h"
#include "plush/format/tet_block.h"

#include "skip.h"
#include "tools/procedural_meshes.h"
#include "tools/run_plush.h"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

namespace plush::tests::bake_command_test {
namespace {

using Catch::Matchers::Contains;
using nlohmann::json;

// A folder with ball.obj.
struct BallFolder : TemporaryFolder {
  BallFolder() { WriteObj(MakeSphere(0.5, 16, 24), ball()); }
  std::string ball() const { return *this / "ball.obj"; }
};

}  // namespace

TEST_CASE("plush bake writes an asset that opens and validates") {
  const BallFolder folder;
  const std::string out = folder / "ball.plush";
  const PlushRun run = RunPlush({"bake", folder.ball(), "-o", out});
  INFO(run.err);
  REQUIRE(run.exit_code == 0);
  CHECK(run.out.empty());
  CHECK_THAT(run.err, Contains("tets"));
  CHECK(FilesIn(folder.path()) == 2);
  Asset asset;
  REQUIRE(asset.Open(out.c_str()).ok());
  CHECK(asset.simulation().tets.size() > 400);
  CHECK(asset.simulation().tets.size() < 500);
  CHECK(asset.simulation().solid_volume == Approx(0.5236).epsilon(0.03));
  CHECK(asset.visual().indices.size() == 3 * MakeSphere(0.5, 16, 24).triangles.size());
  CHECK(RunPlush({"validate", out}).exit_code == 0);
}

TEST_CASE("plush bake gives the same bytes whatever the threads, the place and the time",
          "[long]") {
  const BallFolder folder;
  REQUIRE(RunPlush({"bake", folder.ball(), "-o", folder / "1.plush", "--threads", "1"}).exit_code ==
          0);
  REQUIRE(RunPlush({"bake", folder.ball(), "-o", folder / "2.plush", "--threads", "2"}).exit_code ==
          0);
  const TemporaryFolder elsewhere;
  std::filesystem::copy_file(folder.ball(), elsewhere / "ball.obj");
  REQUIRE(RunPlush({"bake", elsewhere / "ball.obj", "-o", elsewhere / "3.plush"}).exit_code == 0);
  const std::string bytes = Content(folder / "1.plush");
  CHECK(bytes.size() > 10000);
  CHECK(bytes == Content(folder / "2.plush"));
  CHECK(bytes == Content(elsewhere / "3.plush"));
}

TEST_CASE("plush bake reports stages, findings, memory and the body as JSON") {
  const BallFolder folder;
  const PlushRun run = RunPlush(
      {"bake", folder.ball(), "-o", folder / "b.plush", "--json", "--report", folder / "r.json"});
  REQUIRE(run.exit_code == 0);
  const json document = json::parse(run.out);
  CHECK(document == json::parse(Content(folder / "r.json")));
  CHECK(document["exit_code"] == 0);
  CHECK(document["findings"].is_array());
  CHECK(document["peak_memory_bytes"] > 1000000);
  CHECK(document["command"] == "plush bake " + folder.ball() + " -o " + (folder / "b.plush") +
                                   " --json --report " + (folder / "r.json"));
  CHECK(document["file_bytes"] == Content(folder / "b.plush").size());
  std::vector<std::string> stages;
  for (const json& stage : document["stages"]) {
    stages.push_back(stage["name"]);
    CHECK(stage["seconds"] >= 0.0);
  }
  CHECK(stages == std::vector<std::string>{"import", "check", "solid", "cage", "mass", "embed",
                                           "pins", "rest", "partition", "encode", "write"});
  for (const char* key : {"split_tets", "split_nodes", "shared_tets", "branches"}) {
    CHECK(document["simulation"][key] == 0);  // a ball has no limbs
  }
  CHECK(document["simulation"]["clusters"] >= 4);
  CHECK(document["simulation"]["straddling_tets"] > 0.0);
  CHECK(document["simulation"]["straddling_tets"] < 1.0);
  CHECK(document["simulation"]["vertices_outside"] == 0);
  CHECK(document["simulation"]["embedding_error_m"] < 1e-6);
}

TEST_CASE("Options of plush bake reach the asset") {
  const BallFolder folder;
  const std::string out = folder / "b.plush";
  REQUIRE(
      RunPlush({"bake", folder.ball(), "-o", out, "--cell", "0.25", "--young", "2e6", "--poisson",
                "0.3", "--density", "500", "--dt", "0.02", "--mass", "cage", "--scale", "2", "-q"})
          .exit_code == 0);
  Asset asset;
  REQUIRE(asset.Open(out.c_str()).ok());
  const SimulationView& sim = asset.simulation();
  REQUIRE(asset.num_materials() == 1);
  CHECK(asset.material(0).young == 2e6f);
  CHECK(asset.material(0).poisson == 0.3f);
  CHECK(asset.material(0).density == 500.0f);
  CHECK(sim.density == 500.0f);
  CHECK(asset.factor().dt == 0.02f);
  CHECK(sim.median_edge <= 0.25f * 1.4143f);
  double mass = 0.0, volume = 0.0;
  for (const float m : sim.masses) mass += m;
  for (size_t t = 0; t < sim.tets.size(); ++t) volume += sim.Volume(t);
  CHECK(mass == Approx(500.0 * volume).epsilon(1e-5));
  const json settings = json::parse(asset.settings());
  CHECK(settings["cell"] == 0.25);
  CHECK(settings["scale"] == 2.0);
  CHECK_FALSE(settings.contains("tets"));
}

TEST_CASE("plush bake makes as many clusters as asked for, and info and the report count them",
          "[long]") {
  const BallFolder folder;
  const std::string out = folder / "b.plush";
  const uint32_t count = GENERATE(0u, 1u, 3u);
  const PlushRun run = RunPlush(
      {"bake", folder.ball(), "-o", out, "--clusters", std::to_string(count), "--json", "-q"});
  REQUIRE(run.exit_code == 0);
  Asset asset;
  REQUIRE(asset.Open(out.c_str()).ok());
  CHECK(asset.simulation().num_clusters == count);
  CHECK(asset.simulation().clusters.empty() == (count == 0));
  const json report = json::parse(run.out)["simulation"];
  const json info = json::parse(RunPlush({"info", out, "--json"}).out)["simulation"];
  CHECK(report["clusters"] == count);
  CHECK(info["clusters"] == count);
  CHECK(report["straddling_tets"] == info["straddling_tets"]);
  CHECK((info["straddling_tets"] > 0.0) == (count > 1));
}

TEST_CASE("Options of the lattice cage reach the asset, and -v shows their effect", "[long]") {
  const BallFolder folder;
  const std::string out = folder / "b.plush";
  const auto volume_of = [&](std::vector<std::string> options) {
    options.insert(options.begin(), {"bake", folder.ball(), "-o", out, "-v"});
    const PlushRun run = RunPlush(options);
    INFO(run.err);
    REQUIRE(run.exit_code == 0);
    CHECK_THAT(run.err, Contains("1 component\n") && Contains("0 branches"));
    return json::parse(RunPlush({"info", out, "--json"}).out)["simulation"]["volume_ratio"]
        .get<double>();
  };
  const double snug = volume_of({}), odt = volume_of({"--fit", "odt"});
  const double none = volume_of({"--fit", "none"});
  CHECK(snug < odt);
  CHECK(odt < none);
  CHECK(volume_of({"--clearance", "0.05"}) > 1.1 * snug);
  volume_of({"--lattice", "cube5", "--fit", "odt", "--clearance", "0.01", "--min-dihedral", "10",
             "--join", "--tets", "200"});
  Asset asset;
  REQUIRE(asset.Open(out.c_str()).ok());
  CHECK(asset.simulation().tets.size() <= 200);
  const json settings = json::parse(asset.settings());
  CHECK(settings["lattice"] == "cube5");
  CHECK(settings["fit"] == "odt");
  CHECK(settings["clearance"] == 0.01);
  CHECK(settings["min_dihedral"] == 10.0);
  CHECK(settings["join_parts"] == true);
  CHECK(settings["tets"] == 200);
}

TEST_CASE("Separate parts are components of their own, or one with --join", "[long]") {
  const TemporaryFolder folder;
  WriteObj(Joined(MakeBox({0, 0, 0}, {1, 1, 1}), MakeBox({1.01, 0, 0}, {2.01, 1, 1})),
           folder / "boxes.obj");
  const auto components = [&](std::vector<std::string> options) {
    const std::string out = folder / "b.plush";
    options.insert(options.begin(), {"bake", folder / "boxes.obj", "-o", out, "--tets", "300"});
    REQUIRE(RunPlush(options).exit_code == 0);
    CHECK(RunPlush({"validate", out, "--source", folder / "boxes.obj"}).exit_code == 0);
    return json::parse(RunPlush({"info", out, "--json"}).out)["simulation"]["components"];
  };
  CHECK(components({}) == 2);
  CHECK(components({"--join"}) == 1);
}

TEST_CASE("Material limits are the same in options, material maps and scenes", "[long]") {
  const BallFolder folder;
  const std::string body = folder / "ball.plush";
  REQUIRE(RunPlush({"bake", folder.ball(), "-o", body, "-q"}).exit_code == 0);
  // The message of each of the four ways to give a number; empty if the number is accepted.
  const auto messages = [&](const std::string& key, const std::string& number) {
    const auto fill = [&](std::string text) {
      text.replace(text.find("KEY"), 3, key);
      return text.replace(text.find("NUMBER"), 6, number);
    };
    WriteText(folder / "map.json", fill(R"({"materials":[{"name":"","KEY":NUMBER}]})"));
    WriteText(folder / "scene.json",
              fill(R"({"steps":1,"bodies":[{"asset":"ball.plush","material":{"KEY":NUMBER}}]})"));
    const std::vector<std::vector<std::string>> runs = {
        {"bake", folder.ball(), "-o", folder / "b.plush", "--" + key, number},
        {"bake", folder.ball(), "-o", folder / "b.plush", "--material-map", folder / "map.json"},
        {"simulate", body, "--steps", "1", "--" + key, number},
        {"simulate", folder / "scene.json"}};
    std::vector<std::string> results;
    for (const std::vector<std::string>& run : runs) {
      const PlushRun ended = RunPlush(run);
      results.push_back(ended.exit_code == 1 ? ended.err : "");
    }
    return results;
  };
  const struct {
    const char* key;
    const char* inside;
    const char* outside;
    const char* message;
  } cases[] = {{"young", "1e13", "2e13", "is outside [0.001, 1e+13]"},
               {"young", "0.001", "0.0009", "is outside [0.001, 1e+13]"},
               {"poisson", "0.499", "0.4995", "is outside [0, 0.499]"},
               {"density", "1e6", "1.1e6", "is outside [1e-06, 1000000]"},
               {"density", "1e-6", "1e-7", "is outside [1e-06, 1000000]"}};
  for (const auto& [key, inside, outside, message] : cases) {
    for (const std::string& result : messages(key, outside)) {
      INFO(key << " " << outside << ": " << result);
      CHECK_THAT(result, Contains(message));
    }
    for (const std::string& result : messages(key, inside)) {
      INFO(key << " " << inside << ": " << result);
      CHECK_THAT(result, !Contains(message));
    }
  }
}

TEST_CASE("A wrong option of plush bake is named with its range") {
  const BallFolder folder;
  const std::string out = folder / "b.plush";
  const struct {
    std::vector<std::string> arguments;
    const char* word;
  } cases[] = {{{"--tets", "0"}, "--tets"},
               {{"--tets", "many"}, "--tets"},
               {{"--cell", "0"}, "(0, 1000000]"},
               {{"--cell", "nan"}, "--cell"},
               {{"--young", "0"}, "--young"},
               {{"--young", "inf"}, "--young"},
               {{"--poisson", "0.5"}, "--poisson"},
               {{"--poisson", "-0.1"}, "[0, 0.499]"},
               {{"--density", "-1"}, "--density"},
               {{"--dt", "0"}, "--dt"},
               {{"--dt", "1.5"}, "[0.0001, 1]"},
               {{"--mass", "cake"}, "did you mean 'cage'"},
               {{"--mesher", "imprt"}, "import"},
               {{"--lattice", "bc"}, "did you mean 'bcc'"},
               {{"--fit", "snag"}, "did you mean 'snug'"},
               {{"--clearance", "0"}, "[1e-06, 0.1]"},
               {{"--min-dihedral", "51"}, "[0, 50]"},
               {{"--threads", "-1"}, "--threads"},
               {{"--scale", "0"}, "--scale"},
               {{"--unit", "furlong"}, "--unit"},
               {{"--cell", "1", "--tets", "5"}, "--tets"},
               {{"--clusters", "-1"}, "[0, 256]"},
               {{"--clusters", "257"}, "[0, 256]"},
               {{"--clusters", "auto"}, "--clusters"},
               {{"--clusters", "2.5"}, "--clusters"},
               {{"--bogus"}, "--bogus"}};
  for (const auto& [arguments, word] : cases) {
    std::vector<std::string> all = {"bake", folder.ball(), "-o", out};
    all.insert(all.end(), arguments.begin(), arguments.end());
    const PlushRun run = RunPlush(all);
    INFO(run.err);
    CHECK(run.exit_code == 1);
    CHECK_THAT(run.err, Contains(word));
  }
  CHECK(RunPlush({"bake", folder.ball()}).exit_code == 1);
  CHECK(RunPlush({"bake", "-o", out}).exit_code == 1);
  const PlushRun import = RunPlush({"bake", folder.ball(), "-o", out, "--mesher", "import"});
  CHECK(import.exit_code == 1);
  CHECK_THAT(import.err, Contains("--mesher"));
  CHECK(FilesIn(folder.path()) == 1);
}

TEST_CASE("plush bake pins what the side-car asks for") {
  const BallFolder folder;
  const std::string pins = folder / "pins.json", out = folder / "b.plush";
  WriteText(pins, R"({"regions": [{"name": "low", "box": [[-1, -1, -1], [1, -0.3, 1]]},
                                  {"name": "none", "material": "absent"}]})");
  const PlushRun run = RunPlush({"bake", folder.ball(), "-o", out, "--pins", pins});
  CHECK(run.exit_code == 0);
  CHECK_THAT(run.err, Contains("PIN_UNMATCHED") && Contains("absent"));
  Asset asset;
  REQUIRE(asset.Open(out.c_str()).ok());
  REQUIRE(asset.num_regions() == 1);
  CHECK(asset.region(0).name == "low");
  CHECK(asset.region(0).nodes.size() > 4);

  WriteText(pins, R"({"regions": [{"name": "low", "bix": []}]})");
  const PlushRun broken = RunPlush({"bake", folder.ball(), "-o", out, "--pins", pins});
  CHECK(broken.exit_code == 1);
  CHECK_THAT(broken.err, Contains("pins.json") && Contains("bix") && Contains("box"));
  CHECK(RunPlush({"bake", folder.ball(), "-o", out, "--pins", folder / "no.json"}).exit_code == 2);
  WriteText(pins, "");
  CHECK(RunPlush({"bake", folder.ball(), "-o", out, "--pins", pins}).exit_code == 1);
}

TEST_CASE("plush bake reads a material map, and info shows its materials", "[long]") {
  const TemporaryFolder folder;
  WriteText(folder / "ball.mtl", "newmtl fur\nnewmtl horn\n");
  WriteObj(MakeSphere(0.5, 16, 24), folder / "ball.obj");
  std::string obj = "mtllib ball.mtl\n" + Content(folder / "ball.obj");
  const size_t first = obj.find("\nf ");
  const size_t middle = obj.find("\nf ", first + (obj.size() - first) / 2);
  obj.insert(middle, "\nusemtl horn");
  obj.insert(first, "\nusemtl fur");
  WriteText(folder / "ball.obj", obj);
  const std::string map = folder / "map.json", out = folder / "b.plush";
  const std::vector<std::string> bake = {"bake", folder / "ball.obj", "-o",
                                         out,    "--material-map",    map};
  WriteText(map, R"({"materials": [{"name": "horn", "young": 5e6}, {"name": "hron"}]})");
  const PlushRun run = RunPlush(bake);
  INFO(run.err);
  CHECK(run.exit_code == 0);
  CHECK_THAT(run.err, Contains("MATERIAL_UNMATCHED") && Contains("did you mean 'horn'?"));
  const PlushRun info = RunPlush({"info", out, "--json"});
  REQUIRE(info.exit_code == 0);
  const json document = json::parse(info.out);
  const json& materials = document["simulation"]["materials"];
  REQUIRE(materials.size() == 2);
  CHECK(materials[0]["name"] == "fur");
  CHECK(materials[0]["young_pa"] == 1e5);
  CHECK(materials[1]["name"] == "horn");
  CHECK(materials[1]["young_pa"] == 5e6);
  CHECK(materials[0]["tets"].get<int>() > 0);
  CHECK(materials[1]["tets"].get<int>() > 0);
  CHECK(materials[0]["tets"].get<int>() + materials[1]["tets"].get<int>() ==
        document["simulation"]["tets"].get<int>());
  CHECK_THAT(RunPlush({"info", out}).out, Contains("material 'horn': E 5e+06 Pa"));
  CHECK(RunPlush({"validate", out}).exit_code == 0);
  CHECK(RunPlush({"simulate", out, "--steps", "5", "--young", "3e5"}).exit_code == 0);

  const std::string old = Content(out);
  std::vector<std::string> strict = bake;
  strict.push_back("-W");
  CHECK(RunPlush(strict).exit_code == 4);
  WriteText(map, R"({"materials": [{"name": "horn", "yuong": 5e6}]})");
  const PlushRun broken = RunPlush(bake);
  CHECK(broken.exit_code == 1);
  CHECK_THAT(broken.err, Contains("map.json") && Contains("did you mean 'young'?"));
  WriteText(map, "");
  CHECK(RunPlush(bake).exit_code == 1);
  std::filesystem::remove(map);
  CHECK(RunPlush(bake).exit_code == 2);
  CHECK(RunPlush({"bake", folder / "ball.obj", "-o", folder / "ball.mtl", "--material-map",
                  folder / "ball.mtl"})
            .exit_code == 1);
  CHECK(Content(out) == old);
}

TEST_CASE("The depfile of plush bake lists all sources") {
  const TemporaryFolder folder;
  SurfaceMesh mesh = MakeSphere(0.5, 8, 12);
  WriteObj(mesh, folder / "a ball.obj");
  WriteText(folder / "a ball.obj", "mtllib ball.mtl\n" + Content(folder / "a ball.obj"));
  WriteText(folder / "ball.mtl", "newmtl felt\n");
  WriteText(folder / "pins.json", R"({"regions": []})");
  WriteText(folder / "map.json", R"({"materials": []})");
  const PlushRun run = RunPlush({"bake", folder / "a ball.obj", "-o", folder / "b.plush", "--pins",
                                 folder / "pins.json", "--material-map", folder / "map.json",
                                 "--depfile", folder / "b.d"});
  INFO(run.err);
  REQUIRE(run.exit_code == 0);
  const std::string text = Content(folder / "b.d");
  CHECK(text.substr(0, text.find('\n')) == (folder / "b.plush") + ": \\");
  CHECK_THAT(text, Contains("a\\ ball.obj") && Contains("ball.mtl") && Contains("pins.json") &&
                       Contains("map.json"));
}

TEST_CASE("A name that no depfile can hold is a warning", "[long]") {
  const BallFolder folder;
  const std::string obj = folder / "line\nend.obj", depfile = folder / "b.d";
  std::filesystem::copy(folder.ball(), obj);
  const auto bake = [&](const std::string& in, const std::string& out, const char* option) {
    return RunPlush({"bake", in, "-o", folder / out, "--depfile", depfile, option});
  };
  CHECK_THAT(bake(folder.ball(), "b.plush", "-v").err, !Contains("DEPFILE"));
  for (const auto& [in, out] : {std::pair(obj, "b.plush"), std::pair(folder.ball(), "b\r.plush")}) {
    const PlushRun run = bake(in, out, "-v");
    CHECK(run.exit_code == 0);
    CHECK_THAT(run.err, Contains("warning") && Contains("DEPFILE_INCOMPLETE"));
  }
  CHECK(Content(depfile).empty());  // the name of the last output has a line end
  CHECK(bake(obj, "w.plush", "-W").exit_code == 4);
  CHECK_FALSE(std::filesystem::exists(folder / "w.plush"));
}

TEST_CASE("With -W a warning fails the bake and leaves the old output alone", "[long]") {
  const TemporaryFolder folder;
  WriteObj(MakeOpenBox({0, 0, 0}, {1, 1, 1}), folder / "open.obj");
  const std::string out = folder / "b.plush";
  WriteText(out, "old");
  const PlushRun run = RunPlush({"bake", folder / "open.obj", "-o", out, "-W"});
  CHECK(run.exit_code == 4);
  CHECK_THAT(run.err, Contains("MESH_OPEN_BOUNDARY"));
  CHECK(Content(out) == "old");
  CHECK(RunPlush({"bake", folder / "open.obj", "-o", out}).exit_code == 0);
  CHECK(Content(out) != "old");
}

TEST_CASE("plush bake refuses outputs that it cannot write before any work") {
  const BallFolder folder;
  const std::string out = folder / "folder.plush";
  std::filesystem::create_directory(out);
  CHECK(RunPlush({"bake", folder.ball(), "-o", out}).exit_code == 2);
  CHECK(RunPlush({"bake", folder.ball(), "-o", folder / "no/such/b.plush"}).exit_code == 2);
  CHECK(RunPlush({"bake", folder.ball(), "-o", folder / "b.plush", "--depfile", out}).exit_code ==
        2);
  CHECK(RunPlush({"bake", folder.ball(), "-o", folder / "b.plush", "--report", out}).exit_code ==
        2);
  const PlushRun json_run = RunPlush({"bake", folder.ball(), "-o", out, "--json"});
  CHECK(json::parse(json_run.out)["exit_code"] == 2);
  const std::string source = Content(folder.ball());
  CHECK(RunPlush({"bake", folder.ball(), "-o", folder.ball()}).exit_code == 1);
  CHECK(Content(folder.ball()) == source);
  CHECK(FilesIn(folder.path()) == 2);  // the source and the directory
}

TEST_CASE("A full disk leaves the old output and no other file") {
  const BallFolder folder;
  const std::string out = folder / "b.plush";
  WriteText(out, "old");
  // No file may grow beyond 16 blocks of 512 bytes.
  const PlushRun run = RunPlush({"bake", folder.ball(), "-o", out}, "ulimit -f 16; exec");
  INFO(run.err);
  CHECK(run.exit_code == 2);
  CHECK_THAT(run.err, Contains("b.plush"));
  CHECK(Content(out) == "old");
  CHECK(FilesIn(folder.path()) == 2);
}

TEST_CASE("Files without permission end in exit code 2, the old output untouched") {
  const BallFolder folder;
  // As root nothing is forbidden: give up the privileges.
  const std::string prefix =
      ::geteuid() == 0 ? "exec setpriv --reuid 65534 --regid 65534 --clear-groups" : "exec";
  ::chmod(folder.path().c_str(), 0777);
  if (RunPlush({"bake", folder.ball(), "-o", folder / "probe.plush"}, prefix).exit_code != 0) {
    Skip("cannot run plush without privileges here");
    return;
  }
  std::filesystem::create_directory(folder / "locked");
  const std::string out = folder / "locked/b.plush";
  WriteText(out, "old");
  ::chmod((folder / "locked").c_str(), 0555);
  CHECK(RunPlush({"bake", folder.ball(), "-o", out}, prefix).exit_code == 2);
  CHECK(Content(out) == "old");
  ::chmod((folder / "locked").c_str(), 0755);

  ::chmod(folder.ball().c_str(), 0);
  const PlushRun run = RunPlush({"bake", folder.ball(), "-o", folder / "b.plush"}, prefix);
  CHECK(run.exit_code == 2);
  CHECK_THAT(run.err, Contains("ball.obj"));
  CHECK_FALSE(std::filesystem::exists(folder / "b.plush"));
}

}  // namespace plush::tests::bake_command_test

// SPDX-License-Identifier: MIT
// `plush diff` as a process, on bodies and static meshes whose differences are known.
#include "base/files.h"
#include "shapes/shape_asset.h"
#include "shapes/tet_shapes.h"
#include "tools/procedural_meshes.h"
#include "tools/run_plush.h"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include <cmath>

using Catch::Matchers::Contains;
using nlohmann::json;
using plush::tests::PlushRun;
using plush::tests::RunPlush;
using plush::tests::TemporaryFolder;
using plush::tools::Material;

namespace diff_command_test {

std::string WriteBar(const TemporaryFolder& folder, const std::string& name,
                     const Material& material = {}) {
  const auto bytes = plush::test::AssetBytesOf(plush::test::TetBox(4, 2, 1, 0.1, 0.05), material);
  REQUIRE(plush::tools::WriteFileAtomically(folder / name, bytes).ok());
  return folder / name;
}

// Bakes a surface with `plush`.
std::string BakeMesh(const TemporaryFolder& folder, const std::string& name,
                     const plush::tools::SurfaceMesh& mesh, std::vector<std::string> options) {
  plush::tests::WriteObj(mesh, folder / (name + ".obj"));
  options.insert(options.begin(), {"bake", folder / (name + ".obj"), "-q", "-o", folder / name});
  REQUIRE(RunPlush(options).exit_code == 0);
  return folder / name;
}

json Diff(const std::string& a, const std::string& b, int exit_code = 0) {
  const PlushRun run = RunPlush({"diff", a, b, "--json"});
  INFO(run.err);
  REQUIRE(run.exit_code == exit_code);
  return json::parse(run.out);
}

double RelativeOf(const json& document, const std::string& key) {
  for (const json& value : document["values"]) {
    if (value["key"] == key) return value["relative"].get<double>();
  }
  return 0.0;
}

TEST_CASE("plush diff finds nothing between equal files") {
  const TemporaryFolder folder;
  const std::string a = WriteBar(folder, "a.plush"), b = WriteBar(folder, "b.plush");
  const PlushRun run = RunPlush({"diff", a, b, "--tolerance", "0"});
  CHECK(run.exit_code == 0);
  CHECK(run.out == "the same bytes\n");
  CHECK(Diff(a, b)["largest"] == 0.0);
}

TEST_CASE("plush diff gates relative differences of masses and densities") {
  const TemporaryFolder folder;
  Material heavy;
  heavy.density *= 1.01;
  const std::string a = WriteBar(folder, "a.plush"), b = WriteBar(folder, "b.plush", heavy);
  const json document = Diff(a, b);
  const double relative = 0.01 / 1.01;
  CHECK(document["same_bytes"] == false);
  CHECK(RelativeOf(document, "simulation.mass_kg") == Approx(relative).epsilon(1e-4));
  CHECK(RelativeOf(document, "simulation.materials.0.density_kg_m3") ==
        Approx(relative).epsilon(1e-4));
  CHECK(RelativeOf(document, "simulation.tets") == 0.0);
  CHECK(document["largest"].get<double>() == Approx(relative).epsilon(1e-4));
  CHECK(document["provenance"][0]["key"] == "content_hash");
  CHECK(RunPlush({"diff", a, b}).exit_code == 0);
  CHECK(RunPlush({"diff", a, b, "--tolerance", "0.0105"}).exit_code == 0);
  const PlushRun gated = RunPlush({"diff", a, b, "--tolerance", "0.0095"});
  CHECK(gated.exit_code == 4);
  CHECK_THAT(gated.err, Contains("0.0099") && Contains("exceeds 0.0095"));
  CHECK_THAT(gated.out, Contains("simulation.mass_kg"));
}

TEST_CASE("plush diff measures how far rest surfaces are apart", "[long]") {
  const TemporaryFolder folder;
  const auto ball = plush::tests::MakeSphere(0.5, 24, 48);
  auto larger = plush::tests::MakeSphere(0.5, 24, 48);
  // One vertex 0.05 m farther out: the surfaces differ by no more, and by most of it.
  auto& tip = larger.positions[100];
  tip = tip * (0.55 / Length(tip));
  SECTION("static meshes") {
    const std::string a = BakeMesh(folder, "a.plush", ball, {"--static"});
    const std::string b = BakeMesh(folder, "b.plush", larger, {"--static"});
    for (const json& document : {Diff(a, b), Diff(b, a)}) {
      const double metres = document["surface_m"].get<double>();
      CHECK(metres == Approx(0.05).epsilon(0.05));
      CHECK(document["surface_relative"].get<double>() ==
            Approx(metres / std::sqrt(3.0)).epsilon(0.05));
    }
    CHECK(RunPlush({"diff", a, b, "--tolerance", "0.01"}).exit_code == 4);
  }
  SECTION("bodies") {
    const std::string a = BakeMesh(folder, "a.plush", ball, {"--tets", "100"});
    const std::string b = BakeMesh(folder, "b.plush", ball, {"--tets", "300"});
    const std::string c = BakeMesh(folder, "c.plush", larger, {"--tets", "100"});
    CHECK(Diff(a, b)["surface_m"].get<double>() < 1e-4);  // the same surface in another cage
    CHECK(Diff(a, c)["surface_m"].get<double>() == Approx(0.05).epsilon(0.05));
    CHECK(Diff(a, b)["settings"][0]["key"] == "tets");
  }
  SECTION("a body and a static mesh") {
    const std::string a = BakeMesh(folder, "a.plush", ball, {"--tets", "100"});
    const std::string b = BakeMesh(folder, "b.plush", ball, {"--static"});
    const json document = Diff(a, b);
    CHECK(document["surface_m"].get<double>() < 1e-4);
    CHECK(document["largest"] == 1.0);
  }
}

TEST_CASE("plush diff refuses what it cannot open") {
  const TemporaryFolder folder;
  const std::string a = WriteBar(folder, "a.plush");
  CHECK(RunPlush({"diff", a, folder / "none.plush"}).exit_code == 2);
  CHECK(RunPlush({"diff", folder / "none.plush", a}).exit_code == 2);
  CHECK(RunPlush({"diff", a}).exit_code == 1);
  CHECK(RunPlush({"diff", a, a, "--tolerance", "-1"}).exit_code == 1);
  REQUIRE(
      plush::tools::WriteFileAtomically(folder / "text", std::as_bytes(std::span("text"))).ok());
  const json document = Diff(a, folder / "text", 3);
  CHECK(document["exit_code"] == 3);
}

}  // namespace diff_command_test

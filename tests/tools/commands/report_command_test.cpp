// SPDX-License-Identifier: MIT
// `plush report` as a process: what the page holds, that it stays the same, what is refused, and
// that no text of a file can break out of its element.
#include "base/files.h"
#include "shapes/shape_asset.h"
#include "shapes/tet_shapes.h"
#include "tools/paths.h"
#include "tools/procedural_meshes.h"
#include "tools/run_plush.h"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

using Catch::Matchers::Contains;
using nlohmann::json;
using plush::tests::Content;
using plush::tests::PlushRun;
using plush::tests::RunPlush;
using plush::tests::TemporaryFolder;
using plush::tests::WriteText;
using plush::tools::Material;

namespace report_command_test {

constexpr size_t kBarTets = size_t{4} * 2 * 1 * 5;

std::string WriteBar(const TemporaryFolder& folder, const std::string& name,
                     const Material& material = {}) {
  const auto bytes = plush::test::AssetBytesOf(plush::test::TetBox(4, 2, 1, 0.1, 0.05), material);
  REQUIRE(plush::tools::WriteFileAtomically(folder / name, bytes).ok());
  return folder / name;
}

// The text of the element with `id`, as an HTML parser finds it: to the next "</script".
std::string ElementText(const std::string& page, const std::string& id) {
  const std::string tag = "id=\"" + id + "\">";
  const size_t begin = page.rfind(tag);
  REQUIRE(begin != std::string::npos);
  return page.substr(begin + tag.size(), page.find("</script", begin) - begin - tag.size());
}

json DataOf(const std::string& path) { return json::parse(ElementText(Content(path), "data")); }

json Report(const TemporaryFolder& folder, std::vector<std::string> arguments, int exit_code = 0) {
  const std::string output = folder / "report.html";
  arguments.insert(arguments.begin(), {"report", "-o", output});
  const PlushRun run = RunPlush(arguments);
  INFO(run.err);
  REQUIRE(run.exit_code == exit_code);
  return DataOf(output);
}

TEST_CASE("ReportCommand holds the figures and arrays of a body") {
  const TemporaryFolder folder;
  const json data = Report(folder, {WriteBar(folder, "bar.plush")});
  REQUIRE(data["models"].size() == 1);
  const json& model = data["models"][0];
  const size_t tets = model["info"]["simulation"]["tets"];
  const size_t nodes = model["info"]["simulation"]["nodes"];
  CHECK(tets == kBarTets);
  CHECK(model["name"] == "bar");
  CHECK(model["failures"] == 0);
  CHECK(data["motion"].is_null());
  const json& arrays = model["arrays"];
  CHECK(arrays["nodes"]["count"] == nodes);
  for (const char* name : {"tets", "quality", "dihedral", "tet_material", "pieces", "volume"}) {
    CAPTURE(name);
    CHECK(arrays[name]["count"] == tets);
  }
  double mass = 0.0;
  size_t tets_of_parts = 0;
  for (const json& part : model["components"]) {
    mass += part["mass_kg"].get<double>();
    tets_of_parts += part["tets"].get<size_t>();
  }
  CHECK(mass == Approx(model["info"]["simulation"]["mass_kg"].get<double>()).epsilon(1e-5));
  CHECK(tets_of_parts == tets);
}

TEST_CASE("ReportCommand writes the same bytes for the same file") {
  const TemporaryFolder folder;
  const std::string bar = WriteBar(folder, "bar.plush");
  (void)Report(folder, {bar});
  const std::string first = Content(folder / "report.html");
  CHECK_FALSE(first.empty());
  (void)Report(folder, {bar});
  CHECK(Content(folder / "report.html") == first);
}

TEST_CASE("ReportCommand records a run, of which only the step times change") {
  const TemporaryFolder folder;
  const std::string bar = WriteBar(folder, "bar.plush");
  json first = Report(folder, {bar, "--simulate", bar, "--frames", "50"})["motion"];
  json second = Report(folder, {bar, "--simulate", bar, "--frames", "50"})["motion"];
  CHECK(first["steps"].size() == 51);
  CHECK(first["steps"].back() == 300);
  CHECK(first["per_step"]["contacts"].size() == 300);
  CHECK(first["bodies"][0]["model"] == 0);  // not a second copy of the file
  CHECK(first["bodies"][0]["nodes"]["count"] == 51 * 30);
  CHECK(first["contacts"]["starts"].back().get<size_t>() > 0);
  for (json* motion : {&first, &second}) (*motion)["per_step"].erase("step_ms");
  CHECK(first == second);
}

TEST_CASE("ReportCommand lets no name end the element of the data") {
  const TemporaryFolder folder;
  const std::string hostile = "</script><script>alert(1)</script><!--";
  const std::string bar = WriteBar(folder, "<!--\"&.plush");
  const json finding = {{"code", "SEAMS_WELDED"}, {"severity", "info"},      {"count", 1},
                        {"message", hostile},     {"places", json::array()}, {"remedy", hostile}};
  WriteText(folder / "bake.json", json({{"findings", json::array({finding})}}).dump());
  const json model = Report(folder, {bar, "--bake-report", folder / "bake.json"})["models"][0];
  CHECK(model["name"] == "<!--\"&");
  REQUIRE(model["findings"].size() == 1);
  CHECK(model["findings"][0]["message"] == hostile);
  const std::string page = Content(folder / "report.html");
  CHECK_THAT(page, !Contains("alert(1)</script"));
}

TEST_CASE("ReportCommand shows files that do not open, and fails") {
  const TemporaryFolder folder;
  const std::string bar = WriteBar(folder, "bar.plush");
  WriteText(folder / "broken.plush", "no asset");
  const json data = Report(folder, {folder / "."}, 3);
  REQUIRE(data["models"].size() == 2);
  CHECK(data["models"][0]["error"].is_null());
  CHECK(data["models"][1]["error"].is_string());
  CHECK(data["models"][1]["failures"].get<int>() > 0);
}

TEST_CASE("ReportCommand shows the source of a bake that failed") {
  const TemporaryFolder folder;
  // Two triangles of a crate.
  WriteText(folder / "open.obj",
            "mtllib open.mtl\no lid\nusemtl paint\nv 0 0 0\nv 1 0 0\nv 1 1 0\n"
            "v 0 1 0\nf 1 2 3\nf 1 3 4\n");
  WriteText(folder / "open.mtl", "newmtl paint\nKd 0.25 0.5 0.75\n");
  const json data = Report(folder, {folder / "none.plush", "--source", folder / "open.obj"}, 2);
  const json& model = data["models"][0];
  CHECK(model["error"].is_string());
  CHECK(model["arrays"]["indices"]["count"] == 6);
  CHECK(model["materials"][0]["linear_rgb"] == json({0.25, 0.5, 0.75}));
  CHECK(model["parts"][0]["count"] == 6);
  json codes = json::array();
  for (const json& finding : model["findings"]) {
    codes.push_back(finding["code"]);
    CHECK(finding["verb"] == "check");
    CHECK(finding["explanation"]["why"].get<std::string>().size() > 20);
  }
  CHECK(codes.dump().find("MESH_OPEN_BOUNDARY") != std::string::npos);
}

TEST_CASE("ReportCommand takes the colours of the source") {
  const TemporaryFolder folder;
  const std::string bear = std::string(plush::tests::kSamplesFolder) + "/models/bear.glb";
  const std::string baked = folder / "bear.plush";
  REQUIRE(RunPlush({"bake", bear, "-o", baked, "--tets", "150", "-q"}).exit_code == 0);
  const json data = Report(folder, {baked, "--source", bear});
  const json& materials = data["models"][0]["materials"];
  REQUIRE(materials.size() == 4);
  CHECK(materials[3]["name"] == "rose");
  CHECK(materials[3]["linear_rgb"][0].get<double>() == Approx(0.8));
  CHECK(materials[3]["linear_rgb"][2].get<double>() == Approx(0.3));
}

TEST_CASE("ReportCommand writes a sheet of pictures without a browser") {
  const TemporaryFolder folder;
  const std::string bar = WriteBar(folder, "bar.plush");
  (void)Report(folder, {bar, "--png", folder / "sheet.png", "--png-by", "cpu"});
  const std::string sheet = Content(folder / "sheet.png");
  CHECK(sheet.substr(1, 3) == "PNG");
  (void)Report(folder, {bar, "--png", folder / "again.png", "--png-by", "cpu"});
  CHECK(Content(folder / "again.png") == sheet);
  const PlushRun onto_page = RunPlush({"report", bar, "-o", bar + ".html", "--png", bar});
  CHECK(onto_page.exit_code == 1);
}

TEST_CASE("ReportCommand compares files") {
  const TemporaryFolder folder;
  Material soft;
  soft.young *= 0.5f;
  const std::string a = WriteBar(folder, "a.plush"), b = WriteBar(folder, "b.plush", soft);
  const json data = Report(folder, {"--compare", a, b});
  CHECK(data["compare"] == true);
  REQUIRE(data["differences"].size() == 1);
  CHECK(data["differences"][0]["same_bytes"] == false);
}

TEST_CASE("ReportCommand refuses what it cannot show and leaves the old page") {
  const TemporaryFolder folder;
  const std::string bar = WriteBar(folder, "bar.plush"), page = folder / "report.html";
  WriteText(page, "old");
  WriteText(folder / "other.json", R"({"findings": [], "file_bytes": 7})");
  struct Case {
    std::vector<std::string> arguments;
    int exit_code;
    const char* says;
  };
  const Case cases[] = {
      {{}, 1, "name a .plush file"},
      {{bar, bar, "--source", "x.obj"}, 1, "belong to one file"},
      {{bar, "--bake-report", bar}, 3, "no document"},
      {{bar, "--bake-report", folder / "other.json"}, 3, "7 bytes"},
      {{bar, "--bake-report", folder / "none.json"}, 2, "none.json"},
      {{bar, "--simulate", folder / "none.json"}, 2, "none.json"},
      {{bar, "--frames", "0"}, 1, "--frames"},
      {{bar, "--source", folder / "none.obj"}, 2, "none.obj"},
  };
  for (const Case& refused : cases) {
    auto arguments = refused.arguments;
    arguments.insert(arguments.begin(), {"report", "-o", page});
    const PlushRun run = RunPlush(arguments);
    INFO(refused.says << ": " << run.err);
    CHECK(run.exit_code == refused.exit_code);
    CHECK_THAT(run.err, Contains(refused.says));
    CHECK(Content(page) == "old");
  }
  const PlushRun onto_source = RunPlush({"report", bar, "-o", bar});
  CHECK(onto_source.exit_code == 1);
}

}  // namespace report_command_test

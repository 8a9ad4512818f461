// SPDX-License-Identifier: MIT
// TetGen itself, and shell scripts in its place that crash, hang or write nonsense.
#include "tetgen/tetgen_mesher.h"

#include "base/child_process.h"
#include "base/float_rounding.h"
#include "mesh/tet_faces.h"
#include "skip.h"
#include "solid/solid_volume.h"
#include "tools/procedural_meshes.h"

#include <catch2/catch.hpp>

#include <cstdlib>
#include <filesystem>
#include <optional>

namespace plush::tests::tetgen_mesher_test {
namespace {

using tools::ExitCode;
using tools::FindingList;
using tools::InsideTest;
using tools::SolidSurface;
using tools::TetGenSettings;
using tools::TetMesh;

SurfaceMesh Rounded(SurfaceMesh mesh) {
  for (Vec3d& p : mesh.positions) p = tools::RoundToFloat(p);
  return mesh;
}

// The outcome of filling a surface.
struct Outcome {
  std::optional<TetMesh> mesh;
  ExitCode exit_code = ExitCode::kOk;
  std::string message;
  FindingList findings;
};

Outcome Fill(const SurfaceMesh& mesh, const TetGenSettings& settings) {
  Outcome outcome;
  FindingList orientation;
  const SolidSurface solid = tools::MakeSolidSurface(Rounded(mesh), &orientation);
  auto filled = MeshWithTetGen(solid, InsideTest(solid), settings, &outcome.findings);
  if (filled.ok()) {
    outcome.mesh = std::move(filled.value());
  } else {
    outcome.exit_code = filled.error().exit_code;
    outcome.message = filled.error().message;
    CHECK(outcome.findings.Has(filled.error().finding_code));
  }
  return outcome;
}

const SurfaceMesh& UnitBox() {
  static const SurfaceMesh box = MakeBox({0, 0, 0}, {1, 1, 1});
  return box;
}

// Fills the unit box with a shell script instead of TetGen. $1: switches, $2: input, $out: path of
// the output without its ending. Checks that the folder for temporary files is empty afterwards.
Outcome FillWithScript(const std::string& script, TetGenSettings settings = {}) {
  const TemporaryFolder folder;
  settings.program = folder / "fake";
  WriteText(settings.program, "#!/bin/sh\nout=\"${2%.smesh}.1\"\n" + script + "\n");
  std::filesystem::permissions(settings.program, std::filesystem::perms::owner_all);
  const TemporaryFolder scratch;
  ::setenv("TMPDIR", scratch.path().c_str(), 1);
  Outcome outcome = Fill(UnitBox(), settings);
  ::unsetenv("TMPDIR");
  CHECK(std::filesystem::is_empty(scratch.path()));
  return outcome;
}

std::string Heredoc(const std::string& file, const std::string& text) {
  return "cat >\"$out\"." + file + " <<END\n" + text + "END\n";
}

// The box's corners in the order of x, y, z; six tets around its diagonal from 0 to 7.
const char* const kBoxNodes =
    "8 3 0 0\n0 0 0 0\n1 1 0 0\n2 0 1 0\n3 1 1 0\n4 0 0 1\n5 1 0 1\n6 0 1 1\n7 1 1 1\n";
const char* const kBoxTets =
    "6 4 0\n0 0 1 3 7\n1 0 3 2 7\n2 0 2 6 7\n3 0 6 4 7\n4 0 4 5 7\n5 0 5 1 7\n";

// Settings to run TetGen itself; nothing if it is not installed.
std::optional<TetGenSettings> RealTetGenOrSkip() {
  if (!tools::FindProgram("tetgen").empty()) return TetGenSettings{};
  Skip("tetgen is not installed");
  return std::nullopt;
}

double VolumeOf(const TetMesh& mesh) {
  std::vector<bool> used(mesh.nodes.size());
  for (const auto& tet : mesh.tets) {
    for (const uint32_t node : tet) used[node] = true;
    const auto& x = mesh.nodes;
    REQUIRE(tools::SixVolume(x[tet[0]], x[tet[1]], x[tet[2]], x[tet[3]]) > 0.0);
  }
  CHECK(std::find(used.begin(), used.end(), false) == used.end());
  return tools::CageVolume(mesh);
}

}  // namespace

TEST_CASE("TetGen that crashes is CAGE_TETGEN_FAILED") {
  for (const char* script : {"kill -ABRT $$", "kill -SEGV $$", "echo 'bad facet'; exit 3"}) {
    CAPTURE(script);
    const Outcome outcome = FillWithScript(script);
    CHECK(outcome.exit_code == ExitCode::kHelperDied);
    CHECK(outcome.findings.Has("CAGE_TETGEN_FAILED"));
  }
  CHECK(FillWithScript("echo 'bad facet'; exit 3").message ==
        "tetgen ended with status 3, saying 'bad facet'");
}

TEST_CASE("TetGen that hangs or grows is CAGE_TETGEN_LIMIT") {
  const Outcome hang = FillWithScript("touch \"$out.node\"; sleep 60", {.time_limit_s = 0.2});
  CHECK(hang.exit_code == ExitCode::kLimit);
  CHECK(hang.findings.Has("CAGE_TETGEN_LIMIT"));
  CHECK(hang.message == "tetgen was not done after 0.2 s");

  TetGenSettings small_memory = {.memory_limit_bytes = 64 << 20};
  const Outcome growth = FillWithScript("exec tail -n 1 /dev/zero", small_memory);
  CHECK(growth.exit_code == ExitCode::kLimit);
  CHECK(growth.message == "tetgen needs more than 0.0625 GiB of memory");
}

TEST_CASE("A missing TetGen is CAGE_TETGEN_MISSING") {
  const TemporaryFolder folder;
  WriteText(folder / "text", "no program");
  WriteText(folder / "wrong", "#!/no/such/interpreter\n");
  std::filesystem::permissions(folder / "wrong", std::filesystem::perms::owner_all);
  for (const std::string& program :
       {std::string("no-such-tetgen"), folder / "none", folder / "text", folder / "wrong"}) {
    CAPTURE(program);
    const Outcome outcome = Fill(UnitBox(), {.program = program});
    CHECK(outcome.exit_code == ExitCode::kHelperDied);
    CHECK(outcome.findings.Has("CAGE_TETGEN_MISSING"));
    CHECK(outcome.message.find(program) != std::string::npos);
  }
}

TEST_CASE("TetGen that claims success but writes nothing is CAGE_TETGEN_FAILED") {
  const Outcome outcome = FillWithScript("exit 0");
  CHECK(outcome.exit_code == ExitCode::kHelperDied);
  CHECK(outcome.findings.Has("CAGE_TETGEN_FAILED"));
  CHECK(outcome.message == "tetgen claims success but wrote no tets");
}

TEST_CASE("TetGen's output is not trusted") {
  const std::string nodes = Heredoc("node", kBoxNodes);
  const auto message = [](const std::string& script) {
    const Outcome outcome = FillWithScript(script);
    CHECK(outcome.exit_code == ExitCode::kHelperDied);
    CHECK(outcome.findings.Has("CAGE_TETGEN_FAILED"));
    return outcome.message;
  };
  CHECK(message(nodes).find("wrote no tets") != std::string::npos);
  CHECK(message(nodes + ": >\"$out.ele\"").find("surface.1.ele', line 0") != std::string::npos);
  CHECK(message(nodes + Heredoc("ele", "0 4 0\n")).find("none lies inside") != std::string::npos);
  CHECK(message(nodes + Heredoc("ele", "2 4 0\n0 0 1 3 7\n")).find("line 2") != std::string::npos);
  // First one of the six tets is missing, then all tets of one corner.
  CHECK(message(nodes + Heredoc("ele",
                                "5 4 0\n0 0 1 3 7\n1 0 3 2 7\n2 0 2 6 7\n3 0 6 4 7\n"
                                "4 0 4 5 7\n"))
            .find("0.833333333 of 1 m^3") != std::string::npos);
  CHECK(message(nodes + Heredoc("ele", "2 4 0\n0 0 1 3 7\n1 0 3 2 7\n")).find("no nodes") !=
        std::string::npos);
  CHECK(message("cp \"$2\" \"$out.node\"; cp \"$2\" \"$out.ele\"").find("broken file") !=
        std::string::npos);
}

TEST_CASE("TetGen's output is cleaned") {
  const Outcome sound = FillWithScript(Heredoc("node", kBoxNodes) + Heredoc("ele", kBoxTets));
  REQUIRE(sound.mesh.has_value());
  CHECK(sound.mesh->tets.size() == 6);
  // Inverted tets, a repeated tet, a node of no tet and a tet outside the surface.
  const std::string nodes = std::string(kBoxNodes).replace(0, 1, "10") + "8 9 9 9\n9 2 0 0\n";
  const std::string tets =
      "8 4 0\n0 0 3 1 7\n1 0 3 2 7\n2 0 6 2 7\n3 0 6 4 7\n4 0 5 4 7\n5 0 5 1 7\n6 0 1 3 7\n"
      "7 1 9 3 7\n";
  const Outcome outcome = FillWithScript(Heredoc("node", nodes) + Heredoc("ele", tets));
  INFO(outcome.message);
  REQUIRE(outcome.mesh.has_value());
  CHECK(outcome.mesh->tets.size() == 6);
  CHECK(outcome.mesh->nodes.size() == 8);
  CHECK(VolumeOf(*outcome.mesh) == Approx(1.0));
}

TEST_CASE("TetGen gets the requested switches") {
  const auto switches = [](const TetGenSettings& settings) {
    return FillWithScript("echo \"$1\"; exit 3", settings).message;
  };
  CHECK(switches({}).find("'-pFBQYq2'") != std::string::npos);
  TetGenSettings settings = {.ratio = 1.25, .max_volume_m3 = 1e-7, .split_surface = true};
  CHECK(switches(settings).find("'-pFBQq1.25a0.0000001'") != std::string::npos);
}

TEST_CASE("Surfaces that tets cannot fill are refused with places, without TetGen") {
  TetGenSettings settings = {.program = "/no/such/program"};
  const Outcome open = Fill(MakeOpenBox({0, 0, 0}, {1, 1, 1}), settings);
  CHECK(open.exit_code == ExitCode::kInvalidInput);
  REQUIRE(open.findings.all().size() == 1);
  CHECK(open.findings.all()[0].code == "CAGE_TETGEN_REFUSED");
  CHECK(open.findings.all()[0].count == 4);
  REQUIRE(open.findings.all()[0].places.size() == 4);
  CHECK(open.findings.all()[0].places[0].position.y == 1.0);
  CHECK(open.findings.all()[0].places[0].triangle >= 0);

  const Outcome crossed = Fill(MakeOverlappingBoxes(), settings);
  CHECK(crossed.exit_code == ExitCode::kInvalidInput);
  REQUIRE(crossed.findings.all().size() == 1);
  CHECK(crossed.findings.all()[0].count > 4);
  CHECK(crossed.findings.all()[0].places.size() == tools::kMaxPlaces);
  CHECK(crossed.findings.all()[0].places[0].element >= 12);

  CHECK(Fill(MakeMoebiusStrip(1.0, 0.4, 48), settings).exit_code == ExitCode::kInvalidInput);
  const Outcome soup = Fill(MakeTriangleSoup(200, 0.5, 3), settings);
  CHECK(soup.exit_code == ExitCode::kInvalidInput);
  CHECK(soup.findings.all().size() == 2);  // open and crossing
}

TEST_CASE("TetGen fills a closed surface to its last point, the same way each time") {
  const auto settings = RealTetGenOrSkip();
  if (!settings) return;
  const SurfaceMesh ball = MakeSphere(0.5, 16, 24);
  const Outcome outcome = Fill(ball, *settings);
  INFO(outcome.message);
  REQUIRE(outcome.mesh.has_value());
  CHECK(VolumeOf(*outcome.mesh) == Approx(0.5236).epsilon(0.03));
  CHECK(BoundarySurface(*outcome.mesh).triangles.size() == ball.triangles.size());
  const Outcome again = Fill(ball, *settings);
  REQUIRE(again.mesh.has_value());
  CHECK(again.mesh->nodes == outcome.mesh->nodes);
  CHECK(again.mesh->tets == outcome.mesh->tets);
}

TEST_CASE("Ratio, volume and the surface's own division reach TetGen") {
  auto settings = RealTetGenOrSkip();
  if (!settings) return;
  const auto tets = [](const TetGenSettings& s) {
    const Outcome outcome = Fill(MakeSphere(0.5, 16, 24), s);
    INFO(outcome.message);
    REQUIRE(outcome.mesh.has_value());
    VolumeOf(*outcome.mesh);
    return outcome.mesh->tets.size();
  };
  const size_t plain = tets(*settings);
  settings->ratio = 1.2;
  CHECK(tets(*settings) > plain);
  settings->ratio = 2.0;
  settings->max_volume_m3 = 5e-5;
  CHECK(tets(*settings) > 10400);  // 0.52 m^3 / 5e-5 m^3
  settings->max_volume_m3 = 0.0;
  settings->split_surface = true;
  CHECK(tets(*settings) > plain);
}

TEST_CASE("TetGen leaves cavities empty and fills nested solids once") {
  const auto settings = RealTetGenOrSkip();
  if (!settings) return;
  const double outer = 4.18879;
  const Outcome hollow = Fill(MakeNestedShells(false, true), *settings);
  REQUIRE(hollow.mesh.has_value());
  CHECK(VolumeOf(*hollow.mesh) == Approx(outer * 0.875).epsilon(0.05));
  const Outcome solid = Fill(MakeNestedShells(false, false), *settings);
  REQUIRE(solid.mesh.has_value());
  CHECK(VolumeOf(*solid.mesh) == Approx(outer).epsilon(0.05));
}

}  // namespace plush::tests::tetgen_mesher_test

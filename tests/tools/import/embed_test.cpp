// SPDX-License-Identifier: MIT
// A separate render mesh for a source with tets: import of both files with --embed.
#include "import/import.h"
#include "shapes/tet_shapes.h"
#include "tools/import/tet_file_texts.h"
#include "tools/paths.h"
#include "tools/procedural_meshes.h"
#include "tools/test_models.h"

#include <catch2/catch.hpp>

namespace plush::tests::embed_test {
namespace {

using tools::ExitCode;
using tools::FindingList;
using tools::ImportedModel;
using tools::ImportModel;
using tools::ImportSettings;

// Two files: tets.msh, a box of 1 m, and ball.obj inside it.
class TwoFiles {
 public:
  TwoFiles() {
    WriteText(tets(), Msh2(test::TetBox(2, 2, 2, 0.5), Form::kText));
    WriteObj(MakeSphere(0.25, 8, 12, {0.5, 0.5, 0.5}), ball());
    settings_.embed = ball();
    settings_.helper = plush::tests::kImportProgram;
  }
  std::string tets() const { return folder_ / "tets.msh"; }
  std::string ball() const { return folder_ / "ball.obj"; }
  ImportSettings* settings() { return &settings_; }

  ImportedModel Import() const { return ImportOrFail(tets(), settings_); }

 private:
  TemporaryFolder folder_;
  ImportSettings settings_;
};

}  // namespace

TEST_CASE("An embedded render mesh takes the place of the tets' boundary") {
  TwoFiles files;
  const ImportedModel model = files.Import();
  CHECK(model.tets.tets.size() == 40);
  CHECK(model.surface.triangles.size() == MakeSphere(0.25, 8, 12).triangles.size());
  CHECK(model.dependencies == std::vector<std::string>{files.ball()});
  CHECK(model.embed_hash != 0);
  const ImportedModel ball = ImportOrFail(files.ball());
  CHECK(model.embed_hash == ball.source_hash);
  CHECK(model.surface.positions == ball.surface.positions);
  const ImportedModel tets = ImportOrFail(files.tets());
  CHECK(model.source_hash == tets.source_hash);
  CHECK(tets.embed_hash == 0);
}

TEST_CASE("Unit, up and scale hold for source and embedded mesh") {
  TwoFiles files;
  const ImportedModel plain = files.Import();
  files.settings()->unit_m = 0.01;
  files.settings()->scale = 3.0;
  files.settings()->up = tools::UpAxis::kZ;
  const ImportedModel placed = files.Import();
  const auto check = [](const tools::Vec3d& before, const tools::Vec3d& after) {
    CHECK(after.x == Approx(0.03 * before.x).margin(1e-9));
    CHECK(after.y == Approx(0.03 * before.z).margin(1e-9));
    CHECK(after.z == Approx(-0.03 * before.y).margin(1e-9));
  };
  for (size_t i = 0; i < plain.tets.nodes.size(); ++i) {
    check(plain.tets.nodes[i], placed.tets.nodes[i]);
  }
  for (size_t i = 0; i < plain.surface.positions.size(); ++i) {
    check(plain.surface.positions[i], placed.surface.positions[i]);
  }
}

TEST_CASE("The boundary of other tets may be embedded") {
  TwoFiles files;
  const TemporaryFolder folder;
  WriteText(folder / "fine.vtk", Vtk5(test::TetBox(4, 4, 4, 0.25), true));
  files.settings()->embed = folder / "fine.vtk";
  const ImportedModel model = files.Import();
  CHECK(model.tets.tets.size() == 40);
  CHECK(model.surface.triangles.size() == 6 * 16 * 2);
}

TEST_CASE("An embedded mesh needs a source with tets, and must be readable") {
  TwoFiles files;
  FindingList findings;
  ImportSettings settings = *files.settings();
  const auto no_tets = ImportModel(files.ball(), settings, &findings);
  REQUIRE_FALSE(no_tets.ok());
  CHECK(no_tets.error().exit_code == ExitCode::kUsage);
  CHECK(no_tets.error().message.find("--embed") != std::string::npos);
  settings.embed = "/no/such/mesh.obj";
  const auto missing = ImportModel(files.tets(), settings, &findings);
  REQUIRE_FALSE(missing.ok());
  CHECK(missing.error().exit_code == ExitCode::kIo);
  settings.embed = files.tets() + ".obj";
  WriteText(settings.embed, "v 0 0 0\n");
  const auto empty = ImportModel(files.tets(), settings, &findings);
  REQUIRE_FALSE(empty.ok());
  CHECK(empty.error().finding_code == "MESH_EMPTY");
  WriteText(settings.embed, "v 0 0\n");
  const auto broken = ImportModel(files.tets(), settings, &findings);
  REQUIRE_FALSE(broken.ok());
  CHECK(broken.error().message.find("tets.msh.obj") != std::string::npos);
}

}  // namespace plush::tests::embed_test

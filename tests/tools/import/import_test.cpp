// SPDX-License-Identifier: MIT
// Whole imports: units, axes, refusals, hashes, and the same model in every format.
#include "import/import.h"

#include "mesh/box3.h"
#include "mesh/welding.h"
#include "skip.h"
#include "tools/paths.h"
#include "tools/procedural_meshes.h"
#include "tools/test_models.h"

#include <catch2/catch.hpp>
#include <sys/stat.h>

#include <cmath>
#include <filesystem>

namespace import_test {

using plush::tests::ImportOrFail;
using plush::tests::TemporaryFolder;
using plush::tests::WriteObj;
using plush::tests::WriteText;
using plush::tools::Box3;
using plush::tools::ExitCode;
using plush::tools::FindingList;
using plush::tools::ImportedModel;
using plush::tools::ImportSettings;
using plush::tools::Result;
using plush::tools::SurfaceMesh;
using plush::tools::UpAxis;
using plush::tools::Vec3d;

Result<ImportedModel> Import(const std::string& path, FindingList* findings,
                             ImportSettings settings = {}) {
  settings.helper = plush::tests::kImportProgram;
  return plush::tools::ImportModel(path, settings, findings);
}

Vec3d SizeOf(const SurfaceMesh& mesh) {
  Box3 box;
  for (const Vec3d& p : mesh.positions) box.Add(p);
  return box.Extent();
}

// A file of Debian's assimp-testmodels, or "" and a note if it is missing.
std::string CorpusFile(const std::string& name) {
  const std::string path = "/usr/share/assimp/models/" + name;
  if (std::filesystem::exists(path)) return path;
  plush::tests::Skip("there is no " + path);
  return "";
}

TEST_CASE("An OBJ comes in with its parts, materials and every position") {
  TemporaryFolder folder;
  WriteText(folder / "m.mtl", "newmtl skin\nKd 1 0 0\nnewmtl eye\n");
  WriteText(folder / "m.obj",
            "mtllib m.mtl\nv 0 0 0\nv 2 0 0\nv 2 2 0\nv 0 2 0\nv 1 1 3\nvt 0.25 0.75\n"
            "o base\nusemtl skin\nf 4/1 3/1 2/1 1/1\n"
            "o sides\nusemtl eye\nf 1/1 2/1 5/1\nf 2/1 3/1 5/1\nf 3/1 4/1 5/1\nf 4/1 1/1 5/1\n");
  const ImportedModel model = ImportOrFail(folder / "m.obj");
  CHECK(model.format == "obj");
  CHECK(model.unit_m == 1.0);
  CHECK(model.dependencies == std::vector<std::string>{folder / "m.mtl"});
  const SurfaceMesh& mesh = model.surface;
  CHECK(mesh.triangles.size() == 6);  // the quadrilateral becomes two
  REQUIRE(mesh.parts.size() == 2);
  CHECK(mesh.parts[0].name == "base");
  CHECK(mesh.parts[0].material == "skin");
  CHECK(mesh.parts[1].material == "eye");
  CHECK(mesh.parts[1].first_triangle == 2);
  CHECK(mesh.uvs[0].y == 0.75f);
  CHECK_FALSE(mesh.v_downwards);
  CHECK(mesh.normals.size() == mesh.positions.size());
  CHECK(plush::tools::MakeWeldedSurface(mesh).points.size() == 5);
}

TEST_CASE("Unit, up axis and scale can be overridden") {
  TemporaryFolder folder;
  WriteObj(plush::tests::MakeBox({0, 0, 0}, {1, 2, 3}), folder / "box.obj");
  ImportSettings settings = {.unit_m = 0.01, .up = UpAxis::kZ, .scale = 2.0};
  const ImportedModel model = ImportOrFail(folder / "box.obj", settings);
  CHECK(model.unit_m == 0.01);
  CHECK(model.up == 'Z');
  CHECK(SizeOf(model.surface).x == Approx(0.02));
  CHECK(SizeOf(model.surface).y == Approx(0.06));
  CHECK(SizeOf(model.surface).z == Approx(0.04));
  for (const double broken : {-1.0, std::nan("")}) {
    settings.scale = broken;
    FindingList findings;
    CHECK(Import(folder / "box.obj", &findings, settings).error().exit_code == ExitCode::kUsage);
  }
}

TEST_CASE("COLLADA's unit and up axis are applied once, and can be overridden") {
  TemporaryFolder folder;
  const auto write = [&folder](const std::string& asset) {
    WriteText(folder / "m.dae",
              "<?xml version=\"1.0\"?><COLLADA xmlns=\"http://www.collada.org/2005/11/"
              "COLLADASchema\" version=\"1.4.1\"><asset>" +
                  asset +
                  "</asset>"
                  "<library_geometries><geometry id=\"g\" name=\"tri\"><mesh><source id=\"p\">"
                  "<float_array id=\"a\" count=\"9\">0 0 0 100 0 0 0 200 300</float_array>"
                  "<technique_common><accessor source=\"#a\" count=\"3\" stride=\"3\">"
                  "<param name=\"X\" type=\"float\"/><param name=\"Y\" type=\"float\"/>"
                  "<param name=\"Z\" type=\"float\"/></accessor></technique_common></source>"
                  "<vertices id=\"v\"><input semantic=\"POSITION\" source=\"#p\"/></vertices>"
                  "<triangles count=\"1\"><input semantic=\"VERTEX\" source=\"#v\" offset=\"0\"/>"
                  "<p>0 1 2</p></triangles></mesh></geometry></library_geometries>"
                  "<library_visual_scenes><visual_scene id=\"s\"><node id=\"n\" name=\"n\">"
                  "<instance_geometry url=\"#g\"/></node></visual_scene></library_visual_scenes>"
                  "<scene><instance_visual_scene url=\"#s\"/></scene></COLLADA>");
  };
  const std::string cm = "<unit name=\"centimeter\" meter=\"0.01\"/>";
  write(cm + "<up_axis>Y_UP</up_axis>");
  CHECK(SizeOf(ImportOrFail(folder / "m.dae").surface).z == Approx(3.0));
  write(cm + "<up_axis>Z_UP</up_axis>");
  const ImportedModel by_file = ImportOrFail(folder / "m.dae");
  CHECK(by_file.unit_m == Approx(0.01));
  CHECK(SizeOf(by_file.surface).y == Approx(3.0));
  ImportSettings settings = {.unit_m = 0.001, .up = UpAxis::kY};
  const ImportedModel overridden = ImportOrFail(folder / "m.dae", settings);
  CHECK(SizeOf(overridden.surface).x == Approx(0.1));
  CHECK(SizeOf(overridden.surface).z == Approx(0.3));
  settings.up = UpAxis::kZ;
  CHECK(SizeOf(ImportOrFail(folder / "m.dae", settings).surface).y == Approx(0.3));
}

TEST_CASE("The unit of an AMF file is read") {
  TemporaryFolder folder;
  WriteText(folder / "m.amf",
            "<?xml version=\"1.0\"?><amf unit=\"inch\" version=\"1.1\"><object id=\"0\"><mesh>"
            "<vertices>"
            "<vertex><coordinates><x>0</x><y>0</y><z>0</z></coordinates></vertex>"
            "<vertex><coordinates><x>10</x><y>0</y><z>0</z></coordinates></vertex>"
            "<vertex><coordinates><x>0</x><y>0</y><z>20</z></coordinates></vertex></vertices>"
            "<volume><triangle><v1>0</v1><v2>1</v2><v3>2</v3></triangle></volume></mesh></object>"
            "</amf>");
  const ImportedModel model = ImportOrFail(folder / "m.amf");
  CHECK(model.unit_m == 0.0254);
  CHECK(SizeOf(model.surface).x == Approx(0.254));
  CHECK(SizeOf(model.surface).y == Approx(0.508));  // z is up
}

TEST_CASE("Suspect sizes are a finding, ordinary ones are not") {
  TemporaryFolder folder;
  WriteObj(plush::tests::MakeBox({0, 0, 0}, {1, 1, 1}), folder / "box.obj");
  for (const auto& [scale, suspect] :
       {std::pair(1.0, false), std::pair(0.0099, true), std::pair(0.0101, false),
        std::pair(19.9, false), std::pair(20.1, true)}) {
    ImportSettings settings = {.scale = scale};
    FindingList findings;
    REQUIRE(Import(folder / "box.obj", &findings, settings).ok());
    CHECK(findings.Has("UNIT_SUSPECT") == suspect);
  }
}

TEST_CASE("Non-finite coordinates are counted and dropped, the rest is kept") {
  TemporaryFolder folder;
  WriteText(folder / "m.obj",
            "v 0 0 0\nv 1 0 0\nv 0 1 0\nv nan 0 0\nv 0 inf 0\nf 1 2 3\nf 1 2 4\nf 1 5 3\n");
  FindingList findings;
  const auto model = Import(folder / "m.obj", &findings);
  REQUIRE(model.ok());
  CHECK(model.value().dropped_non_finite == 2);
  CHECK(findings.Has("MESH_NON_FINITE"));
  CHECK(model.value().surface.triangles.size() == 1);
  CHECK(model.value().surface.positions.size() == 3);
}

TEST_CASE("Input that is not a mesh has its exit code and finding") {
  TemporaryFolder folder;
  const auto outcome = [&folder](const std::string& name) {
    FindingList findings;
    const auto model = Import(folder / name, &findings);
    REQUIRE_FALSE(model.ok());
    const std::string code = findings.all().empty() ? "" : findings.all()[0].code;
    CHECK(code == model.error().finding_code);
    return std::pair(model.error().exit_code, code);
  };
  using Pair = std::pair<ExitCode, std::string>;
  CHECK(outcome("missing.obj") == Pair(ExitCode::kIo, ""));
  CHECK(outcome("") == Pair(ExitCode::kIo, ""));  // the directory
  WriteText(folder / "empty.obj", "");
  CHECK(outcome("empty.obj") == Pair(ExitCode::kInvalidInput, "IMPORT_FAILED"));
  WriteText(folder / "text.txt", "just words\n");
  CHECK(outcome("text.txt") == Pair(ExitCode::kUnsupported, "IMPORT_UNSUPPORTED"));
  WriteText(folder / "garbage.fbx", std::string(5000, '\xA7'));
  CHECK(outcome("garbage.fbx") == Pair(ExitCode::kInvalidInput, "IMPORT_FAILED"));
  WriteText(folder / "huge.obj", "v");
  std::filesystem::resize_file(folder / "huge.obj", 5ull << 30);  // sparse
  CHECK(outcome("huge.obj") == Pair(ExitCode::kLimit, "IMPORT_LIMIT"));
}

TEST_CASE("FBX boxes of the corpus are as large as their unit says") {
  const std::string path = CorpusFile("FBX/boxWithUncompressedCTypeArray.FBX");
  if (path.empty()) return;
  const ImportedModel model = ImportOrFail(path);
  CHECK(model.format == "fbx");
  CHECK(model.unit_m == 0.01);
  CHECK(SizeOf(model.surface).x == Approx(0.01));
  CHECK(model.surface.triangles.size() == 12);
  CHECK(SizeOf(ImportOrFail(path, {.unit_m = 1.0}).surface).x == Approx(1.0));
}

TEST_CASE("One model of the corpus is the same in every format") {
  for (const char* name : {"OBJ/WusonOBJ.obj", "OFF/Wuson.off", "PLY/Wuson.ply", "SMD/WusonSMD.smd",
                           "B3D/WusonBlitz.b3d"}) {
    const std::string path = CorpusFile(name);
    if (path.empty()) return;
    CAPTURE(name);
    const SurfaceMesh mesh = ImportOrFail(path).surface;
    const Vec3d size = SizeOf(mesh);
    CHECK(std::max({size.x, size.y, size.z}) == Approx(3.2445).epsilon(1e-3));
    CHECK(mesh.triangles.size() > 3000);
  }
}

using plush::tests::TemporaryFolder;
using plush::tests::WriteText;
using plush::tools::ExitCode;
using plush::tools::HashSource;

TEST_CASE("The hash is XXH3-64 of the whole content") {
  TemporaryFolder folder;
  WriteText(folder / "empty", "");
  WriteText(folder / "long", std::string(3'000'001, 'x'));
  WriteText(folder / "longer", std::string(3'000'002, 'x'));
  CHECK(HashSource(folder / "empty").value().hash == 0x2d06800538d394c2);  // published value
  CHECK(HashSource(folder / "empty").value().num_bytes == 0);
  CHECK(HashSource(folder / "long").value().num_bytes == 3'000'001);
  CHECK(HashSource(folder / "long").value().hash != HashSource(folder / "longer").value().hash);
}

TEST_CASE("A file that is unreadable or too large is refused") {
  TemporaryFolder folder;
  CHECK(HashSource(folder / "missing").error().exit_code == ExitCode::kIo);
  CHECK(HashSource(folder.path()).error().exit_code == ExitCode::kIo);
  REQUIRE(::mkfifo((folder / "fifo").c_str(), 0600) == 0);
  CHECK(HashSource(folder / "fifo").error().exit_code == ExitCode::kIo);
  WriteText(folder / "huge", "");
  std::filesystem::resize_file(folder / "huge", plush::tools::kMaxSourceBytes + 1);  // sparse
  CHECK(HashSource(folder / "huge").error().exit_code == ExitCode::kLimit);
  CHECK(HashSource(folder / "huge").error().finding_code == "IMPORT_LIMIT");
}

}  // namespace import_test

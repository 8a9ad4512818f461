// SPDX-License-Identifier: MIT
// All tet formats: each gives the same mesh, and any bytes give an error or a sound mesh.
#include "import/import.h"
#include "import/tet_files.h"
#include "shapes/tet_shapes.h"
#include "skip.h"
#include "tools/import/tet_file_texts.h"
#include "tools/procedural_meshes.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <cstring>
#include <memory>
#include <random>
#include <span>

namespace plush::tests::tet_formats_test {
namespace {

using tools::ExitCode;
using tools::Result;
using tools::TetMesh;
using tools::TetSource;

// Parses a copy in a block of exactly its size: a sanitizer sees any read beyond the end.
Result<TetSource> Parse(const TetFileText& file, std::string_view bytes) {
  const std::unique_ptr<std::byte[]> exact(new std::byte[bytes.size()]);
  if (!bytes.empty()) std::memcpy(exact.get(), bytes.data(), bytes.size());
  const std::span<const std::byte> span(exact.get(), bytes.size());
  return file.ending == ".msh" ? tools::ParseGmsh("m", span) : tools::ParseVtk("m", span);
}

void RequireSound(const TetSource& source) {
  const TetMesh& mesh = source.mesh;
  std::vector<bool> used(mesh.nodes.size());
  for (const auto& tet : mesh.tets) {
    for (const uint32_t node : tet) {
      REQUIRE(node < mesh.nodes.size());
      used[node] = true;
    }
    const auto& x = mesh.nodes;
    REQUIRE(tools::SixVolume(x[tet[0]], x[tet[1]], x[tet[2]], x[tet[3]]) > 0.0);
  }
  REQUIRE(std::find(used.begin(), used.end(), false) == used.end());
  REQUIRE((source.tags.empty() || source.tags.size() == mesh.tets.size()));
}

void RequireAnswer(const Result<TetSource>& read) {
  if (read.ok()) {
    RequireSound(read.value());
    return;
  }
  const bool refused = read.error().exit_code == ExitCode::kUnsupported;
  REQUIRE((refused || read.error().exit_code == ExitCode::kInvalidInput));
  REQUIRE(read.error().finding_code == (refused ? "IMPORT_UNSUPPORTED" : "IMPORT_FAILED"));
  REQUIRE(read.error().message.starts_with("'m'"));
}

}  // namespace

TEST_CASE("Every format of tet meshes gives the same mesh") {
  const TetMesh mesh = test::TetBox(2, 1, 1, 0.1, 0.02);
  for (const TetFileText& file : AllTetFileTexts(mesh)) {
    CAPTURE(file.name);
    const auto read = Parse(file, file.bytes);
    INFO((read.ok() ? "" : read.error().message));
    REQUIRE(read.ok());
    CHECK(read.value().mesh.nodes == mesh.nodes);
    CHECK(read.value().mesh.tets == mesh.tets);
    CHECK(read.value().num_surface_cells == 1);
    CHECK(read.value().num_dropped + read.value().num_oriented + read.value().num_unused == 0);
  }
}

TEST_CASE("Physical groups of .msh become tags") {
  const TetMesh mesh = test::TetBox(1, 1, 1, 0.1);
  for (const TetFileText& file : AllTetFileTexts(mesh)) {
    if (file.ending != ".msh") continue;
    CAPTURE(file.name);
    const auto read = Parse(file, file.bytes);
    REQUIRE(read.ok());
    REQUIRE(read.value().tags.size() == mesh.tets.size());
    for (size_t t = 0; t < mesh.tets.size(); ++t) {
      CHECK(read.value().tags[t] == static_cast<int32_t>(t % 3));
    }
  }
}

TEST_CASE("Every prefix of a tet file gives an error or a sound mesh") {
  for (const TetFileText& file : AllTetFileTexts(test::TetBox(1, 1, 1, 0.1))) {
    CAPTURE(file.name);
    for (size_t length = 0; length < file.bytes.size(); ++length) {
      RequireAnswer(Parse(file, std::string_view(file.bytes).substr(0, length)));
    }
  }
}

TEST_CASE("Tet files with edited bytes give an error or a sound mesh") {
  std::mt19937 random(3);
  for (const TetFileText& file : AllTetFileTexts(test::TetBox(1, 1, 1, 0.1))) {
    CAPTURE(file.name);
    const std::string alphabet = "0123456789 .-+e#\n$x";
    size_t read_well = 0;
    for (int i = 0; i < 2000; ++i) {
      std::string edited = file.bytes;
      for (unsigned edits = 1 + random() % 3; edits > 0; --edits) {
        const char any = static_cast<char>(random()), likely = alphabet[random() % alphabet.size()];
        edited[random() % edited.size()] = i % 2 == 0 ? any : likely;
      }
      const auto read = Parse(file, edited);
      RequireAnswer(read);
      read_well += read.ok() ? 1 : 0;
    }
    CHECK(read_well > 100);
  }
}

TEST_CASE("Counts that a tet file cannot hold take no memory") {
  const std::string huge = "18446744073709551615";
  const std::vector<TetFileText> files = {
      {"msh 2 nodes", ".msh",
       "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n" + huge + "\n1 0 0 0\n"},
      {"msh 4 nodes", ".msh",
       "$MeshFormat\n4.1 0 8\n$EndMeshFormat\n$Nodes\n" + huge + " 1 1 1\n3 1 0 " + huge + "\n1\n"},
      {"msh 4 entities", ".msh",
       "$MeshFormat\n4.1 0 8\n$EndMeshFormat\n$Entities\n0 0 0 " + huge + "\n1 0 0 0 0 0 0 " +
           huge},
      {"vtk points", ".vtk",
       "# vtk DataFile Version 3.0\nt\nASCII\nDATASET UNSTRUCTURED_GRID\nPOINTS " + huge +
           " double\n0"},
      {"vtk cells", ".vtk",
       "# vtk DataFile Version 3.0\nt\nASCII\nDATASET UNSTRUCTURED_GRID\nCELLS " + huge + " 1\n" +
           huge},
      {"vtk field", ".vtk",
       "# vtk DataFile Version 3.0\nt\nBINARY\nDATASET UNSTRUCTURED_GRID\nFIELD f " + huge +
           "\nx 0 " + huge + " int\n"}};
  for (const TetFileText& file : files) {
    CAPTURE(file.name);
    const auto read = Parse(file, file.bytes);
    REQUIRE_FALSE(read.ok());
    RequireAnswer(read);
  }
}

TEST_CASE("A tet file is imported by its name, in metres, with its findings") {
  TetMesh mesh = test::TetBox(2, 1, 1, 0.1);
  std::swap(mesh.tets[0][0], mesh.tets[0][1]);
  mesh.tets.push_back(mesh.tets[1]);
  mesh.nodes.push_back({9, 9, 9});
  const TemporaryFolder folder;
  for (const TetFileText& file : AllTetFileTexts(mesh)) {
    CAPTURE(file.name);
    const std::string path = folder / ("m" + file.ending);
    WriteText(path, file.bytes);
    tools::FindingList findings;
    const auto model = tools::ImportModel(path, {}, &findings);
    REQUIRE(model.ok());
    CHECK(model.value().format == (file.ending == ".msh" ? "gmsh" : "vtk"));
    CHECK(model.value().unit_m == 1.0);
    CHECK(model.value().up == 'Y');
    CHECK(model.value().dependencies.empty());
    CHECK(model.value().tets.tets.size() == mesh.tets.size() - 1);
    CHECK(model.value().tet_tags.size() == (file.ending == ".msh" ? mesh.tets.size() - 1 : 0));
    for (const char* code : {"MESH_TET_ORIENTED", "MESH_TET_INVALID", "MESH_UNREFERENCED_VERTEX",
                             "MESH_CELL_SKIPPED"}) {
      CAPTURE(code);
      CHECK(findings.Has(code));
    }
  }
}

TEST_CASE("Without a tetrahedron a tet file is refused") {
  const TemporaryFolder folder;
  for (const TetFileText& file : AllTetFileTexts({{{0, 0, 0}, {1, 0, 0}, {0, 1, 0}}, {}})) {
    CAPTURE(file.name);
    const std::string path = folder / ("m" + file.ending);
    WriteText(path, file.bytes);
    tools::FindingList findings;
    const auto model = tools::ImportModel(path, {}, &findings);
    REQUIRE_FALSE(model.ok());
    CHECK(model.error().exit_code == ExitCode::kInvalidInput);
    CHECK(findings.Has("IMPORT_FAILED"));
  }
}

TEST_CASE("A test model is the same in every format") {
  const std::string path = TestModelOrSkip("tets/arm_4k.node");
  if (path.empty()) return;
  const auto wanted = tools::ReadTetFile(path);
  REQUIRE(wanted.ok());
  for (const TetFileText& file : AllTetFileTexts(wanted.value().mesh)) {
    CAPTURE(file.name);
    const auto read = Parse(file, file.bytes);
    REQUIRE(read.ok());
    CHECK(read.value().mesh.nodes == wanted.value().mesh.nodes);
    CHECK(read.value().mesh.tets == wanted.value().mesh.tets);
  }
}

}  // namespace plush::tests::tet_formats_test

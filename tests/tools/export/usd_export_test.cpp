// SPDX-License-Identifier: MIT
#include "plush/format/tet_block.h"

#include "export/cage_exports.h"
#include "tools/export/exported_bar.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <map>
#include <sstream>

using namespace plush::tools;
using Catch::Matchers::Contains;
using plush::tests::ExportedBar;
using plush::tests::Number;

namespace usd_export_test {

// A prim of a .usda: its type, its attributes as text, its children by name.
struct Prim {
  std::string type, schemas;
  std::map<std::string, std::string> attributes;
  std::map<std::string, Prim> children;
};

std::string Trimmed(const std::string& line) {
  const size_t begin = line.find_first_not_of(' ');
  return begin == std::string::npos ? "" : line.substr(begin);
}

// Reads lines up to the end of the block.
void ReadBlock(std::istringstream* lines, Prim* prim) {
  for (std::string line; std::getline(*lines, line);) {
    line = Trimmed(line);
    if (line.empty()) continue;
    if (line == "}") return;
    if (line.starts_with("def ")) {
      const size_t quote = line.find('"');
      const std::string name = line.substr(quote + 1, line.find('"', quote + 1) - quote - 1);
      REQUIRE(prim->children.count(name) == 0);
      Prim* child = &prim->children[name];
      child->type = line.substr(4, quote - 5);
      if (line.ends_with("(")) {
        std::getline(*lines, line);
        child->schemas = Trimmed(line);
        std::getline(*lines, line);
        REQUIRE(Trimmed(line) == ")");
      }
      std::getline(*lines, line);
      REQUIRE(Trimmed(line) == "{");
      ReadBlock(lines, child);
      continue;
    }
    const size_t equals = line.find(" = ");
    REQUIRE(equals != std::string::npos);
    REQUIRE(prim->attributes.emplace(line.substr(0, equals), line.substr(equals + 3)).second);
  }
}

// The body, after the head of the file.
Prim ReadUsd(const std::string& text) {
  REQUIRE_THAT(text, Catch::StartsWith("#usda 1.0\n(\n    defaultPrim = \"Body\"\n"));
  std::istringstream lines(text.substr(text.find("\n)\n") + 3));
  Prim root;
  ReadBlock(&lines, &root);
  REQUIRE(root.children.size() == 1);
  return root.children.at("Body");
}

// The numbers of a list of tuples.
std::vector<float> Numbers(std::string list) {
  for (char& c : list) {
    if (c == '[' || c == ']' || c == '(' || c == ')' || c == ',') c = ' ';
  }
  std::istringstream words(list);
  std::vector<float> numbers;
  for (std::string word; words >> word;) numbers.push_back(Number(word));
  return numbers;
}

TEST_CASE("A .usda holds the cage with its boundary, masses and materials") {
  const ExportedBar bar("shoe 1");
  const std::string text = UsdTextOf(bar.cage(), UsdSpelling::kDraft);
  CHECK_THAT(text, Contains("    metersPerUnit = 1\n    upAxis = \"Y\"\n") &&
                       Contains("5d89c0ed46a26de92f4d3fefef3bfad6500c07ce"));
  const Prim body = ReadUsd(text);
  CHECK(body.schemas == "prepend apiSchemas = [\"PhysicsBodyAPI\", \"PhysicsDeformableBodyAPI\"]");
  const Prim& cage = body.children.at("Simulation");
  CHECK(cage.type == "TetMesh");
  const auto& s = bar.simulation();
  const std::vector<float> points = Numbers(cage.attributes.at("point3f[] points"));
  REQUIRE(points.size() == 3 * s.nodes.size());
  for (size_t i = 0; i < s.nodes.size(); ++i) {
    CHECK(points[3 * i] == s.nodes[i].x);
    CHECK(points[3 * i + 2] == s.nodes[i].z);
  }
  const std::vector<float> tets = Numbers(cage.attributes.at("int4[] tetVertexIndices"));
  REQUIRE(tets.size() == 4 * s.tets.size());
  CHECK(tets[4] == static_cast<float>(s.tets[1].a));
  CHECK(tets[7] == static_cast<float>(s.tets[1].d));
  const std::vector<float> masses = Numbers(cage.attributes.at("float[] physics:masses"));
  CHECK(std::equal(masses.begin(), masses.end(), s.masses.begin(), s.masses.end()));
  // The boundary is closed and faces outwards: its volume is the tets'.
  const std::vector<float> faces = Numbers(cage.attributes.at("int3[] surfaceFaceVertexIndices"));
  REQUIRE(faces.size() == 3 * 56);
  const auto node = [&](float index) { return ToDouble(s.nodes[static_cast<size_t>(index)]); };
  double volume = 0.0, of_tets = 0.0;
  for (size_t f = 0; f < faces.size(); f += 3) {
    volume += Dot(node(faces[f]), Cross(node(faces[f + 1]), node(faces[f + 2]))) / 6.0;
  }
  for (size_t t = 0; t < s.tets.size(); ++t) of_tets += double{s.Volume(t)};
  CHECK(volume == Approx(of_tets).epsilon(1e-5));

  const auto& materials = body.children.at("Materials").children;
  REQUIRE(materials.size() == 3);
  CHECK(Number(materials.at("shoe_1").attributes.at("float physics:youngsModulus")) ==
        bar.asset().material(1).young);
  CHECK(Number(materials.at("skin").attributes.at("float physics:poissonsRatio")) ==
        bar.asset().material(0).poisson);
  double mass = 0.0;
  for (const float m : s.masses) mass += double{m};
  CHECK(double{Number(materials.at("mean").attributes.at("float physics:density"))} * of_tets ==
        Approx(mass).epsilon(1e-5));
  CHECK(cage.attributes.at("rel material:binding:physics") == "</Body/Materials/mean>");
  const Prim& subset = cage.children.at("shoe_1");
  CHECK(Numbers(subset.attributes.at("int[] indices")).size() == 20);
  CHECK(subset.attributes.at("rel material:binding:physics") == "</Body/Materials/shoe_1>");
}

TEST_CASE("A .usda holds the render mesh with normals and texture coordinates") {
  const ExportedBar bar;
  const Prim body = ReadUsd(UsdTextOf(bar.cage(), UsdSpelling::kDraft));
  const auto& v = bar.asset().visual();
  REQUIRE(body.children.count("Visual") == (v.indices.empty() ? 0 : 1));
  if (v.indices.empty()) return;
  const auto& mesh = body.children.at("Visual").attributes;
  CHECK(Numbers(mesh.at("point3f[] points")).size() == 3 * v.positions.size());
  CHECK(Numbers(mesh.at("normal3f[] primvars:normals")).size() == 3 * v.normals.size());
  const std::vector<float> indices = Numbers(mesh.at("int[] faceVertexIndices"));
  CHECK(Numbers(mesh.at("int[] faceVertexCounts")).size() == indices.size() / 3);
  CHECK(std::ranges::equal(indices, v.indices, {}, {},
                           [](uint32_t i) { return static_cast<float>(i); }));
}

TEST_CASE("A .usda for Isaac Sim spells the same in its schema") {
  const ExportedBar bar;
  const std::string text = UsdTextOf(bar.cage(), UsdSpelling::kOmni);
  const Prim body = ReadUsd(text);
  const Prim& cage = body.children.at("Simulation");
  CHECK_THAT(cage.schemas, Contains("\"OmniPhysicsVolumeDeformableSimAPI\""));
  CHECK(cage.attributes.at("point3f[] omniphysics:restShapePoints") ==
        cage.attributes.at("point3f[] points"));
  CHECK(cage.attributes.at("int4[] omniphysics:restTetVtxIndices") ==
        cage.attributes.at("int4[] tetVertexIndices"));
  CHECK(body.children.at("Materials")
            .children.at("skin")
            .attributes.count("float omniphysics:youngsModulus") == 1);
  CHECK_THAT(text, !Contains(" physics:"));
}

TEST_CASE("Names of materials become names of prims, all different") {
  const Prim body =
      ReadUsd(UsdTextOf(ExportedBar("2 f\xC3\xBC\xC3\x9F\"e)").cage(), UsdSpelling::kDraft));
  CHECK(body.children.at("Materials").children.count("_2_f_____e_") == 1);
  const Prim twice = ReadUsd(UsdTextOf(ExportedBar("mean").cage(), UsdSpelling::kDraft));
  const auto& materials = twice.children.at("Materials").children;
  CHECK(materials.count("mean") == 1);
  CHECK(materials.count("mean_2") == 1);
  CHECK(twice.children.at("Simulation").attributes.at("rel material:binding:physics") ==
        "</Body/Materials/mean_2>");
}

}  // namespace usd_export_test

// SPDX-License-Identifier: MIT
// The committed sample models equal the output of their maker, and are sound, small and complete.
#include "base/files.h"
#include "import/gltf_document.h"
#include "mesh/surface_checks.h"
#include "mesh/topology.h"
#include "mesh/welding.h"
#include "model.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <filesystem>

namespace tools = plush::tools;

namespace {

using nlohmann::json;

/// A sample model: one part per primitive, `_pin` as the one attribute.
struct GlbModel {
  json document;
  tools::SurfaceMesh surface;
};

/// All numbers of an accessor of `type`.
std::vector<float> Numbers(tools::GltfDocument* glb, const json& accessor, const char* type) {
  CHECK(glb->Top("accessors").at(accessor.get<size_t>())["type"] == type);
  return glb->ReadAccessor(accessor).values;
}

void AppendPrimitive(const json& primitive, tools::GltfDocument* glb, tools::SurfaceMesh* surface) {
  const auto first_vertex = static_cast<uint32_t>(surface->positions.size());
  const json& attributes = primitive["attributes"];
  const auto positions = Numbers(glb, attributes["POSITION"], "VEC3");
  const auto normals = Numbers(glb, attributes["NORMAL"], "VEC3");
  const auto pin = Numbers(glb, attributes["_pin"], "SCALAR");
  REQUIRE(normals.size() == positions.size());
  REQUIRE(3 * pin.size() == positions.size());
  for (size_t i = 0; i < positions.size(); i += 3) {
    surface->positions.push_back({positions[i], positions[i + 1], positions[i + 2]});
    surface->normals.push_back({normals[i], normals[i + 1], normals[i + 2]});
  }
  auto& all_pins = surface->attributes.front().values;
  all_pins.insert(all_pins.end(), pin.begin(), pin.end());

  const auto corners = Numbers(glb, primitive["indices"], "SCALAR");
  tools::SurfacePart part;
  part.name = glb->Top("meshes")[0]["name"];
  part.material = glb->Top("materials").at(primitive["material"].get<size_t>())["name"];
  part.first_triangle = static_cast<uint32_t>(surface->triangles.size());
  part.num_triangles = static_cast<uint32_t>(corners.size() / 3);
  surface->parts.push_back(part);
  const auto index = [&](size_t corner) {
    REQUIRE(static_cast<size_t>(corners[corner]) < pin.size());
    return first_vertex + static_cast<uint32_t>(corners[corner]);
  };
  for (size_t i = 0; i + 2 < corners.size(); i += 3) {
    surface->triangles.push_back({index(i), index(i + 1), index(i + 2)});
  }
}

/// Reads a sample model: one mesh, untransformed, indexed triangles with POSITION, NORMAL, _pin.
GlbModel ReadSampleGlb(const std::string& path) {
  const auto bytes = tools::ReadFile(path);
  REQUIRE(bytes.ok());
  auto glb = tools::GltfDocument::Parse(bytes.value(), path);
  if (!glb.ok()) FAIL(glb.error().message);
  GlbModel model;
  model.document = glb.value().root();
  model.surface.attributes.push_back({"_pin", {}});
  for (const json& primitive : model.document["meshes"][0]["primitives"]) {
    AppendPrimitive(primitive, &glb.value(), &model.surface);
  }
  return model;
}

const std::string kModels = PLUSH_SAMPLES_DIR "/models/";

/// Whether the committed file has the bytes that the maker makes here and now.
bool IsAsMade(const plush::samples::Model& model) {
  const auto committed = tools::ReadFile(kModels + model.name + ".glb");
  REQUIRE(committed.ok());
  return committed.value() == WriteGlb(model, MakeModelMesh(model));
}

}  // namespace

// One case each, to run in parallel. After an intended change of a model, run
// plush_model_maker samples/models
TEST_CASE("bear.glb is what its maker makes, byte for byte") {
  CHECK(IsAsMade(plush::samples::Bear()));
}

TEST_CASE("duck.glb is what its maker makes, byte for byte") {
  CHECK(IsAsMade(plush::samples::Duck()));
}

TEST_CASE("octopus.glb is what its maker makes, byte for byte") {
  CHECK(IsAsMade(plush::samples::Octopus()));
}

TEST_CASE("The sample models have no findings but their seams") {
  const std::string name = GENERATE("bear", "duck", "octopus");
  INFO(name);
  const GlbModel model = ReadSampleGlb(kModels + name + ".glb");
  tools::FindingList findings;
  const tools::SurfaceFacts facts = tools::CheckSurface(model.surface, {}, &findings);
  for (const tools::Finding& finding : findings.all()) {
    INFO(finding.code << ": " << finding.message);
    CHECK(finding.severity == tools::Severity::kInfo);
  }
  CHECK(facts.num_components == 1);
}

TEST_CASE("The sample models are closed, consistently oriented balls in topology, outward") {
  const std::string name = GENERATE("bear", "duck", "octopus");
  INFO(name);
  const GlbModel model = ReadSampleGlb(kModels + name + ".glb");
  const tools::WeldedSurface welded = tools::MakeWeldedSurface(model.surface);
  CHECK(welded.degenerate.empty());
  CHECK(welded.duplicates.empty());
  const auto num_points = static_cast<uint32_t>(welded.points.size());
  const tools::SurfaceTopology topology = tools::BuildTopology(welded.triangles, num_points);
  size_t num_bad = 0;
  for (const tools::SurfaceEdge& edge : topology.edges) {
    const auto uses = topology.UsesOf(edge);
    num_bad += uses.size() == 2 && uses[0].forward != uses[1].forward ? 0 : 1;
  }
  CHECK(num_bad == 0);
  CHECK(int(num_points) - int(topology.edges.size()) + int(welded.triangles.size()) == 2);
  double six_volume = 0.0;
  for (const auto& [a, b, c] : welded.triangles) {
    six_volume += Dot(Cross(welded.points[a], welded.points[b]), welded.points[c]);
  }
  CHECK(six_volume / 6.0 > 0.005);
}

TEST_CASE("The sample models have their promised sizes, materials and pins") {
  const auto [name, triangles, size] = GENERATE(table<std::string, double, double>(
      {{"bear", 10.0e3, 0.5}, {"duck", 5.0e3, 0.4}, {"octopus", 30.0e3, 0.9}}));
  INFO(name);
  const GlbModel model = ReadSampleGlb(kModels + name + ".glb");
  const tools::SurfaceMesh& surface = model.surface;
  CHECK(double(surface.triangles.size()) == Approx(triangles).epsilon(0.05));

  tools::Vec3d low = surface.positions.front(), high = low;
  for (const tools::Vec3d& p : surface.positions) {
    low = Min(low, p);
    high = Max(high, p);
  }
  CHECK(low.y == 0.0);
  const tools::Vec3d extent = high - low;
  CHECK(std::max({extent.x, extent.y, extent.z}) == Approx(size).epsilon(0.1));

  CHECK(surface.parts.size() >= 2);
  CHECK(model.document["materials"].size() == surface.parts.size());
  for (const auto& material : model.document["materials"]) {
    CHECK(material["pbrMetallicRoughness"]["baseColorFactor"].size() == 4);
  }
  const auto& pin = surface.attributes.front().values;
  const auto num_pinned = std::count_if(pin.begin(), pin.end(), [](float p) { return p > 0.5f; });
  CHECK(num_pinned > 100);
  CHECK(size_t(num_pinned) < pin.size() / 4);
  for (const float p : pin) REQUIRE((p >= 0.0f && p <= 1.0f));
}

TEST_CASE("Normals of the sample models are unit, smooth across seams, and fit the triangles") {
  const std::string name = GENERATE("bear", "duck", "octopus");
  INFO(name);
  const tools::SurfaceMesh surface = ReadSampleGlb(kModels + name + ".glb").surface;
  for (const plush::Vec3& n : surface.normals) {
    REQUIRE(n.x * n.x + n.y * n.y + n.z * n.z == Approx(1.0f).epsilon(1.0e-5));
  }
  const tools::Welding welding = tools::WeldByPosition(surface);
  std::vector<const plush::Vec3*> normal_of_point(welding.num_points, nullptr);
  for (size_t i = 0; i < surface.normals.size(); ++i) {
    const plush::Vec3*& first = normal_of_point[welding.point_of_vertex[i]];
    if (first == nullptr) first = &surface.normals[i];
    const plush::Vec3& n = surface.normals[i];
    REQUIRE((n.x == first->x && n.y == first->y && n.z == first->z));
  }
  size_t num_against = 0;  // a few at creases beside eyes and bill may differ much
  for (const auto& [a, b, c] : surface.triangles) {
    const auto& p = surface.positions;
    const tools::Vec3d face = Cross(p[b] - p[a], p[c] - p[a]);
    for (const uint32_t corner : {a, b, c}) {
      const plush::Vec3& n = surface.normals[corner];
      num_against += Dot(face, {n.x, n.y, n.z}) < 0.5 * Length(face) ? 1 : 0;
    }
  }
  CHECK(num_against < surface.triangles.size() / 50);
}

TEST_CASE("The bear's skin has six joints in bind pose, and weights that sum to one") {
  const auto bytes = tools::ReadFile(kModels + "bear.glb");
  REQUIRE(bytes.ok());
  auto glb = tools::GltfDocument::Parse(bytes.value(), "bear.glb");
  if (!glb.ok()) FAIL(glb.error().message);
  const json& document = glb.value().root();
  const json& skin = document["skins"][0];
  const std::vector<std::string> names = {"hips", "head", "arm_l", "arm_r", "leg_l", "leg_r"};
  REQUIRE(skin["joints"].size() == names.size());
  CHECK(document["nodes"][0]["skin"] == 0);
  const auto binds = Numbers(&glb.value(), skin["inverseBindMatrices"], "MAT4");
  REQUIRE(binds.size() == 16 * names.size());
  const json& hips = document["nodes"][1]["translation"];
  for (size_t i = 0; i < names.size(); ++i) {
    const json& node = document["nodes"].at(skin["joints"][i].get<size_t>());
    CHECK(node["name"] == names[i]);
    // The joint's axes and place, by its matrix, are the origin and axes of its own coordinates.
    const json& q = node["rotation"];
    const tools::Vec3d u = {q[0], q[1], q[2]};
    const double w = q[3];
    CHECK(LengthSquared(u) + w * w == Approx(1.0));
    tools::Vec3d place = {node["translation"][0], node["translation"][1], node["translation"][2]};
    if (i > 0) place += {hips[0], hips[1], hips[2]};
    for (int axis = -1; axis < 3; ++axis) {
      tools::Vec3d local;
      if (axis >= 0) local[axis] = 1.0;
      const tools::Vec3d t = 2.0 * Cross(u, local), there = place + local + w * t + Cross(u, t);
      for (int row = 0; row < 3; ++row) {
        const float* m = &binds[16 * i + size_t(row)];
        CHECK(m[0] * there.x + m[4] * there.y + m[8] * there.z + m[12] ==
              Approx(local[row]).margin(1e-6));
      }
    }
  }
  std::vector<size_t> led(names.size(), 0);  // vertices with a weight of at least 0.9
  for (const json& primitive : document["meshes"][0]["primitives"]) {
    const auto joints = Numbers(&glb.value(), primitive["attributes"]["JOINTS_0"], "VEC4");
    const auto weights = Numbers(&glb.value(), primitive["attributes"]["WEIGHTS_0"], "VEC4");
    REQUIRE(joints.size() == weights.size());
    for (size_t i = 0; i < weights.size(); i += 4) {
      REQUIRE(weights[i] + weights[i + 1] + weights[i + 2] + weights[i + 3] == Approx(1.0f));
      REQUIRE(*std::max_element(&joints[i], &joints[i] + 4) < names.size());
      if (weights[i] >= 0.9f) ++led[static_cast<size_t>(joints[i])];
    }
  }
  for (size_t i = 0; i < names.size(); ++i) {
    INFO(names[i]);
    CHECK(led[i] > 100);
  }
}

TEST_CASE("The sample models together stay below two megabytes") {
  std::uintmax_t bytes = 0;
  for (const char* name : {"bear", "duck", "octopus"}) {
    bytes += std::filesystem::file_size(kModels + name + ".glb");
  }
  CHECK(bytes < 2'000'000);
}

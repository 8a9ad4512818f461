// SPDX-License-Identifier: MIT
// Each check of a static mesh refuses a file that breaks only its rule.
#include "plush/format/static_mesh.h"
#include "plush/world.h"

#include "plush_generated.h"
#include "runtime/asset/check_subject.h"
#include "shapes/static_asset.h"
#include "tools/procedural_meshes.h"

#include <catch2/catch.hpp>

#include <cmath>

using namespace plush;
using namespace plush::test;

namespace static_mesh_checks_test {

// A closed sphere of 20 triangles beside an open box of 10, of two materials: 30 triangles, 8
// leaves, 3 nodes.
tools::SurfaceMesh Scene() {
  auto box = plush::tests::MakeOpenBox({1.0, 0.0, 0.0}, {2.0, 1.0, 1.0});
  box.parts[0].material = "rock";
  return plush::tests::Joined(plush::tests::MakeSphere(0.5, 3, 5), box);
}

struct StaticFile : Subject {
  StaticFile() : Subject(StaticBytesOf(Scene())) {}

  const StaticMeshView& mesh() const { return asset().static_mesh(); }
  StaticTriangle& Triangle(size_t t) { return At(mesh().triangles, t); }

  // The first triangle from `t` on with a neighbour across edge 0.
  uint32_t LinkedFrom(uint32_t t) const {
    while (mesh().triangles[t].neighbours[0] == kNoTriangle) ++t;
    return t;
  }
};

TEST_CASE("A static mesh opens and describes itself") {
  const StaticFile file;
  const Asset& asset = file.asset();
  CHECK(asset.is_static());
  CHECK(asset.simulation().nodes.empty());
  CHECK(asset.visual().positions.empty());
  CHECK(asset.num_regions() == 0);
  CHECK(asset.num_parts() == 0);
  const StaticMeshView& mesh = file.mesh();
  REQUIRE(mesh.triangles.size() == 30);
  CHECK(mesh.tree.size() == 3);
  CHECK(mesh.sides == MeshSides::kFront);
  CHECK(mesh.grid.high.x == 2.0f);
  REQUIRE(asset.num_materials() == 2);
  CHECK(asset.material(1).name == "rock");
  CHECK(asset.material(1).young == 0.0f);
  CHECK(asset.material(1).friction == -1.0f);
  size_t open = 0;
  for (uint32_t t = 0; t < 30; ++t) {
    const bool is_box = mesh.positions[mesh.triangles[t].vertices[0]].x >= 1.0f;
    CHECK(mesh.materials[t] == (is_box ? 1 : 0));
    for (const uint32_t n : mesh.triangles[t].neighbours) open += n == kNoTriangle ? 1 : 0;
  }
  CHECK(open == 4);
  Asset moved;
  REQUIRE(moved.Open(asset.bytes()).ok());
  const Asset other = std::move(moved);
  CHECK(other.is_static());
  CHECK_FALSE(moved.is_static());
  CHECK(moved.static_mesh().triangles.empty());
}

TEST_CASE("A soft body has no static mesh") {
  Subject subject;
  CHECK_FALSE(subject.asset().is_static());
  CHECK(subject.asset().static_mesh().triangles.empty());
  CHECK(subject.asset().static_mesh().levels.num_nodes() == 0);
}

TEST_CASE("A static mesh is no body") {
  const StaticFile file;
  World world;
  BodyId id;
  const Status status = world.AddBody(file.asset(), {}, &id);
  CHECK(status.code == StatusCode::kUnsupported);
  CHECK(std::string(status.section) == "asset");
  CHECK(std::string(status.reason).find("--static") != std::string::npos);
  CHECK(world.PrepareSystem(file.asset(), {}).code == StatusCode::kUnsupported);
}

TEST_CASE("Wrong numbers and indices of a static mesh are refused") {
  StaticFile file;
  SECTION("numbers") {
    file.Break(file.mesh().positions[7].y, NAN, CheckKind::kNonFinite, "static_mesh.positions", 7);
    file.Break(file.mesh().positions[3].z, -1.1e9f, CheckKind::kRange, "static_mesh.positions", 3);
    file.Break(file.Triangle(29).vertices[2], static_cast<uint32_t>(file.mesh().positions.size()),
               CheckKind::kIndex, "static_mesh.triangles", 29);
    file.Break(file.Triangle(12).neighbours[1], 30, CheckKind::kIndex, "static_mesh.triangles", 12);
    file.Break(file.mesh().materials[5], 2, CheckKind::kIndex, "static_mesh.triangle_materials", 5);
    // 8 leaves: the root has 2 children.
    file.Break(file.mesh().tree[0].low[1][2], 65534, CheckKind::kOrder, "static_mesh.tree", 0);
  }
  SECTION("bounds of children that exist are not compared") {
    file.At(file.mesh().tree, 2).low[1][3] = 7;
    CHECK(Failures(file.bytes()).empty());
  }
}

TEST_CASE("Links of a static mesh that are not mutual are refused") {
  StaticFile file;
  const uint32_t t = file.LinkedFrom(GENERATE(0u, 10u));
  const uint32_t other = file.mesh().triangles[t].neighbours[0];
  SECTION("a missing one") {
    file.Triangle(t).neighbours[0] = kNoTriangle;
    file.ExpectOnly(CheckKind::kOrder, "static_mesh.triangles", other);
  }
  SECTION("one to itself") {
    file.Triangle(t).neighbours[0] = t;
    const auto failures = Failures(file.bytes());
    REQUIRE(failures.size() == 2);
    CHECK(failures[0].index == std::min(t, other));
    CHECK(failures[1].index == std::max(t, other));
  }
  SECTION("one to a triangle that does not have the edge") {
    const uint32_t wrong = other == 0 ? 1 : other - 1;
    if (wrong == t) return;
    file.Triangle(t).neighbours[0] = wrong;
    CHECK(Failures(file.bytes()).size() == 2);
  }
  SECTION("swapped ones") {
    std::swap(file.Triangle(t).neighbours[1], file.Triangle(t).neighbours[2]);
    CHECK(Failures(file.bytes()).size() >= 1);
  }
  SECTION("a turned triangle") {
    std::swap(file.Triangle(t).vertices[1], file.Triangle(t).vertices[2]);
    CHECK(Failures(file.bytes()).size() >= 2);
  }
  SECTION("a repeated vertex") {
    file.Triangle(t).vertices[0] = file.Triangle(t).vertices[1];
    const auto failures = Failures(file.bytes());
    REQUIRE_FALSE(failures.empty());
    CHECK(failures[0].kind == CheckKind::kOrder);
  }
}

TEST_CASE("Scalars and materials of a static mesh are checked") {
  StaticFile file;
  const format::StaticMesh* table = format::GetAsset(file.bytes().data())->static_mesh();
  const auto set = [](const auto* of, flatbuffers::voffset_t field, auto value) {
    const auto* fields = reinterpret_cast<const flatbuffers::Table*>(of);
    REQUIRE(const_cast<flatbuffers::Table*>(fields)->SetField(field, value, decltype(value){}));
  };
  SECTION("sides") {
    set(table, format::StaticMesh::VT_SIDES, uint8_t{3});
    file.ExpectOnly(CheckKind::kRange, "static_mesh.sides", 0);
  }
  SECTION("a box that is not finite") {
    auto* low = const_cast<format::Vec3*>(table->low());
    *low = format::Vec3(-INFINITY, low->y(), low->z());
    file.ExpectOnly(CheckKind::kNonFinite, "static_mesh.low", 0);
  }
  SECTION("a box upside down") {
    auto* low = const_cast<format::Vec3*>(table->low());
    *low = format::Vec3(3.0f, low->y(), low->z());
    file.ExpectOnly(CheckKind::kOrder, "static_mesh.low", 0);
  }
  SECTION("friction") {
    set(table->materials()->Get(1), format::SurfaceMaterial::VT_FRICTION, NAN);
    file.ExpectOnly(CheckKind::kNonFinite, "static_mesh.materials", 1);
  }
  SECTION("restitution") {
    set(table->materials()->Get(1), format::SurfaceMaterial::VT_RESTITUTION, 1.5f);
    file.ExpectOnly(CheckKind::kRange, "static_mesh.materials", 1);
  }
}

TEST_CASE("A static mesh with wrong counts is not written") {
  auto content = StaticContentOf(Scene());
  std::string section;
  SECTION("materials of triangles") {
    content.triangle_materials.pop_back();
    section = "static_mesh.triangle_materials";
  }
  SECTION("tree") {
    content.mesh.tree.pop_back();
    section = "static_mesh.tree";
  }
  SECTION("no material") {
    content.materials.clear();
    section = "static_mesh.materials";
  }
  SECTION("no triangle") {
    content.mesh = {};
    content.triangle_materials.clear();
    section = "static_mesh.triangles";
  }
  const auto bytes = tools::WriteStaticAsset(content);
  REQUIRE_FALSE(bytes.ok());
  CHECK(bytes.error().message.find(section + "[0]") != std::string::npos);
}

}  // namespace static_mesh_checks_test

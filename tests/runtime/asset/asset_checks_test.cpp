// SPDX-License-Identifier: MIT
// Each kind of damage is reported with its section, kind and index, and nothing else is reported.
#include "asset/asset_checks.h"

#include "plush/format/asset_check.h"
#include "plush/format/factor_panels.h"

#include "plush_generated.h"
#include "runtime/asset/check_subject.h"
#include "shapes/shape_asset.h"
#include "shapes/tet_shapes.h"

#include <catch2/catch.hpp>

#include <cmath>
#include <limits>
#include <numeric>
#include <string>

using plush::CheckKind;
using plush::Pose;
using plush::Quat;
using plush::Tet;
using plush::test::ExactBuffer;
using plush::test::Failures;
using plush::test::Subject;

namespace asset_checks_test {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInfinity = std::numeric_limits<float>::infinity();

// The next larger float.
float Above(float x) { return std::nextafter(x, std::numeric_limits<float>::infinity()); }

Pose* RestOf(Subject* subject, uint32_t region) {
  const auto* asset = plush::format::GetAsset(subject->bytes().data());
  const auto* rest = asset->simulation()->regions()->Get(region)->rest();
  return reinterpret_cast<Pose*>(const_cast<plush::format::Pose*>(rest));
}

TEST_CASE("A sound file has no failure") {
  Subject subject;
  CHECK(Failures(subject.bytes()).empty());
}

TEST_CASE("Wrong numbers are named") {
  Subject s;
  const auto& v = s.asset().visual();
  const auto& sim = s.asset().simulation();
  s.Break(v.positions[5].y, kNan, CheckKind::kNonFinite, "visual.positions", 5);
  s.Break(v.positions[6].z, Above(1e9f), CheckKind::kRange, "visual.positions", 6);
  s.Break(v.normals[0].x, Above(1.01f), CheckKind::kRange, "visual.normals", 0);
  s.Break(v.tangents[2].y, kNan, CheckKind::kNonFinite, "visual.tangents", 2);
  s.Break(v.tangents[4].w, -Above(1.01f), CheckKind::kRange, "visual.tangents", 4);
  s.Break(v.uvs[1].x, kInfinity, CheckKind::kNonFinite, "visual.uvs", 1);
  s.Break(v.weights[3].w, -kInfinity, CheckKind::kNonFinite, "visual.weights", 3);
  s.Break(v.weights[3].z, -Above(1e6f), CheckKind::kRange, "visual.weights", 3);
  s.Break(sim.nodes[7].x, kNan, CheckKind::kNonFinite, "simulation.nodes", 7);
  s.Break(sim.nodes[7].y, -Above(1e9f), CheckKind::kRange, "simulation.nodes", 7);
  s.Break(sim.masses[2], 0.0f, CheckKind::kRange, "simulation.masses", 2);
  s.Break(sim.masses[2], std::nextafter(std::numeric_limits<float>::min(), 0.0f), CheckKind::kRange,
          "simulation.masses", 2);
  s.Break(sim.tet_masses[8], -Above(0.0f), CheckKind::kRange, "simulation.tet_masses", 8);
  s.Break(sim.tet_masses[9], kInfinity, CheckKind::kNonFinite, "simulation.tet_masses", 9);
  s.Break(s.asset().factor().values[1], kNan, CheckKind::kNonFinite, "factor.values", 1);
  s.Break(s.asset().factor().values[1], Above(1e18f), CheckKind::kRange, "factor.values", 1);
}

TEST_CASE("Numbers at the ends of their ranges are sound") {
  Subject s;
  const auto& v = s.asset().visual();
  const auto& sim = s.asset().simulation();
  s.At(v.positions, 5).y = 1e9f;
  s.At(v.positions, 6).y = -1e9f;
  s.At(v.normals, 0).x = -1.01f;
  s.At(v.weights, 3).z = -1e6f;
  s.At(sim.nodes, 7).x = 1e9f;
  s.At(sim.masses, 2) = std::numeric_limits<float>::min();
  s.At(sim.masses, 3) = 1e30f;
  s.At(sim.tet_masses, 8) = 0.0f;
  s.At(s.asset().factor().values, 1) = 1e18f;
  CHECK(Failures(s.bytes()).empty());
}

TEST_CASE("Wrong scalars are named") {
  Subject s;
  auto* root = plush::format::GetAsset(s.bytes().data());
  const auto set = [&]<class T>(const void* table, flatbuffers::voffset_t field, T value) {
    auto* mutable_table = reinterpret_cast<flatbuffers::Table*>(const_cast<void*>(table));
    REQUIRE(mutable_table->SetField<T>(field, value, T{}));
  };
  using Material = plush::format::Material;
  using Simulation = plush::format::Simulation;
  SECTION("components") {
    set(root->simulation(), Simulation::VT_COMPONENTS, 0u);
    s.ExpectOnly(CheckKind::kRange, "simulation.components", 0);
  }
  SECTION("thickness") {
    set(root->collision(), plush::format::Collision::VT_THICKNESS, -1.0f);
    s.ExpectOnly(CheckKind::kRange, "collision.thickness", 0);
  }
  SECTION("tuning") {
    using plush::format::Tuning;
    SECTION("no solver") {
      set(root->tuning(), Tuning::VT_SOLVER, uint8_t{0});
      CHECK(Failures(s.bytes()).size() == 2);  // splitting has no linear iterations
    }
    SECTION("unknown solver") {
      set(root->tuning(), Tuning::VT_SOLVER, uint8_t{3});
      CHECK(Failures(s.bytes()).front().section == "tuning.solver");
    }
    SECTION("splitting with linear iterations") {
      set(root->tuning(), Tuning::VT_SOLVER, uint8_t{1});
      s.ExpectOnly(CheckKind::kRange, "tuning.linear_iterations", 0);
    }
    SECTION("Newton iterations") {
      const uint32_t count = GENERATE(0u, 65u, 0xffffffffu);
      set(root->tuning(), Tuning::VT_NEWTON_ITERATIONS, count);
      s.ExpectOnly(CheckKind::kRange, "tuning.newton_iterations", 0);
    }
    SECTION("linear iterations") {
      const uint32_t count = GENERATE(0u, 10001u, 0xffffffffu);
      set(root->tuning(), Tuning::VT_LINEAR_ITERATIONS, count);
      s.ExpectOnly(CheckKind::kRange, "tuning.linear_iterations", 0);
    }
  }
  SECTION("density") {
    set(root->simulation(), Simulation::VT_DENSITY, -1.0f);
    s.ExpectOnly(CheckKind::kRange, "simulation.density", 0);
  }
  SECTION("Young's modulus") {
    set(root->simulation()->materials()->Get(1), Material::VT_YOUNG, kInfinity);
    s.ExpectOnly(CheckKind::kNonFinite, "simulation.materials.young", 1);
  }
  SECTION("Poisson's ratio") {
    set(root->simulation()->materials()->Get(0), Material::VT_POISSON, 0.5f);
    s.ExpectOnly(CheckKind::kRange, "simulation.materials.poisson", 0);
  }
  SECTION("density of a material") {
    set(root->simulation()->materials()->Get(1), Material::VT_DENSITY, 0.0f);
    s.ExpectOnly(CheckKind::kRange, "simulation.materials.density", 1);
  }
  SECTION("damping") {
    set(root->simulation(), Simulation::VT_DAMPING, GENERATE(-Above(0.0f), Above(10.0f)));
    s.ExpectOnly(CheckKind::kRange, "simulation.damping", 0);
  }
  SECTION("solid volume") {
    set(root->simulation(), Simulation::VT_SOLID_VOLUME, kNan);
    s.ExpectOnly(CheckKind::kNonFinite, "simulation.solid_volume", 0);
  }
  SECTION("median edge") {
    set(root->simulation(), Simulation::VT_MEDIAN_EDGE, 0.0f);
    s.ExpectOnly(CheckKind::kRange, "simulation.median_edge", 0);
  }
  SECTION("dt") {
    set(root->factor(), plush::format::Factor::VT_DT, 0.0f);
    s.ExpectOnly(CheckKind::kRange, "factor.dt", 0);
  }
}

TEST_CASE("Wrong indices and orders are named") {
  Subject s;
  const auto& v = s.asset().visual();
  const auto& sim = s.asset().simulation();
  SECTION("numbers") {
    s.Break(v.indices[8], static_cast<uint32_t>(v.positions.size()), CheckKind::kIndex,
            "visual.indices", 8);
    s.Break(v.tet_ids[2], UINT32_MAX, CheckKind::kIndex, "visual.tet_ids", 2);
    s.Break(sim.tets[39].d, static_cast<uint32_t>(sim.nodes.size()), CheckKind::kIndex,
            "simulation.tets", 39);
    s.Break(sim.tet_materials[17], 2, CheckKind::kIndex, "simulation.tet_materials", 17);
  }
  SECTION("node of a region") {
    const auto nodes = s.asset().region(1).nodes;
    s.At(nodes, nodes.size() - 1) = static_cast<uint32_t>(sim.nodes.size());
    s.ExpectOnly(CheckKind::kIndex, "simulation.regions.nodes", 1);
  }
  SECTION("order of a region") {
    const auto nodes = s.asset().region(0).nodes;
    std::swap(s.At(nodes, 0), s.At(nodes, 1));
    s.ExpectOnly(CheckKind::kOrder, "simulation.regions.nodes", 0);
  }
  SECTION("position of a bind pose") {
    RestOf(&s, 1)->position.y = GENERATE(Above(1e9f), -Above(1e9f));
    s.ExpectOnly(CheckKind::kRange, "simulation.regions.rest", 1);
  }
  SECTION("position of a bind pose that is not finite") {
    RestOf(&s, 1)->position.z = GENERATE(kNan, kInfinity);
    s.ExpectOnly(CheckKind::kNonFinite, "simulation.regions.rest", 1);
  }
  SECTION("rotation of a bind pose") {
    RestOf(&s, 1)->rotation =
        GENERATE(Quat{0.0f, 0.0f, 0.0f, 0.0f}, Quat{0.0f, 0.0f, 0.0f, 1.0011f},
                 Quat{0.6f, 0.0f, 0.7985f, 0.0f});
    s.ExpectOnly(CheckKind::kRange, "simulation.regions.rest", 1);
  }
  SECTION("rotation of a bind pose that is not finite") {
    RestOf(&s, 1)->rotation.x = kNan;
    s.ExpectOnly(CheckKind::kNonFinite, "simulation.regions.rest", 1);
  }
  SECTION("name of a region") {
    const_cast<char&>(s.asset().region(1).name[0]) = 'a';
    s.ExpectOnly(CheckKind::kOrder, "simulation.regions", 1);
  }
  SECTION("first index of a part") {
    const auto* part = plush::format::GetAsset(s.bytes().data())->visual()->parts()->Get(1);
    reinterpret_cast<flatbuffers::Table*>(const_cast<plush::format::Part*>(part))
        ->SetField<uint32_t>(plush::format::Part::VT_NUM_INDICES, part->num_indices() - 3, 0);
    s.ExpectOnly(CheckKind::kCounts, "visual.parts", 2);
  }
}

TEST_CASE("A tet with a repeated node is reported, without its consequences") {
  Subject s;
  Tet& tet = s.At(s.asset().simulation().tets, 3);
  tet.b = tet.a;
  s.ExpectOnly(CheckKind::kOrder, "simulation.tets", 3);
}

TEST_CASE("Everything that is wrong is reported, not only the first thing") {
  Subject s;
  s.At(s.asset().visual().positions, 1).x = kNan;
  s.At(s.asset().visual().positions, 2).x = kNan;
  s.At(s.asset().simulation().masses, 0) = -1.0f;
  s.At(s.asset().factor().values, 0) = kNan;
  const auto failures = Failures(s.bytes());
  REQUIRE(failures.size() == 4);
  CHECK(failures[1].index == 2);
  CHECK(failures[2].section == "simulation.masses");
  CHECK(failures[3].section == "factor.values");
}

TEST_CASE("Regions that share their bytes cannot make the check slow") {
  // 10,000 names for one list of all nodes: checking each would take quadratic time.
  auto content = plush::test::ContentOf(plush::test::TetBox(30, 1, 1, 0.1));
  content.regions.clear();
  for (uint32_t i = 10000; i < 20000; ++i) content.regions.push_back({std::to_string(i), {}});
  content.regions[0].nodes.resize(content.rest.nodes.size());
  std::iota(content.regions[0].nodes.begin(), content.regions[0].nodes.end(), 0u);
  content.regions[1].nodes = {0};
  ExactBuffer file(plush::tools::WriteAsset(content).value());
  const auto* regions = plush::format::GetAsset(file.bytes().data())->simulation()->regions();
  // Region 0 has its own table layout. Point every other region at region 0's table.
  auto* offsets =
      reinterpret_cast<uint8_t*>(const_cast<void*>(static_cast<const void*>(regions->Data())));
  const auto* shared = reinterpret_cast<const uint8_t*>(regions->Get(0));
  for (uint32_t i = 1; i < regions->size(); ++i) {
    uint8_t* place = offsets + 4 * i;
    flatbuffers::WriteScalar(place, static_cast<uint32_t>(shared - place));
  }
  const auto failures = Failures(file.bytes());
  REQUIRE_FALSE(failures.empty());
  CHECK(failures.back().section == "simulation.regions");
  CHECK(failures.back().kind == CheckKind::kCounts);
  CHECK(failures.size() < 10000);
}

TEST_CASE("Materials that share their bytes cannot make the check of names slow") {
  auto content = plush::test::ContentOf(plush::test::TetBox(1, 1, 1, 0.1));
  content.materials.assign(1000, {std::string(1000, 'a'), {}});
  const size_t file_bytes = plush::tools::WriteAsset(content).value().size();
  for (auto& [name, material] : content.materials) name.clear();
  content.materials[0].name = std::string(1000, 'a');
  ExactBuffer file(plush::tools::WriteAsset(content).value());
  REQUIRE(file.bytes().size() < file_bytes / 10);
  // Point every other material's name at that of material 0.
  const auto* materials = plush::format::GetAsset(file.bytes().data())->simulation()->materials();
  const auto* shared = reinterpret_cast<const uint8_t*>(materials->Get(0)->name());
  for (uint32_t i = 1; i < materials->size(); ++i) {
    auto* table = reinterpret_cast<flatbuffers::Table*>(
        const_cast<plush::format::Material*>(materials->Get(i)));
    REQUIRE(table->SetPointer(plush::format::Material::VT_NAME, shared));
  }
  const auto failures = Failures(file.bytes());
  REQUIRE(failures.size() == 1);
  CHECK(failures[0].section == "simulation.materials");
  CHECK(failures[0].kind == CheckKind::kCounts);
}

TEST_CASE("A body without materials is refused") {
  auto content = plush::test::ContentOf(plush::test::SingleTet());
  ExactBuffer file(plush::tools::WriteAsset(content).value());
  const auto* materials = plush::format::GetAsset(file.bytes().data())->simulation()->materials();
  *const_cast<uint32_t*>(reinterpret_cast<const uint32_t*>(materials)) = 0;
  const auto failures = Failures(file.bytes());
  REQUIRE(failures.size() == 1);
  CHECK(failures[0].section == "simulation.materials");
  CHECK(failures[0].kind == CheckKind::kCounts);
}

TEST_CASE("Parts whose counts only sum up to the indices in 32 bits are refused") {
  auto content = plush::test::ContentOf(plush::test::TetBox(2, 1, 1, 0.1));
  content.parts.resize(4, content.parts.back());
  const auto quarter = static_cast<uint32_t>(content.indices.size() / 4);
  for (uint32_t i = 0; i < 4; ++i) {
    content.parts[i].first_index = quarter * i;
    content.parts[i].num_indices = quarter;
  }
  ExactBuffer file(plush::tools::WriteAsset(content).value());
  const auto* visual = plush::format::GetAsset(file.bytes().data())->visual();
  const uint32_t num_indices = visual->indices()->size();
  uint32_t first = 0;
  for (uint32_t i = 0; i < 4; ++i) {
    const uint32_t count = i < 3 ? UINT32_MAX : num_indices + 3;  // each a multiple of 3
    REQUIRE(count % 3 == 0);
    auto* part = reinterpret_cast<flatbuffers::Table*>(
        const_cast<plush::format::Part*>(visual->parts()->Get(i)));
    if (i > 0) REQUIRE(part->SetField<uint32_t>(plush::format::Part::VT_FIRST_INDEX, first, 0u));
    REQUIRE(part->SetField<uint32_t>(plush::format::Part::VT_NUM_INDICES, count, 0u));
    first += count;
  }
  REQUIRE(first == num_indices);
  const auto failures = Failures(file.bytes());
  REQUIRE_FALSE(failures.empty());
  CHECK(failures[0].section == "visual.parts");
}

TEST_CASE("A shortened vector is reported as a mismatch of counts") {
  Subject s;
  const auto shorten = [&](auto view, const char* section) {
    auto* length = const_cast<uint32_t*>(reinterpret_cast<const uint32_t*>(view.data()) - 1);
    --*length;
    s.ExpectOnly(CheckKind::kCounts, section, 0);
    ++*length;
  };
  shorten(s.asset().visual().normals, "visual.normals");
  shorten(s.asset().visual().tangents, "visual.tangents");
  shorten(s.asset().visual().uvs, "visual.uvs");
  shorten(s.asset().visual().tet_ids, "visual.tet_ids");
  shorten(s.asset().visual().weights, "visual.weights");
  shorten(s.asset().visual().indices, "visual.indices");
  shorten(s.asset().simulation().masses, "simulation.masses");
  shorten(s.asset().simulation().tet_slots, "simulation.tet_slots");
  shorten(s.asset().simulation().tet_masses, "simulation.tet_masses");
  shorten(s.asset().simulation().tet_materials, "simulation.tet_materials");
  shorten(s.asset().simulation().clusters, "simulation.clusters");
  shorten(s.asset().factor().supernode_of, "factor.supernode_of");
  shorten(s.asset().factor().rows, "factor.rows");
  shorten(s.asset().factor().values, "factor.values");
  shorten(s.asset().collision().source_triangles, "collision.source_triangles");
}

}  // namespace asset_checks_test

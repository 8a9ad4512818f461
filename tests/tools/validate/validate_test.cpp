// SPDX-License-Identifier: MIT
// Breaks each field in turn: each is found under its code; a sound file has no finding.
#include "validate/validate.h"

#include "plush/asset.h"
#include "plush/format/factor_panels.h"
#include "plush/format/tet_block.h"

#include "bake/bake.h"
#include "plush_generated.h"
#include "shapes/shape_asset.h"
#include "shapes/tet_shapes.h"
#include "tools/validate/damage.h"

#include <catch2/catch.hpp>

#include <cmath>
#include <functional>
#include <limits>
#include <string>

using plush::Asset;
using plush::test::ExactBuffer;
using plush::tests::At;
using plush::tests::Text;
using plush::tools::FindingList;

namespace validate_test {

// The number of tet `t` in one row of its block.
template <class Row>
float& InLane(const plush::SimulationView& s, size_t t, const Row& row) {
  return const_cast<float&>(row[s.LaneOf(t)]);
}

// Index of the largest number of D^-1 in the last supernode.
size_t LastDiagonal(const plush::FactorView& factor) {
  const plush::Supernode& s = factor.supernodes.back();
  return s.first_value + plush::BlockValues(s.num_rows, s.num_columns) +
         plush::BlockIndex(s.num_columns, s.num_columns, s.num_columns - 1, s.num_columns - 1);
}

// Index of the first row of the first supernode with two or more rows.
size_t FirstRows(const plush::FactorView& factor) {
  for (const plush::Supernode& s : factor.supernodes) {
    if (s.num_rows >= 2) return s.first_row;
  }
  return 0;
}

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

std::vector<std::byte> BarBytes() {
  auto content = plush::test::TwoMaterialContentOf(plush::test::TetBox(4, 2, 1, 0.1, 0.05));
  plush::test::AddClusters(0, &content);
  return plush::tools::WriteAsset(content).value();
}

template <class T>
void SetScalar(const void* table, flatbuffers::voffset_t field, T value) {
  auto* changed = reinterpret_cast<flatbuffers::Table*>(const_cast<void*>(table));
  REQUIRE(changed->SetField<T>(field, value, T{}));
}

FindingList FindingsAfter(const std::function<void(const Asset&)>& damage) {
  return plush::tests::FindingsAfter(BarBytes(), damage);
}

const plush::format::Asset* Root(const Asset& asset) {
  return plush::format::GetAsset(asset.bytes().data());
}

struct Damage {
  const char* name;
  const char* code;
  std::function<void(const Asset&)> apply;
};

// Damage to the meaning of numbers: such a file opens.
const Damage kSemantic[] = {
    {"a node moved a little", "FILE_REST_DATA",
     [](const Asset& a) { At(a.simulation().nodes, 3).x += 1e-4f; }},
    {"a node moved through a tet", "FILE_REST_DATA",
     [](const Asset& a) { At(a.simulation().nodes, 3).x += 5.0f; }},
    {"a volume", "FILE_REST_DATA",
     [](const Asset& a) {
       const plush::SimulationView& s = a.simulation();
       InLane(s, 7, s.BlockOf(7).det_dm_inv) *= 1.00001f;
     }},
    {"an entry of Dm^-1", "FILE_REST_DATA",
     [](const Asset& a) {
       const plush::SimulationView& s = a.simulation();
       for (const auto& row : s.BlockOf(5).dm_inv) InLane(s, 5, row) *= 1.00001f;
     }},
    {"a mass", "FILE_REST_DATA", [](const Asset& a) { At(a.simulation().masses, 0) *= 1.001f; }},
    {"stiffness", "FILE_REST_DATA",
     [](const Asset& a) {
       const plush::SimulationView& s = a.simulation();
       InLane(s, 0, s.BlockOf(0).stiffness) *= 1.00001f;
     }},
    {"bulk", "FILE_REST_DATA",
     [](const Asset& a) {
       const plush::SimulationView& s = a.simulation();
       InLane(s, 0, s.BlockOf(0).bulk) *= 1.00001f;
     }},
    {"Young's modulus", "FILE_REST_DATA",
     [](const Asset& a) {
       SetScalar(Root(a)->simulation()->materials()->Get(1), plush::format::Material::VT_YOUNG,
                 4.1e5f);
     }},
    {"Poisson's ratio", "FILE_REST_DATA",
     [](const Asset& a) {
       SetScalar(Root(a)->simulation()->materials()->Get(0), plush::format::Material::VT_POISSON,
                 0.3f);
     }},
    {"a material's density", "FILE_REST_DATA",
     [](const Asset& a) {
       SetScalar(Root(a)->simulation()->materials()->Get(0), plush::format::Material::VT_DENSITY,
                 999.0f);
     }},
    {"a tet's material", "FILE_REST_DATA",
     [](const Asset& a) { At(a.simulation().tet_materials, 5) = 1; }},
    {"a tet's mass", "FILE_REST_DATA",
     [](const Asset& a) { At(a.simulation().tet_masses, 5) *= 1.001f; }},
    {"density", "FILE_REST_DATA",
     [](const Asset& a) {
       SetScalar(Root(a)->simulation(), plush::format::Simulation::VT_DENSITY, 999.0f);
     }},
    {"components", "FILE_REST_DATA",
     [](const Asset& a) {
       SetScalar(Root(a)->simulation(), plush::format::Simulation::VT_COMPONENTS, 2u);
     }},
    {"median edge", "FILE_REST_DATA",
     [](const Asset& a) {
       SetScalar(Root(a)->simulation(), plush::format::Simulation::VT_MEDIAN_EDGE, 0.2f);
     }},
    {"a factor entry", "FILE_FACTOR", [](const Asset& a) { At(a.factor().values, 0) *= 1.00001f; }},
    {"the last factor entry", "FILE_FACTOR",
     [](const Asset& a) { At(a.factor().values, LastDiagonal(a.factor())) *= 1.00001f; }},
    {"the factor's time step", "FILE_FACTOR",
     [](const Asset& a) { SetScalar(Root(a)->factor(), plush::format::Factor::VT_DT, 0.0101f); }},
    {"a weight", "FILE_EMBEDDING", [](const Asset& a) { At(a.visual().weights, 11).x += 1e-4f; }},
    {"two weights with the same sum", "FILE_EMBEDDING",
     [](const Asset& a) {
       At(a.visual().weights, 11).x += 1e-3f;
       At(a.visual().weights, 11).y -= 1e-3f;
     }},
    {"a rest position", "FILE_EMBEDDING",
     [](const Asset& a) { At(a.visual().positions, 0).z += 1e-3f; }},
    {"a carrying tet", "FILE_EMBEDDING", [](const Asset& a) { At(a.visual().tet_ids, 0) = 30; }},
    {"a normal", "FILE_RANGE",
     [](const Asset& a) {
       At(a.visual().normals, 0) = {0, 0, 0.5f};
     }},
    {"a tangent", "FILE_RANGE",
     [](const Asset& a) {
       At(a.visual().tangents, 3) = {0, 0, 0.99f, 1};
     }},
    {"the sign of a bitangent", "FILE_RANGE",
     [](const Asset& a) { At(a.visual().tangents, 5).w = 0.3f; }},
    {"the settings", "FILE_STRUCTURE",
     [](const Asset& a) { const_cast<char&>(a.settings()[0]) = '!'; }},
};

// Damage to the structure, which Open refuses too.
const Damage kStructural[] = {
    {"an index", "FILE_INDEX", [](const Asset& a) { At(a.visual().indices, 0) = 1u << 20; }},
    {"a tet's node", "FILE_INDEX", [](const Asset& a) { At(a.simulation().tets, 0).a = 1u << 20; }},
    {"a carrying tet", "FILE_INDEX", [](const Asset& a) { At(a.visual().tet_ids, 0) = 1u << 20; }},
    {"a tet's material", "FILE_INDEX",
     [](const Asset& a) { At(a.simulation().tet_materials, 0) = 2; }},
    {"a factor row", "FILE_INDEX",
     [](const Asset& a) { At(a.factor().rows, FirstRows(a.factor())) = 1u << 20; }},
    {"a NaN position", "FILE_NON_FINITE",
     [](const Asset& a) { At(a.visual().positions, 0).x = kNan; }},
    {"a NaN node", "FILE_NON_FINITE", [](const Asset& a) { At(a.simulation().nodes, 0).x = kNan; }},
    {"a NaN factor entry", "FILE_NON_FINITE",
     [](const Asset& a) { At(a.factor().values, 0) = kNan; }},
    {"a negative volume", "FILE_RANGE",
     [](const Asset& a) {
       const plush::SimulationView& s = a.simulation();
       InLane(s, 0, s.BlockOf(0).det_dm_inv) = -1.0f;
     }},
    {"a slot", "FILE_INDEX", [](const Asset& a) { At(a.simulation().tet_slots, 5) = 1u << 20; }},
    {"the slot of another tet", "FILE_ORDER",
     [](const Asset& a) { At(a.simulation().tet_slots, 5) = a.simulation().tet_slots[6]; }},
    {"a node in a block", "FILE_INDEX",
     [](const Asset& a) {
       const_cast<uint32_t&>(a.simulation().blocks[0].nodes[2][0]) = 1u << 20;
     }},
    {"the supernode of a column", "FILE_ORDER",
     [](const Asset& a) { At(a.factor().supernode_of, 0) = 1u << 20; }},
    {"the order of regions", "FILE_ORDER",
     [](const Asset& a) { const_cast<char&>(a.region(0).name[0]) = 'z'; }},
    {"the order of factor rows", "FILE_ORDER",
     [](const Asset& a) {
       const size_t first = FirstRows(a.factor());
       std::swap(At(a.factor().rows, first), At(a.factor().rows, first + 1));
     }},
    {"a repeated node in a tet", "FILE_ORDER",
     [](const Asset& a) {
       plush::Tet& tet = At(a.simulation().tets, 0);
       tet.b = tet.a;
     }},
    {"a length", "FILE_COUNTS",
     [](const Asset& a) {
       --const_cast<uint32_t&>(reinterpret_cast<const uint32_t*>(a.visual().uvs.data())[-1]);
     }},
    {"another version", "FILE_VERSION",
     [](const Asset& a) {
       SetScalar<uint16_t>(Root(a), plush::format::Asset::VT_FORMAT_MINOR, 1);
     }},
    {"another layout", "FILE_LAYOUT",
     [](const Asset& a) {
       SetScalar<uint64_t>(Root(a), plush::format::Asset::VT_LAYOUT_FINGERPRINT, 1);
     }},
    {"the identifier", "FILE_NOT_PLUSH", [](const Asset& a) { At(a.bytes(), 4) = std::byte{'X'}; }},
};

TEST_CASE("A written file validates without findings") {
  FindingList findings;
  plush::tools::ValidateAsset(BarBytes(), &findings);
  INFO(Text(findings));
  CHECK(findings.all().empty());
}

TEST_CASE("Stiff, soft, tiny and huge bodies validate without findings") {
  const auto check = [](double cell, double young, double poisson, double density, double dt) {
    FindingList findings;
    const auto mesh = plush::test::TetBox(3, 2, 2, cell, 0.08);
    plush::tools::ValidateAsset(plush::test::AssetBytesOf(mesh, {young, poisson, density}, dt),
                                &findings);
    INFO("cell " << cell << ", E " << young << ", nu " << poisson << ", rho " << density << "\n"
                 << Text(findings));
    CHECK(findings.all().empty());
  };
  check(0.1, 1e11, 0.4999, 1000, 0.05);
  check(0.1, 1.0, 0.0, 1.0, 1e-4);
  check(1e-4, 1e5, 0.45, 1000, 0.01);
  check(1e3, 1e9, 0.3, 7800, 1.0);
  for (const double cell : {1e-5, 1e-6, 1e-7}) check(cell, 1e5, 0.45, 1000, 0.01);
}

TEST_CASE("Damage of meaning is found, in files that open") {
  for (const Damage& damage : kSemantic) {
    const FindingList findings = FindingsAfter([&](const Asset& asset) {
      damage.apply(asset);
      Asset changed;
      REQUIRE(changed.Open(asset.bytes()).ok());
    });
    INFO(damage.name << "\n" << Text(findings));
    CHECK(findings.Has(damage.code));
    CHECK_FALSE(findings.Has("FILE_CONTENT_HASH"));
  }
}

TEST_CASE("A region with nodes before num_free is found") {
  plush::tools::BakeSettings settings;
  settings.pins_json = R"({"regions": [{"name": "end", "box": [[-1, -1, -1], [0.05, 1, 1]]}]})";
  FindingList baking;
  const auto baked = plush::tools::Bake(
      plush::tools::ModelFromTets(plush::test::TetBox(8, 2, 2, 0.1)), settings, &baking);
  REQUIRE(baked.ok());
  FindingList none;
  plush::tools::ValidateAsset(baked.value().bytes, &none);
  CHECK(none.all().empty());
  const FindingList findings = plush::tests::FindingsAfter(baked.value().bytes, [](const Asset& a) {
    REQUIRE(a.region(0).nodes.size() == 9);
    REQUIRE(a.factor().num_free == a.simulation().nodes.size() - 9);
    At(a.region(0).nodes, 0) = 0;
  });
  INFO(Text(findings));
  CHECK(findings.Has("FILE_REST_DATA"));
}

TEST_CASE("A node behind num_free that belongs to no region is found, also beside joints") {
  plush::tools::ImportedModel model =
      plush::tools::ModelFromTets(plush::test::TetBox(8, 2, 2, 0.1));
  model.surface.joints.resize(1);
  model.surface.joints[0].name = "end";
  for (uint32_t v = 0; v < model.surface.positions.size(); ++v) {
    if (model.surface.positions[v].x < 0.05) model.surface.joints[0].weights.push_back({v, 1.0f});
  }
  plush::tools::BakeSettings settings;
  settings.pins_json = R"({"regions": [{"joint": "end", "last": true}]})";
  FindingList baking;
  const auto baked = plush::tools::Bake(model, settings, &baking);
  REQUIRE(baked.ok());
  FindingList none;
  plush::tools::ValidateAsset(baked.value().bytes, &none);
  CHECK(none.all().empty());
  const FindingList findings = plush::tests::FindingsAfter(baked.value().bytes, [](const Asset& a) {
    REQUIRE(a.region(0).has_joint);
    REQUIRE(a.factor().num_free == a.simulation().nodes.size() - 9);
    At(a.region(0).nodes, 0) = 0;
  });
  INFO(Text(findings));
  CHECK(findings.Has("FILE_REST_DATA"));
}

TEST_CASE("Damage of structure is found") {
  for (const Damage& damage : kStructural) {
    FindingList findings;
    if (std::string(damage.code) == "FILE_NOT_PLUSH") {
      ExactBuffer file(BarBytes());
      file.bytes()[4] = std::byte{'X'};
      plush::tools::ValidateAsset(file.bytes(), &findings);
    } else {
      findings = FindingsAfter(damage.apply);
    }
    INFO(damage.name << "\n" << Text(findings));
    CHECK(findings.Has(damage.code));
  }
}

TEST_CASE("Truncated, empty and foreign bytes are named") {
  const auto code_of = [](std::span<const std::byte> bytes) {
    FindingList findings;
    plush::tools::ValidateAsset(bytes, &findings);
    REQUIRE(findings.all().size() == 1);
    return findings.all()[0].code;
  };
  const auto bytes = BarBytes();
  CHECK(code_of({}) == "FILE_TRUNCATED");
  CHECK(code_of(std::span(bytes).first(bytes.size() / 2)) == "FILE_TRUNCATED");
  CHECK(code_of(std::vector<std::byte>(1000, std::byte{'x'})) == "FILE_NOT_PLUSH");
  auto longer = bytes;
  longer.resize(bytes.size() + 32);
  CHECK(code_of(longer) == "FILE_STRUCTURE");
}

TEST_CASE("A changed byte anywhere breaks the content hash") {
  auto bytes = BarBytes();
  bytes[bytes.size() - 1] ^= std::byte{1};
  FindingList findings;
  plush::tools::ValidateAsset(bytes, &findings);
  CHECK(findings.Has("FILE_CONTENT_HASH"));
}

TEST_CASE("Everything that is wrong is found at once") {
  const FindingList findings = FindingsAfter([](const Asset& a) {
    At(a.visual().positions, 0).x = kNan;
    At(a.visual().positions, 9).x = kNan;
    At(a.visual().indices, 0) = 1u << 20;
    At(a.simulation().masses, 1) *= 2.0f;  // the factor no longer belongs to the masses
    At(a.visual().weights, 20).x += 1.0f;
  });
  INFO(Text(findings));
  for (const char* code :
       {"FILE_NON_FINITE", "FILE_INDEX", "FILE_REST_DATA", "FILE_FACTOR", "FILE_EMBEDDING"}) {
    CHECK(findings.Has(code));
  }
  REQUIRE(findings.all()[0].code == "FILE_NON_FINITE");
  CHECK(findings.all()[0].count == 2);
  CHECK(findings.all()[0].places[1].element == 9);
}

TEST_CASE("A cage node without tets is found") {
  auto content = plush::test::ContentOf(plush::test::TetBox(1, 1, 1, 0.1));
  plush::test::AddClusters(0, &content);
  auto& rest = content.rest;
  // Adds a node with a separate column. The index of the padding moves up by one.
  const auto num_nodes = static_cast<uint32_t>(rest.nodes.size());
  for (uint32_t& row : rest.rows) row += row == num_nodes ? 1 : 0;
  for (plush::TetBlock& block : rest.blocks) {
    for (auto& row : block.nodes) {
      for (uint32_t& node : row) node += node == num_nodes ? 1 : 0;
    }
  }
  rest.supernode_of.push_back(static_cast<uint32_t>(rest.supernodes.size()));
  rest.supernodes.push_back({num_nodes, 1, static_cast<uint32_t>(rest.rows.size()), 0,
                             static_cast<uint32_t>(rest.values.size())});
  rest.values.resize(rest.values.size() + plush::PanelValues(rest.supernodes.back()), 0.0f);
  rest.values[rest.supernodes.back().first_value] = 1.0f;
  rest.nodes.push_back({5, 5, 5});
  rest.masses.push_back(1.0f);
  FindingList findings;
  plush::tools::ValidateAsset(plush::tools::WriteAsset(content).value(), &findings);
  CHECK(findings.Has("FILE_UNREFERENCED_NODE"));
}

TEST_CASE("A cluster in two pieces is found") {
  auto content = plush::test::TwoMaterialContentOf(plush::test::TetBox(4, 2, 1, 0.1, 0.05));
  plush::test::AddClusters(3, &content);
  const auto sound = plush::tools::WriteAsset(content).value();
  CHECK(Text(plush::tests::FindingsAfter(sound, [](const Asset&) {})) == "");
  const auto cut = [](const Asset& a) {
    const auto of_nodes = a.simulation().clusters;
    const auto& nodes = a.simulation().nodes;
    // The node farthest from node 0 joins its cluster.
    size_t far = 0;
    const auto distance = [&](size_t i) { return std::abs(nodes[i].x - nodes[0].x); };
    for (size_t i = 0; i < nodes.size(); ++i) far = distance(i) > distance(far) ? i : far;
    REQUIRE(of_nodes[far] != of_nodes[0]);
    At(of_nodes, far) = of_nodes[0];
  };
  const FindingList findings = plush::tests::FindingsAfter(sound, cut);
  INFO(Text(findings));
  CHECK(findings.Has("FILE_REST_DATA"));
  CHECK(Text(findings).find("3 clusters are in 4 pieces") != std::string::npos);
}

}  // namespace validate_test

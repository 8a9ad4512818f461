// SPDX-License-Identifier: MIT
// Measured shapes of known tets, and the document of `plush info --json`.
#include "report/asset_info.h"

#include "plush/format/tet_block.h"

#include "shapes/shape_asset.h"
#include "shapes/tet_shapes.h"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include <cmath>
#include <string>
#include <tuple>
#include <utility>

using plush::Asset;
using plush::test::ExactBuffer;

namespace asset_info_test {

// A regular tet with edges of length `size`, turned and moved so that no coordinate is special.
plush::tools::TetMesh RegularTet(double size) {
  const double s = size / std::sqrt(8.0);
  return {{{s + 1, s, s}, {1 - s, -s, s}, {1 - s, s, -s}, {s + 1, -s, -s}}, {{0, 1, 2, 3}}};
}

TEST_CASE("A regular tet has quality 1 and six dihedral angles of acos(1/3)") {
  const ExactBuffer file(plush::test::AssetBytesOf(RegularTet(2.0)));
  Asset asset;
  REQUIRE(asset.Open(file.bytes()).ok());
  const auto shapes = plush::tools::MeasureTets(asset.simulation());
  const double angle = std::acos(1.0 / 3.0) * 180.0 / std::acos(-1.0);
  CHECK(shapes.min_quality == Approx(1.0).epsilon(1e-6));
  CHECK(shapes.mean_quality == Approx(1.0).epsilon(1e-6));
  CHECK(shapes.min_dihedral_deg == Approx(angle).epsilon(1e-6));
  CHECK(shapes.max_dihedral_deg == Approx(angle).epsilon(1e-6));
  CHECK(shapes.mean_min_dihedral_deg == Approx(angle).epsilon(1e-6));
  CHECK(shapes.volume == Approx(8.0 / (6.0 * std::sqrt(2.0))).epsilon(1e-6));
}

TEST_CASE("A corner tet has three right angles") {
  const ExactBuffer file(plush::test::AssetBytesOf(plush::test::SingleTet(0.1)));
  Asset asset;
  REQUIRE(asset.Open(file.bytes()).ok());
  const auto shapes = plush::tools::MeasureTets(asset.simulation());
  CHECK(shapes.max_dihedral_deg == Approx(90.0).epsilon(1e-6));
  CHECK(shapes.min_dihedral_deg ==
        Approx(std::acos(1.0 / std::sqrt(3.0)) * 180.0 / std::acos(-1.0)).epsilon(1e-6));
}

TEST_CASE("Boundary faces and branches are counted") {
  plush::tools::TetMesh mesh = plush::test::SingleTet();
  mesh.nodes.push_back({1, 1, 1});
  mesh.tets.push_back({1, 2, 3, 4});
  const auto topology_of = [](const plush::tools::TetMesh& tets) {
    const ExactBuffer file(plush::test::AssetBytesOf(tets));
    Asset asset;
    REQUIRE(asset.Open(file.bytes()).ok());
    return plush::tools::MeasureTopology(asset.simulation());
  };
  CHECK(topology_of(mesh).boundary_faces == 6);
  CHECK(topology_of(mesh).branches == 0);
  mesh.nodes.push_back({2, 1, 1});
  mesh.tets.push_back({1, 2, 3, 5});  // a second strand on the same face
  CHECK(topology_of(mesh).boundary_faces == 9);
  CHECK(topology_of(mesh).branches == 1);
}

TEST_CASE("The document has the promised keys, and sections that add up to the file") {
  const auto mesh = plush::test::TetBox(4, 2, 1, 0.1);
  const ExactBuffer file(plush::test::AssetBytesOf(mesh));
  Asset asset;
  REQUIRE(asset.Open(file.bytes()).ok());
  const nlohmann::json info = plush::tools::AssetInfo(asset);
  for (const char* key : {"/format_version",
                          "/tool_version",
                          "/content_hash",
                          "/file_bytes",
                          "/visual/parts",
                          "/visual/vertices",
                          "/visual/triangles",
                          "/simulation/nodes",
                          "/simulation/tets",
                          "/simulation/components",
                          "/simulation/volume_m3",
                          "/simulation/mass_kg",
                          "/simulation/min_dihedral_deg",
                          "/simulation/max_dihedral_deg",
                          "/simulation/mean_min_dihedral_deg",
                          "/simulation/boundary_faces",
                          "/simulation/branches",
                          "/simulation/volume_ratio",
                          "/simulation/mean_quality",
                          "/simulation/min_quality",
                          "/simulation/factor_nonzeros",
                          "/simulation/factor_values",
                          "/simulation/clusters",
                          "/simulation/straddling_tets",
                          "/simulation/supernodes",
                          "/simulation/blocks",
                          "/simulation/block_fill",
                          "/simulation/rest_bytes_per_tet",
                          "/collision/tets",
                          "/collision/patches",
                          "/collision/triangles",
                          "/collision/vertices",
                          "/collision/record_bytes",
                          "/collision/bytes_per_triangle",
                          "/collision/thickness_m",
                          "/sections",
                          "/settings"}) {
    INFO(key);
    CHECK(info.contains(nlohmann::json::json_pointer(key)));
  }
  CHECK(info["format_version"] == "0.10");
  CHECK(info["content_hash"].get<std::string>().size() == 16);
  CHECK(info["simulation"]["tets"] == 40);
  CHECK(info["simulation"]["volume_m3"].get<double>() ==
        Approx(plush::test::Volume(mesh)).epsilon(1e-6));
  CHECK(info["simulation"]["mass_kg"].get<double>() == Approx(8.0).epsilon(1e-5));
  CHECK(info["simulation"]["boundary_faces"] == 56);
  CHECK(info["simulation"]["branches"] == 0);
  CHECK(info["simulation"]["volume_ratio"].get<double>() == Approx(1.0).epsilon(1e-6));
  CHECK(info["settings"]["shape"] == "procedural");
  uint64_t total = 0;
  for (const auto& section : info["sections"]) total += section["bytes"].get<uint64_t>();
  CHECK(total == info["file_bytes"].get<uint64_t>());
}

TEST_CASE("Deeply nested settings do not crash the program") {
  auto content = plush::test::ContentOf(plush::test::SingleTet(0.1));
  content.settings_json = std::string(200000, '[') + std::string(200000, ']');
  const ExactBuffer file(plush::tools::WriteAsset(content).value());
  Asset asset;
  REQUIRE(asset.Open(file.bytes()).ok());
  CHECK(plush::tools::AssetInfo(asset).dump().size() < 5000);
  CHECK(plush::tools::AssetInfoText(asset).size() < 5000);
}

TEST_CASE("Clusters and the tets that straddle them are counted") {
  const auto mesh = plush::test::TetBox(4, 1, 1, 0.1);
  auto content = plush::test::ContentOf(mesh);
  plush::test::AddClusters(0, &content);
  const auto info_of = [&] {
    const ExactBuffer file(plush::tools::WriteAsset(content).value());
    Asset asset;
    REQUIRE(asset.Open(file.bytes()).ok());
    return std::pair(plush::tools::AssetInfo(asset)["simulation"],
                     plush::tools::AssetInfoText(asset));
  };
  auto [info, text] = info_of();
  CHECK(info["clusters"] == 0);
  CHECK(info["straddling_tets"] == 0.0);
  CHECK(text.find("clusters: 0,") != std::string::npos);
  // The five tets of the second of four cubes straddle.
  content.rest.clusters.count = 2;
  for (const plush::Vec3& node : content.rest.nodes) {
    content.rest.clusters.of_nodes.push_back(node.x > 0.15f ? 1 : 0);
  }
  std::tie(info, text) = info_of();
  CHECK(info["clusters"] == 2);
  CHECK(info["straddling_tets"] == 0.25);
  CHECK(text.find("clusters: 2, straddled by 25.0% of the tets\n") != std::string::npos);
}

}  // namespace asset_info_test

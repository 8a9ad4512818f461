// SPDX-License-Identifier: MIT
#include "report/source_report.h"

#include "tools/procedural_meshes.h"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

using plush::tools::ImportedModel;
using plush::tools::SourceJson;
using plush::tools::SourceText;

TEST_CASE("A source's facts are its mesh's") {
  ImportedModel model = {.surface = plush::tests::MakeBox({0, 0, 0}, {1, 2, 3}),
                         .source_hash = 0xAB,
                         .format = "obj",
                         .unit_m = 0.01};
  model.surface.attributes = {{"_pin", std::vector<float>(8)}};
  model.surface.extras = {{"scene", "{}"}};
  const nlohmann::json json = SourceJson("a.obj", model, {8, 1});
  CHECK(json["vertices"] == 8);
  CHECK(json["triangles"] == 12);
  CHECK(json["hash"] == "00000000000000ab");
  CHECK(json["attributes"] == nlohmann::json({"_pin"}));
  CHECK(json["extras"][0]["owner"] == "scene");
  CHECK(json["bounding_box"]["high"][2] == 3.0);
  CHECK(json["area_m2"] == 22.0);
  CHECK(json["has_uvs"] == false);
  const std::string text = SourceText("a.obj", model, {8, 1});
  CHECK(text.find("a.obj: obj, 1 part, 12 triangles, 8 vertices at 8 points, 1 component\n") == 0);
  CHECK(text.find("1 x 2 x 3 m, from (0, 0, 0) to (1, 2, 3); unit 0.01 m, Y up") !=
        std::string::npos);
}

TEST_CASE("An empty model has a box of no size") {
  const nlohmann::json json = SourceJson("x", {}, {});
  CHECK(json["bounding_box"]["low"] == nlohmann::json({0.0, 0.0, 0.0}));
  CHECK(json["parts"].empty());
}

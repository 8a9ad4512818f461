// SPDX-License-Identifier: MIT
#include "import/source_conventions.h"

#include <catch2/catch.hpp>

#include <limits>

using plush::tools::ConventionsOf;

TEST_CASE("FBX files give their unit in centimetres and their up axis") {
  CHECK(ConventionsOf("fbx", "", {}).unit_m == 0.01);
  CHECK(ConventionsOf("fbx", "", {100.0, 1}).unit_m == 1.0);
  CHECK(ConventionsOf("fbx", "", {2.54, 2}).unit_m == Approx(0.0254));
  CHECK(ConventionsOf("fbx", "", {1.0, 0}).up == 'X');
  CHECK(ConventionsOf("fbx", "", {1.0, 1}).up == 'Y');
  CHECK(ConventionsOf("fbx", "", {1.0, 2}).up == 'Z');
  for (const double broken : {0.0, -1.0, std::numeric_limits<double>::infinity(),
                              std::numeric_limits<double>::quiet_NaN()}) {
    CHECK(ConventionsOf("fbx", "", {broken, 77}).unit_m == 0.01);
  }
}

TEST_CASE("COLLADA's unit is known and was applied by the importer") {
  const auto inch = ConventionsOf("dae", "<COLLADA><asset><unit name='in' meter=\"0.0254\"/>", {});
  CHECK(inch.unit_m == 0.0254);
  CHECK(inch.applied_unit_m == 0.0254);
  for (const char* head : {"", "<unit", "<unit meter=", "<unit meter=\"", "<unit meter=\"zwei\"/>",
                           "<unit meter=\"-3\"/>", "<unit meter=\"nan\"/>", "<unit>meter=\"5\""}) {
    CHECK(ConventionsOf("dae", head, {}).unit_m == 1.0);
  }
}

TEST_CASE("AMF names its unit, millimetres by default") {
  CHECK(ConventionsOf("amf", "<?xml?>\n<amf unit=\"inch\" version=\"1.1\">", {}).unit_m == 0.0254);
  CHECK(ConventionsOf("amf", "<amf version='1' unit='feet'>", {}).unit_m == 0.3048);
  CHECK(ConventionsOf("amf", "<amf>", {}).unit_m == 1e-3);
  CHECK(ConventionsOf("amf", "<amf unit=\"furlong\">", {}).unit_m == 1e-3);
  CHECK(ConventionsOf("amf", "<amf>", {}).up == 'Z');
}

TEST_CASE("Formats without unit and axis are in metres with Y up") {
  for (const char* format : {"obj", "stl", "ply", "off", "glTF2", "unknown"}) {
    const auto conventions = ConventionsOf(format, "<unit meter=\"5\"/>", {5.0, 2});
    CHECK(conventions.unit_m == 1.0);
    CHECK(conventions.applied_unit_m == 1.0);
    CHECK(conventions.up == 'Y');
  }
  CHECK(ConventionsOf("blend", "", {}).up == 'Z');
  CHECK(ConventionsOf("3mf", "", {}).unit_m == 1e-3);
}

// SPDX-License-Identifier: MIT
// Strict JSON objects: malformed text, the first mistake and its place, types, sizes and ranges.
#include "base/json_object.h"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include <array>
#include <cmath>

using Catch::Matchers::Contains;
using plush::tools::ExitCode;
using plush::tools::JsonObject;
using plush::tools::ParseJson;

namespace json_object_test {

// ParseJson's message for a wrong text.
std::string Complaint(const std::string& text) {
  const auto parsed = ParseJson(text);
  if (parsed.ok()) return "";
  CHECK(parsed.error().exit_code == ExitCode::kUsage);
  return parsed.error().message;
}

TEST_CASE("Malformed JSON is refused with its place") {
  CHECK_THAT(Complaint("{\n  \"a\": ,\n}"), Contains("line 2, column"));
  CHECK_FALSE(Complaint("").empty());
  CHECK_FALSE(Complaint("{\"a\":1} trailing").empty());
  CHECK_FALSE(Complaint("{\"a\":1e999}").empty());
  CHECK_FALSE(Complaint("{\"a\":\"\xff\"}").empty());
  CHECK_FALSE(Complaint(std::string("\0\x01\x02", 3)).empty());
  CHECK_THAT(Complaint(R"({"a":1,"b":{"a":2},"a":3})"), Contains("'a' is given twice"));
  CHECK_THAT(Complaint(std::string(100000, '[')), Contains("nested deeper"));
  CHECK_THAT(Complaint(std::string(40, '[') + std::string(40, ']')), Contains("nested deeper"));
  CHECK(Complaint(R"({"a":{"x":1},"b":{"x":1}})").empty());
}

TEST_CASE("A strict object keeps its first mistake with its place") {
  const auto document = ParseJson(R"({"mass": 2.5, "cuont": 3, "name": 7, "none": null})");
  REQUIRE(document.ok());
  std::string mistake;
  const JsonObject object(document.value(), "bodies[1]", {"mass", "count", "name", "none"},
                          &mistake);
  CHECK(mistake == "bodies[1]: unknown key 'cuont'; did you mean 'count'?");
  std::string name = "kept";
  CHECK_FALSE(object.String("name", &name));
  CHECK(name == "kept");
  CHECK_FALSE(object.Has("none"));
  CHECK(mistake == "bodies[1]: unknown key 'cuont'; did you mean 'count'?");
  double mass = 0.0;
  CHECK(object.Number("mass", {0.0, 10.0}, &mass));
  CHECK(mass == 2.5);
}

TEST_CASE("Numbers, vectors and arrays are checked for type, size and range") {
  const auto document = ParseJson(
      R"({"half": 1.5, "big": 11, "v": [1, 2, 3], "short": [1], "word": ["x", 1, 2],
          "huge": [1e300, 0, 0], "yes": true})");
  REQUIRE(document.ok());
  const auto mistake_of = [&](const auto& read) {
    std::string mistake;
    const JsonObject object(document.value(), "",
                            {"half", "big", "v", "short", "word", "huge", "yes"}, &mistake);
    read(object);
    return mistake;
  };
  uint32_t integer = 0;
  double number = 0.0;
  std::array<double, 3> v = {};
  bool flag = false;
  CHECK_THAT(mistake_of([&](auto& o) { o.Integer("half", 0, 9, &integer); }),
             Contains("half: expected a whole number"));
  CHECK_THAT(mistake_of([&](auto& o) {
               o.Number("big", {0, 11, false, true}, &number);
             }),
             Contains("big: 11 is outside [0, 11)"));
  CHECK(mistake_of([&](auto& o) { o.Number("big", {0, 11}, &number); }).empty());
  CHECK(mistake_of([&](auto& o) { o.Vector("v", v); }).empty());
  CHECK(v == std::array<double, 3>{1, 2, 3});
  CHECK_THAT(mistake_of([&](auto& o) { o.Vector("short", v); }), Contains("expected 3 numbers"));
  CHECK_THAT(mistake_of([&](auto& o) { o.Vector("word", v); }), Contains("element 0"));
  CHECK_THAT(mistake_of([&](auto& o) { o.Vector("huge", v); }), Contains("element 0"));
  CHECK_THAT(mistake_of([&](auto& o) { o.Array("v", 2); }), Contains("3 elements are more than 2"));
  CHECK_THAT(mistake_of([&](auto& o) { o.Boolean("half", &flag); }), Contains("true or false"));
  CHECK_THAT(mistake_of([&](auto& o) { o.Array("yes", 2); }), Contains("expected an array"));
}

TEST_CASE("A range has one text, and refuses open ends and what is not finite") {
  const plush::tools::NumberRange closed = {0.0, 0.499};
  const plush::tools::NumberRange open = {0.0, 1.0e6, true, true};
  CHECK(plush::tools::RangeText(closed) == "[0, 0.499]");
  CHECK(plush::tools::RangeText(open) == "(0, 1000000)");
  CHECK(plush::tools::OutsideMessage("0.5", closed) == "0.5 is outside [0, 0.499]");
  for (const double inside : {0.0, 0.2, 0.499}) CHECK(plush::tools::Contains(closed, inside));
  for (const double outside : {-1e-300, 0.4991, HUGE_VAL, -HUGE_VAL, double{NAN}}) {
    CHECK_FALSE(plush::tools::Contains(closed, outside));
  }
  CHECK_FALSE(plush::tools::Contains(open, 0.0));
  CHECK_FALSE(plush::tools::Contains(open, 1.0e6));
  CHECK(plush::tools::Contains(open, 1e-300));
}

}  // namespace json_object_test

// SPDX-License-Identifier: MIT
#include "bake/tuning.h"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

using Catch::Matchers::Contains;
using nlohmann::json;
using namespace plush;
using namespace plush::tools;

TEST_CASE("A tuning is read back as it was written, and mistakes are named") {
  const Tuning splitting = {TunedSolver::kSplitting, 4, 0, 0.01, 0.25};
  const Tuning implicit = {TunedSolver::kImplicit, 2, 12, 0.005, 0.0};
  for (const Tuning& tuning : {splitting, implicit}) {
    const auto read = ParseTuning(TuningJson(tuning).dump());
    REQUIRE(read.ok());
    CHECK(read.value() == tuning);
  }
  const auto mistake_of = [&implicit](const char* path, const json& value) {
    json document = TuningJson(implicit);
    document[json::json_pointer(path)] = value;
    const auto read = ParseTuning(document.dump());
    return read.ok() ? "" : read.error().message;
  };
  CHECK_THAT(mistake_of("/dt", 2.0), Contains("dt"));
  CHECK_THAT(mistake_of("/dt", nullptr), Contains("dt: is missing"));
  CHECK_THAT(mistake_of("/damping", -1.0), Contains("damping"));
  CHECK_THAT(mistake_of("/damping", nullptr), Contains("damping: is missing"));
  CHECK_THAT(mistake_of("/solver", 3), Contains("solver"));
  CHECK_THAT(mistake_of("/solver/name", "mlcp"), Contains("solver.name"));
  CHECK_THAT(mistake_of("/solver/name", "splitting"), Contains("needs the solver 'implicit'"));
  CHECK_THAT(mistake_of("/solver/newton_iterations", 65), Contains("newton_iterations"));
  CHECK_THAT(mistake_of("/solver/newton_iterations", nullptr), Contains("missing"));
  CHECK_THAT(mistake_of("/solver/linear_iterations", 0), Contains("linear_iterations"));
  CHECK_THAT(mistake_of("/solver/linear_iterations", nullptr), Contains("missing"));
  CHECK_THAT(mistake_of("/stray", 1), Contains("stray"));
  CHECK_FALSE(ParseTuning("[").ok());
}

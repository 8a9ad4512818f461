// SPDX-License-Identifier: MIT
#include "batch/progress.h"

#include <catch2/catch.hpp>

namespace plush::tools::progress_test {
namespace {

TEST_CASE("The remaining time goes by the cost that is left, not by the number of bakes") {
  CHECK(Progress::RemainingSeconds(10.0, 2.0, 8.0) == Approx(30.0));
  CHECK(Progress::RemainingSeconds(10.0, 8.0, 8.0) == 0.0);
  CHECK(Progress::RemainingSeconds(10.0, 9.0, 8.0) == 0.0);
  CHECK(Progress::RemainingSeconds(10.0, 0.0, 8.0) < 0.0);
}

TEST_CASE("Durations are rounded up") {
  CHECK(DurationText(0.2) == "1 s");
  CHECK(DurationText(90.0) == "90 s");
  CHECK(DurationText(91.0) == "2 min");
  CHECK(DurationText(3600.0) == "1 h 0 min");
  CHECK(DurationText(12001.0) == "3 h 21 min");
}

}  // namespace
}  // namespace plush::tools::progress_test

// SPDX-License-Identifier: MIT
#include "plush/status.h"

#include <catch2/catch.hpp>

#include <string>

TEST_CASE("Every status code has a unique name") {
  std::string last;
  for (int code = 0; code <= static_cast<int>(plush::StatusCode::kStaleId); ++code) {
    const std::string name = plush::StatusCodeName(static_cast<plush::StatusCode>(code));
    CHECK(name != "Unknown");
    CHECK(name != last);
    last = name;
  }
}

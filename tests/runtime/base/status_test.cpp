// SPDX-License-Identifier: MIT
#include "plush/status.h"

#include <catch2/catch.hpp>

#include <set>
#include <string>

TEST_CASE("Every status code has a unique name") {
  constexpr int kLast = static_cast<int>(plush::StatusCode::kUnsupported);
  const auto name_of = [](int code) {
    return std::string(plush::StatusCodeName(static_cast<plush::StatusCode>(code)));
  };
  std::set<std::string> names;
  for (int code = 0; code <= kLast; ++code) {
    const std::string name = name_of(code);
    CAPTURE(code, name);
    CHECK_FALSE(name.empty());
    CHECK(name != "Unknown");
    CHECK(names.insert(name).second);
  }
  CHECK(names.contains("Ok"));
  CHECK(names.contains("Corrupt"));
  // No code follows the last one, so the loop has seen all.
  CHECK(name_of(kLast + 1) == "Unknown");
}

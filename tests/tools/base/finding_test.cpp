// SPDX-License-Identifier: MIT
#include "base/finding.h"

#include <catch2/catch.hpp>

using plush::tools::FindingCodes;

TEST_CASE("The table of finding codes is sorted and complete") {
  const auto codes = FindingCodes();
  for (size_t i = 0; i < codes.size(); ++i) {
    INFO(codes[i].code);
    if (i > 0) CHECK(codes[i - 1].code < codes[i].code);
    CHECK_FALSE(codes[i].meaning.empty());
    CHECK_FALSE(codes[i].remedy.empty());
    CHECK(plush::tools::FindFindingCode(codes[i].code) == &codes[i]);
  }
  CHECK(plush::tools::FindFindingCode("NO_SUCH_CODE") == nullptr);
}

TEST_CASE("A finding keeps at most kMaxPlaces places and its full count") {
  plush::tools::FindingList findings;
  findings.Add("MESH_OPEN_BOUNDARY", 25, "25 edges", std::vector<plush::tools::Place>(25));
  REQUIRE(findings.all().size() == 1);
  CHECK(findings.all()[0].places.size() == plush::tools::kMaxPlaces);
  CHECK(findings.all()[0].count == 25);
  CHECK(findings.Has("MESH_OPEN_BOUNDARY"));
  CHECK_FALSE(findings.HasSeverity(plush::tools::Severity::kError));
}

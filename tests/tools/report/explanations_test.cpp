// SPDX-License-Identifier: MIT
#include "report/explanations.h"

#include "base/finding.h"

#include <catch2/catch.hpp>

#include <set>

using plush::tools::Explanation;
using plush::tools::Explanations;
using plush::tools::ExplanationText;
using plush::tools::FindingCode;
using plush::tools::FindingCodes;

TEST_CASE("Every finding has an explanation") {
  REQUIRE(Explanations().size() == FindingCodes().size());
  std::set<std::string_view> examples;
  for (size_t i = 0; i < FindingCodes().size(); ++i) {
    const FindingCode& row = FindingCodes()[i];
    const Explanation& explanation = Explanations()[i];
    CAPTURE(std::string(row.code));
    REQUIRE(explanation.code == row.code);
    CHECK(explanation.why.size() > 20);
    CHECK(explanation.why.back() == '.');
    CHECK_FALSE(explanation.example.empty());
    CHECK(examples.insert(explanation.example).second);
    CHECK(explanation.blender.empty() == explanation.maya.empty());
    // A model can be mended, a baked file cannot.
    if (row.code.starts_with("FILE_")) CHECK(explanation.blender.empty());
    const std::string text = ExplanationText(row.code);
    for (const auto part : {row.code, row.meaning, row.remedy, explanation.why, explanation.blender,
                            explanation.maya, explanation.example}) {
      CHECK(text.find(part) != std::string::npos);
    }
  }
  CHECK(ExplanationText("NO_SUCH_CODE").empty());
}

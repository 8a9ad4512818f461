// SPDX-License-Identifier: MIT
// `plush explain`: what a finding means, why it matters and how to mend it.

#include "base/finding.h"
#include "base/result.h"
#include "base/text.h"
#include "commands/commands.h"
#include "commands/output.h"
#include "report/explanations.h"

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <memory>

namespace plush::tools {
namespace {

std::string AllCodes() {
  std::string text;
  for (const FindingCode& row : FindingCodes()) {
    text += std::string(row.code) + " (" + SeverityName(row.severity) + "): ";
    text += std::string(row.meaning) + "\n";
  }
  return text;
}

int RunExplain(std::string code) {
  if (code.empty()) {
    std::fputs(AllCodes().c_str(), stdout);
    return static_cast<int>(ExitCode::kOk);
  }
  std::ranges::transform(code, code.begin(), [](unsigned char c) { return std::toupper(c); });
  const std::string text = ExplanationText(code);
  if (text.empty()) {
    std::vector<std::string_view> known;
    for (const FindingCode& row : FindingCodes()) known.push_back(row.code);
    return PrintError("explain", Error{ExitCode::kUsage, UnknownNameMessage("code", code, known)});
  }
  std::fputs(text.c_str(), stdout);
  return static_cast<int>(ExitCode::kOk);
}

}  // namespace

void AddExplainCommand(CLI::App* app, int* exit_code) {
  auto code = std::make_shared<std::string>();
  CLI::App* verb = app->add_subcommand(
      "explain", "Explains a finding: why it matters, how to mend it. Without CODE: lists all.");
  verb->add_option("CODE", *code, "code of a finding, as CAGE_HOLE_CLOSED")->type_name("");
  verb->callback([code, exit_code] { *exit_code = RunExplain(*code); });
}

}  // namespace plush::tools

// SPDX-License-Identifier: MIT

#include "base/files.h"
#include "commands/commands.h"
#include "commands/open_file.h"
#include "commands/output.h"
#include "report/findings_report.h"
#include "validate/validate.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace plush::tools {
namespace {

struct ValidateOptions {
  std::vector<std::string> files;
  OutputOptions output;
};

// What was found out about one file.
struct Verdict {
  FindingList findings;
  std::optional<Error> error;

  ExitCode exit_code(const OutputOptions& output) const {
    if (error) return error->exit_code;
    if (findings.Has("FILE_VERSION") || findings.Has("FILE_LAYOUT")) return ExitCode::kUnsupported;
    if (findings.HasSeverity(Severity::kError)) return ExitCode::kInvalidInput;
    const bool warned = findings.HasSeverity(Severity::kWarning);
    return output.warnings_as_errors && warned ? ExitCode::kGateFailed : ExitCode::kOk;
  }
};

Verdict Judge(const std::string& path) {
  Verdict verdict;
  const auto bytes = ReadAssetFile(path);
  if (!bytes.ok()) {
    verdict.error = bytes.error();
    return verdict;
  }
  ValidateAsset(bytes.value(), &verdict.findings);
  return verdict;
}

nlohmann::json VerdictJson(const std::string& path, const Verdict& verdict, ExitCode code) {
  nlohmann::json json = {{"file", path},
                         {"findings", FindingsJson(verdict.findings)},
                         {"errors", verdict.findings.CountOf(Severity::kError)},
                         {"exit_code", static_cast<int>(code)}};
  if (verdict.error) json["error"] = verdict.error->message;
  return json;
}

void PrintVerdict(const std::string& path, const Verdict& verdict, const OutputOptions& output) {
  std::fputs(FindingsText("validate", path, verdict.findings, output.verbosity()).c_str(), stderr);
  if (verdict.error) PrintError("validate", *verdict.error);
  if (output.json || output.quiet) return;
  if (!verdict.error && verdict.findings.all().empty()) std::printf("%s: valid\n", path.c_str());
}

int RunValidate(const ValidateOptions& options) {
  nlohmann::json files = nlohmann::json::array();
  ExitCode code = ExitCode::kOk;
  for (const std::string& path : options.files) {
    const Verdict verdict = Judge(path);
    const ExitCode file_code = verdict.exit_code(options.output);
    if (code == ExitCode::kOk) code = file_code;
    PrintVerdict(path, verdict, options.output);
    files.push_back(VerdictJson(path, verdict, file_code));
  }
  const nlohmann::json document = {{"files", files}, {"exit_code", static_cast<int>(code)}};
  return FinishDocument("validate", options.output, document, code);
}

}  // namespace

void AddValidateCommand(CLI::App* app, int* exit_code) {
  auto options = std::make_shared<ValidateOptions>();
  CLI::App* verb = app->add_subcommand("validate", "full structural and semantic validation");
  verb->add_option("files", options->files, "the .plush files")
      ->required()
      ->type_name("FILE.plush...");
  verb->footer("The exit code is that of the first file that is not valid.");
  AddOutputOptions(verb, &options->output);
  verb->callback([options, exit_code] { *exit_code = RunValidate(*options); });
}

}  // namespace plush::tools

// SPDX-License-Identifier: MIT
#include "commands/output.h"

#include "base/files.h"
#include "commands/options.h"
#include "report/source_report.h"

#include <nlohmann/json.hpp>

#include <cstdio>

namespace plush::tools {

void AddOutputOptions(CLI::App* verb, OutputOptions* options) {
  OptionGroup group(verb, "Output");
  group.Flag("--json", &options->json, "one JSON document on stdout, log on stderr");
  group.Text("--report", &options->report, "FILE", "write the run's JSON report to FILE");
  group.Flag("-q,--quiet", &options->quiet, "errors only");
  group.Flag("-v,--verbose", &options->verbose, "all places of findings; timings");
  group.Flag("-W,--warnings-as-errors", &options->warnings_as_errors,
             "exit with 4 if there is a warning");
}

ExitCode ExitCodeOf(const FindingList& findings, const OutputOptions& options) {
  if (findings.HasSeverity(Severity::kError)) return ExitCode::kInvalidInput;
  const bool gated = options.warnings_as_errors && findings.HasSeverity(Severity::kWarning);
  return gated ? ExitCode::kGateFailed : ExitCode::kOk;
}

nlohmann::json StagesJson(const std::vector<Stage>& stages) {
  nlohmann::json list = nlohmann::json::array();
  for (const Stage& stage : stages) {
    list.push_back({{"name", stage.name}, {"seconds", stage.seconds}});
  }
  return list;
}

int PrintError(const std::string& verb, const Error& error) {
  std::fprintf(stderr, "plush %s: error: %s\n", verb.c_str(), error.message.c_str());
  return static_cast<int>(error.exit_code);
}

int FinishRun(const std::string& verb, const std::string& file, const OutputOptions& options,
              const FindingList& findings, const Error* error, nlohmann::json document) {
  std::FILE* stream = options.findings_to_stdout && !options.json ? stdout : stderr;
  std::fputs(FindingsText(verb, file, findings, options.verbosity()).c_str(), stream);
  ExitCode code = ExitCodeOf(findings, options);
  if (error != nullptr) {
    if (!findings.Has(error->finding_code)) PrintError(verb, *error);
    code = error->exit_code;
    document["error"] = error->message;
  }
  document["findings"] = FindingsJson(findings);
  document["exit_code"] = static_cast<int>(code);
  return FinishDocument(verb, options, document, code);
}

int FinishDocument(const std::string& verb, const OutputOptions& options,
                   const nlohmann::json& document, ExitCode code) {
  // Names come from foreign files: invalid UTF-8 is replaced and throws nothing.
  const std::string text =
      document.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
  if (options.json) std::fputs(text.c_str(), stdout);
  // A wrong command line may name a source or another output as the report.
  if (options.report.empty() || code == ExitCode::kUsage) return static_cast<int>(code);
  const auto written = WriteFileAtomically(options.report, std::as_bytes(std::span(text)));
  return written.ok() ? static_cast<int>(code) : PrintError(verb, written.error());
}

}  // namespace plush::tools

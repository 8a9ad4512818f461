// SPDX-License-Identifier: MIT
#include "commands/output.h"

#include "base/files.h"
#include "report/findings_report.h"

#include <cstdio>

namespace plush::tools {

void AddOutputOptions(CLI::App* verb, OutputOptions* options) {
  const std::string group = "Output";
  verb->add_flag("--json", options->json, "one JSON document on stdout, log on stderr")
      ->group(group);
  verb->add_option("--report", options->report, "write the run's JSON report to FILE")
      ->type_name("FILE")
      ->group(group);
  verb->add_flag("-q,--quiet", options->quiet, "errors only")->group(group);
  verb->add_flag("-v,--verbose", options->verbose, "all places of findings; timings")->group(group);
  verb->add_flag("-W,--warnings-as-errors", options->warnings_as_errors,
                 "exit with 4 where a warning was found")
      ->group(group);
}

int PrintError(const std::string& verb, const Error& error) {
  std::fprintf(stderr, "plush %s: error: %s\n", verb.c_str(), error.message.c_str());
  return static_cast<int>(error.exit_code);
}

int FinishRun(const std::string& verb, const std::string& file, const OutputOptions& options,
              const FindingList& findings, const Error* error, nlohmann::json document) {
  std::FILE* stream = options.findings_to_stdout && !options.json ? stdout : stderr;
  std::fputs(FindingsText(verb, file, findings, options.verbosity()).c_str(), stream);
  ExitCode code = ExitCode::kOk;
  if (error != nullptr) {
    if (!findings.Has(error->finding_code)) PrintError(verb, *error);
    code = error->exit_code;
    document["error"] = error->message;
  } else if (findings.HasSeverity(Severity::kError)) {
    code = ExitCode::kInvalidInput;
  } else if (options.warnings_as_errors && findings.HasSeverity(Severity::kWarning)) {
    code = ExitCode::kGateFailed;
  }
  document["findings"] = FindingsJson(findings);
  document["exit_code"] = static_cast<int>(code);
  return FinishDocument(verb, options, document, code);
}

int FinishDocument(const std::string& verb, const OutputOptions& options,
                   const nlohmann::json& document, ExitCode code) {
  // Names come from foreign files: invalid UTF-8 is replaced, never thrown over.
  const std::string text =
      document.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
  if (options.json) std::fputs(text.c_str(), stdout);
  if (!options.report.empty()) {
    const auto written = WriteFileAtomically(options.report, std::as_bytes(std::span(text)));
    if (!written.ok()) return PrintError(verb, written.error());
  }
  return static_cast<int>(code);
}

}  // namespace plush::tools

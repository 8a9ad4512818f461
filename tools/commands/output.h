// SPDX-License-Identifier: MIT
// What all verbs share: --json, --report, -q, -v, -W, and the end of a run.
#pragma once

#include "bake/bake.h"
#include "base/finding.h"
#include "base/result.h"

#include <CLI/CLI.hpp>
#include <nlohmann/json_fwd.hpp>

#include <string>
#include <vector>

namespace plush::tools {

struct OutputOptions {
  bool json = false;   ///< one JSON document on stdout, log on stderr
  std::string report;  ///< file for the run's JSON report, or empty
  bool quiet = false;
  bool verbose = false;
  bool warnings_as_errors = false;  ///< a warning leads to exit code 4
  bool findings_to_stdout = false;  ///< set by verbs whose product is the findings

  int verbosity() const { return quiet ? -1 : (verbose ? 1 : 0); }
};

void AddOutputOptions(CLI::App* verb, OutputOptions* options);

/// The exit code of findings without an error: 3 with an error finding, 4 with -W and a warning,
/// else 0.
ExitCode ExitCodeOf(const FindingList& findings, const OutputOptions& options);

/// Ends a verb.
/// - Prints the findings, and the error (or null) unless it is one of them.
/// - Adds "findings", "exit_code" and "error" to `document` and writes it (FinishDocument).
/// Returns the error's exit code, else that of the findings; 2 if the report cannot be written.
int FinishRun(const std::string& verb, const std::string& file, const OutputOptions& options,
              const FindingList& findings, const Error* error, nlohmann::json document);

/// Writes `document` to stdout (--json) and, unless the code is kUsage, to a file (--report).
/// Returns `code`, or 2 if the report cannot be written.
int FinishDocument(const std::string& verb, const OutputOptions& options,
                   const nlohmann::json& document, ExitCode code);

/// One object per stage: name, seconds.
nlohmann::json StagesJson(const std::vector<Stage>& stages);

/// Prints "plush VERB: error: ..." to stderr and returns the exit code.
int PrintError(const std::string& verb, const Error& error);

}  // namespace plush::tools

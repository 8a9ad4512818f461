// SPDX-License-Identifier: MIT
// What every verb shares: --json, --report, -q, -v, -W, and the way a run ends.
#pragma once

#include "base/finding.h"
#include "base/result.h"

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <string>

namespace plush::tools {

/// Options common to all verbs.
struct OutputOptions {
  bool json = false;   ///< one JSON document on stdout, log on stderr
  std::string report;  ///< file for the run's JSON report, or empty
  bool quiet = false;
  int verbose = 0;
  bool warnings_as_errors = false;  ///< exit 4 where a warning was found
  bool findings_to_stdout = false;  ///< set by verbs whose product the findings are

  int verbosity() const { return quiet ? -1 : verbose; }
};

/// Adds the common options to a verb, in the help group "Output".
void AddOutputOptions(CLI::App* verb, OutputOptions* options);

/// Ends a verb: findings and, if there is one, the error to stderr (findings to stdout where they
/// are the product and --json does not want it; an error that is among the findings is not
/// repeated); `document` plus the findings to stdout with --json and to --report. Returns the exit
/// code: the error's, else 3 with an error finding, else 4 with -W and a warning, else 0; 2 where
/// the report cannot be written. Adds "findings" and "exit_code" (and "error") to the document.
int FinishRun(const std::string& verb, const std::string& file, const OutputOptions& options,
              const FindingList& findings, const Error* error, nlohmann::json document);

/// The last part of FinishRun: writes `document` to stdout with --json and to --report. Returns
/// `code`, or 2 where the report cannot be written.
int FinishDocument(const std::string& verb, const OutputOptions& options,
                   const nlohmann::json& document, ExitCode code);

/// Prints "plush VERB: error: ..." to stderr and returns the exit code.
int PrintError(const std::string& verb, const Error& error);

}  // namespace plush::tools

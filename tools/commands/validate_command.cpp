// SPDX-License-Identifier: MIT
// `plush validate`: checks .plush files, alone or against their source mesh.
// The checks are in validate/; this file reads, prints and chooses the exit code.

#include "plush/asset.h"

#include "base/aligned_bytes.h"
#include "base/files.h"
#include "commands/commands.h"
#include "commands/options.h"
#include "commands/output.h"
#include "commands/source_settings.h"
#include "import/import.h"
#include "report/source_report.h"
#include "validate/validate.h"

#include <nlohmann/json.hpp>

#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace plush::tools {
namespace {

// Every .plush file is smaller. Larger files, such as disk images, are refused unread.
constexpr uint64_t kMaxFileBytes = (uint64_t{1} << 31) - 1;

struct ValidateOptions {
  std::vector<std::string> files;
  std::string source;
  std::string embed;
  OutputOptions output;
};

struct Verdict {
  FindingList findings;
  std::optional<Error> error;
  std::optional<SourceErrors> source_errors;

  ExitCode exit_code(const OutputOptions& output) const {
    if (error) return error->exit_code;
    if (findings.Has("FILE_VERSION") || findings.Has("FILE_LAYOUT")) return ExitCode::kUnsupported;
    return ExitCodeOf(findings, output);
  }
};

// Whether the file holds a static mesh, which has no embedding.
bool IsStatic(std::span<const std::byte> bytes) {
  const AlignedBytes file(bytes);
  Asset asset;
  return asset.Open(file.bytes(), Trust::kValidated).ok() && asset.is_static();
}

void CompareWithSource(const std::vector<std::byte>& bytes, const ValidateOptions& options,
                       Verdict* verdict) {
  ImportSettings import = SettingsOfBake(bytes);
  import.embed = options.embed;
  const auto model = ImportModel(options.source, import, &verdict->findings);
  if (!model.ok()) {
    verdict->error = model.error().WithContext("--source");
    return;
  }
  const SourceErrors errors = ValidateAgainstSource(bytes, model.value(), &verdict->findings);
  if (!IsStatic(bytes)) verdict->source_errors = errors;
}

Verdict Judge(const std::string& path, const ValidateOptions& options) {
  Verdict verdict;
  const auto bytes = ReadFile(path, kMaxFileBytes);
  if (!bytes.ok()) {
    verdict.error = bytes.error();
    return verdict;
  }
  ValidateAsset(bytes.value(), &verdict.findings);
  if (!options.source.empty()) CompareWithSource(bytes.value(), options, &verdict);
  return verdict;
}

nlohmann::json VerdictJson(const std::string& path, const Verdict& verdict, ExitCode code) {
  nlohmann::json json = {{"file", path},
                         {"findings", FindingsJson(verdict.findings)},
                         {"errors", verdict.findings.CountOf(Severity::kError)},
                         {"exit_code", static_cast<int>(code)}};
  if (verdict.error) json["error"] = verdict.error->message;
  if (verdict.source_errors) {
    json["source"] = {{"max_error_m", verdict.source_errors->max_m},
                      {"mean_error_m", verdict.source_errors->mean_m}};
    const auto& enclosed = verdict.source_errors->enclosed_triangles;
    if (enclosed) json["source"]["enclosed_triangles"] = *enclosed;
  }
  return json;
}

void PrintVerdict(const std::string& path, const Verdict& verdict, const OutputOptions& output) {
  std::fputs(FindingsText("validate", path, verdict.findings, output.verbosity()).c_str(), stderr);
  if (verdict.error) PrintError("validate", *verdict.error);
  if (output.json || output.quiet) return;
  if (verdict.source_errors) {
    std::printf("%s: embedding off the source by %.3g m at most, %.3g m on average\n", path.c_str(),
                verdict.source_errors->max_m, verdict.source_errors->mean_m);
    const auto& enclosed = verdict.source_errors->enclosed_triangles;
    if (enclosed)
      std::printf("%s: %zu triangles strictly inside the cage\n", path.c_str(), *enclosed);
  }
  if (!verdict.error && !verdict.findings.HasSeverity(Severity::kError)) {
    const size_t warnings = verdict.findings.CountOf(Severity::kWarning);
    const std::string counted = ", " + Counted(warnings, "warning", "warnings");
    std::printf("%s: valid%s\n", path.c_str(), warnings == 0 ? "" : counted.c_str());
  }
}

int RunValidate(const ValidateOptions& options) {
  for (const std::string& path : options.files) {
    const auto writable = CheckOutputs({options.output.report}, {path, options.source});
    if (!writable.ok()) {
      return FinishRun("validate", path, options.output, {}, &writable.error(), {});
    }
  }
  nlohmann::json files = nlohmann::json::array();
  ExitCode code = ExitCode::kOk;
  for (const std::string& path : options.files) {
    const Verdict verdict = Judge(path, options);
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
  CLI::App* verb =
      app->add_subcommand("validate", "Reports everything that is wrong with .plush files.");
  verb->add_option("files", options->files, "the .plush files")
      ->required()
      ->type_name("FILE.plush...");
  OptionGroup group(verb, "Source");
  group.Text("--source", &options->source, "IN",
             "source mesh of the bake: compare vertices, in metres, and prove that a lattice cage "
             "strictly encloses them and their triangles");
  group.Text("--embed", &options->embed, "FILE", "render mesh of the bake's --embed")
      ->needs("--source");
  verb->footer(
      "The exit code is that of the first file that is not valid (with -W, or has a warning).");
  AddOutputOptions(verb, &options->output);
  verb->callback([options, exit_code] { *exit_code = RunValidate(*options); });
}

}  // namespace plush::tools

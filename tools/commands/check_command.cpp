// SPDX-License-Identifier: MIT
// `plush check`: finds the defects of a source mesh, without a bake.

#include "plush/version.h"

#include "base/files.h"
#include "commands/commands.h"
#include "commands/options.h"
#include "commands/output.h"
#include "mesh/surface_checks.h"
#include "report/source_report.h"

#include <nlohmann/json.hpp>

#include <cstdio>
#include <memory>

namespace plush::tools {
namespace {

constexpr char kCheckVerb[] = "check";

struct CheckCommandOptions {
  std::string file;
  ImportSettings import;
  OutputOptions output;
};

int RunCheck(const CheckCommandOptions& options) {
  FindingList findings;
  nlohmann::json document = {{"tool_version", kVersionString},
                             {"source", {{"file", options.file}}}};
  const auto writable = CheckOutputs({options.output.report}, {options.file});
  if (!writable.ok()) {
    return FinishRun(kCheckVerb, options.file, options.output, {}, &writable.error(), document);
  }
  StageClock clock;
  clock.Begin("import");
  const Result<ImportedModel> model = ImportModel(options.file, options.import, &findings);
  if (!model.ok()) {
    return FinishRun(kCheckVerb, options.file, options.output, findings, &model.error(), document);
  }
  clock.Begin("check");
  const SurfaceFacts facts = CheckSurface(model.value().surface, {}, &findings);
  clock.End();
  document["source"] = SourceJson(options.file, model.value(), facts);
  document["stages"] = StagesJson(clock.stages());
  if (!options.output.json && !options.output.quiet) {
    std::fputs(SourceText(options.file, model.value(), facts).c_str(), stdout);
  }
  return FinishRun(kCheckVerb, options.file, options.output, findings, nullptr, document);
}

}  // namespace

void AddCheckCommand(CLI::App* app, int* exit_code) {
  const auto options = std::make_shared<CheckCommandOptions>();
  options->output.findings_to_stdout = true;
  CLI::App* verb = app->add_subcommand(
      kCheckVerb,
      "Finds the defects of a source mesh, each with a code, a count, places and a remedy.");
  verb->add_option("FILE", options->file, kSourceHelp)->required();
  AddImportOptions(verb, &options->import);
  AddOutputOptions(verb, &options->output);
  verb->callback([options, exit_code] { *exit_code = RunCheck(*options); });
}

}  // namespace plush::tools

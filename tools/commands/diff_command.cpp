// SPDX-License-Identifier: MIT
// `plush diff`: what differs between two baked files.

#include "base/files.h"
#include "commands/commands.h"
#include "commands/options.h"
#include "commands/output.h"
#include "report/asset_diff.h"
#include "simulate/open_asset.h"

#include <cstdio>
#include <memory>
#include <optional>

namespace plush::tools {
namespace {

constexpr char kDiffVerb[] = "diff";

struct DiffOptions {
  std::string a, b;
  std::optional<double> tolerance;
  OutputOptions output;
};

int RunDiff(const DiffOptions& options) {
  const auto writable = CheckOutputs({options.output.report}, {options.a, options.b});
  if (!writable.ok())
    return FinishRun(kDiffVerb, options.a, options.output, {}, &writable.error(), {});
  const Result<Asset> a = OpenAsset(options.a);
  if (!a.ok()) return FinishRun(kDiffVerb, options.a, options.output, {}, &a.error(), {});
  const Result<Asset> b = OpenAsset(options.b);
  if (!b.ok()) return FinishRun(kDiffVerb, options.b, options.output, {}, &b.error(), {});
  const AssetDiff diff = CompareAssets(a.value(), b.value());
  const bool is_beyond = options.tolerance && diff.Largest() > *options.tolerance;
  const ExitCode code = is_beyond ? ExitCode::kGateFailed : ExitCode::kOk;
  nlohmann::json document = AssetDiffJson(diff);
  document["a"] = options.a;
  document["b"] = options.b;
  document["exit_code"] = static_cast<int>(code);
  if (!options.output.json && !options.output.quiet) {
    std::fputs(AssetDiffText(diff).c_str(), stdout);
  }
  if (is_beyond) {
    std::fprintf(stderr, "plush diff: the largest relative difference %.4g exceeds %.4g\n",
                 diff.Largest(), *options.tolerance);
  }
  return FinishDocument(kDiffVerb, options.output, document, code);
}

}  // namespace

void AddDiffCommand(CLI::App* app, int* exit_code) {
  auto options = std::make_shared<DiffOptions>();
  CLI::App* verb = app->add_subcommand(
      kDiffVerb, "Compares two .plush files: settings, counts, masses, quality, rest surface.");
  verb->add_option("A", options->a, "a .plush file")->required()->type_name("");
  verb->add_option("B", options->b, "another one")->required()->type_name("");
  OptionGroup group(verb, "Gate");
  group.Number("--tolerance", &options->tolerance, {0.0, 1e6}, "T",
               "exit with 4 if a value or the surface differs by more, relative to its size; "
               "settings and hashes do not count");
  AddOutputOptions(verb, &options->output);
  verb->callback([options, exit_code] { *exit_code = RunDiff(*options); });
}

}  // namespace plush::tools

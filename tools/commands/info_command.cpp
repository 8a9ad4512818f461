// SPDX-License-Identifier: MIT
// `plush info`: what a .plush file holds.

#include "base/files.h"
#include "commands/commands.h"
#include "commands/output.h"
#include "report/asset_info.h"
#include "simulate/open_asset.h"

#include <nlohmann/json.hpp>

#include <cstdio>
#include <memory>

namespace plush::tools {
namespace {

struct InfoOptions {
  std::string file;
  OutputOptions output;
};

int RunInfo(const InfoOptions& options) {
  const auto writable = CheckOutputs({options.output.report}, {options.file});
  if (!writable.ok()) {
    return FinishRun("info", options.file, options.output, {}, &writable.error(), {});
  }
  const Result<Asset> asset = OpenAsset(options.file);
  nlohmann::json document = asset.ok() ? AssetInfo(asset.value()) : nlohmann::json::object();
  document["file"] = options.file;
  if (asset.ok() && !options.output.json) {
    std::fputs(AssetInfoText(asset.value()).c_str(), stdout);
  }
  return FinishRun("info", options.file, options.output, {}, asset.ok() ? nullptr : &asset.error(),
                   std::move(document));
}

}  // namespace

void AddInfoCommand(CLI::App* app, int* exit_code) {
  auto options = std::make_shared<InfoOptions>();
  CLI::App* verb = app->add_subcommand(
      "info", "Shows what a .plush file holds: sizes, counts, quality, provenance.");
  verb->add_option("file", options->file, "the .plush file")->required()->type_name("FILE.plush");
  AddOutputOptions(verb, &options->output);
  verb->callback([options, exit_code] { *exit_code = RunInfo(*options); });
}

}  // namespace plush::tools

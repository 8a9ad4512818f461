// SPDX-License-Identifier: MIT
#include "plush/asset.h"

#include "base/aligned_bytes.h"
#include "commands/commands.h"
#include "commands/open_file.h"
#include "commands/output.h"
#include "report/asset_info.h"

#include <cstdio>
#include <memory>

namespace plush::tools {
namespace {

struct InfoOptions {
  std::string file;
  OutputOptions output;
};

int FailInfo(const InfoOptions& options, const Error& error) {
  return FinishRun("info", options.file, options.output, {}, &error, {{"file", options.file}});
}

int RunInfo(const InfoOptions& options) {
  const auto bytes = ReadAssetFile(options.file);
  if (!bytes.ok()) return FailInfo(options, bytes.error());
  const AlignedBytes file(bytes.value());
  Asset asset;
  if (const Status status = asset.Open(file.bytes()); !status.ok()) {
    return FailInfo(options, OpenError(options.file, status));
  }
  if (!options.output.json) std::fputs(AssetInfoText(asset).c_str(), stdout);
  nlohmann::json document = AssetInfo(asset);
  document["file"] = options.file;
  return FinishRun("info", options.file, options.output, {}, nullptr, std::move(document));
}

}  // namespace

void AddInfoCommand(CLI::App* app, int* exit_code) {
  auto options = std::make_shared<InfoOptions>();
  CLI::App* verb = app->add_subcommand(
      "info", "Tells what is in a .plush file: sizes, counts, quality, provenance.");
  verb->add_option("file", options->file, "the .plush file")->required()->type_name("FILE.plush");
  AddOutputOptions(verb, &options->output);
  verb->callback([options, exit_code] { *exit_code = RunInfo(*options); });
}

}  // namespace plush::tools

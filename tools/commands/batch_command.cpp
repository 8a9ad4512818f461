// SPDX-License-Identifier: MIT
// `plush batch`: plans the bakes of a manifest as a build.ninja, runs Ninja on it and reports.
// tools/README.md documents the manifest.

#include "plush/version.h"

#include "base/child_process.h"
#include "base/files.h"
#include "base/text.h"
#include "batch/batch_report.h"
#include "batch/manifest.h"
#include "batch/ninja_file.h"
#include "batch/ninja_run.h"
#include "batch/progress.h"
#include "commands/commands.h"
#include "commands/options.h"
#include "commands/output.h"
#include "import/import_helper.h"
#include "report/source_report.h"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>
#include <set>
#include <thread>
#include <unordered_set>
#include <utility>

namespace plush::tools {
namespace {

constexpr char kVerb[] = "batch";

struct BatchOptions {
  std::string manifest;
  std::string output;
  std::string ninja = "ninja";
  uint32_t jobs = 0;
  bool plan_only = false;
  CacheOptions cache;
  OutputOptions out;
};

struct BatchRun {
  const BatchOptions& options;
  FindingList findings = {};
  Manifest manifest = {};
  std::vector<BatchAsset> assets = {};  // in the order of build.ninja
  std::vector<double> costs = {};       // of each asset
  std::vector<AssetResult> results = {};
};

// The sub-command `bake` of a scratch application, which runs nothing.
CLI::App* AddIdleBake(CLI::App* app) {
  int unused = 0;
  AddBakeCommand(app, &unused);
  CLI::App* verb = app->get_subcommand("bake");
  verb->callback([] {});
  return verb;
}

// What a manifest may call each option of `plush bake`.
std::vector<BakeOptionName> BakeOptionNames() {
  const std::set<std::string> paths = {"pins", "material-map", "embed"};
  const std::set<std::string> reserved = {
      "help",   "output", "depfile", "list-sources", "keep-unchanged", "threads",           "json",
      "report", "quiet",  "verbose", "cache",        "cache-size",     "warnings-as-errors"};
  CLI::App app;
  std::vector<BakeOptionName> names;
  for (const CLI::Option* option : AddIdleBake(&app)->get_options()) {
    for (const std::string& name : option->get_lnames()) {
      OptionKind kind =
          option->get_items_expected_max() == 0 ? OptionKind::kFlag : OptionKind::kWord;
      if (paths.count(name) > 0) kind = OptionKind::kPath;
      if (reserved.count(name) > 0) kind = OptionKind::kReserved;
      names.push_back({name, kind});
    }
  }
  return names;
}

// Lets `plush bake` parse the options of every asset, so that a wrong value stops the batch early.
Result<Done> CheckBakeOptions(const std::vector<BatchAsset>& assets) {
  CLI::App app;
  AddIdleBake(&app);
  std::set<std::vector<std::string>> seen;
  for (const BatchAsset& asset : assets) {
    if (!seen.insert(asset.options).second) continue;
    std::vector<std::string> arguments = {"bake", "in", "--output=out"};
    arguments.insert(arguments.end(), asset.options.begin(), asset.options.end());
    std::ranges::reverse(arguments);  // as CLI11 takes them
    try {
      app.parse(arguments);
    } catch (const CLI::ParseError& error) {
      return Error{ExitCode::kUsage, "options of '" + asset.name + "': " + error.what()};
    }
  }
  return Done{};
}

std::string OwnPath() {
  std::error_code error;
  const auto self = std::filesystem::read_symlink("/proc/self/exe", error);
  return error ? "plush" : self.string();
}

BatchTools ToolsOf(const BatchOptions& options) {
  BatchTools tools{OwnPath(), HelperPath({}), {}};
  if (options.out.warnings_as_errors) tools.options.emplace_back("-W");
  if (!options.cache.folder.empty()) {
    const std::string folder = std::filesystem::absolute(options.cache.folder).string();
    tools.options.push_back("--cache=" + folder);
    tools.options.push_back("--cache-size=" + CacheSizeText(options.cache));
  }
  return tools;
}

// Writes build.ninja unless it is there already.
Result<Done> WriteNinjaFile(const std::string& output_tree, const std::string& text) {
  const std::string path = output_tree + "/" + kNinjaFile;
  const auto old = ReadFile(path);
  const auto bytes = std::as_bytes(std::span(text));
  if (old.ok() && std::ranges::equal(old.value(), bytes)) return Done{};
  return WriteFileAtomically(path, bytes);
}

Result<Done> Plan(BatchRun* run) {
  const std::vector<BakeOptionName> names = BakeOptionNames();
  auto manifest = ReadManifest(run->options.manifest, run->options.output, names);
  if (!manifest.ok()) return manifest.error();
  run->manifest = std::move(manifest.value());
  auto assets = FindAssets(run->manifest, &run->findings);
  if (!assets.ok()) return assets.error().WithContext(run->options.manifest);
  run->assets = std::move(assets.value());
  if (auto done = CheckBakeOptions(run->assets); !done.ok()) {
    return done.error().WithContext(run->options.manifest);
  }
  return Done{};
}

// Whether Ninja has made a file that the plan no longer names.
bool HasDeadOutputs(const std::string& output_tree, const std::map<std::string, double>& logged,
                    const std::vector<BatchAsset>& assets) {
  std::unordered_set<std::string> alive;
  for (const BatchAsset& asset : assets) {
    alive.insert(asset.output);
    alive.insert(ReportPath(asset));
  }
  return std::ranges::any_of(logged, [&](const auto& entry) {
    std::error_code ignored;
    return alive.count(entry.first) == 0 &&
           std::filesystem::exists(output_tree + "/" + entry.first, ignored);
  });
}

// Runs the bakes; shows their progress on a terminal.
Result<Done> Bake(const NinjaSettings& ninja, BatchRun* run) {
  const bool is_shown = ::isatty(STDERR_FILENO) != 0 && !run->options.out.quiet;
  size_t num_bakes = 0;
  double total_cost = 0.0;
  if (is_shown) {
    NinjaSettings dry = ninja;
    dry.is_dry_run = true;
    auto done = RunNinja(dry, [&](const BakeEnd& end) {
      ++num_bakes;
      if (end.index < run->costs.size()) total_cost += run->costs[end.index];
    });
    if (!done.ok()) return done;
  }
  Progress progress(is_shown, num_bakes, total_cost);
  std::vector<BakeEnd> ends;
  const auto done = RunNinja(ninja, [&](const BakeEnd& end) {
    ends.push_back(end);
    if (end.index >= run->assets.size()) return;
    progress.Add(run->assets[end.index].name, run->costs[end.index], end.exit_code != 0);
  });
  progress.Clear();
  run->results = CollectResults(ninja.output_tree, run->assets, ends);
  return done;
}

Result<Done> RunPlan(BatchRun* run) {
  const BatchOptions& options = run->options;
  NinjaSettings ninja;
  ninja.output_tree = run->manifest.output;
  ninja.ninja = FindProgram(options.ninja);
  ninja.jobs = static_cast<int>(
      options.jobs > 0 ? options.jobs : std::max(1u, std::thread::hardware_concurrency()));
  if (ninja.ninja.empty() && !options.plan_only) {
    return Error{ExitCode::kIo, "there is no program '" + options.ninja +
                                    "': install it (Debian: ninja-build), or name it by --ninja"};
  }
  const auto lock = BatchLock::Take(ninja.output_tree, [&] {
    if (options.out.quiet) return;
    std::fprintf(stderr, "plush batch: waiting for another batch in '%s'\n",
                 ninja.output_tree.c_str());
  });
  if (!lock.ok()) return lock.error();
  RemoveTemporaries(ninja.output_tree);
  const auto logged = LoggedCosts(ninja.output_tree);
  run->costs = SortByCost(logged, &run->assets);
  const std::string text = NinjaFileText(run->assets, ToolsOf(options));
  if (auto done = WriteNinjaFile(ninja.output_tree, text); !done.ok()) return done;
  if (options.plan_only) return Done{};
  if (HasDeadOutputs(ninja.output_tree, logged, run->assets)) {
    if (auto done = RemoveDeadOutputs(ninja); !done.ok()) return done;
  }
  return Bake(ninja, run);
}

void PrintResults(const BatchRun& run, double seconds) {
  for (const AssetResult& result : run.results) {
    if (result.exit_code == 0) break;  // failed ones come first
    std::fprintf(stderr, "plush batch: error: %s: %s (exit code %d)\n",
                 PrintableUtf8(result.input).c_str(), PrintableUtf8(result.error).c_str(),
                 result.exit_code);
  }
  if (run.options.out.quiet) return;
  if (run.options.plan_only) {
    std::fprintf(stderr, "plush batch: %zu assets planned\n", run.assets.size());
    return;
  }
  const nlohmann::json counts = ResultsJson(run.results)["counts"];
  std::string line = Counted(run.assets.size(), "asset", "assets");
  for (const auto& state : kAssetStates) {
    const size_t count = counts[state.name].get<size_t>();
    if (count > 0) line += ", " + std::to_string(count) + " " + state.name;
  }
  std::fprintf(stderr, "plush batch: %s; %zu with warnings; %.1f s\n", line.c_str(),
               counts["with_warnings"].get<size_t>(), seconds);
}

// The error of the batch: its own, or that bakes failed. Its exit code is the worst of all.
std::optional<Error> ErrorOf(const BatchRun& run, const Result<Done>& done) {
  const auto has_failed = [](const AssetResult& result) { return result.exit_code != 0; };
  const auto num_failed = std::ranges::count_if(run.results, has_failed);
  if (done.ok() && num_failed == 0) return std::nullopt;
  Error error =
      done.ok() ? Error{ExitCode::kOk, std::to_string(num_failed) + " of " +
                                           Counted(run.assets.size(), "bake", "bakes") + " failed"}
                : done.error();
  const ExitCode worst = std::max(static_cast<ExitCode>(WorstExitCode(run.results)),
                                  ExitCodeOf(run.findings, run.options.out));
  error.exit_code = std::max(error.exit_code, worst);
  return error;
}

int RunBatch(const BatchOptions& options) {
  const auto start = std::chrono::steady_clock::now();
  BatchRun run{options};
  OutputOptions out = options.out;
  Result<Done> done = CheckOutputs({out.report}, {options.manifest});
  if (!done.ok()) out.report.clear();
  if (done.ok()) done = Plan(&run);
  if (done.ok()) done = RunPlan(&run);
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
  if (done.ok() || !run.results.empty()) PrintResults(run, elapsed.count());
  nlohmann::json document = {{"tool_version", kVersionString},
                             {"manifest", options.manifest},
                             {"output", run.manifest.output},
                             {"seconds", elapsed.count()}};
  document.update(ResultsJson(run.results));
  document["counts"]["assets"] = run.assets.size();
  const std::optional<Error> error = ErrorOf(run, done);
  return FinishRun(kVerb, options.manifest, out, run.findings, error ? &*error : nullptr, document);
}

}  // namespace

void AddBatchCommand(CLI::App* app, int* exit_code) {
  const auto options = std::make_shared<BatchOptions>();
  CLI::App* verb = app->add_subcommand(
      kVerb, "Bakes all files that a manifest names, several at a time and only what has changed.");
  verb->add_option("manifest", options->manifest, "what to bake, how, and to where (JSON)")
      ->required()
      ->type_name("FILE.json");
  OptionGroup group(verb, "Batch");
  group.Text("-o,--output", &options->output, "FOLDER", "output tree, instead of the manifest's");
  group.Number("--jobs", &options->jobs, {0.0, 1024.0}, "N",
               "bakes at the same time, of one thread each; 0: one per core");
  group.Text("--ninja", &options->ninja, "PROGRAM", "the program Ninja: a name in PATH, or a path");
  group.Flag("--plan", &options->plan_only,
             std::string("write ") + kNinjaFile + " into the output tree and stop");
  AddCacheOptions(verb, &options->cache);
  AddOutputOptions(verb, &options->out);
  verb->footer(
      "The exit code is the largest of all bakes. tools/README.md documents the manifest.");
  verb->callback([options, exit_code] { *exit_code = RunBatch(*options); });
}

}  // namespace plush::tools

// SPDX-License-Identifier: MIT
// `plush batch`: plans the bakes of a manifest as a build.ninja, runs Ninja on it and reports.
// tools/README.md documents the manifest.

#include "plush/version.h"

#include "base/child_process.h"
#include "base/files.h"
#include "base/text.h"
#include "batch/batch_report.h"
#include "batch/done_bakes.h"
#include "batch/manifest.h"
#include "batch/ninja_file.h"
#include "batch/ninja_run.h"
#include "batch/progress.h"
#include "batch/slurm_run.h"
#include "commands/bake_command.h"
#include "commands/bake_options.h"
#include "commands/commands.h"
#include "commands/options.h"
#include "commands/output.h"
#include "import/import.h"
#include "report/source_report.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <ctime>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <thread>
#include <unordered_set>
#include <utility>

namespace plush::tools {
namespace {

constexpr char kBatchVerb[] = "batch";

struct BatchOptions {
  std::string manifest;
  std::string output;
  std::string ninja = "ninja";
  uint32_t jobs = 0;
  bool plan_only = false;
  bool on_slurm = false;
  double chunk_s = 300.0;  // aimed time of a task of Slurm
  double bake_time_s = 120.0;
  CacheOptions cache;
  OutputOptions out;
};

struct BatchRun {
  const BatchOptions& options;
  FindingList findings = {};
  Manifest manifest = {};
  std::vector<BatchAsset> assets = {};  // in the order of build.ninja
  std::vector<double> costs = {};       // of each asset
  BatchTools tools = {};
  std::map<std::vector<std::string>, BakeOptions> parsed = {};  // by the options of assets
  std::vector<BakeEnd> ends = {};
  std::vector<AssetResult> results = {};
  bool costs_are_known = false;

  bool shows_progress() const { return ::isatty(STDERR_FILENO) != 0 && !options.out.quiet; }
};

std::string OwnPath() {
  std::error_code error;
  const auto self = std::filesystem::read_symlink("/proc/self/exe", error);
  return error ? "plush" : self.string();
}

BatchTools ToolsOf(const BatchOptions& options) {
  BatchTools tools;
  tools.plush = OwnPath();
  tools.importer = HelperPath({});
  if (options.out.warnings_as_errors) tools.options.emplace_back("-W");
  tools.bake_time = NumberText(options.bake_time_s);
  if (!options.cache.folder.empty()) {
    tools.cache = std::filesystem::absolute(options.cache.folder).string();
    tools.cache_size = CacheSizeText(options.cache);
  }
  return tools;
}

// Parses the options of every asset, so that a wrong value stops the batch early.
Result<Done> ParseAllOptions(BatchRun* run) {
  for (const BatchAsset& asset : run->assets) {
    if (run->parsed.count(asset.options) > 0) continue;
    std::vector<std::string> arguments = {"in", "--output=out", "--keep-unchanged", "--quiet"};
    arguments.insert(arguments.end(), run->tools.options.begin(), run->tools.options.end());
    arguments.insert(arguments.end(), asset.options.begin(), asset.options.end());
    auto options = ParseBakeOptions(arguments);
    if (!options.ok()) return options.error().WithContext("options of '" + asset.name + "'");
    options.value().cache = run->options.cache;
    run->parsed.emplace(asset.options, std::move(options.value()));
  }
  return Done{};
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
  run->tools = ToolsOf(run->options);
  if (auto done = ParseAllOptions(run); !done.ok()) {
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
    alive.insert(ReportPath(asset.output));
  }
  return std::ranges::any_of(logged, [&](const auto& entry) {
    std::error_code ignored;
    return alive.count(entry.first) == 0 &&
           std::filesystem::exists(output_tree + "/" + entry.first, ignored);
  });
}

// The bakes that Ninja would run, by their index.
Result<std::vector<size_t>> PendingBakes(const NinjaSettings& ninja, const BatchRun& run) {
  NinjaSettings dry = ninja;
  dry.is_dry_run = true;
  std::vector<size_t> pending;
  auto done = RunNinja(dry, [&](const BakeEnd& end) {
    if (end.index < run.assets.size()) pending.push_back(end.index);
  });
  if (!done.ok()) return done.error();
  return pending;
}

// A bake that was looked up in the cache.
struct CacheLookUp {
  std::optional<std::vector<std::string>> sources;  // of a hit: what it depends on
  bool is_new = false;                              // the output has changed
  FindingList findings;
};

CacheLookUp LookUp(const std::string& output_tree, const BatchRun& run, const BatchAsset& asset,
                   FileKeys* programs) {
  BakeOptions options = run.parsed.at(asset.options);
  options.input = asset.input;
  options.output_path = output_tree + "/" + asset.output;
  options.output.report = output_tree + "/" + ReportPath(asset.output);
  std::error_code ignored;  // Ninja reports it
  for (const std::string& path : {options.output_path, options.output.report}) {
    std::filesystem::create_directories(std::filesystem::path(path).parent_path(), ignored);
  }
  const auto old_time = std::filesystem::last_write_time(options.output_path, ignored);
  CacheLookUp look_up;
  look_up.sources = TakeFromCache(options, programs, &look_up.findings);
  look_up.is_new = std::filesystem::last_write_time(options.output_path, ignored) != old_time;
  return look_up;
}

// Takes bakes from the cache in this process: to start one for each would take longer.
std::vector<CacheLookUp> LookUpAll(const std::string& output_tree,
                                   const std::vector<size_t>& pending, const BatchRun& run) {
  constexpr size_t kNumThreads = 16;  // they wait for disks and networks, not for cores
  std::vector<CacheLookUp> look_ups(pending.size());
  FileKeys programs;
  std::atomic<size_t> next = 0;
  std::vector<std::jthread> threads;
  for (size_t i = 0; i < std::min(kNumThreads, pending.size()); ++i) {
    threads.emplace_back([&] {
      for (size_t k = next++; k < pending.size(); k = next++) {
        look_ups[k] = LookUp(output_tree, run, run.assets[pending[k]], &programs);
      }
    });
  }
  threads.clear();  // joins
  return look_ups;
}

// Removes the hits from `pending`.
void TakeHits(const std::string& output_tree, std::vector<size_t>* pending, BatchRun* run,
              DoneBakes* done) {
  const std::vector<CacheLookUp> look_ups = LookUpAll(output_tree, *pending, *run);
  std::vector<size_t> left;
  for (size_t k = 0; k < look_ups.size(); ++k) {
    const CacheLookUp& look_up = look_ups[k];
    for (const Finding& finding : look_up.findings.all()) {
      run->findings.Add(finding.code, finding.count, finding.message, finding.places);
    }
    const size_t index = (*pending)[k];
    if (look_up.sources) {
      done->Add(run->assets[index], *look_up.sources, look_up.is_new);
    } else {
      left.push_back(index);
    }
  }
  *pending = std::move(left);
}

// Runs the bakes on the cluster, and removes them from `pending`.
Result<Done> BakeOnSlurm(const std::string& output_tree, std::vector<size_t>* pending,
                         BatchRun* run, DoneBakes* done) {
  // Without a cost of any bake, costs are the sizes of the inputs.
  constexpr double kGuessedMean = 10.0;  // [s]
  double total = 0.0;
  for (const double cost : run->costs) total += cost;
  const double mean = total / static_cast<double>(run->costs.size());
  const double seconds = run->costs_are_known || mean <= 0.0 ? 1.0 : kGuessedMean / mean;
  std::vector<SlurmBake> bakes;
  total = 0.0;
  std::ranges::sort(*pending);  // the assets are sorted by cost
  for (const size_t index : *pending) {
    bakes.push_back({&run->assets[index], run->costs[index] * seconds});
    total += bakes.back().cost_s;
  }
  Progress progress(run->shows_progress(), bakes.size(), total);
  const SlurmEvents events = {
      [&](size_t i, bool failed) { progress.Add(bakes[i].asset->name, bakes[i].cost_s, failed); },
      [&](const std::string& message) {
        if (!run->options.out.quiet) std::fprintf(stderr, "plush batch: %s\n", message.c_str());
      }};
  const SlurmSettings settings = {output_tree, run->options.chunk_s};
  const auto ran = RunOnSlurm(settings, run->tools, bakes, events, done);
  progress.Clear();
  if (ran.ok()) pending->clear();
  return ran;
}

// Runs Ninja and collects the results; shows progress on a terminal.
Result<Done> RunAndCollect(const NinjaSettings& ninja, const std::vector<size_t>& pending,
                           BatchRun* run) {
  double total_cost = 0.0;
  for (const size_t index : pending) total_cost += run->costs[index];
  const std::unordered_set<size_t> counted(pending.begin(), pending.end());
  Progress progress(run->shows_progress(), pending.size(), total_cost);
  const auto done = RunNinja(ninja, [&](const BakeEnd& end) {
    run->ends.push_back(end);
    if (!counted.contains(end.index)) return;
    progress.Add(run->assets[end.index].name, run->costs[end.index], end.exit_code != 0);
  });
  progress.Clear();
  run->results = CollectResults(ninja.output_tree, run->assets, run->ends);
  return done;
}

// Runs the bakes that are due.
Result<Done> BakePending(const NinjaSettings& ninja, BatchRun* run) {
  struct timespec start = {};
  ::clock_gettime(CLOCK_REALTIME_COARSE, &start);  // the clock of file times
  auto pending = PendingBakes(ninja, *run);
  if (!pending.ok()) return pending.error();
  if (pending.value().empty()) {
    run->results = CollectResults(ninja.output_tree, run->assets, run->ends);
    return Done{};
  }
  DoneBakes done_bakes(ninja.output_tree, run->tools);
  if (!run->options.cache.folder.empty()) {
    TakeHits(ninja.output_tree, &pending.value(), run, &done_bakes);
  }
  if (run->options.on_slurm && !pending.value().empty()) {
    auto done = BakeOnSlurm(ninja.output_tree, &pending.value(), run, &done_bakes);
    if (!done.ok()) return done;
  }
  const auto done = RunAndCollect(ninja, pending.value(), run);
  done_bakes.ForgetChanged(start);
  return done;
}

// Keeps what the bakes of this run took.
Result<Done> NoteCosts(const std::string& output_tree, std::map<std::string, double> costs,
                       const BatchRun& run) {
  bool any = false;
  for (const AssetResult& result : run.results) {
    if (result.state != AssetState::kBaked && result.state != AssetState::kCached) continue;
    if (result.seconds <= 0.0) continue;
    costs[result.output] = result.seconds;
    any = true;
  }
  return any ? KeepCosts(output_tree, costs) : Done{};
}

Result<Done> Bake(const NinjaSettings& ninja, BatchRun* run) {
  const auto done = BakePending(ninja, run);
  const bool is_stale = done.ok() && ForgetStale(ninja.output_tree, run->results);
  return is_stale ? BakePending(ninja, run) : done;
}

Result<Done> RunPlan(BatchRun* run) {
  const BatchOptions& options = run->options;
  NinjaSettings ninja;
  ninja.cache = run->tools.cache;
  ninja.cache_size = run->tools.cache_size;
  ninja.bake_time = run->tools.bake_time;
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
  EndOldSlurmRuns(ninja.output_tree);
  RemoveTemporaries(ninja.output_tree);
  const auto logged = LoggedCosts(ninja.output_tree);
  std::map<std::string, double> costs = KeptCosts(ninja.output_tree);
  costs.insert(logged.begin(), logged.end());
  run->costs_are_known = !costs.empty();
  run->costs = SortByCost(costs, &run->assets);
  const std::string text = NinjaFileText(run->assets, run->tools);
  if (auto done = WriteNinjaFile(ninja.output_tree, text); !done.ok()) return done;
  if (options.plan_only) return Done{};
  // If nothing is asked for, the folder of the inputs may be gone for a while.
  if (!run->assets.empty() && HasDeadOutputs(ninja.output_tree, logged, run->assets)) {
    if (auto done = RemoveDeadOutputs(ninja); !done.ok()) return done;
  }
  const auto done = Bake(ninja, run);
  const auto noted = NoteCosts(ninja.output_tree, KeptCosts(ninja.output_tree), *run);
  return done.ok() ? noted : done;
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
  return FinishRun(kBatchVerb, options.manifest, out, run.findings, error ? &*error : nullptr,
                   document);
}

}  // namespace

void AddBatchCommand(CLI::App* app, int* exit_code) {
  const auto options = std::make_shared<BatchOptions>();
  CLI::App* verb = app->add_subcommand(
      kBatchVerb,
      "Bakes all files that a manifest names, several at a time and only what has changed.");
  verb->add_option("manifest", options->manifest, "what to bake, how, and to where (JSON)")
      ->required()
      ->type_name("FILE.json");
  OptionGroup group(verb, "Batch");
  group.Text("-o,--output", &options->output, "FOLDER", "output tree, instead of the manifest's");
  group.Number("--jobs", &options->jobs, {0.0, 1024.0}, "N",
               "bakes at the same time, of one thread each; 0: one per core");
  group.Number("--bake-time", &options->bake_time_s, kTimeLimitRange, "SECONDS",
               "time limit of each bake [s], unless the manifest gives another");
  group.Text("--ninja", &options->ninja, "PROGRAM", "the program Ninja: a name in PATH, or a path");
  group.Flag("--plan", &options->plan_only,
             std::string("write ") + kNinjaFile + " into the output tree and stop");
  OptionGroup cluster(verb, "Cluster");
  cluster.Flag("--slurm", &options->on_slurm,
               "bake by job arrays of a Slurm cluster, whose nodes share all folders; sbatch takes "
               "partition, account and the like from its environment, as SBATCH_PARTITION");
  cluster.Number("--slurm-task", &options->chunk_s, {0.0, 86400.0}, "SECONDS",
                 "aimed time of a task: it bakes several assets, by what they took last");
  AddCacheOptions(verb, &options->cache);
  AddOutputOptions(verb, &options->out);
  verb->footer(
      "The exit code is the largest of all bakes. tools/README.md documents the manifest.");
  verb->callback([options, exit_code] { *exit_code = RunBatch(*options); });
}

}  // namespace plush::tools

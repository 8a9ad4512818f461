// SPDX-License-Identifier: MIT
#include "batch/slurm_run.h"

#include "base/child_process.h"
#include "base/files.h"
#include "base/text.h"

#include <stdlib.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <numeric>
#include <string_view>
#include <thread>
#include <utility>

namespace plush::tools {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

constexpr char kRunPrefix[] = "slurm.";
constexpr size_t kResultsPerFolder = 1000;
constexpr int kMaxRounds = 4;            // submissions of a bake
constexpr double kLeastPatience = 60.0;  // [s] without a result, before bakes are submitted again
constexpr double kPatience = 4.0;        // times the longest bake that is missing
constexpr uint64_t kMaxJobLogBytes = 1 << 16;

// Runs a chunk: $1 is the number of the array's first chunk.
constexpr char kTaskScript[] = R"sh(
bake() {
  result=$run/done/$1
  shift
  [ ! -d "$result" ] || return 0
  scratch=$(mktemp -d "$run/tmp/XXXXXXXXXXXX") || exit
  "$plush" bake "$@" -o "$scratch/asset.plush" --report "$scratch/report.json" \
    --list-sources --threads 1 -q >"$scratch/sources" 2>"$scratch/log"
  # Without its code, as on a full disk, it is no result.
  echo $? >"$scratch/code" && mv -T "$scratch" "$result" 2>/dev/null || rm -rf "$scratch"
}
. "$run/chunks/$(($1 + SLURM_ARRAY_TASK_ID))"
)sh";

Result<std::string> RunProgram(const std::string& name, std::vector<std::string> arguments) {
  const std::string path = FindProgram(name);
  if (path.empty()) {
    return Error{ExitCode::kIo, "there is no program '" + name +
                                    "': install Slurm's commands (Debian: slurm-client)"};
  }
  arguments.insert(arguments.begin(), path);
  ChildLimits limits;
  limits.time_s = 600.0;
  const auto child = RunChild(arguments, limits);
  if (!child.ok()) return child.error();
  const ChildResult& result = child.value();
  if (result.end != ChildEnd::kExited || result.exit_code != 0) {
    return Error{ExitCode::kIo, name + " failed: " + LastLine(result.err)};
  }
  return std::string(reinterpret_cast<const char*>(result.out.data()), result.out.size());
}

// The jobs of a run have the name of its folder.
std::string JobName(const fs::path& run) { return "plush-" + run.filename().string(); }

// Ends the jobs of a run and removes its folder. Tasks end a little later and may still make files:
// what they leave after these seconds goes with the next batch.
void Abandon(const fs::path& run) {
  constexpr int kNumTries = 20;
  (void)RunProgram("scancel", {"--name=" + JobName(run)});
  std::error_code error;
  for (int i = 0; i < kNumTries; ++i) {
    fs::remove_all(run, error);
    if (!error) return;
    std::this_thread::sleep_for(std::chrono::milliseconds(250));
  }
}

std::string ReadText(const std::string& path) {
  const auto bytes = ReadFile(path, kMaxJobLogBytes);
  if (!bytes.ok()) return "";
  return {reinterpret_cast<const char*>(bytes.value().data()), bytes.value().size()};
}

std::vector<std::string> SourcesIn(const std::string& text) {
  const std::string prefix = std::string(kSourceLine) + " ";
  std::vector<std::string> sources;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    const std::string line = text.substr(begin, end - begin);
    if (line.starts_with(prefix)) sources.push_back(line.substr(prefix.size()));
    begin = end + 1;
  }
  return sources;
}

// Whether a task of these lines, of state and reason, waits for a node. Slurm holds tasks of dead
// nodes back for two minutes (BeginTime): they do not count.
bool AnyWaits(std::string_view jobs) {
  while (!jobs.empty()) {
    const std::string_view line = jobs.substr(0, jobs.find('\n'));
    jobs.remove_prefix(std::min(line.size() + 1, jobs.size()));
    if (line.starts_with("PENDING") && !line.ends_with("BeginTime")) return true;
  }
  return false;
}

class SlurmRun {
 public:
  SlurmRun(const SlurmSettings& settings, std::span<const SlurmBake> bakes,
           const SlurmEvents& events, DoneBakes* done)
      : settings_(settings), bakes_(bakes), events_(events), done_(done) {
    for (size_t i = 0; i < bakes.size(); ++i) missing_.push_back(i);
  }
  ~SlurmRun() {
    if (!run_.empty()) Abandon(run_);
  }
  SlurmRun(const SlurmRun&) = delete;
  SlurmRun& operator=(const SlurmRun&) = delete;

  Result<Done> MakeFolder(const BatchTools& tools) {
    std::string name = settings_.output_tree + "/" + kBatchFolder + "/" + kRunPrefix + "XXXXXX";
    if (::mkdtemp(name.data()) == nullptr) {
      return Error{ExitCode::kIo, "cannot make a folder in '" + settings_.output_tree + "'"};
    }
    run_ = name;
    std::error_code error;
    fs::permissions(run_, fs::perms::owner_all | fs::perms::group_all, error);
    for (const char* folder : {"chunks", "log", "tmp", "done"}) {
      fs::create_directory(run_ / folder, error);
    }
    for (size_t i = 0; i < bakes_.size(); i += kResultsPerFolder) {
      fs::create_directory(run_ / "done" / std::to_string(i / kResultsPerFolder), error);
    }
    const std::string script = "#!/bin/sh\nrun=" + ShellWord(run_.string()) +
                               "\nplush=" + ShellWord(tools.plush) + kTaskScript;
    tool_options_ = tools.options;
    tool_options_.push_back("--bake-time=" + tools.bake_time);
    if (!tools.cache.empty()) {
      tool_options_.push_back("--cache=" + tools.cache);
      tool_options_.push_back("--cache-size=" + tools.cache_size);
    }
    return Write(run_ / "task.sh", script);
  }

  Result<Done> Run() {
    for (int round = 1; round <= kMaxRounds && !missing_.empty(); ++round) {
      if (round > 1) events_.on_message(std::to_string(missing_.size()) + " missing: sent again");
      // What is missing goes to tasks of one bake each, unless it is very much: a bake that kills
      // its node harms no other.
      const double chunk_cost = round == 1 ? settings_.chunk_s : 0.0;
      if (auto done = Submit(chunk_cost); !done.ok()) return done;
      Wait(round == kMaxRounds);
    }
    for (const size_t i : missing_) {
      done_->AddFailed(
          *bakes_[i].asset,
          "no node finished this bake: does each see all folders, and have they space?",
          static_cast<int>(ExitCode::kHelperDied));
      events_.on_end(i, true);
    }
    return Done{};
  }

 private:
  static Result<Done> Write(const fs::path& path, const std::string& text) {
    return WriteFileAtomically(path.string(), std::as_bytes(std::span(text)));
  }

  static std::string ResultName(size_t bake) {
    return std::to_string(bake / kResultsPerFolder) + "/" + std::to_string(bake);
  }

  std::string ChunkText(std::span<const size_t> chunk) const {
    std::string text;
    for (const size_t i : chunk) {
      const BatchAsset& asset = *bakes_[i].asset;
      text += "bake " + ResultName(i) + " " + ShellWord(asset.input);
      for (const auto* options : {&tool_options_, &asset.options}) {
        for (const std::string& option : *options) text += " " + ShellWord(option);
      }
      text += "\n";
    }
    return text;
  }

  Result<Done> Submit(double chunk_cost) {
    std::vector<double> costs;
    for (const size_t i : missing_) costs.push_back(bakes_[i].cost_s);
    const std::vector<size_t> ends = CutIntoChunks(costs, RoundChunkCost(costs, chunk_cost));
    const size_t first = num_chunks_;
    size_t begin = 0;
    for (const size_t end : ends) {
      const std::string text = ChunkText(std::span(missing_).subspan(begin, end - begin));
      auto done = Write(run_ / "chunks" / std::to_string(num_chunks_++), text);
      if (!done.ok()) return done;
      begin = end;
    }
    for (size_t chunk = first; chunk < num_chunks_; chunk += kMaxArrayTasks) {
      const size_t last = std::min(kMaxArrayTasks, num_chunks_ - chunk) - 1;
      auto job = RunProgram("sbatch",
                            {"--parsable", "--requeue", "--job-name=" + JobName(run_),
                             "--array=0-" + std::to_string(last), "--ntasks=1", "--cpus-per-task=1",
                             "--output=" + (run_ / "log").string() + "/%A_%a", "--open-mode=append",
                             (run_ / "task.sh").string(), std::to_string(chunk)});
      if (!job.ok()) return job.error();
    }
    return Done{};
  }

  // Until no bake is missing, no job is left, or nothing has come for long while none waits.
  void Wait(bool is_last_round) {
    auto last_result = Clock::now();
    while (true) {
      const auto jobs = RunProgram(
          "squeue", {"--noheader", "--array", "--format=%T %r", "--name=" + JobName(run_)});
      const size_t num_missing = missing_.size();
      Collect();
      if (missing_.size() < num_missing) last_result = Clock::now();
      // A controller that does not answer may come back.
      if (missing_.empty() || (jobs.ok() && jobs.value().empty())) return;
      const bool is_waiting = !jobs.ok() || AnyWaits(jobs.value());
      const std::chrono::duration<double> silence = Clock::now() - last_result;
      if (!is_last_round && !is_waiting && silence.count() > Patience()) return;
      const double pause_s = std::clamp(static_cast<double>(missing_.size()) / 1000.0, 1.0, 10.0);
      std::this_thread::sleep_for(std::chrono::duration<double>(pause_s));
    }
  }

  double Patience() const {
    double longest = 0.0;
    for (const size_t i : missing_) longest = std::max(longest, bakes_[i].cost_s);
    return std::max(kLeastPatience, kPatience * longest);
  }

  // Takes the results that have come. A folder with missing ones is listed: on network file systems
  // this sees new names earlier than questions for each.
  void Collect() {
    std::vector<bool> is_there(bakes_.size(), false);
    size_t listed = SIZE_MAX;
    for (const size_t i : missing_) {
      if (std::exchange(listed, i / kResultsPerFolder) == i / kResultsPerFolder) continue;
      std::error_code error;
      const fs::path folder = run_ / "done" / std::to_string(listed);
      for (fs::directory_iterator it(folder, error), end; !error && it != end;
           it.increment(error)) {
        const std::string name = it->path().filename().string();
        std::string_view text = name;
        size_t bake = 0;
        if (TakeNumber(&text, &bake) && bake < is_there.size()) is_there[bake] = true;
      }
    }
    std::erase_if(missing_, [&](size_t i) { return is_there[i] && Publish(i); });
  }

  // Moves a result into the tree. False if it cannot be read yet, as network file systems may
  // delay.
  bool Publish(size_t bake) {
    const BatchAsset& asset = *bakes_[bake].asset;
    const std::string folder = (run_ / "done" / ResultName(bake)).string();
    const std::string code_text = ReadText(folder + "/code");
    std::string_view digits = code_text;
    int code = 0;
    if (!TakeNumber(&digits, &code)) return false;
    const fs::path output = settings_.output_tree + "/" + asset.output;
    const fs::path report = settings_.output_tree + "/" + ReportPath(asset.output);
    std::error_code error;
    fs::create_directories(output.parent_path(), error);
    fs::create_directories(report.parent_path(), error);
    error.clear();
    bool is_new = false;
    if (code == 0) {
      const auto made = ReadFile(folder + "/asset.plush");
      const auto old = ReadFile(output.string());
      is_new = !old.ok() || !made.ok() || old.value() != made.value();
      if (is_new) fs::rename(folder + "/asset.plush", output, error);
    }
    std::error_code no_report;
    fs::rename(folder + "/report.json", report, no_report);
    if (!error) error = no_report;
    if (code == 0 && !error) {
      done_->Add(asset, SourcesIn(ReadText(folder + "/sources")), is_new);
    } else if (code != 0) {
      done_->AddFailed(asset, LastLine(ReadText(folder + "/log")), code);
    } else {
      done_->AddFailed(asset, "cannot write '" + asset.output + "': " + error.message(),
                       static_cast<int>(ExitCode::kIo));
    }
    fs::remove_all(folder + "/asset.plush", error);
    events_.on_end(bake, code != 0);
    return true;
  }

  const SlurmSettings& settings_;
  std::span<const SlurmBake> bakes_;
  const SlurmEvents& events_;
  DoneBakes* done_;
  std::vector<std::string> tool_options_;
  fs::path run_;                 // empty until it is made
  std::vector<size_t> missing_;  // rising
  size_t num_chunks_ = 0;
};

}  // namespace

std::vector<size_t> CutIntoChunks(std::span<const double> costs, double chunk_cost) {
  std::vector<size_t> ends;
  double cost = 0.0;
  for (size_t i = 0; i < costs.size(); ++i) {
    cost += costs[i];
    if (cost < chunk_cost && i + 1 < costs.size()) continue;
    ends.push_back(i + 1);
    cost = 0.0;
  }
  return ends;
}

double RoundChunkCost(std::span<const double> costs, double wanted) {
  if (costs.size() <= kMaxRoundTasks) return wanted;
  return std::max(wanted, std::accumulate(costs.begin(), costs.end(), 0.0) / kMaxRoundTasks);
}

void EndOldSlurmRuns(const std::string& output_tree) {
  std::vector<fs::path> old_runs;
  std::error_code error;
  for (fs::directory_iterator it(output_tree + "/" + kBatchFolder, error), end; !error && it != end;
       it.increment(error)) {
    if (it->path().filename().native().starts_with(kRunPrefix)) old_runs.push_back(it->path());
  }
  for (const fs::path& run : old_runs) Abandon(run);
}

Result<Done> RunOnSlurm(const SlurmSettings& settings, const BatchTools& tools,
                        std::span<const SlurmBake> bakes, const SlurmEvents& events,
                        DoneBakes* done) {
  SlurmRun run(settings, bakes, events, done);
  auto made = run.MakeFolder(tools);
  return made.ok() ? run.Run() : made;
}

}  // namespace plush::tools

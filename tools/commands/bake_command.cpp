// SPDX-License-Identifier: MIT
// `plush bake`: reads a source mesh, bakes it (bake/bake.h) and writes a .plush file.
// tools/README.md documents options, phases and exit codes.

#include "commands/bake_command.h"

#include "plush/asset.h"
#include "plush/version.h"

#include "bake/bake.h"
#include "bake/static_bake.h"
#include "base/child_process.h"
#include "base/files.h"
#include "base/text.h"
#include "commands/bake_cache.h"
#include "commands/bake_options.h"
#include "commands/bake_watch.h"
#include "commands/commands.h"
#include "commands/output.h"
#include "import/import.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>
#include <type_traits>
#include <utility>
#include <variant>

namespace plush::tools {
namespace {

constexpr char kBakeVerb[] = "bake";
constexpr uint64_t kMaxSideCarBytes = 16u << 20;

// Largest resident size so far of this process or of one of its children [bytes].
uint64_t PeakMemoryBytes() {
  struct rusage own = {};
  struct rusage children = {};
  ::getrusage(RUSAGE_SELF, &own);
  ::getrusage(RUSAGE_CHILDREN, &children);
  return 1024u * static_cast<uint64_t>(std::max(own.ru_maxrss, children.ru_maxrss));
}

// Refuses wrong options before any work.
Result<Done> CheckOptions(const BakeOptions& options) {
  if (options.is_static && !options.given_body_options.empty()) {
    return Error{ExitCode::kUsage,
                 options.given_body_options.front() +
                     " is for soft bodies: leave it out, or leave out --static",
                 ""};
  }
  if (!options.is_static && options.sides) {
    return Error{ExitCode::kUsage, "--sides goes with --static only", ""};
  }
  const Mesher mesher = options.settings.mesher;
  if (!options.settings.import.embed.empty() && mesher != Mesher::kAuto &&
      mesher != Mesher::kImport) {
    return Error{ExitCode::kUsage, "--embed goes with --mesher import only", ""};
  }
  if (options.settings.simplify.triangles && mesher == Mesher::kTetGen) {
    return Error{ExitCode::kUsage,
                 "--collision-triangles does not go with --mesher tetgen, whose tets end at the "
                 "surface",
                 ""};
  }
  return CheckOutputs({options.output_path, options.depfile, options.output.report},
                      {options.input, options.pins, options.material_map, options.tuning,
                       options.settings.import.embed});
}

Result<std::string> ReadSideCar(const std::string& path) {
  const auto bytes = ReadFile(path, kMaxSideCarBytes);
  if (!bytes.ok()) return bytes.error();
  // An empty file is a broken side-car, not a missing one.
  if (bytes.value().empty()) return std::string(" ");
  return std::string(reinterpret_cast<const char*>(bytes.value().data()), bytes.value().size());
}

// The file that an error of the bake is about.
const std::string& FileOf(const Error& error, const BakeOptions& options) {
  if (error.finding_code == "PIN_INVALID") return options.pins;
  return error.finding_code == "MATERIAL_INVALID" ? options.material_map : options.input;
}

struct BakeVerb {
  const BakeOptions& options;
  FindingList findings = {};
  FindingList cache_findings = {};
  std::vector<Stage> stages = {};
  std::vector<std::string> sources = {};  // files that the import has read beside the main one
  std::vector<std::string> missing = {};  // files that the importer looked for in vain
  std::vector<std::byte> bytes = {};      // the .plush file
  std::variant<BakeSummary, StaticSummary> summary = {};  // unless cached
  std::optional<CachedBake> cached = {};
  bool written = false;
};

// Bakes and keeps the bytes and the summary.
template <class Settings>
Result<Done> BakeModel(const ImportedModel& model, const Settings& settings, StageClock* clock,
                       BakeVerb* run) {
  auto baked = [&] {
    if constexpr (std::is_same_v<Settings, StaticSettings>) {
      return BakeStatic(model, settings, &run->findings, clock);
    } else {
      return Bake(model, settings, &run->findings, clock);
    }
  }();
  if (!baked.ok()) return baked.error().WithContext(FileOf(baked.error(), run->options));
  auto& [bytes, summary] = baked.value();
  run->bytes = std::move(bytes);
  run->summary = std::move(summary);
  return Done{};
}

Result<Done> ImportAndBake(StageClock* clock, BakeVerb* run) {
  const BakeOptions& options = run->options;
  clock->Begin("import");
  BakeSettings settings = options.settings;
  for (const auto& [path, text] : {std::pair(&options.pins, &settings.pins_json),
                                   std::pair(&options.material_map, &settings.materials_json)}) {
    if (path->empty()) continue;
    const Result<std::string> read = ReadSideCar(*path);
    if (!read.ok()) return read.error();
    *text = read.value();
  }
  if (!options.tuning.empty()) {
    const Result<std::string> read = ReadSideCar(options.tuning);
    if (!read.ok()) return read.error();
    const Result<Tuning> tuning = ParseTuning(read.value());
    if (!tuning.ok()) return tuning.error().WithContext(options.tuning);
    settings.tuning = tuning.value();
  }
  auto model = ImportModel(options.input, options.settings.import, &run->findings);
  if (!model.ok()) return model.error();
  run->sources = model.value().dependencies;
  run->missing = model.value().missing;
  if (!options.is_static) return BakeModel(model.value(), settings, clock, run);
  return BakeModel(model.value(),
                   StaticSettings{options.sides, settings.material, settings.materials_json,
                                  settings.import, settings.threads},
                   clock, run);
}

// The command line for a shell: words are quoted if they need it.
std::string CommandText(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) {
    const bool is_plain =
        !word.empty() && word.find_first_not_of(
                             "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                             "0123456789_-+=./:,@%") == std::string::npos;
    text += (text.empty() ? "" : " ") + (is_plain ? word : ShellWord(word));
  }
  return text;
}

// What every report says.
nlohmann::json BaseDocument(const BakeOptions& options, const std::vector<Stage>& stages) {
  return {{"tool_version", kVersionString}, {"input", options.input},
          {"output", options.output_path},  {"command", CommandText(options.command)},
          {"stages", StagesJson(stages)},   {"peak_memory_bytes", PeakMemoryBytes()}};
}

// Imports and bakes with a watch on the time. If the time is up, the watch reports that alone: the
// findings so far belong to the thread that works.
Result<Done> ImportAndBakeInTime(BakeVerb* run) {
  const BakeOptions& options = run->options;
  StageClock clock;
  const auto on_limit = [&](const Stage& stage) {
    const Error error = {ExitCode::kLimit,
                         "the bake was not done after " + RoundedText(*options.time_limit_s) +
                             " s: it was at the stage '" + stage.name + "' for " +
                             NumberText(stage.seconds, 3) + " s",
                         "BAKE_TIME"};
    FindingList findings;
    findings.Add(error.finding_code, 1, error.message);
    return FinishRun(kBakeVerb, options.input, options.output, findings, &error,
                     BaseDocument(options, clock.stages()));
  };
  const bool shows_progress = ::isatty(STDERR_FILENO) != 0 && !options.output.quiet;
  const BakeWatch watch(&clock, {shows_progress, options.time_limit_s, on_limit});
  auto done = ImportAndBake(&clock, run);
  run->stages = clock.stages();
  return done;
}

// Every file that the output depends on, the main one first.
std::vector<std::string> AllSources(const BakeVerb& run) {
  const BakeOptions& options = run.options;
  std::vector<std::string> sources = run.sources;
  sources.insert(sources.begin(), options.input);
  for (const std::string& side_car : {options.pins, options.material_map, options.tuning}) {
    if (!side_car.empty()) sources.push_back(side_car);
  }
  return sources;
}

std::vector<std::string> Absolute(std::vector<std::string> paths) {
  for (std::string& path : paths) path = std::filesystem::absolute(path).string();
  return paths;
}

// Warns of dependencies that no depfile can tell.
void CheckDepfile(BakeVerb* run) {
  if (run->options.depfile.empty()) return;
  std::vector<std::string> names = AllSources(*run);
  names.push_back(run->options.output_path);
  std::erase_if(names, [](const std::string& name) { return !HasLineEnd(name); });
  if (names.empty()) return;
  run->findings.Add("DEPFILE_INCOMPLETE", names.size(),
                    "'" + PrintableUtf8(names.front()) + "' has a line end in its name");
}

// Whether the output has these bytes already.
bool IsUnchanged(const BakeVerb& run) {
  const auto old = ReadFile(run.options.output_path, run.bytes.size());
  return old.ok() && old.value() == run.bytes;
}

Result<Done> WriteOutputs(BakeVerb* run) {
  const BakeOptions& options = run->options;
  StageClock clock;
  clock.Begin("write");
  std::vector<FileContent> files;
  std::string depfile;
  if (!options.depfile.empty()) {
    depfile = DepfileText(options.output_path, AllSources(*run));
    files.push_back({options.depfile, std::as_bytes(std::span(depfile))});
  }
  if (!options.keep_unchanged || !IsUnchanged(*run)) {
    files.push_back({options.output_path, run->bytes});
  }
  if (auto done = WriteFilesAtomically(files); !done.ok()) return done;
  clock.End();
  run->stages.push_back(clock.stages().front());
  run->written = true;
  if (!options.list_sources) return Done{};
  for (const std::string& source : Absolute(AllSources(*run))) {
    std::printf("%s %s\n", kSourceLine, source.c_str());
  }
  return Done{};
}

nlohmann::json AttemptsJson(const std::vector<CageAttempt>& attempts) {
  nlohmann::json list = nlohmann::json::array();
  for (const CageAttempt& attempt : attempts) {
    list.push_back({{"reason", attempt.reason},
                    {"wanted_tets", attempt.wanted_tets},
                    {"cell_m", attempt.cell_m},
                    {"lattice_tets", attempt.lattice_tets},
                    {"tets", attempt.tets},
                    {"fits", attempt.fits},
                    {"fitted", attempt.is_fitted},
                    {"untorn", attempt.is_untorn}});
  }
  return list;
}

nlohmann::json SummaryJson(const BakeSummary& summary) {
  return {{"nodes", summary.nodes},
          {"tets", summary.tets},
          {"components", summary.components},
          {"split_tets", summary.split_tets},
          {"split_nodes", summary.split_nodes},
          {"shared_tets", summary.shared_tets},
          {"branches", summary.branches},
          {"attempts", AttemptsJson(summary.attempts)},
          {"cell_m", summary.cell_m},
          {"cage_volume_m3", summary.cage_volume_m3},
          {"solid_volume_m3", summary.solid_volume_m3},
          {"mass_kg", summary.mass_kg},
          {"light_nodes", summary.light_nodes},
          {"embedding_error_m", summary.embedding_error_m},
          {"vertices_outside", summary.vertices_outside},
          {"factor_nonzeros", summary.factor_nonzeros},
          {"clusters", summary.clusters},
          {"straddling_tets", summary.straddling_tets},
          {"materials", summary.materials},
          {"regions", summary.regions}};
}

nlohmann::json CollisionJson(const BakeSummary& summary) {
  return {{"simplified_triangles", summary.simplified_triangles},
          {"simplified_distance_m", summary.simplified_distance_m},
          {"tets", summary.collision_tets},
          {"patches", summary.collision_patches},
          {"triangles", summary.collision_triangles},
          {"vertices", summary.collision_vertices},
          {"crossings", summary.crossings},
          {"merged_edges", summary.merged_edges},
          {"seams", summary.seams}};
}

nlohmann::json StaticJson(const StaticSummary& summary, size_t file_bytes) {
  return {{"vertices", summary.vertices},
          {"triangles", summary.triangles},
          {"dropped_triangles", summary.source_triangles - summary.triangles},
          {"open_edges", summary.open_edges},
          {"materials", summary.materials},
          {"sides", NameOf<std::optional<MeshSides>>(kSides, summary.sides)},
          {"bytes_per_triangle",
           static_cast<double>(file_bytes) / static_cast<double>(summary.triangles)}};
}

nlohmann::json DocumentOf(const BakeVerb& run) {
  nlohmann::json document = BaseDocument(run.options, run.stages);
  if (run.bytes.empty()) return document;
  document["file_bytes"] = run.bytes.size();
  document["missing_files"] = Absolute(run.missing);
  if (!run.options.cache.folder.empty()) document["cache"] = run.cached ? "hit" : "miss";
  if (run.cached) {
    document.update(run.cached->document);
  } else if (const auto* summary = std::get_if<StaticSummary>(&run.summary)) {
    document["static_mesh"] = StaticJson(*summary, run.bytes.size());
  } else {
    document["simulation"] = SummaryJson(std::get<BakeSummary>(run.summary));
    document["collision"] = CollisionJson(std::get<BakeSummary>(run.summary));
  }
  return document;
}

void PrintCage(const BakeSummary& summary) {
  std::fprintf(stderr, "plush bake: cage of %.4g m^3 around a solid of %.4g m^3, %u %s\n",
               summary.cage_volume_m3, summary.solid_volume_m3, summary.components,
               summary.components == 1 ? "component" : "components");
  std::fprintf(stderr, "plush bake: %u clusters of nodes, %.1f%% of the tets straddle them\n",
               summary.clusters, 100.0 * summary.straddling_tets);
  if (summary.simplified_triangles > 0) {
    std::fprintf(
        stderr,
        "plush bake: collision surface of %zu triangles, cut into %zu, within %.4g m of the "
        "surface\n",
        summary.simplified_triangles, summary.collision_triangles, summary.simplified_distance_m);
  }
  if (summary.light_nodes > 0) {
    std::fprintf(stderr, "plush bake: %u nodes have the least mass, a thousandth of the mean\n",
                 summary.light_nodes);
  }
  if (summary.cell_m <= 0.0) return;
  std::fprintf(stderr,
               "plush bake: cells of %.4g m; %u tets and %u nodes are copies; %u tets hold several "
               "pieces; %u branches\n",
               summary.cell_m, summary.split_tets, summary.split_nodes, summary.shared_tets,
               summary.branches);
}

void PrintOutput(const BakeVerb& run) {
  const char* path = run.options.output_path.c_str();
  const size_t num_bytes = run.bytes.size();
  if (run.cached) {
    std::fprintf(stderr, "plush bake: %s: %zu bytes, from the cache\n", path, num_bytes);
  } else if (const auto* mesh = std::get_if<StaticSummary>(&run.summary)) {
    std::fprintf(stderr, "plush bake: %s: %zu triangles, %zu vertices, sides %s, %zu bytes\n", path,
                 mesh->triangles, mesh->vertices,
                 NameOf<std::optional<MeshSides>>(kSides, mesh->sides).c_str(), num_bytes);
  } else {
    const BakeSummary& body = std::get<BakeSummary>(run.summary);
    std::fprintf(stderr, "plush bake: %s: %zu tets, %zu nodes, %.4g kg, %zu bytes\n", path,
                 body.tets, body.nodes, body.mass_kg, num_bytes);
  }
}

void PrintSummary(const BakeVerb& run) {
  const OutputOptions& output = run.options.output;
  if (run.written && !output.quiet) PrintOutput(run);
  if (output.verbosity() <= 0) return;
  const auto* body = std::get_if<BakeSummary>(&run.summary);
  if (run.written && body != nullptr && !run.cached) PrintCage(*body);
  for (const Stage& stage : run.stages) {
    std::fprintf(stderr, "plush bake: %-8s %.3f s\n", stage.name.c_str(), stage.seconds);
  }
}

BakeCacheInputs CacheInputsOf(const BakeOptions& options) {
  BakeCacheInputs inputs;
  inputs.source = options.input;
  inputs.side_cars = {options.pins, options.material_map, options.tuning,
                      options.settings.import.embed};
  inputs.options = options.given_words;
  inputs.programs = {"/proc/self/exe", HelperPath(options.settings.import)};
  if (options.settings.mesher == Mesher::kTetGen) {
    inputs.programs.push_back(FindProgram(options.settings.tetgen.program));
  }
  return inputs;
}

// Whether the cache has the bake.
bool FindInCache(FileKeys* programs, BakeCache* cache, BakeVerb* run) {
  StageClock clock;
  clock.Begin("cache");
  run->cached = cache->Find(programs, &run->cache_findings);
  clock.End();
  if (!run->cached) return false;
  run->stages = clock.stages();
  run->bytes = std::move(run->cached->bytes);
  run->sources = run->cached->sources;
  run->missing = run->cached->missing;
  run->findings = std::move(run->cached->findings);
  return true;
}

// Bakes, or takes the bake from the cache.
Result<Done> MakeBytes(BakeVerb* run) {
  const BakeOptions& options = run->options;
  if (options.cache.folder.empty()) return ImportAndBakeInTime(run);
  BakeCache cache(options.cache, CacheInputsOf(options));
  FileKeys programs;
  if (FindInCache(&programs, &cache, run)) return Done{};
  cache.BeginBake();
  auto done = ImportAndBakeInTime(run);
  if (!done.ok() || ExitCodeOf(run->findings, options.output) != ExitCode::kOk) return done;
  nlohmann::json document = DocumentOf(*run);
  for (const char* key :
       {"input", "output", "command", "stages", "peak_memory_bytes", "cache", "missing_files"}) {
    document.erase(key);
  }
  double seconds = 0.0;
  for (const Stage& stage : run->stages) seconds += stage.seconds;
  document["bake_seconds"] = seconds;
  cache.Keep({run->bytes, run->findings, document, run->sources, run->missing},
             &run->cache_findings);
  return done;
}

int RunBake(const BakeOptions& options) {
  BakeVerb run{options};
  OutputOptions output = options.output;
  Result<Done> done = CheckOptions(options);
  if (done.ok()) {
    done = MakeBytes(&run);
  } else {
    output.report.clear();  // its path may be the wrong one
  }
  for (const Finding& finding : run.cache_findings.all()) {
    run.findings.Add(finding.code, finding.count, finding.message, finding.places);
  }
  if (done.ok()) CheckDepfile(&run);
  const bool gated = ExitCodeOf(run.findings, output) != ExitCode::kOk;
  if (done.ok() && !gated) done = WriteOutputs(&run);
  PrintSummary(run);
  return FinishRun(kBakeVerb, options.input, output, run.findings,
                   done.ok() ? nullptr : &done.error(), DocumentOf(run));
}

}  // namespace

std::optional<std::vector<std::string>> TakeFromCache(const BakeOptions& options,
                                                      FileKeys* programs, FindingList* findings) {
  BakeVerb run{options};
  BakeCache cache(options.cache, CacheInputsOf(options));
  const bool is_there = FindInCache(programs, &cache, &run);
  for (const Finding& finding : run.cache_findings.all()) {
    findings->Add(finding.code, finding.count, finding.message, finding.places);
  }
  if (!is_there || !CheckOptions(options).ok()) return std::nullopt;
  if (ExitCodeOf(run.findings, options.output) != ExitCode::kOk || !WriteOutputs(&run).ok()) {
    return std::nullopt;
  }
  const int code =
      FinishRun(kBakeVerb, options.input, options.output, run.findings, nullptr, DocumentOf(run));
  if (code != 0) return std::nullopt;
  return Absolute(AllSources(run));
}

void AddBakeCommand(std::vector<std::string> command, CLI::App* app, int* exit_code) {
  const auto options = std::make_shared<BakeOptions>();
  options->command = std::move(command);
  CLI::App* verb = app->add_subcommand(
      kBakeVerb, "Turns a source mesh into a soft body or a static mesh (.plush).");
  AddBakeOptions(verb, options.get());
  verb->callback([options, exit_code, verb] {
    NoteGivenOptions(*verb, options.get());
    *exit_code = RunBake(*options);
  });
}

}  // namespace plush::tools

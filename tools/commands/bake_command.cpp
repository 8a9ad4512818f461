// SPDX-License-Identifier: MIT
// `plush bake`: from a source mesh to a .plush file.

#include "plush/version.h"

#include "bake/bake.h"
#include "bake/depfile.h"
#include "base/files.h"
#include "commands/choice_option.h"
#include "commands/commands.h"
#include "commands/import_options.h"
#include "commands/number_range.h"
#include "commands/output.h"
#include "commands/tetgen_options.h"

#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <utility>

namespace plush::tools {
namespace {

constexpr char kVerb[] = "bake";
constexpr uint64_t kMaxSideCarBytes = 16u << 20;

struct BakeOptions {
  std::string input;
  std::string output_path;
  std::string pins;
  std::string material_map;
  std::string depfile;
  ImportSettings import;
  BakeSettings settings;
  OutputOptions output;
};

using Clock = std::chrono::steady_clock;

double SecondsSince(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// Largest resident size so far of this process or of one of its children [bytes].
uint64_t PeakMemoryBytes() {
  struct rusage own = {};
  struct rusage children = {};
  ::getrusage(RUSAGE_SELF, &own);
  ::getrusage(RUSAGE_CHILDREN, &children);
  return 1024u * static_cast<uint64_t>(std::max(own.ru_maxrss, children.ru_maxrss));
}

// Everything that can be refused before any work.
Result<Done> CheckPaths(const BakeOptions& options) {
  const Mesher mesher = options.settings.mesher;
  if (!options.import.embed.empty() && mesher != Mesher::kAuto && mesher != Mesher::kImport) {
    return Error{ExitCode::kUsage, "--embed goes with --mesher import only", ""};
  }
  std::error_code ignored;
  for (const std::string* path : {&options.output_path, &options.depfile, &options.output.report}) {
    if (path->empty()) continue;
    for (const std::string* source :
         {&options.input, &options.pins, &options.material_map, &options.import.embed}) {
      if (source->empty() || !std::filesystem::equivalent(*path, *source, ignored)) continue;
      return Error{ExitCode::kUsage, "'" + *path + "' would overwrite a source of the bake", ""};
    }
    if (auto writable = CheckWritable(*path); !writable.ok()) return writable;
  }
  return Done{};
}

Result<Done> ReadSideCar(const std::string& path, std::string* text) {
  if (path.empty()) return Done{};
  const auto bytes = ReadFile(path, kMaxSideCarBytes);
  if (!bytes.ok()) return bytes.error();
  text->assign(reinterpret_cast<const char*>(bytes.value().data()), bytes.value().size());
  // An empty file is a broken side-car, not a missing one.
  if (text->empty()) *text = " ";
  return Done{};
}

// The file that an error of the bake is about.
const std::string& FileOf(const Error& error, const BakeOptions& options) {
  if (error.finding_code == "PIN_INVALID") return options.pins;
  return error.finding_code == "MATERIAL_INVALID" ? options.material_map : options.input;
}

// One run of the verb: what it needs and what it leaves.
struct BakeRun {
  const BakeOptions& options;
  FindingList findings;
  std::vector<Stage> stages;
  std::vector<std::string> dependencies;  // files read beside the source
  BakeSummary summary;
  std::vector<std::byte> bytes;
  bool written = false;
};

Result<Done> ImportAndBake(BakeRun* run) {
  const BakeOptions& options = run->options;
  BakeSettings settings = options.settings;
  settings.scale = options.import.scale;
  settings.up = options.import.up;
  settings.unit_m = options.import.unit_m;
  for (const auto& [path, text] : {std::pair(&options.pins, &settings.pins_json),
                                   std::pair(&options.material_map, &settings.materials_json)}) {
    if (auto read = ReadSideCar(*path, text); !read.ok()) return read;
  }
  const auto start = Clock::now();
  auto model = ImportModel(options.input, options.import, &run->findings);
  if (!model.ok()) return model.error();
  run->dependencies = model.value().dependencies;
  run->stages.push_back({"import", SecondsSince(start)});
  auto baked = Bake(model.value(), settings, &run->findings);
  if (!baked.ok()) return baked.error().WithContext(FileOf(baked.error(), options));
  run->stages.insert(run->stages.end(), baked.value().stages.begin(), baked.value().stages.end());
  run->summary = baked.value().summary;
  run->bytes = std::move(baked.value().bytes);
  return Done{};
}

Result<Done> WriteOutputs(BakeRun* run) {
  const BakeOptions& options = run->options;
  const auto start = Clock::now();
  if (!options.depfile.empty()) {
    std::vector<std::string> prerequisites = {options.input};
    prerequisites.insert(prerequisites.end(), run->dependencies.begin(), run->dependencies.end());
    for (const std::string& side_car : {options.pins, options.material_map}) {
      if (!side_car.empty()) prerequisites.push_back(side_car);
    }
    const std::string text = DepfileText(options.output_path, prerequisites);
    const auto done = WriteFileAtomically(options.depfile, std::as_bytes(std::span(text)));
    if (!done.ok()) return done;
  }
  if (auto done = WriteFileAtomically(options.output_path, run->bytes); !done.ok()) return done;
  run->stages.push_back({"write", SecondsSince(start)});
  run->written = true;
  return Done{};
}

// A run that will fail by -W writes nothing.
bool IsGated(const BakeRun& run) {
  return run.findings.HasSeverity(Severity::kError) ||
         (run.options.output.warnings_as_errors && run.findings.HasSeverity(Severity::kWarning));
}

nlohmann::json SummaryJson(const BakeSummary& summary) {
  return {{"nodes", summary.nodes},
          {"tets", summary.tets},
          {"components", summary.components},
          {"split_tets", summary.split_tets},
          {"split_nodes", summary.split_nodes},
          {"shared_tets", summary.shared_tets},
          {"branches", summary.branches},
          {"cell_m", summary.cell_m},
          {"cage_volume_m3", summary.cage_volume_m3},
          {"solid_volume_m3", summary.solid_volume_m3},
          {"mass_kg", summary.mass_kg},
          {"embedding_error_m", summary.embedding_error_m},
          {"vertices_outside", summary.vertices_outside},
          {"factor_nonzeros", summary.factor_nonzeros},
          {"materials", summary.materials},
          {"regions", summary.regions}};
}

nlohmann::json CollisionJson(const BakeSummary& summary) {
  return {{"tets", summary.collision_tets},
          {"patches", summary.collision_patches},
          {"triangles", summary.collision_triangles},
          {"vertices", summary.collision_vertices},
          {"crossings", summary.crossings},
          {"merged_edges", summary.merged_edges},
          {"seams", summary.seams}};
}

nlohmann::json DocumentOf(const BakeRun& run) {
  nlohmann::json stages = nlohmann::json::array();
  for (const Stage& stage : run.stages) {
    stages.push_back({{"name", stage.name}, {"seconds", stage.seconds}});
  }
  nlohmann::json document = {{"tool_version", kVersionString},
                             {"input", run.options.input},
                             {"output", run.options.output_path},
                             {"stages", stages},
                             {"peak_memory_bytes", PeakMemoryBytes()}};
  if (!run.bytes.empty()) {
    document["simulation"] = SummaryJson(run.summary);
    document["collision"] = CollisionJson(run.summary);
    document["file_bytes"] = run.bytes.size();
  }
  return document;
}

// What became of the lattice.
void PrintCage(const BakeSummary& summary) {
  std::fprintf(stderr, "plush bake: cage of %.4g m^3 around a solid of %.4g m^3, %u %s\n",
               summary.cage_volume_m3, summary.solid_volume_m3, summary.components,
               summary.components == 1 ? "component" : "components");
  if (summary.cell_m <= 0.0) return;
  std::fprintf(stderr,
               "plush bake: cells of %.4g m; %u tets and %u nodes are copies; %u tets hold several "
               "pieces; %u branches\n",
               summary.cell_m, summary.split_tets, summary.split_nodes, summary.shared_tets,
               summary.branches);
}

void PrintSummary(const BakeRun& run) {
  const OutputOptions& output = run.options.output;
  if (run.written && !output.quiet) {
    std::fprintf(stderr, "plush bake: %s: %zu tets, %zu nodes, %.4g kg, %zu bytes\n",
                 run.options.output_path.c_str(), run.summary.tets, run.summary.nodes,
                 run.summary.mass_kg, run.bytes.size());
  }
  if (output.verbosity() <= 0) return;
  if (run.written) PrintCage(run.summary);
  for (const Stage& stage : run.stages) {
    std::fprintf(stderr, "plush bake: %-8s %.3f s\n", stage.name.c_str(), stage.seconds);
  }
}

int RunBake(const BakeOptions& options) {
  BakeRun run{options, {}, {}, {}, {}, {}, false};
  OutputOptions output = options.output;
  Result<Done> done = CheckPaths(options);
  if (done.ok()) {
    done = ImportAndBake(&run);
  } else {
    output.report.clear();  // its path may be the one that is wrong
  }
  if (done.ok() && !IsGated(run)) done = WriteOutputs(&run);
  PrintSummary(run);
  return FinishRun(kVerb, options.input, output, run.findings, done.ok() ? nullptr : &done.error(),
                   DocumentOf(run));
}

void AddCageOptions(CLI::App* verb, BakeSettings* settings) {
  const std::string group = "Cage";
  AddChoice<Mesher>(
      verb, "--mesher",
      {{"auto", Mesher::kAuto},
       {"lattice", Mesher::kLattice},
       {"import", Mesher::kImport},
       {"tetgen", Mesher::kTetGen}},
      &settings->mesher,
      "auto, lattice (a bounding cage), import (the source's own tets) or tetgen (tets that end at "
      "the surface, by the program tetgen)")
      ->type_name("MESHER")
      ->group(group);
  auto* tets = verb->add_option("--tets", settings->cage.target_tets,
                                "number of tets of the lattice cage, met from below within 5% "
                                "where the model allows it")
                   ->check(NumberIn(1, 1e6))
                   ->type_name("N")
                   ->capture_default_str()
                   ->group(group);
  verb->add_option("--cell", settings->cage.cell_m,
                   "edge of the lattice's cells [m], instead of --tets")
      ->check(NumberIn(0, 1e6, OpenEnds::kLow))
      ->type_name("METRES")
      ->excludes(tets)
      ->group(group);
  AddChoice<LatticeKind>(
      verb, "--lattice", {{"bcc", LatticeKind::kBcc}, {"cube5", LatticeKind::kCube5}},
      &settings->cage.lattice,
      "what the cage is cut from: bcc (body-centred cubic, 12 equal tets per cell) or cube5 (cubes "
      "of 5 tets)")
      ->type_name("LATTICE")
      ->group(group);
  AddChoice<FitMethod>(
      verb, "--fit",
      {{"snug", FitMethod::kSnug}, {"odt", FitMethod::kOdt}, {"none", FitMethod::kNone}},
      &settings->cage.fit,
      "how the cage is drawn in around the surface: snug (little volume, good angles), odt "
      "(optimal "
      "Delaunay triangulation energy) or none (the lattice as it is)")
      ->type_name("METHOD")
      ->group(group);
  verb->add_option("--clearance", settings->cage.clearance,
                   "least distance between the cage's boundary and the surface, as a share of the "
                   "diagonal of the model's box")
      ->check(NumberIn(1e-6, 0.1))
      ->type_name("SHARE")
      ->capture_default_str()
      ->group(group);
  verb->add_option("--min-dihedral", settings->cage.min_dihedral_deg,
                   "smallest dihedral angle that --fit leaves in a tet [degrees]")
      ->check(NumberIn(0, 50))
      ->type_name("DEGREES")
      ->capture_default_str()
      ->group(group);
  verb->add_flag("--join", settings->cage.join_parts,
                 "separate parts of the surface that meet in a tet of the lattice move together")
      ->group(group);
}

void AddMaterialOptions(CLI::App* verb, BakeOptions* options) {
  BakeSettings* settings = &options->settings;
  const std::string group = "Material";
  const auto add = [&](const char* name, double* value, const char* help, CLI::Validator range,
                       const char* type) {
    verb->add_option(name, *value, help)
        ->check(std::move(range))
        ->type_name(type)
        ->capture_default_str()
        ->group(group);
  };
  Material& material = settings->material;
  add("--young", &material.young, "Young's modulus [Pa]", NumberIn(1e-3, 1e13), "PA");
  add("--poisson", &material.poisson, "Poisson's ratio", NumberIn(0, 0.499), "NU");
  add("--density", &material.density, "density [kg/m^3]", NumberIn(1e-6, 1e6), "KG_M3");
  add("--damping", &material.damping, "time for which the material resists a change of shape [s]",
      NumberIn(0, 10), "SECONDS");
  add("--dt", &settings->dt, "time step that the factor is made for [s]", NumberIn(1e-6, 1),
      "SECONDS");
  verb->add_option("--material-map", options->material_map,
                   "side-car with the numbers of the source's materials by name (JSON)")
      ->type_name("FILE")
      ->group(group);
  AddChoice<MassSource>(verb, "--mass",
                        {{"solid", MassSource::kSolid}, {"cage", MassSource::kCage}},
                        &settings->mass, "mass is density times the volume of the solid or cage")
      ->type_name("SOURCE")
      ->group(group);
}

void AddFileOptions(CLI::App* verb, BakeOptions* options) {
  verb->add_option("IN", options->input,
                   "source mesh: any format Assimp 5.2 reads (up to 2 GiB), or tets: .node/.ele, "
                   ".msh or .vtk (up to 1 GiB)")
      ->required();
  verb->add_option("-o,--output", options->output_path, "file to write")
      ->required()
      ->type_name("OUT.plush");
  verb->add_option(
          "--embed", options->import.embed,
          "render mesh to show instead of the boundary of a source with tets. --unit, --up "
          "and --scale hold for both files; auto is what each of them says")
      ->type_name("FILE")
      ->group("Cage");
  verb->add_option("--pins", options->pins, "side-car with pin regions (JSON)")
      ->type_name("FILE")
      ->group("Pins");
  verb->add_option("--depfile", options->depfile,
                   "write what the output depends on, for Make and Ninja")
      ->type_name("FILE")
      ->group("Output");
  verb->add_option("--threads", options->settings.threads,
                   "threads; 0: all cores. The bytes do not depend on it")
      ->check(NumberIn(0, 256))
      ->type_name("N")
      ->capture_default_str()
      ->group("Output");
}

}  // namespace

void AddBakeCommand(CLI::App* app, int* exit_code) {
  const auto options = std::make_shared<BakeOptions>();
  CLI::App* verb =
      app->add_subcommand(kVerb, "Turns a source mesh into a soft-body asset (.plush).");
  AddCageOptions(verb, &options->settings);
  AddMaterialOptions(verb, options.get());
  AddTetGenOptions(verb, &options->settings.tetgen);
  AddFileOptions(verb, options.get());
  AddImportOptions(verb, &options->import);
  AddOutputOptions(verb, &options->output);
  verb->callback([options, exit_code] { *exit_code = RunBake(*options); });
}

}  // namespace plush::tools

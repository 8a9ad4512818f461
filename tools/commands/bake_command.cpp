// SPDX-License-Identifier: MIT
// `plush bake`: reads a source mesh, bakes it (bake/bake.h) and writes a .plush file.
// tools/README.md documents options, phases and exit codes.

#include "plush/asset.h"
#include "plush/version.h"

#include "bake/bake.h"
#include "bake/static_bake.h"
#include "base/files.h"
#include "base/material_limits.h"
#include "base/text.h"
#include "commands/commands.h"
#include "commands/options.h"
#include "commands/output.h"

#include <sys/resource.h>

#include <algorithm>
#include <cstdio>
#include <memory>
#include <optional>
#include <set>
#include <type_traits>
#include <utility>
#include <variant>

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
  BakeSettings settings;
  bool is_static = false;
  std::optional<MeshSides> sides;
  std::vector<std::string> given_body_options;  // those that a static mesh has no use for
  OutputOptions output;
};

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
  return CheckOutputs(
      {options.output_path, options.depfile, options.output.report},
      {options.input, options.pins, options.material_map, options.settings.import.embed});
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
  FindingList findings;
  std::vector<Stage> stages;
  std::vector<std::string> sources;  // every file that was read
  std::vector<std::byte> bytes;      // the .plush file
  std::variant<BakeSummary, StaticSummary> summary;
  bool written = false;
};

// Bakes and keeps the stages, the bytes and the summary.
template <class Settings>
Result<Done> BakeModel(const ImportedModel& model, const Settings& settings, BakeVerb* run) {
  auto baked = [&] {
    if constexpr (std::is_same_v<Settings, StaticSettings>) {
      return BakeStatic(model, settings, &run->findings);
    } else {
      return Bake(model, settings, &run->findings);
    }
  }();
  if (!baked.ok()) return baked.error().WithContext(FileOf(baked.error(), run->options));
  auto& [bytes, stages, summary] = baked.value();
  run->stages.insert(run->stages.end(), stages.begin(), stages.end());
  run->bytes = std::move(bytes);
  run->summary = std::move(summary);
  return Done{};
}

Result<Done> ImportAndBake(BakeVerb* run) {
  const BakeOptions& options = run->options;
  BakeSettings settings = options.settings;
  std::vector<std::string> side_cars;
  for (const auto& [path, text] : {std::pair(&options.pins, &settings.pins_json),
                                   std::pair(&options.material_map, &settings.materials_json)}) {
    if (path->empty()) continue;
    const Result<std::string> read = ReadSideCar(*path);
    if (!read.ok()) return read.error();
    *text = read.value();
    side_cars.push_back(*path);
  }
  StageClock clock;
  auto model = ImportModel(options.input, options.settings.import, &run->findings);
  if (!model.ok()) return model.error();
  run->sources = model.value().dependencies;
  run->sources.insert(run->sources.begin(), options.input);
  run->sources.insert(run->sources.end(), side_cars.begin(), side_cars.end());
  clock.End("import");
  run->stages = clock.stages();
  if (!options.is_static) return BakeModel(model.value(), settings, run);
  return BakeModel(model.value(),
                   StaticSettings{options.sides, settings.material, settings.materials_json,
                                  settings.import, settings.threads},
                   run);
}

Result<Done> WriteOutputs(BakeVerb* run) {
  const BakeOptions& options = run->options;
  StageClock clock;
  std::vector<FileContent> files;
  std::string depfile;
  if (!options.depfile.empty()) {
    depfile = DepfileText(options.output_path, run->sources);
    files.push_back({options.depfile, std::as_bytes(std::span(depfile))});
  }
  files.push_back({options.output_path, run->bytes});
  if (auto done = WriteFilesAtomically(files); !done.ok()) return done;
  clock.End("write");
  run->stages.push_back(clock.stages().front());
  run->written = true;
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
          {"embedding_error_m", summary.embedding_error_m},
          {"vertices_outside", summary.vertices_outside},
          {"factor_nonzeros", summary.factor_nonzeros},
          {"clusters", summary.clusters},
          {"straddling_tets", summary.straddling_tets},
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
  nlohmann::json document = {{"tool_version", kVersionString},
                             {"input", run.options.input},
                             {"output", run.options.output_path},
                             {"stages", StagesJson(run.stages)},
                             {"peak_memory_bytes", PeakMemoryBytes()}};
  if (run.bytes.empty()) return document;
  document["file_bytes"] = run.bytes.size();
  if (const auto* summary = std::get_if<StaticSummary>(&run.summary)) {
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
  if (const auto* mesh = std::get_if<StaticSummary>(&run.summary)) {
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
  if (run.written && body != nullptr) PrintCage(*body);
  for (const Stage& stage : run.stages) {
    std::fprintf(stderr, "plush bake: %-8s %.3f s\n", stage.name.c_str(), stage.seconds);
  }
}

int RunBake(const BakeOptions& options) {
  BakeVerb run{options, {}, {}, {}, {}, {}, false};
  OutputOptions output = options.output;
  Result<Done> done = CheckOptions(options);
  if (done.ok()) {
    done = ImportAndBake(&run);
  } else {
    output.report.clear();  // its path may be the wrong one
  }
  const bool gated = ExitCodeOf(run.findings, output) != ExitCode::kOk;
  if (done.ok() && !gated) done = WriteOutputs(&run);
  PrintSummary(run);
  return FinishRun(kVerb, options.input, output, run.findings, done.ok() ? nullptr : &done.error(),
                   DocumentOf(run));
}

void AddCageOptions(CLI::App* verb, BakeOptions* options) {
  OptionGroup group(verb, "Cage");
  BakeSettings& settings = options->settings;
  CageSettings& cage = settings.cage;
  group.Choice<Mesher>(
      "--mesher", kMeshers, &settings.mesher, "MESHER",
      "auto, lattice (a bounding cage), import (the source's own tets) or tetgen (tets that end at "
      "the surface, by the program tetgen)");
  CLI::Option* tets = group.Number(
      "--tets", &cage.target_tets, {1.0, 1e6}, "N",
      "number of tets of the lattice cage; met from below within 5% if the model allows it");
  group
      .Number("--cell", &cage.cell_m, {0.0, 1e6, true}, "METRES",
              "edge of the lattice's cells [m], instead of --tets")
      ->default_str("")
      ->excludes(tets);
  group.Choice<LatticeKind>("--lattice", kLattices, &cage.lattice, "LATTICE",
                            "lattice of the cage: bcc (body-centred cubic, 12 equal tets per cell) "
                            "or cube5 (cubes of 5 tets)");
  group.Choice<FitMethod>(
      "--fit", kFitMethods, &cage.fit, "METHOD",
      "how the cage is drawn in around the surface: snug (little volume, good angles), odt "
      "(optimal Delaunay triangulation energy) or none (the lattice as it is)");
  group.Number("--clearance", &cage.clearance, {1e-6, 0.1}, "SHARE",
               "least distance between the cage's boundary and the surface, as a share of the "
               "diagonal of the model's box");
  group.Number("--min-dihedral", &cage.min_dihedral_deg, {0.0, 50.0}, "DEGREES",
               "smallest dihedral angle that --fit leaves in a tet [degrees]");
  group.Flag("--join", &cage.join_parts,
             "separate parts of the surface that meet in a tet of the lattice move together");
  group.Text("--embed", &options->settings.import.embed, "FILE",
             "render mesh to show instead of the boundary of a source with tets. --unit, --up and "
             "--scale apply to both files; auto is resolved for each");
}

void AddMaterialOptions(CLI::App* verb, BakeOptions* options) {
  OptionGroup group(verb, "Material");
  BakeSettings& settings = options->settings;
  Material& material = settings.material;
  group.Number("--young", &material.young, kYoungRange, "PA", "Young's modulus [Pa]");
  group.Number("--poisson", &material.poisson, kPoissonRange, "NU", "Poisson's ratio");
  group.Number("--density", &material.density, kDensityRange, "KG_M3", "density [kg/m^3]");
  group.Number("--damping", &material.damping, kDampingRange, "SECONDS",
               "time for which the material resists a change of shape [s]");
  group.Number("--friction", &material.friction, kFrictionRange, "MU",
               "Coulomb coefficient of the surface (default: that of what it touches)");
  group.Number("--restitution", &material.restitution, kRestitutionRange, "E",
               "share of the speed at which the surface bounces off (default: that of what it "
               "hits)");
  group.Number("--dt", &settings.dt, kTimeStepRange, "SECONDS",
               "time step for which the factor is made [s]");
  group.Number(
      "--clusters", &settings.clusters, {0.0, kMaxClusters}, "N",
      "clusters of nodes that move rigidly in the coarse level of a step, at least one per "
      "component; 0: no coarse level (default: by the number of nodes)");
  group.Text("--material-map", &options->material_map, "FILE",
             "side-car with the numbers of the source's materials by name (JSON)");
  group.Choice<MassSource>("--mass", kMassSources, &settings.mass, "SOURCE",
                           "mass is density times the volume of the solid or of the cage");
}

void AddStaticOptions(CLI::App* verb, BakeOptions* options) {
  OptionGroup group(verb, "Static mesh");
  group.Flag("--static", &options->is_static,
             "make a static mesh: a collider that bodies rest on and bump into, not a body. Takes "
             "no options of cage, pins and TetGen; of materials, friction and restitution");
  group.Choice<std::optional<MeshSides>>(
      "--sides", kSides, &options->sides, "SIDES",
      "what the triangles hold: solid (they bound a volume that nothing enters), front (what comes "
      "from the front), both (what comes from either side) or auto: solid if the mesh is closed "
      "and "
      "its triangles agree on the outside, else front");
}

// The options given that a static mesh has no use for.
std::vector<std::string> GivenBodyOptions(const CLI::App& verb) {
  const std::set<std::string> groups = {"Cage", "Material", "TetGen", "Pins"};
  const std::set<std::string> shared = {"--friction", "--restitution", "--material-map"};
  std::vector<std::string> given;
  for (const CLI::Option* option : verb.get_options()) {
    const bool is_body =
        groups.count(option->get_group()) > 0 && shared.count(option->get_name()) == 0;
    if (is_body && option->count() > 0) given.push_back(option->get_name());
  }
  return given;
}

void AddFileOptions(CLI::App* verb, BakeOptions* options) {
  verb->add_option("IN", options->input, kSourceHelp)->required();
  verb->add_option("-o,--output", options->output_path, "file to write")
      ->required()
      ->type_name("OUT.plush");
  OptionGroup(verb, "Pins")
      .Text("--pins", &options->pins, "FILE", "side-car with pin regions (JSON)");
  OptionGroup output(verb, "Output");
  output.Text("--depfile", &options->depfile, "FILE",
              "write what the output depends on, for Make and Ninja");
  output.Number("--threads", &options->settings.threads, {0.0, 256.0}, "N",
                "threads; 0: all cores. The bytes do not depend on it");
}

}  // namespace

void AddBakeCommand(CLI::App* app, int* exit_code) {
  const auto options = std::make_shared<BakeOptions>();
  CLI::App* verb =
      app->add_subcommand(kVerb, "Turns a source mesh into a soft body or a static mesh (.plush).");
  AddCageOptions(verb, options.get());
  AddMaterialOptions(verb, options.get());
  AddStaticOptions(verb, options.get());
  AddTetGenOptions(verb, &options->settings.tetgen);
  AddFileOptions(verb, options.get());
  AddImportOptions(verb, &options->settings.import);
  AddOutputOptions(verb, &options->output);
  verb->callback([options, exit_code, verb] {
    options->given_body_options = GivenBodyOptions(*verb);
    *exit_code = RunBake(*options);
  });
}

}  // namespace plush::tools

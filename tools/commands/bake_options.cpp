// SPDX-License-Identifier: MIT
// tools/README.md shows the help text that these options make.
#include "commands/bake_options.h"

#include "base/material_limits.h"

#include <set>

namespace plush::tools {
namespace {

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

void AddCollisionOptions(CLI::App* verb, SimplifySettings* settings) {
  OptionGroup group(verb, "Collision");
  CLI::Option* triangles = group.Number(
      "--collision-triangles", &settings->triangles, {4.0, 1e9}, "N",
      "collide with a simplified copy of the surface, of at most this many triangles before the "
      "tets "
      "cut it. The copy stays inside the cage. Not for tets that end at the surface (default: the "
      "surface itself)");
  group
      .Number(
          "--collision-distance", &settings->distance, {1e-3, 0.5}, "SHARE",
          "largest distance between the copy and the surface, as a share of the diagonal of the "
          "model's box")
      ->needs(triangles);
}

void AddMaterialOptions(CLI::App* verb, BakeOptions* options) {
  OptionGroup group(verb, "Material");
  BakeSettings& settings = options->settings;
  Material& material = settings.material;
  group.Number("--young", &material.young, kYoungRange, "PA", "Young's modulus [Pa]");
  group.Number("--poisson", &material.poisson, kPoissonRange, "NU", "Poisson's ratio");
  group.Number("--density", &material.density, kDensityRange, "KG_M3", "density [kg/m^3]");
  CLI::Option* damping = group.Number("--damping", &material.damping, kDampingRange, "SECONDS",
                                      "time for which the material resists a change of shape [s]");
  group.Number("--friction", &material.friction, kFrictionRange, "MU",
               "Coulomb coefficient of the surface (default: that of what it touches)");
  group.Number("--restitution", &material.restitution, kRestitutionRange, "E",
               "share of the speed at which the surface bounces off (default: that of what it "
               "hits)");
  CLI::Option* dt = group.Number("--dt", &settings.dt, kTimeStepRange, "SECONDS",
                                 "time step for which the factor is made [s]");
  group
      .Text(
          "--tuning", &options->tuning, "FILE",
          "side-car that plush tune wrote (JSON): iterations of the solver, time step and damping")
      ->excludes(damping)
      ->excludes(dt);
  group.Number(
      "--clusters", &settings.clusters, {0.0, kMaxClusters}, "N",
      "clusters of nodes that move rigidly in the coarse level of a step, at least one per "
      "component; 0: no coarse level (default: by the number of nodes)");
  group.Text("--material-map", &options->material_map, "FILE",
             "side-car with the numbers of the source's materials by name (JSON)");
  CLI::Option* mass =
      group.Choice<MassSource>("--mass", kMassSources, &settings.mass, "SOURCE",
                               "mass is density times the volume of the solid or of the cage");
  group
      .Number("--thickness", &settings.thickness_m, kRadiusRange, "METRES",
              "of a sheet: its mass is density times area times this [m] (default: density times "
              "the volume of the cage)")
      ->default_str("")
      ->excludes(mass);
}

void AddStaticOptions(CLI::App* verb, BakeOptions* options) {
  OptionGroup group(verb, "Static mesh");
  group.Flag(
      "--static", &options->is_static,
      "make a static mesh: a collider that bodies rest on and bump into, not a body. Takes "
      "no options of cage, collision, pins and TetGen; of materials, friction and restitution");
  group.Choice<std::optional<MeshSides>>(
      "--sides", kSides, &options->sides, "SIDES",
      "what the triangles hold: solid (they bound a volume that nothing enters), front (what comes "
      "from the front), both (what comes from either side) or auto: solid if the mesh is closed "
      "and "
      "its triangles agree on the outside, else front");
}

// The options given that a static mesh has no use for.
std::vector<std::string> GivenBodyOptions(const CLI::App& verb) {
  const std::set<std::string> groups = {"Cage", "Collision", "Material", "TetGen", "Pins"};
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
  output.Flag("--list-sources", &options->list_sources,
              "print a line on stdout for each file that the output depends on, for Ninja's "
              "\"deps = msvc\", which takes any name");
  output.Flag("--keep-unchanged", &options->keep_unchanged,
              "leave the output as it is, with its time, if its bytes stay the same");
  // The last one counts: that of a manifest's asset follows that of the batch.
  output
      .Number("--bake-time", &options->time_limit_s, kTimeLimitRange, "SECONDS",
              "time limit of import and bake together [s]; beyond it, nothing is written and the "
              "exit code is 6 (default: none)")
      ->take_last();
  output.Number("--threads", &options->settings.threads, {0.0, 256.0}, "N",
                "threads; 0: all cores. The bytes do not depend on it");
}

// The options given that the bytes may depend on. Files count by content; they are left out here.
std::vector<std::string> GivenWords(const CLI::App& verb) {
  const std::set<std::string> others = {
      "--help",   "--output",    "--pins",         "--material-map",   "--embed",
      "--tuning", "--depfile",   "--list-sources", "--keep-unchanged", "--threads",
      "--json",   "--report",    "--bake-time",    "--quiet",          "--verbose",
      "--cache",  "--cache-size"};
  std::vector<std::string> words;
  for (const CLI::Option* option : verb.get_options()) {
    const std::string name = option->get_name();
    if (option->count() == 0 || option->get_lnames().empty()) continue;
    if (others.count("--" + option->get_lnames().front()) > 0) continue;
    std::string word = name + "=";
    for (const std::string& value : option->results()) word += value;
    words.push_back(word);
  }
  return words;
}

}  // namespace

void AddBakeOptions(CLI::App* verb, BakeOptions* options) {
  AddCageOptions(verb, options);
  AddCollisionOptions(verb, &options->settings.simplify);
  AddMaterialOptions(verb, options);
  AddStaticOptions(verb, options);
  AddTetGenOptions(verb, &options->settings.tetgen);
  AddFileOptions(verb, options);
  AddCacheOptions(verb, &options->cache);
  AddImportOptions(verb, &options->settings.import);
  AddOutputOptions(verb, &options->output);
}

void NoteGivenOptions(const CLI::App& verb, BakeOptions* options) {
  options->given_body_options = GivenBodyOptions(verb);
  options->given_words = GivenWords(verb);
}

std::vector<BakeOptionName> BakeOptionNames() {
  const std::set<std::string> paths = {"pins", "material-map", "tuning", "embed"};
  const std::set<std::string> reserved = {
      "help",   "output", "depfile", "list-sources", "keep-unchanged", "threads",           "json",
      "report", "quiet",  "verbose", "cache",        "cache-size",     "warnings-as-errors"};
  CLI::App app;
  BakeOptions unused;
  AddBakeOptions(&app, &unused);
  std::vector<BakeOptionName> names;
  for (const CLI::Option* option : app.get_options()) {
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

Result<BakeOptions> ParseBakeOptions(std::vector<std::string> arguments) {
  CLI::App app;
  BakeOptions options;
  AddBakeOptions(&app, &options);
  std::ranges::reverse(arguments);  // as CLI11 takes them
  try {
    app.parse(std::vector<std::string>(arguments));
  } catch (const CLI::ParseError& error) {
    return Error{ExitCode::kUsage, error.what()};
  }
  NoteGivenOptions(app, &options);
  options.command = {"plush", "bake"};
  options.command.insert(options.command.end(), arguments.rbegin(), arguments.rend());
  return options;
}

}  // namespace plush::tools

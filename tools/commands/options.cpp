// SPDX-License-Identifier: MIT
// Options, their checks and their groups, built on CLI11.
// tools/README.md shows the help texts that they make.
#include "commands/options.h"

#include "bake/bake.h"

#include <charconv>
#include <cmath>

namespace plush::tools {
namespace {

constexpr double kGib = 1024.0 * 1024.0 * 1024.0;

// TetGen seldom ends with a smaller ratio.
constexpr double kSmallestRatio = 1.1;

// In metres.
constexpr NamedValue<double> kUnits[] = {{"m", 1.0},     {"cm", 0.01},  {"mm", 0.001},
                                         {"km", 1000.0}, {"um", 1e-6},  {"in", 0.0254},
                                         {"ft", 0.3048}, {"yd", 0.9144}};

// Length of a unit in metres: that of a word, a positive number itself, or 0 for "auto".
double UnitOrThrow(const std::string& text) {
  if (text == "auto") return 0.0;
  for (const NamedValue<double>& unit : kUnits) {
    if (unit.name == text) return unit.value;
  }
  double metres = 0.0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), metres);
  const bool whole = parsed.ec == std::errc() && parsed.ptr == text.data() + text.size();
  if (whole && std::isfinite(metres) && metres > 0.0) return metres;
  throw CLI::ValidationError("--unit", "'" + text +
                                           "' is neither a unit (m cm mm km um in ft yd) nor a "
                                           "positive number of metres");
}

}  // namespace

CLI::Validator NumberIn(const NumberRange& range) {
  const auto check = [range](std::string& text) -> std::string {
    double number = 0.0;
    if (!CLI::detail::lexical_cast(text, number)) {
      return "'" + text + "' is not a number; expected one in " + RangeText(range);
    }
    return Contains(range, number) ? "" : OutsideMessage(text, range);
  };
  return CLI::Validator(check, "in " + RangeText(range));
}

CLI::Option* OptionGroup::Memory(const char* name, uint64_t* bytes, double low_gib,
                                 const std::string& help) {
  const auto store = [bytes](double gib) { *bytes = static_cast<uint64_t>(gib * kGib); };
  return verb_->add_option_function<double>(name, store, help + " [GiB]")
      ->check(NumberIn({low_gib, 1024.0}))
      ->type_name("GIB")
      ->default_str(NumberText(static_cast<double>(*bytes) / kGib))
      ->group(title_);
}

CLI::Option* OptionGroup::Text(const char* name, std::string* target, const char* type,
                               const std::string& help) {
  CLI::Option* option = verb_->add_option(name, *target, help)->type_name(type)->group(title_);
  if (!target->empty()) option->capture_default_str();
  return option;
}

CLI::Option* OptionGroup::Flag(const char* name, bool* target, const std::string& help) {
  return verb_->add_flag(name, *target, help)->group(title_);
}

void AddImportOptions(CLI::App* verb, ImportSettings* settings) {
  OptionGroup group(verb, "Import");
  verb->add_option_function<std::string>(
          "--unit", [settings](const std::string& text) { settings->unit_m = UnitOrThrow(text); },
          "length of one unit of the file: m cm mm km um in ft yd, or metres; auto: as the file or "
          "its format says")
      ->type_name("UNIT")
      ->default_str("auto")
      ->group("Import");
  group.Choice<UpAxis>("--up", kUpAxes, &settings->up, "AXIS",
                       "axis of the file that points up: auto, y or z");
  group.Number("--scale", &settings->scale, {1e-9, 1e9}, "FACTOR", "extra factor on all lengths");
  group.Number("--import-time", &settings->time_limit_s, kTimeLimitRange, "SECONDS",
               "limit of the importer's processor time [s]; ten times that by the clock");
  group.Memory("--import-memory", &settings->memory_limit_bytes, 0.1,
               "memory limit of the importer");
}

void AddTetGenOptions(CLI::App* verb, TetGenSettings* settings) {
  OptionGroup group(verb, "TetGen");
  group.Number("--ratio", &settings->ratio, {kSmallestRatio, 100.0}, "RATIO",
               "largest circumradius of a tet over its shortest edge; 100 hardly limits it");
  group
      .Number("--max-volume", &settings->max_volume_m3, {0.0, 1e12, true}, "M3",
              "largest volume of a tet [m^3] (default: any)")
      ->default_str("");
  group.Flag("--split-surface", &settings->split_surface,
             "let TetGen divide the surface's triangles, so that --ratio holds there too: several "
             "times as many tets");
  group.Text("--tetgen", &settings->program, "PROGRAM", "the program: a name in PATH, or a path");
  group.Number("--tetgen-time", &settings->time_limit_s, kTimeLimitRange, "SECONDS",
               "time limit of TetGen [s]");
  group.Memory("--tetgen-memory", &settings->memory_limit_bytes, 0.01, "memory limit of TetGen");
}

void AddCacheOptions(CLI::App* verb, CacheOptions* cache) {
  OptionGroup group(verb, "Cache");
  group.Text("--cache", &cache->folder, "FOLDER",
             "keep finished bakes there, and take those that are there; several machines may share "
             "it");
  group.Memory("--cache-size", &cache->max_bytes, 0.001,
               "size of the cache, beyond which the bakes go that were used least recently");
}

std::string CacheSizeText(const CacheOptions& cache) {
  return NumberText(static_cast<double>(cache.max_bytes) / kGib, 17);
}

}  // namespace plush::tools

// SPDX-License-Identifier: MIT
#include "commands/import_options.h"

#include <array>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <string_view>

namespace plush::tools {
namespace {

constexpr double kGib = 1024.0 * 1024.0 * 1024.0;

struct NamedUnit {
  std::string_view name;
  double metres;
};

constexpr auto kUnits = std::to_array<NamedUnit>({{"m", 1.0},
                                                  {"cm", 0.01},
                                                  {"mm", 0.001},
                                                  {"km", 1000.0},
                                                  {"um", 1e-6},
                                                  {"in", 0.0254},
                                                  {"ft", 0.3048},
                                                  {"yd", 0.9144}});

double UnitOrThrow(const std::string& text) {
  const std::optional<double> metres = ParseUnit(text);
  if (metres || text == "auto") return metres.value_or(0.0);
  throw CLI::ValidationError("--unit", std::string("'") + text +
                                           "' is neither a unit (m cm mm km um in ft yd) nor a "
                                           "positive number of metres");
}

UpAxis AxisOrThrow(const std::string& text) {
  if (text == "auto") return UpAxis::kAuto;
  if (text == "y" || text == "Y") return UpAxis::kY;
  if (text == "z" || text == "Z") return UpAxis::kZ;
  throw CLI::ValidationError("--up", std::string("'") + text + "' is none of auto, y, z");
}

// Accepts numbers of [low, high]. CLI11's own range prints its limits with six decimals.
CLI::Validator Between(double low, double high) {
  return CLI::Validator(
      [low, high](const std::string& text) {
        double value = 0.0;
        const auto parsed = std::from_chars(text.data(), text.data() + text.size(), value);
        const bool whole = parsed.ec == std::errc() && parsed.ptr == text.data() + text.size();
        if (whole && value >= low && value <= high) return std::string();
        std::array<char, 80> limits;
        std::snprintf(limits.data(), limits.size(), "' is no number from %g to %g", low, high);
        return std::string("'").append(text).append(limits.data());
      },
      "");
}

}  // namespace

std::optional<double> ParseUnit(const std::string& text) {
  for (const NamedUnit& unit : kUnits) {
    if (unit.name == text) return unit.metres;
  }
  double metres = 0.0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), metres);
  const bool whole = parsed.ec == std::errc() && parsed.ptr == text.data() + text.size();
  return whole && std::isfinite(metres) && metres > 0.0 ? std::optional(metres) : std::nullopt;
}

void AddImportOptions(CLI::App* verb, ImportSettings* settings) {
  const std::string group = "Import";
  verb->add_option_function<std::string>(
          "--unit", [settings](const std::string& text) { settings->unit_m = UnitOrThrow(text); },
          "length of one unit of the file: m cm mm km um in ft yd, or metres; auto: what the file "
          "or its format says")
      ->type_name("UNIT")
      ->default_str("auto")
      ->group(group);
  verb->add_option_function<std::string>(
          "--up", [settings](const std::string& text) { settings->up = AxisOrThrow(text); },
          "axis of the file that points up: auto, y or z")
      ->type_name("AXIS")
      ->default_str("auto")
      ->group(group);
  verb->add_option("--scale", settings->scale, "extra factor on all lengths, 1e-9 to 1e9")
      ->check(Between(1e-9, 1e9))
      ->type_name("FACTOR")
      ->capture_default_str()
      ->group(group);
  verb->add_option("--import-time", settings->time_limit_s,
                   "time limit of the importer [s], 0.01 to 86400")
      ->check(Between(0.01, 86400.0))
      ->type_name("SECONDS")
      ->capture_default_str()
      ->group(group);
  verb->add_option_function<double>(
          "--import-memory",
          [settings](double gib) {
            settings->memory_limit_bytes = static_cast<uint64_t>(gib * kGib);
          },
          "memory limit of the importer [GiB], 0.1 to 1024")
      ->check(Between(0.1, 1024.0))
      ->type_name("GIB")
      ->default_str("4")
      ->group(group);
}

}  // namespace plush::tools

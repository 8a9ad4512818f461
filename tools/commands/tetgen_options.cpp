// SPDX-License-Identifier: MIT
#include "commands/tetgen_options.h"

#include "commands/number_range.h"

namespace plush::tools {
namespace {

constexpr double kGib = 1024.0 * 1024.0 * 1024.0;

// Below this ratio TetGen seldom ends.
constexpr double kSmallestRatio = 1.1;

}  // namespace

void AddTetGenOptions(CLI::App* verb, TetGenSettings* settings) {
  const std::string group = "TetGen";
  verb->add_option("--ratio", settings->ratio,
                   "largest radius of a tet's sphere over its shortest edge; 100: hardly a bound")
      ->check(NumberIn(kSmallestRatio, 100))
      ->type_name("RATIO")
      ->capture_default_str()
      ->group(group);
  verb->add_option("--max-volume", settings->max_volume_m3,
                   "largest volume of a tet [m^3] (default: any)")
      ->check(NumberIn(0, 1e12, OpenEnds::kLow))
      ->type_name("M3")
      ->group(group);
  verb->add_flag(
          "--split-surface", settings->split_surface,
          "let TetGen divide the surface's triangles, so that --ratio holds there too: several "
          "times as many tets")
      ->group(group);
  verb->add_option("--tetgen", settings->program, "the program: a name in PATH, or a path")
      ->type_name("PROGRAM")
      ->capture_default_str()
      ->group(group);
  verb->add_option("--tetgen-time", settings->time_limit_s, "its time limit [s]")
      ->check(NumberIn(0.01, 86400))
      ->type_name("SECONDS")
      ->capture_default_str()
      ->group(group);
  verb->add_option_function<double>(
          "--tetgen-memory",
          [settings](double gib) {
            settings->memory_limit_bytes = static_cast<uint64_t>(gib * kGib);
          },
          "its memory limit [GiB]")
      ->check(NumberIn(0.01, 1024))
      ->type_name("GIB")
      ->default_str("4")
      ->group(group);
}

}  // namespace plush::tools

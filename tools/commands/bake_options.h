// SPDX-License-Identifier: MIT
// The options of `plush bake`.
#pragma once

#include "bake/bake.h"
#include "bake/static_bake.h"
#include "batch/manifest.h"
#include "commands/options.h"
#include "commands/output.h"

#include <CLI/CLI.hpp>

#include <optional>
#include <string>
#include <vector>

namespace plush::tools {

struct BakeOptions {
  std::string input;
  std::string output_path;
  std::string pins;
  std::string material_map;
  std::string tuning;
  std::string depfile;
  BakeSettings settings;
  bool is_static = false;
  std::optional<MeshSides> sides;
  bool list_sources = false;           ///< print the files that were read, for Ninja
  bool keep_unchanged = false;         ///< leave an output alone that has the same bytes
  std::optional<double> time_limit_s;  ///< of import and bake
  CacheOptions cache;
  std::vector<std::string> given_body_options;  ///< those that a static mesh has no use for
  std::vector<std::string> command;             ///< the words of the command line
  std::vector<std::string> given_words;         ///< "NAME=VALUE", of which the bytes may depend
  OutputOptions output;
};

/// Adds all options. *options must outlive the parsing.
void AddBakeOptions(CLI::App* verb, BakeOptions* options);

/// Fills the fields given_... after the parsing.
void NoteGivenOptions(const CLI::App& verb, BakeOptions* options);

/// What a manifest of `plush batch` may call each option.
std::vector<BakeOptionName> BakeOptionNames();

/// The options that a command line of `plush bake` gives. Errors: kUsage.
Result<BakeOptions> ParseBakeOptions(std::vector<std::string> arguments);

}  // namespace plush::tools

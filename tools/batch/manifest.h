// SPDX-License-Identifier: MIT
// The manifest of `plush batch`: which files are baked, with which options, to where.
// tools/README.md documents the JSON.
#pragma once

#include "base/finding.h"
#include "base/result.h"
#include "batch/file_patterns.h"

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace plush::tools {

enum class OptionKind { kFlag, kWord, kPath, kReserved };

/// An option of `plush bake` as a manifest names it.
struct BakeOptionName {
  std::string name;  ///< without the leading dashes
  OptionKind kind = OptionKind::kWord;
};

/// One asset to bake. Paths are absolute unless the manifest's or the output tree's is not.
struct BatchAsset {
  std::string name;    ///< path of the input relative to the root, '/' between names
  std::string input;   ///< absolute path
  std::string output;  ///< path relative to the output tree
  uint64_t input_bytes = 0;
  std::vector<std::string> options;  ///< arguments of `plush bake`
};

/// How an asset's file is named after its input.
enum class AssetNames { kStem, kFull };

/// The values of options by name, as arguments. A flag has none.
using OptionValues = std::map<std::string, std::vector<std::string>>;

struct Manifest {
  struct Rule {
    std::vector<FilePattern> match;
    OptionValues set;
    std::vector<std::string> unset;  ///< options that earlier rules may have given
  };

  std::string root;    ///< folder of the inputs, absolute
  std::string output;  ///< the output tree, absolute
  std::vector<FilePattern> inputs;
  std::vector<FilePattern> exclude;
  AssetNames names = AssetNames::kStem;
  std::vector<Rule> rules;
};

/// Reads the manifest `path`. `output` replaces its output tree unless empty; it is relative to the
/// current folder, paths in the manifest to the manifest's folder. `known` lists the options of
/// `plush bake`. Errors: kIo; kUsage (the first mistake, with its place).
Result<Manifest> ReadManifest(const std::string& path, const std::string& output,
                              std::span<const BakeOptionName> known);

/// The files that `manifest` asks for, sorted by name. Adds BATCH_UNMATCHED. Errors: kIo; kUsage
/// (two inputs have one output; a name that Ninja cannot hold).
Result<std::vector<BatchAsset>> FindAssets(const Manifest& manifest, FindingList* findings);

}  // namespace plush::tools

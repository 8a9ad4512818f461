// SPDX-License-Identifier: MIT
// One report for all assets of a batch, from the reports of their bakes.
#pragma once

#include "base/finding.h"
#include "base/text.h"
#include "batch/manifest.h"
#include "batch/ninja_run.h"

#include <nlohmann/json.hpp>

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace plush::tools {

enum class AssetState { kFailed, kBaked, kCached, kUnchanged };

/// Names of the states in reports.
inline constexpr NamedValue<AssetState> kAssetStates[] = {{"failed", AssetState::kFailed},
                                                          {"baked", AssetState::kBaked},
                                                          {"cached", AssetState::kCached},
                                                          {"unchanged", AssetState::kUnchanged}};

struct AssetResult {
  std::string input;   ///< relative to the root
  std::string output;  ///< relative to the output tree
  AssetState state = AssetState::kUnchanged;
  int exit_code = 0;
  std::string error;          ///< one line; empty unless failed
  nlohmann::json findings;    ///< as in the report of the bake, without places
  uint64_t num_warnings = 0;  ///< findings of that severity
  double seconds = 0.0;  ///< sum of the bake's stages; of a hit, those of the bake that was kept
  std::vector<std::string> missing_files;  ///< which the import looked for in vain, absolute
};

/// The results of all assets after Ninja has ended: failed ones first, then those with warnings,
/// then the others, each by name. `ends` holds the bakes of this run. The report of a failed bake
/// is removed, so that Ninja bakes again next time whatever the times of the files are.
std::vector<AssetResult> CollectResults(const std::string& output_tree,
                                        std::span<const BatchAsset> assets,
                                        std::span<const BakeEnd> ends);

/// Ninja does not see that a file appeared which an import had looked for in vain. Removes the
/// reports of unchanged assets of which that is so, and returns whether there are any: then run
/// Ninja again.
bool ForgetStale(const std::string& output_tree, std::span<const AssetResult> results);

/// The largest exit code of all; 0 without assets.
int WorstExitCode(std::span<const AssetResult> results);

/// "counts" and "assets" of the report.
nlohmann::json ResultsJson(std::span<const AssetResult> results);

}  // namespace plush::tools

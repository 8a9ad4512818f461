// SPDX-License-Identifier: MIT
// The build.ninja of a batch, and what Ninja's log says of earlier runs.
#pragma once

#include "base/result.h"
#include "batch/manifest.h"

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace plush::tools {

/// Folder in the output tree for Ninja's logs and, in a folder of their own, the reports of the
/// assets.
inline constexpr char kBatchFolder[] = ".batch";

/// The file that Ninja runs, below the output tree. The tree may be the folder of another Ninja.
inline constexpr char kNinjaFile[] = ".batch/build.ninja";

/// What all bakes of a batch have in common.
struct BatchTools {
  std::string plush;                 ///< path of the converter
  std::string importer;              ///< path of `plush-import`
  std::vector<std::string> options;  ///< further arguments of every bake
  std::string cache;                 ///< folder; empty without one
  std::string cache_size;            ///< as `plush bake --cache-size` takes it
  std::string bake_time;             ///< as `plush bake --bake-time` takes it
};

/// The line with which every failed bake ends in Ninja's output, before its exit code.
inline constexpr char kExitCodeLine[] = "plush batch: exit code ";

/// The environment variable that leads bakes to what DoneBakes has of them.
inline constexpr char kDoneVariable[] = "PLUSH_BATCH_DONE";

/// Whether Ninja can hold a name or a word: it has no line ends and no null characters.
bool FitsNinja(std::string_view text);

/// The environment variables with the cache of bakes and their time limit. They are no part of the
/// commands: a batch with another cache or limit bakes nothing again.
inline constexpr char kCacheVariable[] = "PLUSH_BATCH_CACHE";
inline constexpr char kCacheSizeVariable[] = "PLUSH_BATCH_CACHE_SIZE";
inline constexpr char kBakeTimeVariable[] = "PLUSH_BATCH_BAKE_TIME";

/// Path of the report of the asset at `output`, both relative to the output tree.
std::string ReportPath(const std::string& output);

/// The text of build.ninja. All names and options fit Ninja. Ninja starts bakes in the order of
/// `assets`.
std::string NinjaFileText(std::span<const BatchAsset> assets, const BatchTools& tools);

/// The seconds that each output took when Ninja made it last, by its path: Ninja's log in
/// `output_tree`. Empty without a log. Bakes that were made outside Ninja took no time.
std::map<std::string, double> LoggedCosts(const std::string& output_tree);

/// The costs that KeepCosts wrote, by the path of the output [s].
std::map<std::string, double> KeptCosts(const std::string& output_tree);

/// Errors: kIo.
Result<Done> KeepCosts(const std::string& output_tree, const std::map<std::string, double>& costs);

/// Sorts by falling cost, so that no long bake starts last, and returns the costs in that order
/// [s]. An asset that was never made gets the mean cost per byte of those that were; if none was,
/// its size.
std::vector<double> SortByCost(const std::map<std::string, double>& logged,
                               std::vector<BatchAsset>* assets);

}  // namespace plush::tools

// SPDX-License-Identifier: MIT
// Keeps bakes in a cache and finds them again.
//
// Two levels: the key of the main file leads to the list of the other files that its bake read or
// missed; the key of their contents leads to the result. So a lookup imports nothing, and a change
// of any file that counts leads elsewhere.
#pragma once

#include "base/finding.h"
#include "base/result.h"
#include "cache/cache_store.h"
#include "commands/options.h"

#include <nlohmann/json.hpp>

#include <cstddef>
#include <ctime>
#include <optional>
#include <string>
#include <vector>

namespace plush::tools {

/// All that the bytes of a bake depend on, but the files that only the import finds.
struct BakeCacheInputs {
  std::string source;                  ///< path of the main file
  std::vector<std::string> side_cars;  ///< --pins, --material-map, --embed; empty: not given
  std::vector<std::string> options;    ///< others that were given, "NAME=VALUE"
  std::vector<std::string> programs;   ///< paths of those that take part
};

/// A finished bake.
struct CachedBake {
  std::vector<std::byte> bytes;  ///< the .plush file
  FindingList findings;
  nlohmann::json document;           ///< what the report says of the bake
  std::vector<std::string> sources;  ///< files that were read beside main file and side-cars
};

class BakeCache {
 public:
  BakeCache(const CacheOptions& options, BakeCacheInputs inputs);

  /// The bake of these inputs, if it is there. Adds CACHE_DAMAGED.
  std::optional<CachedBake> Find(FindingList* findings);

  /// Keeps a bake that began after Find. `missing` lists files that its import looked for in vain.
  /// Keeps nothing if a file has changed since Find. Adds CACHE_NOT_WRITTEN if it cannot keep the
  /// bake.
  void Keep(const CachedBake& bake, const std::vector<std::string>& missing, FindingList* findings);

 private:
  Result<std::string> MainKey() const;
  std::string ResultKey(const std::vector<std::string>& files) const;
  std::string Relative(const std::string& path) const;
  std::string Located(const std::string& relative) const;
  bool AnyChanged(const std::vector<std::string>& paths) const;

  CacheStore store_;
  BakeCacheInputs inputs_;
  std::string main_key_;  // since Find; empty if a file cannot be read
  struct timespec start_ = {};
};

}  // namespace plush::tools

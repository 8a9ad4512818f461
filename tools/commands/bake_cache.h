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
#include <map>
#include <mutex>
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
  std::vector<std::string> missing;  ///< files that the import looked for in vain
};

/// The keys of the contents of files, each of which is read once. For several threads.
class FileKeys {
 public:
  /// Takes the key from `store` if a process of this host has noted it for a file of this name,
  /// inode, size and times. A file that changed in the last minute is always read: clocks of file
  /// systems are coarse, and those of servers differ. Errors: kIo.
  Result<std::string> Of(const std::string& path, const CacheStore& store);

  /// Notes the keys of files that were read, for later processes.
  void Note(const CacheStore& store);

 private:
  std::mutex mutex_;
  std::map<std::string, std::string> keys_;     // by path
  std::map<std::string, std::string> unnoted_;  // by the key of name, inode, size and times
};

class BakeCache {
 public:
  BakeCache(const CacheOptions& options, BakeCacheInputs inputs);

  /// The bake of these inputs, if it is there. Adds CACHE_DAMAGED.
  std::optional<CachedBake> Find(FileKeys* programs, FindingList* findings);

  /// To be called after a Find in vain, before the bake reads anything. Waits for the next tick of
  /// the clock of file times (1 to 10 ms), to tell later changes from earlier ones.
  void BeginBake();

  /// Keeps the bake that began. Keeps nothing if a file has changed since then. Adds
  /// CACHE_NOT_WRITTEN if it cannot keep the bake.
  void Keep(const CachedBake& bake, FindingList* findings);

 private:
  Result<std::string> MainKey(FileKeys* programs) const;
  std::string ResultKey(const std::vector<std::string>& files) const;
  std::string Relative(const std::string& path) const;
  std::string Located(const std::string& relative) const;

  CacheStore store_;
  BakeCacheInputs inputs_;
  std::string main_key_;        // since Find; empty if a file cannot be read
  struct timespec start_ = {};  // of the bake
};

}  // namespace plush::tools

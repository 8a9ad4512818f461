// SPDX-License-Identifier: MIT
// A folder of entries by key, for many readers and writers at once, also on a shared file system.
#pragma once

#include "base/result.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace plush::tools {

/// Makes a key of several parts: XXH3-128 over each part with its length.
class KeyMaker {
 public:
  KeyMaker();
  ~KeyMaker();
  KeyMaker(const KeyMaker&) = delete;
  KeyMaker& operator=(const KeyMaker&) = delete;

  void Add(std::string_view part);
  /// Adds the content of a regular file, piece by piece. Errors: kIo.
  Result<Done> AddFile(const std::string& path);
  /// 32 hexadecimal digits.
  std::string Key() const;

 private:
  struct State;
  State* state_;
};

/// How an entry was found.
enum class CacheLookup { kHit, kMiss, kDamaged };

struct CacheContent {
  CacheLookup lookup = CacheLookup::kMiss;
  std::vector<std::byte> bytes;  ///< only of a hit
};

class CacheStore {
 public:
  /// `max_bytes` of all entries together; see Store.
  CacheStore(std::string folder, uint64_t max_bytes)
      : folder_(std::move(folder)), max_bytes_(max_bytes) {}

  /// Reads an entry, compares it with the hash that it was stored with, and notes that it was used.
  /// A damaged entry is removed if that is allowed.
  CacheContent Load(const std::string& key) const;

  /// Writes an entry as a whole: under a random name, then renamed. Makes the folder. Entries lie
  /// in 16 folders, of which each may hold a sixteenth of max_bytes. Some writers, by chance, about
  /// one for each 256th of that, remove entries of their folder that were used least recently, and
  /// what killed writers have left a day ago. Errors: kIo.
  Result<Done> Store(const std::string& key, std::span<const std::byte> bytes) const;

 private:
  std::string FolderOf(const std::string& key) const { return folder_ + "/" + key.substr(0, 1); }
  std::string PathOf(const std::string& key) const { return FolderOf(key) + "/" + key; }
  void Evict(const std::string& folder) const;

  std::string folder_;
  uint64_t max_bytes_;
};

}  // namespace plush::tools

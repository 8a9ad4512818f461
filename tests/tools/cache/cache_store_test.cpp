// SPDX-License-Identifier: MIT
#include "cache/cache_store.h"

#include "tools/procedural_meshes.h"

#include <catch2/catch.hpp>
#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <fstream>
#include <thread>

namespace plush::tools::cache_store_test {
namespace {

using tests::TemporaryFolder;

constexpr uint64_t kRoomy = 1ull << 30;

std::string KeyOf(const std::string& text) {
  KeyMaker key;
  key.Add(text);
  return key.Key();
}

std::vector<std::byte> Content(size_t size, int seed) {
  std::vector<std::byte> bytes(size);
  for (size_t i = 0; i < size; ++i) bytes[i] = static_cast<std::byte>(i * 31 + size_t(seed));
  return bytes;
}

// The only file below the folder.
std::string OnlyFile(const std::string& folder) {
  std::string found;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    if (!entry.is_regular_file()) continue;
    REQUIRE(found.empty());
    found = entry.path().string();
  }
  return found;
}

TEST_CASE("Keys tell parts apart") {
  KeyMaker a;
  a.Add("ab");
  a.Add("c");
  KeyMaker b;
  b.Add("a");
  b.Add("bc");
  CHECK(a.Key() != b.Key());
  CHECK(a.Key().size() == 32);
}

TEST_CASE("An entry comes back as it was stored") {
  const TemporaryFolder folder;
  const CacheStore store(folder / "cache", kRoomy);
  CHECK(store.Load(KeyOf("a")).lookup == CacheLookup::kMiss);
  for (const size_t size : {0u, 1u, 100000u}) {
    REQUIRE(store.Store(KeyOf("a"), Content(size, 1)).ok());
    const CacheContent content = store.Load(KeyOf("a"));
    CHECK(content.lookup == CacheLookup::kHit);
    CHECK(content.bytes == Content(size, 1));
  }
  CHECK(store.Load(KeyOf("b")).lookup == CacheLookup::kMiss);
}

TEST_CASE("A flipped bit anywhere, a cut and another key's content are found out") {
  const TemporaryFolder folder;
  const CacheStore store(folder.path(), kRoomy);
  const std::string key = KeyOf("a");
  REQUIRE(store.Store(key, Content(40, 1)).ok());
  const std::string path = OnlyFile(folder.path());
  std::string good;
  {
    std::ifstream file(path, std::ios::binary);
    good.assign(std::istreambuf_iterator<char>(file), {});
  }
  const auto damaged = [&](const std::string& bytes) {
    std::ofstream(path, std::ios::binary) << bytes;
    const bool is_damaged = store.Load(key).lookup == CacheLookup::kDamaged;
    return is_damaged && !std::filesystem::exists(path);
  };
  for (size_t i = 0; i < 8 * good.size(); ++i) {
    std::string bad = good;
    bad[i / 8] = static_cast<char>(bad[i / 8] ^ (1 << (i % 8)));
    INFO("bit " << i);
    REQUIRE(damaged(bad));
  }
  for (size_t size = 0; size < good.size(); ++size) REQUIRE(damaged(good.substr(0, size)));
  REQUIRE(damaged(good + "x"));

  // The same bytes under another key, as after a mistaken rename.
  REQUIRE(store.Store(key, Content(40, 1)).ok());
  const std::string other = KeyOf("b");
  std::filesystem::create_directories(folder / other.substr(0, 1));
  std::filesystem::rename(path, folder / (other.substr(0, 1) + "/" + other));
  CHECK(store.Load(other).lookup == CacheLookup::kDamaged);
}

TEST_CASE("The cache keeps to its size and drops what was used least recently") {
  const TemporaryFolder folder;
  // Keys of one folder, which holds a sixteenth: three entries of 1000 bytes.
  std::vector<std::string> keys;
  for (int i = 0; keys.size() < 5; ++i) {
    const std::string key = KeyOf(std::to_string(i));
    if (key[0] == '7') keys.push_back(key);
  }
  const CacheStore store(folder.path(), 16 * 3200);
  const auto wait = [] { std::this_thread::sleep_for(std::chrono::milliseconds(15)); };
  for (int i = 0; i < 3; ++i) {
    REQUIRE(store.Store(keys[size_t(i)], Content(1000, i)).ok());
    wait();
  }
  CHECK(store.Load(keys[0]).lookup == CacheLookup::kHit);  // now the second is the oldest
  wait();
  REQUIRE(store.Store(keys[3], Content(1000, 3)).ok());
  CHECK(store.Load(keys[0]).lookup == CacheLookup::kHit);
  CHECK(store.Load(keys[1]).lookup == CacheLookup::kMiss);
  CHECK(store.Load(keys[2]).lookup == CacheLookup::kHit);
  CHECK(store.Load(keys[3]).lookup == CacheLookup::kHit);
  // What killed writers have left goes after a day.
  const std::string left = folder / "7/tmp-00";
  std::ofstream(left) << "x";
  const std::string young = folder / "7/tmp-01";
  std::ofstream(young) << "x";
  struct timespec old[2] = {{1000, 0}, {1000, 0}};
  REQUIRE(::utimensat(AT_FDCWD, left.c_str(), old, 0) == 0);
  REQUIRE(store.Store(keys[4], Content(1000, 4)).ok());
  CHECK_FALSE(std::filesystem::exists(left));
  CHECK(std::filesystem::exists(young));
}

TEST_CASE("A cache of many small entries exceeds its size by a few percent at most", "[long]") {
  const TemporaryFolder folder;
  constexpr uint64_t kFolderLimit = 1 << 20;
  const CacheStore store(folder.path(), 16 * kFolderLimit);
  const auto content = Content(1000, 1);
  int num_stored = 0;
  uint64_t most = 0;
  for (int i = 0; num_stored < 3000; ++i) {
    const std::string key = KeyOf(std::to_string(i));
    if (key[0] != '7') continue;
    REQUIRE(store.Store(key, content).ok());
    if (++num_stored % 100 != 0) continue;
    uint64_t total = 0;
    for (const auto& entry : std::filesystem::directory_iterator(folder / "7")) {
      total += entry.file_size();
    }
    most = std::max(most, total);
  }
  CHECK(most > kFolderLimit * 9 / 10);
  // Entries are written between two listings: the chance of a tenth of the limit is exp(-25).
  CHECK(most < kFolderLimit * 11 / 10);
}

TEST_CASE("Many writers and readers of the same entries see whole ones only") {
  const TemporaryFolder folder;
  std::atomic<int> num_hits = 0;
  std::atomic<int> num_wrong = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&, t] {
      const CacheStore store(folder.path(), 16 * 200000);  // some are evicted meanwhile
      for (int i = 0; i < 60; ++i) {
        const int which = (i * 7 + t) % 5;
        const std::string key = KeyOf(std::to_string(which));
        const auto expected = Content(50000, which);
        if (!store.Store(key, expected).ok()) ++num_wrong;
        const CacheContent content = store.Load(key);
        if (content.lookup == CacheLookup::kHit) ++num_hits;
        if (content.lookup == CacheLookup::kDamaged) ++num_wrong;
        if (content.lookup == CacheLookup::kHit && content.bytes != expected) ++num_wrong;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(num_wrong == 0);
  CHECK(num_hits > 100);
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder.path())) {
    CHECK_FALSE(entry.path().filename().string().starts_with("tmp-"));
  }
}

}  // namespace
}  // namespace plush::tools::cache_store_test
